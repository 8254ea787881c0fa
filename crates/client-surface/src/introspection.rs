//! Introspection of customer tokens for backends.

use actix_web::web::Data;
use actix_web::{HttpRequest, post};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_auth::Introspection;
use kontor_auth::model::{CLIENT_SCOPES, TokenState};
use kontor_kernel::{ExposeSecret, Violations};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;
use uuid::Uuid;

use kontor_web::envelope::{Answer, answer};
use kontor_web::limits::INTROSPECT_CLIENT;
use kontor_web::records::Message;
use kontor_web::wire::{self, InputErrors};
use kontor_web::{ApiError, Backend, Form, Service, Throttle};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(introspect);
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct IntrospectionRequest {
    /// Complete Bearer token, `<id>|<secret>`.
    token: wire::Secret,
    /// Audience that the client credentials were issued for.
    audience: wire::Audience,
}

#[derive(Serialize, ToSchema)]
struct IntrospectedProject {
    id: i64,
}

#[derive(Serialize, ToSchema)]
struct IntrospectedApplication {
    id: i64,
    name: String,
}

/// State of a token. An inactive token has only `active`.
#[derive(Default, Serialize, ToSchema)]
struct TokenIntrospection {
    /// `true` if the token is valid for the client's application.
    active: bool,
    /// UUID of the customer. It never changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    principal_handle: Option<Uuid>,
    /// Project of the token.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    project: Option<IntrospectedProject>,
    /// Application that the customer logged in to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    application: Option<IntrospectedApplication>,
    /// `counterparty`: access to the client surface of the application.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    scopes: Option<Vec<&'static str>>,
    /// Time when the token expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    expires_at: Option<DateTime<Utc>>,
}

impl From<TokenState> for TokenIntrospection {
    fn from(state: TokenState) -> Self {
        let TokenState::Active(token) = state else { return Self::default() };
        Self {
            active: true,
            principal_handle: Some(token.principal),
            project: Some(IntrospectedProject { id: token.project_id.get() }),
            application: Some(IntrospectedApplication {
                id: token.application_id.get(),
                name: token.application_name.into(),
            }),
            scopes: Some(CLIENT_SCOPES.to_vec()),
            expires_at: Some(token.expires_at),
        }
    }
}

/// Parses the request. Parameters in the address are rejected because addresses end up in logs.
fn read_request(
    request: &HttpRequest,
    form: Result<Form<IntrospectionRequest>, ApiError>,
) -> Result<IntrospectionRequest, ApiError> {
    let mut violations = Violations::default();
    for (key, _) in form_urlencoded::parse(request.query_string().as_bytes()) {
        violations.add(key, "must be sent in the body, not in the query string");
    }
    match form {
        Ok(Form(question)) => {
            violations.into_result()?;
            Ok(question)
        }
        Err(ApiError::Invalid(wrong)) => {
            violations.merge(wrong);
            Err(violations.into())
        }
        Err(other) => Err(other),
    }
}

/// Introspect a customer token
///
/// For backends: returns the state of a customer token of the client's application. The client authenticates with its
/// own credentials. The response is `{"active": false}` if the token is invalid for any reason.
#[utoipa::path(
    tag = "Client: session and login",
    request_body(content = IntrospectionRequest, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 200, body = TokenIntrospection),
        (status = 401, description = "The client credentials are invalid, or the client is disabled.", body = Message),
        (status = 403, description = "The client was issued for a different audience.", body = Message),
        (status = 415, description = "The body must be form-encoded.", body = Message),
        (status = 429, description = "Too many requests. Retry after `Retry-After` seconds."),
    ),
)]
#[post("/api/counterparty/auth/introspect")]
async fn introspect(
    request: HttpRequest,
    backend: Backend,
    throttle: Data<Throttle>,
    introspection: Service<Introspection>,
    form: Result<Form<IntrospectionRequest>, ApiError>,
) -> Answer<TokenIntrospection> {
    let question = read_request(&request, form);
    let token = question.as_ref().ok().map(|question| question.token.0.expose_secret());
    let inquiry = introspection.authenticate_client(&backend, token).await?;
    throttle.hit(&request, &[(INTROSPECT_CLIENT, &inquiry.client_id().to_string())]).await?;
    answer(inquiry.answer(&question?.audience.0)?)
}
