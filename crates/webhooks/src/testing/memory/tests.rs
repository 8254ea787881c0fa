//! The storage in memory fulfills the contract, and the contract notices each guard that is missing.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::DateTime;
use futures_util::FutureExt as _;
use kontor_kernel::AppScope;

use super::{Guard, InMemoryWebhooks};
use crate::model::PublicEvent;
use crate::testing::contract::{self, Fixture};

#[async_trait]
impl Fixture for InMemoryWebhooks {
    type Store = Self;

    fn store(&self) -> Arc<Self> {
        Arc::new(self.clone())
    }

    async fn app(&self) -> AppScope {
        let project_id = self.state.with(|state| state.ids.id());
        AppScope { project_id, application_id: self.add_application(project_id), wholesale: false }
    }

    async fn events(&self, app: AppScope, count: u32) {
        for _ in 0..count {
            self.add_event(app.application_id, PublicEvent::OrderPaid, "{}", DateTime::UNIX_EPOCH);
        }
    }
}

/// Runs every check, each on a new storage. Returns the names of those that failed.
macro_rules! failures {
    ($open:expr; $($check:ident)+) => {{
        let mut failed: Vec<&str> = Vec::new();
        $(
            let store: InMemoryWebhooks = $open;
            if AssertUnwindSafe(contract::$check(&store)).catch_unwind().await.is_err() {
                failed.push(stringify!($check));
            }
        )+
        failed
    }};
}

async fn failures(open: impl Fn() -> InMemoryWebhooks) -> Vec<&'static str> {
    failures! {
        open();
        an_event_is_fanned_out_once
        a_delivery_has_one_lease
        an_expired_lease_passes_on
        a_stopped_worker_releases_its_leases
        an_inactive_webhook_gets_nothing
        an_endpoint_without_answer_is_paused
        attempts_that_time_out_together_count_once
        a_delivery_is_resent_once
        an_application_has_limited_webhooks
        a_webhook_stays_in_its_application
        a_new_secret_signs_the_next_attempt
        a_test_reaches_an_active_webhook
        the_backlog_is_the_oldest_work
    }
}

#[tokio::test]
async fn the_storage_in_memory_fulfills_the_contract() {
    assert_eq!(failures(InMemoryWebhooks::default).await, [""; 0]);
}

/// The checks that notice each guard, when it is missing.
#[tokio::test]
async fn a_missing_guard_is_noticed() {
    for (guard, check) in [
        (Guard::FanOut, "an_event_is_fanned_out_once"),
        (Guard::Active, "an_inactive_webhook_gets_nothing"),
        (Guard::Active, "a_test_reaches_an_active_webhook"),
        (Guard::Lease, "a_delivery_has_one_lease"),
        (Guard::Slots, "a_delivery_has_one_lease"),
        (Guard::Slots, "an_endpoint_without_answer_is_paused"),
        (Guard::Holder, "an_expired_lease_passes_on"),
        (Guard::Circuit, "attempts_that_time_out_together_count_once"),
        (Guard::Resend, "a_delivery_is_resent_once"),
        (Guard::Limit, "an_application_has_limited_webhooks"),
        (Guard::Application, "a_webhook_stays_in_its_application"),
        (Guard::Project, "a_webhook_stays_in_its_application"),
    ] {
        let failed = failures(|| InMemoryWebhooks::without(guard)).await;
        assert!(failed.contains(&check), "{guard:?}: {failed:?}");
    }
}

/// The suite of an adapter is complete if it names every check.
#[test]
fn every_check_runs() {
    let here = include_str!("tests.rs");
    let checks = include_str!("../contract.rs").lines();
    for (check, _) in checks.filter_map(|line| line.strip_prefix("pub async fn ")?.split_once('<')) {
        assert!(here.contains(&format!("\n        {check}\n")), "{check} does not run");
    }
}
