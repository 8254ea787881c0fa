//! What people and workers do.

pub mod customers;
pub mod members;
pub mod staff;
pub mod strangers;
pub mod workers;
