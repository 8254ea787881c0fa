//! Subscriptions and saved methods.

use kontor_adapter_diesel::testing::TestDatabase;
use kontor_payments::model::GatewayStatus;
use kontor_payments::ports::SavedMethodStore;
use kontor_subscriptions::model::SubscriptionPolicy;

use super::scenarios;
use crate::orders::shop::AcquirerMode;
use crate::subscriptions::fixture::SubscriptionFixture;

/// A shop with plans whose items are in the search index, like those written by staff.
async fn open(db: &TestDatabase) -> SubscriptionFixture<'_> {
    let fixture = SubscriptionFixture::open(db).await;
    db.database.correct(None, chrono::DateTime::UNIX_EPOCH).await.unwrap();
    fixture
}

scenarios! {
    async fn subscribed(db, run) {
        let fixture = open(db).await;
        run.begin(db);
        run.steps_of(3, "check out", async || fixture.check_out(fixture.shop.customer, &[fixture.gold]).await).await;
        let id = fixture.shop.acquirer.settle(GatewayStatus::Succeeded);
        run.step("paid", async || fixture.shop.payments.handle_notification(&id, None).await).await;
    }

    async fn renewed(db, run) {
        let fixture = open(db).await;
        fixture.subscribed(fixture.shop.customer, fixture.gold).await;
        fixture.shop.acquirer.set_mode(AcquirerMode::Paid);
        fixture.go_to("2026-04-01T12:00:00Z");
        run.begin(db);
        run.steps_of(6, "charge", async || fixture.scheduler.run(1_000).await).await;
    }

    async fn canceled(db, run) {
        let fixture = open(db).await;
        let customer = fixture.shop.customer;
        let id = fixture.subscribed(customer, fixture.gold).await;
        run.begin(db);
        run.step("cancel", async || fixture.service.cancel(customer, id).await).await;
    }

    async fn method_deleted(db, run) {
        let fixture = open(db).await;
        let customer = fixture.shop.customer;
        fixture.subscribed(customer, fixture.gold).await;
        let (method, at) = (fixture.method(customer).await, "2026-03-02T12:00:00Z".parse().unwrap());
        run.begin(db);
        run.step("deactivate", async || db.database.deactivate(customer, method, at).await).await;
    }

    async fn policy_set(db, run) {
        let fixture = open(db).await;
        run.begin(db);
        let policy = SubscriptionPolicy { withdrawn_plans_renew: true, ..SubscriptionPolicy::default() };
        run.step("set", async || fixture.staff_subscriptions().set_policy(&fixture.staff(), policy.clone()).await).await;
    }
}
