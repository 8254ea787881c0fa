//! Contract of what customers see of the catalog.

use async_trait::async_trait;
use kontor_catalog::testing::contract::storefront::{self as contract, Fixture};
use kontor_content::model::{Slide, SlideContent};
use kontor_content::ports::PartRepository;
use kontor_kernel::{AppScope, BranchId, Period, ProjectId, SlideId};

use super::records;
use crate::fixtures::{EmptyDatabase, number};

#[async_trait]
impl Fixture for EmptyDatabase<'_> {
    async fn application(&self, (project_id, branch): (ProjectId, BranchId)) -> AppScope {
        let title = format!("Shop {}", number(self.0, "SELECT count(*) AS value FROM applications").await);
        let application_id = records::application(self.0, project_id, branch, &title).await;
        AppScope { project_id, application_id, wholesale: false }
    }

    async fn slide(&self, app: AppScope, is_active: bool, period: Period) -> SlideId {
        let title = records::name("Slide");
        let content = SlideContent { title, description: None, photo: None, link: None, is_active, period };
        let stamp = records::system(app.project_id);
        PartRepository::<Slide>::insert(&self.0.database, stamp, app.application_id, content).await.unwrap().id
    }
}

promises! {
    EmptyDatabase:
    only_offered_products_are_shown
    foreign_records_are_not_shown
    pages_are_stable
    prices_are_those_of_the_application
    filters_narrow_the_list
    categories_and_brands_are_those_of_the_application
    plans_are_offered_in_order
    slides_are_shown_in_their_period
    views_add_up
}
