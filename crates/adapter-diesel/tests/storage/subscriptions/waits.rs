//! An outcome that waited for the row of a subscription is decided on what stands there after the wait. PostgreSQL alone: SQLite has
//! one writer, and nobody waits within a transaction.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use diesel::connection::SimpleConnection;
use kontor_adapter_diesel::testing::{Kind, TestDatabase};
use kontor_adapter_diesel::{Abort, AnyConnection, Database};
use kontor_kernel::{NomenclatureId, StoreError, SubscriptionId};
use kontor_payments::model::GatewayStatus;
use kontor_payments::verification::VerificationTerms;
use kontor_subscriptions::model::PlanChoice;
use kontor_subscriptions::{Agreement, MethodChangeService, SubscriptionStatus, TermsEdit};
use tokio::task::JoinHandle;

use super::club::Club;
use crate::orders::counter::Mood;

/// A transaction that holds the row of a subscription until it is told to end.
struct Holder {
    release: std::sync::mpsc::Sender<()>,
    held: JoinHandle<()>,
}

impl Holder {
    async fn hold(database: &Database, subscription: SubscriptionId) -> Self {
        let (release, released) = std::sync::mpsc::channel();
        let (tell, told) = std::sync::mpsc::channel();
        let (database, released) = (database.clone(), Mutex::new(released));
        let held = tokio::spawn(async move {
            let step = move |connection: &mut AnyConnection| {
                connection
                    .batch_execute(&format!("SELECT id FROM subscriptions WHERE id = {subscription} FOR UPDATE"))?;
                // A step that runs again finds them gone, and waits no more.
                let _ = tell.send(());
                let _ = released.lock().unwrap().recv();
                Ok::<_, Abort<StoreError>>(())
            };
            database.write_apart(step).await.unwrap();
        });
        tokio::task::spawn_blocking(move || told.recv().unwrap()).await.unwrap();
        Self { release, held }
    }

    async fn release(self) {
        self.release.send(()).unwrap();
        self.held.await.unwrap();
    }
}

/// Returns when so many transactions wait for a lock.
async fn until_waiting(db: &TestDatabase, number: i64) {
    let waiting = "SELECT count(*) AS number FROM pg_stat_activity WHERE datname = current_database() \
                   AND wait_event_type = 'Lock'";
    let until = Instant::now() + Duration::from_secs(30);
    while db.number(waiting.to_owned()).await < number {
        assert!(Instant::now() < until, "{number} transactions should wait");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

impl Club<'_> {
    /// The customer agrees on another plan, and the acquirer tells of its last payment while that is not committed.
    async fn agrees_while_told(&self, id: SubscriptionId, plan: i64, status: GatewayStatus) {
        let db = self.counter.house.db;
        let holder = Holder::hold(&db.database, id).await;
        let (service, anna) = (Arc::clone(&self.service), self.counter.customer);
        let plan = Some(PlanChoice::Item(NomenclatureId::new(plan).unwrap()));
        let edit = TermsEdit { plan, saved_method: None };
        let agrees = async move { service.change(anna, id, &edit, Some(&Agreement::default())).await };
        let agrees = tokio::spawn(agrees);
        until_waiting(db, 1).await;
        let (payments, provider) = (Arc::clone(&self.counter.payments), self.counter.acquirer.settle(status));
        let told = tokio::spawn(async move { payments.acquirer_notified(&provider, None).await });
        until_waiting(db, 2).await;
        holder.release().await;
        agrees.await.unwrap().unwrap();
        told.await.unwrap().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_change_stays_when_a_renewal_is_told_of_meanwhile() {
    let Some(db) = TestDatabase::fresh(Kind::Postgres) else { return };
    let club = Club::open(&db).await;
    let id = club.subscribed(club.counter.customer, club.gold).await;
    let silver = club.plan("Silver", 50_000, 1).await;
    club.counter.acquirer.mood(Mood::LosesTheAnswer);
    club.go_to("2026-04-01T12:00:00Z");
    club.scheduler.run(10).await.unwrap();
    assert_eq!(club.see(id).await.subscription.status, SubscriptionStatus::Charging);
    club.agrees_while_told(id, silver, GatewayStatus::Pending).await;
    let accepted = "SELECT count(*) AS number FROM subscriptions s JOIN subscription_consents n ON n.id = s.next_consent_id \
                    WHERE n.amount = 50000 AND n.id = (SELECT max(id) FROM subscription_consents)";
    assert_eq!(db.number(accepted.to_owned()).await, 1);
    club.settle(GatewayStatus::Succeeded).await;
    club.counter.acquirer.mood(Mood::Paid);
    club.go_to("2026-05-01T12:00:00Z");
    assert_eq!(club.tick().await, 1);
    let paid = "SELECT amount AS number FROM subscription_payments WHERE state = 'succeeded' ORDER BY id DESC LIMIT 1";
    assert_eq!(db.number(paid.to_owned()).await, 50_000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_change_stays_when_another_card_is_saved_meanwhile() {
    let Some(db) = TestDatabase::fresh(Kind::Postgres) else { return };
    let club = Club::open(&db).await;
    let id = club.subscribed(club.counter.customer, club.gold).await;
    let silver = club.plan("Silver", 50_000, 1).await;
    let cards = MethodChangeService {
        store: Arc::new(db.database.clone()),
        charges: club.counter.payments.clone(),
        clock: club.counter.clock.clone(),
        random: club.counter.random.clone(),
        terms: VerificationTerms { amount: "1.00".parse().unwrap(), return_url: String::new() },
        consent_text: "1".to_owned(),
    };
    cards.begin(club.counter.customer, id, &Agreement::default()).await.unwrap();
    club.agrees_while_told(id, silver, GatewayStatus::Succeeded).await;
    let subscription = club.see(id).await.subscription;
    assert_eq!(subscription.next_terms.unwrap().amount.to_string(), "500.00");
    assert_eq!(
        subscription.terms.method,
        Some(club.method(club.counter.customer).await),
        "the card that was saved last"
    );
}
