use std::sync::Mutex;

use chrono::{DateTime, TimeDelta};
use kontor_kernel::{FixedClock, Money, OrderId, Phone, Quantity};
use uuid::Uuid;

use super::*;
use crate::model::{
    Charge, GatewayPayment, GatewayRefund, GatewayStatus, PaymentMode, PaymentSubject, Receipt, ReceiptContact,
    ReceiptItem, ReceiptState, VatCode,
};
use crate::ports::{MockPaymentGateway, MockReceiptStore};
use crate::testing::samples;

const CHARGE: Uuid = Uuid::from_u128(7);

fn provider(text: &str) -> ProviderId {
    ProviderId::parse(text).unwrap()
}

fn money() -> Money {
    Money::from_minor(26_550).unwrap()
}

fn request() -> HandOverRequest {
    let item = ReceiptItem {
        name: "Anchor".to_owned(),
        quantity: Quantity::ONE,
        total: money(),
        vat: VatCode::NONE,
        subject: PaymentSubject::Commodity,
        mode: PaymentMode::FullPayment,
    };
    let customer = ReceiptContact::Phone(Phone::parse("79001234567").unwrap());
    HandOverRequest {
        payment: provider("pay-1"),
        key: HandOverRequest::key(CHARGE, 0),
        currency: "RUB".to_owned(),
        receipt: Receipt::new(customer, None, &[item], money()).unwrap(),
    }
}

fn receipt(task: ReceiptTask) -> FiscalReceipt {
    FiscalReceipt { charge_key: CHARGE, ..samples::receipt_of(&charge(), task) }
}

fn of_payment() -> FiscalReceipt {
    receipt(ReceiptTask::Payment(provider("pay-1")))
}

fn of_hand_over() -> FiscalReceipt {
    FiscalReceipt { state: ReceiptState::Due, ..receipt(ReceiptTask::HandOver(request())) }
}

fn charge() -> Charge {
    samples::paid_charge(ChargePurpose::Order(OrderId::new(7).unwrap()), money())
}

fn payment(receipt: Option<Registration>) -> Reading<GatewayPayment> {
    Reading::Known(GatewayPayment { receipt, ..samples::payment_of(&charge(), GatewayStatus::Succeeded) })
}

fn shown(status: Registration) -> GatewayReceipt {
    GatewayReceipt { id: provider("rt-1"), payment: Some(provider("pay-1")), status, prepaid: money() }
}

/// Works on one receipt at this time after it was stored. Returns the committed change and the number of
/// concerns.
async fn worked(receipt: FiscalReceipt, after: TimeDelta, gateway: MockPaymentGateway) -> (ReceiptChange, usize) {
    let mut store = MockReceiptStore::new();
    let mut queue = vec![receipt];
    store.expect_lease().returning(move |_, _, _| Ok(queue.pop()));
    let committed = Arc::new(Mutex::new(None));
    let kept = committed.clone();
    store.expect_record().times(1).returning(move |_, tries, change, _| {
        assert_eq!(tries, 0);
        *kept.lock().unwrap() = Some(change);
        Ok(Change::Done)
    });
    let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH + after));
    let service = ReceiptService { receipts: Arc::new(store), gateway: Arc::new(gateway), clock };
    let round = service.reconcile("w", 5).await.unwrap();
    assert_eq!(round.checked, 1);
    let change = committed.lock().unwrap().take().unwrap();
    (change, round.suspicious.len())
}

async fn reported(reported: Option<Registration>, receipt: FiscalReceipt, after: TimeDelta) -> (ReceiptChange, usize) {
    let mut gateway = MockPaymentGateway::new();
    gateway.expect_read().return_const(payment(reported));
    worked(receipt, after, gateway).await
}

#[tokio::test]
async fn a_payment_contains_its_receipt_state() {
    let minute = TimeDelta::minutes(1);
    let (change, concerns) = reported(Some(Registration::Succeeded), of_payment(), minute).await;
    assert_eq!((change, concerns), (ReceiptChange::Succeeded { provider_id: None }, 0));
    let (change, concerns) = reported(Some(Registration::Canceled), of_payment(), minute).await;
    assert!(matches!(change, ReceiptChange::Canceled { .. }) && concerns == 1);
    for open in [Some(Registration::Pending), None] {
        let (change, concerns) = reported(open, of_payment(), minute).await;
        assert!(matches!(change, ReceiptChange::Pending { overdue: false, .. }) && concerns == 0, "{change:?}");
    }
}

#[tokio::test]
async fn a_receipt_pending_for_three_days_is_reported_once() {
    let pending = Some(Registration::Pending);
    let almost = TimeDelta::days(3) - TimeDelta::seconds(1);
    assert_eq!(reported(pending, of_payment(), almost).await.1, 0);
    let (change, concerns) = reported(pending, of_payment(), TimeDelta::days(3)).await;
    assert!(change.is_overdue() && change.next_check_at().is_some() && concerns == 1);
    let known = FiscalReceipt { overdue_at: Some(DateTime::UNIX_EPOCH), ..of_payment() };
    assert_eq!(reported(pending, known, TimeDelta::days(4)).await.1, 0);
    // A receipt is also reported if the acquirer never answers.
    let mut silent = MockPaymentGateway::new();
    silent.expect_read().return_const(Reading::Unknown { why: "500".to_owned() });
    let (change, concerns) = worked(of_payment(), TimeDelta::days(3), silent).await;
    assert!(matches!(change, ReceiptChange::Postponed { overdue: true, .. }) && concerns == 1);
}

fn answering(answer: Answer<GatewayReceipt>) -> MockPaymentGateway {
    let mut gateway = MockPaymentGateway::new();
    gateway.expect_register().withf(|asked| *asked == request()).times(1).return_const(answer);
    gateway
}

fn refused() -> Answer<GatewayReceipt> {
    Answer::Refused { code: "invalid_request".to_owned(), description: "no".to_owned() }
}

#[tokio::test]
async fn a_hand_over_is_asked_for_under_its_key_until_it_is_known() {
    let soon = TimeDelta::minutes(5);
    let gateway = answering(Answer::Known(shown(Registration::Pending)));
    let (change, _) = worked(of_hand_over(), soon, gateway).await;
    assert!(matches!(change, ReceiptChange::Pending { provider_id: Some(_), .. }));
    let gateway = answering(Answer::Unknown { why: "timed out".to_owned(), retry_after: None });
    let (change, _) = worked(of_hand_over(), soon, gateway).await;
    assert!(matches!(change, ReceiptChange::Postponed { unanswered: true, .. }));
    let mut gateway = MockPaymentGateway::new();
    gateway.expect_read_receipt().return_const(Reading::Known(shown(Registration::Succeeded)));
    let known = FiscalReceipt { provider_id: Some(provider("rt-1")), ..of_hand_over() };
    let (change, _) = worked(known, soon, gateway).await;
    assert_eq!(change, ReceiptChange::Succeeded { provider_id: Some(provider("rt-1")) });
    let other = GatewayReceipt { prepaid: Money::from_minor(1).unwrap(), ..shown(Registration::Succeeded) };
    let (change, concerns) = worked(of_hand_over(), soon, answering(Answer::Known(other))).await;
    assert!(matches!(change, ReceiptChange::Canceled { .. }) && concerns == 1);
}

#[tokio::test]
async fn a_refused_hand_over_is_looked_up_before_another_key_is_made() {
    let found = |reading| {
        let mut gateway = answering(refused());
        gateway.expect_find_receipt().times(1).return_const(reading);
        gateway
    };
    let gateway = found(Reading::Known(shown(Registration::Succeeded)));
    let (change, _) = worked(of_hand_over(), TimeDelta::minutes(5), gateway).await;
    assert!(matches!(change, ReceiptChange::Succeeded { .. }));
    let (change, concerns) = worked(of_hand_over(), TimeDelta::minutes(5), found(Reading::Absent)).await;
    let ReceiptChange::Retry { key, .. } = change else { panic!("{change:?}") };
    assert_eq!((key, concerns), (HandOverRequest::key(CHARGE, 1), 1));
    // A recently requested receipt may still appear.
    let (change, _) = worked(of_hand_over(), TimeDelta::seconds(119), found(Reading::Absent)).await;
    assert!(matches!(change, ReceiptChange::Postponed { unanswered: false, .. }));
}

#[tokio::test]
async fn after_the_life_of_its_key_a_hand_over_is_only_looked_for() {
    let mut gateway = MockPaymentGateway::new();
    gateway.expect_find_receipt().times(1).return_const(Reading::Known(shown(Registration::Succeeded)));
    let (change, _) = worked(of_hand_over(), TimeDelta::hours(23), gateway).await;
    assert!(matches!(change, ReceiptChange::Succeeded { .. }));
}

#[test]
fn keys_of_tries_are_fit_for_the_acquirer() {
    assert_eq!(HandOverRequest::key(CHARGE, 2), "hand-over-00000000-0000-0000-0000-000000000007-2");
    let key = HandOverRequest::key(Uuid::from_u128(u128::MAX), u32::MAX);
    assert!(key.len() <= 64 && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'), "{key}");
}

#[tokio::test]
async fn a_refund_contains_its_receipt_state() {
    let works = async |reading: Reading<GatewayRefund>| {
        let mut gateway = MockPaymentGateway::new();
        gateway.expect_read_refund().withf(|id| *id == provider("ref-1")).times(1).return_const(reading);
        worked(receipt(ReceiptTask::Refund(provider("ref-1"))), TimeDelta::minutes(1), gateway).await
    };
    let request = samples::refund_of(&charge()).request;
    let shown = |receipt| GatewayRefund { receipt, ..samples::gateway_refund(&request, GatewayStatus::Succeeded) };
    let (change, _) = works(Reading::Known(shown(Some(Registration::Succeeded)))).await;
    assert_eq!(change, ReceiptChange::Succeeded { provider_id: None });
    for reading in [Reading::Absent, Reading::Unknown { why: "500".to_owned() }] {
        let (change, concerns) = works(reading).await;
        assert!(matches!(change, ReceiptChange::Postponed { unanswered: false, overdue: false, .. }) && concerns == 0);
    }
}

#[tokio::test]
async fn a_receipt_that_the_acquirer_no_longer_knows_is_asked_for_later() {
    let mut gateway = MockPaymentGateway::new();
    gateway.expect_read().return_const(Reading::Absent);
    let (change, _) = worked(of_payment(), TimeDelta::minutes(1), gateway).await;
    assert!(matches!(change, ReceiptChange::Postponed { why, .. } if why.ends_with("pay-1")));
    let known = || FiscalReceipt { provider_id: Some(provider("rt-1")), ..of_hand_over() };
    for (reading, ending) in [(Reading::Absent, "rt-1"), (Reading::Unknown { why: "500".to_owned() }, "500")] {
        let mut gateway = MockPaymentGateway::new();
        gateway.expect_read_receipt().times(1).return_const(reading);
        let (change, _) = worked(known(), TimeDelta::minutes(1), gateway).await;
        assert!(matches!(change, ReceiptChange::Postponed { why, unanswered: false, .. } if why.ends_with(ending)));
    }
}

#[tokio::test]
async fn a_hand_over_is_tried_twelve_times() {
    let refused_after = async |tries| {
        let mut gateway = answering(refused());
        gateway.expect_find_receipt().times(1).return_const(Reading::Absent);
        let mut store = MockReceiptStore::new();
        let mut queue = vec![FiscalReceipt { tries, ..of_hand_over() }];
        store.expect_lease().returning(move |_, _, _| Ok(queue.pop()));
        let given_up = tries == 11;
        store
            .expect_record()
            .withf(move |_, tried, change, _| {
                *tried == tries && matches!(change, ReceiptChange::Canceled { .. }) == given_up
            })
            .times(1)
            .returning(|_, _, _, _| Ok(Change::Done));
        let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH + TimeDelta::minutes(5)));
        let service = ReceiptService { receipts: Arc::new(store), gateway: Arc::new(gateway), clock };
        service.reconcile("w", 5).await.unwrap().suspicious
    };
    let purpose = of_hand_over().purpose;
    let later = "the receipt of its hand-over was refused and is retried later: invalid_request: no".to_owned();
    assert_eq!(refused_after(10).await, [(purpose, later)]);
    let canceled = "the receipt of its hand-over is canceled: invalid_request: no".to_owned();
    assert_eq!(refused_after(11).await, [(purpose, canceled)]);
}

#[tokio::test]
async fn another_key_waits_an_hour() {
    let mut gateway = answering(refused());
    gateway.expect_find_receipt().times(1).return_const(Reading::Absent);
    let (change, _) = worked(of_hand_over(), TimeDelta::minutes(2), gateway).await;
    let expected = DateTime::UNIX_EPOCH + TimeDelta::minutes(62);
    assert!(matches!(change, ReceiptChange::Retry { next_check_at, .. } if next_check_at == expected), "{change:?}");
    let mut gateway = answering(refused());
    gateway.expect_find_receipt().times(1).return_const(Reading::Unknown { why: "500".to_owned() });
    let (change, _) = worked(of_hand_over(), TimeDelta::minutes(2), gateway).await;
    assert!(matches!(change, ReceiptChange::Postponed { why, .. } if why == "500"));
}

#[tokio::test]
async fn a_round_checks_only_the_requested_number_and_reports_only_commits() {
    let mut store = MockReceiptStore::new();
    let lease = TimeDelta::seconds(150);
    store.expect_lease().withf(move |_, at, until| *until == *at + lease).returning(|_, _, _| Ok(Some(of_payment())));
    store.expect_record().times(3).returning(|_, _, _, _| Ok(Change::Stale));
    let mut gateway = MockPaymentGateway::new();
    gateway.expect_read().times(3).return_const(payment(Some(Registration::Canceled)));
    let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
    let service = ReceiptService { receipts: Arc::new(store), gateway: Arc::new(gateway), clock };
    assert_eq!(service.reconcile("w", 3).await.unwrap(), ReconciledReceipts { checked: 3, suspicious: vec![] });
}

#[test]
fn a_receipt_of_another_payment_is_not_that_of_the_hand_over() {
    let own = shown(Registration::Pending);
    assert_eq!(request().ensure_matches(&own), Ok(()));
    assert!(request().is_fulfilled_by(&own));
    for (odd, part) in [
        (GatewayReceipt { payment: None, ..own.clone() }, "the payment"),
        (GatewayReceipt { payment: Some(provider("pay-2")), ..own.clone() }, "the payment"),
        (GatewayReceipt { prepaid: Money::ZERO, ..own.clone() }, "the prepayment"),
    ] {
        assert_eq!(request().ensure_matches(&odd).unwrap_err().part, part);
        assert!(!request().is_fulfilled_by(&odd));
    }
    assert!(!request().is_fulfilled_by(&shown(Registration::Canceled)));
}
