use kontor_kernel::{AccessDenied, StoreError};

/// Why a use case of branches is refused.
#[derive(Debug, thiserror::Error)]
pub enum BranchError {
    /// The employee may not do this.
    #[error(transparent)]
    Denied(#[from] AccessDenied),
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a use case of departments is refused.
#[derive(Debug, thiserror::Error)]
pub enum DepartmentError {
    /// The employee may not do this.
    #[error(transparent)]
    Denied(#[from] AccessDenied),
    /// There is no such department.
    #[error("there is no such department")]
    NotFound,
    /// The named branch is not one of the project.
    #[error("there is no such branch")]
    UnknownBranch,
    /// Employees are in it.
    #[error("there are employees in the department")]
    Staffed,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a use case of applications is refused.
#[derive(Debug, thiserror::Error)]
pub enum ApplicationError {
    /// The employee may not do this.
    #[error(transparent)]
    Denied(#[from] AccessDenied),
    /// There is no such application.
    #[error("there is no such application")]
    NotFound,
    /// The named branch is not one of the project.
    #[error("there is no such branch")]
    UnknownBranch,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a dictionary is not shown.
#[derive(Debug, thiserror::Error)]
pub enum DictionaryError {
    /// The employee may not do this.
    #[error(transparent)]
    Denied(#[from] AccessDenied),
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a record of the storefront is not shown.
#[derive(Debug, thiserror::Error)]
pub enum ShowcaseError {
    /// There is no such record in the project.
    #[error("there is no such record")]
    NotFound,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
