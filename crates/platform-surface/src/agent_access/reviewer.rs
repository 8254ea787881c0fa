//! Operations of the employee who reviews a request.

use actix_web::web::{Data, Path};
use actix_web::{get, post};
use deserr::Deserr;
use kontor_auth::AccessRequestService;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use super::{AccessRequestRecord, public_id};
use crate::agents::AgentRecord;
use kontor_web::envelope::{Answer, answer, list};
use kontor_web::named::NamedErrorBody;
use kontor_web::wire::{self, InputErrors, NonNullPatch};
use kontor_web::{Body, PageQuery, Query, SignedInStaff};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config
        .service(list_access_requests)
        .service(show_access_request_for_review)
        .service(review_access_request)
        .service(approve_access_request)
        .service(decline_access_request);
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
    service: Data<AccessRequestService>,
    query: Query<PageQuery>,
) -> Answer<AccessRequestList> {
    answer(service.list(&staff, query.0.page()?).await?)
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct RequestResponse {
    agent_access_request: AccessRequestRecord,
}

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
    service: Data<AccessRequestService>,
    path: Path<String>,
) -> Answer<RequestResponse> {
    let agent_access_request = service.show(&staff, public_id(&path)?).await?.into();
    answer(RequestResponse { agent_access_request })
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
    service: Data<AccessRequestService>,
    path: Path<String>,
    body: Body<AccessRequestReview>,
) -> Answer<RequestResponse> {
    let permissions = body.0.permissions.0.map(|names| names.0);
    let agent_access_request = service.review(&staff, public_id(&path)?, permissions).await?.into();
    answer(RequestResponse { agent_access_request })
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
    service: Data<AccessRequestService>,
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
    service: Data<AccessRequestService>,
    path: Path<String>,
    body: Body<AccessRequestDecline>,
) -> Answer<RequestResponse> {
    let reason = body.0.reason.map(|reason| reason.0);
    let agent_access_request = service.decline(&staff, public_id(&path)?, reason).await?.into();
    answer(RequestResponse { agent_access_request })
}
