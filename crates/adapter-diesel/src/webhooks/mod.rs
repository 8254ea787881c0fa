//! The ports of webhooks.

mod due;
mod endpoints;
mod log;
mod queue;

pub(crate) use queue::DELIVERIES;
