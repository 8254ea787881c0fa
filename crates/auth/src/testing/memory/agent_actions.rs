use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{Page, PageRequest, ProjectId, ProjectScoped, StoreError, TokenId, UserId};
use uuid::Uuid;

use super::tokens::Token;
use super::{Guard, InMemoryLogins, State};
use crate::model::{
    AgentAction, AgentActionDecision, AgentActionEvent, AgentActionFilter, AgentActionState, AgentExecution,
    AgentLimits, AgentPolicy, AgentResult, MAX_LOGGED_AGENT_FAILURES, MAX_OPEN_AGENT_ACTIONS, NewAgentAction,
    TokenOwner,
};
use crate::ports::AgentActionRepository;
use crate::{AgentActionError, AgentActionRefusal};

impl State {
    fn policy(&self, project: ProjectId) -> AgentPolicy {
        self.policies.get(&project).cloned().unwrap_or_default()
    }

    fn set_policy(&mut self, project: ProjectId, policy: AgentPolicy) -> Result<AgentPolicy, AgentActionError> {
        let is_own = |agent: UserId| self.agents.get(&agent).is_some_and(|known| known.project == project);
        let unknown = policy.agents.keys().filter(|agent| !is_own(**agent)).map(|agent| agent.get());
        let unknown: Vec<i64> = unknown.collect();
        if !unknown.is_empty() {
            return Err(AgentActionRefusal::UnknownAgents(unknown).into());
        }
        if self.policy(project).version != policy.version && self.guards.has(Guard::PolicyVersion) {
            return Err(AgentActionRefusal::Stale.into());
        }
        let stored = AgentPolicy { version: policy.version.saturating_add(1), ..policy };
        self.policies.insert(project, stored.clone());
        Ok(stored)
    }

    fn use_limits(&mut self, agent: UserId, day_end: DateTime<Utc>, limits: AgentLimits, amount: i64) -> bool {
        if self.live_agent(agent).is_none() {
            return false;
        }
        let checked = self.guards.has(Guard::DayLimits);
        let used = self.day_uses.entry((agent, day_end)).or_default();
        let (calls, money) = (used.0.saturating_add(1), used.1.saturating_add(amount));
        let is_within = !checked || limits.allow(calls, money);
        if is_within {
            *used = (calls, money);
        }
        is_within
    }

    fn count_approved(&mut self, public_id: Uuid, day_end: DateTime<Utc>, limits: AgentLimits, amount: i64) -> bool {
        let Some(agent) = self.call(public_id).map(|action| action.proposal.agent_id) else { return false };
        if self.counted_calls.contains(&public_id) && self.guards.has(Guard::CallCounted) {
            return true;
        }
        let counts = self.use_limits(agent, day_end, limits, amount);
        if counts {
            self.counted_calls.insert(public_id);
        }
        counts
    }

    fn call(&mut self, public_id: Uuid) -> Option<&mut AgentAction> {
        self.calls.iter_mut().find(|known| known.proposal.public_id == public_id)
    }

    fn latest(&self, token: TokenId, arguments_hash: &str) -> Option<&AgentAction> {
        self.calls.iter().rev().find(|known| {
            let proposal = &known.proposal;
            proposal.needs_approval && proposal.token_id == token && proposal.arguments_hash == arguments_hash
        })
    }

    fn propose(&mut self, new: NewAgentAction) -> Result<AgentAction, AgentActionError> {
        self.live_agent(new.agent_id).ok_or(AgentActionError::NotFound)?;
        let known = self.latest(new.token_id, &new.arguments_hash).filter(|_| self.guards.has(Guard::CallProposed));
        if let Some(known) = known.filter(|known| known.answers(new.proposed_at, new.policy_version)) {
            return Ok(known.clone());
        }
        let own = self.calls.iter().filter(|known| known.proposal.agent_id == new.agent_id);
        let open = own.filter(|known| known.state(new.proposed_at) == AgentActionState::Proposed).count();
        let is_full = i64::try_from(open).is_ok_and(|open| open >= MAX_OPEN_AGENT_ACTIONS);
        if is_full && self.guards.has(Guard::OpenCalls) {
            return Err(AgentActionRefusal::TooMany.into());
        }
        self.request_mails(new.project_id, new.proposed_at);
        let (stored, decision, execution, reported_at) = (AgentActionState::Proposed, None, None, None);
        let action = AgentAction { proposal: new, stored, decision, execution, reported_at };
        self.calls.push(action.clone());
        Ok(action)
    }

    /// Stores an ended call, or counts a failure on the newest of too many.
    fn log_call(&mut self, ended: AgentAction) {
        let (agent, hour) = (ended.proposal.agent_id, ended.proposal.proposed_at - TimeDelta::hours(1));
        let is_recent = |known: &&mut AgentAction| {
            let proposal = &known.proposal;
            let is_logged = !proposal.needs_approval && known.stored == AgentActionState::Failed;
            is_logged && proposal.agent_id == agent && proposal.expires_at > hour
        };
        if ended.stored == AgentActionState::Failed && self.guards.has(Guard::Failures) {
            let mut recent: Vec<&mut AgentAction> = self.calls.iter_mut().filter(is_recent).collect();
            let is_full = i64::try_from(recent.len()).is_ok_and(|count| count >= MAX_LOGGED_AGENT_FAILURES);
            let newest = recent.pop().filter(|_| is_full);
            if let Some(execution) = newest.and_then(|newest| newest.execution.as_mut()) {
                execution.attempts = execution.attempts.saturating_add(1);
                return;
            }
        }
        self.calls.push(ended);
    }

    /// Refuses an approval under another policy, and one beyond the maximum of the employee within an hour.
    fn check_approval(
        &self,
        proposal: &NewAgentAction,
        decision: &AgentActionDecision,
        most: i64,
    ) -> Result<(), AgentActionRefusal> {
        let version = self.policy(proposal.project_id).version;
        if version != proposal.policy_version && self.guards.has(Guard::PolicyChanged) {
            return Err(AgentActionRefusal::PolicyChanged);
        }
        let hour = decision.at - TimeDelta::hours(1);
        let is_recent = |made: &AgentActionDecision| made.by == decision.by && made.at > hour;
        let approved = self.calls.iter().filter(|known| known.stored != AgentActionState::Refused);
        let approved = approved.filter(|known| known.decision.as_ref().is_some_and(is_recent)).count();
        let is_full = i64::try_from(approved).is_ok_and(|approved| approved >= most);
        if is_full && self.guards.has(Guard::Approvals) {
            return Err(AgentActionRefusal::TooManyApprovals);
        }
        Ok(())
    }

    fn decide(
        &mut self,
        public_id: Uuid,
        event: AgentActionEvent,
        decision: AgentActionDecision,
        most: i64,
    ) -> Result<AgentAction, AgentActionError> {
        let guards = self.guards;
        let mut action = self.call(public_id).ok_or(AgentActionError::NotFound)?.clone();
        if !guards.has(Guard::CallDecided) {
            action.stored = AgentActionState::Proposed;
        }
        if !guards.has(Guard::Deadline) {
            action.proposal.expires_at = DateTime::<Utc>::MAX_UTC;
        }
        let stored = action.after(event, decision.at)?;
        let execution = (stored == AgentActionState::Approved).then(|| AgentExecution::begun(decision.at));
        if execution.is_some() {
            self.check_approval(&action.proposal, &decision, most)?;
        }
        let decided = AgentAction { stored, decision: Some(decision), execution, ..action };
        if let Some(known) = self.call(public_id) {
            known.clone_from(&decided);
        }
        Ok(decided)
    }

    fn interrupted(&self, at: DateTime<Utc>) -> Option<Uuid> {
        let approved = self.calls.iter().filter(|known| known.stored == AgentActionState::Approved);
        let leases = approved.filter_map(|known| Some((known.execution.as_ref()?.leased_until, known)));
        let ended = leases.filter(|(until, _)| *until <= at).min_by_key(|(until, _)| *until);
        ended.map(|(_, known)| known.proposal.public_id)
    }

    fn start(&mut self, public_id: Uuid, at: DateTime<Utc>) -> Result<AgentAction, AgentActionError> {
        let leased = self.guards.has(Guard::CallLease);
        let action = self.call(public_id).ok_or(AgentActionError::NotFound)?;
        if let (Some(execution), false) = (&mut action.execution, leased) {
            execution.leased_until = at;
        }
        action.stored = action.after(AgentActionEvent::Start, at)?;
        let begun = action.execution.take();
        let begun = begun.map_or_else(|| AgentExecution::begun(at), |begun| begun.continued(at));
        action.execution = Some(begun);
        Ok(action.clone())
    }

    fn finish(&mut self, public_id: Uuid, attempt: i32, result: AgentResult, at: DateTime<Utc>) {
        let guards = self.guards;
        let Some(action) = self.call(public_id) else { return };
        if !guards.has(Guard::CallResult) {
            action.stored = AgentActionState::Approved;
        }
        let is_latest = action.execution.as_ref().is_none_or(|execution| execution.attempts == attempt);
        let counts = is_latest || result.event() == AgentActionEvent::Succeed || !guards.has(Guard::CallAttempt);
        if let (true, Ok(state)) = (counts, action.after(result.event(), at)) {
            action.stored = state;
            if let Some(execution) = &mut action.execution {
                execution.finished = Some((at, result));
            }
        }
    }

    fn report(&mut self, public_id: Uuid, at: DateTime<Utc>) {
        if let Some(action) = self.call(public_id)
            && let Ok(state) = action.after(AgentActionEvent::Report, at)
        {
            (action.stored, action.reported_at) = (state, Some(at));
        }
    }

    fn session_start(&self, token: TokenId) -> Option<DateTime<Utc>> {
        let of_staff = |token: &&Token| matches!(token.owner, TokenOwner::Staff(_));
        self.tokens.get(&token).filter(of_staff).map(|token| token.new.created_at)
    }
}

fn matches(action: &AgentAction, filter: AgentActionFilter, at: DateTime<Utc>) -> bool {
    filter.state.is_none_or(|state| action.state(at) == state)
        && filter.agent.is_none_or(|agent| action.proposal.agent_id == agent)
        && filter.needs_approval.is_none_or(|needed| action.proposal.needs_approval == needed)
}

#[async_trait]
impl AgentActionRepository for InMemoryLogins {
    async fn policy(&self, project: ProjectId) -> Result<AgentPolicy, StoreError> {
        Ok(self.state.with(|state| state.policy(project)))
    }

    async fn set_policy(
        &self,
        project: ProjectId,
        policy: AgentPolicy,
        _: UserId,
        _: DateTime<Utc>,
    ) -> Result<AgentPolicy, AgentActionError> {
        self.state.with(|state| state.set_policy(project, policy))
    }

    async fn use_limits(
        &self,
        agent: UserId,
        day_end: DateTime<Utc>,
        limits: AgentLimits,
        amount: i64,
    ) -> Result<bool, StoreError> {
        Ok(self.state.with(|state| state.use_limits(agent, day_end, limits, amount)))
    }

    async fn count_approved(
        &self,
        public_id: Uuid,
        day_end: DateTime<Utc>,
        limits: AgentLimits,
        amount: i64,
    ) -> Result<bool, StoreError> {
        Ok(self.state.with(|state| state.count_approved(public_id, day_end, limits, amount)))
    }

    async fn latest(&self, token: TokenId, arguments_hash: String) -> Result<Option<AgentAction>, StoreError> {
        Ok(self.state.with(|state| state.latest(token, &arguments_hash).cloned()))
    }

    async fn propose(&self, new: NewAgentAction) -> Result<AgentAction, AgentActionError> {
        self.state.with(|state| state.propose(new))
    }

    async fn record(&self, ended: AgentAction) -> Result<(), StoreError> {
        self.state.with(|state| state.log_call(ended));
        Ok(())
    }

    async fn find(&self, public_id: Uuid) -> Result<Option<ProjectScoped<AgentAction>>, StoreError> {
        Ok(self.state.with(|state| {
            let found = state.call(public_id);
            found.map(|action| ProjectScoped::new(action.proposal.project_id, action.clone()))
        }))
    }

    async fn list(
        &self,
        project: ProjectId,
        filter: AgentActionFilter,
        at: DateTime<Utc>,
        page: PageRequest,
    ) -> Result<Page<AgentAction>, StoreError> {
        let found = self.state.with(|state| {
            let own = state.calls.iter().rev().filter(|action| action.proposal.project_id == project);
            own.filter(|action| matches(action, filter, at)).cloned().collect()
        });
        Ok(Page::of(found, page))
    }

    async fn decide(
        &self,
        public_id: Uuid,
        event: AgentActionEvent,
        decision: AgentActionDecision,
        approvals_per_hour: i64,
    ) -> Result<AgentAction, AgentActionError> {
        self.state.with(|state| state.decide(public_id, event, decision, approvals_per_hour))
    }

    async fn interrupted(&self, at: DateTime<Utc>) -> Result<Option<Uuid>, StoreError> {
        Ok(self.state.with(|state| state.interrupted(at)))
    }

    async fn start(&self, public_id: Uuid, at: DateTime<Utc>) -> Result<AgentAction, AgentActionError> {
        self.state.with(|state| state.start(public_id, at))
    }

    async fn finish(
        &self,
        public_id: Uuid,
        attempt: i32,
        result: AgentResult,
        at: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        self.state.with(|state| state.finish(public_id, attempt, result, at));
        Ok(())
    }

    async fn report(&self, public_id: Uuid, at: DateTime<Utc>) -> Result<(), StoreError> {
        self.state.with(|state| state.report(public_id, at));
        Ok(())
    }

    async fn session_start(&self, token: TokenId) -> Result<Option<DateTime<Utc>>, StoreError> {
        Ok(self.state.with(|state| state.session_start(token)))
    }
}
