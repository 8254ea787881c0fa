//! The ports of webhooks.

mod endpoints;
mod log;
mod queue;
