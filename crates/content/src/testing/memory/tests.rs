//! The storage in memory fulfills the contract, and the contract notices each guard that is missing.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::FutureExt as _;
use kontor_kernel::{AppScope, ProjectId, UserId};

use super::{Guard, InMemoryContent};
use crate::testing::contract::{self, Fixture};

#[async_trait]
impl Fixture for InMemoryContent {
    type Store = Self;

    fn store(&self) -> Arc<Self> {
        Arc::new(self.clone())
    }

    async fn app(&self) -> AppScope {
        let project_id = self.state.with(|state| state.ids.id());
        AppScope { project_id, application_id: self.add_application(project_id), wholesale: false }
    }

    async fn employee(&self, _: ProjectId) -> UserId {
        self.state.with(|state| state.ids.id())
    }
}

/// Runs every check, each on a new storage. Returns the names of those that failed.
macro_rules! failures {
    ($open:expr; $($check:ident)+) => {{
        let mut failed: Vec<&str> = Vec::new();
        $(
            let store: InMemoryContent = $open;
            if AssertUnwindSafe(contract::$check(&store)).catch_unwind().await.is_err() {
                failed.push(stringify!($check));
            }
        )+
        failed
    }};
}

async fn failures(open: impl Fn() -> InMemoryContent) -> Vec<&'static str> {
    failures! {
        open();
        a_file_is_found_with_its_content
        a_swept_file_is_not_completed
        an_orphaned_file_has_one_lease
        a_file_stays_in_its_project
        codes_and_slugs_are_unique
        a_tree_stays_a_tree
        no_position_is_lost
        parts_stay_in_their_application
        customers_see_whole_trees
        a_slug_leads_to_one_page
        a_project_has_one_fallback_page
        customers_see_active_pages
        views_are_added
        slides_keep_their_order
        slides_stay_in_their_application
        a_slide_ends_after_it_begins
        an_application_has_a_limited_number_of_slides
    }
}

#[tokio::test]
async fn the_storage_in_memory_fulfills_the_contract() {
    assert_eq!(failures(InMemoryContent::default).await, [""; 0]);
}

/// The checks that notice each guard, when it is missing.
#[tokio::test]
async fn a_missing_guard_is_noticed() {
    for (guard, check) in [
        (Guard::Completion, "a_file_is_found_with_its_content"),
        (Guard::Swept, "a_swept_file_is_not_completed"),
        (Guard::Lease, "an_orphaned_file_has_one_lease"),
        (Guard::Owner, "a_file_stays_in_its_project"),
        (Guard::Owner, "parts_stay_in_their_application"),
        (Guard::Owner, "customers_see_whole_trees"),
        (Guard::Owner, "customers_see_active_pages"),
        (Guard::Unique, "codes_and_slugs_are_unique"),
        (Guard::Unique, "a_slug_leads_to_one_page"),
        (Guard::Tree, "a_tree_stays_a_tree"),
        (Guard::Children, "a_tree_stays_a_tree"),
        (Guard::Neighbour, "no_position_is_lost"),
        (Guard::Fallback, "a_project_has_one_fallback_page"),
        (Guard::Active, "customers_see_active_pages"),
        (Guard::Neighbour, "slides_keep_their_order"),
        (Guard::Owner, "slides_stay_in_their_application"),
        (Guard::Limit, "an_application_has_a_limited_number_of_slides"),
    ] {
        let failed = failures(|| InMemoryContent::without(guard)).await;
        assert!(failed.contains(&check), "{guard:?}: {failed:?}");
    }
}

/// The suite of an adapter is complete if it names every check.
#[test]
fn every_check_runs() {
    let here = include_str!("tests.rs");
    let checks =
        [include_str!("../contract.rs"), include_str!("../contract/reading.rs"), include_str!("../contract/slides.rs")]
            .concat();
    for (check, _) in checks.lines().filter_map(|line| line.strip_prefix("pub async fn ")?.split_once('<')) {
        assert!(here.contains(&format!("\n        {check}\n")), "{check} does not run");
    }
}
