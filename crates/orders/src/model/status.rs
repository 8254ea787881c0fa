//! States of an order.

use strum::{Display, VariantArray};

/// State of an order. The contract fixes the ids; display names come from the dictionary.
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

    /// Returns the id in the dictionary `order_statuses`.
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

    /// Returns the state with this id.
    pub fn from_id(id: i64) -> Option<Self> {
        Self::ALL.iter().copied().find(|status| status.id() == id)
    }

    /// Returns `true` for a final state.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Issued | Self::Canceled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn an_order_ends_when_it_is_issued_or_canceled() {
        let ended: Vec<_> = OrderStatus::ALL.iter().filter(|status| status.is_final()).collect();
        assert_eq!(ended, [&OrderStatus::Issued, &OrderStatus::Canceled]);
        assert_eq!(i64::from(OrderStatus::Paid), 22);
    }
}
