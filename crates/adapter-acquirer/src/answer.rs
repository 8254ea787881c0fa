//! Interpretation of the acquirer's responses.

use std::time::Duration;

use kontor_payments::model::GatewayPayment;
use kontor_payments::ports::{Answer, Reading};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::wire::{self, ErrorObject};

/// Status and complete body, or the reason why there is none.
pub(crate) enum Exchange {
    /// The acquirer responded.
    Answered { status: u16, body: Vec<u8> },
    /// The connection failed, so no request was sent.
    NotSent(String),
    /// The request may have arrived.
    Lost(String),
}

/// Message of the acquirer for a key that is used with another body: an earlier request with this key exists.
const KEY_IN_USE: &str = "duplicate idempotence key";

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, String> {
    serde_json::from_slice(body).map_err(|error| format!("the response cannot be parsed: {error}"))
}

/// Returns the outcome of a payment request.
pub(crate) fn created(exchange: Exchange) -> Answer<GatewayPayment> {
    let unknown = |why| Answer::Unknown { why, retry_after: None };
    let (status, body) = match exchange {
        Exchange::NotSent(why) => return Answer::Refused { code: "unreachable".to_owned(), description: why },
        Exchange::Lost(why) => return unknown(why),
        Exchange::Answered { status, body } => (status, body),
    };
    if status == 200 {
        return match parse::<Value>(&body).and_then(wire::payment) {
            Ok(payment) => Answer::Known(payment),
            Err(why) => unknown(why),
        };
    }
    match refusal(status, &body) {
        Refusal::Final { code, description } => Answer::Refused { code, description },
        Refusal::Open { why, retry_after } => Answer::Unknown { why, retry_after },
    }
}

/// Meaning of a response other than `200` to a request with side effects.
enum Refusal {
    /// The request was rejected.
    Final { code: String, description: String },
    /// The request may have been executed, or may still be.
    Open { why: String, retry_after: Option<Duration> },
}

fn refusal(status: u16, body: &[u8]) -> Refusal {
    // An error without details is reported by its status.
    let error: ErrorObject = parse(body).unwrap_or_default();
    let description = error.description.unwrap_or_default();
    let code = error.code.unwrap_or_else(|| format!("http_{status}"));
    let retry_after = error.retry_after.map(Duration::from_millis);
    match status {
        400 if description.to_lowercase().contains(KEY_IN_USE) => Refusal::Open { why: description, retry_after: None },
        408 | 409 | 425 | 429 => Refusal::Open { why: code, retry_after },
        400..=499 => Refusal::Final { code, description },
        _ => Refusal::Open { why: format!("http {status} {code}"), retry_after },
    }
}

/// Returns the outcome of a refund or receipt request. No customer waits for it, so a request that was not sent is sent
/// again.
pub(crate) fn asked<T>(exchange: Exchange, object: impl Fn(Value) -> Result<T, String>) -> Answer<T> {
    let unknown = |why| Answer::Unknown { why, retry_after: None };
    let (status, body) = match exchange {
        Exchange::NotSent(why) | Exchange::Lost(why) => return unknown(why),
        Exchange::Answered { status: 200, body } => {
            return match parse::<Value>(&body).and_then(object) {
                Ok(known) => Answer::Known(known),
                Err(why) => unknown(why),
            };
        }
        Exchange::Answered { status, body } => (status, body),
    };
    match refusal(status, &body) {
        Refusal::Final { code, description } => Answer::Refused { code, description },
        Refusal::Open { why, retry_after } => Answer::Unknown { why, retry_after },
    }
}

/// Returns the outcome of reading a payment, a refund or a receipt.
pub(crate) fn read<T>(exchange: Exchange, object: impl Fn(Value) -> Result<T, String>) -> Reading<T> {
    match exchange {
        Exchange::NotSent(why) | Exchange::Lost(why) => Reading::Unknown { why },
        Exchange::Answered { status: 404, body } if is_not_found(&body) => Reading::Absent,
        Exchange::Answered { status: 200, body } => match parse(&body).and_then(object) {
            Ok(found) => Reading::Known(found),
            Err(why) => Reading::Unknown { why },
        },
        Exchange::Answered { status, .. } => Reading::Unknown { why: format!("http {status}") },
    }
}

/// Returns `true` for the acquirer's own error, not that of a proxy in between.
fn is_not_found(body: &[u8]) -> bool {
    parse::<ErrorObject>(body).is_ok_and(|error| error.code.as_deref() == Some("not_found"))
}

/// Returns a page of a list, or the reason why there is none.
pub(crate) fn list(exchange: Exchange) -> Result<wire::ObjectList, String> {
    match exchange {
        Exchange::Answered { status: 200, body } => parse(&body),
        Exchange::Answered { status, .. } => Err(format!("http {status}")),
        Exchange::NotSent(why) | Exchange::Lost(why) => Err(why),
    }
}
