//! Access to the lesson.

use std::time::SystemTime;

use chrono::{DateTime, Utc};
use kontor_subscriptions::{SubscriptionStatus, grants_access};
use serde_json::Value;

/// Returns `true` if one of the subscriptions (the `data` of `GET /api/counterparty/subscriptions`) grants the plan.
/// Malformed data grants nothing.
pub fn opens(subscriptions: &Value, plan: &str, now: DateTime<Utc>) -> bool {
    let grants = |subscription: &Value| {
        let text = |field: &str| subscription.get(field).and_then(Value::as_str);
        let status = text("status").and_then(|status| status.parse::<SubscriptionStatus>().ok());
        let end = text("current_period_end").and_then(|end| end.parse().ok());
        text("plan_slug") == Some(plan) && status.is_some_and(|status| grants_access(status, end, now))
    };
    subscriptions.as_array().is_some_and(|all| all.iter().any(grants))
}

/// Returns the local time. Kontor's own state decides first: a period that is over and unpaid is no longer `active`.
#[expect(clippy::disallowed_methods, reason = "an example has no ports")]
pub fn now() -> DateTime<Utc> {
    SystemTime::now().into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_an_active_subscription_to_the_plan_opens() {
        let now = DateTime::UNIX_EPOCH;
        let one = |status: &str, plan: &str, end: Value| json!([{ "status": status, "plan_slug": plan, "current_period_end": end }]);
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
            json!([]),
            Value::Null,
        ] {
            assert!(!opens(&closed, "club", now), "{closed}");
        }
    }
}
