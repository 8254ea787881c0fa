//! The catalog in memory fulfills the contracts, and the contracts notice each guard that is missing.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::DateTime;
use futures_util::FutureExt as _;
use kontor_kernel::{
    AppScope, ApplicationId, BranchId, CustomerScope, InventoryId, Money, Name, NomenclatureId, Period, ProjectId,
    SlideId, Stamp, UserId,
};

use super::{Guard, InMemoryStock};
use crate::model::{Card, NomenclatureKind};
use crate::ports::NomenclatureRepository;
use crate::testing::contract::{customers, jobs, names, offers, sheets, stock, storefront};

#[async_trait]
impl names::Fixture for InMemoryStock {
    type Store = Self;

    fn store(&self) -> Arc<Self> {
        Arc::new(self.clone())
    }

    async fn project(&self) -> ProjectId {
        self.add_project()
    }
}

#[async_trait]
impl jobs::Fixture for InMemoryStock {
    async fn author(&self, _: ProjectId) -> UserId {
        self.state.with(|state| state.ids.id())
    }

    async fn ban(&self, author: UserId) {
        Self::ban(self, author);
    }
}

impl sheets::Fixture for InMemoryStock {}

#[async_trait]
impl stock::Fixture for InMemoryStock {
    type Store = Self;

    fn store(&self) -> Arc<Self> {
        Arc::new(self.clone())
    }

    async fn project(&self) -> (ProjectId, BranchId) {
        let project = self.add_project();
        (project, self.add_branch(project))
    }

    async fn reserve(&self, stock: InventoryId, units: u32) {
        Self::reserve(self, stock, units);
    }
}

#[async_trait]
impl offers::Fixture for InMemoryStock {
    async fn application(&self, project: ProjectId) -> ApplicationId {
        self.add_application(project, self.add_branch(project)).application_id
    }
}

#[async_trait]
impl storefront::Fixture for InMemoryStock {
    async fn application(&self, (project, branch): (ProjectId, BranchId)) -> AppScope {
        self.add_application(project, branch)
    }

    async fn slide(&self, app: AppScope, is_active: bool, period: Period) -> SlideId {
        self.add_slide(app.application_id, Name::parse("Slide").unwrap(), is_active, period)
    }
}

impl InMemoryStock {
    /// Returns the application of the contract of customers, and adds it at first.
    fn only_application(&self) -> AppScope {
        let known = self.state.with(|state| {
            let first = state.applications.first_key_value();
            first.map(|(id, (project_id, _))| (*id, *project_id))
        });
        let Some((application_id, project_id)) = known else {
            let project = self.add_project();
            return self.add_application(project, self.add_branch(project));
        };
        AppScope { project_id, application_id, wholesale: false }
    }
}

#[async_trait]
impl customers::Fixture for InMemoryStock {
    type Store = Self;

    fn store(&self) -> Arc<Self> {
        Arc::new(self.clone())
    }

    async fn customer(&self) -> CustomerScope {
        self.add_customer(self.only_application())
    }

    async fn delete_customer(&self, customer: CustomerScope) {
        Self::delete_customer(self, customer.counterparty_id);
    }

    async fn product(&self) -> NomenclatureId {
        let stamp = Stamp::of_system(self.only_application().project_id, DateTime::UNIX_EPOCH);
        let card = Card::new(Name::parse("Repair").unwrap(), NomenclatureKind::Service);
        let card = Card { price: Some(Money::ZERO), ..card };
        NomenclatureRepository::insert(self, stamp, card).await.unwrap().id
    }
}

/// Runs checks of a contract, each on a new storage. Returns the names of those that failed.
macro_rules! failures {
    ($contract:ident, $open:expr; $($check:ident)+) => {{
        let mut failed: Vec<&str> = Vec::new();
        $(
            let store: InMemoryStock = $open;
            if AssertUnwindSafe($contract::$check(&store)).catch_unwind().await.is_err() {
                failed.push(stringify!($check));
            }
        )+
        failed
    }};
}

async fn failures(open: impl Fn() -> InMemoryStock) -> Vec<&'static str> {
    let mut failed = failures! {
        stock, open();
        stock_stays_above_reservations
        an_item_is_stocked_once_in_a_warehouse
        changes_of_stock_are_movements
        stock_stays_in_its_project
        only_goods_have_stock
        a_stale_item_is_not_replaced
        an_article_is_unique_in_its_project
        a_warehouse_with_stock_stays
        no_stock_is_lost_with_a_warehouse
    };
    failed.extend(failures! {
        jobs, open();
        only_so_many_jobs_wait
        an_import_has_one_runner
        an_expired_lease_is_taken_over
        a_released_job_is_available_at_once
        a_job_that_goes_forward_is_taken_over_at_once
        a_step_is_recorded_once
        an_author_without_rights_writes_nothing
        a_canceled_job_writes_nothing
        an_export_has_one_runner
        files_are_kept_until_they_are_forgotten
        jobs_are_listed_newest_first
    });
    failed.extend(failures! {
        sheets, open();
        a_sheet_is_written_whole_or_not_at_all
        an_article_is_imported_once
        foreign_items_are_not_imported
        items_are_read_in_pages
        a_part_is_written_with_its_step
        a_part_of_stock_is_written_with_its_step
        stock_is_uploaded_whole_or_not_at_all
        stock_is_uploaded_once
        stock_of_foreign_records_is_not_uploaded
        exported_stock_uploads_unchanged
        a_column_map_belongs_to_a_project_and_a_kind
    });
    failed.extend(failures! {
        names, open();
        a_brand_name_is_unique_in_its_project
        a_tag_name_is_unique_in_its_project
        a_category_code_is_unique_in_its_project
        categories_form_no_cycle
        a_promo_code_is_unique_in_its_project
        a_stale_discount_is_not_replaced
    });
    failed.extend(failures! {
        offers, open();
        categories_are_shown_in_order
        brands_are_shown_in_order
        a_plan_is_assigned_once
        an_assignment_stays_in_its_application
        a_promotion_refers_to_records_of_its_project
        a_promotion_stays_in_its_project
    });
    failed.extend(failures! {
        storefront, open();
        only_offered_products_are_shown
        foreign_records_are_not_shown
        pages_are_stable
        prices_are_those_of_the_application
        filters_narrow_the_list
        categories_and_brands_are_those_of_the_application
        plans_are_offered_in_order
        slides_are_shown_in_their_period
        views_add_up
    });
    failed.extend(failures! {
        customers, open();
        a_favourite_is_added_once
        the_last_searches_are_kept
        a_deleted_customer_leaves_nothing
    });
    failed
}

#[tokio::test]
async fn the_catalog_in_memory_fulfills_the_contracts() {
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
        (Guard::Room, "only_so_many_jobs_wait"),
        (Guard::Turn, "an_import_has_one_runner"),
        (Guard::Turn, "an_export_has_one_runner"),
        (Guard::Lease, "an_expired_lease_is_taken_over"),
        (Guard::Lease, "a_canceled_job_writes_nothing"),
        (Guard::Lease, "a_part_is_written_with_its_step"),
        (Guard::Lease, "a_part_of_stock_is_written_with_its_step"),
        (Guard::Step, "a_step_is_recorded_once"),
        (Guard::Step, "a_part_is_written_with_its_step"),
        (Guard::Step, "a_part_of_stock_is_written_with_its_step"),
        (Guard::Author, "an_author_without_rights_writes_nothing"),
        (Guard::Whole, "a_sheet_is_written_whole_or_not_at_all"),
        (Guard::Whole, "stock_is_uploaded_whole_or_not_at_all"),
        (Guard::Project, "foreign_items_are_not_imported"),
        (Guard::Project, "stock_of_foreign_records_is_not_uploaded"),
        (Guard::Name, "a_brand_name_is_unique_in_its_project"),
        (Guard::Name, "a_tag_name_is_unique_in_its_project"),
        (Guard::Code, "a_category_code_is_unique_in_its_project"),
        (Guard::Code, "a_promo_code_is_unique_in_its_project"),
        (Guard::Cycle, "categories_form_no_cycle"),
        (Guard::Version, "a_stale_discount_is_not_replaced"),
        (Guard::Once, "categories_are_shown_in_order"),
        (Guard::Project, "brands_are_shown_in_order"),
        (Guard::Once, "a_plan_is_assigned_once"),
        (Guard::Code, "a_plan_is_assigned_once"),
        (Guard::Project, "an_assignment_stays_in_its_application"),
        (Guard::Project, "a_promotion_refers_to_records_of_its_project"),
        (Guard::Project, "a_promotion_stays_in_its_project"),
        (Guard::Offered, "only_offered_products_are_shown"),
        (Guard::Project, "foreign_records_are_not_shown"),
        (Guard::Active, "prices_are_those_of_the_application"),
        (Guard::Active, "plans_are_offered_in_order"),
        (Guard::Active, "slides_are_shown_in_their_period"),
        (Guard::Once, "a_favourite_is_added_once"),
        (Guard::Kept, "the_last_searches_are_kept"),
        (Guard::Deleted, "a_deleted_customer_leaves_nothing"),
    ] {
        let failed = failures(|| InMemoryStock::without(guard)).await;
        assert!(failed.contains(&check), "{guard:?}: {failed:?}");
    }
}

/// The suite of an adapter is complete if it names every check.
#[test]
fn every_check_runs() {
    let here = include_str!("tests.rs");
    let checks = [
        include_str!("../contract/customers.rs"),
        include_str!("../contract/jobs.rs"),
        include_str!("../contract/names.rs"),
        include_str!("../contract/offers.rs"),
        include_str!("../contract/sheets.rs"),
        include_str!("../contract/stock.rs"),
        include_str!("../contract/storefront.rs"),
    ]
    .concat();
    let named = checks.lines().filter_map(|line| line.strip_prefix("pub async fn ")?.split_once('<'));
    for (check, _) in named {
        assert!(here.contains(&format!("\n        {check}\n")), "{check} does not run");
    }
}
