//! The stock in memory fulfills the contract, and the contract notices each guard that is missing.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::FutureExt as _;
use kontor_kernel::{BranchId, InventoryId, ProjectId};

use super::{Guard, InMemoryStock};
use crate::testing::contract::stock::{self as contract, Fixture};

#[async_trait]
impl Fixture for InMemoryStock {
    type Store = Self;

    fn store(&self) -> Arc<Self> {
        Arc::new(self.clone())
    }

    async fn project(&self) -> (ProjectId, BranchId) {
        let project = self.add(super::State::id);
        (project, self.add_branch(project))
    }

    async fn reserve(&self, stock: InventoryId, units: u32) {
        Self::reserve(self, stock, units);
    }
}

/// Runs every check, each on a new storage. Returns the names of those that failed.
macro_rules! failures {
    ($open:expr; $($check:ident)+) => {{
        let mut failed: Vec<&str> = Vec::new();
        $(
            let store: InMemoryStock = $open;
            if AssertUnwindSafe(contract::$check(&store)).catch_unwind().await.is_err() {
                failed.push(stringify!($check));
            }
        )+
        failed
    }};
}

async fn failures(open: impl Fn() -> InMemoryStock) -> Vec<&'static str> {
    failures! {
        open();
        stock_stays_above_reservations
        an_item_is_stocked_once_in_a_warehouse
        changes_of_stock_are_movements
        stock_stays_in_its_project
        only_goods_have_stock
        a_stale_item_is_not_replaced
        an_article_is_unique_in_its_project
        a_warehouse_with_stock_stays
        no_stock_is_lost_with_a_warehouse
    }
}

#[tokio::test]
async fn the_stock_in_memory_fulfills_the_contract() {
    assert_eq!(failures(InMemoryStock::default).await, [""; 0]);
}

/// The checks that notice each guard, when it is missing.
#[tokio::test]
async fn a_missing_guard_is_noticed() {
    for (guard, check) in [
        (Guard::Reserved, "stock_stays_above_reservations"),
        (Guard::Once, "an_item_is_stocked_once_in_a_warehouse"),
        (Guard::Version, "a_stale_item_is_not_replaced"),
        (Guard::Article, "an_article_is_unique_in_its_project"),
        (Guard::Goods, "only_goods_have_stock"),
        (Guard::Project, "stock_stays_in_its_project"),
        (Guard::Empty, "a_warehouse_with_stock_stays"),
        (Guard::Empty, "no_stock_is_lost_with_a_warehouse"),
    ] {
        let failed = failures(|| InMemoryStock::without(guard)).await;
        assert!(failed.contains(&check), "{guard:?}: {failed:?}");
    }
}

/// The suite of an adapter is complete if it names every check.
#[test]
fn every_check_runs() {
    let (checks, here) = (include_str!("../contract/stock.rs"), include_str!("tests.rs"));
    let named = checks.lines().filter_map(|line| line.strip_prefix("pub async fn ")?.split_once('<'));
    for (check, _) in named {
        assert!(here.contains(&format!("\n        {check}\n")), "{check} does not run");
    }
}
