use kontor_kernel::{ReadError, RecordError, Refusal, Violations};

use crate::model::TimesRefused;

/// Error of a use case of branches.
pub type BranchError = RecordError<BranchRefusal>;

/// Refusals specific to branches.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BranchRefusal {
    /// These fields contradict each other.
    #[error("the record has invalid fields")]
    Invalid(Violations),
    /// Applications, warehouses, shops, departments or employees belong to it.
    #[error("other records belong to the branch")]
    InUse,
}

impl Refusal for BranchRefusal {}

/// Error of a use case of bank accounts of branches.
pub type BranchRequisiteError = RecordError<BranchRequisiteRefusal>;

/// Refusals specific to bank accounts of branches.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BranchRequisiteRefusal {
    /// The account number does not belong to the bank.
    #[error("the record has invalid fields")]
    Invalid(Violations),
    /// The branch has the maximum number of bank accounts.
    #[error("the branch has the maximum number of them")]
    TooMany,
}

impl Refusal for BranchRequisiteRefusal {}

/// Error of a use case of applications.
pub type ApplicationError = RecordError<ApplicationRefusal>;

/// Refusals specific to applications.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ApplicationRefusal {
    /// The project has no such branch.
    #[error("there is no such branch")]
    UnknownBranch,
    /// The project lacks one of the named payment types.
    #[error("there is no such payment type")]
    UnknownPaymentType,
}

impl Refusal for ApplicationRefusal {}

/// Error of a use case of dictionaries.
pub type DictionaryError = RecordError;

/// Error of a read of a record of the storefront.
pub type ShowcaseError = ReadError;

/// Errors of suggestions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SuggestionError {
    /// The service has no account at a provider.
    #[error("suggestions are not configured")]
    NotConfigured,
    /// The provider failed, refused the request, or could not be reached.
    #[error("suggestions are not available now: {0}")]
    Unavailable(String),
}

/// Error of a use case of integrations.
pub type IntegrationError = RecordError<IntegrationRefusal>;

/// Refusals specific to integrations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum IntegrationRefusal {
    /// The parameter is already set; to change it, remove it first.
    #[error("is already set")]
    KeyTaken,
    /// The integration has the maximum number of parameters.
    #[error("there are too many parameters")]
    TooMany,
}

impl Refusal for IntegrationRefusal {}

/// Error of a use case of tasks.
pub type TaskError = RecordError<TaskRefusal>;

/// Reference of a task to another record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskReference {
    /// Responsible employee: of the project, and not banned.
    Responsible,
    /// Order.
    Order,
    /// Customer.
    Customer,
}

/// Refusals specific to tasks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TaskRefusal {
    /// The project has no such records.
    #[error("the task refers to records that do not belong to the project: {0:?}")]
    UnknownReferences(Vec<TaskReference>),
    /// The deadline is past, or more than ten years ahead.
    #[error("must be in the future, at most ten years ahead")]
    Deadline,
}

impl Refusal for TaskRefusal {}

/// Error of a use case of shops.
pub type ShopError = RecordError<ShopRefusal>;

/// Refusals specific to shops.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShopRefusal {
    /// The project has no such branch.
    #[error("there is no such branch")]
    UnknownBranch,
    /// The change of the opening times is refused.
    #[error(transparent)]
    Times(#[from] TimesRefused),
}

impl Refusal for ShopRefusal {}

/// Error of a use case of staff menus.
pub type StaffMenuError = RecordError<StaffMenuRefusal>;

/// Refusals specific to staff menus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StaffMenuRefusal {
    /// Another menu of the project has the name.
    #[error("another menu has this name")]
    NameTaken,
    /// The item at this index names an unknown screen.
    #[error("there is no such screen")]
    UnknownScreen(usize),
    /// The project has no such menu.
    #[error("there is no such menu")]
    UnknownMenu,
    /// The employee sees no items to create a menu from.
    #[error("sees no items")]
    NoVisibleItems,
    /// The project has the maximum number of menus.
    #[error("there are too many menus")]
    Full,
}

impl Refusal for StaffMenuRefusal {}
