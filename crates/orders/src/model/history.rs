//! What happened to an order.

use kontor_kernel::history::HistoryEntry;
use strum::{EnumString, IntoStaticStr, VariantArray};

use super::OrderStatus;

/// What happened, by its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum OrderEvent {
    /// It was made.
    Created,
    /// Staff moved it.
    StatusChanged,
    /// Staff changed its details.
    Changed,
    /// Staff changed its lines while it was not paid.
    LinesChanged,
    /// Another payment is asked for.
    PaymentRenewed,
    /// The open payment was canceled at the acquirer, since something else is to be paid.
    PaymentWithdrawn,
    /// The acquirer shows a payment that is not the one asked for.
    PaymentSuspicious,
    /// There will be no money.
    PaymentFailed,
    /// The money has arrived.
    Paid,
    /// Money has arrived for an order that is canceled; it goes back by itself.
    PaidAfterCancellation,
    /// Money has arrived for an order that did not wait for it; people must look at it.
    PaidOutOfTurn,
    /// Money is asked back.
    RefundRequested,
    /// It has gone back.
    Refunded,
    /// The acquirer does not give it back.
    RefundFailed,
    /// No employee confirmed it in time.
    Expired,
    /// Tickets were scanned at the door.
    TicketsRedeemed,
}

/// One line of the history of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderEntry {
    /// Who, when, and what changed from what to what.
    pub line: HistoryEntry,
    /// What happened.
    pub event: OrderEvent,
    /// Where the order stood afterwards.
    pub status: OrderStatus,
    /// More of it: an amount, a number of tickets, a reason.
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
