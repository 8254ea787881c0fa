//! The decision: turns a snapshot and a command into an order and the receipt of its payment, or into every reason for
//! its refusal.

use chrono::{DateTime, Utc};
use kontor_kernel::history::Author;
use kontor_kernel::{
    ApplicationId, CategoryId, CounterpartyId, Money, NomenclatureId, PaymentTypeId, Quantity, UserId, Violations,
};
use kontor_payments::TAKEOVER_DELAY;
use kontor_payments::model::{
    PaymentMode, PaymentSubject, Receipt, ReceiptContact, ReceiptItem, ReceiptTerms, VatCode,
};
use uuid::Uuid;

use super::contact::{ContactProblem, Unconfirmed};
use super::snapshot::{Allocation, CartSnapshot, ChosenLine, OfferedItem, Quote};
use crate::change::{AppliedDiscounts, Comment, ContactPerson, Orderer, PlacedLine, PlacedOrder, PromoUse};
use crate::model::{
    Address, Cart, CartRefused, DeliveryCharge, DeliveryRequest, Discount, OrderStatus, PaymentMethod, PreparedPayment,
    PromoCode, PromoProblem,
};
use crate::ports::SalesPoint;
use crate::pricing::{LinePrice, Pricing};
use crate::tickets::TicketReference;

/// Order by a customer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderCommand {
    /// Items.
    pub cart: Cart,
    /// Promo code.
    pub promo_code: Option<PromoCode>,
    /// Delivery and payment type.
    pub delivery: DeliveryRequest,
    /// Online payment method; `None` if the order is not paid online.
    pub payment_method: Option<PaymentMethod>,
}

/// Order by staff for a customer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaffOrderCommand {
    /// Application; `None` for the project with all its warehouses.
    pub application_id: Option<ApplicationId>,
    /// Customer.
    pub counterparty_id: CounterpartyId,
    /// Employee in charge.
    pub manager_id: Option<UserId>,
    /// Comment.
    pub comment: Option<Comment>,
    /// Content of the order.
    pub order: OrderCommand,
}

/// Order from the contact form, without login. A courier delivers it; it is paid on receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContactOrderCommand {
    /// Person who orders.
    pub person: ContactPerson,
    /// Items.
    pub cart: Cart,
    /// Address.
    pub address: Address,
    /// Payment type on receipt.
    pub payment_type_id: PaymentTypeId,
}

impl ContactOrderCommand {
    /// Converts to an order command.
    pub(super) fn order(&self) -> OrderCommand {
        OrderCommand {
            cart: self.cart.clone(),
            promo_code: None,
            delivery: DeliveryRequest::by_courier(self.address.clone(), self.payment_type_id),
            payment_method: None,
        }
    }
}

/// Reasons why an order cannot be paid online.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PaymentProblem {
    /// The amount is zero.
    #[error("no online payment is due")]
    NothingToPay,
    /// The payment type is paid online, and no method is given.
    #[error("is required with this payment type: the order is paid online")]
    MethodRequired,
    /// The receipt cannot be sent: the customer has neither a phone nor an e-mail address.
    #[error("requires a phone or an e-mail address in the profile for the receipt")]
    NoContact,
    /// The order exceeds the limits of a receipt.
    #[error("exceeds the limit of a receipt")]
    NoReceipt,
}

/// Every reason for the refusal of an order.
#[derive(Debug, Clone, PartialEq, Eq, Default, thiserror::Error)]
#[error("the order cannot be placed")]
pub struct OrderRefused {
    /// About the items.
    pub cart: Option<CartRefused>,
    /// About the promo code.
    pub promo: Option<PromoProblem>,
    /// About delivery and payment type, by request field.
    pub delivery: Violations,
    /// About the online payment.
    pub payment: Option<PaymentProblem>,
    /// About the bounds of orders from the contact form.
    pub contact: Option<ContactProblem>,
    /// About the application, the customer and the manager that staff named, by field.
    pub parties: Violations,
}

impl OrderRefused {
    /// Every reason by request field.
    pub fn violations(&self) -> Violations {
        let mut all = self.delivery.clone();
        if let Some(cart) = &self.cart {
            all.merge(cart.violations());
        }
        if let Some(problem) = self.promo {
            all.add("promo_code", problem);
        }
        if let Some(problem) = self.payment {
            all.add("payment_method_type", problem);
        }
        if let Some(problem) = self.contact {
            all.add("products", problem);
        }
        all.merge(self.parties.clone());
        all
    }

    fn is_empty(&self) -> bool {
        self.cart.is_none()
            && self.promo.is_none()
            && self.delivery.is_empty()
            && self.payment.is_none()
            && self.contact.is_none()
            && self.parties.is_empty()
    }
}

/// Customer, author and sales point of an order.
#[derive(Debug, Clone)]
pub(crate) struct Buyer {
    pub point: SalesPoint,
    pub orderer: Orderer,
    pub author: Author,
    pub manager_id: Option<UserId>,
    pub comment: Option<Comment>,
}

/// Inputs of a decision besides the snapshot and the command.
pub(crate) struct OrderContext<'a> {
    pub buyer: &'a Buyer,
    pub key: Uuid,
    /// Reference for the tickets among the items.
    pub tickets: Option<TicketReference>,
    pub return_url: &'a str,
    pub allocation: &'a dyn Allocation,
    pub at: DateTime<Utc>,
}

/// Message for a payment type that is paid online: without an account there is no place to show the payment
/// link.
const NOT_BY_CONTACT: &str =
    "is an online payment type; orders by contact are paid on receipt: choose another payment type";

/// Decides an order. Pure function.
pub(crate) fn decide(
    snapshot: &CartSnapshot,
    command: &OrderCommand,
    context: &OrderContext<'_>,
) -> Result<PlacedOrder, OrderRefused> {
    let mut refused = OrderRefused { parties: snapshot.missing.violations(), ..OrderRefused::default() };
    let delivery = command.delivery.check(&snapshot.references).map_err(|problems| refused.delivery = problems).ok();
    let quote = snapshot
        .quote(&command.cart, context.allocation, context.at)
        .map_err(|problems| refused.cart = Some(problems))
        .ok();
    let delivery_charge = delivery.as_ref().map(|known| snapshot.delivery_charge(known.subtype_id)).unwrap_or_default();
    let amount_due = quote.as_ref().and_then(|quote| quote.pricing.final_price().checked_add(delivery_charge.price));
    let is_free = amount_due.is_some_and(Money::is_zero);
    if snapshot.references.payment_type == Some(true) && command.payment_method.is_none() && !is_free {
        match context.buyer.orderer {
            Orderer::Customer(_) => refused.payment = Some(PaymentProblem::MethodRequired),
            Orderer::Contact(_) => refused.delivery.add("payment_type_id", NOT_BY_CONTACT),
        }
    }
    let contact = matches!(context.buyer.orderer, Orderer::Contact(_)).then_some(snapshot.contact);
    let mut slip = None;
    if let Some(Quote { lines, pricing }) = &quote {
        refused.promo = pricing.promo_problem;
        if let Some(terms) = contact {
            let lines = lines.iter().map(|line| (line.inventory, line.quantity));
            refused.contact = terms.admit(Unconfirmed::of(lines, pricing.final_price())).err();
        }
        if command.payment_method.is_some() {
            match receipt(snapshot, lines, pricing, delivery_charge) {
                Ok(receipt) => slip = receipt,
                Err(problem) => refused.payment = Some(problem),
            }
        }
    }
    match (delivery, quote) {
        (Some(delivery), Some(Quote { lines: chosen, pricing })) if refused.is_empty() => {
            let payment = command.payment_method.map(|method| PreparedPayment {
                key: context.key,
                amount: amount_due.unwrap_or(Money::MAX),
                currency: snapshot.currency.clone(),
                method,
                return_url: context.return_url.to_owned(),
                next_check_at: context.at + TAKEOVER_DELAY,
                receipt: slip,
            });
            Ok(PlacedOrder {
                project_id: context.buyer.point.project_id,
                application_id: context.buyer.point.application_id,
                orderer: context.buyer.orderer.clone(),
                author: context.buyer.author,
                manager_id: context.buyer.manager_id,
                comment: context.buyer.comment.clone(),
                status: if payment.is_some() { OrderStatus::WaitingForPayment } else { OrderStatus::Created },
                lines: lines(snapshot, &chosen, &pricing),
                original_price: pricing.original_price(),
                product_discount: pricing.product_discount(),
                promo_discount: pricing.promo_discount(),
                final_price: pricing.final_price(),
                delivery_charge,
                automatic: applied_discounts(
                    snapshot,
                    chosen.iter().map(|line| (line.item.id, line.item.categories.as_slice())),
                ),
                promo: promo_use(command, &pricing),
                delivery,
                payment_type_id: command.delivery.payment_type_id,
                phone: match &context.buyer.orderer {
                    Orderer::Customer(_) => snapshot.phone.clone(),
                    Orderer::Contact(person) => Some(person.phone.clone()),
                },
                tickets: context.tickets.clone(),
                contact,
                payment,
                at: context.at,
            })
        }
        _ => Err(refused),
    }
}

/// Returns the automatic discounts of a snapshot, and those of them that cover one of these items.
pub(crate) fn applied_discounts<'a>(
    snapshot: &CartSnapshot,
    items: impl Iterator<Item = (NomenclatureId, &'a [CategoryId])> + Clone,
) -> AppliedDiscounts {
    let covers = |discount: &&Discount| items.clone().any(|(item, categories)| discount.covers(item, categories));
    AppliedDiscounts {
        seen: snapshot.automatic.iter().map(|discount| (discount.id, discount.version)).collect(),
        covering: snapshot.automatic.iter().filter(covers).map(|discount| discount.id).collect(),
    }
}

fn promo_use(command: &OrderCommand, pricing: &Pricing) -> Option<PromoUse> {
    let (code, discount) = (command.promo_code.as_ref()?, pricing.applied.as_ref()?);
    Some(PromoUse { discount_id: discount.id, code: code.to_string(), version: discount.version })
}

fn lines(snapshot: &CartSnapshot, chosen: &[ChosenLine<'_>], pricing: &Pricing) -> Vec<PlacedLine> {
    let line = |(line, price): (&ChosenLine<'_>, _)| PlacedLine {
        position: line.position,
        item: line.item.id,
        name: line.item.name.clone(),
        inventory: line.inventory,
        quantity: line.quantity,
        unit_price: line.unit_price,
        price,
        vat: vat(snapshot, line.item),
        is_ticket: line.item.is_ticket,
    };
    chosen.iter().zip(pricing.lines.iter().copied()).map(line).collect()
}

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
