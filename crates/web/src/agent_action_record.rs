//! Wire form of agents' calls that need approval.

use chrono::{DateTime, Utc};
use kontor_auth::ShownAgentAction;
use kontor_auth::model::{AgentCall, Reason, canonical};
use kontor_kernel::Word;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::envelope::one;

/// Arguments of a call.
#[derive(Serialize, ToSchema)]
pub struct AgentCallArguments {
    /// Query string, without the question mark.
    query: String,
    /// JSON text of the body, with the keys of objects in order. `null` if there is no body.
    body: Option<String>,
    /// Version of the record that the call is bound to: it fails if the record has changed.
    if_match: Option<String>,
}

impl From<AgentCall> for AgentCallArguments {
    fn from(call: AgentCall) -> Self {
        Self { query: call.query, body: call.body.as_ref().map(canonical), if_match: call.if_match }
    }
}

/// Call of an agent that needs approval.
#[derive(Serialize, ToSchema)]
pub struct AgentActionRecord {
    /// Id of the call, used in paths.
    #[serde(rename = "publicId")]
    public_id: Uuid,
    /// Id of the agent.
    agent_id: i64,
    /// `proposed`, `approved`, `refused`, `expired`, `executing`, `executed` or `failed`.
    state: &'static str,
    /// Method and path template of the operation.
    #[schema(examples("PUT /api/inventories/{id}"))]
    operation: String,
    /// `write`, `money` or `destructive`.
    class: &'static str,
    /// Path of the call.
    path: String,
    /// SHA-256 of the call in lower hex: method, path, query, body, headers, and the version of the policy.
    arguments_hash: String,
    /// `null` for callers without the permission `approve-agent-actions`, except for the agent itself.
    arguments: Option<AgentCallArguments>,
    /// Version of the policy that demanded the approval.
    policy_version: i64,
    proposed_at: DateTime<Utc>,
    /// End of the time for approval and execution.
    expires_at: DateTime<Utc>,
    /// Id of the employee who approved or refused the call.
    decided_by: Option<i64>,
    decided_at: Option<DateTime<Utc>>,
    /// Reason of a refusal.
    reason: Option<String>,
    started_at: Option<DateTime<Utc>>,
    finished_at: Option<DateTime<Utc>>,
    /// Time from the beginning to the end of the execution, in milliseconds.
    duration_ms: Option<i64>,
    /// HTTP status of the response to the executed call.
    status_code: Option<u16>,
}

impl From<ShownAgentAction> for AgentActionRecord {
    fn from(shown: ShownAgentAction) -> Self {
        let ShownAgentAction { action, state, shows_arguments } = shown;
        let (proposal, execution) = (action.proposal, action.execution);
        let finished = execution.and_then(|execution| execution.finished);
        let duration = execution.zip(finished).map(|(execution, (end, _))| end - execution.started_at);
        let decision = action.decision;
        Self {
            public_id: proposal.public_id,
            agent_id: proposal.agent_id.get(),
            state: state.word(),
            operation: format!("{} {}", proposal.call.method, proposal.call.tool),
            class: proposal.class.word(),
            path: proposal.call.path.clone(),
            arguments_hash: proposal.arguments_hash,
            arguments: shows_arguments.then(|| proposal.call.into()),
            policy_version: proposal.policy_version,
            proposed_at: proposal.proposed_at,
            expires_at: proposal.expires_at,
            decided_by: decision.as_ref().map(|decision| decision.by.get()),
            decided_at: decision.as_ref().map(|decision| decision.at),
            reason: decision.and_then(|decision| decision.reason).as_ref().map(Reason::as_str).map(str::to_owned),
            started_at: execution.map(|execution| execution.started_at),
            finished_at: finished.map(|(at, _)| at),
            duration_ms: duration.map(|duration| duration.num_milliseconds()),
            status_code: finished.map(|(_, status)| status),
        }
    }
}

one!(pub AgentActionResponse { agent_action: AgentActionRecord });
