//! Changes of an order, including their effect on its money.

use kontor_kernel::OrderId;
use kontor_orders::change::OrderUpdate;
use kontor_orders::lines::LinesRefused;
use kontor_orders::model::{Order, OrderEvent, PreparedPayment, StockEffect};
use kontor_orders::ports::Decision;
use kontor_orders::{OrderError, OrderRefusal};
use kontor_payments::model::{Charge, ChargePurpose, NewCharge};

use super::{recurring, refunds};
use crate::customer_data::{CustomerOf, lock_customer, lock_customer_of};
use crate::database::idempotency::prepares;
use crate::database::{Abort, AnyConnection};
use crate::orders::{self, RefundContext};
use crate::payments;

/// Changes an order. Locks the customer before the charge and the charge before the order, as in every transaction. The
/// second receipt of a prepaid order is stored in the transaction that hands the order over.
pub(super) fn change(
    connection: &mut AnyConnection,
    id: OrderId,
    decide: &Decision,
) -> Result<Option<Charge>, Abort<OrderError>> {
    lock_customer_of(connection, CustomerOf::Order(id.get()))?;
    let purpose = ChargePurpose::Order(id);
    let charge = payments::lock_paid(connection, purpose)?;
    let found = orders::locked(connection, id)?;
    let update = decide(found.clone()).map_err(Abort::Refused)?;
    let (project, at) = (update.stamp.project_id, update.stamp.at);
    // `decide` has checked the project already.
    let order = found.within(project).ok_or(Abort::Refused(OrderError::NotFound))?;
    // The payment may have arrived while this transaction waited for the order.
    let charge = match charge {
        None if !order.captured.is_zero() => payments::lock_paid(connection, purpose)?,
        known => known,
    };
    if update.is_nothing(&order) {
        return Ok(None);
    }
    if let Some(refund) = &update.refund {
        let giving = RefundContext { project: project.get(), order: id, by: update.stamp.author, at: at.naive_utc() };
        refunds::give_back(connection, &order, giving, refund, charge, at)?;
        recurring::period_refunded(connection, charge, refund.ends_period, update.stamp.author, at)?;
    }
    if let Some(charge) = charge
        && update.transition.is_some_and(|step| step.stock == StockEffect::Sell)
    {
        payments::hand_over(connection, charge, at).map_err(Abort::into_store)?;
    }
    if update.event() == OrderEvent::PaymentRenewed {
        // The lines stay as they are, whatever was requested: a repeated request computes the same change.
        prepares();
    }
    orders::apply(connection, &order, &update)?;
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
        return Err(refuse(LinesRefused::CustomerGone));
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
