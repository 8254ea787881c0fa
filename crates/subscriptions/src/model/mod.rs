//! Stored subscriptions and their attempts.

mod attempt;
mod plan;
mod record;
mod subscription;

pub use attempt::{Attempt, AttemptState, NewAttempt};
pub use plan::{PlanChoice, PlanOffer};
pub use record::{Named, SubscriptionEntry, SubscriptionRecord};
pub use subscription::{
    Announcement, InvalidNoticeDays, NoticeDays, Subscription, SubscriptionPolicy, SubscriptionView,
};
