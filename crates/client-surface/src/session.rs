//! Login and logout of customers, also from mini-apps, and the heartbeat of their sessions.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, post};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_auth::miniapp::{MiniAppLogin, MiniAppProvider, SignedContact};
use kontor_auth::model::{ClientSession, NEXT_HEARTBEAT};
use kontor_auth::{CustomerSessions, Heartbeat, Heartbeats, IssuedCustomerToken};
use kontor_kernel::{AppScope, Contact, ExposeSecret, Word};
use kontor_web::envelope::{Answer, answer};
use kontor_web::limits::{
    CUSTOMER_LOGIN_CONTACT, CUSTOMER_LOGIN_IP, HEARTBEAT_SESSION, MINIAPP_CONTACT, PHONE_CODES_PROJECT,
    SEND_CODE_CONTACT, SEND_CODE_IP,
};
use kontor_web::named::NamedErrorBody;
use kontor_web::records::{AccessTokenRecord, Logout, Message};
use kontor_web::wire::{self, InputErrors};
use kontor_web::{ApiError, Body, CallingApp, ClientIp, NamedError, Service, SignedInCustomer, Throttle};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use super::profile::{CustomerRecord, RecordSources};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(send_heartbeat).service(send_password).service(log_in).service(log_out);
}

fn subject(app: &AppScope, contact: &Contact) -> String {
    format!("{}|{contact}", app.project_id)
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct CodeRequest {
    /// Phone or e-mail address.
    phone: wire::Contact,
}

/// Send a login code
///
/// Sends a one-time code by call or e-mail. The customer is created if they do not exist.
#[utoipa::path(
    tag = "Client: session and login",
    request_body = CodeRequest,
    responses(
        (status = 200, body = Message),
        (status = 429, description = "Too many codes. Retry after `Retry-After` seconds."),
        (status = 500, description = "The code was not sent.", body = Message),
    ),
)]
#[post("/api/counterparty/send_password")]
async fn send_password(
    request: HttpRequest,
    app: CallingApp,
    ip: ClientIp,
    throttle: Data<Throttle>,
    sessions: Service<CustomerSessions>,
    body: Body<CodeRequest>,
) -> Answer<Message> {
    let contact = body.0.phone.0;
    let hits = [(SEND_CODE_IP, ip.subject()), (SEND_CODE_CONTACT, subject(&app, &contact))];
    throttle.hit(&request, &hits).await?;
    if matches!(contact, Contact::Phone(_)) {
        throttle.hit(&request, &[(PHONE_CODES_PROJECT, app.project_id.to_string())]).await?;
    }
    sessions.send_code(*app, &contact, Some(ip.0)).await?;
    answer(Message::new("The code is being sent."))
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct CodeLogin {
    /// Phone or e-mail address.
    phone: wire::Contact,
    /// One-time code.
    password: wire::Secret,
    #[deserr(default)]
    device: Option<wire::Device>,
}

#[derive(Serialize, ToSchema)]
struct CustomerWithToken {
    #[serde(flatten)]
    record: CustomerRecord,
    access_token: AccessTokenRecord,
}

/// Response of all login operations that return the customer.
#[derive(Serialize, ToSchema)]
pub(super) struct SignedInCounterparty {
    counterparty: CustomerWithToken,
}

impl SignedInCounterparty {
    /// Reads the profile of a customer who has just logged in.
    pub(super) async fn of(signed: IssuedCustomerToken, sources: &RecordSources) -> Result<Self, ApiError> {
        let record = CustomerRecord::read(signed.scope, sources).await?;
        Ok(Self { counterparty: CustomerWithToken { record, access_token: signed.token.into() } })
    }
}

/// Log in with a one-time code
///
/// After five wrong attempts the code is invalid. If several customers have the contact, the oldest logs in.
#[utoipa::path(
    tag = "Client: session and login",
    request_body = CodeLogin,
    responses(
        (status = 200, body = SignedInCounterparty),
        (status = 400, description = "The code is missing, used or expired.", body = Message),
        (status = 401, description = "The code or the application token is invalid.", body = Message),
        (status = 429, description = "Too many attempts. Retry after `Retry-After` seconds."),
    ),
)]
#[post("/api/counterparty/login")]
async fn log_in(
    request: HttpRequest,
    app: CallingApp,
    ip: ClientIp,
    throttle: Data<Throttle>,
    sessions: Service<CustomerSessions>,
    sources: RecordSources,
    body: Body<CodeLogin>,
) -> Answer<SignedInCounterparty> {
    let CodeLogin { phone, password, device } = body.0;
    let contact = phone.0;
    let hits = [(CUSTOMER_LOGIN_IP, ip.subject()), (CUSTOMER_LOGIN_CONTACT, subject(&app, &contact))];
    throttle.hit(&request, &hits).await?;
    let device = device.map(|device| device.0);
    let signed = sessions.log_in(*app, &contact, password.0.expose_secret(), device).await?;
    answer(SignedInCounterparty::of(signed, &sources).await?)
}

/// Log out the customer
///
/// Ends the login on this device, or on all devices with `from_all_devices`.
#[utoipa::path(tag = "Client: session and login", request_body = Logout, responses((status = 200, body = Message)))]
#[post("/api/counterparty/logout")]
async fn log_out(
    customer: SignedInCustomer,
    sessions: Service<CustomerSessions>,
    body: Body<Logout>,
) -> Answer<Message> {
    sessions.log_out(*customer, body.0.into()).await?;
    answer(Message::new("Signed out."))
}

pub(super) fn miniapp_routes(config: &mut ServiceConfig<'_>) {
    config.service(log_in_with_contact);
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct ContactLogin {
    /// Phone as received from the messenger.
    phone: wire::SignedPhone,
    /// Time when the messenger signed the contact: Unix time in seconds, milliseconds or microseconds.
    auth_date: wire::SignedAt,
    /// Signature of the contact by the messenger.
    hash: wire::ContactHash,
    /// Launch data of the mini-app, unchanged.
    init_data: wire::InitData,
    /// Description of the device, set by the client.
    #[deserr(default)]
    device: Option<wire::DeviceNote>,
}

/// Log in with a contact shared in a mini-app
///
/// Both signatures of the messenger must be recent, by default at most one hour old. The customer is found by the
/// phone, or created.
#[utoipa::path(
    tag = "Client: session and login",
    params(("provider" = String, Path, description = "Messenger: `max`. `telegram` is not supported.")),
    request_body = ContactLogin,
    responses(
        (status = 200, body = SignedInCounterparty),
        (status = 401, description = "The contact or the application token is invalid.", body = NamedErrorBody),
        (status = 404, description = "Messenger not found."),
        (
            status = 422,
            description = "Validation failed, or the messenger does not support login by contact.",
            body = NamedErrorBody,
        ),
        (status = 429, description = "Too many attempts. Retry after `Retry-After` seconds."),
        (status = 503, description = "The messenger is not configured for the application.", body = NamedErrorBody),
    ),
)]
#[post("/api/counterparty/miniapps/{provider}/contact_auth")]
#[expect(clippy::too_many_arguments, reason = "one argument per thing extracted")]
async fn log_in_with_contact(
    request: HttpRequest,
    app: CallingApp,
    ip: ClientIp,
    provider: Path<String>,
    throttle: Data<Throttle>,
    logins: Service<MiniAppLogin>,
    sources: RecordSources,
    body: Result<Body<ContactLogin>, ApiError>,
) -> Answer<SignedInCounterparty> {
    let provider = MiniAppProvider::from_word(&provider).ok_or_else(ApiError::not_found)?;
    logins.require(provider)?;
    let ContactLogin { phone, auth_date, hash, init_data, device } = body.map_err(NamedError::into_structured)?.0;
    throttle.hit(&request, &[(MINIAPP_CONTACT, &format!("{}|{}", app.application_id, ip.subject()))]).await?;
    let contact = SignedContact { phone: phone.0, signed_at: auth_date.0, hash: hash.0, init_data: init_data.0 };
    let signed = logins.log_in(*app, provider, &contact, device.and_then(|device| device.0)).await?;
    answer(SignedInCounterparty::of(signed, &sources).await?)
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
            body = Message,
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
    fn storage_problems_are_named() {
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
