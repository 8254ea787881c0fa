//! Favourite products of customers.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use diesel::prelude::*;
use kontor_catalog::storefront::Product;
use kontor_catalog::storefront::ports::{FavouriteOutcome, Favourites};
use kontor_kernel::{AppScope, CustomerScope, NomenclatureId, Page, PageRequest, StoreError};

use super::storefront::{ProductRow, known_total};
use super::storefront_query::{count_favourites, favourites as kept};
use crate::customer_data::lock_customer;
use crate::database::{Abort, AnyConnection, Database, Extent, found};
use crate::decode;
use crate::read_models::offers;
use crate::schema::{favourites, storefront_offers};
use crate::statement::Statement;
use crate::unreadable;

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
