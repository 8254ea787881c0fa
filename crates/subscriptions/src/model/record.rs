//! Subscriptions as shown to staff.

use chrono::{DateTime, Utc};
use kontor_kernel::history::HistoryEntry;
use kontor_kernel::{ApplicationId, CounterpartyId, NomenclatureId};

use super::SubscriptionView;
use crate::state::{SubscriptionEvent, SubscriptionStatus};

/// Identifier and name of a record that a subscription refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named<Id> {
    /// Identifier.
    pub id: Id,
    /// Name.
    pub name: String,
}

/// Subscription with the names of its references.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriptionRecord {
    /// Data that the customer sees too.
    pub view: SubscriptionView,
    /// Customer.
    pub customer: Named<CounterpartyId>,
    /// Phone of the customer, digits only.
    pub phone: Option<String>,
    /// Application; `None` for a subscription of the whole project.
    pub application: Option<Named<ApplicationId>>,
    /// `false` while that application is deactivated: nothing is charged.
    pub application_active: bool,
    /// Plan.
    pub plan: Named<NomenclatureId>,
    /// Time of parking.
    pub parked_at: Option<DateTime<Utc>>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
    /// Version; grows with every change.
    pub version: i64,
}

/// One entry of the history of a subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriptionEntry {
    /// Author, time, and changed fields.
    pub line: HistoryEntry,
    /// Event.
    pub event: SubscriptionEvent,
    /// Status of the subscription afterwards.
    pub status: SubscriptionStatus,
}
