//! The table of moves: where an order may go, by whose word, and what that does.

use strum::{EnumString, IntoStaticStr, VariantArray};

use super::OrderStatus;
use super::OrderStatus::{Canceled, Created, InProcessing, Issued, Paid, ReadyForPickup, WaitingForPayment};

/// By whose word an order moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum MoveBy {
    /// An employee.
    Staff,
    /// The acquirer, by the outcome of the charge.
    Acquirer,
    /// A refund that gives everything back.
    Refund,
    /// The time until which an unconfirmed order is held.
    Timeout,
}

/// How the money must stand for a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum MoneyCondition {
    /// It does not matter.
    Any,
    /// None has arrived, or all of it goes back.
    NotHeld,
    /// None has arrived, and none comes through the acquirer.
    Offline,
    /// The charge has succeeded.
    Arrived,
    /// The charge has failed.
    Failed,
    /// All that has arrived has gone back, or is on its way.
    Returned,
    /// None has arrived.
    Unpaid,
}

/// What a move does to the goods reserved for the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum StockEffect {
    /// The reservation stays.
    Keep,
    /// The reservation is given up and the use of a promo code is returned.
    Release,
    /// The goods have left the warehouse.
    Sell,
}

/// What the customer is told, by its code (`status` of a notification).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum Notice {
    /// The money has arrived.
    OrderPaid,
    /// There will be no money, and the order is canceled.
    OrderPaymentFailed,
    /// Somebody works on it.
    OrderInProcessing,
    /// It can be fetched.
    OrderReady,
    /// It was handed over.
    OrderIssued,
    /// It is canceled.
    OrderCanceled,
    /// It is canceled, since no employee confirmed it in time.
    OrderExpired,
    /// Its lines have changed.
    OrderChanged,
    /// Money is on its way back.
    OrderRefundRequested,
    /// Money has gone back.
    OrderRefunded,
}

/// An allowed move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition {
    /// Where the order was.
    pub from: OrderStatus,
    /// Where it goes.
    pub to: OrderStatus,
    /// By whose word.
    pub by: MoveBy,
    /// How the money must stand.
    pub money: MoneyCondition,
    /// What happens to its goods.
    pub stock: StockEffect,
    /// Whether the move says that the money has arrived; the event `order.paid` follows.
    pub pays: bool,
    /// What the customer is told.
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
    Transition { from, to, by: MoveBy::Staff, money, stock, pays, notice }
}

const fn refunded(from: OrderStatus) -> Transition {
    let (by, money, stock) = (MoveBy::Refund, MoneyCondition::Returned, StockEffect::Release);
    Transition { from, to: Canceled, by, money, stock, pays: false, notice: Notice::OrderCanceled }
}

/// Every allowed move. What does not stand here is refused. `docs/orders.md` shows the same table; a test compares them.
pub const MOVES: &[Transition] = &[
    staff(Created, InProcessing),
    staff(Created, ReadyForPickup),
    staff(Created, Issued),
    staff(Created, Canceled),
    staff(Created, Paid),
    Transition {
        from: Created,
        to: Canceled,
        by: MoveBy::Timeout,
        money: MoneyCondition::NotHeld,
        stock: StockEffect::Release,
        pays: false,
        notice: Notice::OrderExpired,
    },
    staff(WaitingForPayment, Canceled),
    Transition {
        from: WaitingForPayment,
        to: Paid,
        by: MoveBy::Acquirer,
        money: MoneyCondition::Arrived,
        stock: StockEffect::Keep,
        pays: true,
        notice: Notice::OrderPaid,
    },
    Transition {
        from: WaitingForPayment,
        to: Canceled,
        by: MoveBy::Acquirer,
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
        by: MoveBy::Refund,
        money: MoneyCondition::Unpaid,
        stock: StockEffect::Keep,
        pays: false,
        notice: Notice::OrderCanceled,
    },
];

/// What decides which states an order may move to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransitionContext {
    /// Where it is.
    pub status: OrderStatus,
    /// Whether it is paid through the acquirer.
    pub online: bool,
    /// Whether money has arrived.
    pub paid: bool,
    /// Whether all that has arrived has gone back, or is on its way.
    pub returned: bool,
}

/// Why an order may not move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TransitionRefused {
    /// Issued and canceled orders stay as they are.
    #[error("an order that is {0} stays so")]
    Final(OrderStatus),
    /// No such step.
    #[error("an order that is {from} cannot become {to}")]
    NotAllowed {
        /// Where the order is.
        from: OrderStatus,
        /// Where it was to go.
        to: OrderStatus,
    },
    /// Money that has arrived must be refunded first.
    #[error("the order is already paid")]
    AlreadyPaid,
    /// Only the acquirer's word makes an online order paid.
    #[error("only the acquirer can confirm an online payment")]
    OnlyAcquirerPays,
}

/// How the charge of an order ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChargeOutcome {
    /// The money has arrived.
    Succeeded,
    /// There will be none.
    Failed,
}

/// What becomes of an order when the outcome of its charge is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterCharge {
    /// It moves.
    Moves(Transition),
    /// It stays as it is.
    Stays,
    /// Money has arrived for an order that is canceled. It goes back by itself.
    Returns,
    /// Money has arrived for an order that does not wait for it. It stays as it is, and people must look at it.
    Unexpected,
}

/// The row of the table, if there is one.
fn row(from: OrderStatus, to: OrderStatus, by: MoveBy) -> Option<Transition> {
    MOVES.iter().copied().find(|step| step.from == from && step.to == to && step.by == by)
}

impl OrderStatus {
    /// What becomes of an order that stands here.
    pub fn after_charge(self, outcome: ChargeOutcome) -> AfterCharge {
        let to = match outcome {
            ChargeOutcome::Succeeded => Paid,
            ChargeOutcome::Failed => Canceled,
        };
        match (row(self, to, MoveBy::Acquirer), outcome) {
            (Some(step), _) => AfterCharge::Moves(step),
            (None, ChargeOutcome::Failed) => AfterCharge::Stays,
            (None, ChargeOutcome::Succeeded) if self == Canceled => AfterCharge::Returns,
            (None, ChargeOutcome::Succeeded) => AfterCharge::Unexpected,
        }
    }

    /// The move of an unconfirmed order whose time has passed. `None` if it is no longer where the order was placed.
    pub fn once_expired(self) -> Option<Transition> {
        row(self, Canceled, MoveBy::Timeout)
    }
}

impl TransitionContext {
    /// The move to `to` by an employee.
    pub fn move_to(self, to: OrderStatus) -> Result<Transition, TransitionRefused> {
        let from = self.status;
        let Some(step) = row(from, to, MoveBy::Staff) else {
            return Err(match from {
                Issued | Canceled => TransitionRefused::Final(from),
                _ if row(from, to, MoveBy::Acquirer).is_some() => TransitionRefused::OnlyAcquirerPays,
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

    /// The move of an order all of whose money goes back and all of whose lines are taken back. `None` when it stays where
    /// it is: what was handed over and paid stays so.
    pub fn once_returned(self) -> Option<Transition> {
        row(self.status, Canceled, MoveBy::Refund).filter(|step| match step.money {
            MoneyCondition::Unpaid => !self.paid,
            _ => self.returned,
        })
    }

    /// The move of an order whose money an employee has taken by hand. `None` when it stays where it is: what was handed over
    /// stays so.
    pub fn once_paid_by_hand(self) -> Result<Option<Transition>, TransitionRefused> {
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
