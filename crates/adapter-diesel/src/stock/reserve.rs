//! Reserving, releasing and selling the stock of orders. The guards are in the statements.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_kernel::Money;

use super::Movement;
use crate::database::{AnyConnection, on_each};
use crate::schema::inventories;

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

/// Project, item, warehouse, pieces and reserved pieces of a stock record.
type Figures = (i64, i64, i64, i64, i64);

fn movement(inventory: i64, figures: Figures, quantity: i64, reserved: i64) -> Movement {
    let (project, item, warehouse, quantity_after, reserved_after) = figures;
    Movement { project, inventory, item, warehouse, quantity, reserved, quantity_after, reserved_after, price: None }
}

#[diesel::dsl::auto_type]
fn figures() -> _ {
    (
        inventories::project_id,
        inventories::nomenclature_id,
        inventories::warehouse_id,
        inventories::quantity,
        inventories::reserved,
    )
}

/// Reserves pieces, as long as so many are free and cost what they were sold for.
pub(crate) fn reserve(
    connection: &mut AnyConnection,
    inventory: i64,
    pieces: i64,
    price: Money,
    at: NaiveDateTime,
) -> QueryResult<Reserved> {
    let free = inventories::quantity - inventories::reserved;
    let held = diesel::update(
        inventories::table
            .filter(inventories::id.eq(inventory))
            .filter(free.ge(pieces))
            .filter(inventories::price.eq(price.minor())),
    )
    .set((inventories::reserved.eq(inventories::reserved + pieces), inventories::updated_at.eq(at)))
    .returning(figures());
    let held: Option<Figures> = on_each!(connection, concrete => held.get_result(concrete)).optional()?;
    if let Some(held) = held {
        return Ok(Reserved::Done(movement(inventory, held, 0, pieces)));
    }
    let current: Option<Option<i64>> =
        inventories::table.find(inventory).select(inventories::price).first(connection).optional()?;
    Ok(if current == Some(Some(price.minor())) { Reserved::NotEnough } else { Reserved::PriceChanged })
}

/// Gives reserved pieces back.
pub(crate) fn give_back(
    connection: &mut AnyConnection,
    inventory: i64,
    pieces: i64,
    at: NaiveDateTime,
) -> QueryResult<Movement> {
    let after: Figures = diesel::update(inventories::table.find(inventory))
        .set((inventories::reserved.eq(inventories::reserved - pieces), inventories::updated_at.eq(at)))
        .returning(figures())
        .get_result(connection)?;
    Ok(movement(inventory, after, 0, -pieces))
}

/// Takes reserved pieces out of the warehouse. What is free for others stays the same.
pub(crate) fn take_out(
    connection: &mut AnyConnection,
    inventory: i64,
    pieces: i64,
    at: NaiveDateTime,
) -> QueryResult<Movement> {
    let after: Figures = diesel::update(inventories::table.find(inventory))
        .set((
            inventories::quantity.eq(inventories::quantity - pieces),
            inventories::version.eq(inventories::version + 1),
            inventories::reserved.eq(inventories::reserved - pieces),
            inventories::updated_at.eq(at),
        ))
        .returning(figures())
        .get_result(connection)?;
    Ok(movement(inventory, after, -pieces, -pieces))
}

/// Lays pieces that had left back into the warehouse. `None` when it is deleted, and its stock with it.
pub(crate) fn put_back(
    connection: &mut AnyConnection,
    inventory: i64,
    pieces: i64,
    at: NaiveDateTime,
) -> QueryResult<Option<Movement>> {
    let kept = inventories::table.filter(inventories::id.eq(inventory)).filter(inventories::deleted_at.is_null());
    let after: Option<Figures> = diesel::update(kept)
        .set((
            inventories::quantity.eq(inventories::quantity + pieces),
            inventories::version.eq(inventories::version + 1),
            inventories::updated_at.eq(at),
        ))
        .returning(figures())
        .get_result(connection)
        .optional()?;
    Ok(after.map(|after| movement(inventory, after, pieces, 0)))
}
