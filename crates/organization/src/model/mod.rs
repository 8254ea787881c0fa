//! The records of an organization.

mod application;
mod branch;
mod checkout;
mod department;
mod dictionary;
mod project;
mod shop;

pub use application::{AppToken, Application, ApplicationDraft, IssuedApplication};
pub use branch::{Branch, BranchDraft};
pub use checkout::{DeliverySubtype, DeliverySubtypeParam, DeliveryType, PaymentType};
pub use department::{Department, DepartmentDraft, DepartmentPatch};
pub use dictionary::{Dictionary, DictionaryItem, StorageUnit};
pub use project::{FoundedProject, ProjectPlan, ProjectRecords};
pub use shop::Shop;
