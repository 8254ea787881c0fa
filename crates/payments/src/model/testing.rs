//! Receipts to try rules on.

use kontor_kernel::{Money, Phone, Quantity};

use super::{PaymentMode, PaymentSubject, Receipt, ReceiptContact, ReceiptItem, VatCode};

/// A receipt of a prepayment of this much for one thing.
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
