//! Mapping from refusals to HTTP responses.

use std::convert::Infallible;
use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use actix_web::{HttpResponse, ResponseError};
use kontor_adapter_diesel::MOVING;
use kontor_auth::model::PermissionsNotHeld;
use kontor_kernel::{AccessDenied, ChangesError, Quota, ReadError, RecordError, Refusal, StoreError, Violations};
use serde_json::json;

use super::{NamedError, NextAction};

const OVERLOADED: &str = "The service is overloaded. Try again later.";

/// Message for changes of a project that is moved to another database.
const PROJECT_MOVING: &str = "The project is being moved to another database. Nothing was changed. Try again later.";

/// Message for a storage connection lost during a commit. The outcome is unknown, so it must not claim that nothing
/// happened.
const OUTCOME_UNKNOWN: &str = "The database connection was lost during the commit, so the change may have been stored. \
                               Read the record before you retry.";

/// Every error response of a handler. Bodies follow the contract's "Errors".
#[derive(Debug)]
pub enum ApiError {
    /// `{message}` with a status.
    Message(StatusCode, String),
    /// `422 {message, errors}`
    Invalid(Violations),
    /// `429` with `Retry-After` and the state of the counter.
    Throttled(Quota),
    /// `503 {message}` with `Retry-After`: too many requests at once.
    Overloaded(Duration),
    /// `401 {message}` with a challenge for Basic credentials.
    Challenge(&'static str),
    /// Structured body of the flows with named codes.
    Named(NamedError),
}

impl ApiError {
    /// `400`: well formed, but not valid in this flow.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::Message(StatusCode::BAD_REQUEST, message.into())
    }

    /// `401`
    pub fn unauthenticated(message: impl Into<String>) -> Self {
        Self::Message(StatusCode::UNAUTHORIZED, message.into())
    }

    /// `403`
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::Message(StatusCode::FORBIDDEN, message.into())
    }

    /// `404`, the same for an absent record and a hidden one.
    pub fn not_found() -> Self {
        Self::Message(StatusCode::NOT_FOUND, "Not found.".to_owned())
    }

    /// `422` for one field.
    pub fn invalid(field: &str, message: impl ToString) -> Self {
        Self::Invalid(Violations::single(field, message))
    }

    /// `500`. The reason goes to the log only.
    pub fn internal(error: &dyn std::fmt::Display) -> Self {
        tracing::error!(%error, "request failed");
        Self::Message(StatusCode::INTERNAL_SERVER_ERROR, "Server Error".to_owned())
    }
}

impl NamedError {
    /// Converts the refusal of an App Token in a flow with named codes. Its `message` is fixed; the structured error is
    /// added to it.
    pub fn of_application(error: ApiError) -> ApiError {
        match error {
            ApiError::Message(StatusCode::UNAUTHORIZED, text) => {
                let named =
                    Self::new(StatusCode::UNAUTHORIZED, "application_token_invalid", NextAction::ContactSupport, &text);
                ApiError::Named(Self { fixed_message: Some(text.into()), ..named })
            }
            error => error,
        }
    }

    /// Converts an error in a flow with named codes, so that wrong fields also use the structured body.
    pub fn into_structured(error: ApiError) -> ApiError {
        match error {
            ApiError::Invalid(errors) => ApiError::Named(Self::fix_input(errors)),
            error => error,
        }
    }
}

impl From<AccessDenied> for ApiError {
    fn from(denied: AccessDenied) -> Self {
        let message = match denied {
            AccessDenied::MissingPermission(permission) => {
                format!("This action is unauthorized: the permission {permission} is missing.")
            }
            AccessDenied::ForeignProject => "This action is unauthorized.".to_owned(),
        };
        Self::Message(StatusCode::FORBIDDEN, message)
    }
}

impl From<PermissionsNotHeld> for ApiError {
    fn from(denied: PermissionsNotHeld) -> Self {
        Self::Message(StatusCode::FORBIDDEN, format!("This action is unauthorized: {denied}."))
    }
}

impl From<ChangesError> for ApiError {
    fn from(error: ChangesError) -> Self {
        match error {
            ChangesError::Denied(denied) => denied.into(),
            ChangesError::Cursor(refusal) => Self::invalid("cursor", refusal),
            ChangesError::Store(error) => error.into(),
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable(reason) => {
                tracing::warn!(%reason, "database unavailable");
                let message = if reason.contains(MOVING) { PROJECT_MOVING } else { OVERLOADED };
                Self::Message(StatusCode::SERVICE_UNAVAILABLE, message.to_owned())
            }
            // `web::idempotency` replaces this response by that of the other request.
            StoreError::KeyTaken => Self::Message(StatusCode::SERVICE_UNAVAILABLE, OVERLOADED.to_owned()),
            StoreError::OutcomeUnknown(reason) => {
                tracing::error!(%reason, "the outcome of a commit is unknown");
                Self::Message(StatusCode::SERVICE_UNAVAILABLE, OUTCOME_UNKNOWN.to_owned())
            }
            error => Self::internal(&error),
        }
    }
}

impl From<ReadError> for ApiError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::NotFound => Self::not_found(),
            ReadError::Store(error) => error.into(),
        }
    }
}

impl From<NamedError> for ApiError {
    fn from(named: NamedError) -> Self {
        Self::Named(named)
    }
}

impl From<Infallible> for ApiError {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

/// Conversion of the refusals that all records share. A resource adds only its own.
impl<R: Refusal + Into<Self>> From<RecordError<R>> for ApiError {
    fn from(error: RecordError<R>) -> Self {
        match error {
            RecordError::Denied(denied) => denied.into(),
            RecordError::NotFound => Self::not_found(),
            RecordError::Refused(refusal) => refusal.into(),
            RecordError::Store(error) => error.into(),
        }
    }
}

impl From<Violations> for ApiError {
    fn from(violations: Violations) -> Self {
        Self::Invalid(violations)
    }
}

impl std::fmt::Display for ApiError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Message(status, message) => write!(f, "{status}: {message}"),
            Self::Invalid(violations) => write!(f, "422: {:?}", violations.fields()),
            Self::Throttled(_) => f.write_str("429"),
            Self::Overloaded(_) => f.write_str("503"),
            Self::Challenge(message) => write!(f, "401: {message}"),
            Self::Named(named) => write!(f, "{}: {}", named.status, named.code),
        }
    }
}

/// Returns the headers with the state of a counter, named as in Laravel's throttle.
pub fn quota_headers(quota: &Quota) -> [(HeaderName, HeaderValue); 2] {
    [
        (HeaderName::from_static("x-ratelimit-limit"), HeaderValue::from(quota.limit)),
        (HeaderName::from_static("x-ratelimit-remaining"), HeaderValue::from(quota.remaining)),
    ]
}

impl ResponseError for ApiError {
    fn status_code(&self) -> StatusCode {
        match self {
            Self::Message(status, _) => *status,
            Self::Invalid(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Challenge(_) => StatusCode::UNAUTHORIZED,
            Self::Throttled(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Overloaded(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Named(named) => named.status,
        }
    }

    fn error_response(&self) -> HttpResponse {
        let mut response = HttpResponse::build(self.status_code());
        match self {
            Self::Message(_, message) => response.json(json!({ "message": message })),
            Self::Invalid(violations) => {
                let first = violations.fields().iter().next();
                let message = first.and_then(|(field, messages)| Some(format!("{field} {}", messages.first()?)));
                response.json(json!({ "message": message, "errors": violations.fields() }))
            }
            Self::Throttled(quota) => {
                for header in quota_headers(quota) {
                    response.insert_header(header);
                }
                response.insert_header((RETRY_AFTER, seconds_to_wait(quota).to_string()));
                response.json(json!({ "message": "Too Many Attempts." }))
            }
            Self::Overloaded(wait) => {
                response.insert_header((RETRY_AFTER, whole_seconds(*wait).to_string()));
                response.json(json!({ "message": OVERLOADED }))
            }
            Self::Challenge(message) => {
                response.insert_header((WWW_AUTHENTICATE, "Basic realm=\"introspection\", charset=\"UTF-8\""));
                response.json(json!({ "message": message }))
            }
            Self::Named(named) => {
                if let Some(seconds) = named.retry_after_seconds {
                    response.insert_header((RETRY_AFTER, seconds.to_string()));
                }
                response.json(named.body(None))
            }
        }
    }
}

/// Rounds a waiting time up to whole seconds, at least one, so that a retry after it is not too early.
pub fn whole_seconds(wait: Duration) -> u64 {
    u64::try_from(wait.as_millis().div_ceil(1000)).unwrap_or(u64::MAX).max(1)
}

/// Returns the time until the quota resets, in whole seconds.
pub fn seconds_to_wait(quota: &Quota) -> u64 {
    whole_seconds(quota.resets_in)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_outcome_is_never_reported_as_a_failure() {
        let reported = |error: StoreError| match ApiError::from(error) {
            ApiError::Message(status, message) => (status.as_u16(), message),
            other => panic!("{other}"),
        };
        let (status, message) = reported(StoreError::OutcomeUnknown("server closed the connection".to_owned()));
        assert_eq!(status, 503);
        assert!(message.contains("may have been stored") && !message.contains("server closed"), "{message}");
        let (status, message) = reported(StoreError::Unavailable("gone".to_owned()));
        assert_eq!((status, message.contains("Try again later")), (503, true));
        let (status, message) = reported(StoreError::Unavailable(format!("trigger: {MOVING}")));
        assert_eq!((status, message.contains("moved to another database")), (503, true));
    }

    #[test]
    fn a_part_of_a_second_is_waited_for_whole() {
        let wait = |millis| {
            let resets_in = Duration::from_millis(millis);
            seconds_to_wait(&Quota { allowed: false, limit: 5, remaining: 0, resets_in })
        };
        assert_eq!([0, 1, 999, 1_000, 1_001, 60_000].map(wait), [1, 1, 1, 1, 2, 60]);
    }
}
