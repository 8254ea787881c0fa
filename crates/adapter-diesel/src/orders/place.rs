//! Storing an order: everything, or nothing.

use std::collections::BTreeMap;

use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_kernel::{CounterpartyId, InventoryId, OrderId, Word};
use kontor_orders::change::{PlacedLine, PlacedOrder};
use kontor_orders::model::{OrderEvent, PaymentMethod, ReservationState};
use kontor_orders::ports::PlaceRefused;

use super::discounts;
use super::history::{self, Entry};
use super::snapshot::SERVICE;
use super::tickets;
use crate::database::idempotency::made;
use crate::database::invalidation::{Topic, invalidate};
use crate::database::{Abort, AnyConnection, on_each};
use crate::locks::lock_cards;
use crate::people::is_employee;
use crate::projections::offers;
use crate::schema::{discount_usages, nomenclatures, orders, reservations};
use crate::stock::{self, Cause, Movement, Reason, Reserved};
use crate::stored;

type Refused = Abort<PlaceRefused>;

/// Stores an order and what it reserves; its charge is stored with it, in the same transaction.
///
/// The customer it is for is held by the caller.
pub(crate) fn place(
    connection: &mut AnyConnection,
    order: &PlacedOrder,
    customer: CounterpartyId,
) -> Result<OrderId, Refused> {
    let at = order.at.naive_utc();
    if let Some(manager) = order.manager_id
        && !is_employee(connection, order.project_id, manager)?
    {
        return Err(Abort::Refused(PlaceRefused::UnknownManager));
    }
    invalidate(Topic::Storefront, order.project_id.get());
    let reserved = reserve(connection, order, at)?;
    keep_prices(connection, order)?;
    if let Some(promo) = &order.promo {
        discounts::take_use(connection, promo, order.promo_discount, customer.get())?;
    }
    let id = insert_order(connection, order, customer, at)?;
    insert_lines(connection, order.project_id.get(), id, &order.lines, at)?;
    tickets::insert(connection, order, id)?;
    stock::enter(connection, &reserved, &Cause::of_order(Reason::Reservation, id, order.author, at))?;
    if let Some(promo) = &order.promo {
        diesel::insert_into(discount_usages::table)
            .values((
                discount_usages::order_id.eq(id),
                discount_usages::project_id.eq(order.project_id.get()),
                discount_usages::discount_id.eq(promo.discount_id.get()),
                discount_usages::counterparty_id.eq(customer.get()),
                discount_usages::created_at.eq(at),
            ))
            .execute(connection)?;
    }
    made("orders", id);
    let order_id = stored::id(id)?;
    let entry = Entry {
        project: order.project_id.get(),
        order: id,
        actor: order.author,
        event: OrderEvent::Created,
        status: order.status,
        detail: None,
        changes: history::created(order.status, order.final_price),
    };
    history::write(connection, &entry, at)?;
    let exhausted: Vec<i64> =
        reserved.iter().filter(|movement| movement.left() == 0).map(|movement| movement.item).collect();
    offers::refresh_locked(connection, &exhausted)?;
    Ok(order_id)
}

/// Reserves the stock of every line. The cards are held first, as everybody does who changes stock: what storefronts show
/// may follow from it. Those of services are held with them, in one order, so that nobody waits in a circle.
fn reserve(connection: &mut AnyConnection, order: &PlacedOrder, at: NaiveDateTime) -> Result<Vec<Movement>, Refused> {
    let mut lines: Vec<_> =
        order.lines.iter().filter_map(|line| place_of(line).map(|inventory| (inventory, line))).collect();
    lines.sort_by_key(|(inventory, _)| *inventory);
    lock_cards(connection, &order.lines.iter().map(|line| line.item.get()).collect::<Vec<_>>())?;
    let mut reserved = Vec::with_capacity(lines.len());
    for (inventory, line) in lines {
        match stock::reserve(connection, inventory, line.quantity.get().into(), line.unit_price, at)? {
            Reserved::Done(movement) => reserved.push(movement),
            Reserved::NotEnough => return Err(Abort::Refused(PlaceRefused::OutOfStock { line: line.position })),
            Reserved::PriceChanged => return Err(Abort::Refused(PlaceRefused::Stale)),
        }
    }
    Ok(reserved)
}

/// What the order was priced by must still be so.
fn keep_prices(connection: &mut AnyConnection, order: &PlacedOrder) -> Result<(), Refused> {
    let project = order.project_id.get();
    let services = order.lines.iter().filter(|line| line.inventory.is_none());
    let services = services.map(|line| (line.item.get(), line.unit_price.minor())).collect();
    let items: Vec<i64> = order.lines.iter().map(|line| line.item.get()).collect();
    if keep_services(connection, project, &services)?
        && discounts::keep_automatic(connection, project, &items, &order.automatic)?
    {
        Ok(())
    } else {
        Err(Abort::Refused(PlaceRefused::Stale))
    }
}

/// Services have no stock that would guard their prices: their cards, which are held, must still have them.
pub(super) fn keep_services(
    connection: &mut AnyConnection,
    project: i64,
    services: &BTreeMap<i64, i64>,
) -> QueryResult<bool> {
    if services.is_empty() {
        return Ok(true);
    }
    let current: Vec<(i64, Option<i64>)> = nomenclatures::table
        .filter(nomenclatures::id.eq_any(services.keys().copied().collect::<Vec<_>>()))
        .filter(nomenclatures::project_id.eq(project))
        .filter(nomenclatures::kind_id.eq(SERVICE))
        .filter(nomenclatures::is_subscription.eq(false))
        .select((nomenclatures::id, nomenclatures::price))
        .load(connection)?;
    let current: BTreeMap<i64, i64> = current.into_iter().filter_map(|(id, price)| Some((id, price?))).collect();
    Ok(current == *services)
}

fn place_of(line: &PlacedLine) -> Option<i64> {
    line.inventory.map(InventoryId::get)
}

fn insert_order(
    connection: &mut AnyConnection,
    order: &PlacedOrder,
    customer: CounterpartyId,
    at: NaiveDateTime,
) -> Result<i64, Refused> {
    let delivery = &order.delivery;
    let row = (
        (
            orders::project_id.eq(order.project_id.get()),
            orders::application_id.eq(order.application_id.map(i64::from)),
            orders::counterparty_id.eq(customer.get()),
            orders::status_id.eq(order.status.id()),
            orders::original_price.eq(order.original_price.minor()),
            orders::product_discount.eq(order.product_discount.minor()),
            orders::promo_discount.eq(order.promo_discount.minor()),
            orders::final_price.eq(order.final_price.minor()),
            orders::discount_id.eq(order.promo.as_ref().map(|promo| promo.discount_id.get())),
            orders::promo_code.eq(order.promo.as_ref().map(|promo| promo.code.as_str())),
        ),
        (
            orders::delivery_type_id.eq(delivery.type_id.get()),
            orders::delivery_subtype_id.eq(delivery.subtype_id.map(i64::from)),
            orders::delivery_subtype_param_id.eq(delivery.subtype_param_id.map(i64::from)),
            orders::shop_id.eq(delivery.shop_id.map(i64::from)),
            orders::address.eq(delivery.address.as_deref()),
            orders::phone.eq(order.phone.as_deref()),
            orders::payment_type_id.eq(order.payment_type_id.map(i64::from)),
            orders::payment_method_type.eq(order.payment_method().map(PaymentMethod::word)),
            orders::manager_id.eq(order.manager_id.map(i64::from)),
            orders::comment.eq(order.comment.as_deref()),
        ),
        (orders::version.eq(1), orders::created_at.eq(at), orders::updated_at.eq(at)),
    );
    // Every order is written here: on the concrete connection the statement is found by its type, without its text.
    let into = diesel::insert_into(orders::table).values(row).returning(orders::id);
    Ok(on_each!(connection, concrete => into.get_result(concrete))?)
}

#[derive(Insertable)]
#[diesel(table_name = reservations, treat_none_as_default_value = false)]
struct NewLine {
    project_id: i64,
    order_id: i64,
    nomenclature_id: i64,
    inventory_id: Option<i64>,
    name: String,
    quantity: i64,
    unit_price: i64,
    product_discount: i64,
    promo_discount: i64,
    total: i64,
    vat_code: Option<i32>,
    is_ticket: bool,
    state: &'static str,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
}

/// Stores lines of an order.
pub(super) fn insert_lines(
    connection: &mut AnyConnection,
    project: i64,
    order: i64,
    lines: &[PlacedLine],
    at: NaiveDateTime,
) -> QueryResult<()> {
    let line = |line: &PlacedLine| NewLine {
        project_id: project,
        order_id: order,
        nomenclature_id: line.item.get(),
        inventory_id: place_of(line),
        name: line.name.clone(),
        quantity: line.quantity.get().into(),
        unit_price: line.unit_price.minor(),
        product_discount: line.price.product_discount.minor(),
        promo_discount: line.price.promo_discount.minor(),
        total: line.price.total().minor(),
        vat_code: line.vat.map(|vat| vat.get().into()),
        is_ticket: line.is_ticket,
        state: ReservationState::Held.word(),
        created_at: at,
        updated_at: at,
    };
    let lines: Vec<NewLine> = lines.iter().map(line).collect();
    let into = || diesel::insert_into(reservations::table);
    match lines.as_slice() {
        // Most orders have one. The statement of one row is prepared once, that of several every time.
        [one] => on_each!(connection, concrete => into().values(one).execute(concrete))?,
        many => on_each!(connection, concrete => into().values(many).execute(concrete))?,
    };
    Ok(())
}
