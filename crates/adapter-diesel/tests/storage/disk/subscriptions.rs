//! Subscriptions and saved methods.

use kontor_adapter_diesel::testing::TestDatabase;
use kontor_payments::model::GatewayStatus;
use kontor_payments::ports::SavedMethodStore;
use kontor_subscriptions::model::SubscriptionPolicy;

use super::scenarios;
use crate::orders::counter::AcquirerMode;
use crate::subscriptions::club::Club;

/// A shop with plans whose items are in the search index, like those written by staff.
async fn open(db: &TestDatabase) -> Club<'_> {
    let club = Club::open(db).await;
    db.database.correct(None, chrono::DateTime::UNIX_EPOCH).await.unwrap();
    club
}

scenarios! {
    async fn subscribed(db, run) {
        let club = open(db).await;
        run.begin(db);
        run.steps_of(3, "check out", async || club.check_out(club.counter.customer, &[club.gold]).await).await;
        let id = club.counter.acquirer.settle(GatewayStatus::Succeeded);
        run.step("paid", async || club.counter.payments.handle_notification(&id, None).await).await;
    }

    async fn renewed(db, run) {
        let club = open(db).await;
        club.subscribed(club.counter.customer, club.gold).await;
        club.counter.acquirer.mood(AcquirerMode::Paid);
        club.go_to("2026-04-01T12:00:00Z");
        run.begin(db);
        run.steps_of(6, "charge", async || club.scheduler.run(1_000).await).await;
    }

    async fn canceled(db, run) {
        let club = open(db).await;
        let customer = club.counter.customer;
        let id = club.subscribed(customer, club.gold).await;
        run.begin(db);
        run.step("cancel", async || club.service.cancel(customer, id).await).await;
    }

    async fn method_deleted(db, run) {
        let club = open(db).await;
        let customer = club.counter.customer;
        club.subscribed(customer, club.gold).await;
        let (method, at) = (club.method(customer).await, "2026-03-02T12:00:00Z".parse().unwrap());
        run.begin(db);
        run.step("deactivate", async || db.database.deactivate(customer, method, at).await).await;
    }

    async fn policy_set(db, run) {
        let club = open(db).await;
        run.begin(db);
        let policy = SubscriptionPolicy { withdrawn_plans_renew: true, ..SubscriptionPolicy::default() };
        run.step("set", async || club.desk().set_policy(&club.staff(), policy.clone()).await).await;
    }
}
