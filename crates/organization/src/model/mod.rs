//! The records of an organization.

mod application;
mod branch;

pub use application::{AppToken, Application, ApplicationDraft, IssuedApplication};
pub use branch::{Branch, BranchDraft};
