//! `GET /v3/payments`, `GET /v3/refunds` and `GET /v3/receipts`: filters and pages, newest first.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::ledger::Ledger;
use super::payment::Status;
use super::receipt::About;
use super::refusal::Refusal;
use super::view;
use crate::bounded::Bounded;

/// Query parameters of a list.
pub struct Query(pub HashMap<String, String>);

/// A time interval given by the parameters `NAME.gte`, `.gt`, `.lte` and `.lt`.
struct Interval(Vec<(&'static str, DateTime<Utc>)>);

impl Interval {
    fn contains(&self, moment: Option<DateTime<Utc>>) -> bool {
        self.0.iter().all(|(bound, at)| {
            moment.is_some_and(|moment| match *bound {
                "gte" => moment >= *at,
                "gt" => moment > *at,
                "lte" => moment <= *at,
                _ => moment < *at,
            })
        })
    }
}

impl Query {
    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    fn matches(&self, name: &str, value: Option<&str>) -> bool {
        self.get(name).is_none_or(|wanted| value == Some(wanted))
    }

    fn limit(&self) -> Result<usize, Refusal> {
        self.get("limit").map_or(Ok(10), |text| {
            text.parse().ok().filter(|limit| (1..=100).contains(limit)).ok_or_else(|| wrong("limit"))
        })
    }

    fn interval(&self, name: &str) -> Result<Interval, Refusal> {
        let mut bounds = Vec::new();
        for bound in ["gte", "gt", "lte", "lt"] {
            let parameter = format!("{name}.{bound}");
            if let Some(text) = self.get(&parameter) {
                // An unencoded plus sign of a time zone arrives as a space.
                let at = DateTime::parse_from_rfc3339(&text.replace(' ', "+")).map_err(|_| wrong(&parameter))?;
                bounds.push((bound, at.to_utc()));
            }
        }
        Ok(Interval(bounds))
    }
}

fn wrong(parameter: &str) -> Refusal {
    Refusal::invalid("Invalid request parameter").at(parameter)
}

/// Returns a page of payments.
pub fn payments(ledger: &Ledger, query: &Query) -> Result<Value, Refusal> {
    let (created, captured) = (query.interval("created_at")?, query.interval("captured_at")?);
    let captured_at = |status: Status| match status {
        Status::Succeeded { captured_at, .. } => Some(captured_at),
        _ => None,
    };
    page(
        &ledger.payments,
        query,
        |payment| {
            query.matches("status", Some(payment.status.name()))
                && query.matches("payment_method", payment.method.as_ref().map(|method| method.kind.name()))
                && created.contains(Some(payment.created_at))
                && captured.contains(captured_at(payment.status))
        },
        |payment| (payment.id.clone(), view::payment(payment, &ledger.shop)),
    )
}

/// Returns a page of refunds.
pub fn refunds(ledger: &Ledger, query: &Query) -> Result<Value, Refusal> {
    let created = query.interval("created_at")?;
    page(
        &ledger.refunds,
        query,
        |refund| {
            query.matches("status", Some(refund.status.name()))
                && query.matches("payment_id", Some(&refund.payment_id))
                && created.contains(Some(refund.created_at))
        },
        |refund| (refund.id.clone(), view::refund(refund)),
    )
}

/// Returns a page of receipts.
pub fn receipts(ledger: &Ledger, query: &Query) -> Result<Value, Refusal> {
    let created = query.interval("created_at")?;
    page(
        &ledger.receipts,
        query,
        |receipt| {
            let (payment, refund) = match &receipt.order.about {
                About::Payment(id) => (Some(id.as_str()), None),
                About::Refund(id) => (None, Some(id.as_str())),
            };
            query.matches("status", Some(receipt.state.name()))
                && query.matches("payment_id", payment)
                && query.matches("refund_id", refund)
                && created.contains(Some(receipt.created_at))
        },
        |receipt| (receipt.id.clone(), view::receipt(receipt)),
    )
}

fn page<T>(
    shelf: &Bounded<T>,
    query: &Query,
    keep: impl Fn(&T) -> bool,
    show: impl Fn(&T) -> (String, Value),
) -> Result<Value, Refusal> {
    let limit = query.limit()?;
    let mut found: Vec<_> = match query.get("cursor") {
        None => shelf.newest().filter(|item| keep(item)).take(limit + 1).map(show).collect(),
        Some(cursor) => {
            let older = shelf.older_than(cursor).ok_or_else(|| wrong("cursor"))?;
            older.filter(|item| keep(item)).take(limit + 1).map(show).collect()
        }
    };
    let more = found.len() > limit;
    found.truncate(limit);
    let last = found.last().map(|(id, _)| id.clone());
    let items: Vec<_> = found.into_iter().map(|(_, view)| view).collect();
    let mut answer = json!({ "type": "list", "items": items });
    if let (true, Some(last), Value::Object(fields)) = (more, last, &mut answer) {
        fields.insert("next_cursor".to_owned(), last.into());
    }
    Ok(answer)
}
