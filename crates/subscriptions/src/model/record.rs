//! A subscription as staff see it.

use chrono::{DateTime, Utc};
use kontor_kernel::history::HistoryEntry;
use kontor_kernel::{ApplicationId, CounterpartyId, NomenclatureId};

use super::SubscriptionView;
use crate::state::{SubscriptionEvent, SubscriptionStatus};

/// A record that a subscription names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named<Id> {
    /// Its number.
    pub id: Id,
    /// Its name.
    pub name: String,
}

/// A subscription with the names of what it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriptionRecord {
    /// As its customer sees it.
    pub view: SubscriptionView,
    /// Whose it is.
    pub customer: Named<CounterpartyId>,
    /// Their phone, digits alone.
    pub phone: Option<String>,
    /// Where it was made; `None` of one that the project has as a whole.
    pub application: Option<Named<ApplicationId>>,
    /// `false` while that application is deactivated: nothing is charged.
    pub application_active: bool,
    /// What is subscribed to.
    pub plan: Named<NomenclatureId>,
    /// When it was parked.
    pub parked_at: Option<DateTime<Utc>>,
    /// When it changed.
    pub updated_at: DateTime<Utc>,
    /// How often it has changed.
    pub version: i64,
}

/// One line of the history of a subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriptionEntry {
    /// Who, when, and what changed from what to what.
    pub line: HistoryEntry,
    /// What happened.
    pub event: SubscriptionEvent,
    /// Where it stood afterwards.
    pub status: SubscriptionStatus,
}
