//! Line changes keep the delivery price.

use kontor_payments::model::{ReceiptContact, ReceiptTerms, VatCode};

use super::*;
use crate::lines::decide::renewed_payment;
use crate::model::{DeliveryCharge, TypeReference};

/// An order that waits for its payment, with a delivery of 1.50 that was ordered at another VAT than the project
/// has now.
fn delivered(open: bool) -> Order {
    let mut order =
        Order { delivery_charge: DeliveryCharge { price: money(150), vat: VatCode::new(4).ok() }, ..online(open) };
    order.delivery_type.name = "Courier".to_owned();
    order
}

/// The shop as it is now: delivery costs more, and receipts are made.
fn pricier() -> CartSnapshot {
    let delivery_type = TypeReference { name: "Courier".to_owned(), price: money(999), is_active: true };
    let mut shop = snapshot(vec![goods(1, vec![place(1, 100, 9)])]);
    shop.references.delivery_type = Some(delivery_type);
    shop.receipts = Some(ReceiptTerms { tax_system: None, default_vat: VatCode::new(7).unwrap() });
    shop.phone = kontor_kernel::Phone::parse("79001234567").ok();
    CartSnapshot { charges_delivery: true, ..shop }
}

#[test]
fn another_payment_is_of_the_lines_and_the_delivery() {
    let reported = |payment: Option<PreparedPayment>| {
        let payment = payment.unwrap();
        let receipt = payment.receipt.unwrap();
        assert!(matches!(receipt.customer(), ReceiptContact::Phone(_)));
        let last = receipt.lines().last().unwrap();
        let last = (last.description().to_owned(), last.price().minor(), last.vat().get());
        (payment.amount.minor(), receipt.total().minor(), last)
    };
    let changed = decided(&delivered(true), &pricier(), set(1, 5)).unwrap();
    let totals = changed.rework.as_ref().unwrap().totals;
    assert_eq!((totals.final_price, totals.delivery_price, totals.amount_due()), (money(500), money(150), money(650)));
    assert_eq!(reported(changed.payment), (650, 650, ("Courier".to_owned(), 150, 4)));
    let terms = Terms {
        items: &[item(1)],
        allocation: &FewestWarehouses,
        key: Uuid::nil(),
        return_url: "https://shop.example",
        at: DateTime::UNIX_EPOCH,
    };
    let again = renewed_payment(&delivered(false), &pricier(), &terms).unwrap();
    assert_eq!(reported(again), (450, 450, ("Courier".to_owned(), 150, 4)));
}

#[test]
fn fewer_pieces_of_a_paid_order_leave_the_delivery() {
    let paid = Order { captured: money(450), ..order(OrderStatus::Paid, vec![line(1, 1, 1, 3, 100)]) };
    let paid = Order { delivery_charge: delivered(false).delivery_charge, ..paid };
    let refund = decided(&paid, &pricier(), set(1, 2)).unwrap().refund.unwrap();
    assert_eq!((refund.amount, refund.delivery), (money(100), Money::ZERO));
    let preview = OrderPreview::of_refund(&paid, &refund);
    assert_eq!((preview.totals.amount_due(), preview.left), (money(450), money(350)));
}
