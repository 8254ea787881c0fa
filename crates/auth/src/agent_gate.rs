//! Calls of agents as they arrive: judged, counted, stored, executed, logged.

use chrono::{DateTime, NaiveTime, TimeDelta, Utc};
use kontor_kernel::{Money, Staff, StoreError};
use serde_json::Value;
use uuid::Uuid;

use crate::model::{
    AGENT_ACTION_LIFETIME, AgentAction, AgentActionEvent, AgentActionState, AgentCall, AgentExecution, AgentLimits,
    AgentResult, AgentRule, Channel, MAX_AGENT_RESULT_BYTES, NewAgentAction, Tool, ToolClass,
};
use crate::{AgentActionError, AgentActionRefusal, AgentActionService};

/// Treatment of a call of an agent under the policy of its project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JudgedCall {
    /// Rule for the call.
    pub rule: AgentRule,
    /// Channel that it arrived on.
    pub channel: Channel,
    /// Class of the operation.
    pub class: ToolClass,
    /// Version of the policy.
    pub policy_version: i64,
    /// Limits of the agent.
    pub limits: AgentLimits,
    /// Days for which the call is kept.
    pub retention_days: i64,
    /// `true` if the call holds secrets and must not be stored.
    pub holds_secrets: bool,
    /// Field of the body with the amount of money.
    pub amount: Option<&'static str>,
}

/// Result of looking up a call that needs approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentCallState {
    /// No equal call is open: it must be proposed.
    New,
    /// Proposed, and not decided yet.
    Waiting(Box<AgentAction>),
    /// Interrupted after its approval: the caller must continue it now.
    Continue(Box<AgentAction>),
    /// Executed: the caller returns the stored result.
    Done(Box<AgentAction>),
}

/// Response to an executed call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentResponse {
    /// Status, code and body.
    pub result: AgentResult,
    /// `true` if it repeats the response to an earlier attempt.
    pub is_replayed: bool,
}

/// Returns the end of the day in UTC.
fn day_end(now: DateTime<Utc>) -> DateTime<Utc> {
    now.date_naive().and_time(NaiveTime::MIN).and_utc() + TimeDelta::days(1)
}

/// Reads an amount of money, in minor units.
fn minor(amount: &Value) -> Option<i64> {
    let text = match amount {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    text.parse::<Money>().ok().map(Money::minor)
}

impl JudgedCall {
    /// Returns the amount that a call moves, in minor units: 0 for an operation without an amount. `None` if the
    /// operation has one and the call does not name it.
    fn moved(&self, body: Option<&Value>) -> Option<i64> {
        match self.amount {
            None => Some(0),
            Some(field) => minor(body?.get(field)?),
        }
    }

    /// Returns the amount to count. `None` for a call that exceeds the limit of money, because it must name its amount
    /// and does not.
    fn counted(&self, body: Option<&Value>) -> Option<i64> {
        self.moved(body).or_else(|| self.limits.money_per_day.is_none().then_some(0))
    }
}

impl AgentResponse {
    /// Returns `false` if the response does not tell whether the call had its effect.
    fn is_known(&self, attempts: i32) -> bool {
        match self.result.status {
            409 => self.result.code.as_deref() != Some("idempotency_in_progress"),
            // An earlier attempt may have had the effect before the agent lost its rights.
            401 | 403 | 429 => attempts <= 1,
            status => status < 500 || self.is_replayed,
        }
    }
}

impl AgentActionService {
    pub(crate) fn tool(&self, method: &str, path: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.method == method && tool.path == path)
    }

    /// Returns `true` if agents may call an operation, named by method and path template, that is not a read.
    pub fn has_operation(&self, operation: &str) -> bool {
        let tool = operation.split_once(' ').and_then(|(method, path)| self.tool(method, path));
        tool.is_some_and(|tool| tool.class != ToolClass::Read)
    }

    /// Returns `true` if an operation writes, and its result may be shown without its effect: it holds no secrets, which
    /// would be shown and then be worthless.
    pub fn has_rehearsal(&self, method: &str, path: &str) -> bool {
        self.tool(method, path).is_some_and(|tool| tool.class != ToolClass::Read && !tool.holds_secrets)
    }

    /// Returns the treatment of a call of an agent. The policy is read from storage, so that a switch acts at once; it is
    /// not read for operations that only read. An unknown operation moves money.
    pub async fn judge(
        &self,
        agent: &Staff,
        channel: Channel,
        (method, path, query): (&str, &str, &str),
    ) -> Result<JudgedCall, StoreError> {
        let tool = self.tool(method, path);
        let is_preview = tool.is_some_and(|tool| tool.has_preview) && query == "dry_run=1";
        let class = if is_preview { ToolClass::Read } else { tool.map_or(ToolClass::Money, |tool| tool.class) };
        let mut judged = JudgedCall {
            rule: AgentRule::Allowed,
            channel,
            class,
            policy_version: 0,
            limits: AgentLimits::default(),
            retention_days: 0,
            holds_secrets: tool.is_some_and(|tool| tool.holds_secrets),
            amount: tool.and_then(|tool| tool.amount),
        };
        if class == ToolClass::Read {
            return Ok(judged);
        }
        let policy = self.actions.policy(agent.project_id).await?;
        judged.rule = policy.rule(agent.user_id, channel, &format!("{method} {path}"), class);
        judged.limits = policy.limits(agent.user_id);
        (judged.policy_version, judged.retention_days) = (policy.version, policy.retention_days);
        Ok(judged)
    }

    /// Counts a call toward the limits of the agent for this day, if it has any. Returns `false`, and counts nothing, if the
    /// call exceeds one. With a limit of money, a call that must name its amount and does not exceeds it.
    pub async fn count(&self, agent: &Staff, judged: JudgedCall, body: Option<&Value>) -> Result<bool, StoreError> {
        if !judged.limits.any() {
            return Ok(true);
        }
        let Some(amount) = judged.counted(body) else { return Ok(false) };
        self.actions.use_limits(agent.user_id, day_end(self.clock.now()), judged.limits, amount).await
    }

    /// Counts an approved call as [`AgentActionService::count`] does, and once, however often it is continued. An agent
    /// without limits is counted too: it may get limits before the call is continued.
    pub async fn count_approved(&self, action: &AgentAction, judged: JudgedCall) -> Result<bool, StoreError> {
        let proposal = &action.proposal;
        let Some(amount) = judged.counted(proposal.call.body.as_ref()) else { return Ok(false) };
        let day_end = day_end(self.clock.now());
        self.actions.count_approved(proposal.public_id, day_end, judged.limits, amount).await
    }

    fn new_action(&self, agent: &Staff, judged: JudgedCall, call: AgentCall, arguments_hash: String) -> NewAgentAction {
        let proposed_at = self.clock.now();
        NewAgentAction {
            public_id: self.random.uuid(),
            project_id: agent.project_id,
            agent_id: agent.user_id,
            token_id: agent.token_id,
            channel: judged.channel,
            call,
            class: judged.class,
            arguments_hash,
            policy_version: judged.policy_version,
            needs_approval: true,
            proposed_at,
            expires_at: proposed_at + AGENT_ACTION_LIFETIME,
            keep_until: proposed_at + TimeDelta::days(judged.retention_days),
        }
    }

    fn hash(&self, call: &AgentCall) -> String {
        self.cipher.fingerprint(&call.canonical())
    }

    /// Returns the entry of the log for a call that begins now and waits for no approval. It has the hash of the
    /// arguments, and not the arguments.
    pub fn log_entry(&self, agent: &Staff, judged: JudgedCall, call: AgentCall) -> NewAgentAction {
        let hash = self.hash(&call);
        let call = AgentCall { query: String::new(), body: None, ..call };
        let entry = self.new_action(agent, judged, call, hash);
        NewAgentAction { needs_approval: false, expires_at: entry.proposed_at, ..entry }
    }

    /// Stores an entry of the log with the outcome of the call.
    pub async fn record(&self, entry: NewAgentAction, result: AgentResult) -> Result<(), StoreError> {
        let stored = match result.event() {
            AgentActionEvent::Succeed => AgentActionState::Executed,
            _ => AgentActionState::Failed,
        };
        let begun = AgentExecution::begun(entry.proposed_at);
        let execution = AgentExecution { finished: Some((self.clock.now(), result)), ..begun };
        let (execution, decision, reported_at) = (Some(execution), None, None);
        self.actions.record(AgentAction { proposal: entry, stored, decision, execution, reported_at }).await
    }

    /// Looks up an equal call with the same token.
    pub async fn look_up(
        &self,
        agent: &Staff,
        judged: JudgedCall,
        call: &AgentCall,
    ) -> Result<AgentCallState, AgentActionError> {
        let now = self.clock.now();
        let known = self.actions.latest(agent.token_id, self.hash(call)).await?;
        let Some(known) = known.filter(|known| known.answers(now, judged.policy_version)) else {
            return Ok(AgentCallState::New);
        };
        let public_id = known.proposal.public_id;
        match known.state(now) {
            AgentActionState::Proposed => Ok(AgentCallState::Waiting(Box::new(known))),
            AgentActionState::Approved => {
                Ok(AgentCallState::Continue(Box::new(self.actions.start(public_id, now).await?)))
            }
            AgentActionState::Executed | AgentActionState::Failed | AgentActionState::Reported => {
                self.actions.report(public_id, now).await?;
                Ok(AgentCallState::Done(Box::new(known)))
            }
            state @ (AgentActionState::Refused | AgentActionState::Expired) => {
                Err(AgentActionRefusal::State(state).into())
            }
        }
    }

    /// Stores a call for approval, or returns an equal one that is open. `if_match` names the version of the record
    /// that the call is bound to.
    pub async fn propose(
        &self,
        agent: &Staff,
        judged: JudgedCall,
        call: AgentCall,
        if_match: Option<String>,
    ) -> Result<AgentAction, AgentActionError> {
        let hash = self.hash(&call);
        let call = AgentCall { if_match: call.if_match.clone().or(if_match), ..call };
        self.actions.propose(self.new_action(agent, judged, call, hash)).await
    }

    /// Returns the approved call that a request of this process executes for its agent.
    pub async fn executing(&self, agent: &Staff, public_id: Uuid) -> Result<AgentAction, AgentActionError> {
        let action = self.own(agent, public_id).await?;
        if action.proposal.token_id != agent.token_id {
            return Err(AgentActionError::NotFound);
        }
        match action.stored {
            AgentActionState::Approved => Ok(action),
            state => Err(AgentActionRefusal::State(state).into()),
        }
    }

    /// Begins to continue an interrupted call, if there is one.
    pub async fn take_interrupted(&self) -> Result<Option<AgentAction>, AgentActionError> {
        let now = self.clock.now();
        let Some(public_id) = self.actions.interrupted(now).await? else { return Ok(None) };
        match self.actions.start(public_id, now).await {
            Ok(action) => Ok(Some(action)),
            // Another process was faster.
            Err(AgentActionError::Refused(AgentActionRefusal::State(_))) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Stores the result of an execution. If the response does not tell the outcome, the call stays approved and is
    /// continued after its lease; after the period of the approval it counts as failed.
    pub async fn finish(&self, action: &AgentAction, response: AgentResponse) -> Result<(), StoreError> {
        let now = self.clock.now();
        let attempts = action.execution.as_ref().map_or(1, |execution| execution.attempts);
        let (known, mut result) = (response.is_known(attempts), response.result);
        if !known {
            if !action.is_late(now) {
                return Ok(());
            }
            result.code = Some("agent_call_interrupted".to_owned());
        }
        result.body = result.body.filter(|body| body.len() <= MAX_AGENT_RESULT_BYTES);
        self.actions.finish(action.proposal.public_id, attempts, result, now).await
    }

    /// Returns `true` if an interrupted call is too late to be executed: only its outcome is looked up.
    pub fn is_too_late(&self, action: &AgentAction) -> bool {
        action.is_late(self.clock.now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent_actions::tests::service;
    use crate::model::{AgentPolicy, AgentRules, agent_action_sample as sample};
    use crate::ports::MockAgentActionRepository;
    use kontor_kernel::UserId;
    use kontor_kernel::testing::staff_with;
    use serde_json::json;

    const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;

    fn agent() -> Staff {
        Staff { is_agent: true, user_id: UserId::new(9).unwrap(), ..staff_with([]) }
    }

    async fn judged(policy: AgentPolicy, operation: (&str, &str, &str)) -> JudgedCall {
        let mut actions = MockAgentActionRepository::new();
        actions.expect_policy().returning(move |_| Ok(policy.clone()));
        service(actions).judge(&agent(), Channel::Mcp, operation).await.unwrap()
    }

    #[tokio::test]
    async fn an_unknown_operation_moves_money_and_a_preview_reads() {
        let policy = || AgentPolicy { version: 3, ..AgentPolicy::default() };
        let unknown = judged(policy(), ("POST", "/api/new", "")).await;
        assert_eq!((unknown.class, unknown.rule), (ToolClass::Money, AgentRule::NeedsApproval));
        assert_eq!((unknown.policy_version, unknown.retention_days), (3, 90));
        assert_eq!(judged(policy(), ("POST", "/api/brands", "dry_run=1")).await.class, ToolClass::Write);
        let refund = ("POST", "/api/orders/{id}/request-refund");
        for (query, class) in [("", ToolClass::Money), ("dry_run=0", ToolClass::Money), ("dry_run=1", ToolClass::Read)]
        {
            assert_eq!(judged(policy(), (refund.0, refund.1, query)).await.class, class);
        }
    }

    #[test]
    fn writes_without_secrets_have_a_rehearsal() {
        let service = service(MockAgentActionRepository::new());
        let tools = [
            Tool { holds_secrets: true, ..service.tools[0] },
            Tool { path: "/api/search", class: ToolClass::Read, ..service.tools[0] },
            Tool { path: "/api/tasks", ..service.tools[0] },
        ];
        let service = AgentActionService { tools: tools.into(), ..service };
        let paths = ["/api/brands", "/api/search", "/api/tasks", "/api/unknown"];
        assert_eq!(paths.map(|path| service.has_rehearsal("POST", path)), [false, false, true, false]);
    }

    #[tokio::test]
    async fn amounts_count_toward_the_limit_of_money() {
        let limits = AgentLimits { calls_per_day: None, money_per_day: Some(10_000) };
        let rules = AgentRules { limits, ..AgentRules::default() };
        let policy = AgentPolicy { rules, ..AgentPolicy::default() };
        let call = judged(policy, ("POST", "/api/orders/{id}/request-refund", "")).await;
        for (body, counted) in [
            (json!({ "amount": "12.50" }), Some(1_250)),
            (json!({ "amount": 3 }), Some(300)),
            (json!({ "everything": true }), None),
        ] {
            let mut actions = MockAgentActionRepository::new();
            actions
                .expect_use_limits()
                .withf(move |_, end, _, amount| *end == NOW + TimeDelta::days(1) && Some(*amount) == counted)
                .times(usize::from(counted.is_some()))
                .returning(|_, _, _, _| Ok(true));
            assert_eq!(service(actions).count(&agent(), call, Some(&body)).await.unwrap(), counted.is_some());
        }
    }

    #[tokio::test]
    async fn a_proposal_is_bound_to_a_key_and_a_version() {
        let mut actions = MockAgentActionRepository::new();
        actions
            .expect_propose()
            .withf(|new| {
                new.key() == format!("agent-action-{}", new.public_id)
                    && new.call.if_match.as_deref() == Some("\"brands-7-1\"")
                    && new.expires_at == NOW + AGENT_ACTION_LIFETIME
                    && new.keep_until == NOW + TimeDelta::days(90)
            })
            .returning(|new| Ok(AgentAction { proposal: new, ..sample(AgentActionState::Proposed) }));
        let judged = judged(AgentPolicy::default(), ("POST", "/api/brands", "")).await;
        let call = sample(AgentActionState::Proposed).proposal.call;
        service(actions).propose(&agent(), judged, call, Some("\"brands-7-1\"".to_owned())).await.unwrap();
    }

    #[tokio::test]
    async fn a_repeated_call_gets_the_result_or_continues() {
        let judged = judged(AgentPolicy::default(), ("POST", "/api/brands", "")).await;
        let call = sample(AgentActionState::Proposed).proposal.call;
        for (state, starts, reports) in [(AgentActionState::Approved, 1, 0), (AgentActionState::Executed, 0, 1)] {
            let mut actions = MockAgentActionRepository::new();
            actions.expect_latest().returning(move |_, _| Ok(Some(sample(state))));
            actions.expect_start().times(starts).returning(|_, _| Ok(sample(AgentActionState::Approved)));
            actions.expect_report().times(reports).returning(|_, _| Ok(()));
            let found = service(actions).look_up(&agent(), judged, &call).await.unwrap();
            assert_eq!(matches!(found, AgentCallState::Continue(_)), starts == 1);
            assert_eq!(matches!(found, AgentCallState::Done(_)), reports == 1);
        }
        let mut actions = MockAgentActionRepository::new();
        actions.expect_latest().returning(|_, _| Ok(Some(sample(AgentActionState::Refused))));
        let refused = service(actions).look_up(&agent(), judged, &call).await;
        assert!(matches!(refused, Err(AgentActionError::Refused(AgentActionRefusal::State(_)))));
    }

    #[tokio::test]
    async fn only_a_known_outcome_is_stored() {
        let response = |status, code: Option<&str>, is_replayed| AgentResponse {
            result: AgentResult { status, code: code.map(str::to_owned), body: None },
            is_replayed,
        };
        for (attempts, answered, stored) in [
            (1, response(201, None, false), true),
            (1, response(412, Some("precondition_failed"), false), true),
            (1, response(403, Some("agent_call_forbidden"), false), true),
            (2, response(403, None, false), false),
            (1, response(503, None, false), false),
            (1, response(502, None, true), true),
            (1, response(409, Some("idempotency_in_progress"), false), false),
        ] {
            let mut actions = MockAgentActionRepository::new();
            actions
                .expect_finish()
                .withf(move |_, attempt, _, _| *attempt == attempts)
                .times(usize::from(stored))
                .returning(|_, _, _, _| Ok(()));
            let execution = AgentExecution { attempts, ..AgentExecution::begun(NOW) };
            let action = AgentAction { execution: Some(execution), ..sample(AgentActionState::Approved) };
            service(actions).finish(&action, answered).await.unwrap();
        }
        let mut actions = MockAgentActionRepository::new();
        actions
            .expect_finish()
            .withf(|_, _, result, _| result.code.as_deref() == Some("agent_call_interrupted"))
            .once()
            .returning(|_, _, _, _| Ok(()));
        let mut late = sample(AgentActionState::Approved);
        late.proposal.expires_at = NOW;
        service(actions).finish(&late, response(503, None, false)).await.unwrap();
    }
}
