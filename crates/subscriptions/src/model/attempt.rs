//! Attempts to charge a period.

use chrono::{DateTime, Utc};
use kontor_kernel::{Money, NomenclatureId, OrderId, SavedMethodId, SubscriptionPaymentId};
use kontor_payments::change::ChargeChange;
use kontor_payments::model::ChargeFailure;
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use crate::retry::PaymentStanding;
use crate::state::ChargeOrigin;
use crate::terms::Terms;

/// State of an attempt: the `status` of a payment of a subscription. The contract shows `succeeded`; the other
/// values are defined here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray, Display, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum AttemptState {
    /// The request to the acquirer is in progress, or the acquirer has it.
    Processing,
    /// The acquirer may or may not have it.
    NeedsReconciliation,
    /// The money has arrived.
    Succeeded,
    /// It failed finally.
    Failed,
}

impl AttemptState {
    /// Returns `true` while the outcome is open.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Processing | Self::NeedsReconciliation)
    }
}

impl From<AttemptState> for PaymentStanding {
    fn from(state: AttemptState) -> Self {
        match state {
            AttemptState::Processing => Self::Processing,
            AttemptState::NeedsReconciliation => Self::OutcomeUnknown,
            AttemptState::Succeeded => Self::Succeeded,
            AttemptState::Failed => Self::Failed,
        }
    }
}

/// Attempt to charge a period: a payment of the subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// Identifier: the `payment_id` of the contract.
    pub id: SubscriptionPaymentId,
    /// Number of the period.
    pub period: u32,
    /// Number of the attempt in the period, from 1.
    pub number: u32,
    /// Kind of charge.
    pub origin: ChargeOrigin,
    /// `true` if it was planned; `false` if a customer or staff requested it.
    pub planned: bool,
    /// State.
    pub state: AttemptState,
    /// Order that its money pays.
    pub order: OrderId,
    /// Amount.
    pub amount: Money,
    /// Currency, three letters.
    pub currency: String,
    /// Saved method that is charged; `None` for a checkout that the customer pays.
    pub method: Option<SavedMethodId>,
    /// Plan and length of its period in months; `None` for attempts made before these were stored.
    pub plan: Option<(NomenclatureId, u8)>,
    /// Reason given by the acquirer for a failure.
    pub reason: Option<String>,
    /// Time of the attempt.
    pub started_at: DateTime<Utc>,
    /// Time at which its outcome became known.
    pub ended_at: Option<DateTime<Utc>>,
}

/// Attempt to store before the acquirer is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAttempt {
    /// Number of the period.
    pub period: u32,
    /// Number of the attempt in the period, from 1.
    pub number: u32,
    /// Kind of charge.
    pub origin: ChargeOrigin,
    /// `true` if it was planned.
    pub planned: bool,
    /// Consented terms.
    pub terms: Terms,
}

impl NewAttempt {
    /// Creates the first attempt of a subscription, with the terms just consented to.
    pub fn first(terms: &Terms) -> Self {
        Self { period: 1, number: 1, origin: ChargeOrigin::First, planned: false, terms: terms.clone() }
    }

    /// Returns `true` if a worker may repeat the request under the same key. A first payment is requested by the
    /// customer and never repeated for them.
    pub fn is_repeatable(&self) -> bool {
        self.origin != ChargeOrigin::First
    }

    /// Outcome of an attempt that needs a receipt of a customer without a contact for it. A planned attempt fails
    /// without a call of the acquirer. A requested one is refused: `None`.
    pub fn without_receipt_contact(&self) -> Option<ChargeChange> {
        let (failure, reason) = (ChargeFailure::Refused, "receipt_contact_missing".to_owned());
        self.planned.then_some(ChargeChange::Failed { provider_id: None, failure, reason })
    }
}
