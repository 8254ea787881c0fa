use kontor_kernel::Word as _;
use kontor_payments::model::RefundIntent;
use proptest::prelude::*;
use uuid::Uuid;

use super::decide::external_refund;
use super::*;
use crate::charge_outcome::EffectEntry;
use crate::model::testing::{a_line, order_of};
use crate::model::{
    DeliveryCharge, Notice, Order, OrderEvent, OrderLine, OrderRefundState, OrderStatus, ReservationState,
};
use crate::tickets::Tickets;

fn money(minor: i64) -> Money {
    Money::from_minor(minor).unwrap()
}

fn line(id: i64, quantity: u32, total: i64) -> OrderLine {
    let (id, quantity) = (ReservationId::new(id).unwrap(), Quantity::new(quantity.into()).unwrap());
    OrderLine { id, quantity, ..a_line(total) }
}

fn paid(lines: Vec<OrderLine>) -> Order {
    order_of(OrderStatus::Paid, lines)
}

/// The same order with a delivery that was paid with it.
fn delivered(order: Order, minor: i64) -> Order {
    let captured = order.captured.checked_add(money(minor)).unwrap();
    Order { delivery_charge: DeliveryCharge { price: money(minor), vat: None }, captured, ..order }
}

/// A refund of these units, of this amount, or of everything if neither is given.
fn command(lines: &[(i64, i64)], amount: Option<i64>) -> RefundCommand {
    let line = |(id, quantity): &(i64, i64)| RefundLine {
        line: ReservationId::new(*id).unwrap(),
        quantity: Quantity::new(*quantity).unwrap(),
    };
    let lines = (!lines.is_empty()).then(|| lines.iter().map(line).collect());
    let everything = lines.is_none() && amount.is_none();
    RefundCommand {
        scope: RefundScope::of(everything, false, lines, amount.map(money)).unwrap(),
        reason: Line::parse("broken").unwrap(),
        restock: true,
        ends_period: false,
    }
}

/// The order after a refund.
fn after(mut order: Order, refund: &DecidedRefund) -> Order {
    for back in &refund.lines {
        let line = order.lines.iter_mut().find(|line| line.id == back.line).unwrap();
        line.refunded_quantity += back.quantity;
        line.refunded_amount = line.refunded_amount.checked_add(back.amount).unwrap();
    }
    order.refunding = order.refunding.checked_add(refund.amount).unwrap();
    order
}

#[test]
fn pieces_cost_what_was_allotted_to_them() {
    let mut order = paid(vec![line(1, 3, 1_000), line(2, 1, 500)]);
    let mut given = Vec::new();
    for _ in 0..3 {
        let refund = decide(&order, &command(&[(1, 1)], None)).unwrap();
        given.push(refund.amount.minor());
        order = after(order, &refund);
    }
    assert_eq!(given, [334, 333, 333]);
    let refused = decide(&order, &command(&[(1, 1)], None)).unwrap_err();
    assert_eq!(refused, RefundRefused::Lines(vec![(0, RefundProblem::TooMany { left: 0 })]));
}

#[test]
fn everything_is_asked_for_by_name() {
    let lines = || Some(vec![RefundLine { line: ReservationId::new(1).unwrap(), quantity: Quantity::ONE }]);
    assert_eq!(RefundScope::of(true, false, None, None), Ok(RefundScope::Everything));
    for (everything, lines, amount, refused, field) in [
        (false, None, None, RefundRefused::ScopeMissing, "everything"),
        (false, Some(vec![]), None, RefundRefused::NoLines, "lines"),
        (false, Some(vec![]), Some(money(100)), RefundRefused::NoLines, "lines"),
        (true, Some(vec![]), None, RefundRefused::ScopeContradicted, "everything"),
        (true, lines(), None, RefundRefused::ScopeContradicted, "everything"),
        (true, None, Some(money(100)), RefundRefused::ScopeContradicted, "everything"),
    ] {
        let outcome = RefundScope::of(everything, false, lines, amount).unwrap_err();
        assert_eq!(outcome.violations().fields().keys().collect::<Vec<_>>(), [field]);
        assert_eq!(outcome, refused);
    }
    let order = paid(vec![line(1, 3, 1_000)]);
    let scope = RefundScope::Lines { lines: vec![], amount: None };
    assert_eq!(decide(&order, &RefundCommand { scope, ..command(&[], None) }), Err(RefundRefused::NoLines));
}

#[test]
fn a_full_refund_cancels_the_order() {
    let order = paid(vec![line(1, 3, 1_000), line(2, 1, 0)]);
    let refund = decide(&order, &command(&[], None)).unwrap();
    assert_eq!((refund.amount, refund.lines.len()), (money(1_000), 2));
    assert_eq!(refund.transition.map(|step| step.to), Some(OrderStatus::Canceled));
    let order = after(order, &refund);
    assert_eq!(decide(&order, &command(&[], None)), Err(RefundRefused::NothingLeft));
    assert_eq!(decide(&order, &command(&[], Some(1))), Err(RefundRefused::NothingLeft));
    assert_eq!(remaining_refund(&order), Ok(None));
    assert_eq!(decide(&order, &command(&[], Some(0))), Err(RefundRefused::ZeroAmount));
}

#[test]
fn money_alone_leaves_the_goods_and_the_order() {
    let order = paid(vec![line(1, 3, 1_000), line(2, 1, 500)]);
    let refund = decide(&order, &command(&[], Some(150))).unwrap();
    let lines: Vec<_> = refund.lines.iter().map(|line| (line.quantity, line.amount.minor(), line.effect)).collect();
    assert_eq!(lines, [(0, 100, ReturnEffect::None), (0, 50, ReturnEffect::None)]);
    let whole = decide(&order, &command(&[], Some(1_500))).unwrap();
    assert_eq!((refund.transition, whole.transition), (None, None));
    let refused = decide(&after(order, &refund), &command(&[], Some(1_351))).unwrap_err();
    assert_eq!(refused, RefundRefused::ExceedsPaid { left: money(1_350) });
    assert_eq!(refused.violations().fields().keys().collect::<Vec<_>>(), ["amount"]);
}

#[test]
fn pieces_may_go_back_for_less_but_not_for_more() {
    let order = paid(vec![line(1, 2, 1_000), line(2, 1, 500)]);
    let refund = decide(&order, &command(&[(1, 1), (2, 1)], Some(600))).unwrap();
    assert_eq!(refund.lines.iter().map(|line| line.amount.minor()).collect::<Vec<_>>(), [300, 300]);
    let refused = decide(&order, &command(&[(1, 1), (2, 1)], Some(1_001))).unwrap_err();
    assert_eq!(refused, RefundRefused::ExceedsLines { most: money(1_000) });
}

#[test]
fn all_errors_are_reported_together() {
    let order = paid(vec![line(1, 2, 1_000)]);
    let refused = decide(&order, &command(&[(1, 3), (9, 1), (1, 1), (1, 1)], None)).unwrap_err();
    let fields: Vec<_> = refused.violations().fields().keys().cloned().collect();
    assert_eq!(fields, ["lines.0.quantity", "lines.1.id", "lines.2.id", "lines.3.id"]);
    let unpaid = Order { captured: Money::ZERO, ..order };
    assert_eq!(decide(&unpaid, &command(&[], None)), Err(RefundRefused::NotPaid));
}

#[test]
fn the_effect_on_units_depends_on_their_location() {
    let effect = |state, restock, warehouse: bool| {
        let mut order = paid(vec![OrderLine { state, ..line(1, 1, 100) }]);
        if !warehouse {
            order.lines[0].warehouse = None;
        }
        decide(&order, &RefundCommand { restock, ..command(&[], None) }).unwrap().lines[0].effect
    };
    assert_eq!(effect(ReservationState::Held, true, true), ReturnEffect::Release);
    assert_eq!(effect(ReservationState::Held, false, true), ReturnEffect::WriteOff);
    assert_eq!(effect(ReservationState::Sold, true, true), ReturnEffect::Restock);
    assert_eq!(effect(ReservationState::Sold, false, true), ReturnEffect::None);
    assert_eq!(effect(ReservationState::Held, true, false), ReturnEffect::None);
}

#[test]
fn a_hand_over_is_final() {
    let lines = vec![OrderLine { state: ReservationState::Sold, ..line(1, 1, 100) }];
    let order = Order { status: OrderStatus::Issued, ..paid(lines) };
    let refund = decide(&order, &command(&[], None)).unwrap();
    assert_eq!((refund.amount, refund.transition), (money(100), None));
}

/// A refund of the delivery with these units.
fn with_delivery(pieces: &[(i64, i64)]) -> RefundCommand {
    let lines = match command(pieces, None).scope {
        RefundScope::Lines { lines, .. } => Some(lines),
        _ => None,
    };
    RefundCommand { scope: RefundScope::of(false, true, lines, None).unwrap(), ..command(&[], None) }
}

#[test]
fn lines_leave_the_delivery_unless_it_is_asked_for() {
    let order = delivered(paid(vec![line(1, 2, 1_000)]), 300);
    let parts = |refund: &DecidedRefund| (refund.amount.minor(), refund.delivery.minor());
    let pieces = decide(&order, &command(&[(1, 2)], None)).unwrap();
    // All goods and their money are returned; the delivery price is kept, so the order does not move.
    assert_eq!((parts(&pieces), pieces.transition), ((1_000, 0), None));
    let kept = after(order.clone(), &pieces);
    assert_eq!(kept.left_to_refund(), money(300));
    let last = decide(&kept, &with_delivery(&[])).unwrap();
    assert_eq!((parts(&last), last.lines.len()), ((300, 300), 0));
    assert_eq!(last.transition.map(|step| step.to), Some(OrderStatus::Canceled));
    assert_eq!(decide(&after(kept, &last), &with_delivery(&[])), Err(RefundRefused::NoDelivery));
    let both = decide(&order, &with_delivery(&[(1, 2)])).unwrap();
    assert_eq!((parts(&both), both.transition.map(|step| step.to)), ((1_300, 300), Some(OrderStatus::Canceled)));
    let part = decide(&order, &with_delivery(&[(1, 1)])).unwrap();
    assert_eq!((parts(&part), part.transition), ((800, 300), None));
    let whole = decide(&order, &command(&[], None)).unwrap();
    assert_eq!(parts(&whole), (1_300, 300));
    assert_eq!(parts(&remaining_refund(&order).unwrap().unwrap()), (1_300, 300));
    assert_eq!(parts(&external_refund(&order, money(130)).unwrap()), (130, 30));
    assert_eq!(decide(&order, &command(&[], Some(1_301))), Err(RefundRefused::ExceedsPaid { left: money(1_300) }));
}

#[test]
fn a_refund_made_at_the_acquirer_returns_money_alone() {
    let order = Order { refunded: money(100), ..paid(vec![line(1, 2, 1_000)]) };
    let made = |minor| RefundIntent::new(Uuid::from_u128(5), money(minor), "Refunded at the acquirer.".to_owned());
    let OutsideRefund { refund, entry } = outside_refund(&order, &made(300).unwrap()).unwrap();
    assert_eq!((refund.key, refund.reason.as_str()), (Uuid::from_u128(5), "Refunded at the acquirer."));
    assert_eq!((refund.decided.amount, refund.decided.transition), (money(300), None));
    assert!(!refund.restock && !refund.ends_period && refund.decided.lines.iter().all(|line| line.quantity == 0));
    assert_eq!((entry.event, entry.status), (OrderEvent::Refunded, OrderStatus::Paid));
    assert_eq!(entry.detail.as_deref(), Some("3.00, made at the acquirer"));
    assert_eq!(changes(&entry), [("refunded_amount", "1.00", "4.00")]);
    let refused = outside_refund(&order, &made(901).unwrap()).unwrap_err();
    assert_eq!(refused, RefundRefused::ExceedsPaid { left: money(900) });
}

#[test]
fn the_outcome_of_a_refund_is_in_the_history() {
    let settled = |state, refunded| SettledRefund {
        amount: money(300),
        state,
        status: OrderStatus::Paid,
        refunding: money(50),
        refunded: money(refunded),
    };
    let gone = settled(OrderRefundState::Succeeded, 400);
    assert_eq!((gone.notice(), gone.entry().event), (Some(Notice::OrderRefunded), OrderEvent::Refunded));
    let expected = [("refunding_amount", "3.50", "0.50"), ("refunded_amount", "1.00", "4.00")];
    assert_eq!(changes(&gone.entry()), expected);
    let failed = settled(OrderRefundState::Failed, 100);
    assert_eq!((failed.notice(), failed.entry().event), (None, OrderEvent::RefundFailed));
    assert_eq!(changes(&failed.entry()), [("refunding_amount", "3.50", "0.50")]);
    assert_eq!(failed.entry().detail.as_deref(), Some("3.00"));
}

fn changes(entry: &EffectEntry) -> Vec<(&str, &str, &str)> {
    let values = entry.changes.iter().map(|change| (change.old.as_deref().unwrap(), change.new.as_deref().unwrap()));
    entry.changes.iter().zip(values).map(|(change, (old, new))| (&*change.field, old, new)).collect()
}

#[test]
fn the_delivery_is_asked_for_without_an_amount_and_only_where_it_was_paid() {
    let lines = || Some(vec![RefundLine { line: ReservationId::new(1).unwrap(), quantity: Quantity::ONE }]);
    for (everything, lines, amount, refused, field) in [
        (false, None, Some(money(100)), RefundRefused::DeliveryWithAmount, "delivery"),
        (false, lines(), Some(money(100)), RefundRefused::DeliveryWithAmount, "delivery"),
        (false, Some(vec![]), None, RefundRefused::NoLines, "lines"),
        (true, None, None, RefundRefused::ScopeContradicted, "everything"),
    ] {
        let outcome = RefundScope::of(everything, true, lines, amount).unwrap_err();
        assert_eq!(outcome.violations().fields().keys().collect::<Vec<_>>(), [field]);
        assert_eq!(outcome, refused);
    }
    let order = paid(vec![line(1, 2, 1_000)]);
    assert_eq!(decide(&order, &with_delivery(&[(1, 1)])), Err(RefundRefused::NoDelivery));
    assert_eq!(RefundRefused::NoDelivery.violations().fields().keys().collect::<Vec<_>>(), ["delivery"]);
    let sold = vec![OrderLine { state: ReservationState::Sold, ..line(1, 1, 100) }];
    let unpaid =
        Order { captured: Money::ZERO, paid_at: None, status: OrderStatus::Issued, ..delivered(paid(sold), 300) };
    assert_eq!(decide(&unpaid, &with_delivery(&[(1, 1)])), Err(RefundRefused::NotPaid));
    let back = decide(&unpaid, &command(&[], None)).unwrap();
    assert_eq!((back.amount, back.transition.map(|step| step.to)), (Money::ZERO, Some(OrderStatus::Canceled)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100_000))]

    /// Partial refunds in any order sum up to exactly the paid amount, and never exceed it on the way.
    #[test]
    fn all_parts_together_are_what_was_paid(
        lines in prop::collection::vec((1..20_u32, 0..100_000_i64), 1..4),
        steps in prop::collection::vec((0..5_usize, 1..20_i64, prop::option::of(0..50_000_i64)), 0..7),
        delivery in prop_oneof![Just(0), 1..50_000_i64],
    ) {
        let lines = (1..).zip(lines).map(|(id, (quantity, total))| line(id, quantity, total)).collect();
        let mut order = delivered(paid(lines), delivery);
        prop_assume!(!order.captured.is_zero());
        for (index, quantity, amount) in steps {
            let wanted = match order.lines.get(index) {
                Some(line) => command(&[(line.id.get(), quantity)], amount),
                None if index == 4 => with_delivery(&[]),
                None => command(&[], amount),
            };
            let left = order.left_to_refund();
            let Ok(refund) = decide(&order, &wanted) else { continue };
            prop_assert!(refund.amount <= left);
            let delivery_left = order.delivery_left();
            prop_assert!(refund.delivery <= delivery_left);
            order = after(order, &refund);
            prop_assert_eq!(order.delivery_left(), delivery_left.saturating_sub(refund.delivery));
            for line in &order.lines {
                prop_assert!(line.refunded_quantity <= line.quantity.get() && line.refunded_amount <= line.total);
            }
        }
        if let Ok(rest) = decide(&order, &command(&[], None)) {
            order = after(order, &rest);
        }
        prop_assert_eq!(order.refunding, order.captured);
        prop_assert_eq!(order.delivery_left(), Money::ZERO);
        prop_assert!(order.lines.iter().all(|line| line.refunded_amount == line.total && line.units_left() == 0));
    }
}

#[test]
fn tickets_that_were_redeemed_do_not_go_back() {
    let tickets = |redeemed| Tickets { total: 3, redeemed, ..Tickets::default() };
    let ticket = OrderLine { is_ticket: true, ..line(1, 3, 300) };
    let order = Order { tickets: tickets(2), ..paid(vec![ticket, line(2, 1, 500)]) };
    let refused = |order: &Order, asked| decide(order, &command(asked, None)).unwrap_err();
    assert_eq!(refused(&order, &[(1, 2)]), RefundRefused::TicketsRedeemed { left: 1 });
    assert_eq!(refused(&order, &[]), RefundRefused::TicketsRedeemed { left: 1 });
    assert_eq!(refused(&order, &[]).violations().fields().keys().collect::<Vec<_>>(), ["lines"]);
    assert_eq!(decide(&order, &command(&[(1, 1), (2, 1)], None)).unwrap().amount, money(600));
    // Their money can.
    assert_eq!(decide(&order, &command(&[], Some(800))).unwrap().amount, money(800));
    let spent = Order { tickets: tickets(3), ..order };
    assert_eq!(refused(&spent, &[(1, 1)]), RefundRefused::TicketsRedeemed { left: 0 });
    assert_eq!(decide(&spent, &command(&[(2, 1)], None)).unwrap().amount, money(500));
}

#[test]
fn a_refund_of_a_part_has_a_receipt_about_the_part() {
    use kontor_payments::model::{
        PaymentMode, PaymentSubject, Receipt, ReceiptContact, ReceiptItem, ReceiptLine, VatCode,
    };
    let vat = VatCode::new(2).unwrap();
    let taxed = |line: OrderLine| OrderLine { vat: Some(vat), ..line };
    let service = OrderLine { warehouse: None, ..line(2, 1, 500) };
    let order = paid(vec![taxed(line(1, 3, 900)), taxed(service)]);
    let item = |quantity: i64, total| ReceiptItem {
        name: "Tea".to_owned(),
        quantity: Quantity::new(quantity).unwrap(),
        total: money(total),
        vat,
        subject: PaymentSubject::Commodity,
        mode: PaymentMode::FullPrepayment,
    };
    let customer = ReceiptContact::Phone(kontor_kernel::Phone::parse("79001234567").unwrap());
    let whole = Receipt::new(customer, None, &[item(3, 900), item(1, 500)], money(1_400)).unwrap();
    let reported = |order: &Order, asked: &RefundCommand| {
        let refund = decide(order, asked).unwrap();
        let receipt = receipt_of(order, &refund, &whole).unwrap()?;
        let brief = |line: &ReceiptLine| (line.quantity(), line.price().minor(), line.subject(), line.mode());
        Some(receipt.lines().iter().map(brief).collect::<Vec<_>>())
    };
    let (goods, services) = (PaymentSubject::Commodity, PaymentSubject::Service);
    let (before, full) = (PaymentMode::FullPrepayment, PaymentMode::FullPayment);
    let pieces = command(&[(1, 2), (2, 1)], None);
    assert_eq!(reported(&order, &command(&[], None)), None, "the receipt of the payment tells it all");
    assert_eq!(reported(&order, &pieces), Some(vec![(2, 300, goods, before), (1, 500, services, before)]));
    // The delivery is one more service, named by its type.
    let mut brought = delivered(order.clone(), 300);
    brought.delivery_type.name = "Courier".to_owned();
    brought.delivery_charge.vat = Some(vat);
    let refund = decide(&brought, &with_delivery(&[(1, 1)])).unwrap();
    let receipt = receipt_of(&brought, &refund, &whole).unwrap().unwrap();
    let names: Vec<_> =
        receipt.lines().iter().map(|line| (line.description(), line.price().minor(), line.subject())).collect();
    assert_eq!(names[1], ("Courier", 300, services));
    assert_eq!(receipt.total(), money(600));
    // Issued items are no longer a prepayment.
    let mut sold = order.clone();
    sold.lines[0].state = ReservationState::Sold;
    assert_eq!(reported(&sold, &pieces), Some(vec![(2, 300, goods, full), (1, 500, services, before)]));
    // A line with unknown VAT is printed by its share of the payment.
    for (mut old, mode) in [(order, before), (sold, full)] {
        old.lines[1].vat = None;
        let share = reported(&old, &pieces).unwrap();
        let total: i64 = share.iter().map(|(quantity, price, ..)| i64::from(*quantity) * price).sum();
        assert_eq!(total, 1_100);
        assert!(share.iter().all(|line| line.3 == mode), "{share:?}");
    }
}

#[test]
fn a_period_ends_only_with_all_of_its_money() {
    let order = paid(vec![line(1, 2, 1_000)]);
    let ending = |asked: RefundCommand| decide(&order, &RefundCommand { ends_period: true, ..asked });
    assert_eq!(ending(command(&[(1, 1)], None)), Err(RefundRefused::PeriodKept));
    assert_eq!(ending(command(&[], None)).unwrap().amount, money(1_000));
    assert_eq!(ending(command(&[], Some(1_000))).unwrap().amount, money(1_000));
}

#[test]
fn pieces_without_money_can_go_back_and_all_of_it_is_no_more() {
    let order = paid(vec![line(1, 2, 1_000), line(2, 1, 0)]);
    let free = decide(&order, &command(&[(2, 1)], None)).unwrap();
    assert_eq!((free.amount, free.lines.len()), (Money::ZERO, 1));
    let exact = decide(&order, &command(&[(1, 2)], Some(1_000))).unwrap();
    assert_eq!(exact.amount, money(1_000));
    let whole = remaining_refund(&order).unwrap().unwrap();
    assert_eq!(
        (whole.amount, whole.lines.iter().map(|line| line.effect).collect::<Vec<_>>()),
        (money(1_000), vec![ReturnEffect::Release; 2])
    );
}

#[test]
fn unwanted_money_goes_back_without_goods_that_cannot_and_never_stays_silently() {
    let ticket = OrderLine { is_ticket: true, ..line(1, 2, 1_000) };
    let tickets = Tickets { total: 2, redeemed: 1, ..Tickets::default() };
    let entered = Order { tickets, ..paid(vec![ticket]) };
    let back = remaining_refund(&entered).unwrap().unwrap();
    assert_eq!((back.amount, back.lines[0].quantity, back.transition), (money(1_000), 0, None));
    let order = paid(vec![line(1, 2, 1_000)]);
    let less = Order { refunding: money(300), ..order.clone() };
    assert_eq!(remaining_refund(&less).unwrap().unwrap().amount, money(700));
    // More money than the lines account for: staff must check it.
    let more = Order { captured: money(1_200), ..order };
    assert_eq!(remaining_refund(&more), Err(RefundRefused::ExceedsLines { most: money(1_000) }));
}

#[test]
fn an_unpaid_issued_order_is_returned_whole_and_canceled() {
    let sold = |line: OrderLine| OrderLine { state: ReservationState::Sold, ..line };
    let issued = Order {
        captured: Money::ZERO,
        paid_at: None,
        status: OrderStatus::Issued,
        ..paid(vec![sold(line(1, 3, 1_000)), sold(line(2, 1, 500))])
    };
    for lines in [&[][..], &[(1, 3), (2, 1)][..]] {
        let back = decide(&issued, &command(lines, None)).unwrap();
        let reported: Vec<_> = back.lines.iter().map(|line| (line.quantity, line.amount, line.effect)).collect();
        assert_eq!(reported, [(3, Money::ZERO, ReturnEffect::Restock), (1, Money::ZERO, ReturnEffect::Restock)]);
        assert_eq!((back.amount, back.transition.map(|step| step.to)), (Money::ZERO, Some(OrderStatus::Canceled)));
    }
    assert_eq!(decide(&issued, &command(&[(1, 3)], None)), Err(RefundRefused::WholeOnly));
    assert_eq!(RefundRefused::WholeOnly.violations().fields().keys().collect::<Vec<_>>(), ["lines"]);
    assert_eq!(decide(&issued, &command(&[], Some(100))), Err(RefundRefused::NotPaid));
    let period = RefundCommand { ends_period: true, ..command(&[], None) };
    assert_eq!(decide(&issued, &period), Err(RefundRefused::NoPeriod));
    // Before the handover it is canceled instead; a canceled order has nothing left.
    let created = Order { status: OrderStatus::Created, ..issued.clone() };
    assert_eq!(decide(&created, &command(&[], None)), Err(RefundRefused::NotPaid));
    let canceled = Order { status: OrderStatus::Canceled, ..issued };
    assert_eq!(decide(&canceled, &command(&[], None)), Err(RefundRefused::NotPaid));
}

#[test]
fn rustdoc_shows_the_effect_on_the_goods() {
    let rows = include_str!("mod.rs").lines().filter_map(|line| line.strip_prefix("/// | ")).skip(1);
    let row = |state: &ReservationState| {
        let line = OrderLine { state: *state, ..a_line(100) };
        let effect = |restock| returned(&line, 1, Money::ZERO, restock).effect;
        format!("`{}` | `{:?}` | `{:?}` |", state.word(), effect(true), effect(false))
    };
    assert_eq!(rows.collect::<Vec<_>>(), ReservationState::all().iter().map(row).collect::<Vec<_>>());
}
