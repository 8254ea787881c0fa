//! OpenAPI description, built from the declarations of the handlers.

use actix_web::{App, HttpResponse, get};
use kontor_web::description as implied;
use utoipa::openapi::schema::Type;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{
    ArrayBuilder, ComponentsBuilder, InfoBuilder, ObjectBuilder, OpenApi, OpenApiBuilder, ServerBuilder,
};
use utoipa_actix_web::AppExt;

use super::openapi_examples::{self, Example, PINNED, Responses};
use super::policies::describe;
use super::routes::routes;
use super::{openapi_tags, openapi_webhooks};

/// Returns the whole description, with the examples of the committed one.
pub fn description() -> OpenApi {
    illustrated(&openapi_examples::all(), openapi_examples::recorded())
}

/// Returns the whole description with other examples.
pub fn illustrated(examples: &[Example], responses: &Responses) -> OpenApi {
    let mut api = declared();
    openapi_examples::illustrate(&mut api, examples, responses);
    openapi_tags::group(&mut api);
    api
}

/// Returns the operations as their handlers declare them, without examples.
pub(super) fn declared() -> OpenApi {
    let base = OpenApiBuilder::new()
        .info(
            InfoBuilder::new()
                .title("Kontor")
                .version(env!("CARGO_PKG_VERSION"))
                .description(Some(
                    "Commerce backend. The client surface under `/api/counterparty` serves shops and apps; the \
                     platform surface under the rest of `/api` serves staff and integrations. Security schemes listed \
                     in one requirement are sent together; separate requirements are alternatives. `x-permissions` \
                     lists the permissions that the employee's role or the agent's token needs. `x-agent-class` is the \
                     class of a write for agents: if the policy of the project demands approval for it, the response to \
                     an agent is `202` with `agentAction`, and nothing is changed. A field with \
                     `x-service-dictionary` takes its value from the named list. An operation with `x-zero-to-null` \
                     reads `0` and `\"0\"` in the named fields as `null`.\n\n\
                     **Log in.** As a customer: `POST /api/counterparty/send_password` with the application's `Token`, \
                     then `POST /api/counterparty/login` with the code. The bearer token is \
                     `counterparty.access_token.value`. As an employee: `POST /api/login`. The bearer token is \
                     `user.access_token.value`. To send requests from this page, press *Authorize*. Enter the `Token` \
                     as `app_token` and the whole bearer token, number and bar included, as `customer` or `staff`. \
                     `kontor demo` prints a token, a phone and an employee's password. Its sandbox shows each code.",
                ))
                .build(),
        )
        .servers(Some([ServerBuilder::new().url("/").build()]))
        .tags(Some(openapi_tags::tags()))
        .components(Some(components()))
        .webhooks(Some(openapi_webhooks::webhooks()))
        .build();
    let (_, mut api) = App::new().into_utoipa_app().openapi(base).configure(routes).split_for_parts();
    describe(&mut api);
    api
}

fn components() -> utoipa::openapi::Components {
    let bearer = |text: &str| {
        SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(text)).build())
    };
    let backend = HttpBuilder::new()
        .scheme(HttpAuthScheme::Basic)
        .description(Some("`client_id:client_secret` of a backend, issued by an operator."))
        .build();
    let token = ApiKeyValue::with_description("Token", "App Token: which application is calling.");
    let text = || ObjectBuilder::new().schema_type(Type::String);
    let message = ObjectBuilder::new().property("message", text()).required("message");
    let errors = ObjectBuilder::new()
        .property("message", text())
        .property(
            "errors",
            ObjectBuilder::new()
                .description(Some("Messages by dotted field path."))
                .additional_properties(Some(ArrayBuilder::new().items(text()))),
        )
        .required("errors");
    ComponentsBuilder::new()
        .security_scheme("app_token", SecurityScheme::ApiKey(ApiKey::Header(token)))
        .security_scheme("customer", bearer("Counterparty Bearer `<id>|<secret>`, the whole value unchanged."))
        .security_scheme("staff", bearer("Employee Bearer `<id>|<secret>`, the whole value unchanged."))
        .security_scheme("backend", SecurityScheme::Http(backend))
        .parameter(implied::PARAMETER, implied::parameter())
        .parameter(implied::IF_MATCH, implied::if_match())
        .parameter(implied::IF_NONE_MATCH, implied::if_none_match())
        .header(implied::TAG, implied::tag())
        .schema("Message", message)
        .schema("ValidationErrors", errors)
        .schemas_from_iter(openapi_webhooks::schemas())
        .build()
}

/// Returns a description as JSON, with the required fields of responses.
pub fn as_json(api: &OpenApi) -> Result<serde_json::Value, serde_json::Error> {
    // A `Value` sorts its maps, so the text does not depend on declaration order.
    let mut value = serde_json::to_value(api)?;
    implied::require_fields(&mut value);
    Ok(value)
}

/// Returns the description as text with an indent of two spaces and a final line break: the form that is committed.
pub fn pinned_text(api: &OpenApi) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(&as_json(api)?).map(|text| text + "\n")
}

/// `GET /openapi.json`
#[get("/openapi.json")]
pub async fn openapi_json() -> HttpResponse {
    HttpResponse::Ok().content_type("application/json").body(PINNED)
}
