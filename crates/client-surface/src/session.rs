//! Customer login with a one-time code, and logout.

use actix_web::web::Data;
use actix_web::{HttpRequest, post};
use deserr::Deserr;
use kontor_auth::{CustomerSessions, IssuedCustomerToken};
use kontor_kernel::{AppScope, Contact, ExposeSecret};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use super::profile::{CustomerRecord, RecordSources};
use kontor_web::envelope::{Answer, answer};
use kontor_web::limits::{
    CUSTOMER_LOGIN_CONTACT, CUSTOMER_LOGIN_IP, PHONE_CODES_PROJECT, SEND_CODE_CONTACT, SEND_CODE_IP,
};
use kontor_web::records::{AccessTokenRecord, Logout, Message};
use kontor_web::wire::{self, InputErrors};
use kontor_web::{ApiError, Body, CallingApp, ClientIp, Service, SignedInCustomer, Throttle};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(send_password).service(log_in).service(log_out);
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
