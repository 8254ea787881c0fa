//! Projects, branches and applications, and the dictionaries they use.
//!
//! **Owns** projects with their settings, branches with their bank accounts, departments, applications with their App Tokens, shops with their
//! opening times, tasks, staff menus, delivery and payment types, and the system-wide dictionaries.
//!
//! **Invariants**
//! - Every record belongs to one project; staff see and change only records of their own project.
//! - A secret parameter of an integration is stored sealed and never shown again.
//! - An App Token is shown once; only its fingerprint is stored. A replaced token is no longer valid.
//! - An application accepts only payment types of its project.
//! - Opening hours of a shop never overlap.
//! - Notifications about a task are written in the commit that changes it. Employees get none about their own
//!   changes.
//!
//! **Refusals**: each group of use cases has one error. Most are a [`kontor_kernel::RecordError`] of the business
//! refusals: branches have [`BranchError`] and [`BranchRefusal`].
//!
//! **Ports**: [`ports::BranchRequisiteRepository`],
//! [`ports::ApplicationRepository`], [`ports::DictionaryRepository`], [`ports::CheckoutOptionRepository`],
//! [`ports::ShopRepository`], [`ports::OpeningTimesStore`], [`ports::StaffMenuStore`], [`ports::ProjectRepository`],
//! [`ports::ProjectSettingsStore`], [`ports::IntegrationRepository`], [`ports::SuggestionProvider`], [`ports::TaskMailQueue`],
//! [`ports::TaskMailSender`]. From the kernel: [`kontor_kernel::DeletableRepository`] of departments,
//! [`kontor_kernel::ListedDeletableRepository`] of branches and shops, [`kontor_kernel::ListedRepository`] of tasks.
//!
//! **Services and their ports**; most also take a `Clock`, a `Random` or a `SecretCipher` of the kernel:
//!
//! | Service | Ports |
//! |---|---|
//! | [`ApplicationService`] | `ApplicationRepository`, `Histories` of the kernel |
//! | [`ApplicationAdministration`] | `ApplicationRepository`, `CheckoutOptionRepository` |
//! | [`BranchService`], [`DepartmentService`], [`StaffShopService`] | `ListedDeletableRepository` or `DeletableRepository` of the kernel |
//! | [`BranchRequisiteService`] | `BranchRequisiteRepository`, `RecordRepository` of branches |
//! | [`ShopService`], [`OpeningTimesService`] | `ShopRepository`, `OpeningTimesStore` |
//! | [`CheckoutOptions`], [`PaymentChoiceService`] | `CheckoutOptionRepository` |
//! | [`DictionaryService`] | `DictionaryRepository`, `CheckoutOptionRepository` |
//! | [`ProjectCreation`], [`ProjectSettingsService`] | `ProjectRepository`, `ProjectSettingsStore` |
//! | [`IntegrationService`] | `IntegrationRepository` |
//! | [`StaffMenuService`] | `StaffMenuStore` |
//! | [`SuggestionService`] | `SuggestionProvider` |
//! | [`TaskMailWorker`] | `TaskMailQueue`, `TaskMailSender` |
//!
//! **Features**, none by default
//! - `mocks` adds a mock of every port in [`ports`].
//! - `testing` adds `testing::contract`, the promises of the stores: App Tokens, branches with their bank accounts,
//!   checkout options, departments, dictionaries, integrations, projects with their settings, shops with their opening
//!   hours, staff menus and task mails, as functions that the tests of an adapter run; and `testing::memory`, the
//!   organization in memory.
//!
//! ```toml
//! [dependencies]
//! kontor-kernel = { path = "../kontor/crates/kernel" }
//! kontor-organization = { path = "../kontor/crates/organization" }
//!
//! [dev-dependencies]
//! kontor-kernel = { path = "../kontor/crates/kernel", features = ["mocks"] }
//! kontor-organization = { path = "../kontor/crates/organization", features = ["mocks", "testing"] }
//! ```
//!
//! **When not to use it**
//! - Tenants below tenants: a project is the only level.
//! - Dictionaries that differ between projects: countries, units and statuses are system-wide.
//!
//! Branches of two projects, in memory:
//! ```
//! # #[cfg(feature = "testing")]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//!
//! use chrono::DateTime;
//! use kontor_kernel::testing::staff_with;
//! use kontor_kernel::{Email, FixedClock, Inn, Line, Name, Permission, Phone, ProjectId, Resource, Staff, Stamp};
//! use kontor_organization::model::{ApplicationDraft, BranchDraft};
//! use kontor_organization::ports::ApplicationRepository;
//! use kontor_organization::testing::memory::InMemoryOrganization;
//! use kontor_organization::{BranchError, BranchRefusal, BranchService};
//!
//! // 1. Values are parsed once: a draft that exists is valid.
//! let draft = BranchDraft {
//!     name: Name::parse("Old Harbour")?,
//!     inn: Some(Inn::parse("7707083893")?),
//!     kpp: None,
//!     address: Some(Line::parse("Speicherstadt 1")?),
//!     phone: Some(Phone::parse("8 (900) 123-45-67")?),
//!     email: Some(Email::parse("harbour@example.com")?),
//! };
//! assert!(Inn::parse("7707083894").is_err());
//!
//! // 2. The use cases. A call without the permission never reaches the storage.
//! let (store, clock) = (Arc::new(InMemoryOrganization::default()), Arc::new(FixedClock::at(DateTime::UNIX_EPOCH)));
//! let branches = BranchService::new(store.clone(), clock);
//! const BRANCHES: Resource = Resource::Branches;
//! let granted = [Permission::create(BRANCHES), Permission::view(BRANCHES), Permission::edit(BRANCHES)];
//! let founder = staff_with(granted);
//! let visitor = staff_with([]);
//!
//! let branch = branches.create(&founder, draft.clone()).await?;
//! assert_eq!(branch.phone.as_ref().map(Phone::as_str), Some("79001234567"));
//! assert_eq!(branches.list(&founder).await?, [branch.clone()]);
//! assert!(matches!(branches.create(&visitor, draft).await, Err(BranchError::Denied(_))));
//!
//! // 3. Employees of another project do not see it.
//! let outsider = Staff { project_id: ProjectId::new(2)?, ..founder.clone() };
//! assert_eq!(branches.list(&outsider).await?, []);
//! assert!(matches!(branches.read(&outsider, branch.id).await, Err(BranchError::Denied(_))));
//!
//! // 4. A branch with an application stays.
//! let shop = ApplicationDraft { branch_id: branch.id, name: Name::parse("Shop")?, url: None, wholesale: false };
//! let stamp = Stamp::of(&founder, DateTime::UNIX_EPOCH);
//! ApplicationRepository::insert(&*store, stamp, shop, "fingerprint".to_owned()).await?;
//! let refused = branches.delete(&founder, branch.id).await;
//! assert!(matches!(refused, Err(BranchError::Refused(BranchRefusal::InUse))));
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "testing"))]
//! # fn main() {}
//! ```

use kontor_kernel::{ListedDeletableRepository, ListedRepository, RecordHistory, RecordService};

mod applications;
mod branch_requisites;
mod checkout;
mod delivery_prices;
mod departments;
mod dictionaries;
mod error;
mod integrations;
pub mod model;
mod payment_types;
pub mod ports;
mod project_settings;
mod projects;
mod shops;
mod staff_menus;
mod suggestions;
mod task_mails;
#[cfg(feature = "testing")]
pub mod testing {
    //! Helpers for the tests of adapters and of use cases.

    pub mod contract;
    pub mod memory;
}

pub use applications::{ApplicationAdministration, ApplicationService};
pub use branch_requisites::BranchRequisiteService;
pub use checkout::CheckoutOptions;
pub use delivery_prices::{DeliveryPriceError, DeliveryPriceRefusal, UnknownDelivery};
pub use departments::{DepartmentError, DepartmentRefusal, DepartmentService};
pub use dictionaries::DictionaryService;
pub use error::{
    ApplicationError, ApplicationRefusal, BranchError, BranchRefusal, BranchRequisiteError, BranchRequisiteRefusal,
    DictionaryError, IntegrationError, IntegrationRefusal, ShopError, ShopRefusal, ShowcaseError, StaffMenuError,
    StaffMenuRefusal, SuggestionError, TaskError, TaskReference, TaskRefusal,
};
pub use integrations::IntegrationService;
pub use payment_types::{PaymentChoiceService, PaymentTypeHistory, PaymentTypeService};
pub use project_settings::ProjectSettingsService;
pub use projects::ProjectCreation;
pub use shops::{OpeningTimesService, ShopService};
pub use staff_menus::StaffMenuService;
pub use suggestions::SuggestionService;
pub use task_mails::{COLLECTION_PERIOD, TaskMailOutcome, TaskMailWorker};

/// Use cases of branches. A branch with references cannot be deleted.
pub type BranchService = RecordService<model::Branch, dyn ListedDeletableRepository<model::Branch>>;

/// History of branches.
pub type BranchHistory = RecordHistory<model::Branch, dyn ListedDeletableRepository<model::Branch>>;

/// Use cases of shops, for staff. Orders keep the name of a deleted shop.
pub type StaffShopService = RecordService<model::StaffShop, dyn ListedDeletableRepository<model::StaffShop>>;

/// History of shops.
pub type ShopHistory = RecordHistory<model::StaffShop, dyn ListedDeletableRepository<model::StaffShop>>;

/// Use cases of tasks.
pub type TaskService = RecordService<model::Task, dyn ListedRepository<model::Task>>;
