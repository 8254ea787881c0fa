//! The records of an organization.

mod application;
mod branch;
mod checkout;
mod department;
mod dictionary;
mod integration;
mod project;
mod setting;
mod shop;
mod suggestion;

pub use application::{AppToken, Application, ApplicationDraft, IssuedApplication};
pub use branch::{Branch, BranchDraft};
pub use checkout::{DeliverySubtype, DeliverySubtypeParam, DeliveryType, PaymentChoice, PaymentType};
pub use department::{Department, DepartmentChange, DepartmentDraft};
pub use dictionary::{Country, Dictionary, DictionaryItem, StorageUnit};
pub use integration::{
    Integration, IntegrationKind, IntegrationOwner, IntegrationParameter, ParameterDraft, ParameterKey, ParameterText,
    StoredValue, UsedIntegration,
};
pub use project::{FoundedProject, ProjectPlan, ProjectRecords};
pub use setting::{ProjectInfo, Setting};
pub use shop::Shop;
pub use suggestion::{
    AddressSuggestion, BankSuggestion, CompanyField, CompanyQuery, CompanySuggestion, NotANumber, SuggestionQuery,
};
