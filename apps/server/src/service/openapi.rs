//! All endpoints of the contract, their OpenAPI description with its tags, and requests without a matching route. A
//! route and its description come from the same declaration.

use actix_web::dev::ResourceDef;
use actix_web::http::StatusCode;
use actix_web::http::header::ALLOW;
use actix_web::{App, HttpRequest, HttpResponse, ResponseError, get, web};
use kontor_web::{ApiError, description as implied};
use serde_json::json;
use utoipa::openapi::extensions::{Extensions, ExtensionsBuilder};
use utoipa::openapi::schema::Type;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::tag::{Tag, TagBuilder};
use utoipa::openapi::{
    ArrayBuilder, ComponentsBuilder, InfoBuilder, ObjectBuilder, OpenApi, OpenApiBuilder, PathItem, ServerBuilder,
};
use utoipa_actix_web::AppExt;
use utoipa_actix_web::service_config::ServiceConfig;

use super::openapi_examples::{self, Example, PINNED, Responses};
use super::openapi_webhooks;
use super::policies::describe;
use crate::callbacks;

/// Returns the whole description, with the examples of the committed one.
pub fn description() -> OpenApi {
    illustrated(&openapi_examples::all(), openapi_examples::recorded())
}

/// Returns the whole description with other examples.
pub fn illustrated(examples: &[Example], responses: &Responses) -> OpenApi {
    let mut api = declared();
    openapi_examples::illustrate(&mut api, examples, responses);
    group_tags(&mut api);
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
        .tags(Some(tags()))
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

/// Surface, and its tags with their descriptions, in the order in which a newcomer needs them.
type Surface = (&'static str, &'static [(&'static str, &'static str)]);

const SURFACES: [Surface; 3] = [
    (
        "Client surface",
        &[
            (
                "Client: session and login",
                "Customer login by code, call or mini-app, session heartbeats, and token introspection for backends.",
            ),
            ("Client: catalog", "Products, prices, plans, searches and favourites."),
            ("Client: dictionaries", "Categories, brands, shops, delivery and payment types."),
            ("Client: orders", "Cart calculation and orders."),
            ("Client: subscriptions", "Recurring charges with saved payment methods, from checkout to cancellation."),
            ("Client: profile", "The signed-in customer: profile, phone change, verification and account deletion."),
            ("Client: notifications", "Notifications of the customer."),
            ("Client: content", "Pages, blocks and menus of the application."),
            ("Client: settings", "Settings of the application."),
        ],
    ),
    (
        "Platform surface",
        &[
            ("Staff login and current user", "Employee login and logout, and the current user with permissions."),
            (
                "Agent access",
                "A program requests access, an employee approves or declines, and the program fetches its token.",
            ),
            ("Agents", "Programs with their own permissions, and their tokens."),
            ("Agent actions", "Approval of agents' calls by an employee, where the policy of the project demands it."),
            ("Staff", "The employees of the project."),
            ("Roles and departments", "Permissions, roles and departments."),
            ("Businesses", "Branches, their bank accounts and integrations."),
            ("Applications", "Sales channels of the project, and the plans they sell."),
            (
                "Application categories, brands, menu items",
                "Categories, brands and menu items of an application, and their order.",
            ),
            ("Webhooks", "Webhook endpoints for paid orders, and their deliveries."),
            ("Catalog", "Goods, services, plans and categories, with spreadsheet import and export."),
            ("Warehouses", "Warehouses and their integrations."),
            ("Stock", "Stock levels, prices and reservations."),
            ("Sales", "Discounts, promo codes and promotions."),
            ("Customers", "People and companies, their contacts, requisites and history."),
            ("Orders", "Orders for staff, with lines, files and refunds."),
            ("Reports", "Sales figures for charts: by day, by hour and by item."),
            ("Subscriptions", "Subscriptions for staff, with charge attempts, notices and settings."),
            ("Tasks", "Tasks of employees, with due dates."),
            ("Shops", "Shops that customers visit, with opening hours, holidays and exceptions."),
            ("Content", "Pages, blocks and slides, for editors."),
            ("Staff menus", "Menus for employees of the project."),
            ("Files", "Documents and pictures."),
            ("Jobs", "Imports and exports that run in the background."),
            ("Suggestions", "Address, bank and company suggestions while typing."),
            ("Project settings", "Settings of the project, and their history."),
            ("Dictionaries", "Reference lists. Other records refer to their entries by id."),
        ],
    ),
    ("Callbacks", &[("Callbacks", "Notifications from the acquirer and the telephony provider.")]),
];

/// Returns every tag with its description.
fn tags() -> Vec<Tag> {
    let areas = SURFACES.iter().flat_map(|(_, areas)| areas.iter());
    areas.map(|(name, text)| TagBuilder::new().name(*name).description(Some(*text)).build()).collect()
}

/// Groups the tags by surface, for viewers that support it.
fn group_tags(api: &mut OpenApi) {
    let groups = SURFACES.iter().map(|(surface, areas)| {
        let names: Vec<_> = areas.iter().map(|(name, _)| *name).collect();
        json!({ "name": surface, "tags": names })
    });
    let groups: Extensions = ExtensionsBuilder::new().add("x-tagGroups", groups.collect::<Vec<_>>()).build();
    api.extensions.get_or_insert_default().merge(groups);
}

/// Registers all endpoints.
pub fn routes(config: &mut ServiceConfig<'_>) {
    kontor_client_surface::routes(config);
    kontor_platform_surface::routes(config);
    callbacks::routes(config);
}

/// Every path with its methods.
pub struct KnownPaths(Vec<(ResourceDef, Vec<&'static str>)>);

fn methods(item: &PathItem) -> Vec<&'static str> {
    let all = [
        ("GET", item.get.is_some()),
        ("HEAD", item.get.is_some()),
        ("POST", item.post.is_some()),
        ("PUT", item.put.is_some()),
        ("PATCH", item.patch.is_some()),
        ("DELETE", item.delete.is_some()),
    ];
    all.into_iter().filter(|(_, present)| *present).map(|(method, _)| method).collect()
}

impl KnownPaths {
    /// Reads the paths from the API description, which has the same source as the routes.
    pub fn of(api: &OpenApi) -> Self {
        Self(api.paths.paths.iter().map(|(path, item)| (ResourceDef::new(path.as_str()), methods(item))).collect())
    }

    fn allowed(&self, path: &str) -> Vec<&'static str> {
        let matching = self.0.iter().filter(|(pattern, _)| pattern.is_match(path));
        let mut allowed = Vec::new();
        // A path may match several patterns.
        for method in matching.flat_map(|(_, methods)| methods.iter().copied()) {
            if !allowed.contains(&method) {
                allowed.push(method);
            }
        }
        allowed
    }
}

/// Default handler: `405` if the path exists with another method, otherwise `404`.
pub async fn unrouted(request: HttpRequest, known: web::Data<KnownPaths>) -> HttpResponse {
    let allowed = known.allowed(request.path());
    if allowed.is_empty() {
        return ApiError::not_found().error_response();
    }
    let message = "The method is not allowed here.".to_owned();
    let mut response = ApiError::Message(StatusCode::METHOD_NOT_ALLOWED, message).error_response();
    if let Ok(value) = allowed.join(", ").parse() {
        response.headers_mut().insert(ALLOW, value);
    }
    response
}
