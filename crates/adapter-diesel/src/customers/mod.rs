//! Implementations of the ports for customer records.

mod bank_requisites;
mod contacts;
mod deletion;
mod notifications;
mod parts;
mod profile;
mod records;
mod sign_in;
mod staff;
mod staff_records;
