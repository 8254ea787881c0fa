//! Comparison after the kills: attempts and orders with the payments at the acquirer.

use std::collections::BTreeSet;

use serde_json::Value;

use super::members::{Members, subscriptions};

/// Rules for rows, each with the rows that break it.
const RULES: &[(&str, &str)] = &[
    ("none is left being charged", "subscriptions WHERE status = 'charging'"),
    ("none is parked", "subscriptions WHERE parked IS NOT NULL"),
    ("no attempt is left open", "subscription_payments WHERE ended_at IS NULL"),
    (
        "a period has one attempt",
        "(SELECT subscription_id FROM subscription_payments GROUP BY subscription_id, period HAVING count(*) <> 1) twice",
    ),
    (
        "the order of an attempt is paid or canceled",
        "subscription_payments a JOIN orders o ON o.id = a.order_id \
         WHERE o.status_id <> CASE a.state WHEN 'succeeded' THEN 22 ELSE 6 END",
    ),
    (
        "an attempt ends as its charge",
        "subscription_payments a JOIN charges c ON c.id = a.charge_id \
         WHERE (c.state = 'succeeded') <> (a.state = 'succeeded') OR c.purpose <> 'order' OR c.purpose_id <> a.order_id",
    ),
    (
        "whoever paid last is active in that period, and nobody else is",
        "subscriptions s JOIN subscription_payments a ON a.subscription_id = s.id \
         AND a.id = (SELECT max(l.id) FROM subscription_payments l WHERE l.subscription_id = s.id) \
         WHERE NOT (a.state = 'succeeded' AND s.status = 'active' AND s.period_number = a.period) \
         AND NOT (a.state = 'failed' AND s.status = 'past_due')",
    ),
];

fn minor(payment: &Value) -> i64 {
    payment["amount"]["value"].as_str().unwrap().replace('.', "").parse().unwrap()
}

fn order_of(payment: &Value) -> i64 {
    payment["metadata"]["order_id"].as_str().unwrap().parse().unwrap()
}

/// Compares everything.
pub async fn examine(members: &Members) {
    let environment = &members.environment;
    let count = async |rows: &str| environment.number(&format!("SELECT count(*) AS id FROM {rows}")).await;
    for (rule, broken) in RULES {
        assert_eq!(count(broken).await, 0, "{rule}");
    }
    let attempts = subscriptions() * i64::from(members.rounds + 1);
    assert_eq!(count("subscription_payments").await, attempts, "each subscription is tried once when it falls due");

    let payments = environment.control("/payments?limit=1000000").await["payments"].as_array().unwrap().clone();
    let of = |status: &str| payments.iter().filter(|one| one["status"] == status).collect::<Vec<_>>();
    let (succeeded, declined) = (of("succeeded"), of("canceled"));
    let expected = &members.expected;
    let found = [succeeded.len(), declined.len(), payments.len()].map(|number| i64::try_from(number).unwrap());
    let all = expected.succeeded + expected.declined;
    assert_eq!(found, [expected.succeeded, expected.declined, all], "payments at the acquirer");
    assert_eq!(succeeded.iter().map(|one| minor(one)).sum::<i64>(), expected.taken, "what the acquirer took");
    for (payments, status) in [(succeeded, 22), (declined, 6)] {
        let orders: BTreeSet<i64> = payments.iter().map(|one| order_of(one)).collect();
        assert_eq!(orders.len(), payments.len(), "an order is paid once");
        // The id 0 does not exist: without it the list could be empty.
        let among: Vec<String> = std::iter::once(&0).chain(&orders).map(ToString::to_string).collect();
        let stored = count(&format!("orders WHERE status_id = {status} AND id IN ({})", among.join(", "))).await;
        assert_eq!(stored, i64::try_from(orders.len()).unwrap(), "orders of status {status}");
        assert_eq!(count(&format!("orders WHERE status_id = {status}")).await, stored, "orders of status {status}");
    }
    let paid =
        environment.number("SELECT CAST(sum(final_price) AS BIGINT) AS id FROM orders WHERE status_id = 22").await;
    assert_eq!(paid, expected.taken, "what orders say was paid");
    let examined = environment.command(&["doctor", "--json"]).output().unwrap();
    assert!(examined.status.success(), "{}", String::from_utf8_lossy(&examined.stdout));
}
