//! A customer has at most one subscription per plan that is or will be charged.

use std::sync::Arc;

use diesel::connection::SimpleConnection;
use kontor_adapter_diesel::{Abort, database_tests};
use kontor_kernel::{CustomerScope, NomenclatureId, StoreError, SubscriptionId};
use kontor_subscriptions::model::{PlanChoice, SubscriptionView};
use kontor_subscriptions::{Agreement, SubscriptionError, SubscriptionRefusal, SubscriptionStatus, TermsEdit};
use tokio::task::JoinSet;

use super::fixture::SubscriptionFixture;
use crate::orders::shop::AcquirerMode;

fn to(plan: i64) -> TermsEdit {
    TermsEdit { plan: Some(PlanChoice::Item(NomenclatureId::new(plan).unwrap())), saved_method: None }
}

fn is_taken<T: std::fmt::Debug>(outcome: Result<T, SubscriptionError>) {
    let taken = matches!(outcome, Err(SubscriptionError::Refused(SubscriptionRefusal::AlreadySubscribed)));
    assert!(taken, "{outcome:?}");
}

impl SubscriptionFixture<'_> {
    async fn changes_to(
        &self,
        customer: CustomerScope,
        id: SubscriptionId,
        plan: i64,
    ) -> Result<SubscriptionView, SubscriptionError> {
        self.service.change(customer, id, &to(plan), Some(&Agreement::default())).await
    }

    async fn resumes(
        &self,
        customer: CustomerScope,
        id: SubscriptionId,
    ) -> Result<SubscriptionView, SubscriptionError> {
        self.service.resume(customer, id, &Agreement::default()).await
    }

    /// Live subscriptions of a customer that share a plan, now or from the next period on.
    async fn pairs(&self) -> i64 {
        let named = "(SELECT s.id, s.counterparty_id, s.nomenclature_id AS plan FROM subscriptions s WHERE s.status <> \
                     'canceled' UNION SELECT s.id, s.counterparty_id, n.nomenclature_id FROM subscriptions s JOIN \
                     subscription_consents n ON n.id = s.next_consent_id WHERE s.status <> 'canceled')";
        self.shop
            .count(&format!(
                "(SELECT 1 FROM {named} AS named GROUP BY counterparty_id, plan HAVING count(DISTINCT id) > 1) AS pairs"
            ))
            .await
    }
}

database_tests! {
    async fn a_plan_is_subscribed_to_once_by_any_request(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let anna = fixture.shop.customer;
        let (silver, bronze) = (fixture.plan("Silver", 50_000, 1).await, fixture.plan("Bronze", 10_000, 1).await);
        let first = fixture.subscribed(anna, fixture.gold).await;
        fixture.service.cancel(anna, first).await.unwrap();
        let second = fixture.subscribed(anna, fixture.gold).await;
        let (consents, reported) = (fixture.shop.count("subscription_consents").await, fixture.notices().await);
        is_taken(fixture.resumes(anna, first).await);
        assert_eq!(fixture.see(first).await.subscription.status, SubscriptionStatus::Canceled);
        assert_eq!((fixture.shop.count("subscription_consents").await, fixture.notices().await), (consents, reported));

        let third = fixture.subscribed(anna, silver).await;
        let method = fixture.see(third).await.subscription.terms.method.unwrap();
        fixture.shop.acquirer.set_mode(AcquirerMode::Paid);
        is_taken(fixture.changes_to(anna, third, fixture.gold).await);
        is_taken(fixture.changes_to(anna, second, silver).await);
        // Both the plan of this period and that of the next one are claimed.
        fixture.changes_to(anna, third, bronze).await.unwrap();
        for plan in [silver, bronze] {
            is_taken(fixture.check_out(anna, &[plan]).await);
            is_taken(fixture.at_once(anna, plan, method).await);
            is_taken(fixture.changes_to(anna, second, plan).await);
        }
        // Withdrawing a change releases its plan.
        fixture.changes_to(anna, third, silver).await.unwrap();
        fixture.changes_to(anna, second, bronze).await.unwrap();
        is_taken(fixture.changes_to(anna, third, bronze).await);
        fixture.changes_to(anna, second, fixture.gold).await.unwrap();
        fixture.changes_to(anna, third, bronze).await.unwrap();

        fixture.go_to("2026-04-01T12:00:00Z");
        assert_eq!(fixture.tick().await, 2);
        let fourth = fixture.at_once(anna, silver, method).await.unwrap().subscription.id;
        is_taken(fixture.changes_to(anna, third, silver).await);
        fixture.service.cancel(anna, fourth).await.unwrap();
        fixture.changes_to(anna, third, silver).await.unwrap();
        is_taken(fixture.resumes(anna, fourth).await);
        assert_eq!(fixture.pairs().await, 0);
    }

    async fn a_plan_is_one_in_all_applications(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        fixture.subscribed(fixture.shop.customer, fixture.gold).await;
        let elsewhere = fixture.elsewhere(fixture.shop.stock_fixture.second.application_id);
        fixture.shop
            .stock_fixture
            .run(format!(
                "INSERT INTO subscription_nomenclatures (project_id, application_id, nomenclature_id, plan_slug, position, \
                 is_active, created_at, updated_at) \
                 VALUES ({}, {}, {}, 'gold', 1, TRUE, '2026-01-01 00:00:00', '2026-01-01 00:00:00')",
                elsewhere.app.project_id, elsewhere.app.application_id, fixture.gold
            ))
            .await;
        is_taken(fixture.check_out(elsewhere, &[fixture.gold]).await);
        let boris = fixture.shop.another_customer().await;
        fixture.subscribed(boris, fixture.gold).await;
        assert_eq!(fixture.pairs().await, 0);
    }

    async fn concurrent_claims_of_a_plan_succeed_once(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let (silver, bronze) = (fixture.plan("Silver", 50_000, 1).await, fixture.plan("Bronze", 10_000, 1).await);
        for round in 0..8_u64 {
            let customer = fixture.shop.another_customer().await;
            let former = fixture.subscribed(customer, fixture.gold).await;
            fixture.service.cancel(customer, former).await.unwrap();
            let others = [fixture.subscribed(customer, silver).await, fixture.subscribed(customer, bronze).await];
            let method = fixture.method(customer).await;
            fixture.shop.acquirer.set_mode(AcquirerMode::Paid);
            let mut running = JoinSet::new();
            for way in 0..8 {
                let (service, gold) = (Arc::clone(&fixture.service), fixture.gold);
                running.spawn(async move {
                    let agreement = Agreement::default();
                    // Each round another order of calls.
                    match (way + round) % 4 {
                        0 => service.resume(customer, former, &agreement).await.is_ok(),
                        1 => service.change(customer, others[0], &to(gold), Some(&agreement)).await.is_ok(),
                        2 => service.change(customer, others[1], &to(gold), Some(&agreement)).await.is_ok(),
                        _ => {
                            let purchase = SubscriptionFixture::purchase(&[gold], Some(method));
                            service.charge_at_once(customer, &purchase, &agreement).await.is_ok()
                        }
                    }
                });
            }
            let arrived = running.join_all().await.into_iter().filter(|is_ok| *is_ok).count();
            // Repeating the change changes nothing, and the open payment is the same.
            assert!((1..=2).contains(&arrived), "{arrived} in round {round}");
            assert_eq!(fixture.pairs().await, 0, "round {round}");
        }
    }

    /// The rule does not depend on the lock of the customer alone.
    async fn the_database_refuses_a_second_claim(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let anna = fixture.shop.customer;
        let id = fixture.subscribed(anna, fixture.gold).await;
        let claim = format!(
            "INSERT INTO subscription_claims (project_id, counterparty_id, nomenclature_id, subscription_id) \
             VALUES ({}, {}, {}, {id})",
            anna.app.project_id, anna.counterparty_id, fixture.gold
        );
        let step = move |connection: &mut kontor_adapter_diesel::AnyConnection| {
            connection.batch_execute(&claim)?;
            Ok::<_, Abort<StoreError>>(())
        };
        assert!(db.database.write_and_invalidate_all(step).await.is_err());
    }
}
