//! Implementations of the organization ports.

pub(crate) mod applications;
mod branch_requisites;
mod branches;
mod checkout;
mod departments;
mod dictionaries;
pub(crate) mod integrations;
pub(crate) mod payment_types;
pub(crate) mod projects;
mod shops;
mod staff_menus;
mod staff_shops;
mod task_mails;
mod tasks;

pub(crate) use task_mails::TASK_MAILS;
