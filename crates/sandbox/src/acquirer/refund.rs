//! Refunds.

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

use super::amount::Amount;
use super::receipt::Registration;
use crate::named::named;

named! {
    /// Status of a refund.
    RefundStatus {
        Pending = "pending",
        Succeeded = "succeeded",
        Canceled = "canceled",
    }
}

#[derive(Clone, Debug)]
pub struct Refund {
    pub id: String,
    pub payment_id: String,
    pub status: RefundStatus,
    pub amount: Amount,
    pub created_at: DateTime<Utc>,
    pub description: Option<String>,
    pub metadata: Map<String, Value>,
    /// State of the fiscal receipt, if there is one.
    pub receipt: Option<Registration>,
}
