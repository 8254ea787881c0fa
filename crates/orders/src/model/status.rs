//! The states of an order and the moves between them.

use strum::{Display, VariantArray};

/// The state of an order; the ids are fixed by the contract, display names come from the dictionary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, VariantArray, Display)]
#[strum(serialize_all = "snake_case")]
pub enum OrderStatus {
    /// `1`
    Created,
    /// `2`
    #[strum(to_string = "waiting for payment")]
    WaitingForPayment,
    /// `3`
    #[strum(to_string = "in processing")]
    InProcessing,
    /// `4`
    #[strum(to_string = "ready for pickup")]
    ReadyForPickup,
    /// `5`
    Issued,
    /// `6`
    Canceled,
    /// `22`
    Paid,
}

impl From<OrderStatus> for i64 {
    fn from(status: OrderStatus) -> Self {
        status.id()
    }
}

impl OrderStatus {
    /// Every state.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// The id in the dictionary `order_statuses`.
    pub fn id(self) -> i64 {
        match self {
            Self::Created => 1,
            Self::WaitingForPayment => 2,
            Self::InProcessing => 3,
            Self::ReadyForPickup => 4,
            Self::Issued => 5,
            Self::Canceled => 6,
            Self::Paid => 22,
        }
    }

    /// The state with this id.
    pub fn from_id(id: i64) -> Option<Self> {
        Self::ALL.iter().copied().find(|status| status.id() == id)
    }

    /// Whether nothing can follow.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Issued | Self::Canceled)
    }
}

/// What decides which states an order may move to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransitionContext {
    /// Where it is.
    pub status: OrderStatus,
    /// Whether it is paid through the acquirer.
    pub online: bool,
    /// Whether the money has arrived.
    pub paid: bool,
    /// Whether the outcome of a charge is still open.
    pub payment_open: bool,
}

/// What a move does to the goods reserved for the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StockEffect {
    /// The reservation stays.
    Keep,
    /// The reservation is given up and the use of a promo code is returned.
    Release,
    /// The goods have left the warehouse.
    Sell,
}

/// An allowed move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition {
    /// Where the order was.
    pub from: OrderStatus,
    /// Where it goes.
    pub to: OrderStatus,
    /// What happens to its goods.
    pub stock: StockEffect,
    /// Whether the move says that the money has arrived.
    pub pays: bool,
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
    /// The acquirer may still take the money.
    #[error("a payment is still open")]
    PaymentOpen,
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
    /// Money has arrived for an order that does not wait for it. It stays as it is, and people must look at it.
    Unexpected,
}

impl OrderStatus {
    /// What becomes of an order that stands here.
    pub fn after_charge(self, outcome: ChargeOutcome) -> AfterCharge {
        let moved = |to, stock, pays| AfterCharge::Moves(Transition { from: self, to, stock, pays });
        match (self, outcome) {
            (Self::WaitingForPayment, ChargeOutcome::Succeeded) => moved(Self::Paid, StockEffect::Keep, true),
            (Self::WaitingForPayment, ChargeOutcome::Failed) => moved(Self::Canceled, StockEffect::Release, false),
            (_, ChargeOutcome::Succeeded) => AfterCharge::Unexpected,
            (_, ChargeOutcome::Failed) => AfterCharge::Stays,
        }
    }
}

impl TransitionContext {
    /// The move to `to` by an employee.
    pub fn move_to(self, to: OrderStatus) -> Result<Transition, TransitionRefused> {
        use OrderStatus::{Canceled, Created, InProcessing, Issued, Paid, ReadyForPickup, WaitingForPayment};
        let from = self.status;
        let known = match (from, to) {
            (Issued | Canceled, _) => return Err(TransitionRefused::Final(from)),
            (WaitingForPayment, Paid) => return Err(TransitionRefused::OnlyAcquirerPays),
            (Created, InProcessing | ReadyForPickup | Issued | Canceled | Paid)
            | (WaitingForPayment, Canceled)
            | (Paid, InProcessing | ReadyForPickup | Issued)
            | (InProcessing, ReadyForPickup | Issued | Canceled | Paid)
            | (ReadyForPickup, Issued | Canceled | Paid) => true,
            _ => false,
        };
        if !known {
            return Err(TransitionRefused::NotAllowed { from, to });
        }
        match to {
            Canceled | Paid if self.paid => Err(TransitionRefused::AlreadyPaid),
            Canceled if self.payment_open => Err(TransitionRefused::PaymentOpen),
            Paid if self.online => Err(TransitionRefused::OnlyAcquirerPays),
            Canceled => Ok(Transition { from, to, stock: StockEffect::Release, pays: false }),
            Issued => Ok(Transition { from, to, stock: StockEffect::Sell, pays: false }),
            _ => Ok(Transition { from, to, stock: StockEffect::Keep, pays: to == Paid }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn context(status: OrderStatus) -> TransitionContext {
        TransitionContext { status, online: false, paid: status == OrderStatus::Paid, payment_open: false }
    }

    #[test]
    fn the_table_of_moves() {
        let allowed = [(1, "3 4 5 6 22"), (2, "6"), (22, "3 4 5"), (3, "4 5 6 22"), (4, "5 6 22"), (5, ""), (6, "")];
        for (from, targets) in allowed {
            for to in OrderStatus::ALL.iter().copied() {
                let expected = targets.split(' ').any(|id| id == to.id().to_string());
                let moved = context(OrderStatus::from_id(from).unwrap()).move_to(to);
                assert_eq!(moved.is_ok(), expected, "{from} -> {} gave {moved:?}", to.id());
            }
        }
    }

    #[test]
    fn only_an_order_that_waits_for_its_money_moves_with_it() {
        for status in OrderStatus::ALL.iter().copied() {
            let (paid, failed) =
                (status.after_charge(ChargeOutcome::Succeeded), status.after_charge(ChargeOutcome::Failed));
            let from = status;
            if status == OrderStatus::WaitingForPayment {
                let to = OrderStatus::Paid;
                assert_eq!(paid, AfterCharge::Moves(Transition { from, to, stock: StockEffect::Keep, pays: true }));
                let to = OrderStatus::Canceled;
                assert_eq!(
                    failed,
                    AfterCharge::Moves(Transition { from, to, stock: StockEffect::Release, pays: false })
                );
            } else {
                assert_eq!((paid, failed), (AfterCharge::Unexpected, AfterCharge::Stays), "{status}");
            }
        }
    }

    #[test]
    fn states_are_told_in_words_and_known_by_their_numbers() {
        let told = OrderStatus::ALL.iter().map(|status| format!("{} {status}", status.id()));
        let all = [
            "1 created",
            "2 waiting for payment",
            "3 in processing",
            "4 ready for pickup",
            "5 issued",
            "6 canceled",
            "22 paid",
        ];
        assert_eq!(told.collect::<Vec<_>>(), all);
        assert!(OrderStatus::ALL.iter().all(|status| OrderStatus::from_id(status.id()) == Some(*status)));
        assert_eq!(OrderStatus::from_id(7), None);
    }

    #[test]
    fn an_open_payment_holds_the_order() {
        let order = TransitionContext { online: true, payment_open: true, ..context(OrderStatus::WaitingForPayment) };
        assert_eq!(order.move_to(OrderStatus::Canceled), Err(TransitionRefused::PaymentOpen));
        assert_eq!(order.move_to(OrderStatus::Paid), Err(TransitionRefused::OnlyAcquirerPays));
    }

    proptest! {
        /// Whatever staff try, in whatever order: an order is paid at most once, its goods leave its reservation at most
        /// once, and money that has arrived is never in a canceled order.
        #[test]
        fn any_walk_keeps_the_books(targets in prop::collection::vec(0..7usize, 0..30), online in any::<bool>()) {
            let first = if online { OrderStatus::WaitingForPayment } else { OrderStatus::Created };
            let mut order = TransitionContext { status: first, online, paid: false, payment_open: false };
            let (mut payments, mut settled) = (0, 0);
            for target in targets {
                let Ok(step) = order.move_to(OrderStatus::ALL[target]) else { continue };
                prop_assert_eq!(step.from, order.status);
                payments += u32::from(step.pays);
                settled += u32::from(step.stock != StockEffect::Keep);
                order.status = step.to;
                order.paid |= step.pays;
                prop_assert!(!(order.paid && order.status == OrderStatus::Canceled));
            }
            prop_assert!(payments <= u32::from(!online));
            prop_assert!(settled <= 1);
            prop_assert_eq!(settled == 1, order.status.is_final());
        }
    }
}
