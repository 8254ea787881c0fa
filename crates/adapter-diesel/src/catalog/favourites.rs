//! Favourite products and search history of customers, and views of products.

use std::collections::BTreeSet;

use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use diesel::result::Error as QueryError;
use kontor_catalog::storefront::ports::{FavouriteOutcome, Favourites, SearchLog, ViewCounter};
use kontor_catalog::storefront::{Product, Search, SearchRequest};
use kontor_kernel::{AppScope, CustomerScope, NomenclatureId, Page, PageRequest, StoreError, Visitor};

use super::storefront::{ProductRow, known_total};
use super::storefront_query::{count_favourites, favourites as kept};
use crate::customer_data::lock_customer;
use crate::database::{Abort, AnyConnection, Database, Extent, found};
use crate::lease::{is_here, moved_projects};
use crate::read_models::{VIEW_BATCH, add_views, offers};
use crate::schema::{favourites, search_requests, storefront_offers};
use crate::statement::Statement;
use crate::{decode, unreadable};

/// Returns `true` if the application would show the item if it were in stock.
fn sold_out(connection: &mut AnyConnection, app: AppScope, id: NomenclatureId) -> QueryResult<bool> {
    let offer = Statement::new("SELECT o.nomenclature_id AS id FROM (").then(offers::sold_out(app, id)).sql(") AS o");
    Ok(offer.scalars::<i64>(connection)?.contains(&id.get()))
}

#[async_trait]
impl Favourites for Database {
    async fn page(
        &self,
        customer: CustomerScope,
        page: PageRequest,
        at: DateTime<Utc>,
    ) -> Result<Page<Product>, StoreError> {
        self.expecting(Extent::Page)
            .read(move |connection| {
                let rows: Vec<ProductRow> = kept(customer, page.limit(), page.offset(), at).rows(connection)?;
                let total = match known_total(page, rows.len()) {
                    Some(total) => total,
                    None => count_favourites(customer).scalar(connection)?,
                };
                Ok(decode::page(
                    unreadable::rows("nomenclatures", rows, |row| row.id, Product::try_from)?,
                    total,
                    page,
                )?)
            })
            .await
    }

    async fn latest(&self, customer: CustomerScope, most: u32, at: DateTime<Utc>) -> Result<Vec<Product>, StoreError> {
        self.read(move |connection| {
            let rows: Vec<ProductRow> = kept(customer, most.into(), 0, at).rows(connection)?;
            Ok::<_, Abort<StoreError>>(unreadable::rows("nomenclatures", rows, |row| row.id, Product::try_from)?)
        })
        .await
    }

    async fn add(
        &self,
        customer: CustomerScope,
        id: NomenclatureId,
        at: DateTime<Utc>,
    ) -> Result<FavouriteOutcome, StoreError> {
        self.write(move |connection| {
            if !lock_customer(connection, customer.counterparty_id.get())? {
                return Ok(FavouriteOutcome::CustomerDeleted);
            }
            let application = customer.app.application_id.get();
            let shown = found!(connection, storefront_offers::table.find((application, id.get())))?;
            if !shown && !sold_out(connection, customer.app, id)? {
                return Ok(FavouriteOutcome::ProductNotShown);
            }
            let statement = Statement::new(
                "INSERT INTO favourites (project_id, counterparty_id, nomenclature_id, created_at) VALUES ",
            )
            .tuple([
                customer.app.project_id.get().into(),
                customer.counterparty_id.get().into(),
                id.get().into(),
                at.naive_utc().into(),
            ])
            .sql(" ON CONFLICT (project_id, counterparty_id, nomenclature_id) DO NOTHING");
            connection.note_created("favourites", id.get());
            Ok(if statement.run(connection)? == 0 { FavouriteOutcome::AlreadyPresent } else { FavouriteOutcome::Added })
        })
        .await
    }

    async fn remove(&self, customer: CustomerScope, id: NomenclatureId) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let own = favourites::table
                .filter(favourites::project_id.eq(customer.app.project_id.get()))
                .filter(favourites::counterparty_id.eq(customer.counterparty_id.get()))
                .filter(favourites::nomenclature_id.eq(id.get()));
            Ok(diesel::delete(own).execute(connection)? > 0)
        })
        .await
    }
}

const CHUNK: usize = 500;

/// Returns those customers that are not deleted, and prevents their deletion until the transaction ends.
fn present(connection: &mut AnyConnection, customers: &[i64]) -> Result<BTreeSet<i64>, QueryError> {
    let statement = Statement::new("SELECT id FROM counterparties WHERE deleted_at IS NULL AND id").among(customers);
    let present = statement.locked(connection, " ORDER BY id FOR SHARE").scalars(connection)?;
    Ok(present.into_iter().collect())
}

/// Writes searches, ordered by customer and text, so that concurrent processes wait for each other without deadlock.
fn write(connection: &mut AnyConnection, searches: &[Search], kept: u32) -> Result<(), QueryError> {
    let customers: BTreeSet<i64> = searches.iter().map(|search| search.counterparty_id.get()).collect();
    let customers: Vec<i64> = customers.into_iter().collect();
    let present = present(connection, &customers)?;
    // Searches of one buffer belong to several projects.
    let moved: Vec<i64> = moved_projects().scalars(connection)?;
    let rows: Vec<_> = searches
        .iter()
        .filter(|search| !moved.contains(&search.project_id.get()))
        .filter(|search| present.contains(&search.counterparty_id.get()))
        .map(|search| {
            [
                search.project_id.get().into(),
                search.counterparty_id.get().into(),
                search.value.as_str().into(),
                search.value.key().into(),
                search.at.naive_utc().into(),
            ]
        })
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    let insert = Statement::new(
        "INSERT INTO search_requests (project_id, counterparty_id, value, value_key, created_at) VALUES ",
    );
    insert
        .tuples(rows)
        .once()
        .sql(
            " ON CONFLICT (project_id, counterparty_id, value_key) DO UPDATE SET value = excluded.value, \
             created_at = excluded.created_at WHERE search_requests.created_at < excluded.created_at",
        )
        .run(connection)?;
    Statement::new(
        "DELETE FROM search_requests WHERE id IN (SELECT id FROM (SELECT id, row_number() OVER \
         (PARTITION BY project_id, counterparty_id ORDER BY created_at DESC, id DESC) AS place \
         FROM search_requests WHERE project_id",
    )
    .among(&projects(searches))
    .sql(" AND counterparty_id")
    .among(&customers)
    .sql(") AS ranked WHERE place > ")
    .value(kept)
    .sql(")")
    .run(connection)?;
    Ok(())
}

fn projects(searches: &[Search]) -> Vec<i64> {
    let projects: BTreeSet<i64> = searches.iter().map(|search| search.project_id.get()).collect();
    projects.into_iter().collect()
}

#[async_trait]
impl SearchLog for Database {
    async fn store(&self, mut searches: Vec<Search>, kept: u32) -> Result<(), StoreError> {
        searches.sort_by_cached_key(|search| (search.counterparty_id, search.value.key()));
        self.write(move |connection| {
            for chunk in searches.chunks(CHUNK) {
                write(connection, chunk, kept)?;
            }
            Ok(())
        })
        .await
    }

    async fn searches(&self, customer: Visitor) -> Result<Vec<SearchRequest>, StoreError> {
        let Some(counterparty) = customer.counterparty_id else { return Ok(Vec::new()) };
        self.read(move |connection| {
            let rows: Vec<(i64, String, NaiveDateTime)> = search_requests::table
                .filter(search_requests::project_id.eq(customer.app.project_id.get()))
                .filter(search_requests::counterparty_id.eq(counterparty.get()))
                .order((search_requests::created_at.desc(), search_requests::id.desc()))
                .select((search_requests::id, search_requests::value, search_requests::created_at))
                .load(connection)?;
            let requests: Result<Vec<_>, StoreError> = rows
                .into_iter()
                .map(|(id, value, at)| {
                    Ok(SearchRequest {
                        id: decode::id(id)?,
                        value: decode::owned(value)?,
                        created_at: decode::moment(at),
                    })
                })
                .collect();
            Ok(requests?)
        })
        .await
    }
}

#[async_trait]
impl ViewCounter for Database {
    async fn add_views(&self, views: Vec<(NomenclatureId, u64)>) -> Result<(), StoreError> {
        let mut views: Vec<(i64, u64)> = views.into_iter().map(|(id, count)| (id.get(), count)).collect();
        views.sort_unstable();
        self.write(move |connection| {
            for views in views.chunks(VIEW_BATCH) {
                let ids = add_views(connection, "nomenclatures", views)?;
                Statement::new(
                    "UPDATE storefront_offers SET popularity = (SELECT n.views_count FROM nomenclatures n \
                     WHERE n.id = storefront_offers.nomenclature_id AND n.project_id = storefront_offers.project_id) \
                     WHERE nomenclature_id",
                )
                .among(&ids)
                .sql(format!(" AND {}", is_here("storefront_offers")))
                .run(connection)?;
            }
            Ok(())
        })
        .await
    }
}
