//! The receipt that goes with the payment of an order.

use kontor_kernel::Money;
use kontor_payments::model::{
    PaymentMode, PaymentSubject, Receipt, ReceiptContact, ReceiptItem, ReceiptTerms, VatCode,
};

use super::decide::PaymentProblem;
use super::snapshot::{CartSnapshot, ChosenLine, OfferedItem};
use crate::pricing::{LinePrice, Pricing};

/// The VAT of an item where receipts are made: its own, else that of the project.
pub(crate) fn vat(snapshot: &CartSnapshot, item: &OfferedItem) -> Option<VatCode> {
    snapshot.receipts.map(|terms| item.vat.unwrap_or(terms.default_vat))
}

/// The receipt of an order that is paid online, as far as the project has any made: everything is prepaid, since it is
/// handed over later. It is sent to the phone of the order, else to the e-mail address of the profile.
pub(super) fn receipt(
    snapshot: &CartSnapshot,
    chosen: &[ChosenLine<'_>],
    pricing: &Pricing,
) -> Result<Option<Receipt>, PaymentProblem> {
    let items = |terms| chosen.iter().zip(&pricing.lines).map(|(line, price)| item(line, *price, terms)).collect();
    slip(snapshot, pricing.final_price(), items)
}

/// The receipt about items that are paid online for this sum.
pub(crate) fn slip(
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
