//! Refunds of orders: an order reserves money on its charge and receives the outcome of the refund.

use chrono::{DateTime, Utc};
use kontor_kernel::history::Author;
use kontor_kernel::{ChargeId, OrderId, StoreError};
use kontor_orders::change::OrderedRefund;
use kontor_orders::model::Order;
use kontor_orders::refund::{RefundRefused, receipt_of, remaining_refund};
use kontor_orders::{OrderError, OrderRefusal};
use kontor_payments::change::ChargeChange;
use kontor_payments::model::{NewRefund, RefundIntent};
use kontor_payments::ports::RefundStored;

use super::contradicted;
use crate::database::{Abort, AnyConnection};
use crate::orders::{self, RefundChannel, RefundContext};
use crate::payments::{self, Key, Known};

type Refused = Abort<OrderError>;

/// Reserves the money of a refund on its charge, and returns the lines. Orders paid manually are refunded manually.
pub(super) fn give_back(
    connection: &mut AnyConnection,
    order: &Order,
    giving: RefundContext,
    refund: &OrderedRefund,
    charge: Option<ChargeId>,
    at: DateTime<Utc>,
) -> Result<(), Refused> {
    let way = match (charge, refund.intent(giving.order)) {
        (Some(charge_id), Some(intent)) => {
            let order = with_receipt(connection, order, refund, charge_id, intent)?;
            let new = NewRefund { charge_id, order, next_check_at: at, at };
            match payments::store_refund(connection, &new).map_err(Abort::into_store)? {
                RefundStored::New(stored) | RefundStored::Present(stored) => RefundChannel::Asked(stored.id),
                RefundStored::Exceeds { left } => return Err(refuse(RefundRefused::ExceedsPaid { left })),
                RefundStored::NoCharge => return Err(StoreError::corrupt("a charge was not found").into()),
            }
        }
        _ => RefundChannel::ByHand,
    };
    orders::give_back(connection, giving, refund, way)
}

fn refuse(refused: RefundRefused) -> Refused {
    Abort::Refused(OrderRefusal::Refund(refused).into())
}

/// Adds the receipt of the refund if the payment had a receipt.
fn with_receipt(
    connection: &mut AnyConnection,
    order: &Order,
    refund: &OrderedRefund,
    charge: ChargeId,
    intent: RefundIntent,
) -> Result<RefundIntent, Refused> {
    let charge = payments::load(connection, &Key::Id(charge.get())).map_err(Abort::into_store)?;
    let Some(paid) = charge.and_then(|charge| charge.request.receipt) else { return Ok(intent) };
    let receipt = receipt_of(order, &refund.decided, &paid);
    let receipt = receipt.map_err(|problem| refuse(RefundRefused::NoReceipt(problem)))?;
    match receipt {
        None => Ok(intent),
        Some(receipt) => intent.with_receipt(receipt).map_err(|problem| refuse(RefundRefused::NoReceipt(problem))),
    }
}

/// Refunds all money that arrives for a canceled order, once. The event for the payment is not sent, and its identifier
/// names the refund. Money that cannot be refunded is left to operators: logged, counted, and reported by `kontor
/// doctor`.
pub(super) fn refund_canceled_order(
    connection: &mut AnyConnection,
    id: OrderId,
    change: &ChargeChange,
    known: &Known,
    at: DateTime<Utc>,
) -> Result<(), Abort<StoreError>> {
    let ChargeChange::Succeeded { event_id, .. } = change else { return Ok(()) };
    let project = known.charge.project_id;
    let Some(order) = orders::locked(connection, id).map_err(to_storage)?.within(project) else {
        return leave_to_operators(connection, known, "the order belongs to another project", at);
    };
    let decided = match remaining_refund(&order) {
        Ok(None) => return Ok(()),
        Ok(Some(decided)) => decided,
        Err(refused) => return leave_to_operators(connection, known, &refused.to_string(), at),
    };
    let reason = "The order was canceled before the money arrived.".to_owned();
    let refund = OrderedRefund { key: *event_id, decided, reason, restock: true, ends_period: false };
    let giving = RefundContext { project: project.get(), order: id, by: Author::System, at: at.naive_utc() };
    match give_back(connection, &order, giving, &refund, Some(known.charge.id), at) {
        // Both are refused before any write.
        Err(Abort::Refused(OrderError::Refused(OrderRefusal::Refund(
            refused @ (RefundRefused::NoReceipt(_) | RefundRefused::ExceedsPaid { .. }),
        )))) => leave_to_operators(connection, known, &refused.to_string(), at),
        given => given.map_err(to_storage),
    }
}

fn leave_to_operators(
    connection: &mut AnyConnection,
    known: &Known,
    why: &str,
    at: DateTime<Utc>,
) -> Result<(), Abort<StoreError>> {
    let why = format!("the payment of a canceled order is not refunded: {why}");
    tracing::error!(purpose = %known.charge.purpose(), %why, "a payment needs review; see `kontor payment --help`");
    contradicted(connection, known.charge.id.get(), &why, at)
}

/// Converts a refusal into a storage error, because no caller could receive the refusal.
pub(super) fn to_storage(abort: Refused) -> Abort<StoreError> {
    match abort {
        Abort::Refused(OrderError::Store(error)) | Abort::Store(error) => Abort::Store(error),
        Abort::Refused(refused) => Abort::Store(StoreError::corrupt(refused)),
        Abort::Query(error) => Abort::Query(error),
    }
}
