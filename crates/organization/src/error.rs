use kontor_kernel::{AccessDenied, RecordError, Refusal, StoreError};

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
pub type DepartmentError = RecordError<DepartmentRefusal>;

/// What only departments refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DepartmentRefusal {
    /// The named branch is not one of the project.
    #[error("there is no such branch")]
    UnknownBranch,
    /// Employees are in it.
    #[error("there are employees in the department")]
    Staffed,
}

impl Refusal for DepartmentRefusal {}

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
    /// One of the named payment types is not one of the project.
    #[error("there is no such payment type")]
    UnknownPaymentType,
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
    /// There is no such entry.
    #[error("there is no such entry")]
    NotFound,
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

/// Why nothing is suggested.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SuggestionError {
    /// The service has no account at a provider.
    #[error("suggestions are not set up")]
    NotConfigured,
    /// The provider is in trouble, refuses us or could not be reached.
    #[error("there are no suggestions now: {0}")]
    Unavailable(String),
}

/// Why a use case of integrations is refused.
#[derive(Debug, thiserror::Error)]
pub enum IntegrationError {
    /// The employee may not do this.
    #[error(transparent)]
    Denied(#[from] AccessDenied),
    /// There is no such record, integration or parameter.
    #[error("there is no such record")]
    NotFound,
    /// The parameter is set already; to change it, remove it first.
    #[error("is set already")]
    KeyTaken,
    /// The integration has as many parameters as it may have.
    #[error("there are too many parameters")]
    TooMany,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
