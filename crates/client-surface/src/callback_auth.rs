//! Customer login by a call to a number from the phone to verify.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::web::Data;
use actix_web::{HttpRequest, post};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_auth::model::{AttemptState, CallbackCredentials};
use kontor_auth::ports::CallCheckError;
use kontor_auth::{CallbackLogin, CallbackLoginError, CallbackStatus, StartedAttempt};
use kontor_kernel::{Clock, ExposeSecret, Violations};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use kontor_web::envelope::{Answer, answer};
use kontor_web::error::{seconds_to_wait, whole_seconds};
use kontor_web::limits::{CALLBACK_INIT_IP, CALLBACK_INIT_PHONE, PHONE_CODES_PROJECT};
use kontor_web::named::NamedErrorBody;
use kontor_web::records::AccessTokenRecord;
use kontor_web::wire::{self, InputErrors};
use kontor_web::{ApiError, Body, CallingApp, ClientIp, NamedError, NextAction, Service, Throttle};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(start_callback_login).service(check_callback_login).service(exchange_callback_attempt);
}

/// Wait time in seconds after the provider reports its own rate limit.
const RATE_LIMIT_PAUSE: u64 = 60;
/// Wait time in seconds after a temporary failure of the provider.
const FAILURE_PAUSE: u64 = 5;
/// Wait time in seconds between two status checks of an attempt.
const POLL_INTERVAL: u64 = 2;

const UNVERIFIABLE: &str = "callback_auth_verification_unavailable";
const UNVERIFIABLE_TEXT: &str =
    "The call cannot be verified at the moment. The attempt is still open: keep polling `status`.";

fn named(status: StatusCode, code: &'static str, next_action: NextAction, message: &str) -> NamedError {
    NamedError::new(status, code, next_action, message)
}

fn rate_limited(seconds: u64) -> ApiError {
    let text = "Too many attempts. Retry after `Retry-After` seconds.";
    ApiError::Named(
        named(StatusCode::TOO_MANY_REQUESTS, "callback_auth_rate_limited", NextAction::Wait, text).retry_after(seconds),
    )
}

fn not_started(reason: &CallCheckError) -> ApiError {
    tracing::warn!(%reason, "a callback attempt could not be started");
    match reason {
        CallCheckError::BadPhone(_) => {
            ApiError::Named(NamedError::fix_input(Violations::single("phone", "cannot be verified by a call")))
        }
        CallCheckError::RateLimited(_) => rate_limited(RATE_LIMIT_PAUSE),
        CallCheckError::Unavailable(_) => {
            let text = "Calls cannot be verified at the moment. Try again later with a new nonce.";
            let code = "callback_auth_provider_unavailable";
            let refusal = named(StatusCode::SERVICE_UNAVAILABLE, code, NextAction::Wait, text);
            ApiError::Named(refusal.retry_after(RATE_LIMIT_PAUSE))
        }
    }
}

fn refusal(error: CallbackLoginError, now: DateTime<Utc>) -> ApiError {
    let named = match error {
        CallbackLoginError::SessionAlreadyStarted => named(
            StatusCode::CONFLICT,
            "callback_auth_session_already_started",
            NextAction::Restart,
            "`client_nonce` was already used. Start again with a new one.",
        ),
        CallbackLoginError::ChallengeAlreadyActive { until } => named(
            StatusCode::CONFLICT,
            "callback_auth_challenge_already_active",
            NextAction::Wait,
            "An attempt for this phone already waits for its call. Wait, then start again with a new `client_nonce`.",
        )
        .retry_after(whole_seconds((until - now).to_std().unwrap_or_default())),
        CallbackLoginError::NotStarted(reason) => return not_started(&reason),
        CallbackLoginError::UnknownAttempt => named(
            StatusCode::NOT_FOUND,
            "callback_auth_not_found",
            NextAction::Restart,
            "Attempt not found. Start again with a new `client_nonce`.",
        ),
        CallbackLoginError::NotVerified => named(
            StatusCode::CONFLICT,
            "callback_auth_not_verified",
            NextAction::Poll,
            "The call has not arrived yet. Keep polling `status`.",
        )
        .retry_after(POLL_INTERVAL),
        CallbackLoginError::VerificationUnavailable(reason) => {
            tracing::warn!(%reason, "a callback attempt cannot be verified");
            named(StatusCode::SERVICE_UNAVAILABLE, UNVERIFIABLE, NextAction::Poll, UNVERIFIABLE_TEXT)
                .retry_after(FAILURE_PAUSE)
        }
        CallbackLoginError::Expired => named(
            StatusCode::CONFLICT,
            "callback_auth_expired",
            NextAction::Restart,
            "The attempt has expired. Start again with a new `client_nonce`.",
        ),
        CallbackLoginError::PhoneIdentityConflict => named(
            StatusCode::CONFLICT,
            "counterparty_phone_identity_conflict",
            NextAction::ContactSupport,
            "Several customers have this phone. Contact support.",
        ),
        CallbackLoginError::Store(error) => return error.into(),
    };
    ApiError::Named(named)
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct CallbackStart {
    /// Phone from which the customer will call.
    phone: wire::Phone,
    /// Secret of this attempt, created by the client. Send the same value in all three calls.
    client_nonce: wire::ClientNonce,
}

#[derive(Serialize, ToSchema)]
struct CallbackStarted {
    /// Opaque token of the attempt. Send it to `status` and `exchange`.
    session_token: String,
    /// Number the customer must call, digits only.
    callback_number: String,
    /// Time when the attempt expires.
    expires_at: Option<DateTime<Utc>>,
}

impl From<StartedAttempt> for CallbackStarted {
    fn from(started: StartedAttempt) -> Self {
        Self {
            session_token: started.session_token.as_secret().expose_secret().to_owned(),
            callback_number: started.number.to_string(),
            expires_at: Some(started.expires_at),
        }
    }
}

/// Start a login by callback
///
/// Returns the number that the customer must call from their phone. Then poll `status` and finish with `exchange`.
///
/// While an attempt for the phone waits for its call, another one is accepted after 60 seconds. That rejection does not
/// use the nonce; an attempt that fails at the provider does.
///
/// Rate limits: 10 an hour per phone, 60 a minute per IP address.
#[utoipa::path(
    tag = "Client: session and login",
    request_body = CallbackStart,
    responses(
        (status = 200, body = CallbackStarted),
        (status = 409, description = "The nonce was already used (`callback_auth_session_already_started`), or another \
            attempt for the phone waits for its call (`callback_auth_challenge_already_active`).",
            body = NamedErrorBody),
        (status = 429, description = "`callback_auth_rate_limited`. Retry after `Retry-After` seconds.",
            body = NamedErrorBody),
        (status = 503, description = "`callback_auth_provider_unavailable`", body = NamedErrorBody),
    ),
)]
#[post("/api/counterparty/callback_auth/init")]
async fn start_callback_login(
    request: HttpRequest,
    app: CallingApp,
    ip: ClientIp,
    throttle: Data<Throttle>,
    clock: Data<Arc<dyn Clock>>,
    login: Service<CallbackLogin>,
    body: Result<Body<CallbackStart>, ApiError>,
) -> Answer<CallbackStarted> {
    let CallbackStart { phone, client_nonce } = body.map_err(NamedError::into_structured)?.0;
    let subject = format!("{}|{}", app.project_id, phone.0);
    let project = app.project_id.to_string();
    let hits = [(CALLBACK_INIT_IP, ip.subject()), (CALLBACK_INIT_PHONE, subject), (PHONE_CODES_PROJECT, project)];
    throttle.count(&request, &hits).await.map_err(|exhausted| rate_limited(seconds_to_wait(&exhausted)))?;
    let started = login.init(*app, &phone.0, &client_nonce.0).await;
    answer(started.map_err(|error| refusal(error, clock.now()))?)
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct CallbackStatusRequest {
    /// Token returned by `init`.
    session_token: wire::SessionToken,
    /// Same value as sent to `init`.
    client_nonce: wire::ClientNonce,
}

/// State of a login attempt.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum CallbackState {
    Pending,
    Verified,
    Expired,
}

/// Reason why the attempt could not be checked this time. The attempt stays open.
#[derive(Serialize, ToSchema)]
struct CallbackWarning {
    code: &'static str,
    message: &'static str,
    /// Time to wait before the next status check, in seconds.
    retry_after_seconds: u64,
}

#[derive(Serialize, ToSchema)]
struct CallbackStatusRecord {
    /// State of the attempt: `pending`, `verified` or `expired`.
    status: CallbackState,
    /// Time when the attempt expires. It can change after the call arrives.
    expires_at: Option<DateTime<Utc>>,
    /// Current time of the server.
    server_time: Option<DateTime<Utc>>,
    /// Time until the attempt expires, in seconds.
    remaining_seconds: Option<i64>,
    /// Present if the call could not be checked this time. Keep polling with the given delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    warning: Option<CallbackWarning>,
}

impl From<CallbackStatus> for CallbackStatusRecord {
    fn from(status: CallbackStatus) -> Self {
        let warning = status.failure.as_ref().map(|reason| {
            tracing::warn!(%reason, "a callback attempt cannot be verified");
            CallbackWarning { code: UNVERIFIABLE, message: UNVERIFIABLE_TEXT, retry_after_seconds: FAILURE_PAUSE }
        });
        Self {
            status: match status.state {
                AttemptState::Pending => CallbackState::Pending,
                AttemptState::Verified => CallbackState::Verified,
                AttemptState::Expired => CallbackState::Expired,
            },
            expires_at: Some(status.expires_at),
            server_time: Some(status.now),
            remaining_seconds: Some(status.remaining_seconds()),
            warning,
        }
    }
}

/// Check a login by callback
///
/// Returns `verified` once the call has arrived, and `expired` after the exchange.
#[utoipa::path(
    tag = "Client: session and login",
    request_body = CallbackStatusRequest,
    responses(
        (status = 200, body = CallbackStatusRecord),
        (
            status = 404,
            description = "The attempt does not exist in this application, or the nonce does not match.",
            body = NamedErrorBody,
        ),
    ),
)]
#[post("/api/counterparty/callback_auth/status")]
async fn check_callback_login(
    app: CallingApp,
    clock: Data<Arc<dyn Clock>>,
    login: Service<CallbackLogin>,
    body: Result<Body<CallbackStatusRequest>, ApiError>,
) -> Answer<CallbackStatusRecord> {
    let CallbackStatusRequest { session_token, client_nonce } = body.map_err(NamedError::into_structured)?.0;
    let credentials = CallbackCredentials { session_token: session_token.0, client_nonce: client_nonce.0 };
    let status = login.status(*app, &credentials).await;
    answer(status.map_err(|error| refusal(error, clock.now()))?)
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct CallbackExchange {
    /// Token returned by `init`.
    session_token: wire::SessionToken,
    /// Same value as sent to `init`.
    client_nonce: wire::ClientNonce,
    /// Description of the device, set by the client.
    #[deserr(default)]
    device: Option<wire::DeviceNote>,
}

#[derive(Serialize, ToSchema)]
struct CallbackExchanged {
    access_token: AccessTokenRecord,
}

/// Exchange a verified callback attempt for an access token
///
/// The customer is found by their phone, or created. A verified attempt can be exchanged once, for at least two
/// minutes.
#[utoipa::path(
    tag = "Client: session and login",
    request_body = CallbackExchange,
    responses(
        (status = 200, body = CallbackExchanged),
        (
            status = 404,
            description = "The attempt does not exist in this application, or the nonce does not match.",
            body = NamedErrorBody,
        ),
        (status = 409, description = "The call has not arrived (`callback_auth_not_verified`), the attempt has expired \
            (`callback_auth_expired`), or several customers have the phone (`counterparty_phone_identity_conflict`).",
            body = NamedErrorBody),
        (status = 503, description = "`callback_auth_verification_unavailable`", body = NamedErrorBody),
    ),
)]
#[post("/api/counterparty/callback_auth/exchange")]
async fn exchange_callback_attempt(
    app: CallingApp,
    clock: Data<Arc<dyn Clock>>,
    login: Service<CallbackLogin>,
    body: Result<Body<CallbackExchange>, ApiError>,
) -> Answer<CallbackExchanged> {
    let CallbackExchange { session_token, client_nonce, device } = body.map_err(NamedError::into_structured)?.0;
    let credentials = CallbackCredentials { session_token: session_token.0, client_nonce: client_nonce.0 };
    let signed = login.exchange(*app, &credentials, device.and_then(|device| device.0)).await;
    let signed = signed.map_err(|error| refusal(error, clock.now()))?;
    answer(CallbackExchanged { access_token: signed.token.into() })
}
