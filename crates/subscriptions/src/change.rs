//! Changes: values that name everything one commit writes.

use chrono::{DateTime, Utc};
use kontor_kernel::SavedMethodId;

use crate::effect::SubscriptionNotice;
use crate::model::{NewAttempt, Subscription};
use crate::state::{SubscriptionEvent, SubscriptionStatus};
use crate::terms::ConsentedTerms;

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttemptEnd {
    /// The money has arrived.
    Succeeded,
    /// There will be none.
    Failed {
        /// The acquirer's reason.
        reason: String,
    },
}

/// All that is written when something happens to a subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriptionChange {
    /// What happened.
    pub event: SubscriptionEvent,
    /// Where it was.
    pub from: SubscriptionStatus,
    /// As it is afterwards.
    pub subscription: Subscription,
    /// How the attempt that was open ended.
    pub ended: Option<AttemptEnd>,
    /// The attempt that is to be made.
    pub attempt: Option<NewAttempt>,
    /// What the customer consented to.
    pub consent: Option<ConsentedTerms>,
    /// The method that must never be charged again.
    pub stopped_method: Option<SavedMethodId>,
    /// Whether the money of the charge goes back.
    pub returns_money: bool,
    /// What the customer is told.
    pub notices: Vec<SubscriptionNotice>,
    /// When.
    pub at: DateTime<Utc>,
}
