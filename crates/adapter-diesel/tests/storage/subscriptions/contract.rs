//! Contract of the storage of subscriptions.

use std::sync::Arc;

use async_trait::async_trait;
use kontor_adapter_diesel::Database;
use kontor_kernel::{CustomerScope, Money, NomenclatureId, ProjectId};
use kontor_subscriptions::testing::contract::{self, Fixture, StaffFixture};

use super::fixture::SubscriptionFixture;
use crate::fixtures;

#[async_trait]
impl Fixture for SubscriptionFixture<'_> {
    type Store = Database;

    fn store(&self) -> Arc<Database> {
        Arc::new(self.shop.stock_fixture.db.database.clone())
    }

    async fn customer(&self) -> CustomerScope {
        self.shop.another_customer().await
    }

    async fn plan(&self, price: Money) -> NomenclatureId {
        NomenclatureId::new(SubscriptionFixture::plan(self, "Plan", price.minor(), 1).await).unwrap()
    }
}

#[async_trait]
impl StaffFixture for SubscriptionFixture<'_> {
    async fn project(&self) -> ProjectId {
        fixtures::project(self.shop.stock_fixture.db).await
    }
}

promises! {
    SubscriptionFixture:
    one_first_payment_is_unfinished
    a_subscription_is_activated_once
    a_failed_first_payment_frees_the_plan
    a_subscription_stays_with_its_customer
    a_due_subscription_has_one_lease
    a_period_is_charged_once
    a_canceled_subscription_is_not_charged
    a_deleted_method_is_not_charged
    subscriptions_are_listed_by_project
    the_past_of_a_subscription_is_its_own
    a_charge_policy_belongs_to_a_project
    parked_subscriptions_are_counted
    due_subscriptions_are_read_once
    attempts_are_reported_oldest_first
    one_method_change_is_open
    a_saved_method_replaces_the_former
}
