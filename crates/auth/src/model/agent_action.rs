use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{Permission, ProjectId, Staff, TokenId, UserId};
use serde_json::{Value, json};
use strum::{EnumString, IntoStaticStr, VariantArray};
use uuid::Uuid;

use super::Reason;
use crate::AgentActionRefusal;

/// Period in which a proposed call can be approved and executed.
pub const AGENT_ACTION_LIFETIME: TimeDelta = TimeDelta::minutes(30);
/// Period after the proposal in which the agent gets the stored response to an executed call. It is shorter than the
/// validity of an idempotency key, so a call is never executed again because its key has expired.
pub const AGENT_ACTION_REPLAY: TimeDelta = TimeDelta::hours(12);
/// Period after which an execution without an outcome may be continued: its process has probably died.
pub const AGENT_ACTION_LEASE: TimeDelta = TimeDelta::minutes(1);
/// Maximum number of calls of an agent that wait for a decision or for their execution.
pub const MAX_OPEN_AGENT_ACTIONS: i64 = 20;
/// Maximum size of the arguments of a proposed call, in bytes.
pub const MAX_AGENT_CALL_BYTES: usize = 64 << 10;
/// Maximum number of agents with own rules in a project.
pub const MAX_AGENT_RULES: usize = 100;

/// Kind of effect of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum ToolClass {
    /// Changes nothing that belongs to the project.
    Read,
    /// Changes records in a way that another write takes back.
    Write,
    /// Moves money, or changes prices, stock or access. An unknown operation counts as this.
    Money,
    /// Deletes records, or ends what cannot be continued.
    Destructive,
}

/// Operation of the API that an agent may call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tool {
    /// HTTP method.
    pub method: &'static str,
    /// Path template.
    pub path: &'static str,
    /// Kind of effect.
    pub class: ToolClass,
    /// Permissions that the operation requires.
    pub permissions: &'static [Permission],
}

/// Treatment of a call of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum AgentRule {
    /// Executed at once.
    #[default]
    Allowed,
    /// Executed after an employee has approved it.
    NeedsApproval,
    /// Refused.
    Forbidden,
}

/// Rules by class. Reads are always allowed; permissions decide about them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AgentRules {
    /// Rule for [`ToolClass::Write`].
    pub write: AgentRule,
    /// Rule for [`ToolClass::Money`].
    pub money: AgentRule,
    /// Rule for [`ToolClass::Destructive`].
    pub destructive: AgentRule,
}

impl AgentRules {
    /// Returns the rule for a class.
    pub fn of(self, class: ToolClass) -> AgentRule {
        match class {
            ToolClass::Read => AgentRule::Allowed,
            ToolClass::Write => self.write,
            ToolClass::Money => self.money,
            ToolClass::Destructive => self.destructive,
        }
    }
}

/// Policy of a project for the calls of its agents. Without a stored one, everything is allowed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentPolicy {
    /// Version, raised by each change; 0 if none is stored.
    pub version: i64,
    /// `true` to refuse every call of an agent that is not a read.
    pub refuses_writes: bool,
    /// Rules for agents without own rules.
    pub rules: AgentRules,
    /// Rules of single agents.
    pub agents: BTreeMap<UserId, AgentRules>,
}

impl AgentPolicy {
    /// Returns the rule for a call of an agent.
    pub fn rule(&self, agent: UserId, class: ToolClass) -> AgentRule {
        if self.refuses_writes && class != ToolClass::Read {
            return AgentRule::Forbidden;
        }
        self.agents.get(&agent).unwrap_or(&self.rules).of(class)
    }
}

/// State of a proposed call. `Expired` follows from the time and is never stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum AgentActionState {
    /// Waits for a decision.
    Proposed,
    /// Approved. The agent executes it by repeating its call.
    Approved,
    /// Refused by an employee.
    Refused,
    /// Not decided or not executed in time.
    Expired,
    /// Being executed, or interrupted before its outcome was known.
    Executing,
    /// Executed.
    Executed,
    /// Executed, and the operation refused it.
    Failed,
}

/// Event of a proposed call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentActionEvent {
    /// An employee approves.
    Approve,
    /// An employee refuses, or withdraws an approval.
    Refuse,
    /// The time has passed.
    Expire,
    /// The agent has repeated its call.
    Start,
    /// The operation has succeeded.
    Succeed,
    /// The operation has refused the call.
    Fail,
}

/// Allowed move of a proposed call.
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
    row(AgentActionState::Proposed, AgentActionEvent::Approve, AgentActionState::Approved),
    row(AgentActionState::Proposed, AgentActionEvent::Refuse, AgentActionState::Refused),
    row(AgentActionState::Proposed, AgentActionEvent::Expire, AgentActionState::Expired),
    row(AgentActionState::Approved, AgentActionEvent::Refuse, AgentActionState::Refused),
    row(AgentActionState::Approved, AgentActionEvent::Expire, AgentActionState::Expired),
    row(AgentActionState::Approved, AgentActionEvent::Start, AgentActionState::Executing),
    // Continues an interrupted execution under the same idempotency key.
    row(AgentActionState::Executing, AgentActionEvent::Start, AgentActionState::Executing),
    row(AgentActionState::Executing, AgentActionEvent::Succeed, AgentActionState::Executed),
    row(AgentActionState::Executing, AgentActionEvent::Fail, AgentActionState::Failed),
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
    /// `Idempotency-Key`, if sent.
    pub key: Option<String>,
    /// `If-Match`, if sent.
    pub if_match: Option<String>,
}

impl AgentCall {
    /// Returns the text that the hash of the arguments covers. Equal calls under the same policy have the same text.
    pub fn canonical(&self, policy_version: i64) -> String {
        canonical(&json!({
            "method": self.method,
            "path": self.path,
            "query": self.query,
            "body": self.body,
            "idempotency_key": self.key,
            "if_match": self.if_match,
            "policy_version": policy_version,
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

/// New proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAgentAction {
    /// Public identifier; cannot be guessed.
    pub public_id: Uuid,
    /// Project of the agent.
    pub project_id: ProjectId,
    /// Agent.
    pub agent_id: UserId,
    /// Token of the call. Only it can execute the call.
    pub token_id: TokenId,
    /// Call, as it will be executed: with an idempotency key, and with `If-Match` if the record has a version.
    pub call: AgentCall,
    /// Class of the operation.
    pub class: ToolClass,
    /// Hash of the arguments as sent.
    pub arguments_hash: String,
    /// Version of the policy that demanded the approval.
    pub policy_version: i64,
    /// Time of the proposal.
    pub proposed_at: DateTime<Utc>,
    /// End of the period for approval and execution.
    pub expires_at: DateTime<Utc>,
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

/// Execution of an approved call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentExecution {
    /// Beginning.
    pub started_at: DateTime<Utc>,
    /// Time until which no other request may continue it.
    pub leased_until: DateTime<Utc>,
    /// End and status of the response, once the outcome is known.
    pub finished: Option<(DateTime<Utc>, u16)>,
}

/// Outcome of an execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentOutcome {
    /// The operation has succeeded, with this status.
    Succeeded(u16),
    /// The operation has refused the call, with this status.
    Failed(u16),
    /// Not known. The agent may repeat its call at once.
    Unknown,
}

/// Call of an agent that needs approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentAction {
    /// Proposal.
    pub proposal: NewAgentAction,
    /// Stored state; see [`AgentAction::state`].
    pub stored: AgentActionState,
    /// Decision, if there is one.
    pub decision: Option<AgentActionDecision>,
    /// Execution, if it has begun.
    pub execution: Option<AgentExecution>,
}

impl AgentAction {
    /// Returns the state at a time.
    pub fn state(&self, now: DateTime<Utc>) -> AgentActionState {
        let expired = self.stored.after(AgentActionEvent::Expire).filter(|_| self.is_late(now));
        expired.unwrap_or(self.stored)
    }

    /// Returns the state after an event at a time, or the refusal. An execution begins and continues only within the
    /// period of the approval.
    pub fn after(&self, event: AgentActionEvent, now: DateTime<Utc>) -> Result<AgentActionState, AgentActionRefusal> {
        let state = self.state(now);
        if event == AgentActionEvent::Start && (self.is_leased(now) || self.is_late(now)) {
            return Err(AgentActionRefusal::State(state));
        }
        state.after(event).ok_or(AgentActionRefusal::State(state))
    }

    /// Returns `true` if a request executes the call.
    pub fn is_leased(&self, now: DateTime<Utc>) -> bool {
        self.execution.is_some_and(|execution| execution.leased_until > now)
    }

    /// Returns `true` if the period for approval and execution has passed.
    pub fn is_late(&self, now: DateTime<Utc>) -> bool {
        self.proposal.expires_at <= now
    }

    /// Returns `true` if an equal call of the agent is this one, and not a new proposal.
    pub fn answers(&self, now: DateTime<Utc>) -> bool {
        match self.state(now) {
            AgentActionState::Proposed | AgentActionState::Approved => true,
            AgentActionState::Refused => !self.is_late(now),
            AgentActionState::Executing | AgentActionState::Executed => {
                self.proposal.proposed_at + AGENT_ACTION_REPLAY > now
            }
            AgentActionState::Expired | AgentActionState::Failed => false,
        }
    }

    /// Returns `true` if the caller may see the arguments: those who decide, and the agent itself.
    pub fn shows_arguments_to(&self, staff: &Staff) -> bool {
        staff.user_id == self.proposal.agent_id || staff.require(Permission::APPROVE_AGENT_ACTIONS).is_ok()
    }
}

/// Filter of the list of proposed calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AgentActionFilter {
    /// State at the time of the request.
    pub state: Option<AgentActionState>,
    /// Agent.
    pub agent: Option<UserId>,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use AgentActionState::{Approved, Executed, Executing, Expired, Failed, Proposed, Refused};

    const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;

    /// Returns a call of agent 9 with token 5 in project 1, proposed at the epoch.
    pub(crate) fn action(stored: AgentActionState) -> AgentAction {
        let call = AgentCall {
            method: "POST".to_owned(),
            tool: "/api/brands".to_owned(),
            path: "/api/brands".to_owned(),
            query: String::new(),
            body: Some(json!({ "name": "A" })),
            key: None,
            if_match: None,
        };
        let proposal = NewAgentAction {
            public_id: Uuid::nil(),
            project_id: ProjectId::new(1).unwrap(),
            agent_id: UserId::new(9).unwrap(),
            token_id: TokenId::new(5).unwrap(),
            call,
            class: ToolClass::Write,
            arguments_hash: "hash".to_owned(),
            policy_version: 1,
            proposed_at: NOW,
            expires_at: NOW + AGENT_ACTION_LIFETIME,
        };
        AgentAction { proposal, stored, decision: None, execution: None }
    }

    #[test]
    fn each_state_and_event_has_at_most_one_move() {
        for (index, step) in AGENT_ACTION_MOVES.iter().enumerate() {
            let same = |other: &AgentActionMove| (other.from, other.event) == (step.from, step.event);
            assert_eq!(AGENT_ACTION_MOVES.iter().position(same), Some(index));
        }
        for last in [Refused, Expired, Executed, Failed] {
            assert!(AGENT_ACTION_MOVES.iter().all(|step| step.from != last), "{last:?} is final");
        }
        let before_execution: Vec<_> =
            AGENT_ACTION_MOVES.iter().filter(|step| step.to == Executing).map(|step| step.from).collect();
        assert_eq!(before_execution, [Approved, Executing]);
        let before_approval: Vec<_> = AGENT_ACTION_MOVES.iter().filter(|step| step.to == Approved).collect();
        assert_eq!(before_approval.len(), 1);
    }

    #[test]
    fn time_ends_what_is_not_executed() {
        let end = NOW + AGENT_ACTION_LIFETIME;
        let ends = [(Proposed, Expired), (Approved, Expired), (Refused, Refused), (Executing, Executing)];
        for (stored, at_the_end) in ends {
            assert_eq!(action(stored).state(end - TimeDelta::seconds(1)), stored);
            assert_eq!(action(stored).state(end), at_the_end);
        }
        let late = action(Proposed).after(AgentActionEvent::Approve, end);
        assert_eq!(late, Err(AgentActionRefusal::State(Expired)));
        assert_eq!(action(Approved).after(AgentActionEvent::Start, end), Err(AgentActionRefusal::State(Expired)));
        let answers = |stored, after: TimeDelta| action(stored).answers(NOW + after);
        assert!(answers(Executed, AGENT_ACTION_REPLAY - TimeDelta::seconds(1)));
        assert!(!answers(Executed, AGENT_ACTION_REPLAY) && !answers(Failed, TimeDelta::zero()));
        assert!(answers(Refused, TimeDelta::zero()) && !answers(Refused, AGENT_ACTION_LIFETIME));
    }

    #[test]
    fn an_execution_is_continued_only_after_its_lease() {
        let lease = NOW + AGENT_ACTION_LEASE;
        let execution = AgentExecution { started_at: NOW, leased_until: lease, finished: None };
        let running = AgentAction { execution: Some(execution), ..action(Executing) };
        let start = |at| running.after(AgentActionEvent::Start, at);
        assert_eq!(start(lease - TimeDelta::seconds(1)), Err(AgentActionRefusal::State(Executing)));
        assert_eq!(start(lease), Ok(Executing));
        assert_eq!(start(NOW + AGENT_ACTION_LIFETIME), Err(AgentActionRefusal::State(Executing)));
        assert_eq!(running.after(AgentActionEvent::Refuse, lease), Err(AgentActionRefusal::State(Executing)));
    }

    #[test]
    fn calls_are_equal_if_their_values_are() {
        let call =
            |body: &str| AgentCall { body: serde_json::from_str(body).unwrap(), ..action(Proposed).proposal.call };
        let text = |body| call(body).canonical(1);
        assert_eq!(text(r#"{"b": [1, {"d": 1, "c": 2}], "a": null}"#), text(r#"{"a":null,"b":[1,{"c":2,"d":1}]}"#));
        assert_ne!(text(r#"{"a": [1, 2]}"#), text(r#"{"a": [2, 1]}"#));
        assert_ne!(call("{}").canonical(1), call("{}").canonical(2));
        let keyed = AgentCall { key: Some("k".to_owned()), ..call("{}") };
        assert_ne!(keyed.canonical(1), call("{}").canonical(1));
    }

    #[test]
    fn the_rules_of_an_agent_replace_those_of_the_project() {
        let [one, other] = [1, 2].map(|id| UserId::new(id).unwrap());
        let strict = AgentRules { money: AgentRule::NeedsApproval, ..AgentRules::default() };
        let agents = [(other, AgentRules::default())].into();
        let policy = AgentPolicy { rules: strict, agents, ..AgentPolicy::default() };
        assert_eq!(policy.rule(one, ToolClass::Money), AgentRule::NeedsApproval);
        assert_eq!(policy.rule(other, ToolClass::Money), AgentRule::Allowed);
        let stopped = AgentPolicy { refuses_writes: true, ..policy };
        for class in [ToolClass::Write, ToolClass::Money, ToolClass::Destructive] {
            assert_eq!(stopped.rule(other, class), AgentRule::Forbidden);
        }
        assert_eq!(stopped.rule(one, ToolClass::Read), AgentRule::Allowed);
        assert_eq!(AgentPolicy::default().rule(one, ToolClass::Destructive), AgentRule::Allowed);
    }
}
