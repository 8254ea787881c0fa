//! Heartbeats of a logged-in customer.

use actix_web::web::Data;
use actix_web::{HttpRequest, post};
use chrono::{DateTime, Utc};
use kontor_auth::model::{ClientSession, NEXT_HEARTBEAT};
use kontor_auth::{Heartbeat, Heartbeats};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use kontor_web::envelope::{Answer, answer};
use kontor_web::limits::HEARTBEAT_SESSION;
use kontor_web::named::NamedErrorBody;
use kontor_web::{Service, SignedInCustomer, Throttle};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(send_heartbeat);
}

#[derive(Serialize, ToSchema)]
struct SessionRecord {
    id: i64,
    /// Always `active`.
    status: &'static str,
    started_at: DateTime<Utc>,
    /// Time of the last heartbeat.
    last_seen_at: DateTime<Utc>,
    /// Counted duration of the session, in seconds. A gap between two heartbeats counts as at most 180 seconds.
    duration_seconds: i64,
}

impl From<ClientSession> for SessionRecord {
    fn from(session: ClientSession) -> Self {
        Self {
            id: session.id.get(),
            status: "active",
            started_at: session.started_at,
            last_seen_at: session.last_seen_at,
            duration_seconds: session.duration.num_seconds(),
        }
    }
}

#[derive(Serialize, ToSchema)]
struct HeartbeatRecord {
    session: SessionRecord,
    /// Current time of the server.
    server_time: DateTime<Utc>,
    /// Time to wait before the next heartbeat, in seconds.
    next_heartbeat_in_seconds: i64,
}

impl From<Heartbeat> for HeartbeatRecord {
    fn from(heartbeat: Heartbeat) -> Self {
        Self {
            session: heartbeat.session.into(),
            server_time: heartbeat.taken_at,
            next_heartbeat_in_seconds: NEXT_HEARTBEAT.num_seconds(),
        }
    }
}

/// Send a session heartbeat
///
/// Call it while the customer uses the application. After 300 seconds without a heartbeat, the next one starts a new
/// session.
#[utoipa::path(
    tag = "Client: session and login",
    responses(
        (status = 200, body = HeartbeatRecord),
        (
            status = 404,
            description = "The customer is signed in to another application.",
            body = kontor_web::records::Message,
        ),
        (status = 429, description = "More than 6 heartbeats per minute. Retry after `Retry-After` seconds."),
        (status = 503, description = "`counterparty_session_unavailable`", body = NamedErrorBody),
    ),
)]
#[post("/api/counterparty/session/heartbeat")]
async fn send_heartbeat(
    request: HttpRequest,
    customer: SignedInCustomer,
    throttle: Data<Throttle>,
    heartbeats: Service<Heartbeats>,
) -> Answer<HeartbeatRecord> {
    // A token has one session at a time. A new session starts later than the window of this limit.
    throttle.hit(&request, &[(HEARTBEAT_SESSION, &customer.token_id.to_string())]).await?;
    answer(heartbeats.record(*customer).await?)
}

#[cfg(test)]
mod tests {
    use actix_web::ResponseError;
    use actix_web::http::StatusCode;
    use kontor_auth::HeartbeatError;
    use kontor_kernel::StoreError;
    use kontor_web::ApiError;

    #[test]
    fn whatever_is_wrong_with_the_storage_is_named() {
        let reasons = || "gone".to_owned();
        for error in [
            StoreError::Unavailable(reasons()),
            StoreError::OutcomeUnknown(reasons()),
            StoreError::Corrupt(reasons()),
            StoreError::Failed(reasons()),
        ] {
            let refusal = ApiError::from(HeartbeatError::from(error));
            assert_eq!(refusal.status_code(), StatusCode::SERVICE_UNAVAILABLE);
            assert!(matches!(refusal, ApiError::Named(named) if named.code == "counterparty_session_unavailable"));
        }
    }
}
