//! Comparison of the database with the acquirer, and of deliveries with what receivers accepted.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_payments::model::GatewayStatus;

use crate::invariants::{CAPTURED, DELIVERED, REFUNDS};
use crate::providers::{Outside, lock};

type Compared = Result<(), (&'static str, String)>;

/// Returns the captured amounts, by payment identifier.
fn captured(outside: &Outside) -> BTreeMap<String, i64> {
    let payments = lock(&outside.acquirer.payments);
    let paid = payments.iter().filter(|(_, payment)| payment.status == GatewayStatus::Succeeded);
    paid.map(|(_, payment)| (payment.id.to_string(), payment.amount.minor())).collect()
}

/// Returns the refunded amounts, done or on their way, by payment identifier.
fn given_back(outside: &Outside, only_done: bool) -> BTreeMap<String, i64> {
    let mut back = BTreeMap::new();
    for (_, refund) in lock(&outside.acquirer.refunds).iter() {
        let counts =
            refund.status == GatewayStatus::Succeeded || (!only_done && refund.status == GatewayStatus::Pending);
        if counts {
            *back.entry(refund.payment.to_string()).or_default() += refund.amount.minor();
        }
    }
    back
}

/// Checks what must be true at any time: every paid charge was paid, and no charge is refunded beyond its amount.
pub async fn compare(db: &TestDatabase, outside: &Outside, since: Option<DateTime<Utc>>) -> Compared {
    let moment = since.unwrap_or(DateTime::UNIX_EPOCH).format("%Y-%m-%d %H:%M:%S");
    let booked = format!(
        "SELECT provider_payment_id AS name, captured AS number FROM charges WHERE state = 'succeeded' AND updated_at >= \
         '{moment}'"
    );
    let taken = captured(outside);
    for (payment, amount) in db.named_numbers(booked).await {
        if taken.get(&payment) != Some(&amount) {
            return Err((
                CAPTURED,
                format!("{payment}: {amount} are booked, the acquirer has {:?}", taken.get(&payment)),
            ));
        }
    }
    for (payment, amount) in given_back(outside, false) {
        if taken.get(&payment).is_none_or(|taken| *taken < amount) {
            return Err((REFUNDS, format!("{payment}: {amount} went back of {:?}", taken.get(&payment))));
        }
    }
    Ok(())
}

/// Checks what must be true once nothing is open: sums are equal on both sides, and delivered webhooks were accepted.
pub async fn settle(db: &TestDatabase, outside: &Outside) -> Compared {
    let booked = "SELECT provider_payment_id AS name, captured AS number FROM charges WHERE state = 'succeeded'";
    let booked: BTreeMap<String, i64> = db.named_numbers(booked.to_owned()).await.into_iter().collect();
    for (payment, amount) in captured(outside) {
        if booked.get(&payment) != Some(&amount) {
            return Err((
                CAPTURED,
                format!("{payment}: the acquirer has {amount}, {:?} are booked", booked.get(&payment)),
            ));
        }
    }
    let refunded = "SELECT provider_payment_id AS name, refunded AS number FROM charges WHERE refunded > 0";
    let refunded: BTreeMap<String, i64> = db.named_numbers(refunded.to_owned()).await.into_iter().collect();
    let back = given_back(outside, true);
    if refunded != back {
        let differ = back.iter().find(|(payment, amount)| refunded.get(*payment) != Some(amount));
        return Err((REFUNDS, format!("{} and {} charges gave money back; {differ:?}", refunded.len(), back.len())));
    }
    let delivered = "SELECT delivery_id AS name, CAST(attempts AS BIGINT) AS number FROM webhook_deliveries WHERE status = 'delivered'";
    let accepted = lock(&outside.accepted).clone();
    for (delivery, attempts) in db.named_numbers(delivered.to_owned()).await {
        if !accepted.contains_key(&delivery) {
            return Err((DELIVERED, format!("{delivery} after {attempts} attempts")));
        }
    }
    Ok(())
}
