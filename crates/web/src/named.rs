//! Structured refusals of the flows with named codes (contract, "Errors"), and their log. A limited number of each kind
//! is logged, so that a flood of them cannot fill the log.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use actix_web::http::StatusCode;
use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{Clock, Violations};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::error_codes::{NextAction, is_listed};

/// Refusal with a machine-readable code. The request id is added when the response leaves the server.
#[derive(Debug, Clone)]
pub struct NamedError {
    /// Status of the response.
    pub status: StatusCode,
    /// Machine-readable code, repeated in `message` of the body.
    pub code: &'static str,
    /// Human-readable text.
    pub message: String,
    /// Next action of the client.
    pub next_action: NextAction,
    /// Seconds until a retry makes sense; also sent as `Retry-After`.
    pub retry_after_seconds: Option<u64>,
    /// Wrong fields of a `422`.
    pub errors: Option<Violations>,
    /// `message` that differs from the code, where the contract fixes its text.
    pub fixed_message: Option<Box<str>>,
    /// Additional field of the body, with its name.
    pub details: Option<Box<(&'static str, Value)>>,
}

impl NamedError {
    /// Creates a refusal without a time to wait and without wrong fields. Its code is a row of `ERROR_CODES`.
    pub fn new(status: StatusCode, code: &'static str, next_action: NextAction, message: impl Into<String>) -> Self {
        debug_assert!(is_listed(status.as_u16(), code, next_action), "{status} {code} is missing from ERROR_CODES");
        let message = message.into();
        let (retry_after_seconds, errors, fixed_message, details) = (None, None, None, None);
        Self { status, code, message, next_action, retry_after_seconds, errors, fixed_message, details }
    }

    /// Reports wrong fields in the structured body of a flow with named codes.
    pub fn fix_input(errors: Violations) -> Self {
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        let named = Self::new(status, "invalid_input", NextAction::FixInput, "Some fields are invalid.");
        Self { errors: Some(errors), ..named }
    }

    /// Sets the seconds until a retry makes sense.
    #[must_use]
    pub fn retry_after(self, seconds: u64) -> Self {
        Self { retry_after_seconds: Some(seconds), ..self }
    }

    /// Adds a field to the body.
    #[must_use]
    pub fn with_field(self, name: &'static str, value: Value) -> Self {
        Self { details: Some(Box::new((name, value))), ..self }
    }

    /// Returns the body, `{message, error: {code, message, next_action, retry_after_seconds, request_id}, errors?}`.
    pub fn body(&self, request_id: Option<&str>) -> Value {
        let mut body = json!({
            "message": self.fixed_message.as_deref().unwrap_or(self.code),
            "error": {
                "code": self.code,
                "message": self.message,
                "next_action": self.next_action,
                "retry_after_seconds": self.retry_after_seconds,
                "request_id": request_id,
            },
        });
        if let (Some(errors), Some(fields)) = (&self.errors, body.as_object_mut()) {
            fields.insert("errors".to_owned(), json!(errors.fields()));
        }
        if let (Some((name, value)), Some(fields)) = (self.details.as_deref(), body.as_object_mut()) {
            fields.insert((*name).to_owned(), value.clone());
        }
        body
    }
}

/// Body of a structured error.
#[derive(Serialize, ToSchema)]
pub struct NamedErrorBody {
    /// Same as `error.code`. An invalid App Token has the same text as everywhere.
    message: String,
    error: NamedErrorDetails,
    /// Wrong fields of a `422`: messages by dotted path.
    #[schema(nullable = false)]
    errors: Option<BTreeMap<String, Vec<String>>>,
    /// Current version of the record, in a `412`.
    #[schema(nullable = false)]
    current: Option<CurrentVersion>,
}

/// Version of a record and its origin.
#[derive(Serialize, ToSchema)]
struct CurrentVersion {
    version: Option<i64>,
    /// `null` if the record has no history.
    changed_at: Option<DateTime<Utc>>,
    changed_by: Option<ChangedBy>,
}

/// Author of the last change. Customers do not see the identity of employees.
#[derive(Serialize, ToSchema)]
struct ChangedBy {
    /// `user` (an employee or agent), `counterparty` or `system`
    kind: String,
    id: Option<i64>,
    name: Option<String>,
}

#[derive(Serialize, ToSchema)]
struct NamedErrorDetails {
    code: String,
    message: String,
    next_action: NextAction,
    /// `null` does not mean that a retry makes sense now.
    retry_after_seconds: Option<u64>,
    /// Same as the header `X-Request-ID`.
    request_id: String,
}

const WINDOW: TimeDelta = TimeDelta::minutes(1);
const MAX_PER_KIND: usize = 5;
const MAX_LOGGED: usize = 60;

struct Logged {
    at: DateTime<Utc>,
    stage: String,
    code: &'static str,
}

/// Refusals logged within the last minute.
pub struct RefusalLog {
    clock: Arc<dyn Clock>,
    logged: Mutex<VecDeque<Logged>>,
}

impl RefusalLog {
    /// Creates an empty log.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, logged: Mutex::new(VecDeque::with_capacity(MAX_LOGGED)) }
    }

    /// Logs a refusal of a route, unless the limit of its kind or of all kinds is reached within the last minute.
    pub fn record(&self, stage: &str, refusal: &NamedError, request_id: &str) {
        if self.admits(stage, refusal.code) {
            let (code, status) = (refusal.code, refusal.status.as_u16());
            tracing::warn!(stage, code, status, request_id, "refused");
        }
    }

    /// Returns `true` if one more may be logged, and counts it as logged.
    fn admits(&self, stage: &str, code: &'static str) -> bool {
        let now = self.clock.now();
        // A panic elsewhere leaves a valid list of times behind.
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        // A clock that was set back must not silence the log until it has caught up.
        logged.retain(|entry| entry.at <= now && now - entry.at < WINDOW);
        let of_kind = logged.iter().filter(|entry| entry.stage == stage && entry.code == code).count();
        let admitted = logged.len() < MAX_LOGGED && of_kind < MAX_PER_KIND;
        if admitted {
            logged.push_back(Logged { at: now, stage: stage.to_owned(), code });
        }
        admitted
    }
}

#[cfg(test)]
mod tests {
    use kontor_kernel::FixedClock;

    use super::*;

    fn log() -> (Arc<FixedClock>, RefusalLog) {
        let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
        (clock.clone(), RefusalLog::new(clock))
    }

    fn admitted(log: &RefusalLog, times: usize, stage: &str, code: &'static str) -> usize {
        (0..times).filter(|_| log.admits(stage, code)).count()
    }

    #[test]
    fn five_of_a_kind_pass_within_any_minute() {
        let (clock, log) = log();
        assert_eq!(admitted(&log, 3, "/a", "x"), 3);
        clock.advance(TimeDelta::seconds(59));
        assert_eq!(admitted(&log, 9, "/a", "x"), 2);
        assert_eq!((admitted(&log, 9, "/a", "y"), admitted(&log, 9, "/b", "x")), (5, 5));
        clock.advance(TimeDelta::seconds(1));
        assert_eq!(admitted(&log, 9, "/a", "x"), 3, "the first three are a minute old");
        clock.advance(TimeDelta::seconds(60));
        assert_eq!(admitted(&log, 9, "/a", "x"), 5);
    }

    #[test]
    fn sixty_pass_in_all() {
        let (clock, log) = log();
        let all = (0..20).map(|stage| admitted(&log, 9, &format!("/{stage}"), "x")).sum::<usize>();
        assert_eq!((all, log.logged.lock().unwrap().len()), (60, 60));
        clock.advance(TimeDelta::minutes(1));
        assert_eq!(admitted(&log, 1, "/19", "x"), 1);
        assert_eq!(log.logged.lock().unwrap().len(), 1);
    }

    #[test]
    fn a_clock_set_back_and_a_panic_silence_nothing() {
        let (clock, log) = log();
        assert_eq!(admitted(&log, 9, "/a", "x"), 5);
        clock.advance(TimeDelta::hours(-1));
        assert_eq!(admitted(&log, 9, "/a", "x"), 5);
        let log = Arc::new(log);
        let poisoner = log.clone();
        let _ = std::thread::spawn(move || {
            let _held = poisoner.logged.lock().unwrap();
            panic!("while the log is held");
        })
        .join();
        assert_eq!(admitted(&log, 9, "/b", "x"), 5);
    }
}
