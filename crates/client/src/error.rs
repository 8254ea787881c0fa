//! Errors of calls.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde_json::Value;

words! {
    /// Next action of a client after a refusal.
    pub enum NextAction {
        FixInput = "fix_input",
        ContactSupport = "contact_support",
        Restart = "restart",
        Poll = "poll",
        Wait = "wait",
    }
}

/// Reason why a call failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The service refused the request.
    #[error("{0}")]
    Refused(Box<Refusal>),
    /// There is no response: the service cannot be reached, or the connection broke. A write may have been carried out.
    #[error("no response from the service: {0}")]
    Unreachable(#[source] reqwest::Error),
    /// The response does not match the API description.
    #[error("the response with status {status} cannot be read: {reason}")]
    Unreadable {
        /// HTTP status.
        status: u16,
        /// Position and kind of the difference.
        reason: String,
    },
    /// The request cannot be built, so nothing was sent.
    #[error("the request is invalid: {0}")]
    Invalid(String),
}

impl Error {
    /// Returns the refusal of the service, if it is one.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Refused(refusal) => Some(refusal),
            _ => None,
        }
    }

    /// Returns the HTTP status of the response, if there is one.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Refused(refusal) => Some(refusal.status),
            Self::Unreadable { status, .. } => Some(*status),
            Self::Unreachable(_) | Self::Invalid(_) => None,
        }
    }

    /// Converts an error of the HTTP client. URLs may contain personal data and are left out.
    pub(crate) fn of_http(error: reqwest::Error) -> Self {
        let error = error.without_url();
        if error.is_builder() {
            let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
            return Self::Invalid(format!("{error}{cause}"));
        }
        Self::Unreachable(error)
    }
}

/// Refusal of the service.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// HTTP status.
    pub status: u16,
    /// Code, for refusals that programs distinguish.
    pub code: Option<String>,
    /// Reason in words. Empty if the response has none, such as that of a proxy.
    pub message: String,
    /// Messages by dotted path of each invalid field.
    pub fields: BTreeMap<String, Vec<String>>,
    /// Next action, for refusals with a code.
    pub next_action: Option<NextAction>,
    /// Time until a retry makes sense.
    pub retry_after: Option<Duration>,
    /// Identifier of the request in the log of the service.
    pub request_id: Option<String>,
    /// Body of the response. `null` if it is not JSON.
    pub body: Value,
}

impl Refusal {
    /// Reads a response. Every part may be missing: a proxy answers in its own form.
    pub(crate) fn read(status: u16, headers: &HeaderMap, body: &[u8]) -> Self {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let text = |pointer: &str| body.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        let seconds = header(headers, RETRY_AFTER.as_str()).and_then(|value| value.parse().ok());
        let seconds = seconds.or_else(|| body.pointer("/error/retry_after_seconds").and_then(Value::as_u64));
        let fields = body.get("errors").cloned().and_then(|errors| serde_json::from_value(errors).ok());
        Self {
            status,
            code: text("/error/code"),
            message: text("/error/message").or_else(|| text("/message")).unwrap_or_default(),
            fields: fields.unwrap_or_default(),
            next_action: text("/error/next_action").map(|word| NextAction::from(word.as_str())),
            retry_after: seconds.map(Duration::from_secs),
            request_id: header(headers, "x-request-id").or_else(|| text("/error/request_id")),
            body,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.status)?;
        if let Some(code) = &self.code {
            write!(f, " {code}")?;
        }
        if !self.message.is_empty() {
            write!(f, ": {}", self.message)?;
        }
        for (field, messages) in &self.fields {
            write!(f, "; {field}: {}", messages.join(", "))?;
        }
        match &self.request_id {
            Some(id) => write!(f, " (request {id})"),
            None => Ok(()),
        }
    }
}

/// Returns a header as text.
pub(crate) fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}
