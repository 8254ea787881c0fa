//! Identifies payments that renew a subscription.

use kontor_kernel::SubscriptionId;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Attempt to charge a period of a subscription. The acquirer returns it in the metadata of the payment, so that
/// a restored database finds its earlier charges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Renewal {
    /// Installation. Other installations use the same subscription numbers.
    pub installation: Uuid,
    /// Subscription.
    pub subscription: SubscriptionId,
    /// Number of the period.
    pub period: u32,
    /// Number of the attempt in the period, from 1.
    pub number: u32,
}
