//! Implementations of the webhook ports.

mod endpoints;
mod queue;

pub(crate) use queue::DELIVERIES;
