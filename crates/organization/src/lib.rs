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
//! - `testing` adds `testing::contract`, the promises of the stores: App Tokens, deletion of branches, opening hours and
//!   task mails, as functions that the tests of an adapter run.
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
//! Branches on other storage:
//! ```
//! # #[cfg(feature = "mocks")]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::{Arc, Mutex};
//!
//! use async_trait::async_trait;
//! use chrono::DateTime;
//! use kontor_kernel::testing::staff_with;
//! use kontor_kernel::{
//!     BranchId, DeletableRepository, Email, FixedClock, Inn, Line, ListedRepository, Listing, Name, Page, Permission,
//!     Phone, ProjectId, ProjectScoped, RecordError, RecordRepository, Resource, Stamp, StoreError,
//! };
//! use kontor_organization::model::{Branch, BranchChange, BranchDraft};
//! use kontor_organization::{BranchError, BranchService};
//!
//! // 1. Storage behind the ports, here a list in memory.
//! #[derive(Default)]
//! struct Register(Mutex<Vec<(ProjectId, Branch)>>);
//!
//! impl Register {
//!     fn of(&self, project: ProjectId) -> Vec<Branch> {
//!         let branches = self.0.lock().unwrap();
//!         branches.iter().filter(|(owner, _)| *owner == project).map(|(_, branch)| branch.clone()).collect()
//!     }
//! }
//!
//! #[async_trait]
//! impl RecordRepository<Branch> for Register {
//!     async fn list(&self, project: ProjectId) -> Result<Vec<Branch>, StoreError> {
//!         Ok(self.of(project))
//!     }
//!
//!     async fn find(&self, id: BranchId) -> Result<Option<ProjectScoped<Branch>>, StoreError> {
//!         let branches = self.0.lock().unwrap();
//!         let found = branches.iter().find(|(_, branch)| branch.id == id);
//!         Ok(found.map(|(project, branch)| ProjectScoped::new(*project, branch.clone())))
//!     }
//!
//!     async fn insert(&self, stamp: Stamp, draft: BranchDraft) -> Result<Branch, BranchError> {
//!         let mut branches = self.0.lock().unwrap();
//!         let number = i64::try_from(branches.len()).map_err(StoreError::corrupt)? + 1;
//!         let branch = Branch {
//!             id: BranchId::new(number).map_err(StoreError::corrupt)?,
//!             name: draft.name,
//!             inn: draft.inn.map(|inn| Line::parse(&inn)).transpose().map_err(StoreError::corrupt)?,
//!             kpp: draft.kpp.map(|kpp| Line::parse(&kpp)).transpose().map_err(StoreError::corrupt)?,
//!             address: draft.address,
//!             phone: draft.phone,
//!             email: draft.email,
//!             version: 1,
//!             created_at: stamp.at,
//!             updated_at: stamp.at,
//!         };
//!         branches.push((stamp.project_id, branch.clone()));
//!         Ok(branch)
//!     }
//!
//!     async fn update(&self, _: Stamp, _: BranchId, _: BranchChange) -> Result<Branch, BranchError> {
//!         Err(RecordError::NotFound)
//!     }
//! }
//!
//! #[async_trait]
//! impl ListedRepository<Branch> for Register {
//!     async fn page(&self, project: ProjectId, listing: Listing) -> Result<Page<Branch>, StoreError> {
//!         let items = self.of(project);
//!         Ok(Page { total: u64::try_from(items.len()).map_err(StoreError::corrupt)?, items, request: listing.page })
//!     }
//! }
//!
//! #[async_trait]
//! impl DeletableRepository<Branch> for Register {
//!     async fn delete(&self, _: Stamp, _: BranchId) -> Result<(), BranchError> {
//!         Err(RecordError::NotFound)
//!     }
//! }
//!
//! // 2. Values are parsed once: a draft that exists is valid.
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
//! // 3. The use cases. A call without the permission never reaches the storage.
//! let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
//! let branches = BranchService::new(Arc::new(Register::default()), clock);
//! let founder = staff_with([Permission::create(Resource::Branches), Permission::view(Resource::Branches)]);
//! let visitor = staff_with([]);
//!
//! let branch = branches.create(&founder, draft.clone()).await?;
//! assert_eq!(branch.phone.as_ref().map(Phone::as_str), Some("79001234567"));
//! assert_eq!(branches.list(&founder).await?, [branch]);
//! assert!(matches!(branches.create(&visitor, draft).await, Err(BranchError::Denied(_))));
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "mocks"))]
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
    //! Helpers for the tests of adapters.

    pub mod contract;
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
