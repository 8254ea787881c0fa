//! Implementations of the ports for customer records.

mod deletion;
mod notifications;
mod parts;
mod records;
mod staff;
