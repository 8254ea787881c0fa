//! Actions of customers, staff and workers.

pub mod customers;
pub mod foreign_records;
pub mod members;
pub mod staff;
pub mod workers;
