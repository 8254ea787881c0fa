//! The storage in memory fulfills the contract, and the contract notices each guard that is missing.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::DateTime;
use futures_util::FutureExt as _;
use kontor_kernel::{AppScope, Contact, CounterpartyId, CustomerScope, FileId, FileKey, ProjectId};

use super::{Guard, InMemoryCustomers};
use crate::testing::contract::{self, Fixture};

#[async_trait]
impl Fixture for InMemoryCustomers {
    type Store = Self;

    fn store(&self) -> Arc<Self> {
        Arc::new(self.clone())
    }

    async fn project(&self) -> ProjectId {
        self.state.with(|state| state.ids.id())
    }

    async fn logged_in(&self, project: ProjectId, contact: &Contact) -> CounterpartyId {
        self.log_in(project, contact, DateTime::UNIX_EPOCH)
    }

    async fn begin_payment(&self, _: ProjectId, customer: CounterpartyId) {
        Self::begin_payment(self, customer);
    }

    async fn avatar(&self, project: ProjectId) -> FileId {
        self.add_avatar(project, FileKey::parse(&"a".repeat(FileKey::LENGTH)).unwrap())
    }

    async fn app(&self, project_id: ProjectId) -> AppScope {
        AppScope { project_id, application_id: self.state.with(|state| state.ids.id()), wholesale: false }
    }

    async fn notify(&self, customer: CustomerScope, title: &str) {
        Self::notify(self, customer, title, "order_paid", DateTime::UNIX_EPOCH);
    }
}

/// Runs every check, each on a new storage. Returns the names of those that failed.
macro_rules! failures {
    ($open:expr; $($check:ident)+) => {{
        let mut failed: Vec<&str> = Vec::new();
        $(
            let store: InMemoryCustomers = $open;
            if AssertUnwindSafe(contract::$check(&store)).catch_unwind().await.is_err() {
                failed.push(stringify!($check));
            }
        )+
        failed
    }};
}

async fn failures(open: impl Fn() -> InMemoryCustomers) -> Vec<&'static str> {
    failures! {
        open();
        a_login_belongs_to_one_customer
        a_deleted_customer_is_gone
        a_customer_who_pays_stays
        a_customer_stays_in_their_project
        concurrent_changes_are_kept
        a_customer_has_limited_contacts
        a_removed_contact_no_longer_logs_in
        a_list_shows_the_customers_of_a_project
        an_avatar_is_a_picture_of_the_project
        a_contact_stays_with_its_customer
        notifications_belong_to_a_customer_and_an_application
    }
}

#[tokio::test]
async fn the_storage_in_memory_fulfills_the_contract() {
    assert_eq!(failures(InMemoryCustomers::default).await, [""; 0]);
}

/// The checks that notice each guard, when it is missing.
#[tokio::test]
async fn a_missing_guard_is_noticed() {
    for (guard, check) in [
        (Guard::Login, "a_login_belongs_to_one_customer"),
        (Guard::FormerLogin, "a_deleted_customer_is_gone"),
        (Guard::FormerLogin, "a_removed_contact_no_longer_logs_in"),
        (Guard::Deletion, "a_deleted_customer_is_gone"),
        (Guard::Deletion, "a_list_shows_the_customers_of_a_project"),
        (Guard::Payment, "a_customer_who_pays_stays"),
        (Guard::Project, "a_customer_stays_in_their_project"),
        (Guard::Project, "a_list_shows_the_customers_of_a_project"),
        (Guard::Avatar, "an_avatar_is_a_picture_of_the_project"),
        (Guard::Limit, "a_customer_has_limited_contacts"),
        (Guard::Owner, "a_contact_stays_with_its_customer"),
        (Guard::Checked, "a_contact_stays_with_its_customer"),
        (Guard::Recipient, "notifications_belong_to_a_customer_and_an_application"),
    ] {
        let failed = failures(|| InMemoryCustomers::without(guard)).await;
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
