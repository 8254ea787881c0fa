//! Refunds made at the acquirer, outside the service, and their effect on the charge and its order.

use chrono::{DateTime, Utc};
use kontor_kernel::StoreError;
use kontor_kernel::history::Author;
use kontor_orders::OrderRefusal;
use kontor_orders::refund::{RefundRefused, outside_refund};
use kontor_payments::model::{Charge, ChargePurpose, GatewayRefund, RefundIntent};
use kontor_payments::ports::ExternalRefundStored;
use uuid::Uuid;

use super::record_contradiction;
use crate::customer_data::{CustomerOf, lock_customer_of};
use crate::database::{Abort, AnyConnection};
use crate::decode;
use crate::orders::{self, to_storage};
use crate::payments::{self, Key};
use crate::subscriptions::refund_periods;

/// Records an outside refund. Locks the customer before the charge and the charge before its order, as in every
/// transaction.
pub(super) fn record(
    connection: &mut AnyConnection,
    key: Uuid,
    refund: &GatewayRefund,
    at: DateTime<Utc>,
) -> Result<ExternalRefundStored, Abort<StoreError>> {
    // No request of this service caused the refund.
    connection.note_preparation();
    let charge = payments::load(connection, &Key::Provider(refund.payment.to_string()))?;
    let Some(charge) = charge else { return Ok(ExternalRefundStored::UnknownCharge) };
    let purpose = charge.purpose();
    lock_customer_of(connection, CustomerOf::Charge(charge.id.get()))?;
    let left = decode::money(payments::lock_refundable(connection, charge.id.get())?)?;
    if payments::is_refund_known(connection, &refund.id)? {
        return Ok(ExternalRefundStored::Known(purpose));
    }
    let Some(intent) = RefundIntent::outside(key, refund, &charge, left) else {
        return record_doubt(connection, &charge, refund, "the refund exceeds the rest of the payment", at);
    };
    let ChargePurpose::Order(id) = purpose else {
        payments::insert_outside(connection, &charge, &intent, refund, at.naive_utc())?;
        return Ok(ExternalRefundStored::Recorded(purpose));
    };
    let Some(order) = orders::locked(connection, id).map_err(to_storage)?.within(charge.project_id) else {
        return record_doubt(connection, &charge, refund, "its order belongs to another project", at);
    };
    match outside_refund(&order, &intent) {
        Err(refused) => record_doubt(connection, &charge, refund, &refused.to_string(), at),
        Ok(made) => {
            let stored = payments::insert_outside(connection, &charge, &intent, refund, at.naive_utc())?;
            orders::add_outside_refund(connection, &charge, id, &made, stored, at)?;
            if !refund_periods(connection, Some(charge.id), false, Author::System, at)? {
                return Err(StoreError::corrupt(OrderRefusal::Refund(RefundRefused::NoPeriod)).into());
            }
            Ok(ExternalRefundStored::Recorded(purpose))
        }
    }
}

fn record_doubt(
    connection: &mut AnyConnection,
    charge: &Charge,
    refund: &GatewayRefund,
    why: &str,
    at: DateTime<Utc>,
) -> Result<ExternalRefundStored, Abort<StoreError>> {
    let (purpose, id, amount) = (charge.purpose(), &refund.id, refund.amount);
    let why = format!("refund {id} of {amount} was made at the acquirer and is not recorded: {why}");
    record_contradiction(connection, charge.id, &why, at)?;
    Ok(ExternalRefundStored::Contradicted { purpose, why })
}
