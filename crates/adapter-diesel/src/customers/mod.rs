//! The ports of customer records.

mod records;
