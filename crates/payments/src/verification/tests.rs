use kontor_kernel::testing::CountingRandom;
use kontor_kernel::{AppScope, ChargeId, FixedClock, TokenId};

use super::*;
use crate::change::{Change, ChargeChange};
use crate::model::{ChargeFailure, GatewayPayment, GatewayStatus, ProviderId};
use crate::ports::{Answer, MockChargeStore, MockPaymentGateway, MockVerificationStore, Reading};
use crate::testing::samples::payment_of;

fn terms() -> VerificationTerms {
    VerificationTerms { amount: Money::from_minor(100).unwrap(), return_url: "https://shop.example".to_owned() }
}

fn verification() -> Verification {
    let new = NewVerification {
        project_id: ProjectId::new(1).unwrap(),
        application_id: ApplicationId::new(1).unwrap(),
        counterparty_id: CounterpartyId::new(4).unwrap(),
        key: Uuid::from_u128(5),
        terms: terms(),
        still_counts_since: DateTime::UNIX_EPOCH,
        next_check_at: DateTime::UNIX_EPOCH,
        at: DateTime::UNIX_EPOCH,
    };
    let id = VerificationId::new(3).unwrap();
    let charge = new.charge(id).stored_as(ChargeId::new(9).unwrap());
    Verification { id, charge, expires_at: new.expires_at() }
}

fn pending() -> Verification {
    let verification = verification();
    let charge = Charge { state: ChargeState::Pending, provider_id: Some(pay_1()), ..verification.charge };
    Verification { charge, ..verification }
}

fn pay_1() -> ProviderId {
    ProviderId::parse("pay-1").unwrap()
}

fn payment(status: GatewayStatus) -> GatewayPayment {
    let confirmation_url = Some("https://pay.example/1".to_owned());
    GatewayPayment { confirmation_url, ..payment_of(&verification().charge, status) }
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
    charges: MockChargeStore,
    gateway: MockPaymentGateway,
    age: TimeDelta,
}

impl Trial {
    fn starting(mut self, answers: Vec<VerificationStored>) -> Self {
        let mut answers = answers.into_iter();
        self.store.expect_start().returning(move |_| Ok(answers.next().unwrap()));
        self.store.expect_find().returning(|_| Ok(Some(pending())));
        self
    }

    fn creating(mut self, answer: Answer<GatewayPayment>) -> Self {
        self.gateway.expect_create().withf(|request| request.key == Uuid::from_u128(5)).return_const(answer);
        self
    }

    /// Expects this one change to be committed.
    fn recording(mut self, expected: fn(&ChargeChange) -> bool) -> Self {
        self.charges
            .expect_record()
            .withf(move |_, change, _| expected(change))
            .times(1)
            .returning(|_, _, _| Ok(Change::Done));
        self
    }

    fn service(self) -> VerificationService {
        let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH + self.age));
        let random = Arc::new(CountingRandom::new());
        let (charges, gateway) = (Arc::new(self.charges), Arc::new(self.gateway));
        let charges = ChargeService { charges, gateway, clock: clock.clone(), random: random.clone() };
        VerificationService { store: Arc::new(self.store), charges: Arc::new(charges), clock, random, terms: terms() }
    }
}

#[tokio::test]
async fn a_new_one_is_opened_at_the_acquirer() {
    let trial = Trial::default().starting(vec![VerificationStored::New(verification())]);
    let trial = trial.creating(Answer::Known(payment(GatewayStatus::Pending)));
    let trial = trial.recording(|change| matches!(change, ChargeChange::Pending { .. }));
    assert!(matches!(trial.service().start(customer()).await, Ok(StartedVerification::PaymentRequested(_))));
}

#[tokio::test]
async fn an_unknown_outcome_is_never_guessed() {
    let trial = Trial::default().starting(vec![VerificationStored::New(verification())]);
    let trial = trial.creating(Answer::Unknown { why: "timed out".to_owned(), retry_after: None });
    let trial = trial.recording(|change| matches!(change, ChargeChange::Postponed { unanswered: true, .. }));
    assert!(matches!(trial.service().start(customer()).await, Ok(StartedVerification::OutcomeUnknown(_))));
}

#[tokio::test]
async fn the_first_refusal_closes_it() {
    let trial = Trial::default().starting(vec![VerificationStored::New(verification())]);
    let trial = trial.creating(Answer::Refused { code: "forbidden".to_owned(), description: String::new() });
    let refused =
        |change: &ChargeChange| matches!(change, ChargeChange::Failed { failure: ChargeFailure::Refused, .. });
    let refused = trial.recording(refused).service().start(customer()).await;
    assert!(matches!(refused, Err(VerificationError::PaymentRefused { .. })));
    let gone = Trial::default().starting(vec![VerificationStored::CustomerDeleted]).service().start(customer()).await;
    assert!(matches!(gone, Err(VerificationError::CustomerDeleted)));
}

#[tokio::test]
async fn one_that_ran_out_of_time_is_cleared_up_before_another_is_started() {
    let open = pending();
    let answers = vec![VerificationStored::Existing(open.clone()), VerificationStored::Existing(open.clone())];
    let mut trial = Trial { age: VERIFICATION_WINDOW, ..Trial::default() }.starting(answers);
    let reason = Some("expired_on_confirmation".to_owned());
    let canceled = GatewayPayment { reason, ..payment(GatewayStatus::Canceled) };
    trial.gateway.expect_read().times(1).return_const(Reading::Known(canceled));
    let expired =
        |change: &ChargeChange| matches!(change, ChargeChange::Failed { failure: ChargeFailure::Expired, .. });
    assert_eq!(
        trial.recording(expired).service().start(customer()).await.unwrap(),
        StartedVerification::Existing(open.clone())
    );
    // Before that the acquirer is not called.
    let trial = Trial::default().starting(vec![VerificationStored::Existing(open.clone())]);
    assert_eq!(trial.service().start(customer()).await.unwrap(), StartedVerification::Existing(open));
}

#[test]
fn a_verification_is_charged_by_its_terms_and_lasts_for_its_window() {
    let verification = verification();
    let request = &verification.charge.request;
    assert_eq!((request.amount, request.description.as_str()), (terms().amount, "Verification 3"));
    assert_eq!((request.purpose.number(), request.save_method), (3, false));
    assert_eq!(verification.expires_at, DateTime::UNIX_EPOCH + VERIFICATION_WINDOW);
}

#[tokio::test]
async fn a_started_verification_counts_for_a_day_and_is_checked_soon() {
    let mut trial = Trial { age: TimeDelta::days(2), ..Trial::default() };
    let at = DateTime::UNIX_EPOCH + TimeDelta::days(2);
    trial
        .store
        .expect_start()
        .withf(move |new| {
            (new.at, new.still_counts_since, new.next_check_at)
                == (at, at - TimeDelta::hours(24), at + TimeDelta::seconds(60))
        })
        .times(1)
        .returning(|_| Ok(VerificationStored::CustomerDeleted));
    assert!(matches!(trial.service().start(customer()).await, Err(VerificationError::CustomerDeleted)));
}

#[tokio::test]
async fn one_that_is_settled_is_shown_and_not_looked_up() {
    let settled = Verification { charge: Charge { state: ChargeState::Succeeded, ..pending().charge }, ..pending() };
    let trial = Trial { age: VERIFICATION_WINDOW, ..Trial::default() }
        .starting(vec![VerificationStored::Existing(settled.clone())]);
    assert_eq!(trial.service().start(customer()).await.unwrap(), StartedVerification::Existing(settled));
}

#[tokio::test]
async fn one_whose_payment_is_not_known_after_all_is_unclear() {
    let opening = |answer| Trial::default().creating(answer);
    let mut trial = opening(Answer::Known(payment(GatewayStatus::Pending)));
    trial.store.expect_start().returning(|_| Ok(VerificationStored::New(verification())));
    trial.store.expect_find().returning(|_| Ok(Some(verification())));
    let trial = trial.recording(|change| matches!(change, ChargeChange::Pending { .. }));
    assert_eq!(trial.service().start(customer()).await.unwrap(), StartedVerification::OutcomeUnknown(verification()));
    // A storage error after the commit is no failure of the verification.
    let mut trial = opening(Answer::Known(payment(GatewayStatus::Pending)));
    trial.store.expect_start().returning(|_| Ok(VerificationStored::New(verification())));
    trial.store.expect_find().returning(|_| Ok(Some(pending())));
    trial.charges.expect_record().returning(|_, _, _| Err(StoreError::Failed(String::new())));
    assert_eq!(trial.service().start(customer()).await.unwrap(), StartedVerification::OutcomeUnknown(pending()));
}
