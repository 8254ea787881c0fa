//! Whether a project charges delivery, and what its ways of delivery cost.

use async_trait::async_trait;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable, Text};
use kontor_kernel::{ProjectId, StoreError};
use kontor_orders::model::BY_DELIVERY;
use kontor_orders::ports::{DeliverySettings, DeliveryTerms, PricedWay};

use crate::database::{Abort, AnyConnection, Database};
use crate::schema::projects;
use crate::statement::{Statement, by_place};
use crate::stored;

by_place! {
    struct WayRow {
        type_name: String as Text,
        subtype_name: Option<String> as Nullable<Text>,
        price: i64 as BigInt,
    }
}

fn ways(connection: &mut AnyConnection, project: ProjectId) -> Result<Vec<PricedWay>, Abort<StoreError>> {
    let rows: Vec<WayRow> = Statement::new(
        "SELECT dt.name, ds.name, dt.price + COALESCE(ds.price, 0) FROM delivery_types dt LEFT JOIN delivery_subtypes ds \
         ON ds.project_id = dt.project_id AND ds.delivery_type_id = dt.id AND ds.is_active AND dt.id = ",
    )
    .value(BY_DELIVERY.get())
    .sql(" WHERE dt.is_active AND dt.project_id = ")
    .value(project.get())
    .sql(" ORDER BY dt.id, ds.id")
    .rows(connection)?;
    let way = |row: WayRow| {
        let price = stored::money(row.price)?;
        Ok(PricedWay { type_name: row.type_name, subtype_name: row.subtype_name, price })
    };
    rows.into_iter().map(way).collect()
}

#[async_trait]
impl DeliverySettings for Database {
    async fn delivery_terms(&self, project: ProjectId) -> Result<Option<DeliveryTerms>, StoreError> {
        self.read_snapshot(move |connection| {
            let charges: Option<bool> =
                projects::table.find(project.get()).select(projects::charges_delivery).first(connection).optional()?;
            let Some(charges_delivery) = charges else { return Ok(None) };
            Ok::<_, Abort<StoreError>>(Some(DeliveryTerms { charges_delivery, ways: ways(connection, project)? }))
        })
        .await
    }

    async fn set_charges_delivery(&self, project: ProjectId, charges: bool) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let set = diesel::update(projects::table.find(project.get())).set(projects::charges_delivery.eq(charges));
            Ok::<_, Abort<StoreError>>(set.execute(connection)? == 1)
        })
        .await
    }
}
