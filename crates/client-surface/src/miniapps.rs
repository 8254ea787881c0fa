//! Customer login by a contact that a messenger signed.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, post};
use deserr::Deserr;
use kontor_auth::miniapp::{MiniAppLogin, MiniAppProvider, SignedContact};
use kontor_kernel::Word;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use super::profile::RecordSources;
use super::session::SignedInCounterparty;
use kontor_web::envelope::{Answer, answer};
use kontor_web::limits::MINIAPP_CONTACT;
use kontor_web::named::NamedErrorBody;
use kontor_web::wire::{self, InputErrors};
use kontor_web::{ApiError, Body, CallingApp, ClientIp, NamedError, Service, Throttle};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
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
