//! Release and sale of the stock that an order reserved.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_kernel::Word;
use kontor_kernel::history::Author;
use kontor_orders::model::ReservationState;

use super::discounts;
use crate::database::AnyConnection;
use crate::locks::lock_items;
use crate::read_models::offers;
use crate::schema::reservations;
use crate::stock::{Cause, Reason, release_reserved, remove_reserved, write_movements};

type HeldLine = (Option<i64>, i64, i64);

/// Returns the reserved units of an order, by ascending inventory id. The caller has locked the order. Items are locked
/// first, as in every stock change.
fn held(connection: &mut AnyConnection, order: i64) -> QueryResult<Vec<(i64, i64)>> {
    let lines: Vec<HeldLine> = reservations::table
        .filter(reservations::order_id.eq(order))
        .filter(reservations::state.eq(ReservationState::Held.word()))
        .order(reservations::inventory_id)
        .select((
            reservations::inventory_id,
            reservations::quantity - reservations::refunded_quantity,
            reservations::nomenclature_id,
        ))
        .load(connection)?;
    let stocked = lines.iter().filter(|(inventory, ..)| inventory.is_some());
    lock_items(connection, &stocked.map(|(.., item)| *item).collect::<Vec<_>>())?;
    Ok(lines.into_iter().filter_map(|(inventory, pieces, _)| Some((inventory?, pieces))).collect())
}

fn set_state(
    connection: &mut AnyConnection,
    order: i64,
    state: ReservationState,
    at: NaiveDateTime,
) -> QueryResult<()> {
    diesel::update(
        reservations::table
            .filter(reservations::order_id.eq(order))
            .filter(reservations::state.eq(ReservationState::Held.word())),
    )
    .set((reservations::state.eq(state.word()), reservations::updated_at.eq(at)))
    .execute(connection)?;
    Ok(())
}

/// Releases the reserved stock of an order and its use of a discount. Items that become available return to the
/// storefront.
pub(super) fn release(connection: &mut AnyConnection, order: i64, by: Author, at: NaiveDateTime) -> QueryResult<()> {
    let mut movements = Vec::new();
    for (inventory, pieces) in held(connection, order)? {
        movements.push(release_reserved(connection, inventory, pieces, at)?);
    }
    write_movements(connection, &movements, &Cause::of_order(Reason::Release, order, by, at))?;
    set_state(connection, order, ReservationState::Released, at)?;
    let returned = movements.iter().filter(|movement| movement.left() == -movement.reserved);
    let returned: Vec<i64> = returned.map(|movement| movement.item).collect();
    discounts::return_use(connection, order)?;
    offers::refresh_locked(connection, &returned)?;
    Ok(())
}

/// Removes the sold units of an order from the warehouses.
pub(super) fn sell(connection: &mut AnyConnection, order: i64, by: Author, at: NaiveDateTime) -> QueryResult<()> {
    let mut movements = Vec::new();
    for (inventory, pieces) in held(connection, order)? {
        movements.push(remove_reserved(connection, inventory, pieces, at)?);
    }
    write_movements(connection, &movements, &Cause::of_order(Reason::Sale, order, by, at))?;
    set_state(connection, order, ReservationState::Sold, at)
}
