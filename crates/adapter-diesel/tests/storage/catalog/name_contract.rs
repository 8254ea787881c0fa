//! Contract of categories, brands, tags and discounts.

use std::sync::Arc;

use async_trait::async_trait;
use kontor_adapter_diesel::Database;
use kontor_catalog::testing::contract::names::{self as contract, Fixture};
use kontor_kernel::ProjectId;

use crate::fixtures::{self, EmptyDatabase};

#[async_trait]
impl Fixture for EmptyDatabase<'_> {
    type Store = Database;

    fn store(&self) -> Arc<Database> {
        Arc::new(self.0.database.clone())
    }

    async fn project(&self) -> ProjectId {
        fixtures::project(self.0).await
    }
}

promises! {
    EmptyDatabase:
    a_brand_name_is_unique_in_its_project
    a_tag_name_is_unique_in_its_project
    a_category_code_is_unique_in_its_project
    categories_form_no_cycle
    a_promo_code_is_unique_in_its_project
    a_stale_discount_is_not_replaced
}
