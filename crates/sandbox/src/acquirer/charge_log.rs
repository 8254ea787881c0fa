//! A log of the requests to charge a saved method, served or not.

use std::collections::VecDeque;
use std::sync::Mutex;

use actix_web::HttpRequest;
use actix_web::dev::ServiceRequest;
use actix_web::http::Method;
use actix_web::web::Bytes;
use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::refusal::Refusal;
use crate::bounded::keep_newest;
use crate::faults::FaultKind;
use crate::state::{World, lock, moment};

/// Outcome of a request.
pub struct Outcome<'a> {
    /// The payment at that time, or the refusal. `None` when a fault came before the work.
    pub result: Option<&'a Result<Value, Refusal>>,
    /// `true` if the request repeated an earlier one.
    pub repeated: bool,
    /// Fault that hit the request.
    pub fault: Option<FaultKind>,
}

struct Entry {
    method_id: String,
    view: Value,
}

/// The latest requests to charge saved methods.
pub struct ChargeLog {
    capacity: usize,
    entries: Mutex<VecDeque<Entry>>,
}

impl ChargeLog {
    pub fn new(capacity: usize) -> Self {
        Self { capacity: capacity.max(1), entries: Mutex::new(VecDeque::new()) }
    }

    /// Records a request for a payment if it names a saved method.
    pub fn note(&self, call: &HttpRequest, body: &[u8], at: DateTime<Utc>, outcome: &Outcome<'_>) {
        let fields: Value = serde_json::from_slice(body).unwrap_or_default();
        let Some(method_id) = fields.get("payment_method_id").and_then(Value::as_str) else { return };
        let key = call.headers().get("idempotence-key").and_then(|key| key.to_str().ok());
        let (status, reason, payment_id) = match outcome.result {
            None => (Value::from("none"), Value::Null, Value::Null),
            Some(Ok(payment)) => {
                let shown = |pointer| payment.pointer(pointer).cloned().unwrap_or_default();
                (shown("/status"), shown("/cancellation_details/reason"), shown("/id"))
            }
            Some(Err(refusal)) => ("refused".into(), refusal.description.as_str().into(), Value::Null),
        };
        let view = json!({
            "at": moment(at),
            "payment_method_id": method_id,
            "idempotence_key": key,
            "amount": fields.get("amount"),
            "metadata": fields.get("metadata"),
            "outcome": status,
            "reason": reason,
            "payment_id": payment_id,
            "repeated": outcome.repeated,
            "fault": outcome.fault.map(FaultKind::name),
        });
        keep_newest(&mut lock(&self.entries), self.capacity, Entry { method_id: method_id.to_owned(), view });
    }

    /// Returns the latest requests, of one method or of all, newest first.
    pub fn newest(&self, method_id: Option<&str>, most: usize) -> Vec<Value> {
        let entries = lock(&self.entries);
        let wanted = entries.iter().rev().filter(|entry| method_id.is_none_or(|id| entry.method_id == id));
        wanted.take(most).map(|entry| entry.view.clone()).collect()
    }
}

/// Records a request that a fault keeps from being served.
pub async fn note_unserved(call: &mut ServiceRequest, fault: FaultKind, world: &World) {
    if call.method() != Method::POST || call.path() != "/v3/payments" {
        return;
    }
    if let Ok(body) = call.extract::<Bytes>().await {
        let outcome = Outcome { result: None, repeated: false, fault: Some(fault) };
        world.acquirer.charges.note(call.request(), &body, world.now(), &outcome);
    }
}
