//! The mark of a payment that renews a subscription.

use kontor_kernel::SubscriptionId;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Names one attempt to charge a period of a subscription. The acquirer hands it back in the metadata of the payment, so that a
/// database that was restored finds what it has charged before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Renewal {
    /// The installation. Others have other subscriptions under the same numbers.
    pub installation: Uuid,
    /// The subscription.
    pub subscription: SubscriptionId,
    /// The number of the period.
    pub period: u32,
    /// The place of the attempt among those of the period, from 1.
    pub number: u32,
}
