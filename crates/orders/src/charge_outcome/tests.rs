use std::convert::Infallible;

use kontor_kernel::Word as _;
use kontor_payments::model::{
    ChargePurpose, ChargeRequest, PaymentMode, PaymentSubject, ProviderId, Receipt, ReceiptContact, ReceiptItem,
    VatCode,
};
use kontor_payments::testing::samples;

use super::*;
use crate::model::testing::{a_line, an_order};
use crate::model::{OrderLine, ReservationState, StockEffect};

const AT: DateTime<Utc> = DateTime::UNIX_EPOCH;

fn project() -> ProjectId {
    ProjectId::new(1).unwrap()
}

fn money(text: &str) -> Money {
    text.parse().unwrap()
}

fn locked(status: OrderStatus) -> LockedOrder {
    let id = OrderId::new(7).unwrap();
    LockedOrder { id, project_id: project(), application_id: ApplicationId::new(3).ok(), status }
}

/// A charge of 265.00 for the order.
fn charge() -> Charge {
    samples::charge(ChargePurpose::Order(OrderId::new(7).unwrap()), money("265.00"))
}

/// The canceled order of the charge, before its money arrives.
fn canceled() -> Order {
    let line = OrderLine { state: ReservationState::Released, ..a_line(26_500) };
    Order { lines: vec![line], final_price: money("265.00"), ..an_order(OrderStatus::Canceled) }
}

fn link(url: Option<&str>) -> ChargeChange {
    let provider_id = ProviderId::parse("p").unwrap();
    ChargeChange::Pending { provider_id, confirmation_url: url.map(str::to_owned), next_check_at: AT }
}

fn fails(failure: ChargeFailure) -> ChargeChange {
    ChargeChange::Failed { provider_id: None, failure, reason: "no_money".to_owned() }
}

fn arrives() -> ChargeChange {
    let (provider_id, event_id) = (ProviderId::parse("p").unwrap(), Uuid::from_u128(9));
    ChargeChange::Succeeded { provider_id, event_id, refund: None, method: None, receipt: None }
}

fn suspicious() -> ChargeChange {
    ChargeChange::Suspicious { why: "another amount".to_owned(), next_check_at: AT }
}

fn postponed() -> ChargeChange {
    ChargeChange::Postponed { why: "no answer".to_owned(), unanswered: true, next_check_at: AT }
}

fn decided(order: &LockedOrder, change: &ChargeChange, repeated: bool) -> OrderEffects {
    let recorded = RecordedChange { charge: charge(), change, repeated };
    let decided =
        decide(order, &recorded, AT, || Ok::<_, Infallible>(ProjectScoped::new(project(), canceled()))).unwrap();
    assert!(is_relevant(&recorded) || decided.is_empty(), "{change:?} is not irrelevant");
    decided
}

/// Every effect in words.
fn words(effects: &OrderEffects) -> String {
    let stock = |step: Transition| match step.stock {
        StockEffect::Keep => "keep the goods",
        StockEffect::Release => "release the goods",
        StockEffect::Sell => "sell the goods",
    };
    let all = [
        effects.transition.map(|step| format!("become {}, {}", step.to, stock(step))),
        effects.payment_link.as_set().map(|link| format!("link {}", link.as_deref().unwrap_or("removed"))),
        effects.captured.as_ref().map(|captured| format!("captured {}", captured.amount)),
        effects.captured.as_ref().and_then(|captured| captured.event.as_ref()).map(|_| "order.paid".to_owned()),
        effects.notice.map(|notice| notice.word().to_owned()),
        effects.entry.as_ref().map(|entry| format!("entry {}", entry.event.word())),
        effects.returns_money.then(|| "returns money".to_owned()),
        effects.refund.as_ref().map(|late| format!("refund {}", late.request.amount())),
        effects.review.as_ref().map(|_| "review".to_owned()),
    ];
    all.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

#[test]
fn each_outcome_has_its_effect_in_each_status() {
    const LEFT_ALONE: &str = "";
    const ENDED: &str = "link removed";
    const REVIEW: &str = "captured 265.00; entry paid_out_of_turn; review";
    let withdrawn = "link removed; entry payment_withdrawn";
    let doubtful = "entry payment_suspicious";
    let canceled = "become canceled, release the goods; order_payment_failed; entry payment_failed";
    let late = "captured 265.00; entry paid_after_cancellation; returns money; refund 265.00";
    let paid = "become paid, keep the goods; captured 265.00; order.paid; order_paid; entry paid";
    // In the order of OrderStatus::ALL: created, waiting for payment, in processing, ready, issued, canceled, paid.
    let waiting = |effect| [LEFT_ALONE, effect, LEFT_ALONE, LEFT_ALONE, LEFT_ALONE, LEFT_ALONE, LEFT_ALONE];
    // The payment state of the order changes in any status.
    let ended = [ENDED, canceled, ENDED, ENDED, ENDED, ENDED, ENDED];
    let table = [
        (link(Some("https://pay.example")), false, waiting("link https://pay.example")),
        (link(None), false, [LEFT_ALONE; 7]),
        (postponed(), false, [LEFT_ALONE; 7]),
        (postponed(), true, [LEFT_ALONE; 7]),
        (suspicious(), false, [doubtful; 7]),
        (suspicious(), true, [LEFT_ALONE; 7]),
        (fails(ChargeFailure::Withdrawn), false, [withdrawn; 7]),
        (fails(ChargeFailure::Withdrawn), true, [withdrawn; 7]),
        (fails(ChargeFailure::Canceled), false, ended),
        (fails(ChargeFailure::Expired), false, ended),
        (fails(ChargeFailure::Refused), true, ended),
        (arrives(), false, [REVIEW, paid, REVIEW, REVIEW, REVIEW, late, REVIEW]),
    ];
    for (change, repeated, effects) in table {
        for (status, expected) in OrderStatus::ALL.iter().zip(effects) {
            assert_eq!(words(&decided(&locked(*status), &change, repeated)), expected, "{status}: {change:?}");
        }
    }
}

#[test]
fn a_paid_order_says_how_much_arrived() {
    let effects = decided(&locked(OrderStatus::WaitingForPayment), &arrives(), false);
    let event = effects.captured.unwrap().event.unwrap();
    let expected = PaidEvent {
        event_id: Uuid::from_u128(9),
        order_id: OrderId::new(7).unwrap(),
        application_id: ApplicationId::new(3).unwrap(),
        project_id: project(),
        amount: money("265.00"),
        currency: "RUB".to_owned(),
        paid_at: AT,
    };
    assert_eq!(event, expected);
    let entry = effects.entry.unwrap();
    assert_eq!((entry.status, entry.detail), (OrderStatus::Paid, None));
    let change =
        |change: &FieldChange| (change.field.clone(), change.old.clone().unwrap(), change.new.clone().unwrap());
    let owned = |field: &str, old: &str, new: &str| (field.to_owned(), old.to_owned(), new.to_owned());
    let changes: Vec<_> = entry.changes.iter().map(change).collect();
    assert_eq!(changes, [owned("status_id", "2", "22"), owned("captured_amount", "0.00", "265.00")]);
    // An order without application has no webhooks.
    let by_staff = LockedOrder { application_id: None, ..locked(OrderStatus::WaitingForPayment) };
    assert_eq!(decided(&by_staff, &arrives(), false).captured, Some(Captured { amount: money("265.00"), event: None }));
}

#[test]
fn a_withdrawn_payment_cancels_no_order() {
    let effects = decided(&locked(OrderStatus::WaitingForPayment), &fails(ChargeFailure::Withdrawn), false);
    assert_eq!((effects.transition, effects.notice), (None, None));
    assert_eq!(effects.entry.unwrap().status, OrderStatus::WaitingForPayment);
}

#[test]
fn all_money_for_a_canceled_order_is_refunded() {
    let effects = decided(&locked(OrderStatus::Canceled), &arrives(), false);
    assert_eq!((effects.transition, effects.review), (None, None));
    let LateRefund { refund, request } = effects.refund.unwrap();
    assert_eq!((request.amount(), request.key()), (money("265.00"), Uuid::from_u128(9)));
    assert_eq!(request.receipt(), None);
    assert_eq!(refund.reason, "The order was canceled before the money arrived.");
    assert_eq!((refund.decided.amount, refund.decided.lines.len()), (money("265.00"), 1));
    assert!(refund.restock && !refund.ends_period);
    assert_eq!(effects.entry.unwrap().detail.as_deref(), Some("265.00"));
}

#[test]
fn late_money_that_cannot_be_refunded_is_reviewed() {
    let refunded = |order: ProjectScoped<Order>| late_refund(order, &charge(), Uuid::from_u128(9), AT);
    let other = ProjectId::new(2).unwrap();
    let foreign = refunded(ProjectScoped::new(other, canceled())).unwrap_err();
    assert_eq!(foreign, "the payment of a canceled order is not refunded: the order belongs to another project");
    // The lines account for less than the money.
    let cheaper = Order { lines: vec![a_line(100)], ..canceled() };
    let refused = refunded(ProjectScoped::new(project(), cheaper)).unwrap_err();
    assert!(refused.starts_with("the payment of a canceled order is not refunded: exceeds 1.00"), "{refused}");
    let gone = Order { refunding: money("265.00"), ..canceled() };
    assert_eq!(refunded(ProjectScoped::new(project(), gone)), Ok(None));
}

#[test]
fn the_refund_of_a_part_of_the_payment_has_a_receipt() {
    let item = ReceiptItem {
        name: "Tea".to_owned(),
        quantity: kontor_kernel::Quantity::ONE,
        total: money("265.00"),
        vat: VatCode::new(1).unwrap(),
        subject: PaymentSubject::Commodity,
        mode: PaymentMode::FullPrepayment,
    };
    let contact = ReceiptContact::Phone(kontor_kernel::Phone::parse("79001234567").unwrap());
    let paid = Receipt::new(contact, None, &[item], money("265.00")).unwrap();
    let request = ChargeRequest { receipt: Some(paid), ..charge().request };
    let charge = Charge { request, ..charge() };
    let refund = |order| late_refund(ProjectScoped::new(project(), order), &charge, Uuid::nil(), AT).unwrap().unwrap();
    assert_eq!(refund(canceled()).request.receipt(), None);
    let line = OrderLine { refunded_amount: money("65.00"), ..canceled().lines.remove(0) };
    let partly = Order { refunded: money("65.00"), lines: vec![line], ..canceled() };
    let rest = refund(partly).request;
    assert_eq!(rest.amount(), money("200.00"));
    assert_eq!(rest.receipt().map(Receipt::total), Some(money("200.00")));
}

#[test]
fn an_order_without_a_requested_payment_is_canceled() {
    for status in OrderStatus::ALL.iter().copied() {
        let effects = payment_missing(&locked(status), false);
        let expected = if status == OrderStatus::WaitingForPayment {
            "become canceled, release the goods; order_payment_failed; entry payment_failed"
        } else {
            ""
        };
        assert_eq!(words(&effects), expected, "{status}");
        assert!(payment_missing(&locked(status), true).is_empty(), "{status}");
    }
}

#[test]
fn an_unconfirmed_order_is_canceled_when_its_hold_time_has_passed() {
    let later = AT + TimeDelta::seconds(1);
    for status in OrderStatus::ALL.iter().copied() {
        let order = locked(status);
        let expected = if status == OrderStatus::Created {
            "become canceled, release the goods; order_expired; entry expired"
        } else {
            ""
        };
        assert_eq!(words(&decide_hold_expiry(&order, Some(AT), AT)), expected, "{status}");
        assert!(
            decide_hold_expiry(&order, Some(later), AT).is_empty() && decide_hold_expiry(&order, None, AT).is_empty()
        );
    }
}
