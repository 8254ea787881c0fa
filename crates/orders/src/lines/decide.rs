use chrono::{DateTime, Utc};
use kontor_kernel::{CategoryId, InventoryId, Money, NomenclatureId, Quantity};
use kontor_payments::TAKEOVER_DELAY;
use kontor_payments::model::{PaymentMode, PaymentSubject, ReceiptItem, ReceiptTerms, VatCode};
use uuid::Uuid;

use super::work::{Draft, Work};
use super::{EditMode, LineCommand, LinesRefused, work};
use crate::OrderRefusal;
use crate::change::{ChangedLine, LineChangeSet, PromoEffect, PromoUse, Totals};
use crate::model::{CartRefused, Order, OrderLine, OrderStatus, PreparedPayment, Promo, PromoProblem};
use crate::placement::{Allocation, CartSnapshot, PaymentProblem, applied_discounts, delivery_item, receipt_for};
use crate::pricing::{LinePrice, PriceLine, Pricing, price};
use crate::refund::DecidedRefund;

/// Inputs of a decision besides the order and the snapshot.
pub struct Terms<'a> {
    /// Items that the snapshot was requested for.
    pub items: &'a [NomenclatureId],
    /// Strategy that chooses the warehouses of added units.
    pub allocation: &'a dyn Allocation,
    /// Idempotency key of the payment that follows.
    pub key: Uuid,
    /// Return address of the payer; `{order_id}` is replaced.
    pub return_url: &'a str,
    /// Time of the decision.
    pub at: DateTime<Utc>,
}

/// Effect of a change. Nothing changes if every field is `None`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Decided {
    /// New lines of an unpaid order.
    pub rework: Option<LineChangeSet>,
    /// Online payment of the new sum.
    pub payment: Option<PreparedPayment>,
    /// Refund of a paid order.
    pub refund: Option<DecidedRefund>,
}

impl Decided {
    /// Returns `true` if nothing changes.
    pub fn is_empty(&self) -> bool {
        self.rework.is_none() && self.payment.is_none() && self.refund.is_none()
    }
}

/// Decides a change of lines. Pure function. Kept lines keep their ordered prices; discounts are the current
/// ones. An order that should wait for a payment and has none open gets one.
pub fn decide(
    order: &Order,
    snapshot: &CartSnapshot,
    command: &LineCommand,
    terms: &Terms<'_>,
) -> Result<Decided, OrderRefusal> {
    match EditMode::of(order)? {
        EditMode::Paid => Ok(Decided { refund: work::decide(order, command)?, ..Decided::default() }),
        EditMode::Unpaid => Ok(rework(order, snapshot, command, terms)?),
    }
}

fn rework(
    order: &Order,
    snapshot: &CartSnapshot,
    command: &LineCommand,
    terms: &Terms<'_>,
) -> Result<Decided, LinesRefused> {
    if command.restock == Some(false) {
        return Err(LinesRefused::invalid(
            "restock",
            "the order is not paid: its reserved stock returns to its warehouses",
        ));
    }
    let mut work = Work::on(order, snapshot, terms.allocation);
    work.edit(command.edit)?;
    if !work.drafts.iter().all(|draft| terms.items.contains(&draft.item)) {
        return Err(LinesRefused::Stale);
    }
    let tickets = work.drafts.iter().filter(|draft| draft.is_ticket);
    if tickets.fold(0, |sum: u32, draft| sum.saturating_add(draft.quantity.get())) < order.tickets.redeemed {
        return Err(LinesRefused::invalid("quantity", "more tickets of the order have been redeemed"));
    }
    let pricing = priced(order, snapshot, &work.drafts, terms.at)?;
    let lines: Vec<ChangedLine> =
        work.drafts.iter().zip(&pricing.lines).map(|(draft, price)| line(order, draft, *price)).collect();
    let promo = promo_effect(order, &pricing);
    let is_change = !work.removed.is_empty() || lines.iter().any(|line| line.is_changed);
    let totals = Totals::new(&pricing, order.delivery_charge.price);
    let payment = if is_change || !order.payment_open {
        let items = |fiscal| lines.iter().map(|line| item(line, fiscal)).chain(delivery(order, fiscal)).collect();
        payment(order, snapshot, totals.amount_due(), items, terms)?
    } else {
        None
    };
    let categories = work.drafts.iter().map(|draft| (draft.item, categories_of(snapshot, draft.item)));
    let rework = is_change.then(|| LineChangeSet {
        automatic: applied_discounts(snapshot, categories),
        claims: work.claims(),
        removed: work.removed.clone(),
        services: work.services.clone(),
        items: terms.items.to_vec(),
        lines,
        totals,
        promo,
        tickets: None,
    });
    Ok(Decided { rework, payment, refund: None })
}

/// Returns the payment of an order that waits for payment.
fn payment(
    order: &Order,
    snapshot: &CartSnapshot,
    amount: Money,
    items: impl FnOnce(ReceiptTerms) -> Vec<ReceiptItem>,
    terms: &Terms<'_>,
) -> Result<Option<PreparedPayment>, PaymentProblem> {
    let Some(method) = order.payment_method.filter(|_| order.status == OrderStatus::WaitingForPayment) else {
        return Ok(None);
    };
    Ok(Some(PreparedPayment {
        key: terms.key,
        amount,
        currency: snapshot.currency.clone(),
        method,
        return_url: terms.return_url.to_owned(),
        next_check_at: terms.at + TAKEOVER_DELAY,
        receipt: receipt_for(snapshot, amount, items)?,
    }))
}

/// Returns a new payment for unchanged lines, if the order waits for payment and none is open.
pub(super) fn renewed_payment(
    order: &Order,
    snapshot: &CartSnapshot,
    terms: &Terms<'_>,
) -> Result<Option<PreparedPayment>, LinesRefused> {
    if order.payment_open || EditMode::of(order)? != EditMode::Unpaid {
        return Ok(None);
    }
    let items = |fiscal: ReceiptTerms| {
        let line =
            |line: &OrderLine| sold(&line.item.name, line.quantity, line.total, line.vat, line.inventory, fiscal);
        order.lines.iter().map(line).chain(delivery(order, fiscal)).collect()
    };
    Ok(payment(order, snapshot, order.amount_due(), items, terms)?)
}

/// The delivery keeps the price at which it was ordered.
fn delivery(order: &Order, fiscal: ReceiptTerms) -> Option<ReceiptItem> {
    delivery_item(&order.delivery_type.name, order.delivery_charge, fiscal)
}

fn categories_of(snapshot: &CartSnapshot, item: NomenclatureId) -> &[CategoryId] {
    snapshot.items.iter().find(|offered| offered.id == item).map_or(&[], |offered| offered.categories.as_slice())
}

/// Prices lines with the same function as carts and new orders.
fn priced(
    order: &Order,
    snapshot: &CartSnapshot,
    drafts: &[Draft],
    at: DateTime<Utc>,
) -> Result<Pricing, LinesRefused> {
    let line = |draft: &Draft| PriceLine {
        item: draft.item,
        categories: categories_of(snapshot, draft.item).to_vec(),
        quantity: draft.quantity,
        unit_price: draft.unit_price,
    };
    let lines: Vec<PriceLine> = drafts.iter().map(line).collect();
    let promo = order.promo_code.as_ref().and(snapshot.promo.clone()).map(without_own_use);
    price(&lines, &snapshot.automatic, promo.as_ref(), at).map_err(|refused| match refused {
        CartRefused::Lines(lines) => match lines.first() {
            Some(refused) => LinesRefused::invalid("quantity", refused.problem),
            None => LinesRefused::Stale,
        },
        refused => LinesRefused::invalid("quantity", refused),
    })
}

/// The order already holds a use of its promo code.
fn without_own_use(promo: Promo) -> Promo {
    let free = |mut discount: crate::model::Discount| {
        discount.used_count = discount.used_count.saturating_sub(1);
        discount
    };
    Promo { discount: promo.discount.map(free), used_by_customer: promo.used_by_customer.saturating_sub(1) }
}

fn promo_effect(order: &Order, pricing: &Pricing) -> PromoEffect {
    match (&order.promo_code, &pricing.applied) {
        (None, _) => PromoEffect::None,
        (Some(code), Some(discount)) => {
            PromoEffect::Keep(PromoUse { discount_id: discount.id, code: code.clone(), version: discount.version })
        }
        (Some(_), None) => PromoEffect::Return(pricing.promo_problem.unwrap_or(PromoProblem::Unknown)),
    }
}

fn line(order: &Order, draft: &Draft, price: LinePrice) -> ChangedLine {
    let same = |known: &&OrderLine| Some(known.id) == draft.id;
    let is_changed = order.lines.iter().find(same).is_none_or(|known| {
        known.quantity != draft.quantity
            || known.unit_price != draft.unit_price
            || known.product_discount != price.product_discount
            || known.promo_discount != price.promo_discount
    });
    ChangedLine {
        id: draft.id,
        item: draft.item,
        name: draft.name.clone(),
        inventory: draft.inventory,
        warehouse: draft.warehouse,
        quantity: draft.quantity,
        unit_price: draft.unit_price,
        price,
        vat: draft.vat,
        is_ticket: draft.is_ticket,
        is_changed,
    }
}

fn item(line: &ChangedLine, terms: ReceiptTerms) -> ReceiptItem {
    sold(&line.name, line.quantity, line.price.total(), line.vat, line.inventory, terms)
}

fn sold(
    name: &str,
    quantity: Quantity,
    total: Money,
    vat: Option<VatCode>,
    inventory: Option<InventoryId>,
    terms: ReceiptTerms,
) -> ReceiptItem {
    ReceiptItem {
        name: name.to_owned(),
        quantity,
        total,
        vat: vat.unwrap_or(terms.default_vat),
        subject: if inventory.is_some() { PaymentSubject::Commodity } else { PaymentSubject::Service },
        mode: PaymentMode::FullPrepayment,
    }
}
