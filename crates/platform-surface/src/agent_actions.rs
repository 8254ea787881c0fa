//! Calls of agents that need approval, and the policy that demands it.

use std::collections::BTreeMap;

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, get, post, put};
use deserr::Deserr;
use kontor_auth::AgentActionService;
use kontor_auth::model::{AgentActionFilter, AgentPolicy, AgentRules};
use kontor_kernel::{UserId, Violations, Word as _};
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_actix_web::service_config::ServiceConfig;
use uuid::Uuid;

use kontor_web::agent_action_record::{AgentActionRecord, AgentActionResponse};
use kontor_web::envelope::{Answer, answer, list, one};
use kontor_web::limits::{STAFF_LOGIN, STAFF_LOGIN_HOUR};
use kontor_web::named::NamedErrorBody;
use kontor_web::paging::{PageNumber, PageSize, page_of};
use kontor_web::wire::{self, InputErrors};
use kontor_web::{ApiError, Body, ClientIp, PasswordQueue, Query, SignedInStaff, Throttle};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config
        .service(list_agent_actions)
        .service(show_agent_action)
        .service(approve_agent_action)
        .service(refuse_agent_action);
}

pub(super) fn policy_routes(config: &mut ServiceConfig<'_>) {
    config.service(show_agent_policy).service(update_agent_policy);
}

/// Parses the public id of a call. An invalid UUID is reported as not found.
fn public_id(path: &Path<String>) -> Result<Uuid, ApiError> {
    Uuid::parse_str(path).map_err(|_| ApiError::not_found())
}

list!(
    /// One page of calls that need approval, with the total number of them.
    AgentActionList { agent_actions: [AgentActionRecord], agent_actions_count of all, pagination }
);

/// Filters and page of the list of calls.
#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct AgentActionQuery {
    /// `proposed`, `approved`, `refused`, `expired`, `executing`, `executed` or `failed`.
    #[deserr(default)]
    #[param(inline)]
    state: Option<wire::AgentActionStateWord>,
    /// Id of the agent.
    #[deserr(default)]
    #[param(inline)]
    agent_id: Option<wire::UserId>,
    #[deserr(default)]
    #[param(inline)]
    page: Option<PageNumber>,
    /// 15 by default.
    #[deserr(default)]
    #[param(inline)]
    per_page: Option<PageSize>,
}

/// List calls of agents that need approval
///
/// Newest first. Records are kept as long as other finished work, see the setting for retention.
#[utoipa::path(tag = "Agent actions", params(AgentActionQuery), responses((status = 200, body = AgentActionList)))]
#[get("/api/agent-actions")]
async fn list_agent_actions(
    staff: SignedInStaff,
    service: Data<AgentActionService>,
    query: Query<AgentActionQuery>,
) -> Answer<AgentActionList> {
    let asked = query.0;
    let page = page_of(asked.page.as_ref(), asked.per_page.as_ref(), 15)?;
    let filter = AgentActionFilter { state: asked.state.map(|state| state.0), agent: asked.agent_id.map(|id| id.0) };
    answer(service.list(&staff, filter, page).await?)
}

/// Get a call of an agent that needs approval
///
/// For employees with the permission `view-agent-actions`, and for the agent that proposed the call.
#[utoipa::path(
    tag = "Agent actions",
    params(("publicId" = String, Path)),
    responses((status = 200, body = AgentActionResponse)),
)]
#[get("/api/agent-actions/{publicId}")]
async fn show_agent_action(
    staff: SignedInStaff,
    service: Data<AgentActionService>,
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
/// The agent executes the call by repeating it before `expires_at`, with its own token and permissions, at most once.
/// The caller also needs the permissions of the operation. Agents cannot approve. Rate limits of the password: 5
/// attempts a minute and 60 an hour per employee.
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
        (status = 429, description = "Too many attempts. Retry after `Retry-After` seconds."),
    ),
)]
#[post("/api/agent-actions/{publicId}/approve")]
async fn approve_agent_action(
    request: HttpRequest,
    ip: ClientIp,
    staff: SignedInStaff,
    (throttle, queue): (Data<Throttle>, Data<PasswordQueue>),
    service: Data<AgentActionService>,
    path: Path<String>,
    body: Body<AgentActionApproval>,
) -> Answer<AgentActionResponse> {
    let id = public_id(&path)?;
    let Some(password) = body.0.password else { return answer(service.approve(&staff, id, None).await?) };
    let place = queue.place(ip.subject(), true)?;
    let subject = format!("approval|{}", staff.user_id);
    throttle.hit(&request, &[(STAFF_LOGIN, subject.as_str()), (STAFF_LOGIN_HOUR, subject.as_str())]).await?;
    let _turn = place.acquire().await?;
    answer(service.approve(&staff, id, Some(&password.0)).await?)
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct AgentActionRefusalInput {
    /// Reason, shown to the agent.
    #[deserr(default)]
    reason: Option<wire::Reason>,
}

/// Refuse a call of an agent
///
/// Also withdraws an approval that the agent has not used yet.
#[utoipa::path(
    tag = "Agent actions",
    params(("publicId" = String, Path)),
    request_body = AgentActionRefusalInput,
    responses(
        (status = 200, body = AgentActionResponse),
        (status = 409, description = "The call is already decided, expired or being executed.", body = NamedErrorBody),
    ),
)]
#[post("/api/agent-actions/{publicId}/refuse")]
async fn refuse_agent_action(
    staff: SignedInStaff,
    service: Data<AgentActionService>,
    path: Path<String>,
    body: Body<AgentActionRefusalInput>,
) -> Answer<AgentActionResponse> {
    let reason = body.0.reason.map(|reason| reason.0);
    answer(service.refuse(&staff, public_id(&path)?, reason).await?)
}

/// Rules of one agent. They replace the rules of the project.
#[derive(Serialize, ToSchema)]
struct AgentRulesRecord {
    agent_id: i64,
    /// `allowed`, `needs_approval` or `forbidden`.
    write: &'static str,
    /// `allowed`, `needs_approval` or `forbidden`.
    money: &'static str,
    /// `allowed`, `needs_approval` or `forbidden`.
    destructive: &'static str,
}

/// Policy of the project for the calls of its agents.
#[derive(Serialize, ToSchema)]
struct AgentPolicyRecord {
    /// Version, for the next change. 0 if the policy was never changed.
    version: i64,
    /// `true` if every write of an agent is refused.
    refuses_writes: bool,
    /// Rule for writes that another write takes back: `allowed`, `needs_approval` or `forbidden`.
    write: &'static str,
    /// Rule for calls that move money, or change prices, stock, settings or access.
    money: &'static str,
    /// Rule for calls that delete records, or end what cannot be continued.
    destructive: &'static str,
    /// Agents with own rules.
    agents: Vec<AgentRulesRecord>,
}

impl From<AgentPolicy> for AgentPolicyRecord {
    fn from(policy: AgentPolicy) -> Self {
        let agents = policy.agents.into_iter().map(|(agent, rules)| AgentRulesRecord {
            agent_id: agent.get(),
            write: rules.write.word(),
            money: rules.money.word(),
            destructive: rules.destructive.word(),
        });
        Self {
            version: policy.version,
            refuses_writes: policy.refuses_writes,
            write: policy.rules.write.word(),
            money: policy.rules.money.word(),
            destructive: policy.rules.destructive.word(),
            agents: agents.collect(),
        }
    }
}

one!(AgentPolicyResponse { agent_policy: AgentPolicyRecord });

/// Rules of one agent.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct AgentRulesInput {
    agent_id: wire::UserId,
    write: wire::AgentRuleWord,
    money: wire::AgentRuleWord,
    destructive: wire::AgentRuleWord,
}

/// Policy to set.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct AgentPolicyInput {
    /// Version of the policy as last read.
    version: wire::Integer,
    /// `true` to refuse every write of every agent, from the next call on.
    refuses_writes: wire::Flag,
    write: wire::AgentRuleWord,
    money: wire::AgentRuleWord,
    destructive: wire::AgentRuleWord,
    /// Agents with own rules, at most 100.
    agents: Vec<AgentRulesInput>,
}

impl AgentPolicyInput {
    /// Returns the policy. Each agent may be named once.
    fn policy(self) -> Result<AgentPolicy, Violations> {
        let (mut agents, mut violations) = (BTreeMap::<UserId, AgentRules>::new(), Violations::default());
        for (place, input) in self.agents.into_iter().enumerate() {
            let AgentRulesInput { agent_id, write, money, destructive } = input;
            let rules = AgentRules { write: write.0, money: money.0, destructive: destructive.0 };
            if agents.insert(agent_id.0, rules).is_some() {
                violations.add(format!("agents.{place}.agent_id"), "is in the list twice");
            }
        }
        if !violations.fields().is_empty() {
            return Err(violations);
        }
        Ok(AgentPolicy {
            version: self.version.0,
            refuses_writes: self.refuses_writes.0,
            rules: AgentRules { write: self.write.0, money: self.money.0, destructive: self.destructive.0 },
            agents,
        })
    }
}

/// Get the policy for calls of agents
#[utoipa::path(tag = "Agent actions", responses((status = 200, body = AgentPolicyResponse)))]
#[get("/api/agent-policy")]
async fn show_agent_policy(staff: SignedInStaff, service: Data<AgentActionService>) -> Answer<AgentPolicyResponse> {
    answer(service.policy(&staff).await?)
}

/// Set the policy for calls of agents
///
/// Applies from the next call on. Calls proposed under the previous policy can no longer be approved or executed; the
/// agent proposes them again.
#[utoipa::path(
    tag = "Agent actions",
    request_body = AgentPolicyInput,
    responses(
        (status = 200, body = AgentPolicyResponse),
        (status = 409, description = "The policy was changed since it was read.", body = NamedErrorBody),
    ),
)]
#[put("/api/agent-policy")]
async fn update_agent_policy(
    staff: SignedInStaff,
    service: Data<AgentActionService>,
    body: Body<AgentPolicyInput>,
) -> Answer<AgentPolicyResponse> {
    answer(service.set_policy(&staff, body.0.policy()?).await?)
}
