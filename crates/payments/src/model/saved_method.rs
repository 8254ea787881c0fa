//! Payment methods that customers let be charged again.

use chrono::{DateTime, Utc};
use kontor_kernel::{ApplicationId, CounterpartyId, SavedMethodId};
use serde::{Deserialize, Serialize};

use super::{PaymentMethod, ProviderId};

/// A saved method as it may be shown. Numbers of cards and the acquirer's own identifier are no part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedMethod {
    /// Its number.
    pub id: SavedMethodId,
    /// Whose it is.
    pub counterparty_id: CounterpartyId,
    /// Where it was saved.
    pub application_id: ApplicationId,
    /// What kind of method.
    pub method: PaymentMethod,
    /// The payment system of a card.
    pub card_type: Option<String>,
    /// The last four digits of a card.
    pub card_last_4: Option<String>,
    /// How the acquirer names it to people.
    pub title: Option<String>,
    /// Whether it may be charged.
    pub is_active: bool,
    /// When it was saved.
    pub created_at: DateTime<Utc>,
}

/// Names a saved method to the acquirer, as part of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MethodReference {
    /// The number of the saved method.
    pub id: SavedMethodId,
    /// The acquirer's identifier of it.
    pub provider_id: ProviderId,
}
