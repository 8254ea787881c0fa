// Written by generate.py from docs/openapi.json.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::*;
use crate::Page;

/// Notification list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NotificationList {
    pub notifications: Vec<NotificationRecord>,
    pub pagination: Pagination,
}

impl Page for NotificationList {
    type Item = NotificationRecord;

    fn total(&self) -> i64 {
        self.pagination.total
    }

    fn into_items(self) -> Vec<NotificationRecord> {
        self.notifications
    }
}

/// Notification record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NotificationRecord {
    /// URL of the application, if it has one.
    pub action_url: Option<String>,
    pub body: Option<String>,
    pub created_at: DateTime<Utc>,
    /// Always `null`.
    pub icon: Option<String>,
    pub id: i64,
    /// Code of the event: `order_paid`, `order_payment_failed`, `order_in_processing`, `order_ready`, `order_issued`,
    /// `order_canceled`, `order_expired`, `order_changed`, `order_refund_requested`, `order_refunded`,
    /// `subscription_activated`, `subscription_renewed`, `subscription_missed_paid` (a period missed during an
    /// outage), `subscription_payment_failed`, `subscription_method_needed`, `subscription_method_changed`,
    /// `subscription_terms_changed`, `subscription_canceled`, `subscription_resumed`, `subscription_charge_ahead`,
    /// `subscription_rescheduled`, `subscription_on_hold` (nothing is charged until staff release it),
    /// `subscription_ending`, `subscription_ended` (not requested by the customer) or `subscription_refunded`.
    pub status: String,
    pub title: String,
}
