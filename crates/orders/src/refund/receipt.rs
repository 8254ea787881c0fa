//! Receipt of a partial refund.

use kontor_kernel::{Money, Quantity};
use kontor_payments::model::{PaymentMode, PaymentSubject, Receipt, ReceiptItem, ReceiptProblem};

use super::{DecidedRefund, ReturnedLine};
use crate::model::{Order, OrderLine, ReservationState};
use crate::placement::delivery_name;

/// Receipt of a refund of an order whose payment had the receipt `paid`. `None` if the whole payment is refunded
/// at once: the acquirer then uses the receipt of the payment.
pub fn receipt_of(order: &Order, refund: &DecidedRefund, paid: &Receipt) -> Result<Option<Receipt>, ReceiptProblem> {
    if refund.amount == order.captured {
        return Ok(None);
    }
    let handed_over = order.lines.iter().any(|line| line.state == ReservationState::Sold);
    let lines = refund.lines.iter().map(|back| item(order, back));
    let delivery = (!refund.delivery.is_zero()).then(|| delivery(order, refund.delivery, mode(handed_over)));
    let items: Option<Vec<ReceiptItem>> = lines.chain(delivery).collect();
    match items {
        Some(items) => paid.of_part(&items, refund.amount).map(Some),
        None => paid.of_amount(refund.amount, mode(handed_over)).map(Some),
    }
}

fn mode(handed_over: bool) -> PaymentMode {
    if handed_over { PaymentMode::FullPayment } else { PaymentMode::FullPrepayment }
}

/// `None` if the VAT of the delivery is unknown.
fn delivery(order: &Order, amount: Money, mode: PaymentMode) -> Option<ReceiptItem> {
    Some(ReceiptItem {
        name: delivery_name(&order.delivery_type.name),
        quantity: Quantity::ONE,
        total: amount,
        vat: order.delivery_charge.vat?,
        subject: PaymentSubject::Service,
        mode,
    })
}

/// `None` for a line whose VAT is unknown.
fn item(order: &Order, back: &ReturnedLine) -> Option<ReceiptItem> {
    let line: &OrderLine = order.lines.iter().find(|line| line.id == back.line)?;
    Some(ReceiptItem {
        name: line.item.name.clone(),
        quantity: Quantity::new(back.quantity.into()).unwrap_or(Quantity::ONE),
        total: back.amount,
        vat: line.vat?,
        subject: if line.warehouse.is_some() { PaymentSubject::Commodity } else { PaymentSubject::Service },
        mode: mode(line.state == ReservationState::Sold),
    })
}
