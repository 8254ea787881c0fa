//! Access requests of programs without credentials: a program requests access, an employee decides, the program gets
//! its token.

use std::collections::BTreeSet;

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, get, post};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_auth::AccessRequestService;
use kontor_auth::model::{AccessRequest, AccessRequestDraft, Reason, RequestStatus, Stage};
use kontor_kernel::{ExposeSecret, Permission, Word};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;
use uuid::Uuid;

use crate::agents::AgentRecord;
use kontor_web::envelope::{Answer, Created, answer, created, list, one};
use kontor_web::limits::{AGENT_ACCESS_CONSUME, AGENT_ACCESS_HOUR, AGENT_ACCESS_MINUTE, AGENT_ACCESS_STATUS};
use kontor_web::named::NamedErrorBody;
use kontor_web::records::AccessTokenRecord;
use kontor_web::refusals::POLL_SECONDS;
use kontor_web::wire::{self, InputErrors, NonNullPatch};
use kontor_web::{ApiError, Body, ClientIp, PageQuery, Query, Service, Settings, SignedInStaff, Throttle, review_page};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(create_access_request).service(check_access_request).service(consume_access_request);
    config
        .service(list_access_requests)
        .service(show_access_request_for_review)
        .service(review_access_request)
        .service(approve_access_request)
        .service(decline_access_request);
}

fn names(permissions: &BTreeSet<Permission>) -> Vec<String> {
    permissions.iter().map(ToString::to_string).collect()
}

/// Parses the public id of a request. An invalid UUID is reported as not found.
fn public_id(path: &Path<String>) -> Result<Uuid, ApiError> {
    Uuid::parse_str(path).map_err(|_| ApiError::not_found())
}

/// Access request as shown to employees.
#[derive(Serialize, ToSchema)]
struct AccessRequestRecord {
    /// Id of the request, used in paths.
    #[serde(rename = "publicId")]
    public_id: Uuid,
    /// Name of the program, chosen by itself. Not verified.
    name: String,
    /// Purpose of the access, as stated by the program. Not verified.
    reason: String,
    /// Names of the requested permissions that remain after the review.
    permissions: Vec<String>,
    /// Names of the permissions that the program requested.
    requested_permissions: Vec<String>,
    /// `pending`, `approved`, `declined`, `consumed` or `expired`.
    status: &'static str,
    /// Reason of the employee, if the request was declined with one.
    decline_reason: Option<String>,
    created_at: DateTime<Utc>,
    /// Time when the request expires.
    expires_at: DateTime<Utc>,
}

fn decline_reason(request: &AccessRequest) -> Option<String> {
    match &request.stage {
        Stage::Declined(reason) => reason.as_ref().map(Reason::as_str).map(str::to_owned),
        Stage::Pending | Stage::Approved(_) | Stage::Consumed(_) => None,
    }
}

impl From<(AccessRequest, RequestStatus)> for AccessRequestRecord {
    fn from((request, status): (AccessRequest, RequestStatus)) -> Self {
        Self {
            public_id: request.public_id,
            permissions: names(&request.permissions),
            requested_permissions: names(&request.requested),
            status: status.word(),
            decline_reason: decline_reason(&request),
            created_at: request.created_at,
            expires_at: request.expires_at,
            reason: request.reason.as_str().to_owned(),
            name: request.name.into(),
        }
    }
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
    service: Service<AccessRequestService>,
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
    service: Service<AccessRequestService>,
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
        (
            status = 422,
            description = "The agent has the maximum number of tokens. Retry after an employee has deleted one.",
        ),
        (status = 429, description = "Too many attempts. Retry after `Retry-After` seconds."),
    ),
)]
#[post("/api/agent-access-requests/{publicId}/consume")]
async fn consume_access_request(
    request: HttpRequest,
    throttle: Data<Throttle>,
    service: Service<AccessRequestService>,
    path: Path<String>,
    body: Body<RequestSecret>,
) -> Answer<ConsumedAccessRequest> {
    let id = public_id(&path)?;
    throttle.hit(&request, &[(AGENT_ACCESS_CONSUME, &id.to_string())]).await?;
    let (token, agent) = service.consume(id, &body.0.secret.0).await?;
    answer(ConsumedAccessRequest { access_token: token.into(), agent: agent.into() })
}

list!(
    /// One page of access requests, with the total number of them.
    AccessRequestList { agent_access_requests: [AccessRequestRecord], agent_access_requests_count of all, pagination }
);

/// List access requests
///
/// Requests that employees of the project have reviewed, approved or declined, newest first. A new request belongs to
/// no project and is not listed: `review` claims it.
#[utoipa::path(tag = "Agent access", params(PageQuery), responses((status = 200, body = AccessRequestList)))]
#[get("/api/agent-access-requests")]
async fn list_access_requests(
    staff: SignedInStaff,
    service: Service<AccessRequestService>,
    query: Query<PageQuery>,
) -> Answer<AccessRequestList> {
    answer(service.list(&staff, query.0.page()?).await?)
}

one!(RequestResponse { agent_access_request: AccessRequestRecord });

/// Get an access request for review
///
/// The `review_url` of the request shows the same in a browser.
#[utoipa::path(
    tag = "Agent access",
    params(("publicId" = String, Path)),
    responses((status = 200, body = RequestResponse)),
)]
#[get("/api/agent-access-requests/{publicId}/review")]
async fn show_access_request_for_review(
    staff: SignedInStaff,
    service: Service<AccessRequestService>,
    path: Path<String>,
) -> Answer<RequestResponse> {
    answer(service.show(&staff, public_id(&path)?).await?)
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct AccessRequestReview {
    /// Names of the permissions that remain. By default, all of them.
    #[deserr(default)]
    #[schema(value_type = Option<Vec<wire::SystemPermission>>, nullable = false, min_items = 1)]
    permissions: NonNullPatch<wire::SystemPermissions>,
}

/// Review an access request
///
/// Claims the request for the caller's project and optionally removes permissions from it. Afterwards other projects
/// cannot see the request, and removed permissions cannot be added again.
#[utoipa::path(
    tag = "Agent access",
    params(("publicId" = String, Path)),
    request_body = AccessRequestReview,
    responses(
        (status = 200, body = RequestResponse),
        (status = 409, description = "The request is already decided or expired.", body = NamedErrorBody),
    ),
)]
#[post("/api/agent-access-requests/{publicId}/review")]
async fn review_access_request(
    staff: SignedInStaff,
    service: Service<AccessRequestService>,
    path: Path<String>,
    body: Body<AccessRequestReview>,
) -> Answer<RequestResponse> {
    let permissions = body.0.permissions.0.map(|names| names.0);
    answer(service.review(&staff, public_id(&path)?, permissions).await?)
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct AccessRequestApproval {
    /// Names of the permissions to grant, out of those that remain. By default, all of them.
    #[deserr(default)]
    #[schema(value_type = Option<Vec<wire::SystemPermission>>, nullable = false, min_items = 1)]
    permissions: NonNullPatch<wire::SystemPermissions>,
    /// Name of the agent. By default, the name from the request.
    #[deserr(default)]
    #[schema(value_type = Option<wire::Name>, nullable = false)]
    name: NonNullPatch<wire::Name>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ApprovedAccessRequest {
    agent_access_request: AccessRequestRecord,
    agent: AgentRecord,
}

/// Approve an access request
///
/// Creates the agent. Callers cannot grant permissions that they do not hold.
#[utoipa::path(
    tag = "Agent access",
    params(("publicId" = String, Path)),
    request_body = AccessRequestApproval,
    responses(
        (status = 200, body = ApprovedAccessRequest),
        (status = 409, description = "The request is already decided or expired.", body = NamedErrorBody),
    ),
)]
#[post("/api/agent-access-requests/{publicId}/approve")]
async fn approve_access_request(
    staff: SignedInStaff,
    service: Service<AccessRequestService>,
    path: Path<String>,
    body: Body<AccessRequestApproval>,
) -> Answer<ApprovedAccessRequest> {
    let AccessRequestApproval { permissions, name } = body.0;
    let (permissions, name) = (permissions.0.map(|names| names.0), name.0.map(|name| name.0));
    let (request, status, agent) = service.approve(&staff, public_id(&path)?, permissions, name).await?;
    answer(ApprovedAccessRequest { agent_access_request: (request, status).into(), agent: agent.into() })
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct AccessRequestDecline {
    /// Reason, shown to the requesting program.
    #[deserr(default)]
    reason: Option<wire::Reason>,
}

/// Decline an access request
#[utoipa::path(
    tag = "Agent access",
    params(("publicId" = String, Path)),
    request_body = AccessRequestDecline,
    responses(
        (status = 200, body = RequestResponse),
        (status = 409, description = "The request is already decided or expired.", body = NamedErrorBody),
    ),
)]
#[post("/api/agent-access-requests/{publicId}/decline")]
async fn decline_access_request(
    staff: SignedInStaff,
    service: Service<AccessRequestService>,
    path: Path<String>,
    body: Body<AccessRequestDecline>,
) -> Answer<RequestResponse> {
    let reason = body.0.reason.map(|reason| reason.0);
    answer(service.decline(&staff, public_id(&path)?, reason).await?)
}
