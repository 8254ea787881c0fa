//! Errors of calls.

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, SystemTime};

use chrono::{DateTime, Utc};
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
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
    /// The call of an agent waits for the approval of an employee. Nothing is changed yet. After the approval, the same
    /// call under the same key returns the result.
    #[error("the call waits for approval: agent action {id}")]
    WaitsForApproval {
        /// Public id of the agent action.
        id: String,
        /// Idempotency key of the call.
        key: Option<String>,
    },
    /// There is no response: the service cannot be reached, or the connection broke. A write may have been carried out.
    #[error("no response from the service: {source}")]
    Unreachable {
        /// Error of the HTTP client.
        source: reqwest::Error,
        /// Idempotency key of the call.
        key: Option<String>,
    },
    /// The response does not match the API description.
    #[error("the response with status {status} cannot be read: {reason}")]
    Unreadable {
        /// HTTP status.
        status: u16,
        /// Position and kind of the difference.
        reason: String,
        /// Idempotency key of the call.
        key: Option<String>,
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
            Self::WaitsForApproval { .. } => Some(202),
            Self::Unreadable { status, .. } => Some(*status),
            Self::Unreachable { .. } | Self::Invalid(_) => None,
        }
    }

    /// Returns the idempotency key of the call, if it was sent with one.
    ///
    /// A write without a clear outcome may have been carried out. Repeated under its key, it is not carried out twice:
    ///
    /// ```no_run
    /// # use kontor_client::{ClientSurface, Error};
    /// # use kontor_client::types::NewOrder;
    /// # async fn order(customer: &ClientSurface, order: &NewOrder) -> Result<(), Error> {
    /// let placed = match customer.place_order(order).await {
    ///     Ok(placed) => placed,
    ///     Err(error) => {
    ///         let is_unclear = error.refusal().is_none_or(|refusal| refusal.status >= 500);
    ///         match error.key() {
    ///             // To repeat it in another process, store the key.
    ///             Some(key) if is_unclear => customer.place_order(order).idempotency_key(key).await?,
    ///             _ => return Err(error),
    ///         }
    ///     }
    /// };
    /// println!("{}", placed.order.id);
    /// # Ok(())
    /// # }
    /// ```
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::Refused(refusal) => refusal.key.as_deref(),
            Self::WaitsForApproval { key, .. } | Self::Unreachable { key, .. } | Self::Unreadable { key, .. } => {
                key.as_deref()
            }
            Self::Invalid(_) => None,
        }
    }

    /// Reads a response with `202`. That to a call which waits for approval has the action instead of a record.
    pub(crate) fn waiting(body: &[u8], key: Option<&str>) -> Option<Self> {
        let body: Value = serde_json::from_slice(body).ok()?;
        let id = body.pointer("/agentAction/publicId")?.as_str()?.to_owned();
        Some(Self::WaitsForApproval { id, key: key.map(str::to_owned) })
    }

    /// Converts an error of the HTTP client. URLs may contain personal data and are left out.
    pub(crate) fn of_http(error: reqwest::Error, key: Option<&str>) -> Self {
        let error = error.without_url();
        if error.is_builder() {
            let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
            return Self::Invalid(format!("{error}{cause}"));
        }
        Self::Unreachable { source: error, key: key.map(str::to_owned) }
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
    /// Idempotency key of the call.
    pub key: Option<String>,
    /// Body of the response. `null` if it is not JSON.
    pub body: Value,
}

impl Refusal {
    /// Reads a response. Every part may be missing: a proxy answers in its own form.
    pub(crate) fn read(status: u16, headers: &HeaderMap, body: &[u8], key: Option<&str>) -> Self {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let text = |pointer: &str| body.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        let seconds = body.pointer("/error/retry_after_seconds").and_then(Value::as_u64);
        let fields = body.get("errors").cloned().and_then(|errors| serde_json::from_value(errors).ok());
        Self {
            status,
            code: text("/error/code"),
            message: text("/error/message").or_else(|| text("/message")).unwrap_or_default(),
            fields: fields.unwrap_or_default(),
            next_action: text("/error/next_action").map(|word| NextAction::from(word.as_str())),
            retry_after: retry_after(headers).or_else(|| seconds.map(Duration::from_secs)),
            request_id: header(headers, "x-request-id").or_else(|| text("/error/request_id")),
            key: key.map(str::to_owned),
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

/// Returns the time in `Retry-After`: seconds, or a date, which is compared with the date of the response. Other texts
/// are ignored.
#[expect(clippy::disallowed_methods, reason = "a client has no ports")]
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = header(headers, RETRY_AFTER.as_str())?;
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = |text: String| DateTime::parse_from_rfc2822(&text).ok().map(|date| date.to_utc());
    let until: DateTime<Utc> = date(value)?;
    let now = header(headers, DATE.as_str()).and_then(date).unwrap_or_else(|| SystemTime::now().into());
    Some((until - now).to_std().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    #[test]
    fn a_time_to_retry_is_a_number_or_a_date() {
        for (value, seconds) in [
            ("7", Some(7)),
            ("Sun, 06 Nov 1994 08:49:44 GMT", Some(7)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("soon", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(DATE, HeaderValue::from_static("Sun, 06 Nov 1994 08:49:37 GMT"));
            headers.insert(RETRY_AFTER, HeaderValue::from_static(value));
            let refusal = Refusal::read(429, &headers, b"", None);
            assert_eq!(refusal.retry_after, seconds.map(Duration::from_secs), "{value}");
        }
        // A date without the date of the response is compared with the clock.
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, HeaderValue::from_static("Sun, 06 Nov 1994 08:49:37 GMT"));
        assert_eq!(Refusal::read(429, &headers, b"", None).retry_after, Some(Duration::ZERO));
    }
}
