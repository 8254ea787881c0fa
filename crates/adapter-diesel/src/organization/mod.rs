//! The ports of the organization.

mod applications;
mod branches;
mod checkout;
mod departments;
mod dictionaries;
pub(crate) mod integrations;
mod projects;
mod shops;
