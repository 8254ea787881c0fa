//! The storage in memory fulfills the contract, and the contract notices each guard that is missing.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::FutureExt as _;
use kontor_kernel::testing::app_scope;
use kontor_kernel::{CustomerScope, ProjectId};

use super::{ChargeGuard, Guard, InMemoryPayments};
use crate::testing::contract::{self, Fixture, ReceiptFixture};

#[async_trait]
impl Fixture for InMemoryPayments {
    type Store = Self;

    fn store(&self) -> Arc<Self> {
        Arc::new(self.clone())
    }

    async fn customer(&self) -> CustomerScope {
        self.add_customer()
    }

    async fn delete_customer(&self, customer: CustomerScope) {
        Self::delete_customer(self, customer.counterparty_id);
    }
}

#[async_trait]
impl ReceiptFixture for InMemoryPayments {
    async fn project(&self) -> ProjectId {
        self.add_project()
    }
}

/// Runs every check, each on a new storage. Returns the names of those that failed.
macro_rules! failures {
    ($open:expr; $($check:ident)+) => {{
        let mut failed: Vec<&str> = Vec::new();
        $(
            let store: InMemoryPayments = $open;
            if AssertUnwindSafe(contract::$check(&store)).catch_unwind().await.is_err() {
                failed.push(stringify!($check));
            }
        )+
        failed
    }};
}

async fn failures(open: impl Fn() -> InMemoryPayments) -> Vec<&'static str> {
    failures! {
        open();
        a_charge_is_found_again
        one_purpose_has_one_open_charge
        an_outcome_is_recorded_once
        an_unanswered_request_is_remembered
        what_is_due_is_leased
        refunds_never_exceed_what_has_arrived
        a_refund_is_named_by_its_first_key
        a_refund_is_recorded_under_its_key
        money_that_is_due_back_is_set_aside
        a_method_is_saved_with_its_charge
        a_deactivated_method_is_charged_no_more
        a_customer_has_one_open_verification
        a_deleted_customer_pays_nothing
        a_contradiction_changes_no_outcome
        a_refund_made_outside_is_recorded_once
        refunds_are_compared_in_turn
        a_receipt_is_stored_with_its_money
        a_due_receipt_has_one_lease
        a_receipt_is_registered_once
        an_overdue_receipt_stays_reported
        receipt_settings_belong_to_a_project
    }
}

#[tokio::test]
async fn the_storage_in_memory_fulfills_the_contract() {
    assert_eq!(failures(|| InMemoryPayments::new(app_scope(1, 1))).await, [""; 0]);
}

/// The checks that notice each guard, when it is missing.
#[tokio::test]
async fn a_missing_guard_is_noticed() {
    for (guard, check) in [
        (Guard::Charge(ChargeGuard::Conflict), "one_purpose_has_one_open_charge"),
        (Guard::Charge(ChargeGuard::Outcome), "an_outcome_is_recorded_once"),
        (Guard::Charge(ChargeGuard::Outcome), "money_that_is_due_back_is_set_aside"),
        (Guard::Charge(ChargeGuard::Lease), "what_is_due_is_leased"),
        (Guard::Charge(ChargeGuard::Refund), "refunds_never_exceed_what_has_arrived"),
        (Guard::FirstKey, "a_refund_is_named_by_its_first_key"),
        (Guard::Attempt, "a_refund_is_recorded_under_its_key"),
        (Guard::RefundLease, "what_is_due_is_leased"),
        (Guard::Customer, "a_deleted_customer_pays_nothing"),
        (Guard::Method, "a_deactivated_method_is_charged_no_more"),
        (Guard::Verification, "a_customer_has_one_open_verification"),
        (Guard::Outside, "a_refund_made_outside_is_recorded_once"),
        (Guard::Comparison, "refunds_are_compared_in_turn"),
        (Guard::ReceiptLease, "a_due_receipt_has_one_lease"),
        (Guard::ReceiptAttempt, "a_receipt_is_registered_once"),
    ] {
        let failed = failures(|| InMemoryPayments::without(app_scope(1, 1), guard)).await;
        assert!(failed.contains(&check), "{guard:?}: {failed:?}");
    }
}

/// The suite of an adapter is complete if it names every check.
#[test]
fn every_check_runs() {
    let here = include_str!("tests.rs");
    let checks = [
        include_str!("../contract.rs"),
        include_str!("../contract/doubts.rs"),
        include_str!("../contract/receipts.rs"),
    ]
    .concat();
    let named = checks.lines().filter_map(|line| line.strip_prefix("pub async fn ")?.split_once('<'));
    for (check, _) in named {
        assert!(here.contains(&format!("\n        {check}\n")), "{check} does not run");
    }
}
