use std::sync::Arc;

use chrono::{DateTime, TimeDelta};
use kontor_kernel::testing::CountingRandom;
use kontor_kernel::{ChargeId, FixedClock, Money, ProjectId, RefundId, VerificationId};
use uuid::Uuid;

use super::*;
use crate::change::{Change, RefundChange};
use crate::model::testing::a_receipt;
use crate::model::{
    ChargePurpose, GatewayRefund, GatewayStatus, ProviderId, Refund, RefundIntent, RefundRequest, RefundState,
    Registration,
};
use crate::ports::{Answer, MockPaymentGateway, MockRefundStore, Reading, RefundStored};

fn due() -> Refund {
    Refund {
        id: RefundId::new(2).unwrap(),
        project_id: ProjectId::new(1).unwrap(),
        charge_id: ChargeId::new(9).unwrap(),
        purpose: ChargePurpose::Verification(VerificationId::new(3).unwrap()),
        state: RefundState::Due,
        request: RefundRequest {
            payment: ProviderId::parse("pay-1").unwrap(),
            key: Uuid::from_u128(6),
            amount: Money::from_minor(100).unwrap(),
            whole: true,
            currency: "RUB".to_owned(),
            description: "Verification 3".to_owned(),
            receipt: None,
        },
        key_made_at: DateTime::UNIX_EPOCH,
        asked_at: DateTime::UNIX_EPOCH,
        tries: 0,
        provider_id: None,
        checks: 0,
        settled_at: None,
        created_at: DateTime::UNIX_EPOCH,
    }
}

fn refund(status: GatewayStatus) -> GatewayRefund {
    GatewayRefund {
        id: ProviderId::parse("ref-1").unwrap(),
        payment: ProviderId::parse("pay-1").unwrap(),
        status,
        amount: Money::from_minor(100).unwrap(),
        currency: "RUB".to_owned(),
        reason: None,
        key: Some(Uuid::from_u128(6)),
        receipt: None,
    }
}

struct Trial {
    store: MockRefundStore,
    gateway: MockPaymentGateway,
    age: TimeDelta,
}

impl Trial {
    /// Ten minutes after the key was made.
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

    /// Works for one round, in which this one change is committed; tells what people must look at.
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
    // The answer to the first request was lost eight and a half minutes after the key was made, a second is refused.
    let lost = || Refund { asked_at: DateTime::UNIX_EPOCH + TimeDelta::seconds(510), ..due() };
    assert_eq!(Trial::due(lost()).answering(refused()).finding(Reading::Absent).records(postponed).await, 0);
    let later = Trial { age: TimeDelta::seconds(630), ..Trial::due(lost()) };
    assert_eq!(later.answering(refused()).finding(Reading::Absent).records(retried).await, 1);
    let found = Reading::Known(refund(GatewayStatus::Succeeded));
    assert_eq!(Trial::due(lost()).answering(refused()).finding(found).records(succeeded).await, 0);
    // So does a key that was made just now: whoever made it may have asked and died.
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
async fn in_the_end_people_must_look() {
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
    // One that the acquirer has canceled is asked for under another key, an hour later.
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
    let works = async |receipt, told, expected: fn(&RefundChange) -> bool| {
        let mut trial = Trial::due(Refund { request: RefundRequest { receipt, ..due().request }, ..due() });
        let known = GatewayRefund { receipt: told, ..refund(GatewayStatus::Succeeded) };
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
async fn a_round_checks_no_more_than_it_was_asked_to_and_tells_only_what_it_committed() {
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
