//! Field changes of an order for its history: names on the wire, old and new values.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::ops::Deref;

use kontor_kernel::history::FieldChange;
use kontor_kernel::{Edit, Money, NomenclatureId};

use crate::change::{LineChangeSet, OrderUpdate, OrderedRefund, PromoEffect};
use crate::model::{Notice, Order, OrderEvent, OrderLine, OrderStatus};

fn field(name: impl Into<String>, old: Option<impl Display>, new: Option<impl Display>) -> Option<FieldChange> {
    let (old, new) = (old.map(|value| value.to_string()), new.map(|value| value.to_string()));
    (old != new).then(|| FieldChange { field: name.into(), old, new })
}

/// Field that every order has.
pub(crate) fn figure(name: &str, old: impl Display, new: impl Display) -> Option<FieldChange> {
    field(name, Some(old), Some(new))
}

fn edited(name: &str, old: Option<&str>, edit: &Edit<Option<impl Deref<Target = str>>>) -> Option<FieldChange> {
    edit.as_set().and_then(|new| field(name, old, new.as_deref()))
}

/// Figures of one item of an order: units of all its lines, and the unit prices of those lines.
#[derive(Default)]
struct ItemFigures {
    pieces: u64,
    prices: BTreeSet<Money>,
}

impl ItemFigures {
    fn add(&mut self, pieces: u32, price: Money) {
        self.pieces = self.pieces.saturating_add(pieces.into());
        self.prices.insert(price);
    }

    fn prices(&self) -> String {
        self.prices.iter().map(ToString::to_string).collect::<Vec<String>>().join(", ")
    }
}

fn by_item(lines: impl Iterator<Item = (NomenclatureId, u32, Money)>) -> BTreeMap<NomenclatureId, ItemFigures> {
    let mut items: BTreeMap<NomenclatureId, ItemFigures> = BTreeMap::new();
    for (item, pieces, price) in lines {
        items.entry(item).or_default().add(pieces, price);
    }
    items
}

fn lines(order: &Order, rework: &LineChangeSet) -> Vec<FieldChange> {
    let before = by_item(order.lines.iter().map(|line| (line.item.id, line.quantity.get(), line.unit_price)));
    let after = by_item(rework.lines.iter().map(|line| (line.item, line.quantity.get(), line.unit_price)));
    let items: BTreeSet<&NomenclatureId> = before.keys().chain(after.keys()).collect();
    let of_item = |item: &NomenclatureId| {
        let (old, new) = (before.get(item), after.get(item));
        let pieces = |figures: Option<&ItemFigures>| figures.map(|figures| figures.pieces);
        let prices = |figures: Option<&ItemFigures>| figures.map(ItemFigures::prices);
        [
            field(format!("nomenclatures.{item}.quantity"), pieces(old), pieces(new)),
            field(format!("nomenclatures.{item}.price"), prices(old), prices(new)),
        ]
    };
    let totals = [
        figure("original_price", order.original_price, rework.totals.original_price),
        figure("product_discount_amount", order.product_discount, rework.totals.product_discount),
        figure("promo_discount_amount", order.promo_discount, rework.totals.promo_discount),
        figure("final_price", order.final_price, rework.totals.final_price),
    ];
    let returned = matches!(rework.promo, PromoEffect::Return(_));
    let promo = returned.then(|| field("promo_code", order.promo_code.as_ref(), None::<&str>)).flatten();
    items.into_iter().flat_map(of_item).chain(totals).flatten().chain(promo).collect()
}

fn refund(order: &Order, refund: &OrderedRefund) -> Vec<FieldChange> {
    // Money that was not paid through the acquirer counts as refunded at once.
    let (name, before) = match order.payment_method {
        Some(_) => ("refunding_amount", order.refunding),
        None => ("refunded_amount", order.refunded),
    };
    let money = field(name, Some(before), before.checked_add(refund.decided.amount));
    let taken_back = |line: &OrderLine| {
        let back = refund.decided.lines.iter().find(|returned| returned.line == line.id)?;
        let (old, new) = (line.refunded_quantity, line.refunded_quantity.saturating_add(back.quantity));
        figure(&format!("reservations.{}.refunded_quantity", line.id), old, new)
    };
    money.into_iter().chain(order.lines.iter().filter_map(taken_back)).collect()
}

impl OrderUpdate {
    /// Event of the update in the order history.
    pub const fn event(&self) -> OrderEvent {
        match self {
            Self { refund: Some(_), .. } => OrderEvent::RefundRequested,
            Self { rework: Some(_), .. } => OrderEvent::LinesChanged,
            Self { payment: Some(_), .. } => OrderEvent::PaymentRenewed,
            Self { by_hand: Some(_), .. } => OrderEvent::Paid,
            Self { transition: Some(_), .. } => OrderEvent::StatusChanged,
            _ => OrderEvent::Changed,
        }
    }

    /// Status of `order` after the update.
    pub fn status(&self, order: &Order) -> OrderStatus {
        self.transition.map_or(order.status, |step| step.to)
    }

    /// Detail of the history entry: the refunded amount, or the payment taken by an employee.
    pub fn detail(&self) -> Option<String> {
        let refunded = self.refund.as_ref().map(|refund| refund.decided.amount.to_string());
        refunded.or_else(|| self.by_hand.as_ref().map(ToString::to_string))
    }

    /// Notices to the customer, each with the amount that has arrived. Without one, the notice is about the price of
    /// the order after the update.
    pub fn notices(&self) -> Vec<(Notice, Option<Money>)> {
        let captured = self.captured.as_ref().map(|captured| captured.amount);
        let of_lines = self.rework.as_ref().map(|_| (Notice::OrderChanged, None));
        let of_status = self.transition.map(|step| step.notice).or(captured.map(|_| Notice::OrderPaid));
        of_lines.into_iter().chain(of_status.map(|notice| (notice, captured))).collect()
    }

    /// Fields of `order` that the update changes. `order` is the state before.
    pub fn changes(&self, order: &Order) -> Vec<FieldChange> {
        let status = self.transition.and_then(|step| figure("status_id", step.from.id(), step.to.id()));
        let manager = order.manager.as_ref().map(|manager| manager.id);
        let details = [
            status,
            self.captured.as_ref().and_then(|captured| figure("captured_amount", order.captured, captured.amount)),
            self.manager.as_set().and_then(|new| field("manager_id", manager, new.as_ref())),
            edited("comment", order.comment.as_deref(), &self.comment),
            edited("address", order.address.as_deref(), &self.address),
        ];
        let lines = self.rework.as_ref().map(|rework| lines(order, rework)).unwrap_or_default();
        let refund = self.refund.as_ref().map(|asked| refund(order, asked)).unwrap_or_default();
        details.into_iter().flatten().chain(lines).chain(refund).collect()
    }

    /// Returns `true` if there is nothing to write: the new values equal the stored ones.
    pub fn is_empty(&self, order: &Order) -> bool {
        self.event() == OrderEvent::Changed && self.changes(order).is_empty()
    }
}

/// History fields whose values may identify the customer.
const PERSONAL_FIELDS: [&str; 2] = ["comment", "address"];

/// Returns the same changes without values that may identify the customer.
pub fn without_personal_values(changes: Vec<FieldChange>) -> Vec<FieldChange> {
    let emptied = |change: FieldChange| {
        if PERSONAL_FIELDS.contains(&&*change.field) { FieldChange { old: None, new: None, ..change } } else { change }
    };
    changes.into_iter().map(emptied).collect()
}

#[cfg(test)]
mod tests;
