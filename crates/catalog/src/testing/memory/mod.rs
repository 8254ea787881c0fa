//! The catalog in memory, for examples and for tests of use cases.

mod customers;
mod jobs;
mod names;
mod offers;
mod ports;
mod promotions;
mod sheets;
mod storefront;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use chrono::DateTime;
use kontor_kernel::history::{FieldChange, HistoryAction, HistoryEntry};
use kontor_kernel::testing::memory::{Guards, Sequence, Shared};
use kontor_kernel::{
    AppScope, ApplicationId, BranchId, BrandId, CategoryId, CounterpartyId, DiscountId, InventoryId, Listing, Name,
    NomenclatureId, Page, Period, PlanAssignmentId, ProjectId, PromotionId, Prose, SearchRequestId, SlideId, Stamp,
    StoreError, WarehouseId,
};

use crate::model::{
    Brand, Category, Discount, Inventory, Nomenclature, PlanAssignment, Promotion, StockEntry, StockLevel, StockReason,
    Tag, Warehouse,
};
use crate::storefront::{SearchRequest, Slide};

/// Storage of the catalogs of any number of projects, in memory, with what their applications offer and what customers
/// see and keep.
///
/// It implements the ports that the [contracts](crate::testing::contract) of stock, names, offers, the storefront and
/// customers check, and fulfills these. Clones share their data. A write changes a copy of the data, which replaces the
/// data if the write succeeds.
///
/// It also imports and exports sheets in the background, as the contracts of [jobs](crate::testing::contract::jobs) and
/// of [sheets](crate::testing::contract::sheets) check.
///
/// Limits: it knows no dictionaries and orders. It refuses items that refer to records of a dictionary, no order uses a
/// discount, and every project has the currency `RUB`. Items and promotions keep the names that records had when they
/// were written. Subscription plans of every billing period are offered. Lists for staff are ordered by identifier, or
/// as an application shows them; they have no filters. No list has a text search.
/// Only stock is exported.
#[derive(Clone, Default)]
pub struct InMemoryStock {
    state: Shared<State>,
}

/// Guard of the storage. A test removes one, to prove that the contract notices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Guard {
    /// Stock never falls below reservations.
    Reserved,
    /// An item has one stock level in a warehouse. An application shows a record once, a customer keeps a product once.
    Once,
    /// Changes apply to the version that was read.
    Version,
    /// Articles are unique.
    Article,
    /// Only goods have stock.
    Goods,
    /// Records refer to records of their project.
    Project,
    /// A warehouse with stock is not deleted.
    Empty,
    /// A limited number of jobs of a project waits.
    Room,
    /// One import and one export of a project runs at a time.
    Turn,
    /// Only the holder of its lease works on a job.
    Lease,
    /// A step of a job is recorded once.
    Step,
    /// The author of a job may still start it.
    Author,
    /// A sheet with invalid rows is not written.
    Whole,
    /// Names of brands and of tags are unique.
    Name,
    /// Codes of categories and of discounts, and slugs of plans, are unique.
    Code,
    /// No category is its own ancestor.
    Cycle,
    /// Customers see only goods that are in stock and have a category.
    Offered,
    /// Plans, discounts and slides count while they are active.
    Active,
    /// Nothing is stored for deleted customers.
    Deleted,
    /// Only the last searches are kept.
    Kept,
}

/// Slide with the time in which it is shown.
#[derive(Clone)]
struct StoredSlide {
    application: ApplicationId,
    is_active: bool,
    period: Period,
    slide: Slide<Prose>,
}

#[derive(Clone, Default)]
struct State {
    ids: Sequence,
    projects: BTreeSet<ProjectId>,
    branches: BTreeMap<BranchId, ProjectId>,
    applications: BTreeMap<ApplicationId, (ProjectId, BranchId)>,
    brands: BTreeMap<BrandId, (ProjectId, Brand)>,
    categories: BTreeMap<CategoryId, (ProjectId, Category)>,
    tags: Vec<(ProjectId, Tag)>,
    discounts: BTreeMap<DiscountId, (ProjectId, Discount)>,
    jobs: jobs::Jobs,
    banned: jobs::Banned,
    column_maps: sheets::SavedMaps,
    items: BTreeMap<NomenclatureId, (ProjectId, Nomenclature)>,
    warehouses: BTreeMap<WarehouseId, (ProjectId, Warehouse)>,
    stock: BTreeMap<InventoryId, (ProjectId, Inventory)>,
    movements: BTreeMap<InventoryId, Vec<StockEntry>>,
    shown_categories: offers::Order<CategoryId>,
    shown_brands: offers::Order<BrandId>,
    plans: BTreeMap<PlanAssignmentId, (ProjectId, PlanAssignment)>,
    promotions: BTreeMap<PromotionId, (ProjectId, Promotion)>,
    slides: Vec<StoredSlide>,
    views: BTreeMap<NomenclatureId, u64>,
    customers: BTreeSet<CounterpartyId>,
    favourites: Vec<(CounterpartyId, NomenclatureId)>,
    searches: BTreeMap<SearchRequestId, (CounterpartyId, SearchRequest)>,
    guards: Guards<Guard>,
}

impl InMemoryStock {
    /// Adds a project. Tags belong to one of these; other records need no such project.
    pub fn add_project(&self) -> ProjectId {
        self.state.with(|state| {
            let id = state.ids.id();
            state.projects.insert(id);
            id
        })
    }

    /// Adds a branch to a project.
    pub fn add_branch(&self, project: ProjectId) -> BranchId {
        self.state.with(|state| {
            let id = state.ids.id();
            state.branches.insert(id, project);
            id
        })
    }

    /// Adds an application to a branch of a project.
    pub fn add_application(&self, project_id: ProjectId, branch: BranchId) -> AppScope {
        self.state.with(|state| {
            let application_id = state.ids.id();
            state.applications.insert(application_id, (project_id, branch));
            AppScope { project_id, application_id, wholesale: false }
        })
    }

    /// Adds a slide after the others of an application.
    pub fn add_slide(&self, application: ApplicationId, title: Name, is_active: bool, period: Period) -> SlideId {
        self.state.with(|state| {
            let (id, position) = (state.ids.id(), state.ids.number());
            let created_at = DateTime::UNIX_EPOCH;
            let slide = Slide { id, title, description: None, photo: None, link: None, position, created_at };
            state.slides.push(StoredSlide { application, is_active, period, slide });
            id
        })
    }

    /// Reserves units of a stock level, as an order does. Without such a level it does nothing.
    pub fn reserve(&self, stock: InventoryId, units: u32) {
        self.state.with(|state| {
            if let Some((_, level)) = state.stock.get_mut(&stock) {
                let reserved = i64::from(level.reserved.get()) + i64::from(units);
                level.reserved = StockLevel::new(reserved).unwrap_or(level.quantity);
            }
        });
    }

    /// Returns an empty storage without one guard.
    #[cfg(test)]
    fn without(guard: Guard) -> Self {
        let store = Self::default();
        store.state.with(|state| state.guards = Guards::without(guard));
        store
    }
}

impl State {
    /// Currency of every project.
    const CURRENCY: &'static str = "RUB";

    /// Returns `true` if a record of this project may be used by the project of the stamp.
    fn owns(&self, owner: ProjectId, stamp: Stamp) -> bool {
        self.is_own(owner, stamp.project_id)
    }

    /// Returns `true` if a record of the first project may be used by the second one.
    fn is_own(&self, owner: ProjectId, project: ProjectId) -> bool {
        owner == project || !self.guards.has(Guard::Project)
    }

    /// Records a movement of a stock level: its quantity and its price before and after.
    fn record(&mut self, stamp: Stamp, reason: StockReason, before: Option<&Inventory>, after: &Inventory) {
        let figures = |stock: &Inventory| {
            let price = stock.price.map(|price| price.to_string());
            [("quantity", Some(stock.quantity.get().to_string())), ("price", price)]
        };
        let old = before.map_or([None, None], |stock| figures(stock).map(|(_, value)| value));
        let changes = figures(after).into_iter().zip(old).filter(|((_, new), old)| new != old);
        let changes = changes.map(|((field, new), old)| FieldChange { field: field.to_owned(), old, new }).collect();
        let action = if before.is_none() { HistoryAction::Created } else { HistoryAction::Changed };
        let Stamp { author, at, .. } = stamp;
        let line = HistoryEntry { id: self.ids.number(), action, author, author_name: None, changes, at };
        let entry = StockEntry { line, reason, source: None, comment: None };
        self.movements.entry(after.id).or_default().push(entry);
    }
}

/// Returns one page of the records of a project.
fn list_of<'a, T: Clone + 'a>(
    all: impl Iterator<Item = &'a (ProjectId, T)>,
    project: ProjectId,
    listing: &Listing,
) -> Result<Page<T>, StoreError> {
    let own = all.filter(|(owner, _)| *owner == project).map(|(_, record)| record.clone());
    listing.page_of(own.collect())
}

/// Name of a record that has none of its own.
fn named(text: &str) -> Result<Name, StoreError> {
    Name::parse(text).map_err(StoreError::corrupt)
}
