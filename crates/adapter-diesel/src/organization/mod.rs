//! The ports of the organization.

mod applications;
mod branches;
