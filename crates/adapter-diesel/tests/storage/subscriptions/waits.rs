//! An outcome that waited for the lock of a subscription is decided on the row after the wait. PostgreSQL only: SQLite
//! has one writer, and no transaction waits inside.

use std::sync::Arc;

use kontor_adapter_diesel::testing::{Kind, TestDatabase};
use kontor_adapter_diesel::tests_with;
use kontor_kernel::{NomenclatureId, SubscriptionId};
use kontor_payments::model::GatewayStatus;
use kontor_payments::verification::VerificationTerms;
use kontor_subscriptions::model::PlanChoice;
use kontor_subscriptions::{Agreement, MethodChangeService, SubscriptionStatus, TermsEdit};

use super::club::Club;
use crate::holder::{Holder, until_waiting};
use crate::orders::counter::AcquirerMode;

impl Club<'_> {
    fn cards(&self) -> MethodChangeService {
        MethodChangeService {
            store: Arc::new(self.counter.house.db.database.clone()),
            charges: self.counter.payments.clone(),
            clock: self.counter.clock.clone(),
            random: self.counter.random.clone(),
            terms: VerificationTerms { amount: "1.00".parse().unwrap(), return_url: String::new() },
            consent_text: "1".to_owned(),
        }
    }

    /// The customer agrees on another plan, and the acquirer notifies about its last payment before the commit.
    async fn agrees_while_told(&self, id: SubscriptionId, plan: i64, status: GatewayStatus) {
        let db = self.counter.house.db;
        let holder =
            Holder::hold(&db.database, format!("SELECT id FROM subscriptions WHERE id = {id} FOR UPDATE")).await;
        let (service, anna) = (Arc::clone(&self.service), self.counter.customer);
        let plan = Some(PlanChoice::Item(NomenclatureId::new(plan).unwrap()));
        let edit = TermsEdit { plan, saved_method: None };
        let agrees = async move { service.change(anna, id, &edit, Some(&Agreement::default())).await };
        let agrees = tokio::spawn(agrees);
        until_waiting(db, 1).await;
        let (payments, provider) = (Arc::clone(&self.counter.payments), self.counter.acquirer.settle(status));
        let told = tokio::spawn(async move { payments.handle_notification(&provider, None).await });
        until_waiting(db, 2).await;
        holder.release().await;
        agrees.await.unwrap().unwrap();
        told.await.unwrap().unwrap();
    }
}

async fn a_plan_change_stays_when_a_renewal_is_told_of_meanwhile() {
    let db = TestDatabase::fresh(Kind::Postgres);
    let club = Club::open(&db).await;
    let id = club.subscribed(club.counter.customer, club.gold).await;
    let silver = club.plan("Silver", 50_000, 1).await;
    club.counter.acquirer.mood(AcquirerMode::LosesTheAnswer);
    club.go_to("2026-04-01T12:00:00Z");
    club.scheduler.run(10).await.unwrap();
    assert_eq!(club.see(id).await.subscription.status, SubscriptionStatus::Charging);
    club.agrees_while_told(id, silver, GatewayStatus::Pending).await;
    let accepted = "SELECT count(*) AS number FROM subscriptions s JOIN subscription_consents n ON n.id = s.next_consent_id \
                    WHERE n.amount = 50000 AND n.id = (SELECT max(id) FROM subscription_consents)";
    assert_eq!(db.number(accepted.to_owned()).await, 1);
    club.settle(GatewayStatus::Succeeded).await;
    club.counter.acquirer.mood(AcquirerMode::Paid);
    club.go_to("2026-05-01T12:00:00Z");
    assert_eq!(club.tick().await, 1);
    let paid = "SELECT amount AS number FROM subscription_payments WHERE state = 'succeeded' ORDER BY id DESC LIMIT 1";
    assert_eq!(db.number(paid.to_owned()).await, 50_000);
}

async fn a_plan_change_stays_when_another_card_is_saved_meanwhile() {
    let db = TestDatabase::fresh(Kind::Postgres);
    let club = Club::open(&db).await;
    let id = club.subscribed(club.counter.customer, club.gold).await;
    let silver = club.plan("Silver", 50_000, 1).await;
    club.cards().begin(club.counter.customer, id, &Agreement::default()).await.unwrap();
    club.agrees_while_told(id, silver, GatewayStatus::Succeeded).await;
    let subscription = club.see(id).await.subscription;
    assert_eq!(subscription.next_terms.unwrap().amount.to_string(), "500.00");
    assert_eq!(
        subscription.terms.method,
        Some(club.method(club.counter.customer).await),
        "the card that was saved last"
    );
}

async fn a_card_that_is_saved_while_the_former_one_is_deleted_stays() {
    let db = TestDatabase::fresh(Kind::Postgres);
    let club = Club::open(&db).await;
    let anna = club.counter.customer;
    let id = club.subscribed(anna, club.gold).await;
    let former = club.method(anna).await;
    club.cards().begin(anna, id, &Agreement::default()).await.unwrap();
    let holder = Holder::hold(&db.database, format!("SELECT id FROM subscriptions WHERE id = {id} FOR UPDATE")).await;
    let provider = club.counter.acquirer.settle(GatewayStatus::Succeeded);
    let payments = Arc::clone(&club.counter.payments);
    let saved = tokio::spawn(async move { payments.handle_notification(&provider, None).await });
    until_waiting(&db, 1).await;
    let service = Arc::clone(&club.service);
    let deleted = tokio::spawn(async move { service.delete_method(anna, former).await });
    until_waiting(&db, 2).await;
    holder.release().await;
    saved.await.unwrap().unwrap();
    deleted.await.unwrap().unwrap();
    let method = club.see(id).await.subscription.terms.method;
    assert_eq!(method, Some(club.method(anna).await));
    assert_ne!(method, Some(former));
}

tests_with!(postgres:
    a_plan_change_stays_when_a_renewal_is_told_of_meanwhile,
    a_plan_change_stays_when_another_card_is_saved_meanwhile,
    a_card_that_is_saved_while_the_former_one_is_deleted_stays,
);
