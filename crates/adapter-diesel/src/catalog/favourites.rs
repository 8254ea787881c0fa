//! Products that customers keep.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use diesel::prelude::*;
use kontor_catalog::storefront::Product;
use kontor_catalog::storefront::ports::{Favourites, Keeping};
use kontor_kernel::{CustomerScope, NomenclatureId, Page, PageRequest, StoreError};

use super::found;
use super::storefront::{ProductRow, TotalRow, known_total};
use super::storefront_query::{count_favourites, favourites as kept};
use crate::customers::hold;
use crate::database::Database;
use crate::schema::{favourites, storefront_offers};
use crate::statement::Statement;

#[async_trait]
impl Favourites for Database {
    async fn page(
        &self,
        customer: CustomerScope,
        page: PageRequest,
        at: DateTime<Utc>,
    ) -> Result<Page<Product>, StoreError> {
        self.read_page(move |connection| {
            let rows: Vec<ProductRow> = kept(customer, page, at).rows(connection)?;
            let total = match known_total(page, rows.len()) {
                Some(total) => total,
                None => count_favourites(customer).row::<TotalRow>(connection)?.total,
            };
            Ok(Page {
                items: rows.into_iter().map(Product::try_from).collect::<Result<_, _>>()?,
                total: u64::try_from(total).map_err(StoreError::corrupt)?,
                request: page,
            })
        })
        .await
    }

    async fn add(&self, customer: CustomerScope, id: NomenclatureId, at: DateTime<Utc>) -> Result<Keeping, StoreError> {
        self.write(move |connection| {
            if !hold(connection, customer.counterparty_id.get())? {
                return Ok(Keeping::CustomerLeft);
            }
            let application = customer.app.application_id.get();
            if !found!(connection, storefront_offers::table.find((application, id.get())))? {
                return Ok(Keeping::NotShown);
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
            Ok(if statement.run(connection)? == 0 { Keeping::Kept } else { Keeping::Added })
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
