//! Receipt of an order's payment.

use kontor_kernel::{Money, Quantity};
use kontor_payments::model::{
    PaymentMode, PaymentSubject, Receipt, ReceiptContact, ReceiptItem, ReceiptTerms, VatCode,
};

use super::decide::PaymentProblem;
use super::snapshot::{CartSnapshot, ChosenLine, OfferedItem};
use crate::model::DeliveryCharge;
use crate::pricing::{LinePrice, Pricing};

/// VAT of an item if receipts are made: its own, otherwise that of the project.
pub(crate) fn vat(snapshot: &CartSnapshot, item: &OfferedItem) -> Option<VatCode> {
    snapshot.receipts.map(|terms| item.vat.unwrap_or(terms.default_vat))
}

/// Receipt of an order that is paid online; `None` if the project has no fiscal receipts. All items are prepaid,
/// since they are handed over later. It is sent to the phone of the order, otherwise to the e-mail address of
/// the profile.
pub(super) fn receipt(
    snapshot: &CartSnapshot,
    chosen: &[ChosenLine<'_>],
    pricing: &Pricing,
    delivery: DeliveryCharge,
) -> Result<Option<Receipt>, PaymentProblem> {
    let items = |terms: ReceiptTerms| {
        let lines = chosen.iter().zip(&pricing.lines).map(|(line, price)| item(line, *price, terms));
        let name = snapshot.references.delivery_type.as_ref().map_or("", |known| &known.name);
        lines.chain(delivery_item(name, delivery, terms)).collect()
    };
    let total = pricing.final_price().checked_add(delivery.price).unwrap_or(Money::MAX);
    receipt_for(snapshot, total, items)
}

/// Delivery as a receipt item, with the name of its type; `None` if it is free.
pub(crate) fn delivery_item(name: &str, charge: DeliveryCharge, terms: ReceiptTerms) -> Option<ReceiptItem> {
    (!charge.price.is_zero()).then(|| ReceiptItem {
        name: delivery_name(name),
        quantity: Quantity::ONE,
        total: charge.price,
        vat: charge.vat.unwrap_or(terms.default_vat),
        subject: PaymentSubject::Service,
        mode: PaymentMode::FullPrepayment,
    })
}

/// Name of the delivery on receipts. The name of a deleted delivery type is unknown.
pub(crate) fn delivery_name(name: &str) -> String {
    if name.is_empty() { "Delivery".to_owned() } else { name.to_owned() }
}

/// Creates the receipt of items paid online for this sum.
pub(crate) fn receipt_for(
    snapshot: &CartSnapshot,
    total: Money,
    items: impl FnOnce(ReceiptTerms) -> Vec<ReceiptItem>,
) -> Result<Option<Receipt>, PaymentProblem> {
    if total.is_zero() {
        return Err(PaymentProblem::NothingToPay);
    }
    let Some(terms) = snapshot.receipts else { return Ok(None) };
    let phone = snapshot.phone.clone().map(ReceiptContact::Phone);
    let contact = phone.or_else(|| snapshot.email.clone().map(ReceiptContact::Email));
    let contact = contact.ok_or(PaymentProblem::NoContact)?;
    Receipt::new(contact, terms.tax_system, &items(terms), total).map(Some).map_err(|_| PaymentProblem::NoReceipt)
}

fn item(line: &ChosenLine<'_>, price: LinePrice, terms: ReceiptTerms) -> ReceiptItem {
    ReceiptItem {
        name: line.item.name.clone(),
        quantity: line.quantity,
        total: price.total(),
        vat: line.item.vat.unwrap_or(terms.default_vat),
        subject: if line.inventory.is_some() { PaymentSubject::Commodity } else { PaymentSubject::Service },
        mode: PaymentMode::FullPrepayment,
    }
}
