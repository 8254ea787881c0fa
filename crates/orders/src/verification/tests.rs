use std::sync::Arc;

use chrono::{DateTime, TimeDelta};
use kontor_kernel::testing::CountingRandom;
use kontor_kernel::{
    AppScope, ApplicationId, CounterpartyId, CustomerScope, FixedClock, Money, ProjectId, TokenId, VerificationId,
};
use uuid::Uuid;

use super::*;
use crate::change::Change;
use crate::error::VerificationError;
use crate::model::{
    GatewayPayment, GatewayRefund, GatewayStatus, NewVerification, ProviderPaymentId, RefundState, RefundStatus,
    RefundStep, VERIFICATION_WINDOW, Verification, VerificationChange, VerificationRefund, VerificationState,
    VerificationTerms,
};
use crate::ports::{
    CreateAnswer, MockPaymentGateway, MockVerificationStore, ReadAnswer, RefundAnswer, RefundReading, Started,
};

fn terms() -> VerificationTerms {
    VerificationTerms { amount: Money::from_minor(100).unwrap(), return_url: "https://shop.example".to_owned() }
}

fn verification() -> Verification {
    let new = NewVerification {
        project_id: ProjectId::new(1).unwrap(),
        counterparty_id: CounterpartyId::new(4).unwrap(),
        key: Uuid::from_u128(5),
        terms: terms(),
        still_counts_since: DateTime::UNIX_EPOCH,
        next_check_at: DateTime::UNIX_EPOCH,
        at: DateTime::UNIX_EPOCH,
    };
    let id = VerificationId::new(3).unwrap();
    Verification {
        id,
        project_id: new.project_id,
        counterparty_id: new.counterparty_id,
        state: VerificationState::Prepared,
        provider_id: None,
        request: new.request(id),
        confirmation_url: None,
        refund: None,
        checks: 0,
        expires_at: new.expires_at(),
        settled_at: None,
        created_at: new.at,
    }
}

fn paid() -> Verification {
    let refund = VerificationRefund {
        state: RefundState::Due,
        key: Uuid::from_u128(6),
        key_at: DateTime::UNIX_EPOCH,
        tries: 0,
        id: None,
    };
    let state = VerificationState::Succeeded;
    Verification { state, provider_id: Some(pay_1()), refund: Some(refund), ..verification() }
}

fn pay_1() -> ProviderPaymentId {
    ProviderPaymentId::parse("pay-1").unwrap()
}

fn payment(status: GatewayStatus) -> GatewayPayment {
    let request = verification().request;
    GatewayPayment {
        id: pay_1(),
        status,
        amount: request.amount,
        currency: request.currency,
        confirmation_url: Some("https://pay.example/1".to_owned()),
        reason: None,
        purpose: Some(request.purpose),
        attempt: Some(request.attempt),
    }
}

fn refund(status: RefundStatus) -> GatewayRefund {
    GatewayRefund {
        id: ProviderPaymentId::parse("ref-1").unwrap(),
        payment: pay_1(),
        status,
        amount: Money::from_minor(100).unwrap(),
        currency: "RUB".to_owned(),
        reason: None,
    }
}

fn customer() -> CustomerScope {
    let app = AppScope {
        project_id: ProjectId::new(1).unwrap(),
        application_id: ApplicationId::new(1).unwrap(),
        wholesale: false,
    };
    CustomerScope { app, counterparty_id: CounterpartyId::new(4).unwrap(), token_id: TokenId::new(1).unwrap() }
}

#[derive(Default)]
struct Trial {
    store: MockVerificationStore,
    gateway: MockPaymentGateway,
    age: TimeDelta,
}

impl Trial {
    fn starting(mut self, answers: Vec<Started>) -> Self {
        let mut answers = answers.into_iter();
        self.store.expect_start().returning(move |_| Ok(answers.next().unwrap()));
        self.store.expect_find().returning(|_| {
            Ok(Some(Verification { state: VerificationState::Pending, provider_id: Some(pay_1()), ..verification() }))
        });
        self
    }

    fn due(mut self, verification: Verification) -> Self {
        let mut queue = vec![verification];
        self.store.expect_claim().returning(move |_, _, _| Ok(queue.pop()));
        self
    }

    fn creating(mut self, answer: CreateAnswer) -> Self {
        self.gateway.expect_create().withf(|_, key| *key == Uuid::from_u128(5)).return_const(answer);
        self
    }

    fn refunding(mut self, answer: RefundAnswer) -> Self {
        let asked = |request: &crate::model::RefundRequest| {
            request.key == Uuid::from_u128(6) && request.payment == pay_1() && request.amount.minor() == 100
        };
        self.gateway.expect_refund().withf(asked).times(1).return_const(answer);
        self
    }

    fn finding_refund(mut self, answer: RefundReading) -> Self {
        self.gateway.expect_find_refund().times(1).return_const(answer);
        self
    }

    /// Expects this one change to be committed.
    fn recording(mut self, expected: fn(&VerificationChange) -> bool) -> Self {
        self.store
            .expect_record()
            .withf(move |_, change, _| expected(change))
            .times(1)
            .returning(|_, _, _| Ok(Change::Done));
        self
    }

    fn service(self) -> VerificationService {
        let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH + self.age));
        let random = Arc::new(CountingRandom::new());
        VerificationService::new(Arc::new(self.store), Arc::new(self.gateway), clock, random, terms())
    }
}

fn step(change: &VerificationChange) -> Option<&RefundStep> {
    match change {
        VerificationChange::Refund { key, step } if *key == Uuid::from_u128(6) => Some(step),
        _ => None,
    }
}

fn unknown() -> RefundAnswer {
    RefundAnswer::Unknown { why: "timed out".to_owned(), retry_after: None }
}

fn refused() -> RefundAnswer {
    RefundAnswer::Refused { code: "invalid_request".to_owned(), description: "no".to_owned() }
}

#[tokio::test]
async fn a_new_one_is_opened_at_the_acquirer() {
    let trial = Trial::default().starting(vec![Started::New(verification())]);
    let trial = trial.creating(CreateAnswer::Known(payment(GatewayStatus::Pending)));
    let trial = trial.recording(|change| matches!(change, VerificationChange::Pending { .. }));
    assert!(matches!(trial.service().start(customer()).await, Ok(Verifying::Opened(_))));
}

#[tokio::test]
async fn an_unknown_outcome_is_never_guessed() {
    let trial = Trial::default().starting(vec![Started::New(verification())]);
    let trial = trial.creating(CreateAnswer::Unknown { why: "timed out".to_owned(), retry_after: None });
    let trial = trial.recording(|change| matches!(change, VerificationChange::Postponed { .. }));
    assert!(matches!(trial.service().start(customer()).await, Ok(Verifying::Unclear(_))));
}

#[tokio::test]
async fn the_first_refusal_closes_it() {
    let trial = Trial::default().starting(vec![Started::New(verification())]);
    let trial = trial.creating(CreateAnswer::Refused { code: "forbidden".to_owned(), description: String::new() });
    let trial = trial
        .recording(|change| matches!(change, VerificationChange::Failed { state: VerificationState::Refused, .. }));
    let refused = trial.service().start(customer()).await;
    assert!(matches!(refused, Err(VerificationError::PaymentRefused { .. })));
    let gone = Trial::default().starting(vec![Started::Gone]).service().start(customer()).await;
    assert!(matches!(gone, Err(VerificationError::CustomerGone)));
}

#[tokio::test]
async fn one_that_ran_out_of_time_is_cleared_up_before_another_is_started() {
    let open = Verification { state: VerificationState::Pending, provider_id: Some(pay_1()), ..verification() };
    let answers = vec![Started::Present(open.clone()), Started::Present(open.clone())];
    let mut trial = Trial { age: VERIFICATION_WINDOW, ..Trial::default() }.starting(answers);
    let canceled =
        GatewayPayment { reason: Some("expired_on_confirmation".to_owned()), ..payment(GatewayStatus::Canceled) };
    trial.gateway.expect_read().times(1).return_const(ReadAnswer::Known(canceled));
    let trial = trial
        .recording(|change| matches!(change, VerificationChange::Failed { state: VerificationState::Expired, .. }));
    assert_eq!(trial.service().start(customer()).await.unwrap(), Verifying::Present(open.clone()));
    // Before that nobody is asked.
    let trial = Trial::default().starting(vec![Started::Present(open.clone())]);
    assert_eq!(trial.service().start(customer()).await.unwrap(), Verifying::Present(open));
}

#[tokio::test]
async fn a_payment_verifies_and_makes_the_refund_due() {
    let mut trial = Trial::default();
    trial.store.expect_by_provider().returning(|_| Ok(None));
    trial.store.expect_by_key().returning(|_| Ok(Some(verification())));
    trial.gateway.expect_read().return_const(ReadAnswer::Known(payment(GatewayStatus::Succeeded)));
    let trial = trial.recording(|change| matches!(change, VerificationChange::Verified { .. }));
    let notice = trial.service().acquirer_notified(&pay_1()).await.unwrap();
    assert_eq!(notice, Notice::Heard(VerificationId::new(3).unwrap()));
}

#[tokio::test]
async fn a_payment_that_is_not_the_one_asked_for_verifies_nobody() {
    let mut trial = Trial::default().due(verification());
    let odd = GatewayPayment { amount: Money::from_minor(1).unwrap(), ..payment(GatewayStatus::Succeeded) };
    trial.gateway.expect_create().return_const(CreateAnswer::Known(odd));
    let trial = trial.recording(|change| matches!(change, VerificationChange::Postponed { .. }));
    assert_eq!(trial.service().reconcile("w", 5).await.unwrap().suspicious.len(), 1);
}

#[tokio::test]
async fn money_for_one_that_was_given_up_is_shouted_about() {
    let mut trial = Trial::default();
    trial.store.expect_by_provider().returning(|_| Ok(None));
    let refused = Verification { state: VerificationState::Refused, ..verification() };
    trial.store.expect_by_key().returning(move |_| Ok(Some(refused.clone())));
    trial.gateway.expect_read().return_const(ReadAnswer::Known(payment(GatewayStatus::Succeeded)));
    assert!(matches!(trial.service().acquirer_notified(&pay_1()).await, Ok(Notice::Suspicious { .. })));
}

#[tokio::test]
async fn a_refund_is_asked_for_under_its_key_until_it_is_known() {
    let done = |change: &VerificationChange| matches!(step(change), Some(RefundStep::Done { .. }));
    let trial = Trial::default().due(paid()).refunding(RefundAnswer::Known(refund(RefundStatus::Succeeded)));
    assert!(trial.recording(done).service().reconcile("w", 5).await.unwrap().suspicious.is_empty());
    let pending = |change: &VerificationChange| matches!(step(change), Some(RefundStep::Pending { .. }));
    let trial = Trial::default().due(paid()).refunding(RefundAnswer::Known(refund(RefundStatus::Pending)));
    trial.recording(pending).service().reconcile("w", 5).await.unwrap();
    let postponed = |change: &VerificationChange| matches!(step(change), Some(RefundStep::Postponed { .. }));
    Trial::default().due(paid()).refunding(unknown()).recording(postponed).service().reconcile("w", 5).await.unwrap();
}

#[tokio::test]
async fn a_refused_refund_is_looked_up_before_another_key_is_made() {
    let done = |change: &VerificationChange| matches!(step(change), Some(RefundStep::Done { .. }));
    let known = RefundReading::Known(refund(RefundStatus::Succeeded));
    let trial = Trial::default().due(paid()).refunding(refused()).finding_refund(known);
    assert!(trial.recording(done).service().reconcile("w", 5).await.unwrap().suspicious.is_empty());
    let again = |change: &VerificationChange| matches!(step(change), Some(RefundStep::Again { .. }));
    let trial = Trial::default().due(paid()).refunding(refused()).finding_refund(RefundReading::Absent);
    assert_eq!(trial.recording(again).service().reconcile("w", 5).await.unwrap().suspicious.len(), 1);
    let postponed = |change: &VerificationChange| matches!(step(change), Some(RefundStep::Postponed { .. }));
    let nobody_knows = RefundReading::Unknown { why: "500".to_owned() };
    let trial = Trial::default().due(paid()).refunding(refused()).finding_refund(nobody_knows);
    trial.recording(postponed).service().reconcile("w", 5).await.unwrap();
}

#[tokio::test]
async fn after_the_life_of_its_key_a_refund_is_only_looked_for() {
    let old = || Trial { age: TimeDelta::hours(23), ..Trial::default() }.due(paid());
    let done = |change: &VerificationChange| matches!(step(change), Some(RefundStep::Done { .. }));
    let known = RefundReading::Known(refund(RefundStatus::Succeeded));
    old().finding_refund(known).recording(done).service().reconcile("w", 5).await.unwrap();
    let again = |change: &VerificationChange| matches!(step(change), Some(RefundStep::Again { .. }));
    old().finding_refund(RefundReading::Absent).recording(again).service().reconcile("w", 5).await.unwrap();
}

#[tokio::test]
async fn in_the_end_people_must_look() {
    let mut tired = paid();
    tired.refund = tired.refund.map(|refund| VerificationRefund { tries: 11, ..refund });
    let given_up = |change: &VerificationChange| matches!(step(change), Some(RefundStep::GivenUp { .. }));
    let trial = Trial::default().due(tired).refunding(refused()).finding_refund(RefundReading::Absent);
    assert_eq!(trial.recording(given_up).service().reconcile("w", 5).await.unwrap().suspicious.len(), 1);
    let odd = |change: &VerificationChange| matches!(step(change), Some(RefundStep::Odd { .. }));
    let other = GatewayRefund { amount: Money::from_minor(1).unwrap(), ..refund(RefundStatus::Succeeded) };
    let trial = Trial::default().due(paid()).refunding(RefundAnswer::Known(other));
    assert_eq!(trial.recording(odd).service().reconcile("w", 5).await.unwrap().suspicious.len(), 1);
}
