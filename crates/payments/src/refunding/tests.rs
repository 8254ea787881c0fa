use kontor_kernel::testing::CountingRandom;
use kontor_kernel::{FixedClock, Money, VerificationId};
use uuid::Uuid;

use super::*;
use crate::model::testing::a_receipt;
use crate::model::{GatewayPage, RefundRequest, RefundState};
use crate::ports::{MockPaymentGateway, MockRefundStore};
use crate::testing::samples;

fn due() -> Refund {
    let purpose = ChargePurpose::Verification(VerificationId::new(3).unwrap());
    let charge = samples::paid_charge(purpose, Money::from_minor(100).unwrap());
    Refund { charge_id: ChargeId::new(9).unwrap(), ..samples::refund_of(&charge) }
}

fn refund(status: GatewayStatus) -> GatewayRefund {
    samples::gateway_refund(&due().request, status)
}

struct Trial {
    store: MockRefundStore,
    gateway: MockPaymentGateway,
    age: TimeDelta,
}

impl Trial {
    /// Ten minutes after the key was created.
    fn due(refund: Refund) -> Self {
        let mut trial =
            Self { store: MockRefundStore::new(), gateway: MockPaymentGateway::new(), age: TimeDelta::minutes(10) };
        let mut queue = vec![refund];
        trial.store.expect_lease().returning(move |_, _, _| Ok(queue.pop()));
        trial
    }

    fn answering(mut self, answer: Answer<GatewayRefund>) -> Self {
        self.gateway.expect_refund().withf(|request| *request == due().request).times(1).return_const(answer);
        self
    }

    fn finding(mut self, answer: Reading<GatewayRefund>) -> Self {
        self.gateway.expect_find_refund().times(1).return_const(answer);
        self
    }

    /// Works for one round, in which this one change is committed. Returns the number of concerns.
    async fn records(mut self, expected: fn(&RefundChange) -> bool) -> usize {
        self.store
            .expect_record()
            .withf(move |_, key, change, _| *key == Uuid::from_u128(6) && expected(change))
            .times(1)
            .returning(|_, _, _, _| Ok(Change::Done));
        let service = RefundService {
            refunds: Arc::new(self.store),
            gateway: Arc::new(self.gateway),
            clock: Arc::new(FixedClock::at(DateTime::UNIX_EPOCH + self.age)),
            random: Arc::new(CountingRandom::new()),
        };
        service.reconcile("w", 5).await.unwrap().suspicious.len()
    }
}

fn unknown() -> Answer<GatewayRefund> {
    Answer::Unknown { why: "timed out".to_owned(), retry_after: None }
}

fn refused() -> Answer<GatewayRefund> {
    Answer::Refused { code: "invalid_request".to_owned(), description: "no".to_owned() }
}

fn succeeded(change: &RefundChange) -> bool {
    matches!(change, RefundChange::Succeeded { .. })
}

fn retried(change: &RefundChange) -> bool {
    matches!(change, RefundChange::Retry { key, .. } if *key != Uuid::from_u128(6))
}

fn postponed(change: &RefundChange) -> bool {
    matches!(change, RefundChange::Postponed { unanswered: false, .. })
}

#[tokio::test]
async fn a_refund_is_asked_for_under_its_key_until_it_is_known() {
    let known = Answer::Known(refund(GatewayStatus::Succeeded));
    assert_eq!(Trial::due(due()).answering(known).records(succeeded).await, 0);
    let pending = |change: &RefundChange| matches!(change, RefundChange::Pending { .. });
    let known = Answer::Known(refund(GatewayStatus::Pending));
    assert_eq!(Trial::due(due()).answering(known).records(pending).await, 0);
    let unanswered = |change: &RefundChange| matches!(change, RefundChange::Postponed { unanswered: true, .. });
    assert_eq!(Trial::due(due()).answering(unknown()).records(unanswered).await, 0);
}

#[tokio::test]
async fn a_refused_refund_is_looked_up_before_another_key_is_made() {
    let known = Reading::Known(refund(GatewayStatus::Succeeded));
    assert_eq!(Trial::due(due()).answering(refused()).finding(known).records(succeeded).await, 0);
    assert_eq!(Trial::due(due()).answering(refused()).finding(Reading::Absent).records(retried).await, 1);
    let nobody_knows = Reading::Unknown { why: "500".to_owned() };
    assert_eq!(Trial::due(due()).answering(refused()).finding(nobody_knows).records(postponed).await, 0);
}

#[tokio::test]
async fn another_key_waits_until_an_unanswered_refund_would_show() {
    // The answer to the first request was lost eight and a half minutes after the key was created; a second one
    // is refused.
    let lost = || Refund { asked_at: DateTime::UNIX_EPOCH + TimeDelta::seconds(510), ..due() };
    assert_eq!(Trial::due(lost()).answering(refused()).finding(Reading::Absent).records(postponed).await, 0);
    let later = Trial { age: TimeDelta::seconds(630), ..Trial::due(lost()) };
    assert_eq!(later.answering(refused()).finding(Reading::Absent).records(retried).await, 1);
    let found = Reading::Known(refund(GatewayStatus::Succeeded));
    assert_eq!(Trial::due(lost()).answering(refused()).finding(found).records(succeeded).await, 0);
    // The same applies to a recently created key: its worker may have sent the request and crashed.
    let young = Trial { age: TimeDelta::seconds(119), ..Trial::due(due()) };
    assert_eq!(young.answering(refused()).finding(Reading::Absent).records(postponed).await, 0);
}

#[tokio::test]
async fn after_the_life_of_its_key_a_refund_is_only_looked_for() {
    let old = || Trial { age: TimeDelta::hours(23), ..Trial::due(due()) };
    let known = Reading::Known(refund(GatewayStatus::Succeeded));
    assert_eq!(old().finding(known).records(succeeded).await, 0);
    assert_eq!(old().finding(Reading::Absent).records(retried).await, 1);
}

#[tokio::test]
async fn repeated_failures_are_reported_to_staff() {
    let failed = |change: &RefundChange| matches!(change, RefundChange::Failed { .. });
    let tired = Refund { tries: 11, ..due() };
    assert_eq!(Trial::due(tired).answering(refused()).finding(Reading::Absent).records(failed).await, 1);
    let suspicious = |change: &RefundChange| matches!(change, RefundChange::Suspicious { .. });
    let other = GatewayRefund { amount: Money::from_minor(1).unwrap(), ..refund(GatewayStatus::Succeeded) };
    assert_eq!(Trial::due(due()).answering(Answer::Known(other)).records(suspicious).await, 1);
}

#[tokio::test]
async fn a_refund_is_due_at_once() {
    let mut store = MockRefundStore::new();
    store.expect_store().withf(|new| new.next_check_at == new.at).returning(|_| Ok(RefundStored::New(due())));
    let service = RefundService {
        refunds: Arc::new(store),
        gateway: Arc::new(MockPaymentGateway::new()),
        clock: Arc::new(FixedClock::at(DateTime::UNIX_EPOCH)),
        random: Arc::new(CountingRandom::new()),
    };
    let amount = |minor| RefundIntent::new(Uuid::from_u128(6), Money::from_minor(minor).unwrap(), String::new());
    assert!(amount(0).is_err());
    let order = amount(100).unwrap();
    assert_eq!(service.request(due().charge_id, order).await.unwrap(), RefundStored::New(due()));
}

#[tokio::test]
async fn a_refund_that_is_known_is_only_read() {
    let known = || Refund { provider_id: ProviderId::parse("ref-1").ok(), ..due() };
    let reads = |reading: Reading<GatewayRefund>| {
        let mut trial = Trial::due(known());
        trial.gateway.expect_read_refund().times(1).return_const(reading);
        trial
    };
    assert_eq!(reads(Reading::Known(refund(GatewayStatus::Succeeded))).records(succeeded).await, 0);
    assert_eq!(reads(Reading::Unknown { why: "500".to_owned() }).records(postponed).await, 0);
    let suspicious = |change: &RefundChange| matches!(change, RefundChange::Suspicious { next_check_at, .. } if *next_check_at == DateTime::UNIX_EPOCH + TimeDelta::minutes(70));
    assert_eq!(reads(Reading::Absent).records(suspicious).await, 1);
    // A refund that the acquirer canceled is requested under another key, an hour later.
    let later = |change: &RefundChange| matches!(change, RefundChange::Retry { next_check_at, .. } if *next_check_at == DateTime::UNIX_EPOCH + TimeDelta::minutes(70));
    assert_eq!(reads(Reading::Known(refund(GatewayStatus::Canceled))).records(later).await, 1);
}

#[tokio::test]
async fn a_refund_is_tried_twelve_times() {
    let almost = Refund { tries: 10, ..due() };
    assert_eq!(Trial::due(almost).answering(refused()).finding(Reading::Absent).records(retried).await, 1);
}

#[tokio::test]
async fn a_receipt_is_waited_for_when_a_refund_asked_for_one() {
    let receipt = Some(a_receipt(due().request.amount));
    let works = async |receipt, reported, expected: fn(&RefundChange) -> bool| {
        let mut trial = Trial::due(Refund { request: RefundRequest { receipt, ..due().request }, ..due() });
        let known = GatewayRefund { receipt: reported, ..refund(GatewayStatus::Succeeded) };
        trial.gateway.expect_refund().return_const(Answer::Known(known));
        trial.records(expected).await
    };
    let waits =
        |change: &RefundChange| matches!(change, RefundChange::Succeeded { receipt: Some(Registration::Pending), .. });
    let done = |change: &RefundChange| {
        matches!(change, RefundChange::Succeeded { receipt: Some(Registration::Succeeded), .. })
    };
    let none = |change: &RefundChange| matches!(change, RefundChange::Succeeded { receipt: None, .. });
    assert_eq!(works(receipt.clone(), None, waits).await, 0);
    assert_eq!(works(receipt, Some(Registration::Succeeded), done).await, 0);
    assert_eq!(works(None, None, none).await, 0);
}

#[tokio::test]
async fn a_round_checks_only_the_requested_number_and_reports_only_commits() {
    let mut store = MockRefundStore::new();
    let lease = TimeDelta::seconds(150);
    store.expect_lease().withf(move |_, at, until| *until == *at + lease).returning(|_, _, _| Ok(Some(due())));
    store.expect_record().times(3).returning(|_, _, _, _| Ok(Change::Stale));
    let mut gateway = MockPaymentGateway::new();
    let other = GatewayRefund { amount: Money::from_minor(1).unwrap(), ..refund(GatewayStatus::Succeeded) };
    gateway.expect_refund().times(3).return_const(Answer::Known(other));
    let service = RefundService {
        refunds: Arc::new(store),
        gateway: Arc::new(gateway),
        clock: Arc::new(FixedClock::at(DateTime::UNIX_EPOCH)),
        random: Arc::new(CountingRandom::new()),
    };
    assert_eq!(service.reconcile("w", 3).await.unwrap(), ReconciledRefunds { checked: 3, suspicious: vec![] });
}

fn noticing(store: MockRefundStore, gateway: MockPaymentGateway) -> RefundService {
    RefundService {
        refunds: Arc::new(store),
        gateway: Arc::new(gateway),
        clock: Arc::new(FixedClock::at(DateTime::UNIX_EPOCH + TimeDelta::days(100))),
        random: Arc::new(CountingRandom::new()),
    }
}

fn reading(refund: GatewayRefund) -> MockPaymentGateway {
    let mut gateway = MockPaymentGateway::new();
    gateway.expect_read_refund().returning(move |_| Reading::Known(refund.clone()));
    gateway
}

fn id() -> ProviderId {
    ProviderId::parse("ref-1").unwrap()
}

#[tokio::test]
async fn a_notified_refund_of_ours_is_recorded_on_itself() {
    let part = Refund { request: RefundRequest { whole: false, ..due().request }, ..due() };
    let asked = Refund { state: RefundState::Pending, provider_id: Some(id()), ..part.clone() };
    // Matched by its key, by its identifier, and the whole of a payment whatever its origin.
    let by_hand = GatewayRefund { key: None, ..refund(GatewayStatus::Succeeded) };
    for (own, reported) in [(part, refund(GatewayStatus::Succeeded)), (asked, by_hand.clone()), (due(), by_hand)] {
        let mut store = MockRefundStore::new();
        store.expect_of_payment().once().returning(move |_| Ok(Some(vec![own.clone()])));
        store.expect_record().once().returning(|_, _, change, _| {
            assert!(matches!(change, RefundChange::Succeeded { .. }), "{change:?}");
            Ok(Change::Done)
        });
        let noticed = noticing(store, reading(reported)).handle_notification(&id()).await.unwrap();
        assert_eq!(noticed, RefundNotificationResult::Recorded(due().purpose));
    }
}

#[tokio::test]
async fn an_external_refund_is_recorded() {
    let (part, by_hand) = (
        Refund { request: RefundRequest { whole: false, ..due().request }, ..due() },
        GatewayRefund { key: None, ..refund(GatewayStatus::Succeeded) },
    );
    let why = "less is left".to_owned();
    let purpose = due().purpose;
    for (outcome, expected) in [
        (ExternalRefundStored::Recorded(purpose), RefundNotificationResult::Recorded(purpose)),
        (ExternalRefundStored::Known(purpose), RefundNotificationResult::Ignored),
        (ExternalRefundStored::UnknownCharge, RefundNotificationResult::Ignored),
        (
            ExternalRefundStored::Contradicted { purpose, why: why.clone() },
            RefundNotificationResult::Suspicious { purpose, why },
        ),
    ] {
        let mut store = MockRefundStore::new();
        let (own, reported) = (part.clone(), by_hand.clone());
        store.expect_of_payment().returning(move |_| Ok(Some(vec![own.clone()])));
        store.expect_record_outside().withf(move |_, refund, _| *refund == reported).return_once(|_, _, _| Ok(outcome));
        assert_eq!(noticing(store, reading(by_hand.clone())).handle_notification(&id()).await.unwrap(), expected);
    }
}

#[tokio::test]
async fn notifications_ignore_unfinished_and_unknown_refunds_and_repeat_unreadable_ones() {
    for status in [GatewayStatus::Pending, GatewayStatus::Canceled] {
        let service = noticing(MockRefundStore::new(), reading(refund(status)));
        assert_eq!(service.handle_notification(&id()).await.unwrap(), RefundNotificationResult::Ignored);
    }
    let mut store = MockRefundStore::new();
    store.expect_of_payment().returning(|_| Ok(None));
    let service = noticing(store, reading(refund(GatewayStatus::Succeeded)));
    assert_eq!(service.handle_notification(&id()).await.unwrap(), RefundNotificationResult::Ignored);
    let mut store = MockRefundStore::new();
    let done = Refund { state: RefundState::Succeeded, provider_id: Some(id()), ..due() };
    store.expect_of_payment().returning(move |_| Ok(Some(vec![done.clone()])));
    let service = noticing(store, reading(refund(GatewayStatus::Succeeded)));
    assert_eq!(service.handle_notification(&id()).await.unwrap(), RefundNotificationResult::Ignored);
    let mut gateway = MockPaymentGateway::new();
    gateway.expect_read_refund().once().return_const(Reading::Absent);
    let mut lost = MockPaymentGateway::new();
    lost.expect_read_refund().once().return_const(Reading::Unknown { why: "late".to_owned() });
    let service = noticing(MockRefundStore::new(), gateway);
    assert_eq!(service.handle_notification(&id()).await.unwrap(), RefundNotificationResult::Ignored);
    let unreadable = RefundNotificationResult::Unreadable { why: "late".to_owned() };
    assert_eq!(noticing(MockRefundStore::new(), lost).handle_notification(&id()).await.unwrap(), unreadable);
}

#[tokio::test]
async fn a_comparison_reads_every_page_from_before_the_last_one_and_counts_only_when_it_came_to_the_end() {
    let now = DateTime::UNIX_EPOCH + TimeDelta::days(100);
    let first = GatewayRefund { id: ProviderId::parse("ref-2").unwrap(), ..refund(GatewayStatus::Succeeded) };
    let pages = [
        Reading::Known(GatewayPage { items: vec![first, refund(GatewayStatus::Pending)], next: Some("c".to_owned()) }),
        Reading::Known(GatewayPage { items: vec![refund(GatewayStatus::Succeeded)], next: None }),
    ];
    let broken = [pages[0].clone(), Reading::Unknown { why: "late".to_owned() }];
    for (answers, whole) in [(pages, true), (broken, false)] {
        let mut store = MockRefundStore::new();
        store.expect_claim_comparison().once().returning(move |at| Ok(Some(at - TimeDelta::hours(2))));
        store.expect_of_payment().returning(|_| Ok(Some(vec![])));
        store.expect_record_outside().returning(|_, _, _| Ok(ExternalRefundStored::Recorded(due().purpose)));
        store.expect_compared().times(usize::from(whole)).withf(move |until| *until == now).returning(|_| Ok(()));
        let mut gateway = MockPaymentGateway::new();
        let mut asked = 0;
        gateway.expect_list_refunds().times(2).returning(move |since, page| {
            assert_eq!(since, now - TimeDelta::hours(2) - TimeDelta::days(3));
            assert_eq!(page.as_deref(), (asked == 1).then_some("c"));
            asked += 1;
            answers[asked - 1].clone()
        });
        let compared = noticing(store, gateway).compare_when_due().await.unwrap().unwrap();
        assert_eq!(compared.broken_off.is_none(), whole);
        assert_eq!((compared.listed, compared.recorded), if whole { (3, 2) } else { (2, 1) });
    }
    let mut store = MockRefundStore::new();
    store.expect_claim_comparison().returning(|_| Ok(None));
    assert_eq!(noticing(store, MockPaymentGateway::new()).compare_when_due().await.unwrap(), None);
}
