//! Structured refusals of the flows with named codes (contract, "Errors").

use std::collections::BTreeMap;

use actix_web::http::StatusCode;
use chrono::{DateTime, Utc};
use kontor_kernel::Violations;
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
    pub told: Option<Box<(&'static str, Value)>>,
}

impl NamedError {
    /// Creates a refusal without a time to wait and without wrong fields. Its code is a row of `ERROR_CODES`.
    pub fn new(status: StatusCode, code: &'static str, next_action: NextAction, message: impl Into<String>) -> Self {
        debug_assert!(is_listed(status.as_u16(), code, next_action), "{status} {code} is missing from ERROR_CODES");
        let message = message.into();
        let (retry_after_seconds, errors, fixed_message, told) = (None, None, None, None);
        Self { status, code, message, next_action, retry_after_seconds, errors, fixed_message, told }
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
        Self { told: Some(Box::new((name, value))), ..self }
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
        if let (Some((name, value)), Some(fields)) = (self.told.as_deref(), body.as_object_mut()) {
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
