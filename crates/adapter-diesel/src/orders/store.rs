//! Port of orders.

use async_trait::async_trait;
use kontor_kernel::{Contact, CounterpartyId, OrderId, StoreError};
use kontor_orders::change::{OrderUpdate, Orderer, PlacedOrder};
use kontor_orders::lines::LinesRefused;
use kontor_orders::model::{Order, OrderEvent, PreparedPayment, StockEffect};
use kontor_orders::ports::{Decision, OrderStore, PlaceRefused, Placed};
use kontor_orders::refund::RefundRefused;
use kontor_orders::{OrderError, OrderRefusal};
use kontor_payments::model::{Charge, ChargePurpose, NewCharge};

use super::change::{apply, locked};
use super::refunds::RefundContext;
use super::requested_refunds::{request_of, request_refund};
use super::{place, unconfirmed};
use crate::customer_data::{BindError, CustomerOf, Newcomer, find_or_bind, lock_customer, lock_customer_of};
use crate::database::{Abort, AnyConnection, Database};
use crate::payments::{self, ChargeConsequences as _};

/// Returns the customer of an order and prevents their deletion.
fn orderer(connection: &mut AnyConnection, order: &PlacedOrder) -> Result<CounterpartyId, Abort<PlaceRefused>> {
    match &order.orderer {
        Orderer::Customer(id) if lock_customer(connection, id.get())? => Ok(*id),
        Orderer::Customer(_) => Err(Abort::Refused(PlaceRefused::CustomerDeleted)),
        Orderer::Contact(person) => {
            let named = Newcomer {
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
        let giving = RefundContext { project: project.get(), order: id, by, at: at.naive_utc() };
        let request = request_of(connection, &order, refund, charge)?;
        request_refund(connection, giving, refund, request, at)?;
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
