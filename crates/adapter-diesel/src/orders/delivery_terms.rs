//! Delivery charges of a project and the prices of its delivery methods.

use async_trait::async_trait;
use diesel::prelude::*;
use kontor_kernel::{Money, ProjectId, StoreError};
use kontor_orders::model::{BY_DELIVERY, DeliveryChoice};
use kontor_orders::ports::{DeliveryOption, DeliverySettings, DeliveryTerms, Priced};

use crate::database::{Abort, AnyConnection, Database, Topic};
use crate::decode;
use crate::schema::{delivery_subtypes, delivery_types, projects};
use crate::statement::{Statement, by_place};

by_place! {
    struct MethodRow {
        type_id: i64,
        type_name: String,
        type_price: i64,
        subtype_id: Option<i64>,
        subtype_name: Option<String>,
        subtype_price: Option<i64>,
    }
}

fn delivery_options(
    connection: &mut AnyConnection,
    project: ProjectId,
) -> Result<Vec<DeliveryOption>, Abort<StoreError>> {
    let rows: Vec<MethodRow> = Statement::new(
        "SELECT dt.id, dt.name, dt.price, ds.id, ds.name, ds.price FROM delivery_types dt LEFT JOIN delivery_subtypes ds ON \
         ds.project_id = dt.project_id AND ds.delivery_type_id = dt.id AND ds.is_active AND dt.id = ",
    )
    .value(BY_DELIVERY.get())
    .sql(" WHERE dt.is_active AND dt.project_id = ")
    .value(project.get())
    .sql(" ORDER BY dt.id, ds.id")
    .rows(connection)?;
    let method = |row: MethodRow| {
        let subtype = row.subtype_id.zip(row.subtype_name).zip(row.subtype_price);
        let subtype = subtype.map(|((id, name), price)| {
            Ok::<_, StoreError>(Priced { id: decode::id(id)?, name, price: decode::money(price)? })
        });
        Ok(DeliveryOption {
            delivery_type: Priced {
                id: decode::id(row.type_id)?,
                name: row.type_name,
                price: decode::money(row.type_price)?,
            },
            subtype: subtype.transpose()?,
        })
    };
    rows.into_iter().map(method).collect()
}

#[async_trait]
impl DeliverySettings for Database {
    async fn delivery_terms(&self, project: ProjectId) -> Result<Option<DeliveryTerms>, StoreError> {
        self.snapshot(move |connection| {
            let charges: Option<bool> =
                projects::table.find(project.get()).select(projects::charges_delivery).first(connection).optional()?;
            let Some(charges_delivery) = charges else { return Ok(None) };
            Ok::<_, Abort<StoreError>>(Some(DeliveryTerms {
                charges_delivery,
                ways: delivery_options(connection, project)?,
            }))
        })
        .await
    }

    async fn set_charges_delivery(&self, project: ProjectId, charges: bool) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let set = diesel::update(projects::table.find(project.get()))
                .set((projects::charges_delivery.eq(charges), projects::version.eq(projects::version + 1)));
            Ok::<_, Abort<StoreError>>(set.execute(connection)? == 1)
        })
        .await
    }

    async fn set_delivery_price(
        &self,
        project: ProjectId,
        choice: DeliveryChoice,
        price: Money,
    ) -> Result<bool, StoreError> {
        self.write(move |connection| {
            // Storefronts show the prices.
            connection.invalidate(Topic::Storefront, project.get());
            let (type_id, price) = (choice.type_id.get(), price.minor());
            let written = match choice.subtype_id {
                None => diesel::update(delivery_types::table.find((project.get(), type_id)))
                    .set(delivery_types::price.eq(price))
                    .execute(connection)?,
                Some(id) => diesel::update(delivery_subtypes::table.find((project.get(), id.get())))
                    .filter(delivery_subtypes::delivery_type_id.eq(type_id))
                    .set(delivery_subtypes::price.eq(price))
                    .execute(connection)?,
            };
            // Staff see the prices with the version of the project's settings.
            diesel::update(projects::table.find(project.get()))
                .set(projects::version.eq(projects::version + 1))
                .execute(connection)?;
            Ok::<_, Abort<StoreError>>(written == 1)
        })
        .await
    }
}
