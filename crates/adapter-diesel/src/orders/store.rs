//! Port of orders, and changes of an order by staff.

use async_trait::async_trait;
use diesel::prelude::*;
use kontor_kernel::{Contact, CounterpartyId, OrderId, ProjectScoped, StoreError};
use kontor_orders::change::{OrderUpdate, Orderer, PlacedOrder};
use kontor_orders::lines::LinesRefused;
use kontor_orders::model::{Order, OrderEvent, PreparedPayment, StockEffect};
use kontor_orders::ports::{Decision, OrderStore, PlaceRefused, Placed};
use kontor_orders::refund::RefundRefused;
use kontor_orders::{OrderError, OrderRefusal};
use kontor_payments::model::{Charge, ChargePurpose, NewCharge};

use super::refunds::{RefundContext, request_of, request_refund};
use super::{history, place, reader, replace_lines, reservations, unconfirmed};
use crate::customer_data::{
    BindError, CustomerOf, NewCustomerData, find_or_bind, is_employee, lock_customer, lock_customer_of,
};
use crate::database::{Abort, AnyConnection, Database, Topic};
use crate::order_history::{self, Entry};
use crate::payments::{self, ChargeConsequences as _};
use crate::schema::{keyed, orders};
use crate::statement::Statement;

/// Returns the customer of an order. `place::place` prevents their deletion.
fn orderer(connection: &mut AnyConnection, order: &PlacedOrder) -> Result<CounterpartyId, Abort<PlaceRefused>> {
    match &order.orderer {
        Orderer::Customer(id) => Ok(*id),
        Orderer::Contact(person) => {
            let named = NewCustomerData {
                first: Some(&person.first_name),
                last: Some(&person.last_name),
                middle: person.middle_name.as_deref(),
            };
            let phone = Contact::Phone(person.phone.clone());
            let found = find_or_bind(connection, order.project_id, &phone, &named, order.at.naive_utc());
            // A call that loses the race for a new phone finds it bound on the next attempt.
            found.map_err(|abort| {
                abort.map(|lost| match lost {
                    BindError::Lost => PlaceRefused::Stale,
                    BindError::Store(error) => PlaceRefused::Store(error),
                })
            })
        }
    }
}

/// Stores the charge in the transaction of its order. Its key is known even if the call that follows fails.
fn place(connection: &mut AnyConnection, order: &PlacedOrder) -> Result<Placed, Abort<PlaceRefused>> {
    let customer = orderer(connection, order)?;
    unconfirmed::admit(connection, order)?;
    let order_id = place::place(connection, order, customer)?;
    let Some(new) = order.charge(order_id, customer) else { return Ok(Placed { order_id, charge: None }) };
    let charge = payments::insert(connection, &new).map_err(Abort::into_store)?;
    let clash = || StoreError::corrupt("the key of a charge is already in use");
    Ok(Placed { order_id, charge: Some(charge.ok_or_else(clash)?) })
}

/// Changes an order. Locks the customer before the charge and the charge before the order, as in every transaction. The
/// second receipt of a prepaid order is stored in the transaction that hands the order over.
fn change(connection: &mut AnyConnection, id: OrderId, decide: &Decision) -> Result<Option<Charge>, Abort<OrderError>> {
    lock_customer_of(connection, CustomerOf::Order(id.get()))?;
    let purpose = ChargePurpose::Order(id);
    let charge = payments::lock_paid(connection, purpose)?;
    let found = locked(connection, id)?;
    let update = decide(found.clone()).map_err(Abort::Refused)?;
    let (project, at) = (update.stamp.project_id, update.stamp.at);
    // `decide` has checked the project already.
    let order = found.within(project).ok_or(Abort::Refused(OrderError::NotFound))?;
    // The payment may have arrived while this transaction waited for the order.
    let charge = match charge {
        None if !order.captured.is_zero() => payments::lock_paid(connection, purpose)?,
        known => known,
    };
    if update.is_empty(&order) {
        return Ok(None);
    }
    if let Some(refund) = &update.refund {
        let by = update.stamp.author;
        let context = RefundContext { project: project.get(), order: id, by, at: at.naive_utc() };
        let request = request_of(connection, &order, refund, charge)?;
        request_refund(connection, context, refund, request, at)?;
        if !connection.refund_periods(charge, refund.ends_period, by, at).map_err(Abort::into_store)? {
            return Err(Abort::Refused(OrderRefusal::Refund(RefundRefused::NoPeriod).into()));
        }
    }
    if let Some(charge) = charge
        && update.transition.is_some_and(|step| step.stock == StockEffect::Sell)
    {
        payments::hand_over(connection, charge, at).map_err(Abort::into_store)?;
    }
    if update.event() == OrderEvent::PaymentRenewed {
        // The lines stay as they are, whatever was requested: a repeated request computes the same change.
        connection.note_preparation();
    }
    apply(connection, &order, &update)?;
    update.payment.as_ref().map(|payment| store_charge(connection, &order, payment, &update)).transpose()
}

/// Stores the charge in the transaction of its purpose, as for a new order.
fn store_charge(
    connection: &mut AnyConnection,
    order: &Order,
    payment: &PreparedPayment,
    update: &OrderUpdate,
) -> Result<Charge, Abort<OrderError>> {
    let refuse = |refused| Abort::Refused(OrderRefusal::Lines(refused).into());
    if !lock_customer(connection, order.customer.id.get())? {
        return Err(refuse(LinesRefused::CustomerDeleted));
    }
    let new = NewCharge {
        project_id: update.stamp.project_id,
        application_id: order.application.as_ref().map(|application| application.id),
        counterparty_id: order.customer.id,
        request: payment.request(order.id),
        next_check_at: payment.next_check_at,
        at: update.stamp.at,
    };
    payments::insert(connection, &new).map_err(Abort::into_store)?.ok_or_else(|| refuse(LinesRefused::Stale))
}

#[async_trait]
impl OrderStore for Database {
    async fn place(&self, order: PlacedOrder) -> Result<Placed, PlaceRefused> {
        self.write(move |connection| place(connection, &order)).await
    }

    async fn change(&self, id: OrderId, decide: Decision) -> Result<Option<Charge>, OrderError> {
        self.write(move |connection| change(connection, id, &decide)).await
    }
}

type Refused = Abort<OrderError>;

/// Loads the order and locks it until the transaction ends.
pub(crate) fn locked(connection: &mut AnyConnection, order: OrderId) -> Result<ProjectScoped<Order>, Refused> {
    let row = || Statement::new(" WHERE o.id = ").value(order.get());
    Statement::new("SELECT o.id FROM orders o").then(row()).hold(connection, " FOR NO KEY UPDATE")?;
    let found = reader::orders(connection, row()).map_err(Abort::into_store)?;
    found.into_iter().next().ok_or(Abort::Refused(OrderError::NotFound))
}

/// Writes a change of a locked order; `before` is its state before the change. Refunded lines are written first, so
/// that their stock is not released twice.
pub(super) fn apply(connection: &mut AnyConnection, before: &Order, change: &OrderUpdate) -> Result<(), Refused> {
    let (order, project, at) = (before.id, change.stamp.project_id.get(), change.stamp.at.naive_utc());
    if let Some(manager) = change.manager.set_value()
        && !is_employee(connection, change.stamp.project_id, *manager)?
    {
        return Err(Abort::Refused(OrderRefusal::UnknownManager.into()));
    }
    let released = change.transition.is_some_and(|step| step.stock == StockEffect::Release);
    let captured = change.captured.as_ref();
    diesel::update(keyed!(orders, order.get(), change.stamp.project_id))
        .set((
            change.transition.map(|step| orders::status_id.eq(step.to.id())),
            captured.map(|captured| (orders::paid_at.eq(at), orders::captured.eq(captured.amount.minor()))),
            orders::updated_at.eq(at),
            // Each of these columns may also be cleared.
            released.then_some(orders::payment_link.eq(None::<String>)),
            change.manager.as_set().map(|manager| orders::manager_id.eq(manager.map(i64::from))),
            change.comment.as_set().map(|comment| orders::comment.eq(comment.as_deref())),
            change.address.as_set().map(|address| orders::address.eq(address.as_deref())),
            // Any change by an employee confirms an order from the contact form.
            orders::reserved_until.eq(None::<chrono::NaiveDateTime>),
            orders::version.eq(orders::version + 1),
        ))
        .execute(connection)?;
    if let Some(rework) = &change.rework {
        replace_lines::apply(connection, order, rework, &change.stamp)?;
    }
    if change.transition.is_some() {
        connection.invalidate(Topic::Storefront, project);
    }
    match change.transition.map(|step| step.stock) {
        Some(StockEffect::Release) => reservations::release(connection, project, order.get(), change.stamp.author, at)?,
        Some(StockEffect::Sell) => reservations::sell(connection, project, order.get(), change.stamp.author, at)?,
        Some(StockEffect::Keep) | None => {}
    }
    if let Some(event) = change.captured.as_ref().and_then(|captured| captured.event.as_ref()) {
        history::announce_paid(connection, event)?;
    }
    for (notice, amount) in change.notices() {
        history::notify_customer(connection, order, notice, amount, at)?;
    }
    let detail = change.detail();
    let entry = Entry {
        project,
        order: order.get().into(),
        actor: change.stamp.author,
        event: change.event(),
        status: change.status(before),
        detail: detail.as_deref(),
        changes: change.changes(before),
    };
    order_history::write(connection, &entry, at)
}
