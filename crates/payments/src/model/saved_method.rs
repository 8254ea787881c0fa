//! Saved payment methods.

use chrono::{DateTime, Utc};
use kontor_kernel::{ApplicationId, CounterpartyId, SavedMethodId};
use serde::{Deserialize, Serialize};

use super::{PaymentMethod, ProviderId};

/// Saved payment method with the fields that may be shown. It contains no card number and no identifier of the
/// acquirer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedMethod {
    /// Identifier.
    pub id: SavedMethodId,
    /// Customer.
    pub counterparty_id: CounterpartyId,
    /// Application in which it was saved.
    pub application_id: ApplicationId,
    /// Kind of method.
    pub method: PaymentMethod,
    /// Payment system of a card.
    pub card_type: Option<String>,
    /// Last four digits of a card.
    pub card_last_4: Option<String>,
    /// Display name from the acquirer.
    pub title: Option<String>,
    /// `true` if it may be charged.
    pub is_active: bool,
    /// Creation time.
    pub created_at: DateTime<Utc>,
}

/// Reference to a saved method in a request to the acquirer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MethodReference {
    /// Identifier of the saved method.
    pub id: SavedMethodId,
    /// Identifier of the method at the acquirer.
    pub provider_id: ProviderId,
}
