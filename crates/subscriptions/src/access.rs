//! Access rule of subscriptions.

use chrono::{DateTime, Utc};

use crate::state::SubscriptionStatus;

/// Returns `true` if a subscription grants access now: it is `active`, and its current period ends later than
/// now. This is the contract's whole rule: `charging`, `past_due` and `canceled` grant no access, even with a
/// paid period.
///
/// A backend reads the subscription before each protected action and applies the same rule to `status` and
/// `current_period_end`. It must not trust a value from the browser.
/// ```
/// use chrono::{DateTime, TimeDelta};
/// use kontor_subscriptions::{SubscriptionStatus, grants_access};
///
/// let now = DateTime::UNIX_EPOCH;
/// assert!(grants_access(SubscriptionStatus::Active, Some(now + TimeDelta::seconds(1)), now));
/// assert!(!grants_access(SubscriptionStatus::Active, Some(now), now));
/// assert!(!grants_access(SubscriptionStatus::Charging, Some(now + TimeDelta::days(1)), now));
/// ```
pub fn grants_access(
    status: SubscriptionStatus,
    current_period_end: Option<DateTime<Utc>>,
    now: DateTime<Utc>,
) -> bool {
    status == SubscriptionStatus::Active && current_period_end.is_some_and(|end| end > now)
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use strum::VariantArray as _;

    use super::*;

    #[test]
    fn only_an_active_subscription_in_its_paid_period_grants_access() {
        let now = DateTime::UNIX_EPOCH + TimeDelta::days(20_000);
        let ends = [None, Some(-1), Some(0), Some(1)].map(|end| end.map(|end| now + TimeDelta::nanoseconds(end)));
        for status in SubscriptionStatus::VARIANTS.iter().copied() {
            let granted = ends.map(|end| grants_access(status, end, now));
            let active = status == SubscriptionStatus::Active;
            assert_eq!(granted, [false, false, false, active], "{status}");
        }
    }
}
