//! The ports of customer records.

mod leave;
mod presence;
mod profile;
mod records;

pub(crate) use presence::{hold, hold_alone, mark_verified};
