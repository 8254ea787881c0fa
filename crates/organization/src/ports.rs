//! Ports of the organization: the interfaces that the outside implements.

use std::collections::BTreeSet;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{
    AppScope, ApplicationId, BankRequisite, BankRequisiteChange, BankRequisiteDraft, BankRequisiteId, BranchId,
    DeliverySubtypeId, DeliveryTypeId, DictionaryItemId, Email, IntegrationId, IntegrationParameterId, Language, Name,
    PaymentTypeId, Permission, ProjectId, ProjectScoped, RecordError, SendError, ShopId, StaffMenuId, Stamp,
    StorageUnitId, StoreError, UserId, Zone,
};

use crate::model::{
    AddressSuggestion, BankSuggestion, CompanyQuery, CompanySuggestion, StaffShop, SuggestionQuery, TimesChange,
};
use crate::model::{
    Application, ApplicationChange, ApplicationDraft, Country, DeliveryPrice, DeliverySubtype, DeliverySubtypeParam,
    DeliveryType, Dictionary, DictionaryItem, NewDeliveryPrice, PaymentChoice, PaymentType, ProjectChange, ProjectInfo,
    ProjectPlan, ProjectRecords, ProjectSettings, Shop, StorageUnit,
};
use crate::model::{Integration, IntegrationOwner, IntegrationParameter, ParameterKey, StoredValue, UsedIntegration};
use crate::model::{MenuScreen, StaffMenu, StaffMenuItems};
use crate::model::{TaskLine, TaskMail};
use crate::{
    ApplicationError, BranchRequisiteError, DeliveryPriceError, IntegrationError, ShopError, StaffMenuError,
    SuggestionError,
};

/// Bank accounts of branches. Each change is one commit with its entry in the branch's history, or nothing.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait BranchRequisiteRepository: Send + Sync {
    /// Returns the bank accounts of a branch of the project, oldest first.
    async fn of_branch(&self, project: ProjectId, branch: BranchId) -> Result<Vec<BankRequisite>, StoreError>;

    /// Returns a bank account of any project, and its branch.
    async fn find(&self, id: BankRequisiteId) -> Result<Option<ProjectScoped<(BranchId, BankRequisite)>>, StoreError>;

    /// Adds a bank account to a branch of the project, up to [`BankRequisite::MAX_PER_OWNER`].
    async fn insert(
        &self,
        stamp: Stamp,
        branch: BranchId,
        draft: BankRequisiteDraft,
    ) -> Result<BankRequisite, BranchRequisiteError>;

    /// Changes a bank account of a branch of the project.
    async fn update(
        &self,
        stamp: Stamp,
        branch: BranchId,
        id: BankRequisiteId,
        change: BankRequisiteChange,
    ) -> Result<BankRequisite, BranchRequisiteError>;
}

/// Applications of a project. Each change is one commit with its history entry, or nothing. A change of a missing
/// application is refused with [`ApplicationError::NotFound`].
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ApplicationRepository: Send + Sync {
    /// Returns every application of the project, oldest first.
    async fn list(&self, project: ProjectId) -> Result<Vec<Application>, StoreError>;

    /// Returns an application of any project.
    async fn find(&self, id: ApplicationId) -> Result<Option<ProjectScoped<Application>>, StoreError>;

    /// Returns the project of an application, for operators.
    async fn project(&self, id: ApplicationId) -> Result<Option<ProjectId>, StoreError>;

    /// Stores an application. Refuses a branch of another project.
    async fn insert(
        &self,
        stamp: Stamp,
        draft: ApplicationDraft,
        token_fingerprint: String,
    ) -> Result<Application, ApplicationError>;

    /// Changes an application of the project. Refuses a branch of another project.
    async fn update(
        &self,
        stamp: Stamp,
        id: ApplicationId,
        change: ApplicationChange,
    ) -> Result<Application, ApplicationError>;

    /// Activates or deactivates the token of an application of the project, from the commit on. An application that
    /// has the state already is returned unchanged.
    async fn switch(&self, stamp: Stamp, id: ApplicationId, is_active: bool) -> Result<Application, ApplicationError>;

    /// Replaces the token of an application of the project; the old one is invalid from the commit on.
    async fn replace_token(
        &self,
        stamp: Stamp,
        id: ApplicationId,
        token_fingerprint: String,
    ) -> Result<Application, ApplicationError>;

    /// Returns the active application with this token fingerprint.
    async fn by_token(&self, fingerprint: &str) -> Result<Option<AppScope>, StoreError>;
}

/// System-wide dictionaries. Entries with a fixed meaning always exist, see [`Dictionary`].
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait DictionaryRepository: Send + Sync {
    /// Returns every entry, by number.
    async fn items(&self, dictionary: Dictionary) -> Result<Vec<DictionaryItem>, StoreError>;

    /// Returns one entry of this dictionary; entries of others may have the same number.
    async fn item(&self, dictionary: Dictionary, id: DictionaryItemId) -> Result<Option<DictionaryItem>, StoreError>;

    /// Returns every storage unit, by number.
    async fn storage_units(&self) -> Result<Vec<StorageUnit>, StoreError>;

    /// Returns one storage unit.
    async fn storage_unit(&self, id: StorageUnitId) -> Result<Option<StorageUnit>, StoreError>;

    /// Returns every country, by number.
    async fn countries(&self) -> Result<Vec<Country>, StoreError>;

    /// Returns the fixed data of a project.
    async fn project_info(&self, project: ProjectId) -> Result<Option<ProjectInfo>, StoreError>;
}

/// Delivery and payment options of a project.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait CheckoutOptionRepository: Send + Sync {
    /// Returns every delivery type, by number.
    async fn delivery_types(&self, project: ProjectId) -> Result<Vec<DeliveryType>, StoreError>;

    /// Returns every subtype of a delivery type, by number.
    async fn delivery_subtypes(
        &self,
        project: ProjectId,
        delivery_type: DeliveryTypeId,
    ) -> Result<Vec<DeliverySubtype>, StoreError>;

    /// Returns a subtype of any type.
    async fn delivery_subtype(
        &self,
        project: ProjectId,
        id: DeliverySubtypeId,
    ) -> Result<Option<DeliverySubtype>, StoreError>;

    /// Returns the parameters of a subtype, oldest first.
    async fn delivery_subtype_params(
        &self,
        project: ProjectId,
        subtype: DeliverySubtypeId,
    ) -> Result<Vec<DeliverySubtypeParam>, StoreError>;

    /// Returns the payment types that the application accepts, oldest first.
    async fn payment_types(&self, app: AppScope) -> Result<Vec<PaymentType>, StoreError>;

    /// Returns every payment type of the application's project, oldest first, with its state in the application.
    /// `None` if there is no such application.
    async fn payment_choices(&self, id: ApplicationId) -> Result<Option<Vec<PaymentChoice>>, StoreError>;

    /// As [`CheckoutOptionRepository::payment_choices`], with the project of the application.
    async fn scoped_payment_choices(
        &self,
        id: ApplicationId,
    ) -> Result<Option<ProjectScoped<Vec<PaymentChoice>>>, StoreError>;

    /// Sets the payment types that an application of the stamp's project accepts, with the entry of its history, or
    /// nothing. An empty set means all of its project, including future ones. Refuses with
    /// [`ApplicationError::NotFound`]. The commit checks that the application and the payment types belong to the
    /// project. One of concurrent choices is stored as a whole. After [`StoreError::OutcomeUnknown`] the call can be
    /// repeated.
    async fn choose_payment_types(
        &self,
        stamp: Stamp,
        id: ApplicationId,
        chosen: BTreeSet<PaymentTypeId>,
    ) -> Result<(), ApplicationError>;
}

/// Shops of a project, as customers see them.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ShopRepository: Send + Sync {
    /// Returns every active shop, oldest first.
    async fn list(&self, project: ProjectId) -> Result<Vec<Shop>, StoreError>;

    /// Returns an active shop of the project.
    async fn find(&self, project: ProjectId, id: ShopId) -> Result<Option<Shop>, StoreError>;
}

/// Projects.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ProjectRepository: Send + Sync {
    /// Stores a project with everything in the plan, or nothing. A plan that repeats an identifier, has a subtype of a
    /// delivery type that is not in it, or whose token belongs to another application, fails. After
    /// [`StoreError::OutcomeUnknown`] the project exists if an application has the token.
    async fn create_project(&self, plan: ProjectPlan, at: DateTime<Utc>) -> Result<ProjectRecords, StoreError>;

    /// Sets the time zone of a project. `false` if there is no such project.
    async fn set_time_zone(&self, project: ProjectId, zone: Zone) -> Result<bool, StoreError>;

    /// Sets the language of a project for future messages to customers. `false` if there is no such project.
    async fn set_language(&self, project: ProjectId, language: Language) -> Result<bool, StoreError>;

    /// Sets if changes of the project's records require an `If-Match` version. `false` if there is no such
    /// project.
    async fn require_if_match(&self, project: ProjectId, required: bool) -> Result<bool, StoreError>;

    /// Deletes a project that was just created, with everything in its plan, or nothing. The commit checks that it has
    /// no employee; otherwise it is kept. After [`StoreError::OutcomeUnknown`] the call can be repeated.
    async fn abandon(&self, project: ProjectId) -> Result<(), StoreError>;
}

/// Settings of projects, for staff. Each change is one commit with its history entry, or nothing. Concurrent changes
/// run one after the other, and each keeps the fields that it does not name. After [`StoreError::OutcomeUnknown`], the
/// change can be repeated.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ProjectSettingsStore: Send + Sync {
    /// Returns the settings of a project.
    async fn project_settings(&self, project: ProjectId) -> Result<Option<ProjectSettings>, StoreError>;

    /// Changes the settings of the project of the stamp. Refuses a missing project with [`RecordError::NotFound`].
    async fn change_project_settings(
        &self,
        stamp: Stamp,
        change: ProjectChange,
    ) -> Result<ProjectSettings, RecordError>;

    /// Returns the prices of every delivery type, each followed by those of its subtypes, by number.
    async fn delivery_prices(&self, project: ProjectId) -> Result<Vec<DeliveryPrice>, StoreError>;

    /// Sets prices of the project of the stamp, with an entry in the history of its settings. The commit checks them by
    /// [`DeliveryPrice::changed_by`]: an unknown delivery refuses all of them. Others keep their values. Returns all
    /// prices.
    async fn set_delivery_prices(
        &self,
        stamp: Stamp,
        prices: Vec<NewDeliveryPrice>,
    ) -> Result<Vec<DeliveryPrice>, DeliveryPriceError>;
}

/// Provider of suggestions for addresses, banks and companies.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait SuggestionProvider: Send + Sync {
    /// Returns addresses, the likeliest first.
    async fn addresses(&self, query: SuggestionQuery) -> Result<Vec<AddressSuggestion>, SuggestionError>;

    /// Returns banks, the likeliest first.
    async fn banks(&self, query: SuggestionQuery) -> Result<Vec<BankSuggestion>, SuggestionError>;

    /// Returns companies, the likeliest first. A search by number may also return companies that have it as
    /// another number.
    async fn companies(&self, query: CompanyQuery) -> Result<Vec<CompanySuggestion>, SuggestionError>;
}

/// Integrations and their use by records.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait IntegrationRepository: Send + Sync {
    /// Returns every integration, by number.
    async fn all(&self) -> Result<Vec<Integration>, StoreError>;

    /// Returns one integration.
    async fn find(&self, id: IntegrationId) -> Result<Option<Integration>, StoreError>;

    /// Returns the project of the record, or `None` if there is no such record.
    async fn owner(&self, owner: IntegrationOwner) -> Result<Option<ProjectScoped<()>>, StoreError>;

    /// Returns every integration for records of this kind, with its state for this record.
    async fn used(&self, owner: IntegrationOwner) -> Result<Vec<UsedIntegration>, StoreError>;

    /// Turns an integration of a record of the project on or off, in one commit with an entry in the record's history,
    /// or not at all. Refuses an integration for another kind of records with [`IntegrationError::NotFound`]. After
    /// [`StoreError::OutcomeUnknown`] the call can be repeated.
    async fn switch(
        &self,
        stamp: Stamp,
        owner: IntegrationOwner,
        id: IntegrationId,
        is_active: bool,
    ) -> Result<UsedIntegration, IntegrationError>;

    /// Returns the parameters of an integration of a record, oldest first.
    async fn parameters(
        &self,
        owner: IntegrationOwner,
        id: IntegrationId,
    ) -> Result<Vec<IntegrationParameter>, StoreError>;

    /// Stores a parameter, in one commit with an entry in the record's history, or not at all. Refuses with
    /// [`IntegrationError::NotFound`] as [`IntegrationRepository::switch`] does. The commit checks that the key is not
    /// set and the maximum is not reached: under concurrent calls, one sets a key. After
    /// [`StoreError::OutcomeUnknown`] the parameter is stored if its key is listed.
    async fn add_parameter(
        &self,
        stamp: Stamp,
        owner: IntegrationOwner,
        id: IntegrationId,
        key: ParameterKey,
        value: StoredValue,
    ) -> Result<IntegrationParameter, IntegrationError>;

    /// Removes a parameter of a record of the stamp's project, in one commit with an entry in the record's history, or
    /// not at all. `false` if there was none. After [`StoreError::OutcomeUnknown`] the call can be repeated.
    async fn remove_parameter(
        &self,
        stamp: Stamp,
        owner: IntegrationOwner,
        id: IntegrationId,
        parameter: IntegrationParameterId,
    ) -> Result<bool, StoreError>;
}

/// Storage of the opening times of shops.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait OpeningTimesStore: Send + Sync {
    /// Changes the times of a shop of the project, in one commit with an entry in the shop's history, or not at all.
    /// The commit checks the change by [`OpeningTimes::check`](crate::model::OpeningTimes::check). Returns the shop and
    /// the number of the added, changed or removed record. After [`StoreError::OutcomeUnknown`], read the shop before
    /// the change is repeated.
    async fn change_times(&self, stamp: Stamp, id: ShopId, change: TimesChange) -> Result<(StaffShop, i64), ShopError>;
}

/// Owner of a menu.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MenuOwner {
    /// Employees without their own menu.
    Project,
    /// One employee.
    User(UserId),
}

/// Storage of staff menus.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait StaffMenuStore: Send + Sync {
    /// Returns every menu of the project, oldest first, with its state for this employee.
    async fn list(&self, project: ProjectId, user: UserId) -> Result<Vec<StaffMenu>, StoreError>;

    /// Returns the menu of employees of the project without their own.
    async fn of_project(&self, project: ProjectId) -> Result<Option<StaffMenu>, StoreError>;

    /// Returns every screen of the service.
    async fn screens(&self) -> Result<Vec<MenuScreen>, StoreError>;

    /// Returns the permissions of an employee of any project.
    async fn permissions_of(&self, user: UserId) -> Result<Option<ProjectScoped<BTreeSet<Permission>>>, StoreError>;

    /// Stores a new menu of the project. Refuses a name that exists, and unknown screens.
    async fn insert(&self, stamp: Stamp, name: Name, items: StaffMenuItems) -> Result<StaffMenu, StaffMenuError>;

    /// Sets the menu of the owner. Refuses a menu of another project.
    async fn attach(
        &self,
        project: ProjectId,
        owner: MenuOwner,
        menu: Option<StaffMenuId>,
    ) -> Result<(), StaffMenuError>;
}

/// Queue of task notifications to employees. It is filled in the commit that changes a task. Each call is one commit.
/// After [`StoreError::OutcomeUnknown`], a mail that was not settled is leased again when its lease has run out.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait TaskMailQueue: Send + Sync {
    /// Leases the mail that has been due longest and counts the attempt. Under concurrent calls one gets it. An
    /// unreadable mail is put aside and does not block others.
    async fn lease(&self, owner: &str, at: DateTime<Utc>, until: DateTime<Utc>)
    -> Result<Option<TaskMail>, StoreError>;

    /// Releases a mail for another attempt, unless the lease has passed to another worker.
    async fn postpone(&self, mail: &TaskMail, owner: &str, next: DateTime<Utc>) -> Result<(), StoreError>;

    /// Removes the notifications that the mail settles. Newer notifications stay for another mail, due at
    /// `next`.
    async fn settle(
        &self,
        mail: TaskMail,
        owner: &str,
        at: DateTime<Utc>,
        next: DateTime<Utc>,
    ) -> Result<(), StoreError>;
}

/// Sends task notifications to employees.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait TaskMailSender: Send + Sync {
    /// Sends one mail about these tasks; there is at least one.
    async fn email_tasks(&self, to: &Email, tasks: &[TaskLine]) -> Result<(), SendError>;
}
