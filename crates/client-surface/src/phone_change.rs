//! Change of the customer's phone, verified by a code sent to the new phone.

use actix_web::web::Data;
use actix_web::{HttpRequest, post};
use deserr::Deserr;
use kontor_auth::PhoneChange;
use kontor_kernel::{CustomerScope, ExposeSecret, Phone};
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use super::profile::{CustomerRecord, CustomerResponse, RecordSources};
use kontor_web::envelope::{Answer, answer};
use kontor_web::limits::{
    CUSTOMER_LOGIN_CONTACT, CUSTOMER_LOGIN_IP, PHONE_CODES_PROJECT, SEND_CODE_CONTACT, SEND_CODE_IP,
};
use kontor_web::records::Message;
use kontor_web::wire::{self, InputErrors};
use kontor_web::{BearerCustomer, Body, ClientIp, Service, Throttle};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(request_phone_change).service(confirm_phone_change);
}

/// Returns the rate limit key of the phone. Login uses the same key, so that all calls to a phone count together.
fn subject(customer: &CustomerScope, phone: &Phone) -> String {
    format!("{}|{phone}", customer.app.project_id)
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct PhoneChangeRequest {
    /// New phone.
    phone: wire::Phone,
}

/// Request a phone change
///
/// Calls the new phone with a one-time code. The code can only be used for the phone change, not for login.
#[utoipa::path(
    tag = "Client: profile",
    request_body = PhoneChangeRequest,
    responses(
        (status = 200, body = Message),
        (status = 429, description = "Too many codes. Retry after `Retry-After` seconds."),
        (status = 500, description = "The code was not sent.", body = Message),
    ),
)]
#[post("/api/counterparty/phone/request_change")]
async fn request_phone_change(
    request: HttpRequest,
    customer: BearerCustomer,
    ip: ClientIp,
    throttle: Data<Throttle>,
    phones: Service<PhoneChange>,
    body: Body<PhoneChangeRequest>,
) -> Answer<Message> {
    let phone = body.0.phone.0;
    let project = customer.app.project_id.to_string();
    let hits =
        [(SEND_CODE_IP, ip.subject()), (SEND_CODE_CONTACT, subject(&customer, &phone)), (PHONE_CODES_PROJECT, project)];
    throttle.hit(&request, &hits).await?;
    phones.request(*customer, &phone, Some(ip.0)).await?;
    answer(Message::new("The code is being sent."))
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct PhoneChangeProof {
    /// New phone.
    phone: wire::Phone,
    /// One-time code.
    password: wire::Secret,
}

/// Confirm a phone change
///
/// Sets the new phone with the one-time code that was sent to it. From then on the customer logs in with the new phone,
/// and no longer with the old one.
#[utoipa::path(
    tag = "Client: profile",
    request_body = PhoneChangeProof,
    responses(
        (status = 200, body = CustomerResponse),
        (status = 400, description = "The code is missing, used or expired.", body = Message),
        (status = 401, description = "The code or the bearer token is invalid.", body = Message),
        (status = 429, description = "Too many attempts. Retry after `Retry-After` seconds."),
    ),
)]
#[post("/api/counterparty/phone/verify_change")]
async fn confirm_phone_change(
    request: HttpRequest,
    customer: BearerCustomer,
    ip: ClientIp,
    throttle: Data<Throttle>,
    phones: Service<PhoneChange>,
    sources: RecordSources,
    body: Body<PhoneChangeProof>,
) -> Answer<CustomerResponse> {
    let PhoneChangeProof { phone, password } = body.0;
    let phone = phone.0;
    let hits = [(CUSTOMER_LOGIN_IP, ip.subject()), (CUSTOMER_LOGIN_CONTACT, subject(&customer, &phone))];
    throttle.hit(&request, &hits).await?;
    phones.verify(*customer, &phone, password.0.expose_secret()).await?;
    answer(CustomerRecord::read(*customer, &sources).await?)
}
