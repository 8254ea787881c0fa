//! Table of status changes: allowed moves of an order, their cause and their effect.

use strum::{EnumString, IntoStaticStr, VariantArray};

use super::OrderStatus;
use super::OrderStatus::{Canceled, Created, InProcessing, Issued, Paid, ReadyForPickup, WaitingForPayment};

/// Cause of a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum MoveCause {
    /// An employee.
    Staff,
    /// The acquirer, by the outcome of the charge.
    Acquirer,
    /// A refund of everything.
    Refund,
    /// The end of the hold time of an unconfirmed order.
    Timeout,
}

/// State of the money that a move requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum MoneyCondition {
    /// Any.
    Any,
    /// No money has arrived, or all of it is refunded or being refunded.
    NotHeld,
    /// No money has arrived, and the order is not paid online.
    Offline,
    /// The charge has succeeded.
    Arrived,
    /// The charge has failed.
    Failed,
    /// All money that arrived is refunded or being refunded.
    Returned,
    /// No money has arrived.
    Unpaid,
}

/// Effect of a move on the goods reserved for the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum StockEffect {
    /// The reservation stays.
    Keep,
    /// The reservation is released and the use of a promo code is returned.
    Release,
    /// The goods have left the warehouse.
    Sell,
}

/// Notice to the customer; the code is the `status` of a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum Notice {
    /// The money has arrived.
    OrderPaid,
    /// The payment failed, and the order is canceled.
    OrderPaymentFailed,
    /// The order is in processing.
    OrderInProcessing,
    /// The order is ready for pickup.
    OrderReady,
    /// The order was handed over.
    OrderIssued,
    /// The order is canceled.
    OrderCanceled,
    /// The order is canceled, since it was not confirmed in time.
    OrderExpired,
    /// The lines have changed.
    OrderChanged,
    /// A refund is in progress.
    OrderRefundRequested,
    /// A refund has succeeded.
    OrderRefunded,
}

/// Allowed move of an order from one status to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition {
    /// Status before.
    pub from: OrderStatus,
    /// Status after.
    pub to: OrderStatus,
    /// Cause.
    pub by: MoveCause,
    /// Required state of the money.
    pub money: MoneyCondition,
    /// Effect on the reserved goods.
    pub stock: StockEffect,
    /// `true` if the money arrives with this move; the event `order.paid` follows.
    pub pays: bool,
    /// Notice to the customer.
    pub notice: Notice,
}

const fn staff(from: OrderStatus, to: OrderStatus) -> Transition {
    let (money, stock, pays, notice) = match to {
        Canceled => (MoneyCondition::NotHeld, StockEffect::Release, false, Notice::OrderCanceled),
        Paid => (MoneyCondition::Offline, StockEffect::Keep, true, Notice::OrderPaid),
        Issued => (MoneyCondition::Any, StockEffect::Sell, false, Notice::OrderIssued),
        ReadyForPickup => (MoneyCondition::Any, StockEffect::Keep, false, Notice::OrderReady),
        Created | WaitingForPayment | InProcessing => {
            (MoneyCondition::Any, StockEffect::Keep, false, Notice::OrderInProcessing)
        }
    };
    Transition { from, to, by: MoveCause::Staff, money, stock, pays, notice }
}

const fn refunded(from: OrderStatus) -> Transition {
    let (by, money, stock) = (MoveCause::Refund, MoneyCondition::Returned, StockEffect::Release);
    Transition { from, to: Canceled, by, money, stock, pays: false, notice: Notice::OrderCanceled }
}

/// Every allowed move; all others are refused.
///
/// | From | To | By | Money | Goods | Pays | Notice |
/// |---|---|---|---|---|---|---|
/// | created | in processing | `staff` | `any` | `keep` | no | `order_in_processing` |
/// | created | ready for pickup | `staff` | `any` | `keep` | no | `order_ready` |
/// | created | issued | `staff` | `any` | `sell` | no | `order_issued` |
/// | created | canceled | `staff` | `not_held` | `release` | no | `order_canceled` |
/// | created | paid | `staff` | `offline` | `keep` | yes | `order_paid` |
/// | created | canceled | `timeout` | `not_held` | `release` | no | `order_expired` |
/// | waiting for payment | canceled | `staff` | `not_held` | `release` | no | `order_canceled` |
/// | waiting for payment | paid | `acquirer` | `arrived` | `keep` | yes | `order_paid` |
/// | waiting for payment | canceled | `acquirer` | `failed` | `release` | no | `order_payment_failed` |
/// | paid | in processing | `staff` | `any` | `keep` | no | `order_in_processing` |
/// | paid | ready for pickup | `staff` | `any` | `keep` | no | `order_ready` |
/// | paid | issued | `staff` | `any` | `sell` | no | `order_issued` |
/// | paid | canceled | `staff` | `not_held` | `release` | no | `order_canceled` |
/// | paid | canceled | `refund` | `returned` | `release` | no | `order_canceled` |
/// | in processing | ready for pickup | `staff` | `any` | `keep` | no | `order_ready` |
/// | in processing | issued | `staff` | `any` | `sell` | no | `order_issued` |
/// | in processing | canceled | `staff` | `not_held` | `release` | no | `order_canceled` |
/// | in processing | paid | `staff` | `offline` | `keep` | yes | `order_paid` |
/// | in processing | canceled | `refund` | `returned` | `release` | no | `order_canceled` |
/// | ready for pickup | issued | `staff` | `any` | `sell` | no | `order_issued` |
/// | ready for pickup | canceled | `staff` | `not_held` | `release` | no | `order_canceled` |
/// | ready for pickup | paid | `staff` | `offline` | `keep` | yes | `order_paid` |
/// | ready for pickup | canceled | `refund` | `returned` | `release` | no | `order_canceled` |
/// | issued | canceled | `refund` | `unpaid` | `keep` | no | `order_canceled` |
///
/// Tests compare this table and `docs/reference/order-states.md`.
pub const MOVES: &[Transition] = &[
    staff(Created, InProcessing),
    staff(Created, ReadyForPickup),
    staff(Created, Issued),
    staff(Created, Canceled),
    staff(Created, Paid),
    Transition {
        from: Created,
        to: Canceled,
        by: MoveCause::Timeout,
        money: MoneyCondition::NotHeld,
        stock: StockEffect::Release,
        pays: false,
        notice: Notice::OrderExpired,
    },
    staff(WaitingForPayment, Canceled),
    Transition {
        from: WaitingForPayment,
        to: Paid,
        by: MoveCause::Acquirer,
        money: MoneyCondition::Arrived,
        stock: StockEffect::Keep,
        pays: true,
        notice: Notice::OrderPaid,
    },
    Transition {
        from: WaitingForPayment,
        to: Canceled,
        by: MoveCause::Acquirer,
        money: MoneyCondition::Failed,
        stock: StockEffect::Release,
        pays: false,
        notice: Notice::OrderPaymentFailed,
    },
    staff(Paid, InProcessing),
    staff(Paid, ReadyForPickup),
    staff(Paid, Issued),
    staff(Paid, Canceled),
    refunded(Paid),
    staff(InProcessing, ReadyForPickup),
    staff(InProcessing, Issued),
    staff(InProcessing, Canceled),
    staff(InProcessing, Paid),
    refunded(InProcessing),
    staff(ReadyForPickup, Issued),
    staff(ReadyForPickup, Canceled),
    staff(ReadyForPickup, Paid),
    refunded(ReadyForPickup),
    Transition {
        from: Issued,
        to: Canceled,
        by: MoveCause::Refund,
        money: MoneyCondition::Unpaid,
        stock: StockEffect::Keep,
        pays: false,
        notice: Notice::OrderCanceled,
    },
];

/// State that decides which moves an order may make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransitionContext {
    /// Current status.
    pub status: OrderStatus,
    /// `true` if the order is paid through the acquirer.
    pub online: bool,
    /// `true` if money has arrived.
    pub paid: bool,
    /// `true` if all money that arrived is refunded or being refunded.
    pub returned: bool,
}

/// Reasons why an order may not move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TransitionRefused {
    /// Issued and canceled orders are final.
    #[error("an order that is {0} cannot change its status")]
    Final(OrderStatus),
    /// The table has no such move.
    #[error("an order that is {from} cannot become {to}")]
    NotAllowed {
        /// Current status.
        from: OrderStatus,
        /// Requested status.
        to: OrderStatus,
    },
    /// Money that has arrived must be refunded first.
    #[error("the order is already paid")]
    AlreadyPaid,
    /// Only the outcome of the charge makes an online order paid.
    #[error("only the acquirer can confirm an online payment")]
    OnlyAcquirerPays,
}

/// Final result of the charge of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChargeOutcome {
    /// The money has arrived.
    Succeeded,
    /// No money will arrive.
    Failed,
}

/// Effect of a charge outcome on an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChargeEffect {
    /// The order moves.
    Transition(Transition),
    /// The order does not change.
    Unchanged,
    /// Money has arrived for a canceled order. It is refunded automatically.
    AutomaticRefund,
    /// Money has arrived for an order that does not wait for it. The order does not change; staff must check it.
    Unexpected,
}

/// Returns the row of the table, if there is one.
fn row(from: OrderStatus, to: OrderStatus, by: MoveCause) -> Option<Transition> {
    MOVES.iter().copied().find(|step| step.from == from && step.to == to && step.by == by)
}

impl OrderStatus {
    /// Returns the effect of a charge outcome on an order in this status.
    pub fn after_charge(self, outcome: ChargeOutcome) -> ChargeEffect {
        let to = match outcome {
            ChargeOutcome::Succeeded => Paid,
            ChargeOutcome::Failed => Canceled,
        };
        match (row(self, to, MoveCause::Acquirer), outcome) {
            (Some(step), _) => ChargeEffect::Transition(step),
            (None, ChargeOutcome::Failed) => ChargeEffect::Unchanged,
            (None, ChargeOutcome::Succeeded) if self == Canceled => ChargeEffect::AutomaticRefund,
            (None, ChargeOutcome::Succeeded) => ChargeEffect::Unexpected,
        }
    }

    /// Returns the move of an unconfirmed order whose hold time has passed. `None` if the order has left its
    /// first status.
    pub fn move_when_expired(self) -> Option<Transition> {
        row(self, Canceled, MoveCause::Timeout)
    }
}

impl TransitionContext {
    /// Returns the move to `to` by an employee.
    pub fn move_to(self, to: OrderStatus) -> Result<Transition, TransitionRefused> {
        let from = self.status;
        let Some(step) = row(from, to, MoveCause::Staff) else {
            return Err(match from {
                Issued | Canceled => TransitionRefused::Final(from),
                _ if row(from, to, MoveCause::Acquirer).is_some() => TransitionRefused::OnlyAcquirerPays,
                _ => TransitionRefused::NotAllowed { from, to },
            });
        };
        match step.money {
            MoneyCondition::NotHeld if self.paid && !self.returned => Err(TransitionRefused::AlreadyPaid),
            MoneyCondition::Offline if self.paid => Err(TransitionRefused::AlreadyPaid),
            MoneyCondition::Offline if self.online => Err(TransitionRefused::OnlyAcquirerPays),
            _ => Ok(step),
        }
    }

    /// Returns the move of an order whose money and lines are all taken back. `None` if it does not move: an
    /// order that was handed over and paid stays issued.
    pub fn move_when_returned(self) -> Option<Transition> {
        row(self.status, Canceled, MoveCause::Refund).filter(|step| match step.money {
            MoneyCondition::Unpaid => !self.paid,
            _ => self.returned,
        })
    }

    /// Returns the move of an order whose money an employee has taken. `None` if it does not move: an issued
    /// order stays issued.
    pub fn move_when_paid_manually(self) -> Result<Option<Transition>, TransitionRefused> {
        if self.paid {
            return Err(TransitionRefused::AlreadyPaid);
        }
        match self.status {
            Issued if self.online => Err(TransitionRefused::OnlyAcquirerPays),
            Issued => Ok(None),
            _ => self.move_to(Paid).map(Some),
        }
    }
}

#[cfg(test)]
mod tests;
