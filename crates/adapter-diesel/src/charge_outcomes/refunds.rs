//! Refunds: an order sets money aside on the charge it came with, and hears what becomes of it.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::history::Author;
use kontor_kernel::{ChargeId, OrderId, RefundId, StoreError};
use kontor_orders::change::OrderedRefund;
use kontor_orders::model::Order;
use kontor_orders::refund::{RefundRefused, everything_left, receipt_of};
use kontor_orders::{OrderError, OrderRefusal};
use kontor_payments::change::{Change, ChargeChange, RefundChange};
use kontor_payments::model::{ChargePurpose, GatewayRefund, NewRefund, ProviderId, Refund, RefundIntent};
use kontor_payments::ports::{OutsideRecorded, RefundStore, RefundStored};
use uuid::Uuid;

use super::{contradicted, outside_refunds};
use crate::database::{Abort, AnyConnection, Database};
use crate::orders::{self, Giving, WayBack};
use crate::payments::{self, Key, Known};
use crate::people::{CustomerOf, hold_customer};
use crate::stored;

type Refused = Abort<OrderError>;

/// Sets the money of a refund aside on the charge it came with, and takes the lines back. What was paid by hand is given
/// back by hand.
pub(super) fn give_back(
    connection: &mut AnyConnection,
    order: &Order,
    giving: Giving,
    refund: &OrderedRefund,
    charge: Option<ChargeId>,
    at: DateTime<Utc>,
) -> Result<(), Refused> {
    let way = match (charge, refund.intent(giving.order)) {
        (Some(charge_id), Some(intent)) => {
            let order = with_receipt(connection, order, refund, charge_id, intent)?;
            let new = NewRefund { charge_id, order, next_check_at: at, at };
            match payments::store_refund(connection, &new).map_err(Abort::in_step)? {
                RefundStored::New(stored) | RefundStored::Present(stored) => WayBack::Asked(stored.id),
                RefundStored::Exceeds { left } => return Err(refuse(RefundRefused::ExceedsPaid { left })),
                RefundStored::NoCharge => return Err(StoreError::corrupt("a charge vanished").into()),
            }
        }
        _ => WayBack::ByHand,
    };
    orders::give_back(connection, giving, refund, way)
}

fn refuse(refused: RefundRefused) -> Refused {
    Abort::Refused(OrderRefusal::Refund(refused).into())
}

/// A part of a payment that had a receipt goes back with one of its own.
fn with_receipt(
    connection: &mut AnyConnection,
    order: &Order,
    refund: &OrderedRefund,
    charge: ChargeId,
    intent: RefundIntent,
) -> Result<RefundIntent, Refused> {
    let charge = payments::load(connection, &Key::Id(charge.get())).map_err(Abort::in_step)?;
    let Some(paid) = charge.and_then(|charge| charge.request.receipt) else { return Ok(intent) };
    let receipt = receipt_of(order, &refund.decided, &paid);
    let receipt = receipt.map_err(|problem| refuse(RefundRefused::NoReceipt(problem)))?;
    match receipt {
        None => Ok(intent),
        Some(receipt) => intent.with_receipt(receipt).map_err(|problem| refuse(RefundRefused::NoReceipt(problem))),
    }
}

/// Money has arrived for an order that is canceled: all of it goes back, once. The event that would have told of the payment
/// is not sent, and its identifier names the refund. What cannot go back is left to people: logged, counted, told by
/// `kontor doctor`.
pub(super) fn return_unwanted(
    connection: &mut AnyConnection,
    id: OrderId,
    change: &ChargeChange,
    known: &Known,
    at: DateTime<Utc>,
) -> Result<(), Abort<StoreError>> {
    let ChargeChange::Succeeded { event_id, .. } = change else { return Ok(()) };
    let project = known.charge.project_id;
    let Some(order) = orders::locked(connection, id).map_err(to_storage)?.within(project) else {
        return leave_to_people(connection, known, "the order is another project's", at);
    };
    let decided = match everything_left(&order) {
        Ok(None) => return Ok(()),
        Ok(Some(decided)) => decided,
        Err(refused) => return leave_to_people(connection, known, &refused.to_string(), at),
    };
    let reason = "The order was canceled before the money arrived.".to_owned();
    let refund = OrderedRefund { key: *event_id, decided, reason, restock: true, ends_period: false };
    let giving = Giving { project: project.get(), order: id, by: Author::System, at: at.naive_utc() };
    match give_back(connection, &order, giving, &refund, Some(known.charge.id), at) {
        // Both are refused before anything is written.
        Err(Abort::Refused(OrderError::Refused(OrderRefusal::Refund(
            refused @ (RefundRefused::NoReceipt(_) | RefundRefused::ExceedsPaid { .. }),
        )))) => leave_to_people(connection, known, &refused.to_string(), at),
        given => given.map_err(to_storage),
    }
}

fn leave_to_people(
    connection: &mut AnyConnection,
    known: &Known,
    why: &str,
    at: DateTime<Utc>,
) -> Result<(), Abort<StoreError>> {
    let why = format!("money of a canceled order stays: {why}");
    tracing::error!(purpose = %known.charge.purpose(), %why, "a payment needs to be looked at");
    contradicted(connection, known.charge.id.get(), &why, at)
}

/// Nobody asked, so nobody can be refused.
pub(super) fn to_storage(abort: Refused) -> Abort<StoreError> {
    match abort {
        Abort::Refused(OrderError::Store(error)) | Abort::Store(error) => Abort::Store(error),
        Abort::Refused(refused) => Abort::Store(StoreError::corrupt(refused)),
        Abort::Query(error) => Abort::Query(error),
    }
}

fn record(
    connection: &mut AnyConnection,
    id: RefundId,
    key: Uuid,
    change: &RefundChange,
    at: DateTime<Utc>,
) -> Result<Change, Abort<StoreError>> {
    let at = at.naive_utc();
    if matches!(change, RefundChange::Succeeded { .. }) {
        hold_customer(connection, CustomerOf::Refund(id.get()))?;
    }
    let recorded = payments::record_refund(connection, id.get(), key, change, at)?;
    let succeeded = match (recorded, change) {
        (Change::Done, RefundChange::Succeeded { .. }) => true,
        (Change::Done, RefundChange::Failed { .. }) => false,
        _ => return Ok(recorded),
    };
    let refund = payments::load_refund(connection, id)?;
    if let Some(Refund { purpose: ChargePurpose::Order(order), .. }) = refund {
        orders::hear_refund(connection, order, id, succeeded, at)?;
    }
    Ok(recorded)
}

#[async_trait]
impl RefundStore for Database {
    async fn store(&self, new: NewRefund) -> Result<RefundStored, StoreError> {
        self.write(move |connection| payments::store_refund(connection, &new)).await
    }

    async fn find(&self, id: RefundId) -> Result<Option<Refund>, StoreError> {
        self.read(move |connection| payments::load_refund(connection, id)).await
    }

    async fn of_charge(&self, charge: ChargeId) -> Result<Vec<Refund>, StoreError> {
        self.read(move |connection| payments::refunds_of(connection, charge)).await
    }

    async fn of_payment(&self, payment: &ProviderId) -> Result<Option<Vec<Refund>>, StoreError> {
        let key = Key::Provider(payment.to_string());
        self.read(move |connection| {
            let charge = payments::load(connection, &key)?;
            charge.map(|charge| payments::refunds_of(connection, charge.id)).transpose()
        })
        .await
    }

    async fn record_outside(
        &self,
        key: Uuid,
        refund: GatewayRefund,
        at: DateTime<Utc>,
    ) -> Result<OutsideRecorded, StoreError> {
        self.write(move |connection| outside_refunds::record(connection, key, &refund, at)).await
    }

    async fn claim_comparison(&self, at: DateTime<Utc>) -> Result<Option<DateTime<Utc>>, StoreError> {
        let due = self.read(move |connection| Ok::<_, Abort<StoreError>>(payments::is_comparison_due(connection, at)?));
        if !due.await? {
            return Ok(None);
        }
        let claimed =
            self.write(move |connection| Ok::<_, Abort<StoreError>>(payments::claim_comparison(connection, at)?));
        Ok(claimed.await?.map(stored::moment))
    }

    async fn compared(&self, until: DateTime<Utc>) -> Result<(), StoreError> {
        self.write(move |connection| Ok::<_, Abort<StoreError>>(payments::compared(connection, until)?)).await
    }

    async fn lease(&self, owner: &str, at: DateTime<Utc>, until: DateTime<Utc>) -> Result<Option<Refund>, StoreError> {
        payments::lease_refund(self, owner, at, until).await
    }

    async fn record(
        &self,
        id: RefundId,
        key: Uuid,
        change: RefundChange,
        at: DateTime<Utc>,
    ) -> Result<Change, StoreError> {
        self.write(move |connection| record(connection, id, key, &change, at)).await
    }
}
