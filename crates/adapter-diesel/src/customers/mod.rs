//! The ports of customer records.

mod leave;
mod profile;
mod records;
