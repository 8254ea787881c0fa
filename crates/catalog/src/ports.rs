//! What the catalogue needs from the outside.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{
    ApplicationId, BrandId, CategoryId, InventoryId, NomenclatureId, Page, PageRequest, ProjectId, StoreError,
    WarehouseId,
};

use crate::model::{
    Brand, BrandDraft, Card, Category, CategoryDraft, Inventory, InventoryDraft, InventoryFilter, Nomenclature,
    NomenclatureFilter, StockChange, Warehouse, WarehouseChange, WarehouseDraft,
};
use crate::{AssortmentError, BrandError, CategoryError, InventoryError, NomenclatureError, WarehouseError};

/// Categories of a project.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait CategoryRepository: Send + Sync {
    /// Every category of the project, oldest first.
    async fn list(&self, project: ProjectId) -> Result<Vec<Category>, StoreError>;

    /// Stores a category, giving it the next code when it has none. Refuses [`CategoryError::UnknownParent`] and
    /// [`CategoryError::CodeTaken`].
    async fn insert(
        &self,
        project: ProjectId,
        draft: CategoryDraft,
        at: DateTime<Utc>,
    ) -> Result<Category, CategoryError>;
}

/// Brands of a project.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait BrandRepository: Send + Sync {
    /// Every brand of the project, oldest first.
    async fn list(&self, project: ProjectId) -> Result<Vec<Brand>, StoreError>;

    /// Stores a brand, refusing [`BrandError::NameTaken`].
    async fn insert(&self, project: ProjectId, draft: BrandDraft, at: DateTime<Utc>) -> Result<Brand, BrandError>;
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

/// Which categories, or which brands, an application shows.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait AssortmentRepository<R: Assignable>: Send + Sync {
    /// What the application shows, first shown first.
    async fn assigned(&self, application: ApplicationId) -> Result<Vec<R>, StoreError>;

    /// Shows a record of the project after all others; one that is already shown keeps its place. Refuses
    /// [`AssortmentError::UnknownRecord`].
    async fn assign(&self, project: ProjectId, application: ApplicationId, id: R::Id) -> Result<R, AssortmentError>;
}

/// Who owns which application.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ApplicationDirectory: Send + Sync {
    /// The project of an application.
    async fn owner(&self, application: ApplicationId) -> Result<Option<ProjectId>, StoreError>;
}

/// Warehouses of a project.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait WarehouseRepository: Send + Sync {
    /// A warehouse of any project; the caller checks the owner.
    async fn find(&self, id: WarehouseId) -> Result<Option<Warehouse>, StoreError>;

    /// Stores a warehouse with its applications, refusing [`WarehouseError::UnknownReferences`].
    async fn insert(
        &self,
        project: ProjectId,
        draft: WarehouseDraft,
        at: DateTime<Utc>,
    ) -> Result<Warehouse, WarehouseError>;

    /// Changes a warehouse of the project and what its applications sell by that, refusing
    /// [`WarehouseError::UnknownReferences`] and [`WarehouseError::NotFound`].
    async fn update(
        &self,
        project: ProjectId,
        id: WarehouseId,
        change: WarehouseChange,
        at: DateTime<Utc>,
    ) -> Result<Warehouse, WarehouseError>;
}

/// Items of a project's catalogue.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait NomenclatureRepository: Send + Sync {
    /// One page of the project's items.
    async fn list(
        &self,
        project: ProjectId,
        filter: NomenclatureFilter,
        page: PageRequest,
    ) -> Result<Page<Nomenclature>, StoreError>;

    /// An item of any project; the caller checks the owner.
    async fn find(&self, id: NomenclatureId) -> Result<Option<Nomenclature>, StoreError>;

    /// Stores an item and what the applications sell by that. Refuses [`NomenclatureError::UnknownReferences`] and
    /// [`NomenclatureError::ArticleTaken`].
    async fn insert(
        &self,
        project: ProjectId,
        card: Card,
        at: DateTime<Utc>,
    ) -> Result<Nomenclature, NomenclatureError>;

    /// Puts a card in the place of the one with this version, with what the applications sell by that. Refuses
    /// [`NomenclatureError::Stale`] when the version is gone, [`NomenclatureError::UnknownReferences`],
    /// [`NomenclatureError::ArticleTaken`] and [`NomenclatureError::Stocked`].
    async fn replace(
        &self,
        project: ProjectId,
        id: NomenclatureId,
        version: u64,
        card: Card,
        at: DateTime<Utc>,
    ) -> Result<Nomenclature, NomenclatureError>;
}

/// Stock of a project.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait InventoryRepository: Send + Sync {
    /// One page of the project's stock.
    async fn list(
        &self,
        project: ProjectId,
        filter: InventoryFilter,
        page: PageRequest,
    ) -> Result<Page<Inventory>, StoreError>;

    /// A stock record of any project; the caller checks the owner.
    async fn find(&self, id: InventoryId) -> Result<Option<Inventory>, StoreError>;

    /// Stores stock and what the applications sell by that. Refuses [`InventoryError::UnknownReferences`],
    /// [`InventoryError::NotStocked`] and [`InventoryError::AlreadyStocked`].
    async fn insert(
        &self,
        project: ProjectId,
        draft: InventoryDraft,
        at: DateTime<Utc>,
    ) -> Result<Inventory, InventoryError>;

    /// Sets quantity and price of the project's stock, with what the applications sell by that. Refuses
    /// [`InventoryError::NotFound`], and [`InventoryError::BelowReserved`] in the same statement that writes.
    async fn set_stock(
        &self,
        project: ProjectId,
        id: InventoryId,
        change: StockChange,
        at: DateTime<Utc>,
    ) -> Result<Inventory, InventoryError>;
}
