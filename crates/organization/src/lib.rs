//! Projects, branches and applications, and the dictionaries they sell by.
//!
//! **Owns** branches with their bank accounts, departments, applications with their App Tokens, shops with their opening times, tasks, staff menus, delivery and payment types, and the system-wide
//! dictionaries.
//!
//! **Invariants**
//! - Every record belongs to one project; staff see and change only their own project's.
//! - What a parameter of an integration keeps secret is stored sealed and never shown again.
//! - An App Token is shown once; only its fingerprint is stored. One that was replaced names nothing.
//! - An application takes payment types of its project only.
//! - Opening hours of a shop never overlap.
//! - Who is to be told of a task is written in the commit that changed it, and nobody is told of what they did themselves.
//!
//! **Ports**: [`ports::BranchRepository`], [`ports::BranchRequisiteRepository`], [`ports::ApplicationRepository`], [`ports::DictionaryRepository`],
//! [`ports::CheckoutOptionRepository`], [`ports::ShopRepository`], [`ports::ProjectRepository`],
//! [`ports::IntegrationRepository`], [`ports::SuggestionProvider`], [`ports::TaskMailQueue`], [`ports::TaskMailSender`], and [`kontor_kernel::DeletableRepository`] of departments.

use kontor_kernel::{DeletableRepository, ListedRepository, RecordHistory, RecordService, TabledRepository};

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
pub use projects::ProjectFounding;
pub use registry::ApplicationRegistry;
pub use shops::{OpeningTimesService, ShopService};
pub use staff_menus::StaffMenuService;
pub use suggestions::SuggestionService;
pub use task_mails::{COLLECTED_FOR, TaskMailRound, TaskMails};

/// Use cases of departments. One with employees cannot be deleted.
pub type DepartmentService = RecordService<model::Department, dyn DeletableRepository<model::Department>>;

/// What staff do with shops. One that is deleted goes on being named by its orders.
pub type StaffShopService = RecordService<model::StaffShop, dyn TabledRepository<model::StaffShop>>;

/// What happened to shops.
pub type ShopHistory = RecordHistory<model::StaffShop, dyn TabledRepository<model::StaffShop>>;

/// Use cases of tasks.
pub type TaskService = RecordService<model::Task, dyn ListedRepository<model::Task>>;

/// The example of the reuse guide, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/reuse-organization.md")]
struct ReuseGuide;
