//! Effects on an order of refunds at the acquirer.

use kontor_kernel::Money;
use kontor_payments::model::RefundIntent;

use super::RefundRefused;
use super::decide::external_refund;
use crate::audit::figure;
use crate::change::OrderedRefund;
use crate::charge_outcome::EffectEntry;
use crate::model::{Notice, Order, OrderEvent, OrderRefundState, OrderStatus};

/// Refund that was made at the acquirer, outside the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutsideRefund {
    /// Refund to store as succeeded.
    pub refund: OrderedRefund,
    /// History entry.
    pub entry: EffectEntry,
}

/// Decides the effect of a refund that was made outside the service on its locked order. The goods and the status stay.
/// The refusal is the reason for a review by staff; then the money does not count as refunded.
pub fn outside_refund(order: &Order, made: &RefundIntent) -> Result<OutsideRefund, RefundRefused> {
    let (amount, reason) = (made.amount(), made.description().to_owned());
    let decided = external_refund(order, amount)?;
    let after = order.refunded.checked_add(amount).unwrap_or(Money::MAX);
    let entry = EffectEntry {
        event: OrderEvent::Refunded,
        status: order.status,
        detail: Some(format!("{amount}, made at the acquirer")),
        changes: figure("refunded_amount", order.refunded, after).into_iter().collect(),
    };
    let refund = OrderedRefund { key: made.key(), decided, reason, restock: false, ends_period: false };
    Ok(OutsideRefund { refund, entry })
}

/// Requested refund of an order whose outcome became known. The amounts are those of the order afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettledRefund {
    /// Amount of the refund.
    pub amount: Money,
    /// [`OrderRefundState::Succeeded`] or [`OrderRefundState::Failed`].
    pub state: OrderRefundState,
    /// Status of the order.
    pub status: OrderStatus,
    /// Amount of the order with a refund in progress.
    pub refunding: Money,
    /// Refunded amount of the order.
    pub refunded: Money,
}

impl SettledRefund {
    /// Notice to the customer, about the amount. A failed refund is the matter of staff.
    pub fn notice(&self) -> Option<Notice> {
        (self.state == OrderRefundState::Succeeded).then_some(Notice::OrderRefunded)
    }

    /// History entry.
    pub fn entry(&self) -> EffectEntry {
        let succeeded = self.state == OrderRefundState::Succeeded;
        let before = self.refunding.checked_add(self.amount).unwrap_or(Money::MAX);
        let pending = figure("refunding_amount", before, self.refunding);
        let refunded = figure("refunded_amount", self.refunded.saturating_sub(self.amount), self.refunded);
        EffectEntry {
            event: if succeeded { OrderEvent::Refunded } else { OrderEvent::RefundFailed },
            status: self.status,
            detail: Some(self.amount.to_string()),
            changes: pending.into_iter().chain(refunded.filter(|_| succeeded)).collect(),
        }
    }
}
