//! Ports of the catalog.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{
    ApplicationId, BrandId, CategoryId, InventoryId, Line, Listing, NomenclatureId, Page, PageRequest,
    PlanAssignmentId, ProjectId, ProjectScoped, Stamp, StoreError, WarehouseId,
};
use kontor_kernel::{DiscountId, DiscountStatus, PromotionId};

use crate::model::{AssignOutcome, CatalogPlan, PlanAssignment, PlanChange, PlanDraft};
use crate::model::{
    Brand, Card, Category, CategoryChange, CategoryDraft, Inventory, InventoryDraft, MoveDirection, Nomenclature,
    StockChange, StockEntry, Tag, TagDraft, Warehouse, WarehouseChange, WarehouseDraft,
};
use crate::model::{Discount, DiscountStats, DiscountTerms, DiscountUsage};
use crate::model::{Promotion, PromotionChange, PromotionDraft, PromotionStats};
use crate::{AssortmentError, CategoryError, InventoryError, NomenclatureError, TagError, WarehouseError};
use crate::{DiscountError, PlanError, PromotionError};

/// Storage of categories.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait CategoryRepository: Send + Sync {
    /// Returns every category of the project, oldest first.
    async fn list(&self, project: ProjectId) -> Result<Vec<Category>, StoreError>;

    /// Returns one page of the categories of the project, or of the direct subcategories of one of them. Fields: `id`,
    /// `code`, `name`, `parent_id`, `created_at` and `updated_at`.
    async fn page(
        &self,
        project: ProjectId,
        parent: Option<CategoryId>,
        listing: Listing,
    ) -> Result<Page<Category>, StoreError>;

    /// Returns a category of any project.
    async fn find(&self, id: CategoryId) -> Result<Option<ProjectScoped<Category>>, StoreError>;

    /// Stores a category; without a code it gets the next one. Refuses `CategoryRefusal::UnknownParent` and
    /// `CategoryRefusal::CodeTaken`.
    async fn insert(&self, stamp: Stamp, draft: CategoryDraft) -> Result<Category, CategoryError>;

    /// Changes a category of the project. Refuses `CategoryError::NotFound`, `CategoryRefusal::UnknownParent`,
    /// `CategoryRefusal::CodeTaken` and `CategoryRefusal::Cycle`. The cycle check uses the tree at the time of the
    /// commit.
    async fn update(&self, stamp: Stamp, id: CategoryId, change: CategoryChange) -> Result<Category, CategoryError>;
}

/// Storage of tags.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait TagRepository: Send + Sync {
    /// Returns every tag of the project, oldest first.
    async fn list(&self, project: ProjectId) -> Result<Vec<Tag>, StoreError>;

    /// Stores a tag. Refuses an unknown project and [`TagRefusal::NameTaken`](crate::TagRefusal).
    async fn insert(&self, stamp: Stamp, draft: TagDraft) -> Result<Tag, TagError>;
}

/// Record that can be added to the assortment of an application.
pub trait Assignable: Send + Sync + 'static {
    /// Identifier type.
    type Id: Send + Sync + Copy + 'static;
}

impl Assignable for Category {
    type Id = CategoryId;
}

impl Assignable for Brand {
    type Id = BrandId;
}

/// Storage of assortments: the categories or brands that an application shows. Every change creates a history entry of
/// the application.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait AssortmentRepository<R: Assignable>: Send + Sync {
    /// Returns the records that the application shows, in display order.
    async fn assigned(&self, application: ApplicationId) -> Result<Vec<R>, StoreError>;

    /// Returns one page of the records that the application shows. Fields: `id`, `name` and the position. For
    /// categories it is `position`, lowest first; for brands it is `priority`, highest first.
    async fn page(&self, application: ApplicationId, listing: Listing) -> Result<Page<R>, StoreError>;

    /// Returns a record that the application shows.
    async fn shown(&self, application: ApplicationId, id: R::Id) -> Result<Option<R>, StoreError>;

    /// Swaps a record with its neighbour. At the end of the list it keeps its position. Refuses
    /// `AssortmentError::NotFound`.
    async fn shift(
        &self,
        stamp: Stamp,
        application: ApplicationId,
        id: R::Id,
        shift: MoveDirection,
    ) -> Result<R, AssortmentError>;

    /// Removes a record from the assortment. Refuses `AssortmentError::NotFound`.
    async fn withdraw(&self, stamp: Stamp, application: ApplicationId, id: R::Id) -> Result<(), AssortmentError>;

    /// Adds a record of the project at the end; a record that is already shown keeps its position. Refuses
    /// `AssortmentRefusal::UnknownRecord`.
    async fn assign(&self, stamp: Stamp, application: ApplicationId, id: R::Id) -> Result<R, AssortmentError>;
}

/// Looks up the projects of applications.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ApplicationDirectory: Send + Sync {
    /// Returns the project of an application.
    async fn owner(&self, application: ApplicationId) -> Result<Option<ProjectScoped<()>>, StoreError>;
}

/// Storage of the subscription plans of a project and their assignments to applications.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait PlanRepository: Send + Sync {
    /// Returns one page of the project's plans, each with its assignment to the application. Ordered by identifier, or
    /// by relevance for a text search. A search covers at most 10,000 plans.
    async fn catalog(
        &self,
        project: ProjectId,
        application: ApplicationId,
        text: Option<Line<255>>,
        page: PageRequest,
    ) -> Result<Page<CatalogPlan>, StoreError>;

    /// Assigns a plan of the project to its application; without a position it comes last. An existing assignment is
    /// unchanged. Of concurrent calls one creates it; after [`StoreError::OutcomeUnknown`] the call can be repeated.
    /// Refuses `PlanRefusal::UnknownPlan`, `PlanRefusal::SlugTaken` and `PlanRefusal::TooMany`.
    async fn assign(
        &self,
        project: ProjectId,
        application: ApplicationId,
        draft: PlanDraft,
        at: DateTime<Utc>,
    ) -> Result<AssignOutcome, PlanError>;

    /// Returns an assignment of the application.
    async fn find(
        &self,
        application: ApplicationId,
        id: PlanAssignmentId,
    ) -> Result<Option<PlanAssignment>, StoreError>;

    /// Changes an assignment of the project's application. Refuses `PlanError::NotFound` and `PlanRefusal::SlugTaken`.
    async fn update(
        &self,
        project: ProjectId,
        application: ApplicationId,
        id: PlanAssignmentId,
        change: PlanChange,
        at: DateTime<Utc>,
    ) -> Result<PlanAssignment, PlanError>;

    /// Removes an assignment of the project's application. Refuses `PlanError::NotFound`.
    async fn withdraw(
        &self,
        project: ProjectId,
        application: ApplicationId,
        id: PlanAssignmentId,
    ) -> Result<(), PlanError>;
}

/// Storage of warehouses.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait WarehouseRepository: Send + Sync {
    /// Returns a warehouse of any project.
    async fn find(&self, id: WarehouseId) -> Result<Option<ProjectScoped<Warehouse>>, StoreError>;

    /// Returns one page of the project's warehouses.
    async fn list(&self, project: ProjectId, listing: Listing) -> Result<Page<Warehouse>, StoreError>;

    /// Stores a warehouse with its applications. Refuses `WarehouseRefusal::UnknownReferences`.
    async fn insert(&self, stamp: Stamp, draft: WarehouseDraft) -> Result<Warehouse, WarehouseError>;

    /// Changes a warehouse of the project and updates the storefront offers. Refuses
    /// `WarehouseRefusal::UnknownReferences` and `WarehouseError::NotFound`.
    async fn update(&self, stamp: Stamp, id: WarehouseId, change: WarehouseChange)
    -> Result<Warehouse, WarehouseError>;

    /// Deletes a warehouse of the project with its empty stock levels and its integrations. Orders keep their reference
    /// to it. Refuses `WarehouseError::NotFound`, and `WarehouseRefusal::Stocked` unless the warehouse is empty.
    async fn delete(&self, stamp: Stamp, id: WarehouseId) -> Result<(), WarehouseError>;
}

/// Storage of catalog items.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait NomenclatureRepository: Send + Sync {
    /// Returns one page of the project's items. A search covers at most 10,000 items.
    async fn list(&self, project: ProjectId, listing: Listing) -> Result<Page<Nomenclature>, StoreError>;

    /// Returns an item of any project.
    async fn find(&self, id: NomenclatureId) -> Result<Option<ProjectScoped<Nomenclature>>, StoreError>;

    /// Stores an item and updates the storefront offers. Refuses `NomenclatureRefusal::UnknownReferences` and
    /// `NomenclatureRefusal::ArticleTaken`.
    async fn insert(&self, stamp: Stamp, card: Card) -> Result<Nomenclature, NomenclatureError>;

    /// Replaces the fields of an item if it still has the version of `seen`, and updates the storefront offers. Refuses
    /// `NomenclatureRefusal::Stale` for another version, `NomenclatureRefusal::UnknownReferences`,
    /// `NomenclatureRefusal::ArticleTaken` and `NomenclatureRefusal::Stocked`.
    async fn replace(&self, stamp: Stamp, seen: Nomenclature, card: Card) -> Result<Nomenclature, NomenclatureError>;
}

/// Storage of stock levels.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait InventoryRepository: Send + Sync {
    /// Returns one page of the project's stock levels.
    async fn list(&self, project: ProjectId, listing: Listing) -> Result<Page<Inventory>, StoreError>;

    /// Returns one page of the stock movements of a stock level of the project, newest first.
    async fn history(
        &self,
        project: ProjectId,
        id: InventoryId,
        page: PageRequest,
    ) -> Result<Page<StockEntry>, StoreError>;

    /// Returns a stock level of any project.
    async fn find(&self, id: InventoryId) -> Result<Option<ProjectScoped<Inventory>>, StoreError>;

    /// Stores a stock level with its stock movement, and updates the storefront offers. Refuses
    /// `InventoryRefusal::UnknownReferences`, `InventoryRefusal::NotStocked` and `InventoryRefusal::AlreadyStocked`.
    async fn insert(&self, stamp: Stamp, draft: InventoryDraft) -> Result<Inventory, InventoryError>;

    /// Sets quantity and price of a stock level of the project with its stock movement, and updates the storefront
    /// offers. Refuses `InventoryError::NotFound`, and `InventoryRefusal::BelowReserved` in the statement that writes.
    async fn set_stock(&self, stamp: Stamp, id: InventoryId, change: StockChange) -> Result<Inventory, InventoryError>;
}

/// Replacement of a discount's terms and status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscountRewrite {
    /// Discount.
    pub id: DiscountId,
    /// Version on which the change was decided.
    pub version: u64,
    /// New terms.
    pub terms: DiscountTerms,
    /// New status.
    pub status: DiscountStatus,
}

/// Storage of discounts.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait DiscountRepository: Send + Sync {
    /// Returns one page of the project's discounts. The field `status` is the [state](Discount::state) at `at`.
    async fn list(&self, project: ProjectId, listing: Listing, at: DateTime<Utc>)
    -> Result<Page<Discount>, StoreError>;

    /// Returns the project's discount statistics at `at`.
    async fn stats(&self, project: ProjectId, at: DateTime<Utc>) -> Result<DiscountStats, StoreError>;

    /// Returns a discount of any project.
    async fn find(&self, id: DiscountId) -> Result<Option<ProjectScoped<Discount>>, StoreError>;

    /// Returns one page of the orders that use a promo code, newest first.
    async fn usages(&self, id: DiscountId, page: PageRequest) -> Result<Page<DiscountUsage>, StoreError>;

    /// Stores a discount. Refuses `DiscountRefusal::UnknownCategory`, `DiscountRefusal::UnknownProduct` and
    /// `DiscountRefusal::CodeTaken`.
    async fn insert(
        &self,
        stamp: Stamp,
        terms: DiscountTerms,
        status: DiscountStatus,
    ) -> Result<Discount, DiscountError>;

    /// Replaces terms and status of the discount if it still has the version. Refuses the same as
    /// [`DiscountRepository::insert`], and `DiscountRefusal::Stale` for another version. The statement that writes also
    /// refuses `DiscountRefusal::CodeInUse` and `DiscountRefusal::BelowUsed`.
    async fn replace(&self, stamp: Stamp, rewrite: DiscountRewrite) -> Result<Discount, DiscountError>;

    /// Deletes a discount of the project. Refuses `DiscountError::NotFound` and `DiscountRefusal::UsedByOrders`.
    async fn delete(&self, stamp: Stamp, id: DiscountId) -> Result<(), DiscountError>;
}

/// Storage of promotions.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait PromotionRepository: Send + Sync {
    /// Returns one page of the project's promotions, newest first.
    async fn list(&self, project: ProjectId, page: PageRequest) -> Result<Page<Promotion>, StoreError>;

    /// Returns a promotion of any project.
    async fn find(&self, id: PromotionId) -> Result<Option<ProjectScoped<Promotion>>, StoreError>;

    /// Returns the use of the promotion's discounts.
    async fn stats(&self, id: PromotionId) -> Result<PromotionStats, StoreError>;

    /// Stores a promotion with its lists, or nothing of it. Refuses `PromotionRefusal::UnknownReferences`. After
    /// [`StoreError::OutcomeUnknown`] a caller looks for it in the list before it repeats the call.
    async fn insert(&self, stamp: Stamp, draft: PromotionDraft) -> Result<Promotion, PromotionError>;

    /// Changes a promotion of the project with its lists, or nothing of it. Refuses `PromotionError::NotFound`,
    /// `PromotionRefusal::Period` and `PromotionRefusal::UnknownReferences`.
    async fn update(&self, stamp: Stamp, id: PromotionId, change: PromotionChange)
    -> Result<Promotion, PromotionError>;

    /// Deletes a promotion of the project. Its discounts stay. Refuses `PromotionError::NotFound`.
    async fn delete(&self, stamp: Stamp, id: PromotionId) -> Result<(), PromotionError>;
}
