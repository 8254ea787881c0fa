//! Wire form of agents' calls.

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
    /// Hash of the preview that the agent has seen, from its header `Preview-Hash`.
    preview_hash: Option<String>,
}

impl From<AgentCall> for AgentCallArguments {
    fn from(call: AgentCall) -> Self {
        let body = call.body.as_ref().map(canonical);
        Self { query: call.query, body, if_match: call.if_match, preview_hash: call.preview_hash }
    }
}

/// Call of an agent.
#[derive(Serialize, ToSchema)]
pub struct AgentActionRecord {
    /// Id of the call, used in paths.
    #[serde(rename = "publicId")]
    public_id: Uuid,
    /// Id of the agent.
    agent_id: i64,
    /// `api` or `mcp`.
    channel: &'static str,
    /// `true` if the policy demanded approval, `false` for a call that was executed or refused at once.
    needs_approval: bool,
    /// `proposed`, `approved`, `refused`, `expired`, `executed`, `failed` or `reported`.
    state: &'static str,
    /// Method and path template of the operation.
    #[schema(examples("PUT /api/inventories/{id}"))]
    operation: String,
    /// `write`, `money` or `destructive`.
    class: &'static str,
    /// Path of the call.
    path: String,
    /// SHA-256 of the call in lower hex: method, path, query, body and headers.
    arguments_hash: String,
    /// `null` for callers without the permission `approve-agent-actions`, except for the agent itself, and for calls
    /// that needed no approval.
    arguments: Option<AgentCallArguments>,
    /// Version of the policy that decided.
    policy_version: i64,
    proposed_at: DateTime<Utc>,
    /// End of the time for approval.
    expires_at: DateTime<Utc>,
    /// Id of the employee who approved or refused the call.
    decided_by: Option<i64>,
    decided_at: Option<DateTime<Utc>>,
    /// Reason of a refusal.
    reason: Option<String>,
    /// Number of times that the execution was begun. For a failure that needed no approval: the number of failures that
    /// this entry counts, if the agent has more than 200 within an hour.
    attempts: i32,
    started_at: Option<DateTime<Utc>>,
    finished_at: Option<DateTime<Utc>>,
    /// Time from the beginning to the end of the execution, in milliseconds.
    duration_ms: Option<i64>,
    /// HTTP status of the response to the executed call.
    status_code: Option<u16>,
    /// Code of the error, if the call failed with one.
    error_code: Option<String>,
    /// JSON text of the response, if it is shorter than 256 KiB. Shown to the same callers as `arguments`.
    result: Option<String>,
    /// Time at which the agent got the result.
    reported_at: Option<DateTime<Utc>>,
}

impl From<ShownAgentAction> for AgentActionRecord {
    fn from(shown: ShownAgentAction) -> Self {
        let ShownAgentAction { action, state, shows_arguments } = shown;
        let (proposal, execution, decision) = (action.proposal, action.execution, action.decision);
        let attempts = execution.as_ref().map_or(0, |execution| execution.attempts);
        let started_at = execution.as_ref().map(|execution| execution.started_at);
        let (finished_at, result) = execution.and_then(|execution| execution.finished).unzip();
        let duration = started_at.zip(finished_at).map(|(start, end)| end - start);
        let shows_call = shows_arguments && proposal.needs_approval;
        Self {
            public_id: proposal.public_id,
            agent_id: proposal.agent_id.get(),
            channel: proposal.channel.word(),
            needs_approval: proposal.needs_approval,
            state: state.word(),
            operation: proposal.call.operation(),
            class: proposal.class.word(),
            path: proposal.call.path.clone(),
            arguments_hash: proposal.arguments_hash,
            arguments: shows_call.then(|| proposal.call.into()),
            policy_version: proposal.policy_version,
            proposed_at: proposal.proposed_at,
            expires_at: proposal.expires_at,
            decided_by: decision.as_ref().map(|decision| decision.by.get()),
            decided_at: decision.as_ref().map(|decision| decision.at),
            reason: decision.and_then(|decision| decision.reason).as_ref().map(Reason::as_str).map(str::to_owned),
            attempts,
            started_at,
            finished_at,
            duration_ms: duration.map(|duration| duration.num_milliseconds()),
            status_code: result.as_ref().map(|result| result.status),
            error_code: result.as_ref().and_then(|result| result.code.clone()),
            result: result.and_then(|result| result.body).filter(|_| shows_arguments),
            reported_at: action.reported_at,
        }
    }
}

one!(
    /// A call of an agent.
    pub AgentActionResponse { agent_action: AgentActionRecord }
);
