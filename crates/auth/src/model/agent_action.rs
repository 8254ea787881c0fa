use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{Permission, ProjectId, Staff, TokenId, UserId};
use serde_json::{Value, json};
use strum::{EnumString, IntoStaticStr, VariantArray};
use uuid::Uuid;

use super::{Channel, Reason, ToolClass};
use crate::AgentActionRefusal;

/// Period in which a proposed call can be approved.
pub const AGENT_ACTION_LIFETIME: TimeDelta = TimeDelta::minutes(30);
/// Period after the proposal in which the agent gets the stored result by repeating its call. It is shorter than the
/// validity of an idempotency key, so a call is never executed again because its key has expired.
pub const AGENT_ACTION_REPLAY: TimeDelta = TimeDelta::hours(12);
/// Period after which an execution without an outcome is continued: its process has probably died. It is longer than
/// the wait for the response of a request.
pub const AGENT_ACTION_LEASE: TimeDelta = TimeDelta::minutes(2);
/// Maximum number of calls of an agent that wait for a decision.
pub const MAX_OPEN_AGENT_ACTIONS: i64 = 20;
/// Maximum number of failures of an agent within an hour that have an entry of the log each. Further ones are counted on
/// the newest entry.
pub const MAX_LOGGED_AGENT_FAILURES: i64 = 200;
/// Maximum size of the arguments of a proposed call, in bytes.
pub const MAX_AGENT_CALL_BYTES: usize = 64 << 10;
/// Maximum size of a stored result, in bytes.
pub const MAX_AGENT_RESULT_BYTES: usize = 256 << 10;

/// State of a call. `Expired` follows from the time and is never stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum AgentActionState {
    /// Waits for a decision.
    Proposed,
    /// Approved, and being executed.
    Approved,
    /// Refused by an employee.
    Refused,
    /// Not decided in time.
    Expired,
    /// Executed.
    Executed,
    /// The operation or the policy refused it.
    Failed,
    /// The agent has got the result.
    Reported,
}

/// Event of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentActionEvent {
    /// An employee approves.
    Approve,
    /// An employee refuses.
    Refuse,
    /// The time has passed.
    Expire,
    /// The execution is continued.
    Start,
    /// The operation has succeeded.
    Succeed,
    /// The operation has refused the call.
    Fail,
    /// The agent gets the result.
    Report,
}

/// Allowed move of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentActionMove {
    /// State before.
    pub from: AgentActionState,
    /// Event.
    pub event: AgentActionEvent,
    /// State after.
    pub to: AgentActionState,
}

const fn row(from: AgentActionState, event: AgentActionEvent, to: AgentActionState) -> AgentActionMove {
    AgentActionMove { from, event, to }
}

/// Every move; all others are refused.
pub const AGENT_ACTION_MOVES: &[AgentActionMove] = &[
    // The approval begins the execution in the same commit.
    row(AgentActionState::Proposed, AgentActionEvent::Approve, AgentActionState::Approved),
    row(AgentActionState::Proposed, AgentActionEvent::Refuse, AgentActionState::Refused),
    row(AgentActionState::Proposed, AgentActionEvent::Expire, AgentActionState::Expired),
    // Continues an interrupted execution under the same idempotency key.
    row(AgentActionState::Approved, AgentActionEvent::Start, AgentActionState::Approved),
    row(AgentActionState::Approved, AgentActionEvent::Succeed, AgentActionState::Executed),
    row(AgentActionState::Approved, AgentActionEvent::Fail, AgentActionState::Failed),
    row(AgentActionState::Executed, AgentActionEvent::Report, AgentActionState::Reported),
    row(AgentActionState::Failed, AgentActionEvent::Report, AgentActionState::Reported),
];

impl AgentActionState {
    /// Returns the state after an event, or `None` if the event is not allowed.
    pub fn after(self, event: AgentActionEvent) -> Option<Self> {
        AGENT_ACTION_MOVES.iter().find(|step| step.from == self && step.event == event).map(|step| step.to)
    }
}

/// Call as an agent sent it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentCall {
    /// HTTP method.
    pub method: String,
    /// Path template of the operation.
    pub tool: String,
    /// Path.
    pub path: String,
    /// Query string, without the question mark.
    pub query: String,
    /// JSON body, if there is one.
    pub body: Option<Value>,
    /// `Idempotency-Key` of the agent, if sent. It distinguishes equal calls; the execution has a key of its own.
    pub sent_key: Option<String>,
    /// `If-Match`: version of the record that the call is for.
    pub if_match: Option<String>,
    /// Hash of the preview that the agent has seen, if sent.
    pub preview_hash: Option<String>,
}

impl AgentCall {
    /// Returns the name of the operation: method and path template.
    pub fn operation(&self) -> String {
        format!("{} {}", self.method, self.tool)
    }

    /// Returns the text that the hash of the arguments covers. Equal calls have the same text.
    pub fn canonical(&self) -> String {
        canonical(&json!({
            "method": self.method,
            "path": self.path,
            "query": self.query,
            "body": self.body,
            "idempotency_key": self.sent_key,
            "if_match": self.if_match,
            "preview_hash": self.preview_hash,
        }))
    }
}

/// Returns a JSON value as text without spaces, with the keys of objects in order.
pub fn canonical(value: &Value) -> String {
    fn sorted(value: &Value) -> Value {
        match value {
            Value::Object(fields) => {
                let fields: BTreeMap<&String, Value> =
                    fields.iter().map(|(name, value)| (name, sorted(value))).collect();
                Value::Object(fields.into_iter().map(|(name, value)| (name.clone(), value)).collect())
            }
            Value::Array(values) => Value::Array(values.iter().map(sorted).collect()),
            other => other.clone(),
        }
    }
    sorted(value).to_string()
}

/// Call as it is stored first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAgentAction {
    /// Public identifier; cannot be guessed.
    pub public_id: Uuid,
    /// Project of the agent.
    pub project_id: ProjectId,
    /// Agent.
    pub agent_id: UserId,
    /// Token of the call. It is executed for its owner only.
    pub token_id: TokenId,
    /// Channel that it arrived on.
    pub channel: Channel,
    /// Call, as it will be executed: with `If-Match` if the record has a version.
    pub call: AgentCall,
    /// Class of the operation.
    pub class: ToolClass,
    /// Hash of the arguments as sent.
    pub arguments_hash: String,
    /// Version of the policy that decided.
    pub policy_version: i64,
    /// `true` if the policy demanded approval. `false` for an entry of the log.
    pub needs_approval: bool,
    /// Time of the call.
    pub proposed_at: DateTime<Utc>,
    /// End of the period for approval.
    pub expires_at: DateTime<Utc>,
    /// Time of deletion.
    pub keep_until: DateTime<Utc>,
}

impl NewAgentAction {
    /// Returns the idempotency key of the execution.
    pub fn key(&self) -> String {
        format!("agent-action-{}", self.public_id)
    }
}

/// Decision of an employee about a proposed call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentActionDecision {
    /// Employee.
    pub by: UserId,
    /// Time of the decision.
    pub at: DateTime<Utc>,
    /// Reason of a refusal.
    pub reason: Option<Reason>,
}

/// Result of an execution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentResult {
    /// HTTP status of the response.
    pub status: u16,
    /// Code of a structured refusal.
    pub code: Option<String>,
    /// JSON text of the response, if it is short enough to be stored.
    pub body: Option<String>,
}

impl AgentResult {
    /// Returns the event that the result is.
    pub fn event(&self) -> AgentActionEvent {
        if self.status < 400 { AgentActionEvent::Succeed } else { AgentActionEvent::Fail }
    }
}

/// Execution of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentExecution {
    /// Beginning.
    pub started_at: DateTime<Utc>,
    /// Time until which nothing else may continue it.
    pub leased_until: DateTime<Utc>,
    /// Number of beginnings and continuations. For a failure in the log, the number of failures that the entry counts.
    pub attempts: i32,
    /// End and result, once the outcome is known.
    pub finished: Option<(DateTime<Utc>, AgentResult)>,
}

impl AgentExecution {
    /// Returns an execution that begins now.
    pub fn begun(at: DateTime<Utc>) -> Self {
        Self { started_at: at, leased_until: at + AGENT_ACTION_LEASE, attempts: 1, finished: None }
    }

    /// Returns the execution continued now.
    #[must_use]
    pub fn continued(self, at: DateTime<Utc>) -> Self {
        Self { leased_until: at + AGENT_ACTION_LEASE, attempts: self.attempts.saturating_add(1), ..self }
    }
}

/// Call of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentAction {
    /// Call as it was stored first.
    pub proposal: NewAgentAction,
    /// Stored state; see [`AgentAction::state`].
    pub stored: AgentActionState,
    /// Decision, if there is one.
    pub decision: Option<AgentActionDecision>,
    /// Execution, if it has begun.
    pub execution: Option<AgentExecution>,
    /// Time at which the agent got the result.
    pub reported_at: Option<DateTime<Utc>>,
}

impl AgentAction {
    /// Returns the state at a time.
    pub fn state(&self, now: DateTime<Utc>) -> AgentActionState {
        let expired = self.stored.after(AgentActionEvent::Expire).filter(|_| self.is_late(now));
        expired.unwrap_or(self.stored)
    }

    /// Returns the state after an event at a time, or the refusal. An execution is continued only after its lease.
    pub fn after(&self, event: AgentActionEvent, now: DateTime<Utc>) -> Result<AgentActionState, AgentActionRefusal> {
        let state = self.state(now);
        if event == AgentActionEvent::Start && self.is_leased(now) {
            return Err(AgentActionRefusal::State(state));
        }
        state.after(event).ok_or(AgentActionRefusal::State(state))
    }

    /// Returns `true` if a process executes the call.
    pub fn is_leased(&self, now: DateTime<Utc>) -> bool {
        self.execution.as_ref().is_some_and(|execution| execution.leased_until > now)
    }

    /// Returns `true` if the period for approval has passed. Then an interrupted call is no longer executed; only its
    /// outcome is looked up.
    pub fn is_late(&self, now: DateTime<Utc>) -> bool {
        self.proposal.expires_at <= now
    }

    /// Returns the result, if the call was executed.
    pub fn result(&self) -> Option<&AgentResult> {
        self.execution.as_ref()?.finished.as_ref().map(|(_, result)| result)
    }

    /// Returns `true` if an equal call of the agent under this version of the policy is this one, and not a new
    /// proposal. A failure is reported once.
    pub fn answers(&self, now: DateTime<Utc>, policy_version: i64) -> bool {
        match self.state(now) {
            AgentActionState::Proposed => self.proposal.policy_version == policy_version,
            AgentActionState::Approved => true,
            AgentActionState::Refused => !self.is_late(now),
            AgentActionState::Executed | AgentActionState::Failed | AgentActionState::Reported => {
                let failed = self.result().is_some_and(|result| result.event() == AgentActionEvent::Fail);
                let is_new = self.stored != AgentActionState::Reported || !failed;
                is_new && self.proposal.proposed_at + AGENT_ACTION_REPLAY > now
            }
            AgentActionState::Expired => false,
        }
    }

    /// Returns `true` if the caller may see the arguments and the result: those who decide, and the agent itself.
    pub fn shows_arguments_to(&self, staff: &Staff) -> bool {
        staff.user_id == self.proposal.agent_id || staff.require(Permission::APPROVE_AGENT_ACTIONS).is_ok()
    }
}

/// Filter of the list of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AgentActionFilter {
    /// State at the time of the request.
    pub state: Option<AgentActionState>,
    /// Agent.
    pub agent: Option<UserId>,
    /// `true` for calls that needed approval, `false` for the others.
    pub needs_approval: Option<bool>,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use AgentActionState::{Approved, Executed, Expired, Failed, Proposed, Refused, Reported};

    const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;

    /// Returns a call of agent 9 with token 5 in project 1, proposed at the epoch.
    pub(crate) fn action(stored: AgentActionState) -> AgentAction {
        let call = AgentCall {
            method: "POST".to_owned(),
            tool: "/api/brands".to_owned(),
            path: "/api/brands".to_owned(),
            query: String::new(),
            body: Some(json!({ "name": "A" })),
            sent_key: None,
            if_match: None,
            preview_hash: None,
        };
        let proposal = NewAgentAction {
            public_id: Uuid::nil(),
            project_id: ProjectId::new(1).unwrap(),
            agent_id: UserId::new(9).unwrap(),
            token_id: TokenId::new(5).unwrap(),
            channel: Channel::Api,
            call,
            class: ToolClass::Write,
            arguments_hash: "hash".to_owned(),
            policy_version: 1,
            needs_approval: true,
            proposed_at: NOW,
            expires_at: NOW + AGENT_ACTION_LIFETIME,
            keep_until: NOW + TimeDelta::days(90),
        };
        AgentAction { proposal, stored, decision: None, execution: None, reported_at: None }
    }

    fn finished(stored: AgentActionState, status: u16) -> AgentAction {
        let result = AgentResult { status, code: None, body: None };
        let execution = AgentExecution { finished: Some((NOW, result)), ..AgentExecution::begun(NOW) };
        AgentAction { execution: Some(execution), ..action(stored) }
    }

    #[test]
    fn each_state_and_event_has_at_most_one_move() {
        for (index, step) in AGENT_ACTION_MOVES.iter().enumerate() {
            let same = |other: &AgentActionMove| (other.from, other.event) == (step.from, step.event);
            assert_eq!(AGENT_ACTION_MOVES.iter().position(same), Some(index));
        }
        for last in [Refused, Expired, Reported] {
            assert!(AGENT_ACTION_MOVES.iter().all(|step| step.from != last), "{last:?} is final");
        }
        let into = |state| -> Vec<_> {
            AGENT_ACTION_MOVES.iter().filter(|step| step.to == state).map(|step| step.from).collect()
        };
        assert_eq!(into(Approved), [Proposed, Approved]);
        assert_eq!((into(Executed), into(Failed)), (vec![Approved], vec![Approved]));
    }

    #[test]
    fn time_ends_what_is_not_approved() {
        let end = NOW + AGENT_ACTION_LIFETIME;
        for (stored, at_the_end) in [(Proposed, Expired), (Approved, Approved), (Refused, Refused)] {
            assert_eq!(action(stored).state(end - TimeDelta::seconds(1)), stored);
            assert_eq!(action(stored).state(end), at_the_end);
        }
        let late = action(Proposed).after(AgentActionEvent::Approve, end);
        assert_eq!(late, Err(AgentActionRefusal::State(Expired)));
        assert!(action(Refused).answers(NOW, 1) && !action(Refused).answers(end, 1));
        assert!(action(Proposed).answers(NOW, 1) && !action(Proposed).answers(NOW, 2));
    }

    #[test]
    fn a_failure_is_reported_once_and_a_success_for_hours() {
        let last = NOW + AGENT_ACTION_REPLAY - TimeDelta::seconds(1);
        for (stored, status, answers) in
            [(Executed, 201, true), (Reported, 201, true), (Failed, 412, true), (Reported, 412, false)]
        {
            assert_eq!(finished(stored, status).answers(last, 2), answers, "{stored:?} {status}");
            assert!(!finished(stored, status).answers(NOW + AGENT_ACTION_REPLAY, 2));
        }
    }

    #[test]
    fn an_execution_is_continued_only_after_its_lease() {
        let lease = NOW + AGENT_ACTION_LEASE;
        let running = AgentAction { execution: Some(AgentExecution::begun(NOW)), ..action(Approved) };
        let start = |at| running.after(AgentActionEvent::Start, at);
        assert_eq!(start(lease - TimeDelta::seconds(1)), Err(AgentActionRefusal::State(Approved)));
        assert_eq!(start(lease), Ok(Approved));
        assert_eq!(running.after(AgentActionEvent::Refuse, lease), Err(AgentActionRefusal::State(Approved)));
        assert_eq!(AgentExecution::begun(NOW).continued(lease).attempts, 2);
    }

    #[test]
    fn calls_are_equal_if_their_values_are() {
        let call =
            |body: &str| AgentCall { body: serde_json::from_str(body).unwrap(), ..action(Proposed).proposal.call };
        let text = |body| call(body).canonical();
        assert_eq!(text(r#"{"b": [1, {"d": 1, "c": 2}], "a": null}"#), text(r#"{"a":null,"b":[1,{"c":2,"d":1}]}"#));
        assert_ne!(text(r#"{"a": [1, 2]}"#), text(r#"{"a": [2, 1]}"#));
        let keyed = AgentCall { sent_key: Some("k".to_owned()), ..call("{}") };
        assert_ne!(keyed.canonical(), call("{}").canonical());
    }
}
