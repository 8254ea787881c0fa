//! Stock levels set by staff and spreadsheets.

use diesel::prelude::*;

use super::{Cause, INSERT, Movement, ROWS, write_movements};
use crate::database::AnyConnection;
use crate::locks::lock_rows;
use crate::statement::{Statement, Value, by_place};

/// A stock level to create.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewStock {
    pub item: i64,
    pub warehouse: i64,
    pub quantity: i64,
    /// Price; without it nothing of the stock is sold.
    pub price: Option<i64>,
}

/// Figures to set; `None` leaves a figure as it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StockLevels {
    pub inventory: i64,
    pub quantity: Option<i64>,
    pub price: Option<i64>,
}

by_place! {
    struct CreatedRow {
        id: i64,
        item: i64,
        warehouse: i64,
        quantity: i64,
        price: Option<i64>,
    }
}

/// Creates stock levels of a project. Returns their ids, in no particular order.
pub(crate) fn create(
    connection: &mut AnyConnection,
    project: i64,
    new: &[NewStock],
    cause: &Cause,
) -> QueryResult<Vec<i64>> {
    let mut ids = Vec::with_capacity(new.len());
    for new in new.chunks(ROWS) {
        let values = new.iter().map(|stock| -> Vec<Value> {
            let (quantity, price, at) = (stock.quantity.into(), stock.price.into(), cause.at);
            let (item, warehouse) = (stock.item.into(), stock.warehouse.into());
            vec![project.into(), item, warehouse, quantity, 0_i64.into(), price, at.into(), at.into()]
        });
        let statement = Statement::new(
            "INSERT INTO inventories (project_id, nomenclature_id, warehouse_id, quantity, reserved, price, created_at, \
             updated_at) VALUES ",
        );
        let rows: Vec<CreatedRow> = statement
            .tuples(values)
            .sql(" RETURNING id, nomenclature_id, warehouse_id, quantity, price")
            .once()
            .rows(connection)?;
        let movement = |row: &CreatedRow| Movement {
            project,
            inventory: row.id,
            item: row.item,
            warehouse: row.warehouse,
            quantity: row.quantity,
            reserved: 0,
            quantity_after: row.quantity,
            reserved_after: 0,
            price: row.price,
        };
        write_movements(connection, &rows.iter().map(movement).collect::<Vec<_>>(), cause)?;
        ids.extend(rows.iter().map(|row| row.id));
    }
    Ok(ids)
}

/// Sets figures of stock levels of a project, never below the reserved quantity. Returns the number of changed stock
/// levels; the caller rolls back if it is smaller than requested.
pub(crate) fn set(
    connection: &mut AnyConnection,
    project: i64,
    wanted: &[StockLevels],
    cause: &Cause,
) -> QueryResult<usize> {
    let mut written = 0;
    for wanted in wanted.chunks(ROWS) {
        lock_rows(connection, "inventories", &wanted.iter().map(|to| to.inventory).collect::<Vec<_>>())?;
        let values = || wanted.iter().map(|to| vec![to.inventory.into(), to.quantity.into(), to.price.into()]);
        // The movement is the difference to the current figures, so it is written first. The rows are locked.
        let mut movements = Statement::new(INSERT).sql(
            "SELECT i.project_id, i.id, i.nomenclature_id, i.warehouse_id, COALESCE(v.column2, i.quantity) - i.quantity, 0, \
             COALESCE(v.column2, i.quantity), i.reserved, CASE WHEN v.column3 <> i.price THEN i.price END, \
             CASE WHEN v.column3 <> i.price OR i.price IS NULL THEN v.column3 END",
        );
        for value in cause.values() {
            movements = movements.sql(", ").value(value);
        }
        movements
            .sql(" FROM (VALUES ")
            .tuples(values())
            .sql(
                ") AS v JOIN inventories i ON i.id = v.column1 WHERE i.deleted_at IS NULL \
                 AND i.reserved <= COALESCE(v.column2, i.quantity) \
                 AND (v.column2 <> i.quantity OR v.column3 <> i.price OR i.price IS NULL AND v.column3 IS NOT NULL) ORDER BY i.id",
            )
            .once()
            .run(connection)?;
        let update = Statement::new(
            "UPDATE inventories SET version = inventories.version + 1, quantity = COALESCE(v.column2, inventories.quantity), \
             price = COALESCE(v.column3, inventories.price), updated_at = ",
        )
        .value(cause.at)
        .sql(" FROM (VALUES ");
        written += update
            .tuples(values())
            .sql(
                ") AS v WHERE inventories.id = v.column1 AND inventories.deleted_at IS NULL \
                 AND inventories.reserved <= COALESCE(v.column2, inventories.quantity) AND inventories.project_id = ",
            )
            .value(project)
            .once()
            .run(connection)?;
    }
    Ok(written)
}
