//! The organization in memory fulfills the contract, and the contract notices each guard that is missing.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::FutureExt as _;
use kontor_kernel::{DepartmentId, ProjectId, UserId};

use super::{Guard, InMemoryOrganization};
use crate::testing::contract::{self, DepartmentFixture, Fixture};

#[async_trait]
impl Fixture for InMemoryOrganization {
    type Store = Self;

    fn store(&self) -> Arc<Self> {
        Arc::new(self.clone())
    }

    async fn project(&self) -> ProjectId {
        self.state.with(|state| state.ids.id())
    }

    async fn employee(&self, project: ProjectId) -> UserId {
        self.add_employee(project)
    }
}

#[async_trait]
impl DepartmentFixture for InMemoryOrganization {
    async fn assign(&self, user: UserId, department: Option<DepartmentId>) {
        self.assign_department(user, department);
    }
}

/// Runs every check, each on a new storage. Returns the names of those that failed.
macro_rules! failures {
    ($open:expr; $($check:ident)+) => {{
        let mut failed: Vec<&str> = Vec::new();
        $(
            let store: InMemoryOrganization = $open;
            if AssertUnwindSafe(contract::$check(&store)).catch_unwind().await.is_err() {
                failed.push(stringify!($check));
            }
        )+
        failed
    }};
}

async fn failures(open: impl Fn() -> InMemoryOrganization) -> Vec<&'static str> {
    failures! {
        open();
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
}

#[tokio::test]
async fn the_organization_in_memory_fulfills_the_contract() {
    assert_eq!(failures(InMemoryOrganization::default).await, [""; 0]);
}

/// The checks that notice each guard, when it is missing.
#[tokio::test]
async fn a_missing_guard_is_noticed() {
    for (guard, check) in [
        (Guard::Active, "a_replaced_token_is_invalid"),
        (Guard::Project, "a_replaced_token_is_invalid"),
        (Guard::Project, "a_branch_in_use_stays"),
        (Guard::Project, "a_bank_account_stays_valid"),
        (Guard::InUse, "a_branch_in_use_stays"),
        (Guard::Maximum, "a_branch_has_a_maximum_of_accounts"),
        (Guard::Account, "a_bank_account_stays_valid"),
        (Guard::Name, "a_menu_name_is_unique_in_its_project"),
        (Guard::Menu, "a_menu_is_used_in_its_project"),
        (Guard::Project, "a_payment_type_belongs_to_its_project"),
        (Guard::Project, "a_department_belongs_to_its_project"),
        (Guard::Project, "a_shop_has_a_branch_of_its_project"),
        (Guard::Employees, "a_department_with_employees_stays"),
        (Guard::Dictionary, "an_entry_belongs_to_its_dictionary"),
        (Guard::Whole, "a_project_is_created_whole"),
        (Guard::Whole, "delivery_prices_are_set_together"),
        (Guard::Staffed, "a_project_with_employees_is_kept"),
        (Guard::Payment, "an_application_accepts_its_payment_types"),
        (Guard::Project, "an_application_accepts_its_payment_types"),
        (Guard::ActiveShop, "customers_see_active_shops"),
        (Guard::Times, "opening_hours_do_not_overlap"),
        (Guard::Lease, "a_mail_has_one_lease"),
        (Guard::Newer, "no_notification_is_lost"),
        (Guard::LeaseOwner, "no_notification_is_lost"),
        (Guard::Key, "a_parameter_is_set_once"),
        (Guard::Project, "a_parameter_is_set_once"),
        (Guard::Project, "an_integration_is_on_for_its_record"),
    ] {
        let failed = failures(|| InMemoryOrganization::without(guard)).await;
        assert!(failed.contains(&check), "{guard:?}: {failed:?}");
    }
}
