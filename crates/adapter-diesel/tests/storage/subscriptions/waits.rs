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

use super::fixture::SubscriptionFixture;
use crate::holder::{Holder, until_waiting};
use crate::orders::shop::AcquirerMode;

impl SubscriptionFixture<'_> {
    fn cards(&self) -> MethodChangeService {
        MethodChangeService {
            store: Arc::new(self.shop.stock_fixture.db.database.clone()),
            charges: self.shop.payments.clone(),
            clock: self.shop.clock.clone(),
            random: self.shop.random.clone(),
            terms: VerificationTerms { amount: "1.00".parse().unwrap(), return_url: String::new() },
            consent_text: "1".to_owned(),
        }
    }

    /// The customer agrees on another plan, and the acquirer notifies about its last payment before the commit.
    async fn agrees_while_told(&self, id: SubscriptionId, plan: i64, status: GatewayStatus) {
        let db = self.shop.stock_fixture.db;
        let holder =
            Holder::hold(&db.database, format!("SELECT id FROM subscriptions WHERE id = {id} FOR UPDATE")).await;
        let (service, anna) = (Arc::clone(&self.service), self.shop.customer);
        let plan = Some(PlanChoice::Item(NomenclatureId::new(plan).unwrap()));
        let edit = TermsEdit { plan, saved_method: None };
        let agrees = async move { service.change(anna, id, &edit, Some(&Agreement::default())).await };
        let agrees = tokio::spawn(agrees);
        until_waiting(db, 1).await;
        let (payments, provider) = (Arc::clone(&self.shop.payments), self.shop.acquirer.settle(status));
        let reported = tokio::spawn(async move { payments.handle_notification(&provider, None).await });
        until_waiting(db, 2).await;
        holder.release().await;
        agrees.await.unwrap().unwrap();
        reported.await.unwrap().unwrap();
    }
}

async fn a_plan_change_stays_when_a_renewal_is_told_of_meanwhile() {
    let db = TestDatabase::fresh(Kind::Postgres);
    let fixture = SubscriptionFixture::open(&db).await;
    let id = fixture.subscribed(fixture.shop.customer, fixture.gold).await;
    let silver = fixture.plan("Silver", 50_000, 1).await;
    fixture.shop.acquirer.set_mode(AcquirerMode::LosesTheAnswer);
    fixture.go_to("2026-04-01T12:00:00Z");
    fixture.scheduler.run(10).await.unwrap();
    assert_eq!(fixture.see(id).await.subscription.status, SubscriptionStatus::Charging);
    fixture.agrees_while_told(id, silver, GatewayStatus::Pending).await;
    let accepted = "SELECT count(*) AS number FROM subscriptions s JOIN subscription_consents n ON n.id = s.next_consent_id \
                    WHERE n.amount = 50000 AND n.id = (SELECT max(id) FROM subscription_consents)";
    assert_eq!(db.number(accepted.to_owned()).await, 1);
    fixture.settle(GatewayStatus::Succeeded).await;
    fixture.shop.acquirer.set_mode(AcquirerMode::Paid);
    fixture.go_to("2026-05-01T12:00:00Z");
    assert_eq!(fixture.tick().await, 1);
    let paid = "SELECT amount AS number FROM subscription_payments WHERE state = 'succeeded' ORDER BY id DESC LIMIT 1";
    assert_eq!(db.number(paid.to_owned()).await, 50_000);
}

async fn a_plan_change_stays_when_another_card_is_saved_meanwhile() {
    let db = TestDatabase::fresh(Kind::Postgres);
    let fixture = SubscriptionFixture::open(&db).await;
    let id = fixture.subscribed(fixture.shop.customer, fixture.gold).await;
    let silver = fixture.plan("Silver", 50_000, 1).await;
    fixture.cards().begin(fixture.shop.customer, id, &Agreement::default()).await.unwrap();
    fixture.agrees_while_told(id, silver, GatewayStatus::Succeeded).await;
    let subscription = fixture.see(id).await.subscription;
    assert_eq!(subscription.next_terms.unwrap().amount.to_string(), "500.00");
    assert_eq!(
        subscription.terms.method,
        Some(fixture.method(fixture.shop.customer).await),
        "the card that was saved last"
    );
}

async fn a_card_that_is_saved_while_the_former_one_is_deleted_stays() {
    let db = TestDatabase::fresh(Kind::Postgres);
    let fixture = SubscriptionFixture::open(&db).await;
    let anna = fixture.shop.customer;
    let id = fixture.subscribed(anna, fixture.gold).await;
    let former = fixture.method(anna).await;
    fixture.cards().begin(anna, id, &Agreement::default()).await.unwrap();
    let holder = Holder::hold(&db.database, format!("SELECT id FROM subscriptions WHERE id = {id} FOR UPDATE")).await;
    let provider = fixture.shop.acquirer.settle(GatewayStatus::Succeeded);
    let payments = Arc::clone(&fixture.shop.payments);
    let saved = tokio::spawn(async move { payments.handle_notification(&provider, None).await });
    until_waiting(&db, 1).await;
    let service = Arc::clone(&fixture.service);
    let deleted = tokio::spawn(async move { service.delete_method(anna, former).await });
    until_waiting(&db, 2).await;
    holder.release().await;
    saved.await.unwrap().unwrap();
    deleted.await.unwrap().unwrap();
    let method = fixture.see(id).await.subscription.terms.method;
    assert_eq!(method, Some(fixture.method(anna).await));
    assert_ne!(method, Some(former));
}

tests_with!(postgres:
    a_plan_change_stays_when_a_renewal_is_told_of_meanwhile,
    a_plan_change_stays_when_another_card_is_saved_meanwhile,
    a_card_that_is_saved_while_the_former_one_is_deleted_stays,
);
