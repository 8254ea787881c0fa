//! Replaces the lines of an unpaid order: stock, totals and discounts follow, or nothing changes.

use std::collections::BTreeMap;

use diesel::prelude::*;
use kontor_kernel::{OrderId, Stamp, StoreError};
use kontor_orders::change::{ChangedLine, LineChangeSet, PlacedLine, PromoEffect, StockClaim};
use kontor_orders::lines::LinesRefused;
use kontor_orders::{OrderError, OrderRefusal};

use super::discounts;
use super::place::{check_service_prices, insert_lines};
use super::tickets;
use crate::database::{Abort, AnyConnection, Topic};
use crate::locks::lock_items;
use crate::read_models::offers;
use crate::schema::{keyed, orders};
use crate::statement::{Statement, Value};
use crate::stock::{self, Cause, Claim, Movement, Reason};

type Refused = Abort<OrderError>;

fn stale() -> Refused {
    Abort::Refused(OrderRefusal::from(LinesRefused::Stale).into())
}

/// Replaces the lines of a locked order. Refuses decisions based on figures that have changed.
pub(super) fn apply(
    connection: &mut AnyConnection,
    order: OrderId,
    rework: &LineChangeSet,
    stamp: &Stamp,
) -> Result<(), Refused> {
    let (project, at) = (stamp.project_id.get(), stamp.at.naive_utc());
    connection.invalidate(Topic::Storefront, project);
    let services: BTreeMap<i64, i64> =
        rework.services.iter().map(|(item, price)| (item.get(), price.minor())).collect();
    let moved = rework.claims.iter().map(|claim| claim.item.get());
    lock_items(connection, &moved.chain(services.keys().copied()).collect::<Vec<_>>())?;
    let free = claim(connection, order, &rework.claims, stamp)?;
    let items: Vec<i64> = rework.items.iter().map(|item| item.get()).collect();
    if !check_service_prices(connection, project, &services)?
        || !discounts::check_automatic_discounts(connection, project, &items, &rework.automatic)?
    {
        return Err(stale());
    }
    keep_promo(connection, project, order, rework)?;
    write_totals(connection, order, rework, stamp)?;
    remove(connection, project, order, rework)?;
    update(connection, order, rework, stamp)?;
    let new: Vec<PlacedLine> =
        rework.lines.iter().filter(|line| line.id.is_none()).map(|line| line.placed(0)).collect();
    if !new.is_empty() {
        insert_lines(connection, project, order.get(), &new, at)?;
    }
    tickets::update_tickets(connection, project, order.get(), rework)?;
    offers::refresh_locked(connection, &free)?;
    Ok(())
}

/// Reserves more of some stock and releases some of other; the items are locked. Returns the items that are sold out
/// now or available again.
fn claim(
    connection: &mut AnyConnection,
    order: OrderId,
    claims: &[StockClaim],
    stamp: &Stamp,
) -> Result<Vec<i64>, Refused> {
    let (project, at) = (stamp.project_id.get(), stamp.at.naive_utc());
    let wanted = |claim: &StockClaim| -> Option<Claim> {
        let price = claim.price.filter(|_| claim.pieces > 0)?;
        Some(Claim { inventory: claim.inventory.get(), pieces: claim.pieces, price })
    };
    let more: Vec<Claim> = claims.iter().filter_map(wanted).collect();
    let taken = if more.is_empty() { Vec::new() } else { stock::reserve(connection, project, &more, at)? };
    if taken.len() < more.len() {
        return Err(stale());
    }
    let mut given = Vec::new();
    for claim in claims.iter().filter(|claim| wanted(claim).is_none()) {
        let stocked = (project, claim.inventory.get());
        given.push(stock::release_reserved(connection, stocked, -claim.pieces, at)?);
    }
    for (reason, movements) in [(Reason::Reservation, &taken), (Reason::Release, &given)] {
        if !movements.is_empty() {
            let cause = Cause::of_order(reason, order.get(), stamp.author, at);
            stock::write_movements(connection, movements, &cause)?;
        }
    }
    let sold_out = taken.iter().filter(|movement| movement.left() == 0);
    let back = given.iter().filter(|movement| movement.left() == -movement.reserved);
    Ok(sold_out.chain(back).map(|movement: &Movement| movement.item).collect())
}

fn keep_promo(
    connection: &mut AnyConnection,
    project: i64,
    order: OrderId,
    rework: &LineChangeSet,
) -> Result<(), Refused> {
    match &rework.promo {
        PromoEffect::None => Ok(()),
        PromoEffect::Return(_) => Ok(discounts::return_use(connection, project, order.get())?),
        PromoEffect::Keep(promo) => {
            let amount = rework.totals.promo_discount;
            let kept = discounts::update_promo_use(connection, project, promo, order.get(), amount)
                .map_err(Abort::into_store)?;
            if kept { Ok(()) } else { Err(stale()) }
        }
    }
}

fn write_totals(
    connection: &mut AnyConnection,
    order: OrderId,
    rework: &LineChangeSet,
    stamp: &Stamp,
) -> QueryResult<()> {
    let (totals, returned) = (rework.totals, matches!(rework.promo, PromoEffect::Return(_)));
    diesel::update(keyed!(orders, order.get(), stamp.project_id))
        .set((
            orders::original_price.eq(totals.original_price.minor()),
            orders::product_discount.eq(totals.product_discount.minor()),
            orders::promo_discount.eq(totals.promo_discount.minor()),
            orders::final_price.eq(totals.final_price.minor()),
            returned.then_some((orders::discount_id.eq(None::<i64>), orders::promo_code.eq(None::<String>))),
            orders::version.eq(orders::version + 1),
            orders::updated_at.eq(stamp.at.naive_utc()),
        ))
        .execute(connection)?;
    Ok(())
}

fn written(order: OrderId, rows: &[i64], expected: usize) -> Result<(), Refused> {
    if rows.len() == expected {
        Ok(())
    } else {
        Err(StoreError::corrupt(format!("the lines of order {order} changed after they were read")).into())
    }
}

fn remove(connection: &mut AnyConnection, project: i64, order: OrderId, rework: &LineChangeSet) -> Result<(), Refused> {
    if rework.removed.is_empty() {
        return Ok(());
    }
    let ids: Vec<i64> = rework.removed.iter().map(|line| line.get()).collect();
    let held = Statement::new("DELETE FROM reservations WHERE state = 'held' AND order_id = ")
        .value(order.get())
        .sql(" AND project_id = ")
        .value(project);
    let gone: Vec<i64> = held.sql(" AND id").among(&ids).sql(" RETURNING id").scalars(connection)?;
    written(order, &gone, ids.len())
}

fn update(
    connection: &mut AnyConnection,
    order: OrderId,
    rework: &LineChangeSet,
    stamp: &Stamp,
) -> Result<(), Refused> {
    let known = |line: &&ChangedLine| line.is_changed && line.id.is_some();
    let changed: Vec<&ChangedLine> = rework.lines.iter().filter(known).collect();
    if changed.is_empty() {
        return Ok(());
    }
    let values = changed.iter().map(|line| -> Vec<Value> {
        vec![
            line.id.map(i64::from).into(),
            i64::from(line.quantity.get()).into(),
            line.unit_price.minor().into(),
            line.price.product_discount.minor().into(),
            line.price.promo_discount.minor().into(),
            line.price.total().minor().into(),
        ]
    });
    let statement = Statement::new(
        "UPDATE reservations SET quantity = v.column2, unit_price = v.column3, product_discount = v.column4, \
         promo_discount = v.column5, total = v.column6, updated_at = ",
    )
    .value(stamp.at.naive_utc())
    .sql(" FROM (VALUES ")
    .tuples(values)
    .sql(") AS v WHERE reservations.id = v.column1 AND reservations.state = 'held' AND reservations.order_id = ")
    .value(order.get())
    .sql(" AND reservations.project_id = ")
    .value(stamp.project_id.get())
    .sql(" RETURNING reservations.id");
    let rows: Vec<i64> = statement.of_lines(changed.len()).scalars(connection)?;
    written(order, &rows, changed.len())
}
