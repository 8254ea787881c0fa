//! Reserving, releasing and selling the stock of orders. The guards are in the statements, which stay prepared: diesel
//! prepares its own updates anew every time.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable};
use kontor_kernel::Money;

use super::Movement;
use crate::database::AnyConnection;
use crate::statement::{Statement, by_place};

/// What came of reserving pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reserved {
    /// They are reserved.
    Done(Movement),
    /// There are not enough.
    NotEnough,
    /// The price is another one.
    PriceChanged,
}

by_place! {
    struct FiguresRow {
        project: i64 as BigInt,
        item: i64 as BigInt,
        warehouse: i64 as BigInt,
        quantity: i64 as BigInt,
        reserved: i64 as BigInt,
    }
}

by_place! {
    struct PriceRow {
        price: Option<i64> as Nullable<BigInt>,
    }
}

/// Changes the figures of a stock record, by the columns that are set, and returns the movement. `None` when there is no such
/// record, or a condition is not met.
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

/// Reserves pieces, as long as so many are free and cost what they were sold for.
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
    let current: Option<PriceRow> = current.row(connection).optional()?;
    let is_same = current.is_some_and(|current| current.price == Some(price.minor()));
    Ok(if is_same { Reserved::NotEnough } else { Reserved::PriceChanged })
}

/// Gives reserved pieces back.
pub(crate) fn give_back(
    connection: &mut AnyConnection,
    inventory: i64,
    pieces: i64,
    at: NaiveDateTime,
) -> QueryResult<Movement> {
    let set = Statement::new(", reserved = reserved - ").value(pieces);
    change(connection, inventory, set, Statement::default(), 0, -pieces, at)?.ok_or(diesel::NotFound)
}

/// Takes reserved pieces out of the warehouse. What is free for others stays the same.
pub(crate) fn take_out(
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

/// Lays pieces that had left back into the warehouse. `None` when it is deleted, and its stock with it.
pub(crate) fn put_back(
    connection: &mut AnyConnection,
    inventory: i64,
    pieces: i64,
    at: NaiveDateTime,
) -> QueryResult<Option<Movement>> {
    let set = Statement::new(", version = version + 1, quantity = quantity + ").value(pieces);
    change(connection, inventory, set, Statement::new(" AND deleted_at IS NULL"), pieces, 0, at)
}
