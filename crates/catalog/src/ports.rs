//! What the catalogue needs from the outside.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{
    ApplicationId, BrandId, CategoryId, InventoryId, Line, Listing, NomenclatureId, OfProject, Page, PageRequest,
    PlanAssignmentId, ProjectId, Stamp, StoreError, WarehouseId,
};
use kontor_kernel::{DiscountId, DiscountStatus};

use crate::model::{Assigned, CatalogPlan, PlanAssignment, PlanChange, PlanDraft};
use crate::model::{
    Brand, Card, Category, CategoryChange, CategoryDraft, Inventory, InventoryDraft, Nomenclature, Shift, StockChange,
    StockEntry, Tag, TagDraft, Warehouse, WarehouseChange, WarehouseDraft,
};
use crate::model::{Discount, DiscountFilter, DiscountStats, DiscountTerms, DiscountUsage, Promotion, PromotionDraft};
use crate::{AssortmentError, CategoryError, InventoryError, NomenclatureError, TagError, WarehouseError};
use crate::{DiscountError, PlanError, PromotionError};

/// Categories of a project.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait CategoryRepository: Send + Sync {
    /// Every category of the project, oldest first.
    async fn list(&self, project: ProjectId) -> Result<Vec<Category>, StoreError>;

    /// One page of the categories of the project, or of those right below one of them, by the fields `id`, `code`,
    /// `name`, `parent_id`, `created_at` and `updated_at`.
    async fn page(
        &self,
        project: ProjectId,
        parent: Option<CategoryId>,
        listing: Listing,
    ) -> Result<Page<Category>, StoreError>;

    /// A category of any project.
    async fn find(&self, id: CategoryId) -> Result<Option<OfProject<Category>>, StoreError>;

    /// Stores a category, giving it the next code when it has none. Refuses `CategoryRefusal::UnknownParent` and
    /// `CategoryRefusal::CodeTaken`.
    async fn insert(&self, stamp: Stamp, draft: CategoryDraft) -> Result<Category, CategoryError>;

    /// Changes a category of the project. Refuses `CategoryError::NotFound`, `CategoryRefusal::UnknownParent`,
    /// `CategoryRefusal::CodeTaken`, and `CategoryRefusal::Cycle` by what the tree is when the change is stored.
    async fn update(&self, stamp: Stamp, id: CategoryId, change: CategoryChange) -> Result<Category, CategoryError>;
}

/// Tags of a project.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait TagRepository: Send + Sync {
    /// Every tag of the project, oldest first.
    async fn list(&self, project: ProjectId) -> Result<Vec<Tag>, StoreError>;

    /// Stores a tag, refusing a project that is not there and [`TagRefusal::NameTaken`](crate::TagRefusal).
    async fn insert(&self, stamp: Stamp, draft: TagDraft) -> Result<Tag, TagError>;
}

/// A record that an application can be told to show.
pub trait Assignable: Send + Sync + 'static {
    /// The number of the record.
    type Id: Send + Sync + Copy + 'static;
}

impl Assignable for Category {
    type Id = CategoryId;
}

impl Assignable for Brand {
    type Id = BrandId;
}

/// Which categories, or which brands, an application shows. Every change of that is a line in the application's history.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait AssortmentRepository<R: Assignable>: Send + Sync {
    /// What the application shows, first shown first.
    async fn assigned(&self, application: ApplicationId) -> Result<Vec<R>, StoreError>;

    /// One page of what the application shows, by the fields `id`, `name` and its place: `position` of categories, where
    /// the first shown has the lowest, `priority` of brands, where it has the highest.
    async fn page(&self, application: ApplicationId, listing: Listing) -> Result<Page<R>, StoreError>;

    /// A record that the application shows.
    async fn shown(&self, application: ApplicationId, id: R::Id) -> Result<Option<R>, StoreError>;

    /// Swaps a record with its neighbour; the first cannot move up and the last cannot move down, they stay. Refuses
    /// `AssortmentError::NotFound`.
    async fn shift(
        &self,
        stamp: Stamp,
        application: ApplicationId,
        id: R::Id,
        shift: Shift,
    ) -> Result<R, AssortmentError>;

    /// Shows a record no more, refusing `AssortmentError::NotFound`.
    async fn withdraw(&self, stamp: Stamp, application: ApplicationId, id: R::Id) -> Result<(), AssortmentError>;

    /// Shows a record of the project after all others; one that is already shown keeps its place. Refuses
    /// `AssortmentRefusal::UnknownRecord`.
    async fn assign(&self, stamp: Stamp, application: ApplicationId, id: R::Id) -> Result<R, AssortmentError>;
}

/// Who owns which application.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ApplicationDirectory: Send + Sync {
    /// An application of any project.
    async fn owner(&self, application: ApplicationId) -> Result<Option<OfProject<()>>, StoreError>;
}

/// Subscription plans of a project, and which of them an application offers.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait PlanRepository: Send + Sync {
    /// One page of the project's plans, each with its assignment to the application: by number, or what fits the text
    /// best first. A search counts and pages through 10,000 plans at most.
    async fn catalog(
        &self,
        project: ProjectId,
        application: ApplicationId,
        text: Option<Line<255>>,
        page: PageRequest,
    ) -> Result<Page<CatalogPlan>, StoreError>;

    /// Assigns a plan of the project to its application, without a position after all others. One that is assigned
    /// already stays as it is; of racing wishes one assigns it. Refuses `PlanRefusal::UnknownPlan`,
    /// `PlanRefusal::SlugTaken` and `PlanRefusal::TooMany`.
    async fn assign(
        &self,
        project: ProjectId,
        application: ApplicationId,
        draft: PlanDraft,
        at: DateTime<Utc>,
    ) -> Result<Assigned, PlanError>;

    /// Changes an assignment of the project's application, refusing `PlanError::NotFound` and
    /// `PlanRefusal::SlugTaken`.
    async fn update(
        &self,
        project: ProjectId,
        application: ApplicationId,
        id: PlanAssignmentId,
        change: PlanChange,
        at: DateTime<Utc>,
    ) -> Result<PlanAssignment, PlanError>;

    /// Takes a plan away from the project's application, refusing `PlanError::NotFound`.
    async fn withdraw(
        &self,
        project: ProjectId,
        application: ApplicationId,
        id: PlanAssignmentId,
    ) -> Result<(), PlanError>;
}

/// Warehouses of a project.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait WarehouseRepository: Send + Sync {
    /// A warehouse of any project.
    async fn find(&self, id: WarehouseId) -> Result<Option<OfProject<Warehouse>>, StoreError>;

    /// One page of the project's warehouses.
    async fn list(&self, project: ProjectId, listing: Listing) -> Result<Page<Warehouse>, StoreError>;

    /// Stores a warehouse with its applications, refusing `WarehouseRefusal::UnknownReferences`.
    async fn insert(&self, stamp: Stamp, draft: WarehouseDraft) -> Result<Warehouse, WarehouseError>;

    /// Changes a warehouse of the project and what its applications sell by that, refusing
    /// `WarehouseRefusal::UnknownReferences` and `WarehouseError::NotFound`.
    async fn update(&self, stamp: Stamp, id: WarehouseId, change: WarehouseChange)
    -> Result<Warehouse, WarehouseError>;

    /// Deletes a warehouse of the project with its empty stock records and its integrations; orders go on naming it.
    /// Refuses `WarehouseError::NotFound`, and `WarehouseRefusal::Stocked` while a piece lies in it.
    async fn delete(&self, stamp: Stamp, id: WarehouseId) -> Result<(), WarehouseError>;
}

/// Items of a project's catalogue.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait NomenclatureRepository: Send + Sync {
    /// One page of the project's items. A search counts and pages through 10,000 items at most.
    async fn list(&self, project: ProjectId, listing: Listing) -> Result<Page<Nomenclature>, StoreError>;

    /// An item of any project.
    async fn find(&self, id: NomenclatureId) -> Result<Option<OfProject<Nomenclature>>, StoreError>;

    /// Stores an item and what the applications sell by that. Refuses `NomenclatureRefusal::UnknownReferences` and
    /// `NomenclatureRefusal::ArticleTaken`.
    async fn insert(&self, stamp: Stamp, card: Card) -> Result<Nomenclature, NomenclatureError>;

    /// Puts a card in the place of the one that was seen, with what the applications sell by that. Refuses
    /// `NomenclatureRefusal::Stale` when the version seen is gone, `NomenclatureRefusal::UnknownReferences`,
    /// `NomenclatureRefusal::ArticleTaken` and `NomenclatureRefusal::Stocked`.
    async fn replace(&self, stamp: Stamp, seen: Nomenclature, card: Card) -> Result<Nomenclature, NomenclatureError>;
}

/// Stock of a project.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait InventoryRepository: Send + Sync {
    /// One page of the project's stock.
    async fn list(&self, project: ProjectId, listing: Listing) -> Result<Page<Inventory>, StoreError>;

    /// One page of the movements of a stock record of the project, the latest first.
    async fn history(
        &self,
        project: ProjectId,
        id: InventoryId,
        page: PageRequest,
    ) -> Result<Page<StockEntry>, StoreError>;

    /// A stock record of any project.
    async fn find(&self, id: InventoryId) -> Result<Option<OfProject<Inventory>>, StoreError>;

    /// Stores stock, the movement that brought it and what the applications sell by that. Refuses
    /// `InventoryRefusal::UnknownReferences`, `InventoryRefusal::NotStocked` and `InventoryRefusal::AlreadyStocked`.
    async fn insert(&self, stamp: Stamp, draft: InventoryDraft) -> Result<Inventory, InventoryError>;

    /// Sets quantity and price of the project's stock, with the movement and what the applications sell by that. Refuses
    /// `InventoryError::NotFound`, and `InventoryRefusal::BelowReserved` in the same statement that writes.
    async fn set_stock(&self, stamp: Stamp, id: InventoryId, change: StockChange) -> Result<Inventory, InventoryError>;
}

/// What is to stand in the place of a discount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscountRewrite {
    /// The discount.
    pub id: DiscountId,
    /// The version the change was decided on.
    pub version: u64,
    /// Its terms from now on.
    pub terms: DiscountTerms,
    /// Its status from now on.
    pub status: DiscountStatus,
}

/// Discounts of a project.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait DiscountRepository: Send + Sync {
    /// One page of the project's discounts, newest first, as they are at `at`.
    async fn list(
        &self,
        project: ProjectId,
        filter: DiscountFilter,
        page: PageRequest,
        at: DateTime<Utc>,
    ) -> Result<Page<Discount>, StoreError>;

    /// The project's discounts in figures, as they are at `at`.
    async fn stats(&self, project: ProjectId, at: DateTime<Utc>) -> Result<DiscountStats, StoreError>;

    /// A discount of any project.
    async fn find(&self, id: DiscountId) -> Result<Option<OfProject<Discount>>, StoreError>;

    /// One page of the orders that use a promo code, newest first.
    async fn usages(&self, id: DiscountId, page: PageRequest) -> Result<Page<DiscountUsage>, StoreError>;

    /// Stores a discount, refusing `DiscountRefusal::UnknownCategory`, `DiscountRefusal::UnknownProduct` and
    /// `DiscountRefusal::CodeTaken`.
    async fn insert(
        &self,
        stamp: Stamp,
        terms: DiscountTerms,
        status: DiscountStatus,
    ) -> Result<Discount, DiscountError>;

    /// Puts terms and status in the place of those with the version. Refuses what [`DiscountRepository::insert`] refuses,
    /// `DiscountRefusal::Stale` when the version is gone, and in the same statement that writes
    /// `DiscountRefusal::CodeInUse` and `DiscountRefusal::BelowUsed`.
    async fn replace(&self, stamp: Stamp, rewrite: DiscountRewrite) -> Result<Discount, DiscountError>;

    /// Deletes a discount of the project, refusing `DiscountError::NotFound` and `DiscountRefusal::Ordered`.
    async fn delete(&self, stamp: Stamp, id: DiscountId) -> Result<(), DiscountError>;
}

/// Promotions of a project.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait PromotionRepository: Send + Sync {
    /// One page of the project's promotions, newest first.
    async fn list(&self, project: ProjectId, page: PageRequest) -> Result<Page<Promotion>, StoreError>;

    /// Stores a promotion, refusing `PromotionRefusal::UnknownReferences`.
    async fn insert(&self, stamp: Stamp, draft: PromotionDraft) -> Result<Promotion, PromotionError>;
}
