//! Subscriptions and the attempts to charge them, as they are kept.

mod attempt;
mod plan;
mod subscription;

pub use attempt::{Attempt, AttemptState, NewAttempt};
pub use plan::{PlanChoice, PlanOffer};
pub use subscription::{Subscription, SubscriptionPolicy, SubscriptionView};
