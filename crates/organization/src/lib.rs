//! Projects, branches and applications, and the dictionaries they sell by.
//!
//! **Owns** branches, departments, applications with their App Tokens, shops, delivery and payment types, and the system-wide
//! dictionaries.
//!
//! **Invariants**
//! - Every record belongs to one project; staff see and change only their own project's.
//! - An App Token is shown once; only its fingerprint is stored.
//!
//! **Ports**: [`ports::BranchRepository`], [`ports::ApplicationRepository`], [`ports::DictionaryRepository`],
//! [`ports::CheckoutOptionRepository`], [`ports::ShopRepository`], [`ports::ProjectRepository`],
//! [`ports::DepartmentRepository`].

mod applications;
mod branches;
mod checkout;
mod departments;
mod dictionaries;
mod error;
pub mod model;
pub mod ports;
mod projects;
mod shops;

pub use applications::ApplicationService;
pub use branches::BranchService;
pub use checkout::CheckoutOptions;
pub use departments::DepartmentService;
pub use dictionaries::DictionaryService;
pub use error::{ApplicationError, BranchError, DepartmentError, DictionaryError, ShowcaseError};
pub use projects::ProjectFounding;
pub use shops::ShopService;
