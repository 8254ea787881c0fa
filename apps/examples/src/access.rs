//! Access to the lesson.

use std::time::SystemTime;

use chrono::{DateTime, Utc};
use kontor_client::types::SubscriptionRecord;
use kontor_subscriptions::{SubscriptionStatus, grants_access};

/// Returns `true` if one of the subscriptions grants the plan. An unknown status grants nothing.
pub fn opens(subscriptions: &[SubscriptionRecord], plan: &str, now: DateTime<Utc>) -> bool {
    subscriptions.iter().filter(|subscription| subscription.plan_slug == plan).any(|subscription| {
        let status = subscription.status.as_str().parse::<SubscriptionStatus>();
        status.is_ok_and(|status| grants_access(status, subscription.current_period_end, now))
    })
}

/// Returns the local time. Kontor's own state decides first: a period that is over and unpaid is no longer `active`.
#[expect(clippy::disallowed_methods, reason = "an example has no ports")]
pub fn now() -> DateTime<Utc> {
    SystemTime::now().into()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn one(status: &str, plan: &str, end: Value) -> Vec<SubscriptionRecord> {
        let subscription = json!({
            "id": 1, "status": status, "plan_slug": plan, "nomenclature_id": 31, "application_id": 1,
            "amount": "490.00", "currency": "RUB", "billing_period_months": 1,
            "current_period_start": null, "current_period_end": end, "next_charge_at": null, "canceled_at": null,
            "latest_payment": null, "next_terms": null,
            "can_retry_payment": false, "retry_payment_reason": "no_payment",
        });
        vec![serde_json::from_value(subscription).unwrap()]
    }

    #[test]
    fn only_an_active_subscription_to_the_plan_opens() {
        let now = DateTime::UNIX_EPOCH;
        let (later, over) = (json!("1970-01-01T00:00:01Z"), json!("1970-01-01T00:00:00Z"));
        assert!(opens(&one("active", "club", later.clone()), "club", now));
        for closed in [
            one("active", "club", over),
            one("active", "club", Value::Null),
            one("active", "other", later.clone()),
            one("charging", "club", later.clone()),
            one("past_due", "club", later.clone()),
            one("canceled", "club", later.clone()),
            one("new word", "club", later),
            Vec::new(),
        ] {
            assert!(!opens(&closed, "club", now), "{closed:?}");
        }
    }
}
