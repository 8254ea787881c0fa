//! Actions of customers, staff and workers.

pub mod customers;
pub mod members;
pub mod staff;
pub mod strangers;
pub mod workers;
