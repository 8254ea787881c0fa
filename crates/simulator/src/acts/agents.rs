//! Agents send calls that need approval, employees decide and revoke tokens, and workers continue interrupted executions.

use chrono::TimeDelta;
use kontor_adapter_diesel::{IdempotentRequest, KeyClaim, KeyOwner, RequestNumbers};
use kontor_auth::model::{
    AgentAction, AgentActionFilter, AgentActionState, AgentCall, AgentResult, Channel, TokenOwner, Tool, ToolClass,
};
use kontor_auth::ports::TokenRepository;
use kontor_auth::{AgentActionError, AgentCallState, AgentResponse};
use kontor_kernel::{Clock as _, Name, PageRequest, Permission, RecordRepository, Resource, Staff, Stamp, StoreError};
use kontor_organization::model::{Task, TaskDraft, TaskLinks, TaskStatus};
use serde_json::json;

use super::{Act, ActResult, Scene};
use crate::services::Services;

/// Operation that agents call.
pub const TASKS: Tool = Tool {
    method: "POST",
    path: "/api/tasks",
    class: ToolClass::Write,
    permissions: &[Permission::edit(Resource::Tasks)],
    holds_secrets: false,
    has_preview: false,
    amount: None,
};

/// Creates the call with this number: a task whose title identifies the call.
fn call(number: u64) -> AgentCall {
    AgentCall {
        method: TASKS.method.to_owned(),
        tool: TASKS.path.to_owned(),
        path: TASKS.path.to_owned(),
        query: String::new(),
        body: Some(json!({ "title": format!("Agent call {number}") })),
        sent_key: None,
        if_match: None,
        preview_hash: None,
    }
}

/// Sends a call as the agent of the merchant. A repeated call gets its result, or continues its execution.
pub fn asks(scene: Scene, number: u64) -> Act {
    Box::pin(
        async move { ActResult::of("an agent asks", ask(&scene, number).await, |reported| (*reported).to_owned()) },
    )
}

/// Returns `true` if the token of an agent is not revoked.
async fn has_token(services: &Services, agent: &Staff) -> Result<bool, StoreError> {
    services.turns.take().await;
    Ok(TokenRepository::staff_token(&services.database, agent.token_id).await?.is_some())
}

async fn ask(scene: &Scene, number: u64) -> Result<&'static str, AgentActionError> {
    let (agents, agent) = (&scene.services.agents, &scene.merchant.agent);
    if !has_token(&scene.services, agent).await? {
        return Ok("has no token");
    }
    let judged = agents.judge(agent, Channel::Api, (TASKS.method, TASKS.path, "")).await?;
    let call = call(number);
    match agents.look_up(agent, judged, &call).await? {
        AgentCallState::New => {
            agents.propose(agent, judged, call, None).await?;
            Ok("proposed")
        }
        AgentCallState::Waiting(_) => Ok("waits"),
        AgentCallState::Done(_) => Ok("has the result"),
        AgentCallState::Continue(action) => execute(&scene.services, &action).await,
    }
}

/// Approves and executes an open call of the merchant's agent, or refuses it.
pub fn decides(mut scene: Scene) -> Act {
    Box::pin(async move {
        let (services, admin) = (scene.services.clone(), scene.merchant.supervisor.clone());
        let filter = AgentActionFilter { state: Some(AgentActionState::Proposed), ..AgentActionFilter::default() };
        let page = PageRequest::new(1, 20, 100).unwrap();
        let open = services.agents.list(&admin, filter, page).await.map(|page| page.items);
        let Some(shown) = open.as_ref().ok().and_then(|open| scene.rng.one_of(open)) else {
            return ActResult::of("decides", open, |open| format!("{} open calls", open.len()));
        };
        let id = shown.action.proposal.public_id;
        if scene.rng.percent(25) {
            return ActResult::of("refuses a call", services.agents.refuse(&admin, id, None).await, |_| String::new());
        }
        let executed = match services.agents.approve(&admin, id, None).await {
            Ok(action) => execute(&services, &action).await,
            Err(error) => Err(error),
        };
        ActResult::of("approves a call", executed, |reported| (*reported).to_owned())
    })
}

/// Revokes the token of the merchant's agent.
pub fn revokes(scene: Scene) -> Act {
    Box::pin(async move {
        let agent = &scene.merchant.agent;
        scene.services.turns.take().await;
        let owner = TokenOwner::Staff(agent.user_id);
        let revoked = TokenRepository::revoke(&scene.services.database, owner, agent.token_id).await;
        ActResult::of("revokes the token of an agent", revoked, |()| String::new())
    })
}

/// Continues at most this many interrupted executions of any merchant, as a worker does.
pub fn continues(scene: Scene, most: u32) -> Act {
    Box::pin(async move {
        let services = &scene.services;
        for number in 0..most {
            let executed = match services.agents.take_interrupted().await {
                Ok(None) => return ActResult::of("continues calls", Ok::<_, StoreError>(number), u32::to_string),
                Ok(Some(action)) => execute(services, &action).await,
                Err(error) => Err(error),
            };
            if executed.is_err() {
                return ActResult::of("continues calls", executed, |reported| (*reported).to_owned());
            }
        }
        ActResult::of("continues calls", Ok::<_, StoreError>(most), u32::to_string)
    })
}

fn response(status: u16, code: Option<&str>, is_replayed: bool) -> AgentResponse {
    let result = AgentResult { status, code: code.map(str::to_owned), body: None };
    AgentResponse { result, is_replayed }
}

/// Executes an approved call as the gate does: the token is checked, its key is looked up, and effect and key are one commit.
async fn execute(services: &Services, action: &AgentAction) -> Result<&'static str, AgentActionError> {
    let (at, proposal) = (services.clock.now(), &action.proposal);
    let agent = Staff {
        project_id: proposal.project_id,
        user_id: proposal.agent_id,
        token_id: proposal.token_id,
        is_agent: true,
        permissions: TASKS.permissions.iter().copied().collect(),
    };
    if !has_token(services, &agent).await? {
        services.agents.finish(action, response(401, None, false)).await?;
        return Ok("has no token");
    }
    services.agents.executing(&agent, proposal.public_id).await?;
    let owner = KeyOwner { guard: "user", id: Some(agent.user_id.get()) };
    let id = owner.keys(&proposal.key());
    services.turns.take().await;
    let (response, reported) = if services.database.find_key(&id, at).await?.is_some() {
        (response(201, None, true), "replayed")
    } else if services.agents.is_too_late(action) {
        (response(409, Some("agent_call_decided"), false), "too late")
    } else {
        let attempts = action.execution.as_ref().map_or(0, |execution| execution.attempts);
        let request = IdempotentRequest::new(KeyClaim {
            id,
            fingerprint: proposal.arguments_hash.clone(),
            owner,
            process: "p".to_owned(),
            leased_until: at + TimeDelta::seconds(30),
            at,
            number: RequestNumbers::new(u32::try_from(attempts).unwrap_or_default()).next(at),
        });
        let title = proposal.call.body.as_ref().and_then(|body| body["title"].as_str());
        let draft = TaskDraft {
            title: Name::parse(title.unwrap_or_default()).unwrap(),
            description: None,
            status: TaskStatus::New,
            links: TaskLinks::default(),
        };
        services.turns.take().await;
        let database = services.database.for_request(request.clone());
        match RecordRepository::<Task>::insert(&database, Stamp::of(&agent, at), draft).await {
            Ok(_) => (response(201, None, false), "executed"),
            Err(_) if request.lost_key() => (response(409, Some("idempotency_in_progress"), false), "overtaken"),
            Err(error) => return Err(StoreError::Failed(error.to_string()).into()),
        }
    };
    services.agents.finish(action, response).await?;
    Ok(reported)
}
