//! Contract of the storage of subscriptions, for every implementation.
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

mod method_changes;
mod reading;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::join_all;
use kontor_kernel::history::Author;
use kontor_kernel::{CustomerScope, Money, NomenclatureId, PageRequest, SavedMethodId, SubscriptionId};
use kontor_payments::change::{Change, ChargeChange};
use kontor_payments::model::{Charge, ChargeFailure, GatewayMethod, PaymentMethod, ProviderId};
use kontor_payments::ports::ChargeStore;
use uuid::Uuid;

use crate::case::EventContext;
use crate::checkout::terms;
use crate::error::SubscriptionError;
use crate::model::{AttemptState, PlanChoice, Subscription, SubscriptionView};
use crate::ports::{
    ChargeTerms, CheckoutStored, CommitContext, CommitResult, Decision, LeasedSubscription, NewSubscriptions,
    SubscriptionSelector, SubscriptionStore, UnfinishedPayment,
};
use crate::state::{SubscriptionEvent, SubscriptionStatus};
use crate::terms::ConsentedTerms;

pub use method_changes::*;
pub use reading::*;

/// Storage under test, with one application that sells.
#[async_trait]
pub trait Fixture: Send + Sync {
    /// Type of the storage.
    type Store: SubscriptionStore + ChargeStore + 'static;

    /// Returns the storage under test. At the beginning it has no subscriptions.
    fn store(&self) -> Arc<Self::Store>;

    /// Returns a new customer, signed in to the application.
    async fn customer(&self) -> CustomerScope;

    /// Returns a new plan that the application offers, with a period of one month.
    async fn plan(&self, price: Money) -> NomenclatureId;
}

fn key() -> Uuid {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    Uuid::from_u64_pair(13, NEXT.fetch_add(1, Ordering::Relaxed))
}

fn noon() -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::days(20_000) + TimeDelta::hours(12)
}

fn price() -> Money {
    Money::from_minor(49_900).unwrap()
}

fn charge_terms(at: DateTime<Utc>) -> ChargeTerms {
    ChargeTerms {
        key: key(),
        pays_by: PaymentMethod::BankCard,
        return_url: "https://shop.example".to_owned(),
        next_check_at: at + TimeDelta::minutes(1),
    }
}

/// Subscription of the customer to a plan, with its consent.
async fn new<F: Fixture>(fixture: &F, customer: CustomerScope, plan: NomenclatureId) -> NewSubscriptions {
    let offer = fixture.store().plan(customer.app, PlanChoice::Item(plan)).await.unwrap().unwrap();
    let consent = ConsentedTerms {
        terms: terms(&offer, None),
        text_version: "1".to_owned(),
        at: noon(),
        address: None,
        application: Some(customer.app.application_id),
    };
    NewSubscriptions {
        customer,
        consents: vec![consent],
        names: vec![offer.name],
        charge: charge_terms(noon()),
        at: noon(),
    }
}

async fn begun<F: Fixture>(fixture: &F, customer: CustomerScope, plan: NomenclatureId) -> UnfinishedPayment {
    let new = new(fixture, customer, plan).await;
    match fixture.store().begin(new).await.unwrap() {
        CheckoutStored::New(payment) => payment,
        other => panic!("not stored: {other:?}"),
    }
}

/// Records eight updates of a charge at the same time, when it was stored. Returns the number of written ones.
async fn recorded<F: Fixture>(fixture: &F, charge: &Charge, make_change: impl Fn() -> ChargeChange) -> usize {
    let (store, at) = (fixture.store(), charge.created_at);
    let outcomes = join_all((0..8).map(|_| store.record(charge.id, make_change(), at))).await;
    outcomes.into_iter().filter(|outcome| *outcome.as_ref().unwrap() == Change::Done).count()
}

fn provider(kind: &str) -> ProviderId {
    ProviderId::parse(&format!("{kind}-{}", key())).unwrap()
}

/// The money arrives, and the card is saved.
fn success() -> ChargeChange {
    let method = GatewayMethod {
        provider_id: provider("method"),
        method: PaymentMethod::BankCard,
        card_type: None,
        card_last_4: Some("4444".to_owned()),
        title: None,
    };
    let (provider_id, event_id) = (provider("pay"), key());
    ChargeChange::Succeeded { provider_id, event_id, refund: None, method: Some(method), receipt: None }
}

async fn view<F: Fixture>(fixture: &F, customer: CustomerScope, id: SubscriptionId) -> SubscriptionView {
    SubscriptionStore::find(&*fixture.store(), customer, id, noon()).await.unwrap().unwrap()
}

/// A subscription whose first period is paid.
async fn active<F: Fixture>(fixture: &F, customer: CustomerScope) -> Subscription {
    let plan = fixture.plan(price()).await;
    let payment = begun(fixture, customer, plan).await;
    assert_eq!(recorded(fixture, &payment.charge, success).await, 1);
    view(fixture, customer, payment.subscriptions[0].subscription.id).await.subscription
}

/// End of the paid period: the time of the next charge.
fn end(subscription: &Subscription) -> DateTime<Utc> {
    subscription.period.unwrap().end
}

/// Changes a subscription as the scheduler does when its period is due.
async fn charged<F: Fixture>(
    fixture: &F,
    id: SubscriptionId,
    at: DateTime<Utc>,
) -> Result<CommitResult, SubscriptionError> {
    let with = CommitContext { author: Author::System, charge: charge_terms(at), at };
    let decide: Decision = Box::new(move |case| Ok(vec![case.due(at)]));
    fixture.store().change(SubscriptionSelector::Any(id), with, decide).await
}

async fn canceled<F: Fixture>(
    fixture: &F,
    which: SubscriptionSelector,
    at: DateTime<Utc>,
) -> Result<CommitResult, SubscriptionError> {
    let with = CommitContext { author: Author::System, charge: charge_terms(at), at };
    let decide: Decision =
        Box::new(move |case| Ok(vec![case.after(SubscriptionEvent::Cancel, &EventContext::default(), at)?]));
    fixture.store().change(which, with, decide).await
}

async fn leased<F: Fixture>(fixture: &F, now: DateTime<Utc>) -> Vec<LeasedSubscription> {
    fixture.store().lease_due(now, now + TimeDelta::minutes(2), 10).await.unwrap()
}

/// Under concurrent calls, a customer has one unfinished first payment in an application.
pub async fn one_first_payment_is_unfinished<F: Fixture>(fixture: &F) {
    let (store, anna) = (fixture.store(), fixture.customer().await);
    let (gold, silver) = (fixture.plan(price()).await, fixture.plan(price()).await);
    let mut purchases = Vec::new();
    for number in 0..8 {
        purchases.push(new(fixture, anna, if number % 2 == 0 { gold } else { silver }).await);
    }
    let (mut first, mut known) = (Vec::new(), Vec::new());
    for outcome in join_all(purchases.into_iter().map(|new| store.begin(new))).await {
        match outcome.unwrap() {
            CheckoutStored::New(payment) => first.push(payment.charge.id),
            CheckoutStored::UnfinishedPayment(payment) => known.push(payment.charge.id),
            CheckoutStored::Subscribed => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(first.len(), 1);
    assert!(known.iter().all(|charge| *charge == first[0]), "{known:?}");
    let page = PageRequest::new(1, 10, 10).unwrap();
    assert_eq!(store.of_customer(anna, page, noon()).await.unwrap().len(), 1);
    let next = PageRequest::new(2, 1, 10).unwrap();
    assert_eq!(store.of_customer(anna, next, noon()).await.unwrap(), []);
    // Another customer pays at the same time.
    begun(fixture, fixture.customer().await, gold).await;
}

/// Under concurrent notifications, the first payment activates its subscription once. The plan is subscribed to once.
pub async fn a_subscription_is_activated_once<F: Fixture>(fixture: &F) {
    let (store, anna) = (fixture.store(), fixture.customer().await);
    let gold = fixture.plan(price()).await;
    let payment = begun(fixture, anna, gold).await;
    let id = payment.subscriptions[0].subscription.id;
    assert!(!view(fixture, anna, id).await.subscription.is_activated());
    assert_eq!(recorded(fixture, &payment.charge, success).await, 1);
    let SubscriptionView { subscription, latest, .. } = view(fixture, anna, id).await;
    assert_eq!(subscription.status, SubscriptionStatus::Active);
    let period = subscription.period.unwrap();
    assert_eq!((period.number, period.start), (1, noon()));
    assert_eq!(latest.map(|attempt| (attempt.state, attempt.number)), Some((AttemptState::Succeeded, 1)));
    let method = subscription.terms.method.unwrap();
    assert!(store.has_method(anna, method).await.unwrap());
    let again = store.begin(new(fixture, anna, gold).await).await.unwrap();
    assert_eq!(again, CheckoutStored::Subscribed);
    let page = PageRequest::new(1, 10, 10).unwrap();
    let payments = SubscriptionStore::payments(&*store, anna, id, page).await.unwrap().unwrap();
    let consents = SubscriptionStore::consents(&*store, anna, id, page).await.unwrap().unwrap();
    assert_eq!((payments.total, consents.total), (1, 1));
}

/// A failed first payment cancels its subscription once, and the plan can be subscribed to again.
pub async fn a_failed_first_payment_frees_the_plan<F: Fixture>(fixture: &F) {
    let anna = fixture.customer().await;
    let gold = fixture.plan(price()).await;
    let payment = begun(fixture, anna, gold).await;
    let failed = || {
        let reason = "insufficient_funds".to_owned();
        ChargeChange::Failed { provider_id: None, failure: ChargeFailure::Canceled, reason }
    };
    assert_eq!(recorded(fixture, &payment.charge, failed).await, 1);
    assert_eq!(recorded(fixture, &payment.charge, success).await, 0, "the outcome is final");
    let lost = view(fixture, anna, payment.subscriptions[0].subscription.id).await.subscription;
    assert_eq!((lost.status, lost.is_activated()), (SubscriptionStatus::Canceled, false));
    begun(fixture, anna, gold).await;
}

/// Other customers neither see nor change a subscription.
pub async fn a_subscription_stays_with_its_customer<F: Fixture>(fixture: &F) {
    let (store, anna, boris) = (fixture.store(), fixture.customer().await, fixture.customer().await);
    let annas = active(fixture, anna).await;
    assert_eq!(SubscriptionStore::find(&*store, boris, annas.id, noon()).await.unwrap(), None);
    let page = PageRequest::new(1, 10, 10).unwrap();
    assert_eq!(store.of_customer(boris, page, noon()).await.unwrap(), []);
    assert!(SubscriptionStore::payments(&*store, boris, annas.id, page).await.unwrap().is_none());
    let refused = canceled(fixture, SubscriptionSelector::OfCustomer(boris, annas.id), noon()).await;
    assert!(matches!(refused, Err(SubscriptionError::NotFound)), "{refused:?}");
    let method = annas.terms.method.unwrap();
    assert!(!store.has_method(boris, method).await.unwrap());
    assert!(!store.delete_method(boris, method, noon()).await.unwrap());
    assert_eq!(view(fixture, anna, annas.id).await.subscription, annas);
}

/// Under concurrent calls, a due subscription has one lease. It passes on when it has run out, unless it is parked.
pub async fn a_due_subscription_has_one_lease<F: Fixture>(fixture: &F) {
    let store = fixture.store();
    let due = active(fixture, fixture.customer().await).await;
    let now = end(&due);
    let rounds = join_all((0..6).map(|_| leased(fixture, now))).await;
    let all: Vec<_> = rounds.into_iter().flatten().collect();
    assert_eq!(all, [LeasedSubscription { id: due.id, attempts: 1 }]);
    assert_eq!(leased(fixture, now + TimeDelta::minutes(1)).await, []);
    let again = leased(fixture, now + TimeDelta::minutes(2)).await;
    assert_eq!(again, [LeasedSubscription { id: due.id, attempts: 2 }]);
    store.postpone(all[0], None, now).await.unwrap();
    assert_eq!(leased(fixture, now + TimeDelta::minutes(4)).await.len(), 1, "another worker has leased it since");
    let last = LeasedSubscription { id: due.id, attempts: 3 };
    store.postpone(last, None, now + TimeDelta::minutes(4)).await.unwrap();
    assert_eq!(leased(fixture, now + TimeDelta::days(9)).await, []);
}

/// Under concurrent changes, a period has one open attempt.
pub async fn a_period_is_charged_once<F: Fixture>(fixture: &F) {
    let (store, anna) = (fixture.store(), fixture.customer().await);
    let due = active(fixture, anna).await;
    let now = end(&due);
    let outcomes = join_all((0..8).map(|_| charged(fixture, due.id, now))).await;
    let charges: Vec<_> = outcomes.into_iter().filter_map(|outcome| outcome.unwrap().charge).collect();
    assert_eq!(charges.len(), 1, "{charges:?}");
    assert_eq!((charges[0].request.amount, charges[0].counterparty_id), (price(), anna.counterparty_id));
    let charging = SubscriptionStore::find(&*store, anna, due.id, now).await.unwrap().unwrap();
    assert_eq!(charging.subscription.status, SubscriptionStatus::Charging);
    assert_eq!(recorded(fixture, &charges[0], success).await, 1);
    let renewed = SubscriptionStore::find(&*store, anna, due.id, now).await.unwrap().unwrap().subscription;
    assert_eq!((renewed.status, renewed.period.unwrap().number), (SubscriptionStatus::Active, 2));
    let charge = ChargeStore::find(&*store, charges[0].id).await.unwrap().unwrap();
    assert_eq!(charge.captured, price());
}

/// A canceled subscription is not charged. Its paid period stays.
pub async fn a_canceled_subscription_is_not_charged<F: Fixture>(fixture: &F) {
    let anna = fixture.customer().await;
    let subscription = active(fixture, anna).await;
    let which = SubscriptionSelector::OfCustomer(anna, subscription.id);
    let outcomes = join_all((0..4).map(|_| canceled(fixture, which, noon()))).await;
    assert!(outcomes.iter().any(Result::is_ok), "{outcomes:?}");
    let after = view(fixture, anna, subscription.id).await.subscription;
    assert_eq!((after.status, after.period), (SubscriptionStatus::Canceled, subscription.period));
    let now = end(&subscription);
    assert_eq!(charged(fixture, subscription.id, now).await.unwrap().charge, None);
    // The plan may be subscribed to again.
    begun(fixture, anna, subscription.terms.plan).await;
}

/// A deleted method is charged no more, whichever of both is first.
pub async fn a_deleted_method_is_not_charged<F: Fixture>(fixture: &F) {
    let (store, anna) = (fixture.store(), fixture.customer().await);
    let due = active(fixture, anna).await;
    let method: SavedMethodId = due.terms.method.unwrap();
    assert!(store.delete_method(anna, method, noon()).await.unwrap());
    assert!(!store.has_method(anna, method).await.unwrap());
    assert_eq!(charged(fixture, due.id, end(&due)).await.unwrap().charge, None);
}
