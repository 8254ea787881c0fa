//! Projects, branches and applications, and the dictionaries they sell by.
//!
//! **Owns** branches, departments, applications with their App Tokens, shops, delivery and payment types, and the system-wide
//! dictionaries.
//!
//! **Invariants**
//! - Every record belongs to one project; staff see and change only their own project's.
//! - What a parameter of an integration keeps secret is stored sealed and never shown again.
//! - An App Token is shown once; only its fingerprint is stored. One that was replaced names nothing.
//! - An application takes payment types of its project only.
//!
//! **Ports**: [`ports::BranchRepository`], [`ports::ApplicationRepository`], [`ports::DictionaryRepository`],
//! [`ports::CheckoutOptionRepository`], [`ports::ShopRepository`], [`ports::ProjectRepository`],
//! [`ports::IntegrationRepository`], [`ports::SuggestionProvider`], and [`kontor_kernel::DeletableRepository`] of departments.

use kontor_kernel::{DeletableRepository, RecordService};

mod applications;
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
mod suggestions;

pub use applications::ApplicationService;
pub use branches::BranchService;
pub use checkout::CheckoutOptions;
pub use dictionaries::DictionaryService;
pub use error::{
    ApplicationError, BranchError, DepartmentError, DepartmentRefusal, DictionaryError, IntegrationError,
    ShowcaseError, SuggestionError,
};
pub use integrations::IntegrationService;
pub use projects::ProjectFounding;
pub use registry::ApplicationRegistry;
pub use shops::ShopService;
pub use suggestions::SuggestionService;

/// Use cases of departments. One with employees cannot be deleted.
pub type DepartmentService = RecordService<model::Department, dyn DeletableRepository<model::Department>>;

/// The example of the reuse guide, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/reuse-organization.md")]
struct ReuseGuide;
