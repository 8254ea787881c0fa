//! Calls of agents: their log, and their approval.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, get, post};
use deserr::Deserr;
use kontor_auth::AgentActionService;
use kontor_auth::model::AgentActionFilter;
use utoipa::{IntoParams, ToSchema};
use utoipa_actix_web::service_config::ServiceConfig;
use uuid::Uuid;

use kontor_web::agent_actions::{AgentActionRecord, AgentActionResponse, execute};
use kontor_web::envelope::{Answer, answer, list};
use kontor_web::limits::{STAFF_LOGIN, STAFF_LOGIN_HOUR};
use kontor_web::named::NamedErrorBody;
use kontor_web::paging::{PageNumber, PageSize, page_of};
use kontor_web::wire::{self, InputErrors};
use kontor_web::{ApiError, Body, ClientIp, InProcess, PasswordQueue, Query, Service, SignedInStaff, Throttle};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config
        .service(list_agent_actions)
        .service(show_agent_action)
        .service(approve_agent_action)
        .service(refuse_agent_action);
}

/// Parses the public id of a call. An invalid UUID is reported as not found.
fn public_id(path: &Path<String>) -> Result<Uuid, ApiError> {
    Uuid::parse_str(path).map_err(|_| ApiError::not_found())
}

list!(
    /// One page of calls, with the total number of them.
    AgentActionList { agent_actions: [AgentActionRecord], agent_actions_count of all, pagination }
);

/// Filters and page of the list of calls.
#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct AgentActionQuery {
    /// `proposed`, `approved`, `refused`, `expired`, `executed`, `failed` or `reported`.
    #[deserr(default)]
    #[param(inline)]
    state: Option<wire::AgentActionStateWord>,
    /// Id of the agent.
    #[deserr(default)]
    #[param(inline)]
    agent_id: Option<wire::UserId>,
    /// `true` for calls that needed approval, `false` for calls that were executed or refused at once.
    #[deserr(default)]
    #[param(inline)]
    needs_approval: Option<wire::Flag>,
    #[deserr(default)]
    #[param(inline)]
    page: Option<PageNumber>,
    /// 15 by default.
    #[deserr(default)]
    #[param(inline)]
    per_page: Option<PageSize>,
}

/// List calls of agents
///
/// Every write of an agent, newest first: also those that were invalid, over a limit or forbidden by the policy.
/// `retention_days` of the policy says how long they are kept.
#[utoipa::path(tag = "Agent actions", params(AgentActionQuery), responses((status = 200, body = AgentActionList)))]
#[get("/api/agent-actions")]
async fn list_agent_actions(
    staff: SignedInStaff,
    service: Service<AgentActionService>,
    query: Query<AgentActionQuery>,
) -> Answer<AgentActionList> {
    let asked = query.0;
    let page = page_of(asked.page.as_ref(), asked.per_page.as_ref(), 15)?;
    let filter = AgentActionFilter {
        state: asked.state.map(|state| state.0),
        agent: asked.agent_id.map(|id| id.0),
        needs_approval: asked.needs_approval.map(|flag| flag.0),
    };
    answer(service.list(&staff, filter, page).await?)
}

/// Get a call of an agent
///
/// For employees with the permission `view-agent-actions`, and for the agent itself, which so gets the result.
#[utoipa::path(
    tag = "Agent actions",
    params(("publicId" = String, Path)),
    responses((status = 200, body = AgentActionResponse)),
)]
#[get("/api/agent-actions/{publicId}")]
async fn show_agent_action(
    staff: SignedInStaff,
    service: Service<AgentActionService>,
    path: Path<String>,
) -> Answer<AgentActionResponse> {
    answer(service.read(&staff, public_id(&path)?).await?)
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct AgentActionApproval {
    /// Password of the caller. Required if the caller logged in after the call was proposed.
    #[deserr(default)]
    password: Option<wire::Secret>,
}

/// Approve a call of an agent
///
/// Executes the call at once, for the agent and with its permissions, at most once; `state` and `result` show the
/// outcome. `approved` means that it is still being executed. The caller also needs the permissions of the operation.
/// Agents cannot approve. Rate limits of the password: 5 attempts a minute and 60 an hour per employee.
#[utoipa::path(
    tag = "Agent actions",
    params(("publicId" = String, Path)),
    request_body = AgentActionApproval,
    responses(
        (status = 200, body = AgentActionResponse),
        (
            status = 409,
            description = "The call is decided or expired, or the policy was changed after the proposal.",
            body = NamedErrorBody,
        ),
        (status = 422, description = "The password is missing or wrong."),
        (
            status = 429,
            description = "Too many attempts, or too many approvals within an hour.",
        ),
    ),
)]
#[post("/api/agent-actions/{publicId}/approve")]
async fn approve_agent_action(
    request: HttpRequest,
    ip: ClientIp,
    staff: SignedInStaff,
    (throttle, queue): (Data<Throttle>, Data<PasswordQueue>),
    (service, in_process): (Service<AgentActionService>, Data<InProcess>),
    path: Path<String>,
    body: Body<AgentActionApproval>,
) -> Answer<AgentActionResponse> {
    let id = public_id(&path)?;
    let action = match body.0.password {
        None => service.approve(&staff, id, None).await?,
        Some(password) => {
            let place = queue.place(ip.subject(), true)?;
            let subject = format!("approval|{}", staff.user_id);
            throttle.hit(&request, &[(STAFF_LOGIN, subject.as_str()), (STAFF_LOGIN_HOUR, subject.as_str())]).await?;
            let _turn = place.acquire().await?;
            service.approve(&staff, id, Some(&password.0)).await?
        }
    };
    // A task of its own, so that the result is stored even if the employee disconnects.
    let executing = service.clone();
    let running = actix_web::rt::spawn(async move { execute(&in_process, &executing, action).await });
    if let Err(error) = running.await.unwrap_or_else(|error| Err(ApiError::internal(&error))) {
        tracing::warn!(?error, public_id = %id, "an approved call is not finished; the worker continues it");
    }
    answer(service.approved(&staff, id).await?)
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct AgentActionRefusalInput {
    /// Reason, shown to the agent.
    #[deserr(default)]
    reason: Option<wire::Reason>,
}

/// Refuse a call of an agent
#[utoipa::path(
    tag = "Agent actions",
    params(("publicId" = String, Path)),
    request_body = AgentActionRefusalInput,
    responses(
        (status = 200, body = AgentActionResponse),
        (status = 409, description = "The call is already decided or expired.", body = NamedErrorBody),
    ),
)]
#[post("/api/agent-actions/{publicId}/refuse")]
async fn refuse_agent_action(
    staff: SignedInStaff,
    service: Service<AgentActionService>,
    path: Path<String>,
    body: Body<AgentActionRefusalInput>,
) -> Answer<AgentActionResponse> {
    let reason = body.0.reason.map(|reason| reason.0);
    answer(service.refuse(&staff, public_id(&path)?, reason).await?)
}
