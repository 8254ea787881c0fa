//! The structured refusals of the flows with named codes (contract, "Errors").

use std::collections::BTreeMap;

use actix_web::http::StatusCode;
use chrono::{DateTime, Utc};
use kontor_kernel::Violations;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

/// What a client does next. The contract has exactly these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum NextAction {
    /// Correct the named fields.
    FixInput,
    /// Stop, and show the request id to the support.
    ContactSupport,
    /// A new attempt with a new nonce.
    Restart,
    /// Keep checking the same attempt.
    Poll,
    /// Wait without a new attempt.
    Wait,
}

/// A refusal with a machine-readable code. The request id is put in where the answer leaves the server.
#[derive(Debug, Clone)]
pub struct NamedError {
    /// The status of the answer.
    pub status: StatusCode,
    /// The machine-readable code; `message` of the body repeats it.
    pub code: &'static str,
    /// The same for people.
    pub message: String,
    /// What the client does next.
    pub next_action: NextAction,
    /// When another try makes sense, in seconds; also sent as `Retry-After`.
    pub retry_after_seconds: Option<u64>,
    /// The wrong fields of a `422`.
    pub errors: Option<Violations>,
    /// A `message` that is not the code, where the contract fixes its text.
    pub fixed_message: Option<Box<str>>,
    /// What else the body tells, by name.
    pub told: Option<Box<(&'static str, Value)>>,
}

impl NamedError {
    /// A refusal without a time to wait and without wrong fields.
    pub fn new(status: StatusCode, code: &'static str, next_action: NextAction, message: impl Into<String>) -> Self {
        let message = message.into();
        let (retry_after_seconds, errors, fixed_message, told) = (None, None, None, None);
        Self { status, code, message, next_action, retry_after_seconds, errors, fixed_message, told }
    }

    /// Wrong fields, in the structured body of a flow with named codes.
    pub fn fix_input(errors: Violations) -> Self {
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        let named = Self::new(status, "invalid_input", NextAction::FixInput, "Some fields are wrong.");
        Self { errors: Some(errors), ..named }
    }

    /// Tells when another try makes sense.
    #[must_use]
    pub fn retry_after(self, seconds: u64) -> Self {
        Self { retry_after_seconds: Some(seconds), ..self }
    }

    /// Tells something else in the body.
    #[must_use]
    pub fn telling(self, name: &'static str, value: Value) -> Self {
        Self { told: Some(Box::new((name, value))), ..self }
    }

    /// The body, `{message, error: {code, message, next_action, retry_after_seconds, request_id}, errors?}`.
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
        if let (Some((name, value)), Some(fields)) = (self.told.as_deref(), body.as_object_mut()) {
            fields.insert((*name).to_owned(), value.clone());
        }
        body
    }
}

/// The body of a structured refusal, for the description.
#[derive(Serialize, ToSchema)]
pub struct NamedErrorBody {
    /// The code again. A refused App Token is told by the same text as everywhere.
    message: String,
    error: NamedErrorDetails,
    /// The wrong fields of a `422`: messages by dotted path.
    #[schema(nullable = false)]
    errors: Option<BTreeMap<String, Vec<String>>>,
    /// What a `412` tells of the record as it is now.
    #[schema(nullable = false)]
    current: Option<CurrentVersion>,
}

/// The version of a record, and where it comes from.
#[derive(Serialize, ToSchema)]
struct CurrentVersion {
    version: Option<i64>,
    /// `null` where no history is kept.
    changed_at: Option<DateTime<Utc>>,
    changed_by: Option<ChangedBy>,
}

/// Who changed a record last. Customers are not told who an employee is.
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
    /// The same as in the header `X-Request-ID`.
    request_id: String,
}
