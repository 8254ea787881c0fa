//! Refunds made at the acquirer, outside the service, and their effect on the charge and its order.

use chrono::{DateTime, Utc};
use kontor_kernel::StoreError;
use kontor_kernel::history::Author;
use kontor_orders::change::OrderedRefund;
use kontor_orders::model::Order;
use kontor_orders::refund::{DecidedRefund, external_refund};
use kontor_payments::model::{Charge, ChargePurpose, GatewayRefund, RefundIntent};
use kontor_payments::ports::ExternalRefundStored;
use uuid::Uuid;

use super::refunds::to_storage;
use super::{contradicted, recurring};
use crate::customer_data::{CustomerOf, lock_customer_of};
use crate::database::idempotency::prepares;
use crate::database::{Abort, AnyConnection};
use crate::orders::{self, RefundChannel, RefundContext};
use crate::payments::{self, Key};

/// Reason shown to customers and staff.
const REASON: &str = "Refunded at the acquirer.";

/// Records an outside refund. Locks the customer before the charge and the charge before its order, as in every
/// transaction.
pub(super) fn record(
    connection: &mut AnyConnection,
    key: Uuid,
    refund: &GatewayRefund,
    at: DateTime<Utc>,
) -> Result<ExternalRefundStored, Abort<StoreError>> {
    // No request of this service caused the refund.
    prepares();
    let charge = payments::load(connection, &Key::Provider(refund.payment.to_string()))?;
    let Some(charge) = charge else { return Ok(ExternalRefundStored::NoCharge) };
    let purpose = charge.purpose();
    lock_customer_of(connection, CustomerOf::Charge(charge.id.get()))?;
    let left = payments::lock_refundable(connection, charge.id.get())?;
    if payments::is_refund_known(connection, &refund.id)? {
        return Ok(ExternalRefundStored::Known(purpose));
    }
    let intent = RefundIntent::new(key, refund.amount, REASON.to_owned());
    let fits = refund.currency == charge.request.currency && refund.amount.minor() <= left;
    let Some(intent) = intent.ok().filter(|_| fits) else {
        return doubt(connection, &charge, refund, "the refund exceeds the rest of the payment", at);
    };
    let ChargePurpose::Order(id) = purpose else {
        payments::insert_outside(connection, &charge, &intent, refund, at.naive_utc())?;
        return Ok(ExternalRefundStored::Recorded(purpose));
    };
    let order = orders::locked(connection, id).map_err(to_storage)?.within(charge.project_id);
    let decided = order.map(|order| external_refund(&order, refund.amount).map(|decided| (order, decided)));
    match decided {
        Some(Ok((order, decided))) => {
            let stored = payments::insert_outside(connection, &charge, &intent, refund, at.naive_utc())?;
            count_on_order(connection, &order, decided, (key, RefundChannel::Gone(stored)), &charge, at)?;
            Ok(ExternalRefundStored::Recorded(purpose))
        }
        Some(Err(refused)) => doubt(connection, &charge, refund, &refused.to_string(), at),
        None => doubt(connection, &charge, refund, "its order belongs to another project", at),
    }
}

/// Counts the money as refunded on the order; its items are not returned.
fn count_on_order(
    connection: &mut AnyConnection,
    order: &Order,
    decided: DecidedRefund,
    (key, way): (Uuid, RefundChannel),
    charge: &Charge,
    at: DateTime<Utc>,
) -> Result<(), Abort<StoreError>> {
    let amount = decided.amount;
    let back = OrderedRefund { key, decided, reason: REASON.to_owned(), restock: false, ends_period: false };
    let giving =
        RefundContext { project: charge.project_id.get(), order: order.id, by: Author::System, at: at.naive_utc() };
    orders::give_back(connection, giving, &back, way).map_err(to_storage)?;
    orders::add_outside_refund_entry(connection, order, giving, amount)?;
    recurring::period_refunded(connection, Some(charge.id), false, Author::System, at).map_err(to_storage)
}

fn doubt(
    connection: &mut AnyConnection,
    charge: &Charge,
    refund: &GatewayRefund,
    why: &str,
    at: DateTime<Utc>,
) -> Result<ExternalRefundStored, Abort<StoreError>> {
    let (purpose, id, amount) = (charge.purpose(), &refund.id, refund.amount);
    let why = format!("refund {id} of {amount} was made at the acquirer and is not recorded: {why}");
    contradicted(connection, charge.id.get(), &why, at)?;
    Ok(ExternalRefundStored::Doubtful { purpose, why })
}
