//! Sample receipts for tests of rules.

use kontor_kernel::{Money, Phone, Quantity};

use super::{PaymentMode, PaymentSubject, Receipt, ReceiptContact, ReceiptItem, VatCode};

/// A receipt of a prepayment of this amount for one item.
pub fn a_receipt(total: Money) -> Receipt {
    let item = ReceiptItem {
        name: "Tea".to_owned(),
        quantity: Quantity::ONE,
        total,
        vat: VatCode::NONE,
        subject: PaymentSubject::Commodity,
        mode: PaymentMode::FullPrepayment,
    };
    let customer = ReceiptContact::Phone(Phone::parse("79001234567").unwrap());
    Receipt::new(customer, None, &[item], total).unwrap()
}
