//! Contract of the stock.

use std::sync::Arc;

use async_trait::async_trait;
use kontor_adapter_diesel::Database;
use kontor_catalog::testing::contract::stock::{self as contract, Fixture};
use kontor_kernel::{BranchId, InventoryId, ProjectId};

use super::records;
use crate::fixtures::{self, EmptyDatabase};

#[async_trait]
impl Fixture for EmptyDatabase<'_> {
    type Store = Database;

    fn store(&self) -> Arc<Database> {
        Arc::new(self.0.database.clone())
    }

    async fn project(&self) -> (ProjectId, BranchId) {
        let project = fixtures::project(self.0).await;
        (project, records::branch(self.0, project).await)
    }

    async fn reserve(&self, stock: InventoryId, units: u32) {
        let statement = format!("UPDATE inventories SET reserved = reserved + {units} WHERE id = {stock}");
        records::execute(self.0, statement).await;
    }
}

promises! {
    EmptyDatabase:
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
