//! Address suggestions for customers.

use actix_web::web::Data;
use actix_web::{HttpRequest, post};
use kontor_organization::SuggestionService;
use utoipa_actix_web::service_config::ServiceConfig;

use kontor_web::envelope::{Answer, answer};
use kontor_web::limits::SUGGEST_ADDRESS;
use kontor_web::named::NamedErrorBody;
use kontor_web::suggestions::{AddressList, SuggestionInput};
use kontor_web::{Body, CallingApp, ClientIp, Throttle};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(search_address);
}

/// Search addresses
///
/// Returns suggestions only. Customers may enter any other address.
#[utoipa::path(
    tag = "Client: dictionaries",
    request_body = SuggestionInput,
    responses(
        (status = 200, body = AddressList),
        (status = 429, description = "Too many requests. Retry after `Retry-After` seconds."),
        (status = 503, description = "`suggestions_unavailable` or `suggestions_not_configured`", body = NamedErrorBody),
    ),
)]
#[post("/api/counterparty/search_address")]
async fn search_address(
    request: HttpRequest,
    app: CallingApp,
    ip: ClientIp,
    throttle: Data<Throttle>,
    suggestions: Data<SuggestionService>,
    body: Body<SuggestionInput>,
) -> Answer<AddressList> {
    throttle.hit(&request, &[(SUGGEST_ADDRESS, &format!("{}|{}", app.application_id, ip.subject()))]).await?;
    answer(suggestions.addresses(body.0.query.0).await?)
}
