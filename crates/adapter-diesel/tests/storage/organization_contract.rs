//! Contract of the ports of the organization.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use kontor_adapter_diesel::Database;
use kontor_auth::model::RoleChoice;
use kontor_auth::ports::StaffRepository;
use kontor_kernel::{DepartmentId, ProjectId, UserId};
use kontor_organization::testing::contract::{self, DepartmentFixture, Fixture};

use crate::fixtures::{self, EmptyDatabase};
use crate::staff;

#[async_trait]
impl Fixture for EmptyDatabase<'_> {
    type Store = Database;

    fn store(&self) -> Arc<Database> {
        Arc::new(self.0.database.clone())
    }

    async fn project(&self) -> ProjectId {
        fixtures::project(self.0).await
    }

    async fn employee(&self, project: ProjectId) -> UserId {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let login = format!("employee-{}", NEXT.fetch_add(1, Ordering::Relaxed));
        self.0.database.insert_employee(staff::employee(project, &login, RoleChoice::Owner)).await.unwrap()
    }
}

#[async_trait]
impl DepartmentFixture for EmptyDatabase<'_> {
    async fn assign(&self, user: UserId, department: Option<DepartmentId>) {
        self.0.database.assign_department(user, department, staff::START).await.unwrap();
    }
}

promises! {
    EmptyDatabase:
    a_replaced_token_is_invalid
    a_branch_in_use_stays
    opening_hours_do_not_overlap
    a_mail_has_one_lease
    no_notification_is_lost
    a_branch_has_a_maximum_of_accounts
    a_bank_account_stays_valid
    a_menu_name_is_unique_in_its_project
    a_menu_is_used_in_its_project
    a_parameter_is_set_once
    an_integration_is_on_for_its_record
    delivery_options_belong_to_their_project
    a_payment_type_belongs_to_its_project
    an_application_accepts_its_payment_types
    one_of_concurrent_choices_is_stored
    a_department_belongs_to_its_project
    a_department_with_employees_stays
    an_entry_belongs_to_its_dictionary
    units_and_countries_are_listed_by_number
    a_project_is_created_whole
    a_project_with_employees_is_kept
    settings_belong_to_their_project
    delivery_prices_are_set_together
    a_shop_has_a_branch_of_its_project
    customers_see_active_shops
}
