//! Responses to refusals of the domain crates: status, code and next action.

mod auth;
mod catalog;
mod content;
mod customers;
mod orders;
mod organization;
mod subscriptions;
mod webhooks;

pub use auth::{POLL_SECONDS, agent_refused};
pub use subscriptions::SubscriptionFields;
