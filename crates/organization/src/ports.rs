//! What the organization needs from the outside.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{
    AppScope, ApplicationId, DeliverySubtypeId, DeliveryTypeId, DepartmentId, ProjectId, ShopId, StoreError,
};

use crate::model::{
    Application, ApplicationDraft, Branch, BranchDraft, DeliverySubtype, DeliverySubtypeParam, DeliveryType,
    Department, DepartmentDraft, DepartmentPatch, Dictionary, DictionaryItem, PaymentType, ProjectPlan, ProjectRecords,
    Shop, StorageUnit,
};
use crate::{ApplicationError, DepartmentError};

/// Branches of a project.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait BranchRepository: Send + Sync {
    /// Every branch of the project, oldest first.
    async fn list(&self, project: ProjectId) -> Result<Vec<Branch>, StoreError>;

    /// Stores a branch.
    async fn insert(&self, project: ProjectId, draft: BranchDraft, at: DateTime<Utc>) -> Result<Branch, StoreError>;
}

/// Departments of a project.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait DepartmentRepository: Send + Sync {
    /// Every department of the project, oldest first.
    async fn list(&self, project: ProjectId) -> Result<Vec<Department>, StoreError>;

    /// A department of any project; the caller checks the owner.
    async fn find(&self, id: DepartmentId) -> Result<Option<Department>, StoreError>;

    /// Stores a department, refusing a branch that is not of the project.
    async fn insert(
        &self,
        project: ProjectId,
        draft: DepartmentDraft,
        at: DateTime<Utc>,
    ) -> Result<Department, DepartmentError>;

    /// Changes what the patch names, refusing a branch that is not of the project.
    async fn update(
        &self,
        project: ProjectId,
        id: DepartmentId,
        patch: DepartmentPatch,
        at: DateTime<Utc>,
    ) -> Result<Department, DepartmentError>;

    /// Deletes a department of the project, refusing one with employees in it.
    async fn delete(&self, project: ProjectId, id: DepartmentId) -> Result<(), DepartmentError>;
}

/// Applications of a project.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ApplicationRepository: Send + Sync {
    /// Every application of the project, oldest first.
    async fn list(&self, project: ProjectId) -> Result<Vec<Application>, StoreError>;

    /// An application of any project; the caller checks the owner.
    async fn find(&self, id: ApplicationId) -> Result<Option<Application>, StoreError>;

    /// Stores an application, refusing a branch that is not of the project with [`ApplicationError::UnknownBranch`].
    async fn insert(
        &self,
        project: ProjectId,
        draft: ApplicationDraft,
        token_fingerprint: String,
        at: DateTime<Utc>,
    ) -> Result<Application, ApplicationError>;

    /// The active application with this token fingerprint.
    async fn by_token(&self, fingerprint: &str) -> Result<Option<AppScope>, StoreError>;
}

/// System-wide dictionaries.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait DictionaryRepository: Send + Sync {
    /// Every entry, by number.
    async fn items(&self, dictionary: Dictionary) -> Result<Vec<DictionaryItem>, StoreError>;

    /// Every storage unit, by number.
    async fn storage_units(&self) -> Result<Vec<StorageUnit>, StoreError>;
}

/// How orders of a project are handed over and paid.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait CheckoutOptionRepository: Send + Sync {
    /// Every delivery type, by number.
    async fn delivery_types(&self, project: ProjectId) -> Result<Vec<DeliveryType>, StoreError>;

    /// Every subtype of a delivery type, by number.
    async fn delivery_subtypes(
        &self,
        project: ProjectId,
        delivery_type: DeliveryTypeId,
    ) -> Result<Vec<DeliverySubtype>, StoreError>;

    /// A subtype, whatever its type.
    async fn delivery_subtype(
        &self,
        project: ProjectId,
        id: DeliverySubtypeId,
    ) -> Result<Option<DeliverySubtype>, StoreError>;

    /// The parameters of a subtype, oldest first.
    async fn delivery_subtype_params(
        &self,
        project: ProjectId,
        subtype: DeliverySubtypeId,
    ) -> Result<Vec<DeliverySubtypeParam>, StoreError>;

    /// Every payment type, oldest first.
    async fn payment_types(&self, project: ProjectId) -> Result<Vec<PaymentType>, StoreError>;
}

/// Shops of a project.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ShopRepository: Send + Sync {
    /// Every open shop, oldest first.
    async fn list(&self, project: ProjectId) -> Result<Vec<Shop>, StoreError>;

    /// An open shop of the project.
    async fn find(&self, project: ProjectId, id: ShopId) -> Result<Option<Shop>, StoreError>;
}

/// Projects.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ProjectRepository: Send + Sync {
    /// Stores a project with everything in the plan, or nothing.
    async fn found(&self, plan: ProjectPlan, at: DateTime<Utc>) -> Result<ProjectRecords, StoreError>;

    /// Removes a project that was founded a moment ago and that nobody works in: one with an employee stays.
    async fn abandon(&self, project: ProjectId) -> Result<(), StoreError>;
}
