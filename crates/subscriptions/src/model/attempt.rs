//! Attempts to charge a period.

use chrono::{DateTime, Utc};
use kontor_kernel::{Money, NomenclatureId, OrderId, SavedMethodId, SubscriptionPaymentId};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use crate::retry::PaymentStanding;
use crate::state::ChargeOrigin;
use crate::terms::Terms;

/// Where an attempt stands: the `status` of a payment of a subscription. The contract shows `succeeded` and leaves the other
/// words to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray, Display, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum AttemptState {
    /// The acquirer is asked, or has it.
    Processing,
    /// Whether the acquirer has it is not known.
    NeedsReconciliation,
    /// The money has arrived.
    Succeeded,
    /// There was none, for good.
    Failed,
}

impl AttemptState {
    /// Whether the outcome is still to come.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Processing | Self::NeedsReconciliation)
    }
}

impl From<AttemptState> for PaymentStanding {
    fn from(state: AttemptState) -> Self {
        match state {
            AttemptState::Processing => Self::Processing,
            AttemptState::NeedsReconciliation => Self::Unclear,
            AttemptState::Succeeded => Self::Succeeded,
            AttemptState::Failed => Self::Failed,
        }
    }
}

/// One attempt to charge a period: a payment of the subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// Its number: the `payment_id` of the contract.
    pub id: SubscriptionPaymentId,
    /// The number of the period.
    pub period: u32,
    /// Its place among the attempts of the period, from 1.
    pub number: u32,
    /// What it is for.
    pub origin: ChargeOrigin,
    /// Whether it was planned; `false` when a customer or staff asked for it.
    pub planned: bool,
    /// Where it stands.
    pub state: AttemptState,
    /// The order that its money pays.
    pub order: OrderId,
    /// How much.
    pub amount: Money,
    /// Three letters.
    pub currency: String,
    /// The saved method that is charged; `None` of a checkout, where the customer pays themselves.
    pub method: Option<SavedMethodId>,
    /// The plan and how many months its period lasts; `None` of attempts made before this was kept.
    pub plan: Option<(NomenclatureId, u8)>,
    /// The acquirer's reason, of one that failed.
    pub reason: Option<String>,
    /// When it was made.
    pub started_at: DateTime<Utc>,
    /// When its outcome became known.
    pub ended_at: Option<DateTime<Utc>>,
}

/// An attempt that is to be stored before the acquirer is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAttempt {
    /// The number of the period.
    pub period: u32,
    /// Its place among the attempts of the period, from 1.
    pub number: u32,
    /// What it is for.
    pub origin: ChargeOrigin,
    /// Whether it was planned.
    pub planned: bool,
    /// What the customer consented to.
    pub terms: Terms,
}
