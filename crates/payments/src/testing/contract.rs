//! Contract of the storage ports, for every implementation.
//!
//! Each function checks one promise of the ports and panics if it is broken. An adapter implements [`Fixture`]
//! on a fresh storage and runs every function with a storage of its own.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "a broken promise fails the test that runs it"
)]

mod doubts;
mod receipts;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::join_all;
use kontor_kernel::{ChargeId, CustomerScope, Money, SubscriptionId, VerificationId};
use uuid::Uuid;

use crate::change::{Change, ChargeChange, RefundChange};
use crate::model::{
    Charge, ChargeFailure, ChargePurpose, ChargeRequest, ChargeState, GatewayMethod, MethodReference, NewCharge,
    NewRefund, PaymentMethod, ProviderId, Refund, RefundIntent, RefundState,
};
use crate::ports::{
    ChargeStore, ChargeStored, RefundStore, RefundStored, SavedMethodStore, VerificationStore, VerificationStored,
};
use crate::verification::{NewVerification, VerificationTerms};

pub use doubts::*;
pub use receipts::*;

/// Storage under test, with customers in it.
#[async_trait]
pub trait Fixture: Send + Sync {
    /// Type of the storage.
    type Store: ChargeStore + RefundStore + SavedMethodStore + VerificationStore + 'static;

    /// Returns the storage under test. At the beginning nothing in it is due.
    fn store(&self) -> Arc<Self::Store>;

    /// Returns a new customer, in an application they may pay in.
    async fn customer(&self) -> CustomerScope;

    /// Deletes a customer without payments.
    async fn delete_customer(&self, customer: CustomerScope);
}

/// Numbers that never repeat in a process.
fn fresh() -> i64 {
    static NEXT: AtomicI64 = AtomicI64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn key() -> Uuid {
    Uuid::from_u64_pair(7, fresh().unsigned_abs())
}

fn provider(kind: &str) -> ProviderId {
    ProviderId::parse(&format!("{kind}-{}", fresh())).unwrap()
}

fn noon() -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::days(20_000) + TimeDelta::hours(12)
}

fn money(minor: i64) -> Money {
    Money::from_minor(minor).unwrap()
}

/// A charge of 10.00 for a subscription, due at once.
fn new_charge(customer: CustomerScope) -> NewCharge {
    NewCharge {
        project_id: customer.app.project_id,
        application_id: Some(customer.app.application_id),
        counterparty_id: customer.counterparty_id,
        request: ChargeRequest {
            renewal: None,
            purpose: ChargePurpose::Subscription(SubscriptionId::new(fresh()).unwrap()),
            key: key(),
            amount: money(1_000),
            currency: "RUB".to_owned(),
            method: PaymentMethod::BankCard,
            description: "Subscription".to_owned(),
            return_url: "https://shop.example".to_owned(),
            save_method: false,
            saved_method: None,
            receipt: None,
        },
        next_check_at: noon(),
        at: noon(),
    }
}

async fn stored<F: Fixture>(fixture: &F, new: NewCharge) -> Charge {
    match ChargeStore::store(&*fixture.store(), new).await.unwrap() {
        ChargeStored::New(charge) => charge,
        other => panic!("not stored: {other:?}"),
    }
}

async fn charge<F: Fixture>(fixture: &F, id: ChargeId) -> Charge {
    ChargeStore::find(&*fixture.store(), id).await.unwrap().unwrap()
}

fn success() -> ChargeChange {
    ChargeChange::Succeeded { provider_id: provider("pay"), event_id: key(), refund: None, method: None, receipt: None }
}

async fn recorded<F: Fixture>(fixture: &F, id: ChargeId, change: ChargeChange) -> Change {
    ChargeStore::record(&*fixture.store(), id, change, noon()).await.unwrap()
}

/// A charge whose money has arrived.
async fn paid<F: Fixture>(fixture: &F) -> Charge {
    let customer = fixture.customer().await;
    let new = stored(fixture, new_charge(customer)).await;
    assert_eq!(recorded(fixture, new.id, success()).await, Change::Done);
    charge(fixture, new.id).await
}

fn new_refund(charge: ChargeId, amount: i64) -> NewRefund {
    let order = RefundIntent::new(key(), money(amount), "Back".to_owned()).unwrap();
    NewRefund { charge_id: charge, order, next_check_at: noon(), at: noon() }
}

async fn refunding<F: Fixture>(fixture: &F, charge: ChargeId, amount: i64) -> Refund {
    match RefundStore::store(&*fixture.store(), new_refund(charge, amount)).await.unwrap() {
        RefundStored::New(refund) => refund,
        other => panic!("not stored: {other:?}"),
    }
}

async fn refund_recorded<F: Fixture>(fixture: &F, refund: &Refund, change: RefundChange) -> Change {
    RefundStore::record(&*fixture.store(), refund.id, refund.request.key, change, noon()).await.unwrap()
}

fn books(charge: &Charge) -> (i64, i64, i64) {
    (charge.captured.minor(), charge.refunded.minor(), charge.refunding.minor())
}

/// A stored charge is found by its identifier, its key and, once known, the acquirer's identifier.
pub async fn a_charge_is_found_again<F: Fixture>(fixture: &F) {
    let store = fixture.store();
    let new = new_charge(fixture.customer().await);
    let stored = stored(fixture, new.clone()).await;
    assert_eq!(stored, new.stored_as(stored.id));
    assert_eq!(charge(fixture, stored.id).await, stored);
    assert_eq!(store.by_key(new.request.key).await.unwrap(), Some(stored.clone()));
    let provider_id = provider("pay");
    assert_eq!(store.by_provider(&provider_id).await.unwrap(), None);
    let confirmation_url = Some("https://pay.example".to_owned());
    let pending = ChargeChange::Pending {
        provider_id: provider_id.clone(),
        confirmation_url: confirmation_url.clone(),
        next_check_at: noon() + TimeDelta::hours(1),
    };
    assert_eq!(recorded(fixture, stored.id, pending).await, Change::Done);
    let known = store.by_provider(&provider_id).await.unwrap().unwrap();
    assert_eq!((known.state, &known.confirmation_url, known.checks), (ChargeState::Pending, &confirmation_url, 1));
    assert_eq!(store.by_key(key()).await.unwrap(), None);
}

/// Under concurrent calls, one purpose has one open charge; a key is used once.
pub async fn one_purpose_has_one_open_charge<F: Fixture>(fixture: &F) {
    let store = fixture.store();
    let first = new_charge(fixture.customer().await);
    let racing = || {
        let request = ChargeRequest { key: key(), ..first.request.clone() };
        ChargeStore::store(&*store, NewCharge { request, ..first.clone() })
    };
    let mut new = Vec::new();
    for outcome in join_all((0..16).map(|_| racing())).await {
        match outcome.unwrap() {
            ChargeStored::New(charge) => new.push(charge),
            ChargeStored::Existing(_) => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(new.len(), 1, "one of those that race is stored");
    let again = NewCharge { request: new[0].request.clone(), ..first.clone() };
    assert_eq!(ChargeStore::store(&*store, again).await.unwrap(), ChargeStored::Existing(new[0].clone()));
    assert_eq!(store.open_for(first.request.purpose).await.unwrap(), Some(new[0].clone()));
    // A recurring purpose is charged again afterwards.
    assert_eq!(recorded(fixture, new[0].id, success()).await, Change::Done);
    assert_eq!(store.open_for(first.request.purpose).await.unwrap(), None, "what is paid is not open");
    assert!(matches!(racing().await.unwrap(), ChargeStored::New(_)));
}

/// An outcome is recorded once, whatever its source; later updates change nothing.
pub async fn an_outcome_is_recorded_once<F: Fixture>(fixture: &F) {
    let new = stored(fixture, new_charge(fixture.customer().await)).await;
    let outcomes = join_all((0..8).map(|_| recorded(fixture, new.id, success()))).await;
    assert_eq!(outcomes.into_iter().filter(|outcome| *outcome == Change::Done).count(), 1);
    let settled = charge(fixture, new.id).await;
    assert_eq!(
        (settled.state, settled.settled_at, books(&settled)),
        (ChargeState::Succeeded, Some(noon()), (1_000, 0, 0))
    );
    let failed = |failure| ChargeChange::Failed { provider_id: None, failure, reason: "late".to_owned() };
    let postponed = ChargeChange::Postponed { why: "late".to_owned(), unanswered: true, next_check_at: noon() };
    for late in [failed(ChargeFailure::Canceled), postponed, success()] {
        assert_eq!(recorded(fixture, new.id, late).await, Change::Stale);
    }
    assert_eq!(charge(fixture, new.id).await, settled);
    for failure in [ChargeFailure::Canceled, ChargeFailure::Expired, ChargeFailure::Refused, ChargeFailure::Withdrawn] {
        let other = stored(fixture, new_charge(fixture.customer().await)).await;
        assert_eq!(recorded(fixture, other.id, failed(failure)).await, Change::Done);
        let other = charge(fixture, other.id).await;
        assert_eq!((other.state, books(&other)), (failure.state(), (0, 0, 0)));
        assert_eq!(recorded(fixture, other.id, success()).await, Change::Stale);
    }
}

/// Only an unanswered request moves `asked_at`, the start of the wait for the acquirer.
pub async fn an_unanswered_request_is_remembered<F: Fixture>(fixture: &F) {
    let store = fixture.store();
    let new = stored(fixture, new_charge(fixture.customer().await)).await;
    for (minutes, unanswered, asked) in [(1, true, 1), (2, false, 1), (3, true, 3)] {
        let at = noon() + TimeDelta::minutes(minutes);
        let change = ChargeChange::Postponed { why: "time-out".to_owned(), unanswered, next_check_at: at };
        assert_eq!(ChargeStore::record(&*store, new.id, change, at).await.unwrap(), Change::Done);
        assert_eq!(charge(fixture, new.id).await.asked_at, noon() + TimeDelta::minutes(asked));
    }
    let refund = refunding(fixture, paid(fixture).await.id, 100).await;
    for (minutes, unanswered, asked) in [(1, true, 1), (2, false, 1), (3, true, 3)] {
        let at = noon() + TimeDelta::minutes(minutes);
        let change = RefundChange::Postponed { why: "time-out".to_owned(), unanswered, next_check_at: at };
        let key = refund.request.key;
        assert_eq!(RefundStore::record(&*store, refund.id, key, change, at).await.unwrap(), Change::Done);
        let known = RefundStore::find(&*store, refund.id).await.unwrap().unwrap();
        assert_eq!(known.asked_at, noon() + TimeDelta::minutes(asked));
    }
}

/// A due record is leased to one worker at a time, until the lease ends or an update is recorded.
pub async fn what_is_due_is_leased<F: Fixture>(fixture: &F) {
    let store = fixture.store();
    let later = noon() + TimeDelta::minutes(5);
    for _ in 0..10 {
        stored(fixture, new_charge(fixture.customer().await)).await;
    }
    let not_yet = NewCharge { next_check_at: later, ..new_charge(fixture.customer().await) };
    stored(fixture, not_yet).await;
    let until = noon() + TimeDelta::minutes(2);
    let take_all = async |owner: &str| {
        let mut taken = Vec::new();
        // A storage without leases returns the same charge again and again.
        while taken.len() < 20
            && let Some(charge) = ChargeStore::lease(&*store, owner, noon(), until).await.unwrap()
        {
            taken.push(charge.id);
        }
        taken
    };
    let (one, two) = futures_util::join!(take_all("one"), take_all("two"));
    let mut taken: Vec<_> = one.iter().chain(&two).copied().collect();
    taken.sort();
    taken.dedup();
    // A worker that loses a race may end its round early, so another worker takes the rest.
    taken.extend(take_all("three").await);
    assert_eq!(taken.len(), 10);
    assert_eq!(ChargeStore::lease(&*store, "four", noon(), until).await.unwrap(), None);
    assert!(ChargeStore::lease(&*store, "four", until, later).await.unwrap().is_some(), "a lease ends");
    // Recording an update releases the lease, and sets the time of the next check.
    let next_check_at = noon() + TimeDelta::seconds(30);
    let postponed = ChargeChange::Postponed { why: "busy".to_owned(), unanswered: false, next_check_at };
    let given_back = taken[9];
    assert_eq!(recorded(fixture, given_back, postponed).await, Change::Done);
    let before = next_check_at - TimeDelta::seconds(1);
    assert_eq!(ChargeStore::lease(&*store, "five", before, until).await.unwrap(), None);
    let again = ChargeStore::lease(&*store, "five", next_check_at, until).await.unwrap();
    assert_eq!(again.map(|charge| charge.id), Some(given_back));
    assert_eq!(recorded(fixture, given_back, success()).await, Change::Done);
    let refund = refunding(fixture, given_back, 100).await;
    let leased = RefundStore::lease(&*store, "one", noon(), until).await.unwrap();
    assert_eq!(leased.map(|refund| refund.id), Some(refund.id));
    assert_eq!(RefundStore::lease(&*store, "two", noon(), until).await.unwrap(), None);
}

/// Under concurrent calls, refunded amounts, including those in progress and requested, never exceed the
/// received amount.
pub async fn refunds_never_exceed_what_has_arrived<F: Fixture>(fixture: &F) {
    let store = fixture.store();
    let paid = paid(fixture).await;
    let racing = join_all((0..50).map(|_| RefundStore::store(&*store, new_refund(paid.id, 30)))).await;
    let (mut refunds, mut refused) = (Vec::new(), 0);
    for outcome in racing {
        match outcome.unwrap() {
            RefundStored::New(refund) => refunds.push(refund),
            RefundStored::ExceedsCharge { left } => {
                assert!(left < money(30), "{left} would have been enough");
                refused += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((refunds.len(), refused), (33, 17));
    assert_eq!(books(&charge(fixture, paid.id).await), (1_000, 0, 990));
    assert_eq!(store.of_charge(paid.id).await.unwrap().len(), 33);
    let exceeds = |left| RefundStored::ExceedsCharge { left: money(left) };
    assert_eq!(RefundStore::store(&*store, new_refund(paid.id, 11)).await.unwrap(), exceeds(10));
    // Refunded money is final; money that the acquirer refused to refund can be requested again.
    let gone = RefundChange::Succeeded { provider_id: provider("ref"), receipt: None };
    assert_eq!(refund_recorded(fixture, &refunds[0], gone.clone()).await, Change::Done);
    assert_eq!(refund_recorded(fixture, &refunds[0], gone).await, Change::Stale);
    let failed = RefundChange::Failed { why: "no".to_owned() };
    assert_eq!(refund_recorded(fixture, &refunds[1], failed).await, Change::Done);
    let now = charge(fixture, paid.id).await;
    assert_eq!((books(&now), now.refundable()), ((1_000, 30, 930), money(40)));
    refunding(fixture, paid.id, 40).await;
    assert_eq!(RefundStore::store(&*store, new_refund(paid.id, 1)).await.unwrap(), exceeds(0));
    let open = stored(fixture, new_charge(fixture.customer().await)).await;
    assert_eq!(RefundStore::store(&*store, new_refund(open.id, 1)).await.unwrap(), exceeds(0));
    let nothing = ChargeId::new(i64::from(u32::MAX)).unwrap();
    assert_eq!(RefundStore::store(&*store, new_refund(nothing, 1)).await.unwrap(), RefundStored::UnknownCharge);
}

/// Two requests under one key give one refund, even if the refund uses another key by then.
pub async fn a_refund_is_named_by_its_first_key<F: Fixture>(fixture: &F) {
    let store = fixture.store();
    let paid = paid(fixture).await;
    let new = new_refund(paid.id, 600);
    let racing = join_all((0..8).map(|_| RefundStore::store(&*store, new.clone()))).await;
    let stored: Vec<_> = racing.into_iter().map(Result::unwrap).collect();
    assert_eq!(stored.iter().filter(|outcome| matches!(outcome, RefundStored::New(_))).count(), 1);
    assert!(
        stored.iter().all(|outcome| matches!(outcome, RefundStored::New(_) | RefundStored::Existing(_))),
        "{stored:?}"
    );
    assert_eq!(books(&charge(fixture, paid.id).await), (1_000, 0, 600));
    let refund = store.of_charge(paid.id).await.unwrap().remove(0);
    let second = key();
    let retry = RefundChange::Retry { key: second, why: "refused".to_owned(), next_check_at: noon() };
    assert_eq!(refund_recorded(fixture, &refund, retry).await, Change::Done);
    let again = RefundStore::store(&*store, new).await.unwrap();
    let RefundStored::Existing(present) = again else { panic!("{again:?}") };
    assert_eq!((present.id, present.request.key, present.tries), (refund.id, second, 1));
    assert_eq!(books(&charge(fixture, paid.id).await), (1_000, 0, 600));
}

/// An update of an attempt counts for no other attempt; a new attempt starts without the state of the last one.
pub async fn a_refund_is_recorded_under_its_key<F: Fixture>(fixture: &F) {
    let store = fixture.store();
    let paid = paid(fixture).await;
    let refund = refunding(fixture, paid.id, 1_000).await;
    assert_eq!((refund.state, refund.request.whole, refund.purpose), (RefundState::Due, true, paid.purpose()));
    assert_eq!(Some(&refund.request.payment), paid.provider_id.as_ref());
    let pending = RefundChange::Pending { provider_id: provider("ref"), next_check_at: noon() };
    assert_eq!(refund_recorded(fixture, &refund, pending).await, Change::Done);
    let known = RefundStore::find(&*store, refund.id).await.unwrap().unwrap();
    assert_eq!((known.state, known.provider_id.is_some()), (RefundState::Pending, true));
    let retry = RefundChange::Retry { key: key(), why: "canceled".to_owned(), next_check_at: noon() };
    assert_eq!(refund_recorded(fixture, &refund, retry.clone()).await, Change::Done);
    let second = RefundStore::find(&*store, refund.id).await.unwrap().unwrap();
    assert_eq!((second.state, &second.provider_id, second.tries, second.checks), (RefundState::Due, &None, 1, 0));
    let gone = RefundChange::Succeeded { provider_id: provider("ref"), receipt: None };
    for late in [gone.clone(), retry] {
        assert_eq!(refund_recorded(fixture, &refund, late).await, Change::Stale);
    }
    assert_eq!(refund_recorded(fixture, &second, gone).await, Change::Done);
    let done = RefundStore::find(&*store, refund.id).await.unwrap().unwrap();
    assert_eq!((done.state, done.settled_at), (RefundState::Succeeded, Some(noon())));
    assert_eq!(books(&charge(fixture, paid.id).await), (1_000, 1_000, 0));
    assert_eq!(RefundStore::lease(&*store, "w", noon() + TimeDelta::days(1), noon()).await.unwrap(), None);
}

/// A refund that is due with the outcome of a charge is stored with it.
pub async fn money_that_is_due_back_is_set_aside<F: Fixture>(fixture: &F) {
    let store = fixture.store();
    let new = stored(fixture, new_charge(fixture.customer().await)).await;
    let order = RefundIntent::new(key(), money(1_000), "Back".to_owned()).unwrap();
    let change = ChargeChange::Succeeded {
        provider_id: provider("pay"),
        event_id: key(),
        refund: Some(order.clone()),
        method: None,
        receipt: None,
    };
    let outcomes = join_all((0..4).map(|_| recorded(fixture, new.id, change.clone()))).await;
    assert_eq!(outcomes.into_iter().filter(|outcome| *outcome == Change::Done).count(), 1);
    let refunds = store.of_charge(new.id).await.unwrap();
    assert_eq!(refunds.len(), 1);
    assert_eq!((refunds[0].state, refunds[0].request.key), (RefundState::Due, order.key()));
    assert_eq!(books(&charge(fixture, new.id).await), (1_000, 0, 1_000));
    let due = RefundStore::lease(&*store, "w", noon(), noon() + TimeDelta::minutes(2)).await.unwrap();
    assert_eq!(due.map(|refund| refund.id), Some(refunds[0].id));
}

fn card() -> GatewayMethod {
    GatewayMethod {
        provider_id: provider("method"),
        method: PaymentMethod::BankCard,
        card_type: Some("Mir".to_owned()),
        card_last_4: Some("4444".to_owned()),
        title: Some("Bank card *4444".to_owned()),
    }
}

/// A method is saved with the outcome of its charge. Only its customer sees it, only in its application.
pub async fn a_method_is_saved_with_its_charge<F: Fixture>(fixture: &F) {
    let store = fixture.store();
    let (anna, boris) = (fixture.customer().await, fixture.customer().await);
    let cards = [card(), card()];
    for method in &cards {
        let new = stored(fixture, new_charge(anna)).await;
        let method = Some(method.clone());
        let change = ChargeChange::Succeeded {
            provider_id: provider("pay"),
            event_id: key(),
            refund: None,
            method,
            receipt: None,
        };
        assert_eq!(recorded(fixture, new.id, change).await, Change::Done);
    }
    let saved = store.list(anna).await.unwrap();
    assert_eq!(saved.len(), 2);
    assert!(saved[0].id > saved[1].id, "newest first");
    let first = &saved[1];
    assert_eq!((first.is_active, first.method, first.counterparty_id), (true, cards[0].method, anna.counterparty_id));
    assert_eq!((&first.card_last_4, &first.title), (&cards[0].card_last_4, &cards[0].title));
    let reference = store.reference(anna, first.id).await.unwrap().unwrap();
    assert_eq!(reference, MethodReference { id: first.id, provider_id: cards[0].provider_id.clone() });
    assert_eq!(store.list(boris).await.unwrap(), []);
    assert_eq!(store.reference(boris, first.id).await.unwrap(), None);
    assert!(!store.deactivate(boris, first.id, noon()).await.unwrap());
    assert_eq!(store.list(anna).await.unwrap().len(), 2);
}

/// A deactivated method is not charged again. A concurrent charge and deactivation are serialized.
pub async fn a_deactivated_method_is_charged_no_more<F: Fixture>(fixture: &F) {
    let store = fixture.store();
    let anna = fixture.customer().await;
    let new = stored(fixture, new_charge(anna)).await;
    let change = ChargeChange::Succeeded {
        provider_id: provider("pay"),
        event_id: key(),
        refund: None,
        method: Some(card()),
        receipt: None,
    };
    assert_eq!(recorded(fixture, new.id, change).await, Change::Done);
    let id = store.list(anna).await.unwrap()[0].id;
    let reference = store.reference(anna, id).await.unwrap();
    let charging = |customer| {
        let mut new = new_charge(customer);
        new.request.saved_method.clone_from(&reference);
        ChargeStore::store(&*store, new)
    };
    assert!(matches!(charging(anna).await.unwrap(), ChargeStored::New(new) if new.request.saved_method == reference));
    assert_eq!(
        charging(fixture.customer().await).await.unwrap(),
        ChargeStored::MethodUnavailable,
        "it is somebody else's"
    );
    let (charged, gone) = futures_util::join!(charging(anna), store.deactivate(anna, id, noon()));
    assert!(matches!(charged.unwrap(), ChargeStored::New(_) | ChargeStored::MethodUnavailable));
    assert!(gone.unwrap());
    assert_eq!(charging(anna).await.unwrap(), ChargeStored::MethodUnavailable);
    assert_eq!((store.list(anna).await.unwrap(), store.reference(anna, id).await.unwrap()), (vec![], None));
    assert!(store.deactivate(anna, id, noon()).await.unwrap(), "doing it again changes nothing");
}

fn new_verification(customer: CustomerScope, at: DateTime<Utc>) -> NewVerification {
    NewVerification {
        project_id: customer.app.project_id,
        application_id: customer.app.application_id,
        counterparty_id: customer.counterparty_id,
        key: key(),
        terms: VerificationTerms { amount: money(100), return_url: "https://shop.example".to_owned() },
        still_counts_since: at - TimeDelta::hours(24),
        next_check_at: at,
        at,
    }
}

/// Under concurrent calls, one customer has one open verification; a successful one is valid for its time.
pub async fn a_customer_has_one_open_verification<F: Fixture>(fixture: &F) {
    let store = fixture.store();
    let anna = fixture.customer().await;
    let racing = join_all((0..8).map(|_| store.start(new_verification(anna, noon())))).await;
    let (mut new, mut present) = (Vec::new(), 0);
    for started in racing {
        match started.unwrap() {
            VerificationStored::New(verification) => new.push(verification),
            VerificationStored::Existing(_) => present += 1,
            VerificationStored::CustomerDeleted => panic!("gone"),
        }
    }
    assert_eq!((new.len(), present), (1, 7));
    let first = new.remove(0);
    assert_eq!(first.charge.purpose(), ChargePurpose::Verification(first.id));
    assert_eq!(VerificationStore::find(&*store, first.id).await.unwrap(), Some(first.clone()));
    let other = store.start(new_verification(fixture.customer().await, noon())).await.unwrap();
    assert!(matches!(other, VerificationStored::New(_)), "others have their own");
    assert_eq!(recorded(fixture, first.charge.id, success()).await, Change::Done);
    let day = noon() + TimeDelta::hours(24);
    let still = store.start(new_verification(anna, day)).await.unwrap();
    let VerificationStored::Existing(still) = still else { panic!("{still:?}") };
    assert_eq!((still.id, still.charge.state), (first.id, ChargeState::Succeeded));
    let next = store.start(new_verification(anna, day + TimeDelta::seconds(1))).await.unwrap();
    assert!(matches!(next, VerificationStored::New(next) if next.id != first.id));
    assert_eq!(
        VerificationStore::find(&*store, VerificationId::new(i64::from(u32::MAX)).unwrap()).await.unwrap(),
        None
    );
}
