//! Contract of favourites and of the search history.

use std::sync::Arc;

use async_trait::async_trait;
use kontor_adapter_diesel::Database;
use kontor_catalog::testing::contract::customers::{self as contract, Fixture};
use kontor_customers::ports::CustomerRepository;
use kontor_kernel::{Clock as _, CustomerScope, NomenclatureId};

use crate::orders::shop::ShopFixture;

#[async_trait]
impl Fixture for ShopFixture<'_> {
    type Store = Database;

    fn store(&self) -> Arc<Database> {
        Arc::new(self.stock_fixture.db.database.clone())
    }

    async fn customer(&self) -> CustomerScope {
        self.another_customer().await
    }

    async fn delete_customer(&self, customer: CustomerScope) {
        let (project, id, at) = (customer.app.project_id, customer.counterparty_id, self.clock.now());
        CustomerRepository::delete_account(&self.stock_fixture.db.database, project, id, at).await.unwrap();
    }

    async fn product(&self) -> NomenclatureId {
        NomenclatureId::new(self.goods("Vase", 3, 1_000).await).unwrap()
    }
}

promises! {
    ShopFixture:
    a_favourite_is_added_once
    the_last_searches_are_kept
    a_deleted_customer_leaves_nothing
}
