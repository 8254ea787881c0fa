//! Projects, branches and applications, and the dictionaries they use.
//!
//! **Owns** branches with their bank accounts, departments, applications with their App Tokens, shops with their
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
//! **Ports**: [`ports::BranchRepository`], [`ports::BranchRequisiteRepository`],
//! [`ports::ApplicationRepository`], [`ports::DictionaryRepository`], [`ports::CheckoutOptionRepository`],
//! [`ports::ShopRepository`], [`ports::ProjectRepository`], [`ports::IntegrationRepository`],
//! [`ports::SuggestionProvider`], [`ports::TaskMailQueue`], [`ports::TaskMailSender`], and
//! [`kontor_kernel::DeletableRepository`] of departments.

use kontor_kernel::{DeletableRepository, ListedDeletableRepository, ListedRepository, RecordHistory, RecordService};

mod applications;
mod branch_requisites;
mod branches;
mod checkout;
mod dictionaries;
mod error;
mod integrations;
pub mod model;
pub mod ports;
mod projects;
mod registry;
mod shops;
mod staff_menus;
mod suggestions;
mod task_mails;

pub use applications::ApplicationService;
pub use branch_requisites::BranchRequisiteService;
pub use branches::BranchService;
pub use checkout::CheckoutOptions;
pub use dictionaries::DictionaryService;
pub use error::{
    ApplicationError, ApplicationRefusal, BranchError, BranchRefusal, BranchRequisiteError, BranchRequisiteRefusal,
    DepartmentError, DepartmentRefusal, DictionaryError, IntegrationError, IntegrationRefusal, ShopError, ShopRefusal,
    ShowcaseError, StaffMenuError, StaffMenuRefusal, SuggestionError, TaskError, TaskReference, TaskRefusal,
};
pub use integrations::IntegrationService;
pub use projects::ProjectCreation;
pub use registry::ApplicationAdministration;
pub use shops::{OpeningTimesService, ShopService};
pub use staff_menus::StaffMenuService;
pub use suggestions::SuggestionService;
pub use task_mails::{COLLECTED_FOR, TaskMailOutcome, TaskMailWorker};

/// Use cases of departments. A department with employees cannot be deleted.
pub type DepartmentService = RecordService<model::Department, dyn DeletableRepository<model::Department>>;

/// Use cases of shops, for staff. Orders keep the name of a deleted shop.
pub type StaffShopService = RecordService<model::StaffShop, dyn ListedDeletableRepository<model::StaffShop>>;

/// History of shops.
pub type ShopHistory = RecordHistory<model::StaffShop, dyn ListedDeletableRepository<model::StaffShop>>;

/// Use cases of tasks.
pub type TaskService = RecordService<model::Task, dyn ListedRepository<model::Task>>;

/// Compiles and runs the example of the reuse guide.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/reuse-organization.md")]
struct ReuseGuide;
