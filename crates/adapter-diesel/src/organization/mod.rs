//! The ports of the organization.

mod applications;
mod branches;
mod checkout;
mod departments;
mod dictionaries;
mod projects;
mod shops;
