//! Changes: values that contain everything one commit writes.

use chrono::{DateTime, Utc};
use kontor_kernel::SavedMethodId;

use crate::effect::SubscriptionNotice;
use crate::model::{AttemptState, NewAttempt, Subscription};
use crate::state::{SubscriptionEvent, SubscriptionStatus};
use crate::terms::ConsentedTerms;

/// Outcome of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttemptEnd {
    /// The money has arrived.
    Succeeded,
    /// No money will arrive.
    Failed {
        /// Reason given by the acquirer.
        reason: String,
    },
}

/// Everything to write when an event changes a subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriptionChange {
    /// Event.
    pub event: SubscriptionEvent,
    /// Status before.
    pub from: SubscriptionStatus,
    /// Subscription after the change.
    pub subscription: Subscription,
    /// Outcome of the open attempt.
    pub ended: Option<AttemptEnd>,
    /// Attempt to make.
    pub attempt: Option<NewAttempt>,
    /// Consent of the customer.
    pub consent: Option<ConsentedTerms>,
    /// Method that must never be charged again.
    pub stopped_method: Option<SavedMethodId>,
    /// `true` if the money of the charge is refunded.
    pub returns_money: bool,
    /// Notices to the customer.
    pub notices: Vec<SubscriptionNotice>,
    /// Time of the change.
    pub at: DateTime<Utc>,
}

impl SubscriptionChange {
    /// State of the open attempt after the change; `None` if it has ended or does not change.
    pub fn open_attempt(&self) -> Option<AttemptState> {
        match self.event {
            SubscriptionEvent::ChargeUnknown => Some(AttemptState::NeedsReconciliation),
            SubscriptionEvent::ChargePending => Some(AttemptState::Processing),
            _ => None,
        }
    }
}
