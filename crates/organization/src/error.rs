use kontor_kernel::{RecordError, Refusal, StoreError};

/// Why a use case of branches is refused.
pub type BranchError = RecordError;

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
pub type ApplicationError = RecordError<ApplicationRefusal>;

/// What only applications refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ApplicationRefusal {
    /// The named branch is not one of the project.
    #[error("there is no such branch")]
    UnknownBranch,
    /// One of the named payment types is not one of the project.
    #[error("there is no such payment type")]
    UnknownPaymentType,
}

impl Refusal for ApplicationRefusal {}

/// Why a dictionary is not shown.
pub type DictionaryError = RecordError;

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
pub type IntegrationError = RecordError<IntegrationRefusal>;

/// What only integrations refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum IntegrationRefusal {
    /// The parameter is set already; to change it, remove it first.
    #[error("is set already")]
    KeyTaken,
    /// The integration has as many parameters as it may have.
    #[error("there are too many parameters")]
    TooMany,
}

impl Refusal for IntegrationRefusal {}
