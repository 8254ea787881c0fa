//! History of an order.

use kontor_kernel::history::HistoryEntry;
use strum::{EnumString, IntoStaticStr, VariantArray};

use super::OrderStatus;

/// Event in the history of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum OrderEvent {
    /// The order was created.
    Created,
    /// Staff changed its status.
    StatusChanged,
    /// Staff changed its details.
    Changed,
    /// Staff changed its lines before payment.
    LinesChanged,
    /// Another payment was requested.
    PaymentRenewed,
    /// The open payment was canceled at the acquirer, since another sum is due.
    PaymentWithdrawn,
    /// The payment at the acquirer differs from the requested one.
    PaymentSuspicious,
    /// The payment failed.
    PaymentFailed,
    /// The money has arrived.
    Paid,
    /// Money has arrived for a canceled order; it is refunded automatically.
    PaidAfterCancellation,
    /// Money has arrived for an order that did not wait for it; staff must check it.
    PaidOutOfTurn,
    /// A refund was requested.
    RefundRequested,
    /// The refund succeeded.
    Refunded,
    /// The acquirer refused the refund.
    RefundFailed,
    /// The order was not confirmed in time.
    Expired,
    /// Tickets were scanned at the door.
    TicketsRedeemed,
}

/// One entry of the history of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderEntry {
    /// Author, time, and changed fields.
    pub line: HistoryEntry,
    /// Event.
    pub event: OrderEvent,
    /// Status of the order afterwards.
    pub status: OrderStatus,
    /// Detail: an amount, a number of tickets, or a reason.
    pub detail: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use kontor_kernel::Word;

    #[test]
    fn the_codes_of_stored_lines_stay_as_they_are() {
        let codes: Vec<&str> = OrderEvent::all().iter().map(|event| event.word()).collect();
        let expected = "created status_changed changed lines_changed payment_renewed payment_withdrawn payment_suspicious \
                        payment_failed paid paid_after_cancellation paid_out_of_turn refund_requested refunded \
                        refund_failed expired tickets_redeemed";
        assert_eq!(codes.join(" "), expected);
    }
}
