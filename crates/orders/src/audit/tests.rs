use chrono::DateTime;
use kontor_kernel::{ProjectId, Prose, Quantity, ReservationId, Stamp, UserId};
use uuid::Uuid;

use super::*;
use crate::change::{AppliedDiscounts, Captured, ChangedLine, Totals};
use crate::model::testing::{a_line, a_payment, an_order};
use crate::model::{Named, OrderStatus, PaymentMethod};
use crate::pricing::LinePrice;
use crate::refund::{DecidedRefund, ReturnEffect, ReturnedLine};

fn update() -> OrderUpdate {
    OrderUpdate::of(Stamp::of_system(ProjectId::new(1).unwrap(), DateTime::UNIX_EPOCH))
}

fn reported(update: &OrderUpdate, order: &Order) -> Vec<String> {
    let side = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    let changes = update.changes(order).into_iter();
    changes.map(|change| format!("{} {} {}", change.field, side(change.old), side(change.new))).collect()
}

fn user(id: i64) -> UserId {
    UserId::new(id).unwrap()
}

#[test]
fn details_are_logged_with_old_and_new_value() {
    let manager = Some(Named { id: user(3), name: "Anna".to_owned() });
    let order = Order { manager, comment: Some("old".to_owned()), ..an_order(OrderStatus::Created) };
    let step = order.transition_context().move_to(OrderStatus::Paid).unwrap();
    let update = OrderUpdate {
        transition: Some(step),
        captured: Some(Captured { amount: order.final_price, event: None }),
        manager: Edit::Set(Some(user(4))),
        comment: Edit::Set(None),
        address: Edit::Set(Some(crate::model::Address::parse("Lenina 1").unwrap())),
        ..update()
    };
    let expected =
        ["status_id 1 22", "captured_amount 0.00 4.50", "manager_id 3 4", "comment old -", "address - Lenina 1"];
    assert_eq!(reported(&update, &order), expected);
    assert_eq!((update.event(), update.is_empty(&order)), (OrderEvent::StatusChanged, false));
    assert_eq!((update.status(&order), update.detail()), (OrderStatus::Paid, None));
    assert_eq!(update.notices(), [(Notice::OrderPaid, Some(order.final_price))]);
}

#[test]
fn unchanged_values_give_an_empty_update() {
    let order = Order { comment: Some("old".to_owned()), ..an_order(OrderStatus::Created) };
    let comment = Edit::Set(Some(Prose::parse("old").unwrap()));
    let same = OrderUpdate { comment, manager: Edit::Set(None), ..update() };
    assert!(same.is_empty(&order));
    assert!(update().is_empty(&order));
    assert_eq!((update().notices(), update().status(&order)), (vec![], OrderStatus::Created));
    let other = OrderUpdate { comment: Edit::Set(Some(Prose::parse("new").unwrap())), ..update() };
    assert!(!other.is_empty(&order));
}

#[test]
fn money_taken_by_hand_is_paid() {
    let by_hand =
        Some(crate::change::ManualPayment { method: crate::change::ManualPaymentMethod::Cash, receipt: None });
    let captured = Some(Captured { amount: Money::from_minor(450).unwrap(), event: None });
    let update = OrderUpdate { captured, by_hand, ..update() };
    assert_eq!((update.event(), update.detail().as_deref()), (OrderEvent::Paid, Some("cash")));
    // An issued order stays issued, and the customer still gets the notice.
    assert_eq!(update.notices(), [(Notice::OrderPaid, Money::from_minor(450).ok())]);
    assert_eq!(reported(&update, &an_order(OrderStatus::Issued)), ["captured_amount 0.00 4.50"]);
}

#[test]
fn a_new_payment_is_marked_as_new() {
    let payment = a_payment(Money::from_minor(450).unwrap());
    let update = OrderUpdate { payment: Some(payment), ..update() };
    let order = an_order(OrderStatus::Created);
    assert_eq!((update.event(), update.is_empty(&order)), (OrderEvent::PaymentRenewed, false));
}

#[test]
fn other_lines_show_units_prices_and_totals() {
    let money = |minor| Money::from_minor(minor).unwrap();
    let order = Order { lines: vec![a_line(500)], ..an_order(OrderStatus::Created) };
    let old = &order.lines[0];
    let line = |id, pieces, minor| ChangedLine {
        id,
        item: old.item.id,
        name: String::new(),
        inventory: old.inventory,
        warehouse: None,
        quantity: Quantity::new(pieces).unwrap(),
        unit_price: money(minor),
        price: LinePrice { original: money(pieces * minor), product_discount: money(0), promo_discount: money(0) },
        vat: None,
        is_ticket: false,
        is_changed: true,
    };
    let rework = LineChangeSet {
        lines: vec![line(Some(old.id), 2, 500), line(None, 1, 600)],
        removed: Vec::new(),
        claims: Vec::new(),
        services: Vec::new(),
        totals: Totals {
            original_price: money(1_600),
            product_discount: money(0),
            promo_discount: money(0),
            final_price: money(1_600),
            delivery_price: money(0),
        },
        items: Vec::new(),
        automatic: AppliedDiscounts::default(),
        promo: PromoEffect::None,
        tickets: None,
    };
    let update = OrderUpdate { rework: Some(rework), ..update() };
    let expected = [
        "nomenclatures.1.quantity 1 3",
        "nomenclatures.1.price 5.00 5.00, 6.00",
        "original_price 5.00 16.00",
        "promo_discount_amount 0.50 0.00",
        "final_price 4.50 16.00",
    ];
    assert_eq!(reported(&update, &order), expected);
    assert_eq!((update.event(), update.notices()), (OrderEvent::LinesChanged, vec![(Notice::OrderChanged, None)]));
}

#[test]
fn a_refund_has_its_amount_and_units() {
    let line = ReservationId::new(1).unwrap();
    let returned =
        ReturnedLine { line, quantity: 1, amount: Money::from_minor(450).unwrap(), effect: ReturnEffect::Release };
    let decided =
        DecidedRefund { amount: returned.amount, delivery: Money::ZERO, lines: vec![returned], transition: None };
    let refund =
        Some(OrderedRefund { key: Uuid::nil(), decided, reason: "late".to_owned(), restock: true, ends_period: false });
    let update = OrderUpdate { refund, ..update() };
    let by_hand = Order { lines: vec![a_line(450)], ..an_order(OrderStatus::Paid) };
    assert_eq!(reported(&update, &by_hand), ["refunded_amount 0.00 4.50", "reservations.1.refunded_quantity 0 1"]);
    let online = Order { payment_method: Some(PaymentMethod::Sbp), ..by_hand };
    assert_eq!(reported(&update, &online), ["refunding_amount 0.00 4.50", "reservations.1.refunded_quantity 0 1"]);
    assert_eq!((update.event(), update.detail().as_deref()), (OrderEvent::RefundRequested, Some("4.50")));
}

#[test]
fn personal_values_can_be_removed() {
    let change = |field: &str| FieldChange { field: field.to_owned(), old: None, new: Some("x".to_owned()) };
    let left = without_personal_values(vec![change("status_id"), change("comment"), change("address")]);
    let values: Vec<_> = left.into_iter().map(|change| (change.field, change.new)).collect();
    let expected = [("status_id", Some("x")), ("comment", None), ("address", None)];
    assert_eq!(values, expected.map(|(field, new)| (field.to_owned(), new.map(str::to_owned))));
}
