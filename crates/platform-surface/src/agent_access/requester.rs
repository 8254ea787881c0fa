//! Operations of the requesting program. They need no token; the secret of the request authenticates the program.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, post};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_auth::AccessRequestService;
use kontor_auth::model::{AccessRequest, AccessRequestDraft, RequestStatus};
use kontor_kernel::{ExposeSecret, Word};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;
use uuid::Uuid;

use kontor_web::envelope::{Answer, Created, answer, created};
use kontor_web::refusals::POLL_SECONDS;

use super::{decline_reason, names, public_id};
use crate::agents::AgentRecord;
use kontor_web::Settings;
use kontor_web::limits::{AGENT_ACCESS_CONSUME, AGENT_ACCESS_HOUR, AGENT_ACCESS_MINUTE, AGENT_ACCESS_STATUS};
use kontor_web::records::AccessTokenRecord;
use kontor_web::wire::{self, InputErrors};
use kontor_web::{Body, ClientIp, Throttle, review_page};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(create_access_request).service(check_access_request).service(consume_access_request);
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewAccessRequest {
    /// Name of the program, chosen by itself.
    name: wire::Name,
    /// Purpose of the access, shown to the employee who decides.
    reason: wire::Reason,
    /// Names of the requested permissions, at least one.
    #[schema(value_type = Vec<wire::SystemPermission>, min_items = 1)]
    permissions: wire::SystemPermissions,
}

#[derive(Serialize, ToSchema)]
struct CreatedAccessRequest {
    /// Id of the request, used in paths.
    #[serde(rename = "publicId")]
    public_id: Uuid,
    /// Secret of the request, for `status` and `consume`. Shown only in this response.
    secret: String,
    /// Page where an employee decides. Show it to the employee.
    review_url: String,
    /// Time when the request expires.
    expires_at: DateTime<Utc>,
}

/// Request access for an agent
///
/// The request expires after 30 minutes. Rate limits per IP address: 5 requests a minute and 20 an hour.
#[utoipa::path(
    tag = "Agent access",
    request_body = NewAccessRequest,
    responses(
        (status = 201, body = CreatedAccessRequest),
        (status = 429, description = "Too many requests. Retry after `Retry-After` seconds."),
    ),
)]
#[post("/api/agent-access-requests")]
async fn create_access_request(
    request: HttpRequest,
    ip: ClientIp,
    throttle: Data<Throttle>,
    config: Data<Settings>,
    service: Data<AccessRequestService>,
    body: Body<NewAccessRequest>,
) -> Created<CreatedAccessRequest> {
    let address = ip.subject();
    throttle.hit(&request, &[(AGENT_ACCESS_MINUTE, &address), (AGENT_ACCESS_HOUR, &address)]).await?;
    let wanted = body.0;
    let draft = AccessRequestDraft { name: wanted.name.0, reason: wanted.reason.0, permissions: wanted.permissions.0 };
    let opened = service.open(draft).await?;
    let base = config.public_url.trim_end_matches('/');
    let answer = CreatedAccessRequest {
        public_id: opened.public_id,
        secret: opened.secret.expose_secret().to_owned(),
        review_url: format!("{base}{}", review_page::path_of(opened.public_id)),
        expires_at: opened.expires_at,
    };
    created(answer)
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct RequestSecret {
    /// Secret of the request.
    secret: wire::Secret,
}

#[derive(Serialize, ToSchema)]
struct AccessRequestStatus {
    /// `pending`, `approved`, `declined`, `consumed` or `expired`.
    status: &'static str,
    /// Names of the requested permissions that remain after the review.
    permissions: Vec<String>,
    /// Reason of the employee, if the request was declined with one.
    decline_reason: Option<String>,
    /// Time when the request expires.
    expires_at: DateTime<Utc>,
    /// Time to wait before the next check, in seconds. Only while `pending`.
    next_poll_in_seconds: Option<u64>,
}

impl From<(AccessRequest, RequestStatus)> for AccessRequestStatus {
    fn from((request, status): (AccessRequest, RequestStatus)) -> Self {
        Self {
            status: status.word(),
            permissions: names(&request.permissions),
            decline_reason: decline_reason(&request),
            expires_at: request.expires_at,
            next_poll_in_seconds: (status == RequestStatus::Pending).then_some(POLL_SECONDS),
        }
    }
}

/// Check an access request
///
/// A wrong secret gets the same response as an unknown request. Rate limit: 30 a minute per request.
#[utoipa::path(
    tag = "Agent access",
    params(("publicId" = String, Path)),
    request_body = RequestSecret,
    responses(
        (status = 200, body = AccessRequestStatus),
        (
            status = 404,
            description = "The request does not exist, or the secret does not match.",
            body = kontor_web::records::Message,
        ),
        (status = 429, description = "Too many status checks. Retry after `Retry-After` seconds."),
    ),
)]
#[post("/api/agent-access-requests/{publicId}/status")]
async fn check_access_request(
    request: HttpRequest,
    throttle: Data<Throttle>,
    service: Data<AccessRequestService>,
    path: Path<String>,
    body: Body<RequestSecret>,
) -> Answer<AccessRequestStatus> {
    let id = public_id(&path)?;
    throttle.hit(&request, &[(AGENT_ACCESS_STATUS, &id.to_string())]).await?;
    answer(service.status(id, &body.0.secret.0).await?)
}

#[derive(Serialize, ToSchema)]
struct ConsumedAccessRequest {
    access_token: AccessTokenRecord,
    agent: AgentRecord,
}

/// Consume an approved access request
///
/// Creates the token of the agent. This works once, and the response contains the token value only this time. Rate
/// limit: 30 attempts a minute per request.
#[utoipa::path(
    tag = "Agent access",
    params(("publicId" = String, Path)),
    request_body = RequestSecret,
    responses(
        (status = 200, body = ConsumedAccessRequest),
        (
            status = 404,
            description = "The request does not exist, or the secret does not match.",
            body = kontor_web::records::Message,
        ),
        (status = 409, description = "`agent_access_pending`, `agent_access_declined`, `agent_access_consumed` or \
            `agent_access_expired`.", body = NamedErrorBody),
        (status = 429, description = "Too many attempts. Retry after `Retry-After` seconds."),
    ),
)]
#[post("/api/agent-access-requests/{publicId}/consume")]
async fn consume_access_request(
    request: HttpRequest,
    throttle: Data<Throttle>,
    service: Data<AccessRequestService>,
    path: Path<String>,
    body: Body<RequestSecret>,
) -> Answer<ConsumedAccessRequest> {
    let id = public_id(&path)?;
    throttle.hit(&request, &[(AGENT_ACCESS_CONSUME, &id.to_string())]).await?;
    let (token, agent) = service.consume(id, &body.0.secret.0).await?;
    answer(ConsumedAccessRequest { access_token: token.into(), agent: agent.into() })
}
