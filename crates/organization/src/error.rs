use kontor_kernel::{RecordError, Refusal, StoreError, Violations};

use crate::model::TimesRefused;

/// Why a use case of branches is refused.
pub type BranchError = RecordError<BranchRefusal>;

/// What only branches refuse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BranchRefusal {
    /// These fields do not go together.
    #[error("the record cannot be as asked")]
    Invalid(Violations),
    /// Applications, warehouses, shops, departments or employees belong to it.
    #[error("something belongs to the branch")]
    InUse,
}

impl Refusal for BranchRefusal {}

/// Why a use case of bank accounts of branches is refused.
pub type BranchRequisiteError = RecordError<BranchRequisiteRefusal>;

/// What only bank accounts of branches refuse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BranchRequisiteRefusal {
    /// The account is none of the bank.
    #[error("the record cannot be as asked")]
    Invalid(Violations),
    /// The branch has as many as a branch may have.
    #[error("the branch has as many as it may have")]
    TooMany,
}

impl Refusal for BranchRequisiteRefusal {}

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

/// Why a use case of tasks is refused.
pub type TaskError = RecordError<TaskRefusal>;

/// What a task refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskReference {
    /// Who is to do it: an employee of the project who is not banned.
    Responsible,
    /// The order.
    Order,
    /// The customer.
    Customer,
}

/// What only tasks refuse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TaskRefusal {
    /// These are not of the project.
    #[error("the task refers to records that are not of the project: {0:?}")]
    UnknownReferences(Vec<TaskReference>),
    /// The deadline is past, or more than ten years ahead.
    #[error("must be ahead, by ten years at most")]
    Deadline,
}

impl Refusal for TaskRefusal {}

/// Why a use case of shops is refused.
pub type ShopError = RecordError<ShopRefusal>;

/// What only shops refuse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShopRefusal {
    /// The named branch is not one of the project.
    #[error("there is no such branch")]
    UnknownBranch,
    /// Its opening times do not change so.
    #[error(transparent)]
    Times(#[from] TimesRefused),
}

impl Refusal for ShopRefusal {}

/// Why a use case of staff menus is refused.
pub type StaffMenuError = RecordError<StaffMenuRefusal>;

/// What only staff menus refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StaffMenuRefusal {
    /// Another menu of the project has the name.
    #[error("the name is that of another menu")]
    NameTaken,
    /// The item in this place names a screen that is not there.
    #[error("there is no such screen")]
    UnknownScreen(usize),
    /// The menu is none of the project's.
    #[error("there is no such menu")]
    UnknownMenu,
    /// The employee sees no items that a menu could be made of.
    #[error("sees no items")]
    NothingSeen,
    /// The project has as many menus as it may have.
    #[error("there are too many menus")]
    Full,
}

impl Refusal for StaffMenuRefusal {}
