//! Idempotence keys: a repeated request within 24 hours gets the outcome of the first. Also a log of the requests to
//! charge a saved method, served or not.

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;

use actix_web::HttpRequest;
use actix_web::dev::ServiceRequest;
use actix_web::http::Method;
use actix_web::web::Bytes;
use chrono::{DateTime, TimeDelta, Utc};
use ring::digest::{Context, SHA256};
use serde_json::{Value, json};

use super::api::Refusal;
use crate::faults::FaultKind;
use crate::state::{SandboxState, keep_newest, lock, moment};

/// Time a key is kept after its first request.
const WINDOW: TimeDelta = TimeDelta::hours(24);
const MAX_KEY_LENGTH: usize = 64;

/// Digest of a request's method, path and data.
pub type Fingerprint = [u8; 32];

/// Checks the form of an idempotence key.
pub fn check(key: Option<&str>) -> Result<&str, Refusal> {
    let refuse = |description: &str| Err(Refusal::invalid(description).at("Idempotence-Key"));
    match key.map(str::trim) {
        None | Some("") => refuse("Idempotence key is empty"),
        Some(key) if key.len() > MAX_KEY_LENGTH => refuse("Idempotence key is too long. Max. length is 64"),
        Some(key) => Ok(key),
    }
}

/// Digests a request. The order of object keys does not matter.
pub fn fingerprint(method: &str, path: &str, body: Option<&Value>) -> Fingerprint {
    let mut digest = Context::new(&SHA256);
    digest.update(format!("{method} {path}\n").as_bytes());
    if let Some(body) = body {
        feed(&mut digest, body);
    }
    let mut fingerprint = [0; 32];
    fingerprint.copy_from_slice(digest.finish().as_ref());
    fingerprint
}

fn feed(digest: &mut Context, value: &Value) {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            digest.update(b"{");
            for (name, value) in fields {
                digest.update(format!("{name:?}:").as_bytes());
                feed(digest, value);
            }
            digest.update(b"}");
        }
        Value::Array(items) => {
            digest.update(b"[");
            for item in items {
                feed(digest, item);
            }
            digest.update(b"]");
        }
        scalar => digest.update(format!("{scalar},").as_bytes()),
    }
}

struct Entry<T> {
    fingerprint: Fingerprint,
    first_seen: DateTime<Utc>,
    outcome: T,
}

/// Recent keys, each with the outcome of its first request.
pub struct Keys<T> {
    capacity: usize,
    entries: HashMap<String, Entry<T>>,
    /// Keys by age, for expiry.
    order: VecDeque<(DateTime<Utc>, String)>,
}

impl<T: Clone> Keys<T> {
    pub fn new(capacity: usize) -> Self {
        Self { capacity: capacity.max(1), entries: HashMap::new(), order: VecDeque::new() }
    }

    /// Returns the outcome of the first request with this key, if there was one. Refuses a key used for other data.
    pub fn replay(&self, key: &str, fingerprint: &Fingerprint, now: DateTime<Utc>) -> Result<Option<T>, Refusal> {
        match self.entries.get(key).filter(|entry| now - entry.first_seen < WINDOW) {
            None => Ok(None),
            Some(entry) if entry.fingerprint == *fingerprint => Ok(Some(entry.outcome.clone())),
            Some(_) => Err(Refusal::invalid("Duplicate idempotence key").at("Idempotence-Key")),
        }
    }

    /// Stores the outcome of the first request with this key.
    pub fn remember(&mut self, key: &str, fingerprint: Fingerprint, now: DateTime<Utc>, outcome: T) {
        while let Some((first_seen, _)) = self.order.front() {
            if now - *first_seen < WINDOW && self.order.len() < self.capacity {
                break;
            }
            self.forget_oldest();
        }
        self.order.push_back((now, key.to_owned()));
        self.entries.insert(key.to_owned(), Entry { fingerprint, first_seen: now, outcome });
    }

    fn forget_oldest(&mut self) {
        if let Some((first_seen, key)) = self.order.pop_front()
            && self.entries.get(&key).is_some_and(|entry| entry.first_seen == first_seen)
        {
            self.entries.remove(&key);
        }
    }
}

/// Outcome of a request.
pub struct Outcome<'a> {
    /// The payment at that time, or the refusal. `None` when a fault came before the work.
    pub result: Option<&'a Result<Value, Refusal>>,
    /// `true` if the request repeated an earlier one.
    pub repeated: bool,
    /// Fault that hit the request.
    pub fault: Option<FaultKind>,
}

struct LoggedCharge {
    method_id: String,
    view: Value,
}

/// The latest requests to charge saved methods.
pub struct ChargeLog {
    capacity: usize,
    entries: Mutex<VecDeque<LoggedCharge>>,
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
        keep_newest(&mut lock(&self.entries), self.capacity, LoggedCharge { method_id: method_id.to_owned(), view });
    }

    /// Returns the latest requests, of one method or of all, newest first.
    pub fn newest(&self, method_id: Option<&str>, most: usize) -> Vec<Value> {
        let entries = lock(&self.entries);
        let wanted = entries.iter().rev().filter(|entry| method_id.is_none_or(|id| entry.method_id == id));
        wanted.take(most).map(|entry| entry.view.clone()).collect()
    }
}

/// Records a request that a fault keeps from being served.
pub async fn note_unserved(call: &mut ServiceRequest, fault: FaultKind, sandbox_state: &SandboxState) {
    if call.method() != Method::POST || call.path() != "/v3/payments" {
        return;
    }
    if let Ok(body) = call.extract::<Bytes>().await {
        let outcome = Outcome { result: None, repeated: false, fault: Some(fault) };
        sandbox_state.acquirer.charges.note(call.request(), &body, sandbox_state.now(), &outcome);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const START: DateTime<Utc> = DateTime::UNIX_EPOCH;

    #[test]
    fn a_key_replays_for_a_day_and_refuses_other_data() {
        let mut keys = Keys::new(10);
        let (one, other) =
            (fingerprint("POST", "/v3/payments", None), fingerprint("POST", "/v3/payments", Some(&json!({}))));
        assert_eq!(keys.replay("k", &one, START), Ok(None));
        keys.remember("k", one, START, 1);
        let almost = START + WINDOW - TimeDelta::seconds(1);
        assert_eq!(keys.replay("k", &one, almost), Ok(Some(1)));
        assert_eq!(keys.replay("k", &other, almost).unwrap_err().description, "Duplicate idempotence key");
        assert_eq!(keys.replay("k", &other, START + WINDOW), Ok(None));
    }

    #[test]
    fn a_key_used_again_after_a_day_is_a_new_key() {
        let mut keys = Keys::new(10);
        let (one, other) = (fingerprint("POST", "/a", None), fingerprint("POST", "/b", None));
        keys.remember("k", one, START, 1);
        keys.remember("k", other, START + WINDOW, 2);
        keys.remember("l", one, START + WINDOW, 3);
        assert_eq!(keys.replay("k", &other, START + WINDOW), Ok(Some(2)));
    }

    #[test]
    fn the_oldest_keys_are_evicted() {
        let mut keys = Keys::new(2);
        let print = fingerprint("POST", "/", None);
        for key in ["a", "b", "c"] {
            keys.remember(key, print, START, 0);
        }
        assert_eq!(keys.replay("a", &print, START), Ok(None));
        assert_eq!(keys.replay("c", &print, START), Ok(Some(0)));
        assert!(keys.order.len() <= 2);
    }

    #[test]
    fn the_order_of_fields_is_no_difference_but_their_nesting_is() {
        let print = |body: Value| fingerprint("POST", "/", Some(&body));
        let text: Value = serde_json::from_str(r#"{"b":[1,2],"a":"x"}"#).unwrap();
        assert_eq!(print(text), print(json!({ "a": "x", "b": [1, 2] })));
        assert_ne!(print(json!({ "a": [[1], 2] })), print(json!({ "a": [[1, 2]] })));
        assert_ne!(print(json!({ "a": "1" })), print(json!({ "a": 1 })));
    }

    #[test]
    fn keys_have_a_form() {
        assert_eq!(check(None).unwrap_err().description, "Idempotence key is empty");
        assert!(check(Some(&"k".repeat(65))).is_err());
        assert_eq!(check(Some("6c1d-9")), Ok("6c1d-9"));
    }
}
