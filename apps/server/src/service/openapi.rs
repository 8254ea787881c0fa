//! The machine-readable description, from the handlers' own declarations.

use actix_web::{App, HttpResponse, get, web};
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{
    ComponentsBuilder, ContentBuilder, InfoBuilder, ObjectBuilder, OpenApi, OpenApiBuilder, PathItem, Ref, RefOr,
    Response, ResponseBuilder, ServerBuilder,
};
use utoipa_actix_web::AppExt;

use super::policies::describe;
use super::routes::routes;

/// The whole description.
pub fn description() -> OpenApi {
    let base = OpenApiBuilder::new()
        .info(
            InfoBuilder::new()
                .title("Kontor")
                .version(env!("CARGO_PKG_VERSION"))
                .description(Some(
                    "One service that runs a merchant's whole trade: a client surface for shops and apps under \
                     `/api/counterparty`, a platform surface for staff and integrations under the rest of `/api`. \
                     Schemes listed together in one requirement are sent together; requirements are alternatives. \
                     `x-permissions` names what an employee's role or an agent's token must allow. A field with \
                     `x-service-dictionary` takes its value from the named list. An operation with \
                     `x-zero-to-null` reads `0` and `\"0\"` in the named fields as `null`.",
                ))
                .build(),
        )
        .servers(Some([ServerBuilder::new().url("/").build()]))
        .components(Some(components()))
        .build();
    let (_, mut api) = App::new().into_utoipa_app().openapi(base).configure(routes).split_for_parts();
    describe(&mut api);
    for item in api.paths.paths.values_mut() {
        add_common_responses(item);
    }
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
    let message = ObjectBuilder::new()
        .property("message", ObjectBuilder::new().schema_type(utoipa::openapi::schema::Type::String))
        .required("message");
    let errors = ObjectBuilder::new()
        .property("message", ObjectBuilder::new().schema_type(utoipa::openapi::schema::Type::String))
        .property("errors", ObjectBuilder::new().description(Some("Messages by dotted field path.")))
        .required("errors");
    ComponentsBuilder::new()
        .security_scheme("app_token", SecurityScheme::ApiKey(ApiKey::Header(token)))
        .security_scheme("customer", bearer("Counterparty Bearer `<id>|<secret>`, the whole value unchanged."))
        .security_scheme("staff", bearer("Employee Bearer `<id>|<secret>`, the whole value unchanged."))
        .security_scheme("backend", SecurityScheme::Http(backend))
        .schema("Message", message)
        .schema("ValidationErrors", errors)
        .build()
}

fn refusal(description: &str, schema: &str) -> RefOr<Response> {
    ResponseBuilder::new()
        .description(description)
        .content("application/json", ContentBuilder::new().schema(Some(Ref::from_schema_name(schema))).build())
        .build()
        .into()
}

/// What follows from the declaration itself: guarded operations can refuse, bodies and parameters can be wrong.
fn add_common_responses(item: &mut PathItem) {
    let operations = [&mut item.get, &mut item.post, &mut item.put, &mut item.patch, &mut item.delete];
    for operation in operations.into_iter().flatten() {
        let secured = operation.security.as_ref().is_some_and(|requirements| !requirements.is_empty());
        let staff = secured && names_scheme(operation, "staff");
        let parameters = operation.parameters.as_ref().is_some_and(|parameters| !parameters.is_empty());
        let mut add = |status: &str, response: RefOr<Response>| {
            operation.responses.responses.entry(status.to_owned()).or_insert(response);
        };
        if secured {
            add("401", refusal("A credential is missing, expired or unsuitable.", "Message"));
        }
        if staff {
            add("403", refusal("The permission is missing, or the record is another project's.", "Message"));
        }
        if operation.request_body.is_some() || parameters {
            add("422", refusal("Fields are wrong; all of them are named.", "ValidationErrors"));
        }
    }
}

fn names_scheme(operation: &Operation, scheme: &str) -> bool {
    let requirements = operation.security.iter().flatten();
    requirements
        .filter_map(|requirement| serde_json::to_value(requirement).ok())
        .any(|value| value.get(scheme).is_some())
}

/// The description as text, two spaces deep, with a final line break: the form that is pinned.
pub fn pinned_text(api: &OpenApi) -> Result<String, serde_json::Error> {
    // Through a value: its maps are sorted, so the text does not depend on declaration order.
    let value = serde_json::to_value(api)?;
    serde_json::to_string_pretty(&value).map(|text| text + "\n")
}

/// `GET /openapi.json`
#[get("/openapi.json")]
pub async fn openapi_json(text: web::Data<String>) -> HttpResponse {
    HttpResponse::Ok().content_type("application/json").body(text.get_ref().clone())
}
