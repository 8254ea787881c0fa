//! Stores an order completely or not at all.

use std::collections::BTreeMap;

use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_kernel::{CounterpartyId, InventoryId, OrderId, Word};
use kontor_orders::change::{PlacedLine, PlacedOrder};
use kontor_orders::model::{OrderEvent, PaymentMethod, ReservationState};
use kontor_orders::ports::PlaceRefused;

use super::discounts;
use super::snapshot::SERVICE;
use super::tickets;
use crate::customer_data::is_employee;
use crate::database::{Abort, AnyConnection, Topic};
use crate::decode;
use crate::locks::lock_for_order;
use crate::order_history::{self, Entry};
use crate::read_models::offers;
use crate::schema::{discount_usages, nomenclatures};
use crate::statement::{Statement, Value, by_place};
use crate::stock::{self, Cause, Claim, Reason};

type Refused = Abort<PlaceRefused>;

/// Stores an order and its reservations. Its charge is stored in the same transaction.
pub(super) fn place(
    connection: &mut AnyConnection,
    order: &PlacedOrder,
    customer: CounterpartyId,
) -> Result<OrderId, Refused> {
    let at = order.at.naive_utc();
    // Items are locked first, as in every stock change, because the data shown by storefronts may change. The items of
    // services are locked with them.
    let items: Vec<i64> = order.lines.iter().map(|line| line.item.get()).collect();
    let covering: Vec<i64> = order.automatic.covering.iter().map(|id| id.get()).collect();
    if !lock_for_order(connection, customer.get(), &items, &covering)? {
        return Err(Abort::Refused(PlaceRefused::CustomerDeleted));
    }
    if let Some(manager) = order.manager_id
        && !is_employee(connection, order.project_id, manager)?
    {
        return Err(Abort::Refused(PlaceRefused::UnknownManager));
    }
    connection.invalidate(Topic::Storefront, order.project_id.get());
    let services = order.lines.iter().filter(|line| line.inventory.is_none());
    let services = services.map(|line| (line.item.get(), line.unit_price.minor())).collect();
    if !check_service_prices(connection, order.project_id.get(), &services)? {
        return Err(Abort::Refused(PlaceRefused::Stale));
    }
    if let Some(promo) = &order.promo {
        discounts::take_promo_use(connection, order.project_id.get(), promo, order.promo_discount, customer.get())?;
    }
    let (id, exhausted) = store(connection, order, customer, &items, at)?;
    tickets::insert(connection, order, id)?;
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
    connection.note_created("orders", id);
    offers::refresh_locked(connection, &exhausted)?;
    Ok(decode::id(id)?)
}

/// Checks the prices of services. Services have no stock that would guard their prices, so their locked items must
/// still have these prices.
pub(super) fn check_service_prices(
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

by_place! {
    /// Row of the statement that stores an order: one per reserved stock level, at least one.
    struct StoredRow {
        order: i64,
        inventory: Option<i64>,
        item: Option<i64>,
        left: Option<i64>,
        automatic: Option<String>,
    }
}

/// Reserves the stock of an order and stores its rows. Returns its id, and the items that are sold out now. PostgreSQL
/// does this in one statement: each further statement would add a round trip while other transactions wait for the
/// locks. An order that is refused afterwards is rolled back.
fn store(
    connection: &mut AnyConnection,
    order: &PlacedOrder,
    customer: CounterpartyId,
    items: &[i64],
    at: NaiveDateTime,
) -> Result<(i64, Vec<i64>), Refused> {
    let project = order.project_id.get();
    let mut claims: Vec<(Claim, usize)> = order.lines.iter().filter_map(claim).collect();
    claims.sort_by_key(|(claim, _)| claim.inventory);
    let (claims, positions): (Vec<Claim>, Vec<usize>) = claims.into_iter().unzip();
    let placed = order_row(order, customer, at);
    let cause = |number: Value| Cause::of_order(Reason::Reservation, number, order.author, at);
    let entry = |number: Value| Entry {
        project,
        order: number,
        actor: order.author,
        event: OrderEvent::Created,
        status: order.status,
        detail: None,
        changes: order_history::created(order.status, order.final_price, order.delivery_charge.price),
    };
    // Stock level, item and remaining units of each reservation.
    let reserved: Vec<(i64, i64, i64)>;
    let (id, is_current) = if connection.is_postgres() && order.lines.len() <= MAX_LINES_PER_STATEMENT {
        let rows: Vec<StoredRow> = Statement::new("WITH taken AS (")
            .then(stock::reserving(project, &claims, at))
            .sql("), placed AS (")
            .then(placed)
            .sql("), held AS (")
            .then(line_rows(project, &PLACED, &order.lines, at))
            .sql(" RETURNING inventory_id, quantity), moved AS (")
            .then(stock::entries_of_taken(&cause(PLACED)))
            .sql("), entered AS (")
            .then(order_history::line(&entry(PLACED), at)?)
            .sql(") SELECT placed.id, taken.id, taken.nomenclature_id, taken.quantity - taken.reserved, (")
            .then(discounts::automatic_text(project, items))
            .sql(") FROM placed LEFT JOIN taken ON TRUE")
            .rows(connection)?;
        let first = rows.first().ok_or(diesel::NotFound)?;
        reserved = rows.iter().filter_map(|row| Some((row.inventory?, row.item?, row.left?))).collect();
        (first.order, first.automatic == discounts::seen_text(&order.automatic))
    } else {
        let movements = stock::reserve(connection, project, &claims, at)?;
        let id: i64 = placed.scalar(connection)?;
        insert_lines(connection, project, id, &order.lines, at)?;
        stock::write_movements(connection, &movements, &cause(id.into()))?;
        order_history::write(connection, &entry(id.into()), at)?;
        reserved = movements.iter().map(|movement| (movement.inventory, movement.item, movement.left())).collect();
        (id, discounts::check_automatic_discounts(connection, project, items, &order.automatic)?)
    };
    let is_reserved = |claim: &Claim| reserved.iter().any(|(inventory, ..)| *inventory == claim.inventory);
    if let Some((claim, line)) = claims.iter().zip(positions).find(|(claim, _)| !is_reserved(claim)) {
        let is_sold_out = stock::has_price(connection, claim)?;
        return Err(Abort::Refused(if is_sold_out { PlaceRefused::OutOfStock { line } } else { PlaceRefused::Stale }));
    }
    if !is_current {
        return Err(Abort::Refused(PlaceRefused::Stale));
    }
    Ok((id, reserved.into_iter().filter(|(.., left)| *left == 0).map(|(_, item, _)| item).collect()))
}

/// Returns the units of a line to reserve, and its position; `None` for a service.
fn claim(line: &PlacedLine) -> Option<(Claim, usize)> {
    let (inventory, pieces) = (place_of(line)?, line.quantity.get().into());
    Some((Claim { inventory, pieces, price: line.unit_price }, line.position))
}

/// Id of the order that the same statement stores as `placed`.
const PLACED: Value = Value::Found("(SELECT id FROM placed)");
/// Maximum lines that are stored in one statement with their order.
const MAX_LINES_PER_STATEMENT: usize = 100;

/// Returns the statement that stores an order and returns its id.
fn order_row(order: &PlacedOrder, customer: CounterpartyId, at: NaiveDateTime) -> Statement {
    let delivery = &order.delivery;
    Statement::new(
        "INSERT INTO orders (project_id, application_id, counterparty_id, status_id, original_price, product_discount, \
         promo_discount, final_price, delivery_price, delivery_vat_code, discount_id, promo_code, delivery_type_id, delivery_subtype_id, \
         delivery_subtype_param_id, shop_id, address, phone, payment_type_id, payment_method_type, manager_id, comment, \
         reserved_until, version, created_at, updated_at) VALUES ",
    )
    .tuple([
        order.project_id.get().into(),
        order.application_id.map(i64::from).into(),
        customer.get().into(),
        order.status.id().into(),
        order.original_price.minor().into(),
        order.product_discount.minor().into(),
        order.promo_discount.minor().into(),
        order.final_price.minor().into(),
        order.delivery_charge.price.minor().into(),
        order.delivery_charge.vat.map(|vat| i64::from(vat.get())).into(),
        order.promo.as_ref().map(|promo| promo.discount_id.get()).into(),
        order.promo.as_ref().map(|promo| promo.code.as_str()).into(),
        delivery.type_id.get().into(),
        delivery.subtype_id.map(i64::from).into(),
        delivery.subtype_param_id.map(i64::from).into(),
        delivery.shop_id.map(i64::from).into(),
        delivery.address.as_deref().into(),
        order.phone.as_deref().into(),
        order.payment_type_id.map(i64::from).into(),
        order.payment_method().map(PaymentMethod::word).into(),
        order.manager_id.map(i64::from).into(),
        order.comment.as_deref().into(),
        order.reserved_until().map(|until| until.naive_utc()).into(),
        1_i64.into(),
        at.into(),
        at.into(),
    ])
    .sql(" RETURNING id")
}

/// Stores lines of an order.
pub(super) fn insert_lines(
    connection: &mut AnyConnection,
    project: i64,
    order: i64,
    lines: &[PlacedLine],
    at: NaiveDateTime,
) -> QueryResult<()> {
    for lines in lines.chunks(MAX_LINES_PER_STATEMENT) {
        line_rows(project, &order.into(), lines, at).run(connection)?;
    }
    Ok(())
}

/// Returns the statement that stores lines, at least one, of the order with this id.
fn line_rows(project: i64, order: &Value, lines: &[PlacedLine], at: NaiveDateTime) -> Statement {
    let line = |line: &PlacedLine| -> [Value; 15] {
        [
            project.into(),
            order.clone(),
            line.item.get().into(),
            place_of(line).into(),
            line.name.as_str().into(),
            i64::from(line.quantity.get()).into(),
            line.unit_price.minor().into(),
            line.price.product_discount.minor().into(),
            line.price.promo_discount.minor().into(),
            line.price.total().minor().into(),
            line.vat.map(|vat| i64::from(vat.get())).into(),
            line.is_ticket.into(),
            ReservationState::Held.word().into(),
            at.into(),
            at.into(),
        ]
    };
    Statement::new(
        "INSERT INTO reservations (project_id, order_id, nomenclature_id, inventory_id, name, quantity, unit_price, \
         product_discount, promo_discount, total, vat_code, is_ticket, state, created_at, updated_at) VALUES ",
    )
    .tuples(lines.iter().map(line))
    .of_lines(lines.len())
}
