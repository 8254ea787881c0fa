//! Reservation, release and sale of the stock of orders. The guards are in the statements, which stay prepared: Diesel
//! would prepare its own updates on each call.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_kernel::Money;

use super::Movement;
use crate::database::AnyConnection;
use crate::statement::{Statement, by_place};

/// Outcome of a reservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reserved {
    /// The units are reserved.
    Done(Movement),
    /// Not enough units are available.
    NotEnough,
    /// The price has changed.
    PriceChanged,
}

by_place! {
    struct FiguresRow {
        project: i64,
        item: i64,
        warehouse: i64,
        quantity: i64,
        reserved: i64,
    }
}

/// Changes the figures of a stock level with the given column assignments, and returns the movement. Returns `None` if
/// there is no such stock level or a condition is not met.
fn change(
    connection: &mut AnyConnection,
    inventory: i64,
    set: Statement,
    conditions: Statement,
    quantity: i64,
    reserved: i64,
    at: NaiveDateTime,
) -> QueryResult<Option<Movement>> {
    let changed: Option<FiguresRow> = Statement::new("UPDATE inventories SET updated_at = ")
        .value(at)
        .then(set)
        .sql(" WHERE id = ")
        .value(inventory)
        .then(conditions)
        .sql(" RETURNING project_id, nomenclature_id, warehouse_id, quantity, reserved")
        .row(connection)
        .optional()?;
    Ok(changed.map(|after| Movement {
        project: after.project,
        inventory,
        item: after.item,
        warehouse: after.warehouse,
        quantity,
        reserved,
        quantity_after: after.quantity,
        reserved_after: after.reserved,
        price: None,
    }))
}

/// Reserves units if enough are available at the sold price.
pub(crate) fn reserve(
    connection: &mut AnyConnection,
    inventory: i64,
    pieces: i64,
    price: Money,
    at: NaiveDateTime,
) -> QueryResult<Reserved> {
    let set = Statement::new(", reserved = reserved + ").value(pieces);
    let free = Statement::new(" AND quantity - reserved >= ").value(pieces).sql(" AND price = ").value(price.minor());
    if let Some(held) = change(connection, inventory, set, free, 0, pieces, at)? {
        return Ok(Reserved::Done(held));
    }
    let current = Statement::new("SELECT price FROM inventories WHERE id = ").value(inventory);
    let is_same = current.scalar::<Option<i64>>(connection).optional()?.flatten() == Some(price.minor());
    Ok(if is_same { Reserved::NotEnough } else { Reserved::PriceChanged })
}

/// Releases reserved units.
pub(crate) fn release_reserved(
    connection: &mut AnyConnection,
    inventory: i64,
    pieces: i64,
    at: NaiveDateTime,
) -> QueryResult<Movement> {
    let set = Statement::new(", reserved = reserved - ").value(pieces);
    change(connection, inventory, set, Statement::default(), 0, -pieces, at)?.ok_or(diesel::NotFound)
}

/// Removes reserved units from the warehouse. The available quantity does not change.
pub(crate) fn remove_reserved(
    connection: &mut AnyConnection,
    inventory: i64,
    pieces: i64,
    at: NaiveDateTime,
) -> QueryResult<Movement> {
    let set = Statement::new(", version = version + 1, quantity = quantity - ")
        .value(pieces)
        .sql(", reserved = reserved - ")
        .value(pieces);
    change(connection, inventory, set, Statement::default(), -pieces, -pieces, at)?.ok_or(diesel::NotFound)
}

/// Returns sold units to the warehouse. Returns `None` if the warehouse is deleted together with its stock.
pub(crate) fn put_back(
    connection: &mut AnyConnection,
    inventory: i64,
    pieces: i64,
    at: NaiveDateTime,
) -> QueryResult<Option<Movement>> {
    let set = Statement::new(", version = version + 1, quantity = quantity + ").value(pieces);
    change(connection, inventory, set, Statement::new(" AND deleted_at IS NULL"), pieces, 0, at)
}
