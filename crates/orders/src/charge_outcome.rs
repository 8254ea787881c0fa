//! Effects of a charge on the order that it pays.
//!
//! The functions decide without reading or writing. An implementation of the ports locks the order, calls them, and
//! writes all of the [`OrderEffects`] in the commit of the outcome.

use std::fmt::Display;

use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::history::FieldChange;
use kontor_kernel::{ApplicationId, Edit, Money, OrderId, ProjectId, ProjectScoped};
use kontor_payments::change::{ChargeChange, RecordedChange};
use kontor_payments::model::{Charge, ChargeFailure, RefundIntent};
use uuid::Uuid;

use crate::audit::figure;
use crate::change::{Captured, OrderedRefund};
use crate::model::{ChargeEffect, ChargeOutcome, Notice, Order, OrderEvent, OrderStatus, PaidEvent, Transition};
use crate::refund::remaining_refund;

/// Time for which an order waits for a payment although none is requested any more. Staff may request another one.
pub const PAYMENT_PATIENCE: TimeDelta = TimeDelta::minutes(15);

/// Order as read under its lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockedOrder {
    /// Identifier.
    pub id: OrderId,
    /// Project.
    pub project_id: ProjectId,
    /// Application; `None` if staff created the order for the project.
    pub application_id: Option<ApplicationId>,
    /// Status.
    pub status: OrderStatus,
}

/// Everything to write to an order. The default value writes nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[must_use = "money may be kept that belongs to the customer"]
pub struct OrderEffects {
    /// Change of status. The payment link and the hold time end with it. [`Transition::stock`] decides about the
    /// reservations and the use of the promo code. Without a change of status they all stay.
    pub transition: Option<Transition>,
    /// URL of the payment page.
    pub payment_link: Edit<Option<String>>,
    /// Money that has arrived, with its event for the outbox.
    pub captured: Option<Captured>,
    /// Notice to the customer: about the money that has arrived, otherwise about the price of the order.
    pub notice: Option<Notice>,
    /// History entry, written by the service itself.
    pub entry: Option<EffectEntry>,
    /// `true` if the money does not pay the order: it pays no subscription period either.
    pub returns_money: bool,
    /// Refund to store in the same commit. If the charge has less money left, [`not_refunded`] is the reason for a
    /// review.
    pub refund: Option<LateRefund>,
    /// Reason why staff must check the charge. It is recorded as by
    /// [`ChargeStore::record_contradiction`](kontor_payments::ports::ChargeStore::record_contradiction), in the same commit.
    pub review: Option<String>,
}

impl OrderEffects {
    /// Returns `true` if there is nothing to write.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// History entry of an effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectEntry {
    /// Event.
    pub event: OrderEvent,
    /// Status of the order afterwards.
    pub status: OrderStatus,
    /// Detail: an amount or a reason.
    pub detail: Option<String>,
    /// Changed fields.
    pub changes: Vec<FieldChange>,
}

/// Refund of money that arrived too late.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LateRefund {
    /// Amount, lines and reason.
    pub refund: OrderedRefund,
    /// Request to the acquirer.
    pub request: RefundIntent,
}

impl LockedOrder {
    fn entry(&self, event: OrderEvent, step: Option<Transition>, captured: Option<Money>) -> EffectEntry {
        let status = step.map_or(self.status, |step| step.to);
        let captured = captured.and_then(|amount| figure("captured_amount", Money::ZERO, amount));
        let changes = figure("status_id", self.status.id(), status.id()).into_iter().chain(captured).collect();
        EffectEntry { event, status, detail: None, changes }
    }

    fn with_detail(&self, event: OrderEvent, detail: &str) -> EffectEntry {
        EffectEntry { detail: Some(detail.to_owned()), ..self.entry(event, None, None) }
    }

    /// The order moves, and no money arrives.
    fn moves(&self, event: OrderEvent, step: Transition, detail: Option<&str>) -> OrderEffects {
        let entry = EffectEntry { detail: detail.map(str::to_owned), ..self.entry(event, Some(step), None) };
        OrderEffects {
            transition: Some(step),
            notice: Some(step.notice),
            entry: Some(entry),
            ..OrderEffects::default()
        }
    }
}

/// Returns `false` if the update changes no order in any state. Then the order need not be locked.
pub fn is_relevant(recorded: &RecordedChange<'_>) -> bool {
    match recorded.change {
        ChargeChange::Pending { confirmation_url, .. } => confirmation_url.is_some(),
        ChargeChange::Succeeded { .. } | ChargeChange::Failed { .. } => true,
        ChargeChange::Suspicious { .. } => !recorded.repeated,
        ChargeChange::Postponed { .. } => false,
    }
}

/// Decides the effects of a charge update on its order. `whole` reads the complete order under its lock, before any
/// write. It is called at most once, and only for money that must be refunded.
///
/// ```
/// use chrono::DateTime;
/// use kontor_kernel::{ChargeId, CounterpartyId, OrderId, ProjectId};
/// use kontor_orders::charge_outcome::{LockedOrder, decide};
/// use kontor_orders::model::OrderStatus;
/// use kontor_payments::change::{ChargeChange, RecordedChange};
/// use kontor_payments::model::{ChargeFailure, ChargePurpose, ChargeRequest, NewCharge, PaymentMethod};
///
/// let (at, order, project_id) = (DateTime::UNIX_EPOCH, OrderId::new(7)?, ProjectId::new(1)?);
/// let request = ChargeRequest {
///     purpose: ChargePurpose::Order(order),
///     key: uuid::Uuid::nil(),
///     renewal: None,
///     amount: "265.00".parse()?,
///     currency: "RUB".to_owned(),
///     method: PaymentMethod::Sbp,
///     description: "Order 7".to_owned(),
///     return_url: "https://shop.example".to_owned(),
///     save_method: false,
///     saved_method: None,
///     receipt: None,
/// };
/// let counterparty_id = CounterpartyId::new(3)?;
/// let new = NewCharge { project_id, application_id: None, counterparty_id, request, next_check_at: at, at };
/// let locked =
///     LockedOrder { id: order, project_id, application_id: None, status: OrderStatus::WaitingForPayment };
///
/// // The service withdrew the payment, since another sum is due: the order stays and keeps its goods.
/// let failure = ChargeFailure::Withdrawn;
/// let change = ChargeChange::Failed { provider_id: None, failure, reason: "canceled_by_merchant".to_owned() };
/// let recorded = RecordedChange { charge: new.stored_as(ChargeId::new(5)?), change: &change, repeated: false };
/// let effects = decide(&locked, &recorded, at, || Err("not read"))?;
/// assert_eq!(effects.transition, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn decide<E>(
    order: &LockedOrder,
    recorded: &RecordedChange<'_>,
    at: DateTime<Utc>,
    whole: impl FnOnce() -> Result<ProjectScoped<Order>, E>,
) -> Result<OrderEffects, E> {
    Ok(match recorded.change {
        ChargeChange::Pending { confirmation_url: Some(url), .. } if order.status == OrderStatus::WaitingForPayment => {
            OrderEffects { payment_link: Edit::Set(Some(url.clone())), ..OrderEffects::default() }
        }
        ChargeChange::Succeeded { event_id, .. } => return succeeded(order, &recorded.charge, *event_id, at, whole),
        ChargeChange::Failed { failure: ChargeFailure::Withdrawn, .. } => OrderEffects {
            payment_link: Edit::Set(None),
            entry: Some(order.entry(OrderEvent::PaymentWithdrawn, None, None)),
            ..OrderEffects::default()
        },
        ChargeChange::Failed { reason, .. } => failed(order, reason),
        ChargeChange::Suspicious { why, .. } if !recorded.repeated => decide_contradiction(order, why),
        ChargeChange::Pending { .. } | ChargeChange::Suspicious { .. } | ChargeChange::Postponed { .. } => {
            OrderEffects::default()
        }
    })
}

fn succeeded<E>(
    order: &LockedOrder,
    charge: &Charge,
    event_id: Uuid,
    at: DateTime<Utc>,
    whole: impl FnOnce() -> Result<ProjectScoped<Order>, E>,
) -> Result<OrderEffects, E> {
    let amount = charge.request.amount;
    let arrived = OrderEffects { captured: Some(Captured { amount, event: None }), ..OrderEffects::default() };
    Ok(match order.status.after_charge(ChargeOutcome::Succeeded) {
        ChargeEffect::Transition(step) => {
            let event = order.application_id.map(|application_id| PaidEvent {
                event_id,
                order_id: order.id,
                application_id,
                project_id: order.project_id,
                amount,
                currency: charge.request.currency.clone(),
                paid_at: at,
            });
            OrderEffects {
                transition: Some(step),
                captured: Some(Captured { amount, event }),
                notice: Some(step.notice),
                entry: Some(order.entry(OrderEvent::Paid, Some(step), Some(amount))),
                ..arrived
            }
        }
        ChargeEffect::AutomaticRefund => {
            let late = order.entry(OrderEvent::PaidAfterCancellation, None, Some(amount));
            let (refund, review) = match late_refund(whole()?, charge, event_id, at) {
                Ok(refund) => (refund, None),
                Err(why) => (None, Some(why)),
            };
            let entry = Some(EffectEntry { detail: Some(amount.to_string()), ..late });
            OrderEffects { entry, returns_money: true, refund, review, ..arrived }
        }
        // No transition moves an order away while its charge is open. Should it ever happen, the money must be visible.
        ChargeEffect::Unexpected => {
            let odd = order.entry(OrderEvent::PaidOutOfTurn, None, Some(amount));
            let entry = Some(EffectEntry { detail: Some("the payment was not expected".to_owned()), ..odd });
            let review = Some("a payment arrived for an order that expected no payment".to_owned());
            OrderEffects { entry, review, ..arrived }
        }
        ChargeEffect::Unchanged => OrderEffects::default(),
    })
}

fn failed(order: &LockedOrder, reason: &str) -> OrderEffects {
    match order.status.after_charge(ChargeOutcome::Failed) {
        ChargeEffect::Transition(step) => order.moves(OrderEvent::PaymentFailed, step, Some(reason)),
        // No payment is open any more. The order must count as changed, although its status stays.
        ChargeEffect::Unchanged | ChargeEffect::AutomaticRefund | ChargeEffect::Unexpected => {
            OrderEffects { payment_link: Edit::Set(None), ..OrderEffects::default() }
        }
    }
}

/// Decides the refund of all money of the charge, which `recorded` says has arrived: its order is canceled, or pays a
/// subscription that is canceled. The key of the refund is the identifier of the event that is not sent. `Ok(None)` if
/// no money is left to refund. The error is the reason for a review by staff.
pub fn late_refund(
    order: ProjectScoped<Order>,
    charge: &Charge,
    event_id: Uuid,
    at: DateTime<Utc>,
) -> Result<Option<LateRefund>, String> {
    let order = order.within(charge.project_id).ok_or_else(|| not_refunded("the order belongs to another project"))?;
    let order = Order { captured: charge.request.amount, paid_at: Some(at), ..order };
    let Some(decided) = remaining_refund(&order).map_err(not_refunded)? else { return Ok(None) };
    let reason = "The order was canceled before the money arrived.".to_owned();
    let refund = OrderedRefund { key: event_id, decided, reason, restock: true, ends_period: false };
    let request = refund.request(&order, charge.request.receipt.as_ref()).map_err(not_refunded)?;
    Ok(request.map(|request| LateRefund { refund, request }))
}

/// Reason for a review by staff: late money that cannot be refunded.
pub fn not_refunded(why: impl Display) -> String {
    format!("the payment of a canceled order is not refunded: {why}")
}

/// Decides the effects of a doubt about the charge, such as a payment that differs from the requested one.
pub fn decide_contradiction(order: &LockedOrder, why: &str) -> OrderEffects {
    OrderEffects { entry: Some(order.with_detail(OrderEvent::PaymentSuspicious, why)), ..OrderEffects::default() }
}

/// Decides about an order that has waited for [`PAYMENT_PATIENCE`] without an open charge: it is canceled as if its
/// payment had failed. `payment_open` states that another payment was requested in the meantime.
pub fn payment_missing(order: &LockedOrder, payment_open: bool) -> OrderEffects {
    if payment_open || order.status != OrderStatus::WaitingForPayment {
        return OrderEffects::default();
    }
    failed(order, "the payment was canceled and no new payment was requested")
}

/// Decides about an order from the contact form at the end of its hold time. A confirmed or canceled one stays.
pub fn decide_hold_expiry(
    order: &LockedOrder,
    reserved_until: Option<DateTime<Utc>>,
    now: DateTime<Utc>,
) -> OrderEffects {
    match order.status.move_when_expired() {
        Some(step) if reserved_until.is_some_and(|until| until <= now) => order.moves(OrderEvent::Expired, step, None),
        _ => OrderEffects::default(),
    }
}

#[cfg(test)]
mod tests;
