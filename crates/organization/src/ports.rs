//! What the organization needs from the outside.

use std::collections::BTreeSet;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{
    AppScope, ApplicationId, BankRequisite, BankRequisiteChange, BankRequisiteDraft, BankRequisiteId, BranchId,
    DeliverySubtypeId, DeliveryTypeId, DictionaryItemId, Email, IntegrationId, IntegrationParameterId, Language,
    Listing, Name, OfProject, Page, PaymentTypeId, Permission, ProjectId, SendError, ShopId, StaffMenuId, Stamp,
    StorageUnitId, StoreError, UserId, Zone,
};

use crate::model::{
    AddressSuggestion, BankSuggestion, CompanyQuery, CompanySuggestion, StaffShop, SuggestionQuery, TimesChange,
};
use crate::model::{
    Application, ApplicationDraft, Branch, BranchChange, BranchDraft, Country, DeliverySubtype, DeliverySubtypeParam,
    DeliveryType, Dictionary, DictionaryItem, PaymentChoice, PaymentType, ProjectInfo, ProjectPlan, ProjectRecords,
    Shop, StorageUnit,
};
use crate::model::{Integration, IntegrationOwner, IntegrationParameter, ParameterKey, StoredValue, UsedIntegration};
use crate::model::{MenuScreen, StaffMenu, StaffMenuItems};
use crate::model::{TaskLine, TaskMail};
use crate::{
    ApplicationError, BranchError, BranchRequisiteError, IntegrationError, ShopError, StaffMenuError, SuggestionError,
};

/// Branches of a project.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait BranchRepository: Send + Sync {
    /// Every branch of the project, oldest first.
    async fn list(&self, project: ProjectId) -> Result<Vec<Branch>, StoreError>;

    /// One page of the branches of the project, by a constant number of statements.
    async fn page(&self, project: ProjectId, listing: Listing) -> Result<Page<Branch>, StoreError>;

    /// A branch of any project.
    async fn find(&self, id: BranchId) -> Result<Option<OfProject<Branch>>, StoreError>;

    /// Stores a branch.
    async fn insert(&self, stamp: Stamp, draft: BranchDraft) -> Result<Branch, BranchError>;

    /// Changes a branch of the project as it is then: refuses what [`BranchChange::check`] does.
    async fn update(&self, stamp: Stamp, id: BranchId, change: BranchChange) -> Result<Branch, BranchError>;

    /// Deletes a branch of the project with its bank accounts, what these use of integrations included. Refuses one that
    /// something refers to.
    async fn delete(&self, stamp: Stamp, id: BranchId) -> Result<(), BranchError>;
}

/// Accounts of branches in banks. Each change is one commit with its line of the branch's history, or nothing.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait BranchRequisiteRepository: Send + Sync {
    /// Those of a branch of the project, oldest first.
    async fn of_branch(&self, project: ProjectId, branch: BranchId) -> Result<Vec<BankRequisite>, StoreError>;

    /// One of any project, and its branch.
    async fn find(&self, id: BankRequisiteId) -> Result<Option<OfProject<(BranchId, BankRequisite)>>, StoreError>;

    /// Notes another one of a branch of the project, up to [`BankRequisite::MOST`].
    async fn insert(
        &self,
        stamp: Stamp,
        branch: BranchId,
        draft: BankRequisiteDraft,
    ) -> Result<BankRequisite, BranchRequisiteError>;

    /// Changes one of a branch of the project.
    async fn update(
        &self,
        stamp: Stamp,
        branch: BranchId,
        id: BankRequisiteId,
        change: BankRequisiteChange,
    ) -> Result<BankRequisite, BranchRequisiteError>;
}

/// Applications of a project.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ApplicationRepository: Send + Sync {
    /// Every application of the project, oldest first.
    async fn list(&self, project: ProjectId) -> Result<Vec<Application>, StoreError>;

    /// An application of any project.
    async fn find(&self, id: ApplicationId) -> Result<Option<OfProject<Application>>, StoreError>;

    /// Stores an application, refusing a branch that is not of the project.
    async fn insert(
        &self,
        project: ProjectId,
        draft: ApplicationDraft,
        token_fingerprint: String,
        at: DateTime<Utc>,
    ) -> Result<Application, ApplicationError>;

    /// Has the token of an application accepted or not, from the commit on. Refuses [`ApplicationError::NotFound`].
    async fn switch(
        &self,
        id: ApplicationId,
        is_active: bool,
        at: DateTime<Utc>,
    ) -> Result<Application, ApplicationError>;

    /// Puts another token in the place of the one so far, which names nothing from the commit on. Refuses
    /// [`ApplicationError::NotFound`].
    async fn replace_token(
        &self,
        id: ApplicationId,
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

    /// One entry of a dictionary.
    async fn item(&self, dictionary: Dictionary, id: DictionaryItemId) -> Result<Option<DictionaryItem>, StoreError>;

    /// Every storage unit, by number.
    async fn storage_units(&self) -> Result<Vec<StorageUnit>, StoreError>;

    /// One storage unit.
    async fn storage_unit(&self, id: StorageUnitId) -> Result<Option<StorageUnit>, StoreError>;

    /// Every country, by number.
    async fn countries(&self) -> Result<Vec<Country>, StoreError>;

    /// What a project was founded with.
    async fn project_info(&self, project: ProjectId) -> Result<Option<ProjectInfo>, StoreError>;
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

    /// The payment types that the application takes, oldest first.
    async fn payment_types(&self, app: AppScope) -> Result<Vec<PaymentType>, StoreError>;

    /// Every payment type of the application's project, oldest first, and whether the application takes it. `None` when
    /// there is no such application.
    async fn payment_choices(&self, id: ApplicationId) -> Result<Option<Vec<PaymentChoice>>, StoreError>;

    /// Has an application take these payment types only; all of its project, those to come too, when there are none.
    /// Refuses [`ApplicationError::NotFound`] and payment types of other projects.
    async fn choose_payment_types(
        &self,
        id: ApplicationId,
        chosen: BTreeSet<PaymentTypeId>,
        at: DateTime<Utc>,
    ) -> Result<(), ApplicationError>;
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

    /// Has the days of a project begin in another zone; whether there is such a project.
    async fn set_time_zone(&self, project: ProjectId, zone: Zone) -> Result<bool, StoreError>;

    /// Has a project speak another language to its customers from now on; whether there is such a project.
    async fn set_language(&self, project: ProjectId, language: Language) -> Result<bool, StoreError>;

    /// Has the records of a project changed with the version that was read alone, or not; whether there is such a project.
    async fn require_if_match(&self, project: ProjectId, required: bool) -> Result<bool, StoreError>;

    /// Removes a project that was founded a moment ago and that nobody works in: one with an employee stays.
    async fn abandon(&self, project: ProjectId) -> Result<(), StoreError>;
}

/// Who knows addresses, banks and companies.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait SuggestionProvider: Send + Sync {
    /// Addresses, the likeliest first.
    async fn addresses(&self, query: SuggestionQuery) -> Result<Vec<AddressSuggestion>, SuggestionError>;

    /// Banks, the likeliest first.
    async fn banks(&self, query: SuggestionQuery) -> Result<Vec<BankSuggestion>, SuggestionError>;

    /// Companies, the likeliest first. Looked for by a number, there may be others among them that have it as another
    /// number.
    async fn companies(&self, query: CompanyQuery) -> Result<Vec<CompanySuggestion>, SuggestionError>;
}

/// Integrations, and what records use of them.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait IntegrationRepository: Send + Sync {
    /// Every integration, by number.
    async fn all(&self) -> Result<Vec<Integration>, StoreError>;

    /// One integration.
    async fn find(&self, id: IntegrationId) -> Result<Option<Integration>, StoreError>;

    /// Whether there is such a record, and of which project.
    async fn owner(&self, owner: IntegrationOwner) -> Result<Option<OfProject<()>>, StoreError>;

    /// Every integration for records of this kind, and whether this one uses it.
    async fn used(&self, owner: IntegrationOwner) -> Result<Vec<UsedIntegration>, StoreError>;

    /// Records whether a record of the project uses an integration. Refuses [`IntegrationError::NotFound`].
    async fn switch(
        &self,
        stamp: Stamp,
        owner: IntegrationOwner,
        id: IntegrationId,
        is_active: bool,
    ) -> Result<UsedIntegration, IntegrationError>;

    /// The parameters of an integration of a record, oldest first.
    async fn parameters(
        &self,
        owner: IntegrationOwner,
        id: IntegrationId,
    ) -> Result<Vec<IntegrationParameter>, StoreError>;

    /// Stores a parameter. Refuses [`IntegrationError::NotFound`], a key that is taken and one parameter too many.
    async fn add_parameter(
        &self,
        stamp: Stamp,
        owner: IntegrationOwner,
        id: IntegrationId,
        key: ParameterKey,
        value: StoredValue,
    ) -> Result<IntegrationParameter, IntegrationError>;

    /// Removes a parameter. Returns whether there was one.
    async fn remove_parameter(
        &self,
        stamp: Stamp,
        owner: IntegrationOwner,
        id: IntegrationId,
        parameter: IntegrationParameterId,
    ) -> Result<bool, StoreError>;
}

/// Where the opening times of shops are kept.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait OpeningTimesStore: Send + Sync {
    /// Changes the times of a shop of the project, as [`OpeningTimes::check`](crate::model::OpeningTimes::check) allows, with a
    /// line of the shop's history. Answers the shop and the number of what was added, changed or removed.
    async fn change_times(&self, stamp: Stamp, id: ShopId, change: TimesChange) -> Result<(StaffShop, i64), ShopError>;
}

/// Whose menu it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MenuOwner {
    /// That of employees who have none of their own.
    Project,
    /// That of one employee.
    User(UserId),
}

/// Where staff menus are kept.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait StaffMenuStore: Send + Sync {
    /// Every menu of the project, oldest first, as it stands for this employee.
    async fn list(&self, project: ProjectId, user: UserId) -> Result<Vec<StaffMenu>, StoreError>;

    /// The menu of employees of the project who have none of their own.
    async fn of_project(&self, project: ProjectId) -> Result<Option<StaffMenu>, StoreError>;

    /// Every screen of the service.
    async fn screens(&self) -> Result<Vec<MenuScreen>, StoreError>;

    /// What an employee of any project may do.
    async fn permissions_of(&self, user: UserId) -> Result<Option<OfProject<BTreeSet<Permission>>>, StoreError>;

    /// Stores a new menu of the project, refusing a name that is taken and screens that are not there.
    async fn insert(&self, stamp: Stamp, name: Name, items: StaffMenuItems) -> Result<StaffMenu, StaffMenuError>;

    /// Has this be the menu of the owner; refuses a menu that is not the project's.
    async fn attach(
        &self,
        project: ProjectId,
        owner: MenuOwner,
        menu: Option<StaffMenuId>,
    ) -> Result<(), StaffMenuError>;
}

/// What employees are yet to be told of tasks. It is filled in the commit that changes a task.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait TaskMailQueue: Send + Sync {
    /// Leases the mail that is longest due and counts the attempt; of racing callers one gets it. One that cannot be read is
    /// put aside and stops nobody.
    async fn lease(&self, owner: &str, at: DateTime<Utc>, until: DateTime<Utc>)
    -> Result<Option<TaskMail>, StoreError>;

    /// Gives a mail back that is to be tried again, unless the lease has passed to somebody else.
    async fn postpone(&self, mail: &TaskMail, owner: &str, next: DateTime<Utc>) -> Result<(), StoreError>;

    /// Removes what the mail settles. What was written meanwhile is a mail of its own, due at `next`.
    async fn settle(
        &self,
        mail: TaskMail,
        owner: &str,
        at: DateTime<Utc>,
        next: DateTime<Utc>,
    ) -> Result<(), StoreError>;
}

/// Tells employees of tasks.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait TaskMailSender: Send + Sync {
    /// Sends one mail about these tasks, of which there is at least one.
    async fn email_tasks(&self, to: &Email, tasks: &[TaskLine]) -> Result<(), SendError>;
}
