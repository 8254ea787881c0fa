//! Refreshes the offers of a warehouse after its links changed. The work is split into transactions, so that others
//! wait for one batch and not for a whole large warehouse.

use diesel::result::{OptionalExtension as _, QueryResult};
use kontor_kernel::{ProjectId, StoreError, WarehouseId};

use crate::database::{Abort, AnyConnection, Database, Topic};
use crate::read_models::offers;
use crate::statement::{Statement, by_place};

/// Stock levels per batch.
const STEP: usize = 1_000;

by_place! {
    struct StockRow {
        id: i64,
        item: i64,
    }
}

by_place! {
    struct BegunRow {
        warehouse: i64,
        project: i64,
        after: i64,
    }
}

/// Starts with a warehouse whose links have just changed, in the same transaction. [`Database::refresh_offers_rest`]
/// continues with the rest.
pub(super) fn begin(connection: &mut AnyConnection, project: ProjectId, warehouse: WarehouseId) -> QueryResult<()> {
    // Before the items, as in every later batch.
    Statement::new("INSERT INTO shelving (warehouse_id, project_id, after_id) VALUES ")
        .tuple([warehouse.get().into(), project.get().into(), 0_i64.into()])
        .sql(" ON CONFLICT (warehouse_id) DO UPDATE SET after_id = 0")
        .run(connection)?;
    step(connection, warehouse.get(), 0)
}

/// Refreshes one batch. Stock levels without available units are skipped: their items are shown neither before nor
/// after.
fn step(connection: &mut AnyConnection, warehouse: i64, after: i64) -> QueryResult<()> {
    let rows: Vec<StockRow> =
        Statement::new("SELECT id, nomenclature_id FROM inventories WHERE quantity > reserved AND warehouse_id = ")
            .value(warehouse)
            .sql(" AND id > ")
            .value(after)
            .sql(format!(" ORDER BY id LIMIT {STEP}"))
            .rows(connection)?;
    let items: Vec<i64> = rows.iter().map(|row| row.item).collect();
    offers::refresh_availability(connection, &items)?;
    let reached = match rows.last() {
        Some(last) if rows.len() == STEP => Statement::new("UPDATE shelving SET after_id = ").value(last.id),
        _ => Statement::new("DELETE FROM shelving"),
    };
    reached.sql(" WHERE warehouse_id = ").value(warehouse).run(connection)?;
    Ok(())
}

impl Database {
    /// Continues with the warehouse until nothing is left. After a failure, a worker continues.
    pub(super) async fn refresh_offers_rest(&self, warehouse: WarehouseId) {
        loop {
            match self.refresh_offers(Some(warehouse)).await {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => {
                    tracing::warn!(%error, %warehouse, "storefront offers are not fresh; a worker refreshes them later");
                    return;
                }
            }
        }
    }

    /// Refreshes the next batch of any unfinished warehouse. Returns `false` if there was none.
    pub async fn refresh_offers_next(&self) -> Result<bool, StoreError> {
        let begun = self.read(|connection| Ok::<_, Abort<StoreError>>(begun(None).sql(" LIMIT 1").finds(connection)?));
        Ok(begun.await? && self.refresh_offers(None).await?)
    }

    async fn refresh_offers(&self, warehouse: Option<WarehouseId>) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let next = begun(warehouse).sql(" LIMIT 1").locked(connection, " FOR UPDATE");
            let next: Option<BegunRow> = next.row(connection).optional()?;
            let Some(BegunRow { warehouse, project, after }) = next else { return Ok(false) };
            connection.invalidate(Topic::Storefront, project);
            step(connection, warehouse, after)?;
            Ok::<_, Abort<StoreError>>(true)
        })
        .await
    }
}

fn begun(warehouse: Option<WarehouseId>) -> Statement {
    let all = Statement::new("SELECT warehouse_id, project_id, after_id FROM shelving");
    let chosen = match warehouse {
        Some(warehouse) => all.sql(" WHERE warehouse_id = ").value(warehouse.get()),
        None => all,
    };
    chosen.sql(" ORDER BY warehouse_id")
}
