//! The storage in memory fulfills the contract, and the contract notices each guard that is missing.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::FutureExt as _;
use kontor_kernel::{AppScope, ApplicationId, CustomerScope, Money, NomenclatureId, ProjectId};

use super::{ChargeGuard, Guard, InMemorySubscriptions};
use crate::testing::contract::{self, Fixture};

#[async_trait]
impl Fixture for InMemorySubscriptions {
    type Store = Self;

    fn store(&self) -> Arc<Self> {
        Arc::new(self.clone())
    }

    async fn customer(&self) -> CustomerScope {
        self.add_customer()
    }

    async fn plan(&self, price: Money) -> NomenclatureId {
        self.add_plan("Gold", price)
    }
}

fn app() -> AppScope {
    let (project_id, application_id) = (ProjectId::new(1).unwrap(), ApplicationId::new(1).unwrap());
    AppScope { project_id, application_id, wholesale: false }
}

/// Runs every check, each on a new storage. Returns the names of those that failed. No call to the storage waits.
macro_rules! failures {
    ($open:expr; $($check:ident)+) => {{
        let mut failed: Vec<&str> = Vec::new();
        $(
            let store: InMemorySubscriptions = $open;
            let ended = AssertUnwindSafe(contract::$check(&store)).catch_unwind().now_or_never();
            if !matches!(ended, Some(Ok(()))) {
                failed.push(stringify!($check));
            }
        )+
        failed
    }};
}

fn failures(open: impl Fn() -> InMemorySubscriptions) -> Vec<&'static str> {
    failures! {
        open();
        one_first_payment_is_unfinished
        a_subscription_is_activated_once
        a_failed_first_payment_frees_the_plan
        a_subscription_stays_with_its_customer
        a_due_subscription_has_one_lease
        a_period_is_charged_once
        a_canceled_subscription_is_not_charged
        a_deleted_method_is_not_charged
        due_subscriptions_are_read_once
        attempts_are_reported_oldest_first
    }
}

#[test]
fn the_storage_in_memory_fulfills_the_contract() {
    assert_eq!(failures(|| InMemorySubscriptions::new(app())), [""; 0]);
}

/// The checks that notice each guard, when it is missing.
#[test]
fn a_missing_guard_is_noticed() {
    for (guard, check) in [
        (Guard::Charge(ChargeGuard::Outcome), "a_subscription_is_activated_once"),
        (Guard::Charge(ChargeGuard::Outcome), "a_failed_first_payment_frees_the_plan"),
        (Guard::Unfinished, "one_first_payment_is_unfinished"),
        (Guard::Claim, "a_subscription_is_activated_once"),
        (Guard::Current, "a_period_is_charged_once"),
        (Guard::Lease, "a_due_subscription_has_one_lease"),
        (Guard::LastLease, "a_due_subscription_has_one_lease"),
        (Guard::Owner, "a_subscription_stays_with_its_customer"),
        (Guard::Method, "a_deleted_method_is_not_charged"),
        (Guard::Position, "due_subscriptions_are_read_once"),
    ] {
        let failed = failures(|| InMemorySubscriptions::without(app(), guard));
        assert!(failed.contains(&check), "{guard:?}: {failed:?}");
    }
}

/// The suite of an adapter is complete if it names every check.
#[test]
fn every_check_runs() {
    let (checks, here) = (include_str!("../contract.rs"), include_str!("tests.rs"));
    let named = checks.lines().filter_map(|line| line.strip_prefix("pub async fn ")?.split_once('<'));
    for (check, _) in named {
        assert!(here.contains(&format!("\n        {check}\n")), "{check} does not run");
    }
}
