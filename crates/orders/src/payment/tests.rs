use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta};
use kontor_kernel::testing::CountingRandom;
use kontor_kernel::{ApplicationId, FixedClock, Money, OrderId, PaymentAttemptId, ProjectId};
use uuid::Uuid;

use super::*;
use crate::change::{AttemptChange, Change};
use crate::model::{
    AttemptState, GatewayPayment, GatewayStatus, PaymentAttempt, PaymentMethod, PaymentRequest, ProviderPaymentId,
    Purpose,
};
use crate::ports::{CreateAnswer, MockAttemptStore, MockPaymentGateway, ReadAnswer};

fn attempt() -> PaymentAttempt {
    PaymentAttempt {
        id: PaymentAttemptId::new(1).unwrap(),
        project_id: ProjectId::new(1).unwrap(),
        application_id: ApplicationId::new(1).unwrap(),
        order_id: OrderId::new(7).unwrap(),
        state: AttemptState::Prepared,
        provider_id: None,
        request: PaymentRequest {
            purpose: Purpose::Order(OrderId::new(7).unwrap()),
            attempt: Uuid::from_u128(5),
            amount: Money::from_minor(26_500).unwrap(),
            currency: "RUB".to_owned(),
            method: PaymentMethod::BankCard,
            description: "Order 7".to_owned(),
            return_url: "https://shop.example".to_owned(),
        },
        checks: 0,
        created_at: DateTime::UNIX_EPOCH,
    }
}

fn payment(status: GatewayStatus) -> GatewayPayment {
    let request = attempt().request;
    GatewayPayment {
        id: ProviderPaymentId::parse("pay-1").unwrap(),
        status,
        amount: request.amount,
        currency: request.currency,
        confirmation_url: Some("https://pay.example/1".to_owned()),
        reason: None,
        purpose: Some(request.purpose),
        attempt: Some(request.attempt),
    }
}

struct Trial {
    attempts: MockAttemptStore,
    gateway: MockPaymentGateway,
    age: TimeDelta,
}

impl Trial {
    fn new() -> Self {
        Self { attempts: MockAttemptStore::new(), gateway: MockPaymentGateway::new(), age: TimeDelta::zero() }
    }

    fn creating(mut self, answer: CreateAnswer) -> Self {
        self.gateway
            .expect_create()
            .withf(|request, key| *request == attempt().request && *key == request.attempt)
            .return_const(answer);
        self
    }

    fn reading(mut self, answer: ReadAnswer) -> Self {
        self.gateway.expect_read().return_const(answer);
        self
    }

    fn finding(mut self, answer: ReadAnswer) -> Self {
        self.gateway.expect_find().return_const(answer);
        self
    }

    /// Expects this one change to be committed.
    fn recording(mut self, expected: fn(&AttemptChange) -> bool, outcome: Change) -> Self {
        self.attempts
            .expect_record()
            .withf(move |_, change, _| expected(change))
            .times(1)
            .returning(move |_, _, _| Ok(outcome));
        self
    }

    fn due(mut self, attempt: PaymentAttempt) -> Self {
        let mut queue = vec![attempt];
        self.attempts.expect_claim().returning(move |_, _, _| Ok(queue.pop()));
        self
    }

    fn service(self) -> PaymentService {
        let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH + self.age));
        PaymentService::new(Arc::new(self.attempts), Arc::new(self.gateway), clock, Arc::new(CountingRandom::new()))
    }
}

fn refused() -> CreateAnswer {
    CreateAnswer::Refused { code: "invalid_request".to_owned(), description: "no".to_owned() }
}

fn unknown() -> CreateAnswer {
    CreateAnswer::Unknown { why: "timed out".to_owned(), retry_after: None }
}

#[tokio::test]
async fn the_first_refusal_cancels_the_order() {
    let trial = Trial::new().creating(refused());
    let trial = trial.recording(|change| matches!(change, AttemptChange::Failed { refused: true, .. }), Change::Done);
    assert!(matches!(trial.service().open(&attempt()).await, Ok(Opened::Refused { .. })));
}

#[tokio::test]
async fn an_unknown_outcome_is_never_guessed() {
    let trial = Trial::new().creating(unknown());
    let trial = trial.recording(|change| matches!(change, AttemptChange::Postponed { .. }), Change::Done);
    assert_eq!(trial.service().open(&attempt()).await.unwrap(), Opened::Unclear);
}

#[tokio::test]
async fn a_payment_that_is_not_ours_settles_nothing() {
    let spoils: [fn(&mut GatewayPayment); 4] = [
        |p| p.amount = Money::from_minor(1).unwrap(),
        |p| p.currency = "USD".to_owned(),
        |p| p.purpose = OrderId::new(8).ok().map(Purpose::Order),
        |p| p.attempt = None,
    ];
    for spoil in spoils {
        let mut odd = payment(GatewayStatus::Succeeded);
        spoil(&mut odd);
        let trial = Trial::new().creating(CreateAnswer::Known(odd));
        let trial = trial.recording(|change| matches!(change, AttemptChange::Suspicious { .. }), Change::Done);
        assert_eq!(trial.service().open(&attempt()).await.unwrap(), Opened::Unclear);
    }
}

#[tokio::test]
async fn a_repeated_request_that_is_refused_is_looked_up_before_giving_up() {
    let paid = |change: &AttemptChange| matches!(change, AttemptChange::Paid { .. });
    let trial = Trial { age: TimeDelta::minutes(3), ..Trial::new() }.due(attempt()).creating(refused());
    let trial = trial.finding(ReadAnswer::Known(payment(GatewayStatus::Succeeded))).recording(paid, Change::Done);
    assert_eq!(trial.service().reconcile("w", 5).await.unwrap().settled, 1);

    let failed = |change: &AttemptChange| matches!(change, AttemptChange::Failed { refused: true, .. });
    let trial = Trial { age: TimeDelta::minutes(3), ..Trial::new() }.due(attempt()).creating(refused());
    let trial = trial.finding(ReadAnswer::Absent).recording(failed, Change::Done);
    assert_eq!(trial.service().reconcile("w", 5).await.unwrap().settled, 1);
}

#[tokio::test]
async fn after_the_life_of_the_key_nothing_is_asked_for_again() {
    let old = || Trial { age: TimeDelta::hours(23), ..Trial::new() }.due(attempt());
    let failed = |change: &AttemptChange| matches!(change, AttemptChange::Failed { refused: false, .. });
    let trial = old().finding(ReadAnswer::Absent).recording(failed, Change::Done);
    assert_eq!(trial.service().reconcile("w", 5).await.unwrap().settled, 1);
    let postponed = |change: &AttemptChange| matches!(change, AttemptChange::Postponed { .. });
    let trial = old().finding(ReadAnswer::Unknown { why: "500".to_owned() }).recording(postponed, Change::Done);
    assert_eq!(trial.service().reconcile("w", 5).await.unwrap().settled, 0);
}

#[tokio::test]
async fn a_notification_may_overtake_the_answer() {
    let mut trial = Trial::new().reading(ReadAnswer::Known(payment(GatewayStatus::Succeeded)));
    trial.attempts.expect_by_provider().returning(|_| Ok(None));
    trial.attempts.expect_by_key().returning(|_| Ok(Some(attempt())));
    let trial = trial.recording(|change| matches!(change, AttemptChange::Paid { .. }), Change::Done);
    let id = ProviderPaymentId::parse("pay-1").unwrap();
    assert_eq!(trial.service().acquirer_notified(&id).await.unwrap(), Notified::Settled(OrderId::new(7).unwrap()));
}

#[tokio::test]
async fn money_for_an_order_that_was_given_up_is_shouted_about() {
    let mut trial = Trial::new().reading(ReadAnswer::Known(payment(GatewayStatus::Succeeded)));
    trial.attempts.expect_by_provider().returning(|_| Ok(None));
    trial
        .attempts
        .expect_by_key()
        .returning(|_| Ok(Some(PaymentAttempt { state: AttemptState::Refused, ..attempt() })));
    let id = ProviderPaymentId::parse("pay-1").unwrap();
    assert!(matches!(trial.service().acquirer_notified(&id).await, Ok(Notified::Suspicious { .. })));
}

#[tokio::test]
async fn notifications_about_strangers_and_unreadable_payments() {
    let id = ProviderPaymentId::parse("pay-9").unwrap();
    let mut trial = Trial::new().reading(ReadAnswer::Absent);
    trial.attempts.expect_by_provider().returning(|_| Ok(None));
    assert_eq!(trial.service().acquirer_notified(&id).await.unwrap(), Notified::Ignored);
    let mut trial = Trial::new().reading(ReadAnswer::Unknown { why: "500".to_owned() });
    trial.attempts.expect_by_provider().returning(|_| Ok(None));
    assert!(matches!(trial.service().acquirer_notified(&id).await, Ok(Notified::Unreadable { .. })));
}

#[test]
fn questions_become_rarer() {
    let pauses: Vec<_> = (0..6).map(|n| (next_check(n, DateTime::UNIX_EPOCH, None)).timestamp()).collect();
    assert_eq!(pauses, [2, 5, 15, 60, 300, 300]);
    let asked = next_check(0, DateTime::UNIX_EPOCH, Some(Duration::from_secs(40)));
    assert_eq!(asked.timestamp(), 40);
}
