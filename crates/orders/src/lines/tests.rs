use std::sync::{Arc, Mutex};

use chrono::DateTime;
use kontor_kernel::testing::{CountingRandom, staff_with};
use kontor_kernel::{
    DiscountTarget, DiscountValue, FixedClock, InventoryId, OrderId, Permission, ProjectId, ProjectScoped, Resource,
    Staff, Stamp, WarehouseId,
};
use kontor_payments::ChargeService;
use kontor_payments::model::{Charge, ChargePurpose, GatewayPayment, GatewayStatus, PaymentMethod, ProviderId};
use kontor_payments::ports::{Answer, MockChargeStore, MockPaymentGateway, Reading};
use kontor_payments::testing::samples;
use uuid::Uuid;

use super::*;
use crate::change::{OrderUpdate, PromoEffect};
use crate::model::testing::{a_discount, a_line, a_payment, an_order, goods, stock as place};
use crate::model::{Discount, Named, OrderLine, PreparedPayment, Promo, ReservationState};
use crate::placement::{CartSnapshot, OfferedItem};
use crate::ports::{Decision, MockCartReader, MockOrderReader, MockOrderStore};
use crate::refund::ReturnEffect;
use crate::{FewestWarehouses, OrderError, OrderRefusal, PaymentPage, PlacementService};

mod delivery;
mod previews;
mod recoveries;

fn money(minor: i64) -> Money {
    Money::from_minor(minor).unwrap()
}

fn pieces(quantity: i64) -> Quantity {
    Quantity::new(quantity).unwrap()
}

fn item(id: i64) -> NomenclatureId {
    NomenclatureId::new(id).unwrap()
}

fn line_id(id: i64) -> ReservationId {
    ReservationId::new(id).unwrap()
}

/// A line of an item from the warehouse of its stock level.
fn line(id: i64, of: i64, inventory: i64, quantity: i64, price: i64) -> OrderLine {
    OrderLine {
        id: line_id(id),
        item: Named { id: item(of), name: format!("Item {of}") },
        warehouse: Some(Named { id: WarehouseId::new(inventory).unwrap(), name: String::new() }),
        inventory: InventoryId::new(inventory).ok(),
        quantity: pieces(quantity),
        unit_price: money(price),
        total: money(price * quantity),
        ..a_line(price)
    }
}

fn order(status: OrderStatus, lines: Vec<OrderLine>) -> Order {
    let sum = money(lines.iter().map(|line| line.total.minor()).sum());
    let is_paid = status == OrderStatus::Paid;
    Order {
        original_price: sum,
        promo_discount: Money::ZERO,
        final_price: sum,
        captured: if is_paid { sum } else { Money::ZERO },
        promo_code: None,
        lines,
        ..an_order(status)
    }
}

fn snapshot(items: Vec<OfferedItem>) -> CartSnapshot {
    CartSnapshot { currency: "RUB".to_owned(), items, ..CartSnapshot::default() }
}

fn command(edit: LineEdit) -> LineCommand {
    LineCommand { edit, restock: None, reason: None }
}

fn set(line: i64, quantity: i64) -> LineEdit {
    LineEdit::Set { line: line_id(line), quantity: Some(pieces(quantity)), price: None }
}

fn at_price(line: i64, price: i64) -> LineEdit {
    LineEdit::Set { line: line_id(line), quantity: None, price: Some(money(price)) }
}

fn remove(line: i64) -> LineEdit {
    LineEdit::Remove { line: line_id(line) }
}

fn decided(order: &Order, snapshot: &CartSnapshot, edit: LineEdit) -> Result<Decided, OrderRefusal> {
    let items: Vec<_> = snapshot.items.iter().map(|item| item.id).collect();
    let terms = Terms {
        items: &items,
        allocation: &FewestWarehouses,
        key: Uuid::nil(),
        return_url: "https://shop.example",
        at: DateTime::UNIX_EPOCH,
    };
    decide(order, snapshot, &command(edit), &terms)
}

fn reworked(order: &Order, snapshot: &CartSnapshot, edit: LineEdit) -> crate::change::LineChangeSet {
    decided(order, snapshot, edit).unwrap().rework.unwrap()
}

/// Stock level and change of the claim on it.
fn claims(rework: &crate::change::LineChangeSet) -> Vec<(i64, i64)> {
    rework.claims.iter().map(|claim| (claim.inventory.get(), claim.pieces)).collect()
}

fn fields(refused: OrderRefusal) -> Vec<String> {
    match refused {
        OrderRefusal::Lines(LinesRefused::Invalid(wrong)) => wrong.fields().keys().cloned().collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_standing_allows_what_its_row_says() {
    for status in OrderStatus::ALL.iter().copied() {
        for paid in [false, true] {
            let paid_at = paid.then_some(DateTime::UNIX_EPOCH);
            let standing = EditMode::of(&Order { paid_at, ..an_order(status) });
            let expected = match (status.is_final(), paid) {
                (true, _) => Err(LinesRefused::Final(status)),
                (false, false) => Ok(EditMode::Unpaid),
                (false, true) => Ok(EditMode::Paid),
            };
            assert_eq!(standing, expected, "{status} {paid}");
        }
    }
    let returning = Order { refunding: money(1), ..an_order(OrderStatus::Paid) };
    assert_eq!(EditMode::of(&returning), Err(LinesRefused::RefundInProgress));
}

#[test]
fn only_what_changes_moves_stock() {
    let order = order(OrderStatus::Created, vec![line(1, 1, 1, 3, 100), line(2, 2, 5, 1, 50)]);
    let both = snapshot(vec![goods(1, vec![place(1, 100, 2)]), goods(2, vec![place(5, 50, 0)])]);
    let more = reworked(&order, &both, set(1, 5));
    assert_eq!((claims(&more), more.totals.final_price), (vec![(1, 2)], money(550)));
    assert_eq!(more.lines.iter().map(|line| line.is_changed).collect::<Vec<_>>(), [true, false]);
    let stamp = Stamp::of_system(ProjectId::new(1).unwrap(), DateTime::UNIX_EPOCH);
    let reported = OrderUpdate { rework: Some(more), ..OrderUpdate::of(stamp) }.changes(&order);
    let reported: Vec<_> =
        reported.iter().map(|change| (&*change.field, change.old.as_deref(), change.new.as_deref())).collect();
    let expected = ["nomenclatures.1.quantity 3 5", "original_price 3.50 5.50", "final_price 3.50 5.50"];
    let expected: Vec<_> = expected.iter().map(|line| line.split(' ').collect::<Vec<_>>()).collect();
    let expected: Vec<_> = expected.iter().map(|words| (words[0], Some(words[1]), Some(words[2]))).collect();
    assert_eq!(reported, expected);
    let fewer = reworked(&order, &both, set(1, 1));
    assert_eq!((claims(&fewer), fewer.totals.final_price), (vec![(1, -2)], money(150)));
    let gone = reworked(&order, &both, remove(2));
    assert_eq!((claims(&gone), gone.removed.clone(), gone.lines.len()), (vec![(5, -1)], vec![line_id(2)], 1));
    let cheaper = reworked(&order, &both, at_price(1, 90));
    assert_eq!((claims(&cheaper), cheaper.totals.final_price), (vec![], money(320)));
    assert!(decided(&order, &both, set(1, 3)).unwrap().is_empty());
    assert!(decided(&order, &both, at_price(2, 50)).unwrap().is_empty());
}

#[test]
fn more_pieces_come_from_where_the_line_comes_from_or_by_the_strategy() {
    let order = order(OrderStatus::Created, vec![line(1, 1, 1, 3, 100)]);
    let wide = snapshot(vec![goods(1, vec![place(1, 100, 1), place(2, 100, 9), place(3, 80, 9)])]);
    let one = reworked(&order, &wide, set(1, 4));
    assert_eq!((claims(&one), one.lines.len()), (vec![(1, 1)], 1));
    let two = reworked(&order, &wide, set(1, 5));
    // The cheapest that has both; other units cost the price of their stock level.
    assert_eq!((claims(&two), two.lines.len(), two.totals.original_price), (vec![(3, 2)], 2, money(460)));
    assert_eq!((two.lines[1].id, two.lines[1].unit_price), (None, money(80)));
    assert_eq!(fields(decided(&order, &wide, set(1, 23)).unwrap_err()), ["quantity"]);
    // Ordered units keep their price; added units cost the current price.
    let pricier = snapshot(vec![goods(1, vec![place(1, 120, 9)])]);
    let mixed = reworked(&order, &pricier, set(1, 4));
    let reported: Vec<_> = mixed.lines.iter().map(|line| (line.quantity.get(), line.unit_price.minor())).collect();
    assert_eq!((reported, claims(&mixed)), (vec![(3, 100), (1, 120)], vec![(1, 1)]));
    let named = LineEdit::Set { line: line_id(1), quantity: Some(pieces(4)), price: Some(money(110)) };
    let named = reworked(&order, &pricier, named);
    assert_eq!((named.lines.len(), named.totals.final_price), (1, money(440)));
    assert_eq!(named.claims[0].price, Some(money(120)), "the guard is the price of the stock");
}

#[test]
fn impossible_values_are_refused_by_name() {
    let order = order(OrderStatus::Created, vec![line(1, 1, 1, 3, 100)]);
    let known = snapshot(vec![goods(1, vec![place(1, 100, 9)]), goods(2, vec![place(2, 100, 1)]), goods(3, vec![])]);
    let add = |item_id, quantity| LineEdit::Add { item: item(item_id), quantity: pieces(quantity), price: None };
    assert_eq!(decided(&order, &known, remove(1)), Err(LinesRefused::LastLine.into()));
    assert_eq!(decided(&order, &known, remove(9)), Err(LinesRefused::UnknownLine.into()));
    assert_eq!(decided(&order, &known, set(9, 1)), Err(LinesRefused::UnknownLine.into()));
    for (edit, field) in [
        (add(1, 1), "nomenclature_id"),
        (add(3, 1), "nomenclature_id"),
        (add(7, 1), "nomenclature_id"),
        (add(2, 2), "quantity"),
        (at_price(1, 900_000_000_000), "quantity"),
    ] {
        assert_eq!(fields(decided(&order, &known, edit).unwrap_err()), [field], "{edit:?}");
    }
    let unsold = snapshot(vec![goods(1, vec![])]);
    assert_eq!(fields(decided(&order, &unsold, set(1, 4)).unwrap_err()), ["quantity"]);
    assert!(decided(&order, &unsold, set(1, 2)).is_ok(), "less of what is no longer sold");
    let added = reworked(&order, &known, add(2, 1));
    assert_eq!((added.lines.len(), claims(&added)), (2, vec![(2, 1)]));
}

fn code(version: u64, used: u64, minimum: i64) -> Promo {
    let discount = Discount {
        code: Some("SPRING".to_owned()),
        minimum_sum: money(minimum),
        usage_limit: Some(1),
        customer_limit: Some(1),
        used_count: used,
        version,
        ..a_discount(DiscountValue::Percent(1_000), DiscountTarget::Cart)
    };
    Promo { discount: Some(discount), used_by_customer: used }
}

#[test]
fn the_promo_code_of_an_order_counts_as_long_as_it_holds() {
    let order =
        Order { promo_code: Some("SPRING".to_owned()), ..order(OrderStatus::Created, vec![line(1, 1, 1, 3, 100)]) };
    let with = |promo| CartSnapshot { promo: Some(promo), ..snapshot(vec![goods(1, vec![place(1, 100, 9)])]) };
    // Its own use does not count against the limit.
    let kept = reworked(&order, &with(code(2, 1, 0)), set(1, 2));
    assert_eq!((kept.totals.promo_discount, kept.totals.final_price), (money(20), money(180)));
    assert!(matches!(kept.promo, PromoEffect::Keep(ref promo) if promo.version == 2));
    let lost = reworked(&order, &with(code(2, 1, 250)), set(1, 2));
    assert!(matches!(lost.promo, PromoEffect::Return(_)) && lost.totals.promo_discount.is_zero());
}

#[test]
fn less_of_a_paid_order_is_a_refund() {
    let paid = order(OrderStatus::Paid, vec![line(1, 1, 1, 3, 100), line(2, 2, 5, 1, 50)]);
    let nothing = CartSnapshot::default();
    let back = |edit| decided(&paid, &nothing, edit).unwrap().refund.unwrap();
    let fewer = back(set(1, 1));
    assert_eq!((fewer.amount, fewer.lines[0].quantity, fewer.lines[0].effect), (money(200), 2, ReturnEffect::Release));
    let cheaper = back(at_price(1, 90));
    assert_eq!(
        (cheaper.amount, cheaper.lines[0].quantity, cheaper.lines[0].effect),
        (money(30), 0, ReturnEffect::None)
    );
    let both = LineEdit::Set { line: line_id(1), quantity: Some(pieces(2)), price: Some(money(90)) };
    assert_eq!(back(both).amount, money(120));
    assert_eq!(back(remove(2)).amount, money(50));
    let add = LineEdit::Add { item: item(2), quantity: pieces(1), price: None };
    assert_eq!(fields(decided(&paid, &nothing, add).unwrap_err()), ["nomenclature_id"]);
    let more = LineEdit::Set { line: line_id(1), quantity: Some(pieces(4)), price: Some(money(101)) };
    assert_eq!(fields(decided(&paid, &nothing, more).unwrap_err()), ["price", "quantity"]);
    assert!(decided(&paid, &nothing, set(1, 3)).unwrap().is_empty());
    assert!(decided(&paid, &nothing, at_price(1, 100)).unwrap().is_empty());
    // Units that were taken back are not refunded again.
    let mut less = paid.clone();
    less.lines[0].refunded_quantity = 2;
    less.lines[0].refunded_amount = money(200);
    assert!(decided(&less, &nothing, set(1, 1)).unwrap().is_empty());
    assert_eq!(fields(decided(&less, &nothing, set(1, 2)).unwrap_err()), ["quantity"]);
    // A price that was lowered before is the same price.
    let mut lowered = paid;
    lowered.lines[0].refunded_amount = money(30);
    assert!(decided(&lowered, &nothing, at_price(1, 90)).unwrap().is_empty());
    assert_eq!(decided(&lowered, &nothing, at_price(1, 80)).unwrap().refund.unwrap().amount, money(30));
}

#[test]
fn the_lines_of_a_payment_of_a_subscription_stay_as_they_are() {
    for status in [OrderStatus::WaitingForPayment, OrderStatus::Paid, OrderStatus::Canceled] {
        let of_period = Order { is_recurring: true, ..order(status, vec![line(1, 1, 1, 1, 100)]) };
        let add = LineEdit::Add { item: item(2), quantity: pieces(1), price: None };
        for edit in [remove(1), set(1, 2), at_price(1, 50), add] {
            let refused = decided(&of_period, &CartSnapshot::default(), edit).unwrap_err();
            assert_eq!(refused, OrderRefusal::Lines(LinesRefused::Recurring), "{status} {edit:?}");
        }
    }
}

#[test]
fn a_lower_price_of_a_paid_line_keeps_its_discount_in_proportion() {
    let mut paid = order(OrderStatus::Paid, vec![line(1, 1, 1, 3, 100)]);
    paid.lines[0].product_discount = money(30);
    paid.lines[0].total = money(270);
    paid.captured = money(270);
    let refund = decided(&paid, &CartSnapshot::default(), at_price(1, 50)).unwrap().refund.unwrap();
    assert_eq!(refund.amount, money(135));
}

// The use case, with mocked ports.

fn online(open: bool) -> Order {
    Order {
        payment_method: Some(PaymentMethod::BankCard),
        payment_open: open,
        ..order(OrderStatus::WaitingForPayment, vec![line(1, 1, 1, 3, 100)])
    }
}

fn charge(order: &Order, provider: Option<&str>) -> Charge {
    let method = PaymentMethod::BankCard;
    let payment = PreparedPayment { method, ..a_payment(order.final_price) };
    let request = payment.request(order.id);
    let stored = samples::charge(request.purpose, request.amount);
    Charge { request, provider_id: provider.map(|id| ProviderId::parse(id).unwrap()), ..stored }
}

fn payment(charge: &Charge, status: GatewayStatus) -> GatewayPayment {
    let reason = (status == GatewayStatus::Canceled).then(|| "canceled_by_merchant".to_owned());
    GatewayPayment { reason, ..samples::payment_of(charge, status) }
}

struct LineFixture {
    carts: MockCartReader,
    store: MockOrderStore,
    orders: MockOrderReader,
    charges: MockChargeStore,
    gateway: MockPaymentGateway,
}

impl LineFixture {
    /// Finds these orders one after the other; the last one repeats.
    fn finding(mut found: Vec<Order>) -> Self {
        let (mut carts, mut orders) = (MockCartReader::new(), MockOrderReader::new());
        orders.expect_find().returning(move |_| {
            let order = if found.len() > 1 { found.remove(0) } else { found[0].clone() };
            Ok(Some(ProjectScoped::new(ProjectId::new(1).unwrap(), order)))
        });
        carts.expect_snapshot().returning(|_| Ok(snapshot(vec![goods(1, vec![place(1, 100, 9)])])));
        let (store, charges, gateway) = (MockOrderStore::new(), MockChargeStore::new(), MockPaymentGateway::new());
        Self { carts, store, orders, charges, gateway }
    }

    fn service(self) -> PlacementService {
        let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
        let random = Arc::new(CountingRandom::new());
        let charges = ChargeService {
            charges: Arc::new(self.charges),
            gateway: Arc::new(self.gateway),
            clock: clock.clone(),
            random: random.clone(),
        };
        PlacementService {
            carts: Arc::new(self.carts),
            store: Arc::new(self.store),
            orders: Arc::new(self.orders),
            charges: Arc::new(charges),
            clock,
            random,
            page: PaymentPage { return_url: "https://shop.example".to_owned() },
            allocation: Arc::new(FewestWarehouses),
        }
    }
}

fn editor() -> Staff {
    staff_with([Permission::edit(Resource::Orders)])
}

fn id() -> OrderId {
    OrderId::new(7).unwrap()
}

fn refusal<T: std::fmt::Debug>(outcome: Result<T, OrderError>) -> LinesRefused {
    match outcome {
        Err(OrderError::Refused(OrderRefusal::Lines(refused))) => refused,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_change_needs_the_permission_and_the_project() {
    let fixture = LineFixture::finding(vec![online(false)]);
    let idle = staff_with([Permission::view(Resource::Orders)]);
    let outcome = fixture.service().change_lines(&idle, id(), &command(set(1, 1))).await;
    assert!(matches!(outcome, Err(OrderError::Denied(_))), "{outcome:?}");
    let outcome =
        LineFixture::finding(vec![online(false)]).service().preview_lines(&idle, id(), &command(set(1, 1))).await;
    assert!(matches!(outcome, Err(OrderError::Denied(_))), "{outcome:?}");
    let elsewhere = Staff { project_id: ProjectId::new(2).unwrap(), ..editor() };
    let outcome =
        LineFixture::finding(vec![online(false)]).service().change_lines(&elsewhere, id(), &command(set(1, 1))).await;
    assert!(matches!(outcome, Err(OrderError::Denied(_))), "{outcome:?}");
}

#[tokio::test]
async fn an_open_payment_is_withdrawn_before_anything_changes() {
    let (before, after) = (online(true), online(false));
    let open = charge(&before, Some("pay-1"));
    let canceled = payment(&open, GatewayStatus::Canceled);
    let mut fixture = LineFixture::finding(vec![before, after.clone()]);
    let found = open.clone();
    let ours = |purpose: &ChargePurpose| *purpose == ChargePurpose::Order(id());
    fixture.charges.expect_open_for().withf(ours).once().returning(move |_| Ok(Some(found.clone())));
    fixture.gateway.expect_cancel().once().return_const(Answer::Known(canceled));
    fixture.charges.expect_record().returning(|_, _, _| Ok(kontor_payments::change::Change::Done));
    let seen = Arc::new(Mutex::new(Vec::<OrderUpdate>::new()));
    let (kept, locked) = (seen.clone(), after);
    fixture.store.expect_change().once().returning(move |_, decide: Decision| {
        let update = decide(ProjectScoped::new(ProjectId::new(1).unwrap(), locked.clone()))?;
        kept.lock().unwrap().push(update);
        Ok(Some(open.clone()))
    });
    fixture.gateway.expect_create().once().return_const(Answer::Unknown { why: "late".to_owned(), retry_after: None });
    let outcome = fixture.service().change_lines(&editor(), id(), &command(set(1, 2))).await.unwrap();
    assert!(matches!(outcome, LinesChanged::PaymentOutcomeUnknown(_)), "{outcome:?}");
    let seen = seen.lock().unwrap();
    assert_eq!(seen[0].payment.as_ref().map(|payment| payment.amount), Some(money(200)));
}

#[tokio::test]
async fn a_payment_that_stays_open_or_is_not_known_refuses_the_change() {
    let order = online(true);
    let known = charge(&order, Some("pay-1"));
    let refused = || Answer::Refused { code: "invalid_request".to_owned(), description: "autocapture".to_owned() };
    let lost = || Answer::Unknown { why: "time-out".to_owned(), retry_after: None };
    for (answer, expected) in [(refused(), LinesRefused::PaymentOpen), (lost(), LinesRefused::PaymentOutcomeUnknown)] {
        let mut fixture = LineFixture::finding(vec![order.clone()]);
        let found = known.clone();
        fixture.charges.expect_open_for().returning(move |_| Ok(Some(found.clone())));
        fixture.gateway.expect_cancel().once().return_const(answer);
        fixture.gateway.expect_read().return_const(Reading::Known(payment(&known, GatewayStatus::Pending)));
        fixture.charges.expect_record().returning(|_, _, _| Ok(kontor_payments::change::Change::Done));
        assert_eq!(refusal(fixture.service().change_lines(&editor(), id(), &command(set(1, 2))).await), expected);
    }
    let unnotified = charge(&order, None);
    let mut fixture = LineFixture::finding(vec![order.clone()]);
    let found = unnotified.clone();
    fixture.charges.expect_open_for().returning(move |_| Ok(Some(found.clone())));
    let outcome = fixture.service().change_lines(&editor(), id(), &command(set(1, 2))).await;
    assert_eq!(refusal(outcome), LinesRefused::PaymentOutcomeUnknown);
    let mut fixture = LineFixture::finding(vec![order]);
    fixture.charges.expect_open_for().returning(move |_| Ok(Some(unnotified.clone())));
    let outcome = fixture.service().preview_lines(&editor(), id(), &command(set(1, 2))).await;
    assert_eq!(refusal(outcome), LinesRefused::PaymentOutcomeUnknown);
}

#[tokio::test]
async fn an_order_that_was_paid_meanwhile_is_not_refunded_unasked() {
    let before = order(OrderStatus::Created, vec![line(1, 1, 1, 3, 100)]);
    let paid = order(OrderStatus::Paid, before.lines.clone());
    let mut fixture = LineFixture::finding(vec![before]);
    fixture.store.expect_change().once().returning(move |_, decide: Decision| {
        decide(ProjectScoped::new(ProjectId::new(1).unwrap(), paid.clone())).map(|_| None)
    });
    let outcome = fixture.service().change_lines(&editor(), id(), &command(set(1, 1))).await;
    assert_eq!(refusal(outcome), LinesRefused::ChangedMeanwhile);
}

#[tokio::test]
async fn unresolved_data_changes_end_in_an_error() {
    let order = order(OrderStatus::Created, vec![line(1, 1, 1, 3, 100)]);
    let mut fixture = LineFixture::finding(vec![order.clone()]);
    fixture.store.expect_change().times(6).returning(|_, _| Err(OrderRefusal::from(LinesRefused::Stale).into()));
    let outcome = fixture.service().change_lines(&editor(), id(), &command(set(1, 1))).await;
    assert_eq!(refusal(outcome), LinesRefused::Stale);
    let fixture = LineFixture::finding(vec![order.clone()]);
    let outcome = fixture.service().change_lines(&editor(), id(), &command(set(1, 3))).await;
    assert_eq!(outcome.unwrap(), LinesChanged::Done(order));
}

#[tokio::test]
async fn a_refund_says_why_and_whether_the_goods_come_back() {
    let paid = order(OrderStatus::Paid, vec![line(1, 1, 1, 3, 100)]);
    let mut fixture = LineFixture::finding(vec![paid.clone()]);
    let seen = Arc::new(Mutex::new(Vec::<OrderUpdate>::new()));
    let kept = seen.clone();
    fixture.store.expect_change().once().returning(move |_, decide: Decision| {
        let update = decide(ProjectScoped::new(ProjectId::new(1).unwrap(), paid.clone()))?;
        kept.lock().unwrap().push(update);
        Ok(None)
    });
    let reason = Line::parse("too many").ok();
    let command = LineCommand { restock: Some(false), reason, ..command(set(1, 1)) };
    fixture.service().change_lines(&editor(), id(), &command).await.unwrap();
    let seen = seen.lock().unwrap();
    let refund = seen[0].refund.as_ref().unwrap();
    assert_eq!((refund.reason.as_str(), refund.restock), ("too many", false));
    assert_eq!(refund.decided.lines[0].effect, ReturnEffect::WriteOff);
    assert!(seen[0].rework.is_none() && seen[0].payment.is_none());
    assert_eq!(ReservationState::Held, a_line(1).state);
}

#[tokio::test]
async fn a_payment_that_was_withdrawn_in_vain_is_requested_again() {
    let (before, after) = (online(true), online(false));
    let open = charge(&before, Some("pay-1"));
    let mut fixture = LineFixture::finding(vec![before, after.clone()]);
    let (found, canceled) = (open.clone(), payment(&open, GatewayStatus::Canceled));
    fixture.charges.expect_open_for().once().returning(move |_| Ok(Some(found.clone())));
    fixture.gateway.expect_cancel().once().return_const(Answer::Known(canceled));
    fixture.charges.expect_record().returning(|_, _, _| Ok(kontor_payments::change::Change::Done));
    let mut commits = 0;
    fixture.store.expect_change().times(2).returning(move |_, decide: Decision| {
        commits += 1;
        if commits == 1 {
            return Err(OrderRefusal::from(LinesRefused::CustomerDeleted).into());
        }
        let update = decide(ProjectScoped::new(ProjectId::new(1).unwrap(), after.clone()))?;
        assert_eq!((update.rework, update.payment.map(|payment| payment.amount)), (None, Some(money(300))));
        Ok(Some(open.clone()))
    });
    fixture.gateway.expect_create().once().return_const(Answer::Unknown { why: "late".to_owned(), retry_after: None });
    let outcome = fixture.service().change_lines(&editor(), id(), &command(set(1, 2))).await;
    assert_eq!(refusal(outcome), LinesRefused::CustomerDeleted);
}

#[test]
fn an_edit_names_its_line() {
    assert_eq!((set(1, 2).line(), remove(2).line()), (Some(line_id(1)), Some(line_id(2))));
    assert_eq!(LineEdit::Add { item: item(1), quantity: pieces(1), price: None }.line(), None);
}
