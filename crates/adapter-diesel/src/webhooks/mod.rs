//! Implementations of the webhook ports.

mod due;
mod endpoints;
mod log;
mod queue;

pub(crate) use queue::DELIVERIES;
