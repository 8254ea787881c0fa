use chrono::{DateTime, TimeDelta};
use kontor_kernel::testing::CountingRandom;
use kontor_kernel::{FixedClock, Money, OrderId, SavedMethodId, VerificationId};
use strum::VariantArray;
use uuid::Uuid;

use super::*;
use crate::model::testing::a_receipt;
use crate::model::{ChargeRequest, GatewayMethod, MethodReference, PaymentMethod, Renewal};
use crate::ports::{MockChargeStore, MockPaymentGateway};
use crate::testing::samples;

fn purpose() -> ChargePurpose {
    ChargePurpose::Order(OrderId::new(7).unwrap())
}

fn charge() -> Charge {
    samples::charge(purpose(), Money::from_minor(26_500).unwrap())
}

fn payment(status: GatewayStatus) -> GatewayPayment {
    let confirmation_url = Some("https://pay.example/1".to_owned());
    GatewayPayment { confirmation_url, ..samples::payment_of(&charge(), status) }
}

struct Trial {
    charges: MockChargeStore,
    gateway: MockPaymentGateway,
    age: TimeDelta,
}

impl Trial {
    fn new() -> Self {
        Self { charges: MockChargeStore::new(), gateway: MockPaymentGateway::new(), age: TimeDelta::zero() }
    }

    fn creating(mut self, answer: Answer<GatewayPayment>) -> Self {
        self.gateway.expect_create().withf(|request| *request == charge().request).return_const(answer);
        self
    }

    fn reading(mut self, answer: Reading<GatewayPayment>) -> Self {
        self.gateway.expect_read().return_const(answer);
        self
    }

    fn finding(mut self, answer: Reading<GatewayPayment>) -> Self {
        self.gateway.expect_find().return_const(answer);
        self
    }

    /// Expects this one change to be committed.
    fn recording(mut self, expected: fn(&ChargeChange) -> bool, outcome: Change) -> Self {
        self.charges
            .expect_record()
            .withf(move |_, change, _| expected(change))
            .times(1)
            .returning(move |_, _, _| Ok(outcome));
        self
    }

    fn due(mut self, charge: Charge) -> Self {
        let mut queue = vec![charge];
        self.charges.expect_lease().returning(move |_, _, _| Ok(queue.pop()));
        self
    }

    fn service(self) -> ChargeService {
        let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH + self.age));
        ChargeService {
            charges: Arc::new(self.charges),
            gateway: Arc::new(self.gateway),
            clock,
            random: Arc::new(CountingRandom::new()),
        }
    }
}

fn refused() -> Answer<GatewayPayment> {
    Answer::Refused { code: "invalid_request".to_owned(), description: "no".to_owned() }
}

fn unknown() -> Answer<GatewayPayment> {
    Answer::Unknown { why: "timed out".to_owned(), retry_after: None }
}

#[tokio::test]
async fn the_first_refusal_is_final() {
    let trial = Trial::new().creating(refused());
    let trial = trial.recording(
        |change| matches!(change, ChargeChange::Failed { failure: ChargeFailure::Refused, .. }),
        Change::Done,
    );
    assert!(matches!(trial.service().open(&charge()).await, Ok(PaymentRequested::Refused { .. })));
}

#[tokio::test]
async fn an_unknown_outcome_is_never_guessed() {
    let trial = Trial::new().creating(unknown());
    let trial = trial.recording(|change| matches!(change, ChargeChange::Postponed { .. }), Change::Done);
    assert_eq!(trial.service().open(&charge()).await.unwrap(), PaymentRequested::OutcomeUnknown);
}

#[tokio::test]
async fn a_foreign_payment_settles_no_charge() {
    let spoils: [fn(&mut GatewayPayment); 4] = [
        |p| p.amount = Money::from_minor(1).unwrap(),
        |p| p.currency = "USD".to_owned(),
        |p| p.purpose = OrderId::new(8).ok().map(ChargePurpose::Order),
        |p| p.key = None,
    ];
    for spoil in spoils {
        let mut odd = payment(GatewayStatus::Succeeded);
        spoil(&mut odd);
        let trial = Trial::new().creating(Answer::Known(odd));
        let trial = trial.recording(|change| matches!(change, ChargeChange::Suspicious { .. }), Change::Done);
        assert_eq!(trial.service().open(&charge()).await.unwrap(), PaymentRequested::OutcomeUnknown);
    }
}

#[tokio::test]
async fn a_repeated_request_that_is_refused_is_looked_up_before_giving_up() {
    let paid = |change: &ChargeChange| matches!(change, ChargeChange::Succeeded { .. });
    let trial = Trial { age: TimeDelta::minutes(3), ..Trial::new() }.due(charge()).creating(refused());
    let trial = trial.finding(Reading::Known(payment(GatewayStatus::Succeeded))).recording(paid, Change::Done);
    assert_eq!(trial.service().reconcile("w", 5).await.unwrap().settled, 1);

    let failed = |change: &ChargeChange| matches!(change, ChargeChange::Failed { failure: ChargeFailure::Refused, .. });
    let trial = Trial { age: TimeDelta::minutes(3), ..Trial::new() }.due(charge()).creating(refused());
    let trial = trial.finding(Reading::Absent).recording(failed, Change::Done);
    assert_eq!(trial.service().reconcile("w", 5).await.unwrap().settled, 1);
}

#[tokio::test]
async fn an_expired_key_is_not_used_again() {
    let old = || Trial { age: TimeDelta::hours(23), ..Trial::new() }.due(charge());
    let failed =
        |change: &ChargeChange| matches!(change, ChargeChange::Failed { failure: ChargeFailure::Canceled, .. });
    let trial = old().finding(Reading::Absent).recording(failed, Change::Done);
    assert_eq!(trial.service().reconcile("w", 5).await.unwrap().settled, 1);
    let postponed = |change: &ChargeChange| matches!(change, ChargeChange::Postponed { .. });
    let trial = old().finding(Reading::Unknown { why: "500".to_owned() }).recording(postponed, Change::Done);
    assert_eq!(trial.service().reconcile("w", 5).await.unwrap().settled, 0);
}

#[tokio::test]
async fn a_notification_may_overtake_the_answer() {
    let mut trial = Trial::new().reading(Reading::Known(payment(GatewayStatus::Succeeded)));
    trial.charges.expect_by_provider().returning(|_| Ok(None));
    trial.charges.expect_by_key().returning(|_| Ok(Some(charge())));
    let trial = trial.recording(|change| matches!(change, ChargeChange::Succeeded { .. }), Change::Done);
    let id = ProviderId::parse("pay-1").unwrap();
    assert_eq!(trial.service().handle_notification(&id, None).await.unwrap(), NotificationResult::Settled(purpose()));
}

#[tokio::test]
async fn money_for_a_failed_charge_is_reported() {
    let mut trial = Trial::new().reading(Reading::Known(payment(GatewayStatus::Succeeded)));
    trial.charges.expect_by_provider().returning(|_| Ok(None));
    trial.charges.expect_by_key().returning(|_| Ok(Some(Charge { state: ChargeState::Refused, ..charge() })));
    trial.charges.expect_record_contradiction().once().returning(|_, _, _| Ok(()));
    let id = ProviderId::parse("pay-1").unwrap();
    assert!(matches!(trial.service().handle_notification(&id, None).await, Ok(NotificationResult::Suspicious { .. })));
}

#[tokio::test]
async fn a_charge_ends_once() {
    use GatewayStatus::{Canceled, Pending, Succeeded};
    let id = ProviderId::parse("pay-1").unwrap();
    for recorded in ChargeState::VARIANTS.iter().copied().filter(|state| !state.is_open()) {
        let arrived = recorded == ChargeState::Succeeded;
        for (reported, shown) in [Canceled, Pending, Succeeded]
            .map(Some)
            .into_iter()
            .chain([None])
            .flat_map(|reported| [Canceled, Pending, Succeeded].map(|shown| (reported, shown)))
        {
            let opposite = |status| status == if arrived { Canceled } else { Succeeded };
            let mut trial = Trial::new();
            let known = Charge { state: recorded, provider_id: Some(id.clone()), ..charge() };
            trial.charges.expect_by_provider().returning(move |_| Ok(Some(known.clone())));
            // Mocks refuse unexpected calls: a notification that fits the outcome causes no read.
            if reported.is_some_and(opposite) {
                trial = trial.reading(Reading::Known(payment(shown)));
                if opposite(shown) {
                    trial.charges.expect_record_contradiction().once().returning(|_, _, _| Ok(()));
                }
            }
            let suspicious = reported.is_some_and(opposite) && opposite(shown);
            let notified = trial.service().handle_notification(&id, reported).await.unwrap();
            assert_eq!(
                matches!(notified, NotificationResult::Suspicious { .. }),
                suspicious,
                "{recorded:?} {reported:?} {shown:?}"
            );
            assert_eq!(notified == NotificationResult::AlreadySettled(purpose()), !suspicious, "{notified:?}");
        }
    }
}

#[tokio::test]
async fn notifications_about_foreign_and_unreadable_payments() {
    let id = ProviderId::parse("pay-9").unwrap();
    let mut trial = Trial::new().reading(Reading::Absent);
    trial.charges.expect_by_provider().returning(|_| Ok(None));
    assert_eq!(trial.service().handle_notification(&id, None).await.unwrap(), NotificationResult::Ignored);
    let mut trial = Trial::new().reading(Reading::Unknown { why: "500".to_owned() });
    trial.charges.expect_by_provider().returning(|_| Ok(None));
    assert!(matches!(trial.service().handle_notification(&id, None).await, Ok(NotificationResult::Unreadable { .. })));
}

#[tokio::test]
async fn a_refusal_after_an_unanswered_request_waits_until_its_payment_would_show() {
    let lost = Charge { asked_at: DateTime::UNIX_EPOCH + TimeDelta::minutes(2), ..charge() };
    let trial = Trial { age: TimeDelta::minutes(3), ..Trial::new() }.due(lost.clone()).creating(refused());
    let postponed = |change: &ChargeChange| matches!(change, ChargeChange::Postponed { unanswered: false, .. });
    let trial = trial.finding(Reading::Absent).recording(postponed, Change::Done);
    assert_eq!(trial.service().reconcile("w", 5).await.unwrap().settled, 0);
    let trial = Trial { age: TimeDelta::minutes(4), ..Trial::new() }.due(lost).creating(refused());
    let failed = |change: &ChargeChange| matches!(change, ChargeChange::Failed { .. });
    let trial = trial.finding(Reading::Absent).recording(failed, Change::Done);
    assert_eq!(trial.service().reconcile("w", 5).await.unwrap().settled, 1);
}

#[tokio::test]
async fn a_method_is_saved_when_the_charge_asked_for_it() {
    let method = GatewayMethod {
        provider_id: ProviderId::parse("pm-1").unwrap(),
        method: PaymentMethod::BankCard,
        card_type: Some("Mir".to_owned()),
        card_last_4: Some("4444".to_owned()),
        title: None,
    };
    let paid = GatewayPayment { saved_method: Some(method), ..payment(GatewayStatus::Succeeded) };
    let asking = Charge { request: ChargeRequest { save_method: true, ..charge().request }, ..charge() };
    let saves = |change: &ChargeChange| matches!(change, ChargeChange::Succeeded { method: Some(_), .. });
    let mut trial = Trial::new().recording(saves, Change::Done);
    trial.gateway.expect_create().return_const(Answer::Known(paid.clone()));
    assert_eq!(trial.service().open(&asking).await.unwrap(), PaymentRequested::Known);
    let keeps = |change: &ChargeChange| matches!(change, ChargeChange::Succeeded { method: None, refund: None, .. });
    let trial = Trial::new().creating(Answer::Known(paid)).recording(keeps, Change::Done);
    assert_eq!(trial.service().open(&charge()).await.unwrap(), PaymentRequested::Known);
}

#[tokio::test]
async fn money_that_proves_something_is_due_back_at_once() {
    let purpose = ChargePurpose::Verification(VerificationId::new(3).unwrap());
    let proof = Charge { request: ChargeRequest { purpose, ..charge().request }, ..charge() };
    let paid = GatewayPayment { purpose: Some(purpose), ..payment(GatewayStatus::Succeeded) };
    let returned = |change: &ChargeChange| matches!(change, ChargeChange::Succeeded { refund: Some(refund), .. } if refund.amount().minor() == 26_500);
    let mut trial = Trial::new().recording(returned, Change::Done);
    trial.gateway.expect_create().return_const(Answer::Known(paid));
    assert_eq!(trial.service().open(&proof).await.unwrap(), PaymentRequested::Known);
}

#[tokio::test]
async fn a_payment_the_payer_let_run_out_has_expired() {
    let reason = Some("expired_on_confirmation".to_owned());
    let late = GatewayPayment { reason, ..payment(GatewayStatus::Canceled) };
    let expired =
        |change: &ChargeChange| matches!(change, ChargeChange::Failed { failure: ChargeFailure::Expired, .. });
    let trial = Trial::new().due(charge()).creating(Answer::Known(late)).recording(expired, Change::Done);
    assert_eq!(trial.service().reconcile("w", 5).await.unwrap().settled, 1);
}

fn pending() -> Charge {
    Charge { state: ChargeState::Pending, provider_id: ProviderId::parse("pay-1").ok(), ..charge() }
}

fn taken_back() -> GatewayPayment {
    GatewayPayment { reason: Some("canceled_by_merchant".to_owned()), ..payment(GatewayStatus::Canceled) }
}

fn withdrawn(change: &ChargeChange) -> bool {
    matches!(change, ChargeChange::Failed { failure: ChargeFailure::Withdrawn, .. })
}

async fn withdrawing(trial: Trial, answer: Answer<GatewayPayment>) -> CancelOutcome {
    let mut trial = trial;
    trial.gateway.expect_cancel().once().return_const(answer);
    trial.service().withdraw(&pending()).await.unwrap()
}

#[tokio::test]
async fn an_unpaid_payment_is_withdrawn() {
    let trial = Trial::new().recording(withdrawn, Change::Done);
    assert_eq!(withdrawing(trial, Answer::Known(taken_back())).await, CancelOutcome::Settled);
    // A lost answer, and an answer to a repeated request.
    for answer in [unknown(), refused()] {
        let trial = Trial::new().reading(Reading::Known(taken_back())).recording(withdrawn, Change::Done);
        assert_eq!(withdrawing(trial, answer).await, CancelOutcome::Settled);
    }
}

#[tokio::test]
async fn open_and_unknown_payments_are_not_canceled() {
    let open = || Trial::new().reading(Reading::Known(payment(GatewayStatus::Pending)));
    assert!(matches!(withdrawing(open(), refused()).await, CancelOutcome::Refused { .. }));
    assert!(matches!(withdrawing(open(), unknown()).await, CancelOutcome::OutcomeUnknown { .. }));
    let silent = Trial::new().reading(Reading::Unknown { why: "500".to_owned() });
    assert!(matches!(withdrawing(silent, unknown()).await, CancelOutcome::OutcomeUnknown { .. }));
    // A payment that may not exist is not canceled at the acquirer.
    assert!(matches!(Trial::new().service().withdraw(&charge()).await, Ok(CancelOutcome::OutcomeUnknown { .. })));
}

#[tokio::test]
async fn money_that_arrived_first_counts() {
    let paid = |change: &ChargeChange| matches!(change, ChargeChange::Succeeded { .. });
    let trial = Trial::new().reading(Reading::Known(payment(GatewayStatus::Succeeded))).recording(paid, Change::Done);
    assert_eq!(withdrawing(trial, refused()).await, CancelOutcome::Settled);
}

fn by_saved_method() -> Charge {
    let saved_method =
        Some(MethodReference { id: SavedMethodId::new(3).unwrap(), provider_id: ProviderId::parse("pm-1").unwrap() });
    Charge { request: ChargeRequest { saved_method, ..charge().request }, ..charge() }
}

#[tokio::test]
async fn a_method_that_was_deleted_is_charged_no_more() {
    let mut trial = Trial::new();
    let until = DateTime::UNIX_EPOCH + TimeDelta::seconds(60);
    trial.charges.expect_mark_sending().withf(move |_, moment| *moment == until).times(1).returning(|_, _| Ok(false));
    // The gateway expects no calls: any call fails the test.
    let trial = trial.recording(withdrawn, Change::Done);
    let opened = trial.service().open(&by_saved_method()).await.unwrap();
    assert_eq!(opened, PaymentRequested::Refused { reason: "payment_method_deleted".to_owned() });

    let mut raced = Trial::new();
    raced.charges.expect_mark_sending().returning(|_, _| Ok(false));
    let raced = raced.recording(withdrawn, Change::Stale);
    assert_eq!(
        raced.service().open(&by_saved_method()).await.unwrap(),
        PaymentRequested::Known,
        "somebody else was first"
    );
}

#[tokio::test]
async fn a_deleted_method_is_looked_for_once_it_may_have_been_asked() {
    let mut trial = Trial { age: TimeDelta::minutes(3), ..Trial::new() }.due(by_saved_method());
    trial.charges.expect_mark_sending().times(1).returning(|_, _| Ok(false));
    let trial = trial.finding(Reading::Absent).recording(withdrawn, Change::Done);
    assert_eq!(trial.service().reconcile("w", 5).await.unwrap().settled, 1);
    // A charge that may still be sent is requested again under the same key.
    let mut trial = Trial { age: TimeDelta::minutes(3), ..Trial::new() }.due(by_saved_method());
    trial.charges.expect_mark_sending().times(1).returning(|_, _| Ok(true));
    trial.gateway.expect_create().times(1).return_const(Answer::Known(payment(GatewayStatus::Pending)));
    let trial = trial.recording(|change| matches!(change, ChargeChange::Pending { .. }), Change::Done);
    let round = trial.service().reconcile("w", 5).await.unwrap();
    assert_eq!((round.checked, round.settled, round.suspicious), (1, 0, vec![]));
}

#[tokio::test]
async fn a_payment_that_is_known_is_only_read() {
    let reads = |reading| Trial::new().due(Charge { ..pending() }).reading(reading);
    let suspicious = |change: &ChargeChange| matches!(change, ChargeChange::Suspicious { next_check_at, .. } if *next_check_at == DateTime::UNIX_EPOCH + TimeDelta::hours(1));
    let trial = reads(Reading::Absent).recording(suspicious, Change::Done);
    let round = trial.service().reconcile("w", 5).await.unwrap();
    assert_eq!(round.suspicious, [(purpose(), "the acquirer no longer knows payment pay-1".to_owned())]);
    let postponed = |change: &ChargeChange| matches!(change, ChargeChange::Postponed { unanswered: false, .. });
    let trial = reads(Reading::Unknown { why: "500".to_owned() }).recording(postponed, Change::Done);
    let round = trial.service().reconcile("w", 5).await.unwrap();
    assert_eq!((round.checked, round.settled, round.suspicious), (1, 0, vec![]));
}

#[tokio::test]
async fn a_round_checks_no_more_than_it_was_asked_to() {
    let mut trial = Trial::new().reading(Reading::Unknown { why: "500".to_owned() });
    let lease = TimeDelta::seconds(150);
    trial
        .charges
        .expect_lease()
        .withf(move |_, at, until| *until == *at + lease)
        .returning(|_, _, _| Ok(Some(pending())));
    trial.charges.expect_record().times(3).returning(|_, _, _| Ok(Change::Done));
    assert_eq!(trial.service().reconcile("w", 3).await.unwrap().checked, 3);
}

#[tokio::test]
async fn a_settled_charge_is_not_settled_again() {
    let paid = || Reading::Known(payment(GatewayStatus::Succeeded));
    let succeeded = |change: &ChargeChange| matches!(change, ChargeChange::Succeeded { .. });
    let id = ProviderId::parse("pay-1").unwrap();
    let settled = |state| {
        let settled = Charge { state, provider_id: ProviderId::parse("pay-1").ok(), ..charge() };
        move |_| Ok(Some(settled.clone()))
    };
    let mut trial = Trial::new().due(pending()).reading(paid()).recording(succeeded, Change::Stale);
    trial.charges.expect_find().returning(settled(ChargeState::Succeeded));
    assert_eq!(trial.service().reconcile("w", 5).await.unwrap().settled, 0);
    for (state, contradictions) in [(ChargeState::Succeeded, 0), (ChargeState::Canceled, 1)] {
        let mut trial = Trial::new().reading(paid()).recording(succeeded, Change::Stale);
        trial.charges.expect_by_provider().returning(|_| Ok(Some(pending())));
        trial.charges.expect_find().returning(settled(state));
        trial.charges.expect_record_contradiction().times(contradictions).returning(|_, _, _| Ok(()));
        let notified = trial.service().handle_notification(&id, Some(GatewayStatus::Succeeded)).await.unwrap();
        assert_eq!(matches!(notified, NotificationResult::Suspicious { .. }), contradictions == 1, "{notified:?}");
        assert_eq!(notified == NotificationResult::AlreadySettled(purpose()), contradictions == 0, "{notified:?}");
    }
}

#[tokio::test]
async fn a_notification_about_a_payment_that_goes_on_settles_nothing() {
    let mut trial = Trial::new().reading(Reading::Known(payment(GatewayStatus::Pending)));
    trial.charges.expect_by_provider().returning(|_| Ok(Some(pending())));
    let trial = trial.recording(|change| matches!(change, ChargeChange::Pending { .. }), Change::Done);
    let id = ProviderId::parse("pay-1").unwrap();
    assert_eq!(trial.service().handle_notification(&id, None).await.unwrap(), NotificationResult::StillOpen(purpose()));
    // Nor does an unknown payment, with a foreign key or without one.
    for key in [None, Some(Uuid::from_u128(6))] {
        let mut trial =
            Trial::new().reading(Reading::Known(GatewayPayment { key, ..payment(GatewayStatus::Succeeded) }));
        trial.charges.expect_by_provider().returning(|_| Ok(None));
        trial.charges.expect_by_key().returning(|_| Ok(None));
        assert_eq!(trial.service().handle_notification(&id, None).await.unwrap(), NotificationResult::Ignored);
    }
}

#[tokio::test]
async fn a_receipt_is_waited_for_when_one_was_asked_for() {
    let receipt = Some(a_receipt(charge().request.amount));
    let asking = Charge { request: ChargeRequest { receipt, ..charge().request }, ..charge() };
    let reported = |registration| GatewayPayment { receipt: registration, ..payment(GatewayStatus::Succeeded) };
    let open = async |charge: &Charge, paid, expected: fn(&ChargeChange) -> bool| {
        let mut trial = Trial::new().recording(expected, Change::Done);
        trial.gateway.expect_create().return_const(Answer::Known(paid));
        trial.service().open(charge).await.unwrap()
    };
    let waits =
        |change: &ChargeChange| matches!(change, ChargeChange::Succeeded { receipt: Some(Registration::Pending), .. });
    assert_eq!(open(&asking, reported(None), waits).await, PaymentRequested::Known);
    let done = |change: &ChargeChange| {
        matches!(change, ChargeChange::Succeeded { receipt: Some(Registration::Succeeded), .. })
    };
    assert_eq!(open(&asking, reported(Some(Registration::Succeeded)), done).await, PaymentRequested::Known);
    let none = |change: &ChargeChange| matches!(change, ChargeChange::Succeeded { receipt: None, .. });
    assert_eq!(open(&charge(), reported(Some(Registration::Succeeded)), none).await, PaymentRequested::Known);
}

#[tokio::test]
async fn only_a_new_charge_is_asked_for() {
    let new = samples::new_charge(purpose(), charge().request.amount);
    for (stored, expected) in [
        (ChargeStored::Existing(charge()), ChargeResult::Existing(charge())),
        (ChargeStored::MethodUnavailable, ChargeResult::MethodUnavailable),
        (ChargeStored::CustomerDeleted, ChargeResult::CustomerDeleted),
    ] {
        let mut trial = Trial::new();
        trial.charges.expect_store().return_once(move |_| Ok(stored));
        assert_eq!(trial.service().charge(new.clone()).await.unwrap(), expected);
    }
    let mut trial = Trial::new().creating(Answer::Known(payment(GatewayStatus::Pending)));
    trial.charges.expect_store().returning(|_| Ok(ChargeStored::New(charge())));
    let trial = trial.recording(|change| matches!(change, ChargeChange::Pending { .. }), Change::Done);
    assert_eq!(trial.service().charge(new).await.unwrap(), ChargeResult::Requested(charge(), PaymentRequested::Known));
}

#[tokio::test]
async fn a_renewal_that_the_acquirer_has_already_is_read_and_never_asked_for() {
    let renewal = Some(Renewal {
        installation: Uuid::nil(),
        subscription: kontor_kernel::SubscriptionId::new(5).unwrap(),
        period: 3,
        number: 1,
    });
    let id = ProviderId::parse("pay-1").unwrap();
    let request = ChargeRequest { renewal, ..charge().request };
    let adopted = Charge { provider_id: Some(id), state: ChargeState::Pending, request, ..charge() };
    // It paid another order, which the restored database does not contain.
    let elsewhere = GatewayPayment { renewal, purpose: None, ..payment(GatewayStatus::Succeeded) };
    let succeeded = |change: &ChargeChange| matches!(change, ChargeChange::Succeeded { .. });
    let trial = Trial::new().reading(Reading::Known(elsewhere)).recording(succeeded, Change::Done);
    assert_eq!(trial.service().open(&adopted).await.unwrap(), PaymentRequested::Known);
}
