//! What orders do to stock. The guards stand in the statements.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use diesel::result::Error as QueryError;
use kontor_kernel::Money;

use crate::catalog::offers;
use crate::database::AnyConnection;
use crate::schema::{inventories, reservations};

/// What came of claiming pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claim {
    /// They are claimed; so many are left for others.
    Held { left: i64 },
    /// There are not enough.
    Gone,
    /// The price is another one.
    PriceMoved,
}

/// Claims pieces, as long as so many are free and cost what they were sold for.
pub(super) fn claim(
    connection: &mut AnyConnection,
    inventory: i64,
    pieces: i64,
    price: Money,
    at: NaiveDateTime,
) -> Result<Claim, QueryError> {
    let free = inventories::quantity - inventories::reserved;
    let left: Option<i64> = diesel::update(
        inventories::table
            .filter(inventories::id.eq(inventory))
            .filter(free.ge(pieces))
            .filter(inventories::price.eq(price.minor())),
    )
    .set((inventories::reserved.eq(inventories::reserved + pieces), inventories::updated_at.eq(at)))
    .returning(inventories::quantity - inventories::reserved)
    .get_result(connection)
    .optional()?;
    if let Some(left) = left {
        return Ok(Claim::Held { left });
    }
    let current: Option<i64> =
        inventories::table.find(inventory).select(inventories::price).first(connection).optional()?;
    Ok(if current == Some(price.minor()) { Claim::Gone } else { Claim::PriceMoved })
}

type HeldLine = (Option<i64>, i64, i64);

/// The claims of an order whose row the caller has locked, by ascending inventory.
fn held(connection: &mut AnyConnection, order: i64) -> Result<Vec<HeldLine>, QueryError> {
    reservations::table
        .filter(reservations::order_id.eq(order))
        .filter(reservations::state.eq("held"))
        .order(reservations::inventory_id)
        .select((reservations::inventory_id, reservations::nomenclature_id, reservations::quantity))
        .load(connection)
}

fn mark(connection: &mut AnyConnection, order: i64, state: &str, at: NaiveDateTime) -> Result<(), QueryError> {
    diesel::update(reservations::table.filter(reservations::order_id.eq(order)).filter(reservations::state.eq("held")))
        .set((reservations::state.eq(state), reservations::updated_at.eq(at)))
        .execute(connection)?;
    Ok(())
}

/// Gives the claims of an order back; items that become available again return to the storefront.
pub(super) fn release(connection: &mut AnyConnection, order: i64, at: NaiveDateTime) -> Result<(), QueryError> {
    let mut returned = Vec::new();
    for (inventory, item, pieces) in held(connection, order)? {
        let Some(inventory) = inventory else { continue };
        let left: i64 = diesel::update(inventories::table.find(inventory))
            .set((inventories::reserved.eq(inventories::reserved - pieces), inventories::updated_at.eq(at)))
            .returning(inventories::quantity - inventories::reserved)
            .get_result(connection)?;
        if left == pieces {
            returned.push(item);
        }
    }
    mark(connection, order, "released", at)?;
    offers_changed(connection, &returned)
}

/// Takes the goods of an order out of the warehouses. What is free for others stays the same.
pub(super) fn sell(connection: &mut AnyConnection, order: i64, at: NaiveDateTime) -> Result<(), QueryError> {
    for (inventory, _, pieces) in held(connection, order)? {
        let Some(inventory) = inventory else { continue };
        diesel::update(inventories::table.find(inventory))
            .set((
                inventories::quantity.eq(inventories::quantity - pieces),
                inventories::reserved.eq(inventories::reserved - pieces),
                inventories::updated_at.eq(at),
            ))
            .execute(connection)?;
    }
    mark(connection, order, "sold", at)
}

/// Keeps the storefront in step with items that just became available or unavailable somewhere.
pub(super) fn offers_changed(connection: &mut AnyConnection, items: &[i64]) -> Result<(), QueryError> {
    if !items.is_empty() {
        offers::refresh_availability(connection, items)?;
    }
    Ok(())
}
