//! Contract of the ports of content.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use kontor_adapter_diesel::Database;
use kontor_auth::model::RoleChoice;
use kontor_auth::ports::StaffRepository;
use kontor_content::testing::contract::{self, Fixture};
use kontor_kernel::{AppScope, ProjectId, UserId};

use crate::catalog::records;
use crate::fixtures::{self, EmptyDatabase};
use crate::staff;

#[async_trait]
impl Fixture for EmptyDatabase<'_> {
    type Store = Database;

    fn store(&self) -> Arc<Database> {
        Arc::new(self.0.database.clone())
    }

    async fn app(&self) -> AppScope {
        let project_id = fixtures::project(self.0).await;
        let branch = records::branch(self.0, project_id).await;
        let application_id = records::application(self.0, project_id, branch, "Shop").await;
        AppScope { project_id, application_id, wholesale: false }
    }

    async fn employee(&self, project: ProjectId) -> UserId {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let login = format!("clerk-{}", NEXT.fetch_add(1, Ordering::Relaxed));
        self.0.database.insert_employee(staff::employee(project, &login, RoleChoice::Owner)).await.unwrap()
    }
}

promises! {
    EmptyDatabase:
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
