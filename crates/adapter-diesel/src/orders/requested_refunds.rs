//! Refunds of orders that are requested at the acquirer: an order reserves money on its charge.

use chrono::{DateTime, Utc};
use kontor_kernel::{ChargeId, StoreError};
use kontor_orders::change::OrderedRefund;
use kontor_orders::model::Order;
use kontor_orders::refund::RefundRefused;
use kontor_orders::{OrderError, OrderRefusal};
use kontor_payments::model::{NewRefund, RefundIntent};
use kontor_payments::ports::RefundStored;

use super::refunds::{RefundChannel, RefundContext, store_line_refund};
use crate::database::{Abort, AnyConnection};
use crate::payments::{self, Key};

type Refused = Abort<OrderError>;

fn refuse(refused: RefundRefused) -> Refused {
    Abort::Refused(OrderRefusal::Refund(refused).into())
}

/// Returns the request of a refund. Orders that were paid manually are refunded manually.
pub(super) fn request_of(
    connection: &mut AnyConnection,
    order: &Order,
    refund: &OrderedRefund,
    charge: Option<ChargeId>,
) -> Result<Option<(ChargeId, RefundIntent)>, Refused> {
    let Some(id) = charge.filter(|_| !refund.decided.amount.is_zero()) else { return Ok(None) };
    let charge = payments::load(connection, &Key::Id(id.get())).map_err(Abort::into_store)?;
    let paid = charge.and_then(|charge| charge.request.receipt);
    Ok(refund.request(order, paid.as_ref()).map_err(refuse)?.map(|request| (id, request)))
}

/// Stores a refund, and its request with the money reserved on the charge.
pub(super) fn request_refund(
    connection: &mut AnyConnection,
    giving: RefundContext,
    refund: &OrderedRefund,
    request: Option<(ChargeId, RefundIntent)>,
    at: DateTime<Utc>,
) -> Result<(), Refused> {
    let way = match request {
        None => RefundChannel::Manual,
        Some((charge_id, order)) => {
            let new = NewRefund { charge_id, order, next_check_at: at, at };
            match payments::store_refund(connection, &new).map_err(Abort::into_store)? {
                RefundStored::New(stored) | RefundStored::Existing(stored) => RefundChannel::Requested(stored.id),
                RefundStored::ExceedsCharge { left } => return Err(refuse(RefundRefused::ExceedsPaid { left })),
                RefundStored::UnknownCharge => return Err(StoreError::corrupt("a charge was not found").into()),
            }
        }
    };
    store_line_refund(connection, giving, refund, way)
}
