//! Contract of assortments, subscription plans and promotions.

use async_trait::async_trait;
use kontor_catalog::testing::contract::offers::{self as contract, Fixture};
use kontor_kernel::{ApplicationId, ProjectId};

use super::records;
use crate::fixtures::{EmptyDatabase, number};

#[async_trait]
impl Fixture for EmptyDatabase<'_> {
    async fn application(&self, project: ProjectId) -> ApplicationId {
        let title = format!("Shop {}", number(self.0, "SELECT count(*) AS value FROM applications").await);
        let branch = records::branch(self.0, project).await;
        records::application(self.0, project, branch, &title).await
    }
}

promises! {
    EmptyDatabase:
    categories_are_shown_in_order
    brands_are_shown_in_order
    a_plan_is_assigned_once
    an_assignment_stays_in_its_application
    a_promotion_refers_to_records_of_its_project
    a_promotion_stays_in_its_project
}
