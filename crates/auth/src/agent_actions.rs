use std::sync::Arc;

use chrono::{DateTime, Utc};
use kontor_kernel::{
    AccessDenied, Clock, Page, PageRequest, Permission, Random, Resource, SecretCipher, SecretString, Staff, StoreError,
};
use uuid::Uuid;

use crate::model::{
    AGENT_ACTION_LIFETIME, AgentAction, AgentActionDecision, AgentActionEvent, AgentActionFilter, AgentActionState,
    AgentCall, AgentOutcome, AgentPolicy, AgentRule, MAX_AGENT_RULES, NewAgentAction, Reason, Tool, ToolClass,
};
use crate::ports::{AgentActionRepository, PasswordHasher, StaffRepository};
use crate::{AgentActionError, AgentActionRefusal};

/// Treatment of a call of an agent under the policy of its project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JudgedCall {
    /// Rule for the call.
    pub rule: AgentRule,
    /// Class of the operation.
    pub class: ToolClass,
    /// Version of the policy.
    pub policy_version: i64,
}

/// Result of looking up a call that needs approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentCallState {
    /// No equal call is open: it must be proposed.
    New,
    /// Proposed, and not decided yet.
    Waiting(Box<AgentAction>),
    /// Approved: the caller must execute it now and report the outcome.
    Execute(Box<AgentAction>),
    /// Interrupted, and too late to continue: the caller must not execute it, only find and report the outcome.
    Interrupted(Box<AgentAction>),
    /// Executed: the caller returns the stored response.
    Executed(Box<AgentAction>),
}

/// Proposed call with the parts that depend on the time and on the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownAgentAction {
    /// Proposed call.
    pub action: AgentAction,
    /// Current state.
    pub state: AgentActionState,
    /// `true` if the caller may see the arguments.
    pub shows_arguments: bool,
}

/// Calls of agents that need the approval of an employee. An agent never approves: its token has no permission to.
/// The agent executes an approved call by repeating it, with its own token and permissions, at most once.
pub struct AgentActionService {
    /// Storage of proposed calls and policies.
    pub actions: Arc<dyn AgentActionRepository>,
    /// Storage of employees.
    pub staff: Arc<dyn StaffRepository>,
    /// Compares passwords.
    pub hasher: Arc<dyn PasswordHasher>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Source of identifiers.
    pub random: Arc<dyn Random>,
    /// Computes the hash of arguments.
    pub cipher: Arc<dyn SecretCipher>,
    /// Operations of the API.
    pub tools: Arc<[Tool]>,
}

impl AgentActionService {
    fn tool(&self, method: &str, path: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.method == method && tool.path == path)
    }

    /// Returns the class of an operation; an unknown one moves money.
    pub fn class(&self, method: &str, path: &str) -> ToolClass {
        self.tool(method, path).map_or(ToolClass::Money, |tool| tool.class)
    }

    /// Returns the treatment of a call of an agent. The policy is not read for operations that only read.
    pub async fn judge(&self, agent: &Staff, method: &str, path: &str) -> Result<JudgedCall, StoreError> {
        let class = self.class(method, path);
        if class == ToolClass::Read {
            return Ok(JudgedCall { rule: AgentRule::Allowed, class, policy_version: 0 });
        }
        let policy = self.actions.policy(agent.project_id).await?;
        Ok(JudgedCall { rule: policy.rule(agent.user_id, class), class, policy_version: policy.version })
    }

    fn hash(&self, judged: JudgedCall, call: &AgentCall) -> String {
        self.cipher.fingerprint(&call.canonical(judged.policy_version))
    }

    /// Looks up an equal call with the same token, and begins to execute it if it is approved.
    pub async fn look_up(
        &self,
        agent: &Staff,
        judged: JudgedCall,
        call: &AgentCall,
    ) -> Result<AgentCallState, AgentActionError> {
        let now = self.clock.now();
        let known = self.actions.latest(agent.token_id, self.hash(judged, call)).await?;
        let Some(known) = known.filter(|known| known.answers(now)) else { return Ok(AgentCallState::New) };
        Ok(match known.state(now) {
            AgentActionState::Proposed => AgentCallState::Waiting(Box::new(known)),
            AgentActionState::Executing if known.is_late(now) && !known.is_leased(now) => {
                AgentCallState::Interrupted(Box::new(known))
            }
            AgentActionState::Approved | AgentActionState::Executing => {
                AgentCallState::Execute(Box::new(self.actions.start(known.proposal.public_id, now).await?))
            }
            AgentActionState::Executed => AgentCallState::Executed(Box::new(known)),
            state @ (AgentActionState::Refused | AgentActionState::Expired | AgentActionState::Failed) => {
                return Err(AgentActionRefusal::State(state).into());
            }
        })
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
        let (public_id, proposed_at) = (self.random.uuid(), self.clock.now());
        let arguments_hash = self.hash(judged, &call);
        let key = Some(call.key.clone().unwrap_or_else(|| format!("agent-action-{public_id}")));
        let call = AgentCall { key, if_match: call.if_match.clone().or(if_match), ..call };
        let new = NewAgentAction {
            public_id,
            project_id: agent.project_id,
            agent_id: agent.user_id,
            token_id: agent.token_id,
            call,
            class: judged.class,
            arguments_hash,
            policy_version: judged.policy_version,
            proposed_at,
            expires_at: proposed_at + AGENT_ACTION_LIFETIME,
        };
        self.actions.propose(new).await
    }

    /// Stores the outcome of an execution.
    pub async fn finish(&self, public_id: Uuid, outcome: AgentOutcome) -> Result<(), StoreError> {
        self.actions.finish(public_id, outcome, self.clock.now()).await
    }

    /// Returns one page of the proposed calls of the employee's project, newest first.
    pub async fn list(
        &self,
        staff: &Staff,
        filter: AgentActionFilter,
        page: PageRequest,
    ) -> Result<Page<ShownAgentAction>, AgentActionError> {
        staff.require(Permission::view(Resource::AgentActions))?;
        let found = self.actions.list(staff.project_id, filter, self.clock.now(), page).await?;
        Ok(found.map(|action| self.shown(staff, action)))
    }

    /// Returns a proposed call to an employee with the permission, or to the agent that proposed it.
    pub async fn read(&self, staff: &Staff, public_id: Uuid) -> Result<ShownAgentAction, AgentActionError> {
        let action = self.own(staff, public_id).await?;
        if action.proposal.agent_id != staff.user_id {
            staff.require(Permission::view(Resource::AgentActions))?;
        }
        Ok(self.shown(staff, action))
    }

    /// Approves a call. The employee needs the permissions of the operation, too. A session that began after the
    /// proposal needs the employee's password: the login may have been made for this approval.
    pub async fn approve(
        &self,
        staff: &Staff,
        public_id: Uuid,
        password: Option<&SecretString>,
    ) -> Result<ShownAgentAction, AgentActionError> {
        require_employee(staff, Permission::APPROVE_AGENT_ACTIONS)?;
        let action = self.own(staff, public_id).await?;
        let proposal = &action.proposal;
        let tool = self.tool(&proposal.call.method, &proposal.call.tool);
        let tool = tool.ok_or(AgentActionRefusal::UnknownOperation)?;
        tool.permissions.iter().try_for_each(|permission| staff.require(*permission))?;
        action.after(AgentActionEvent::Approve, self.clock.now())?;
        if self.actions.policy(staff.project_id).await?.version != proposal.policy_version {
            return Err(AgentActionRefusal::PolicyChanged.into());
        }
        let session = self.actions.session_start(staff.token_id).await?;
        if session.is_none_or(|start| start > proposal.proposed_at) {
            self.require_password(staff, password).await?;
        }
        self.decide(staff, public_id, AgentActionEvent::Approve, None).await
    }

    /// Refuses a call, or withdraws an approval that is not used yet.
    pub async fn refuse(
        &self,
        staff: &Staff,
        public_id: Uuid,
        reason: Option<Reason>,
    ) -> Result<ShownAgentAction, AgentActionError> {
        require_employee(staff, Permission::APPROVE_AGENT_ACTIONS)?;
        self.own(staff, public_id).await?;
        self.decide(staff, public_id, AgentActionEvent::Refuse, reason).await
    }

    /// Returns the policy of the employee's project.
    pub async fn policy(&self, staff: &Staff) -> Result<AgentPolicy, AgentActionError> {
        staff.require(Permission::view(Resource::AgentActions))?;
        Ok(self.actions.policy(staff.project_id).await?)
    }

    /// Replaces the policy, if it still has the version of the new one. Calls proposed under the previous policy can no
    /// longer be approved or executed.
    pub async fn set_policy(&self, staff: &Staff, policy: AgentPolicy) -> Result<AgentPolicy, AgentActionError> {
        require_employee(staff, Permission::edit(Resource::AgentActions))?;
        if policy.agents.len() > MAX_AGENT_RULES {
            return Err(AgentActionRefusal::TooManyRules.into());
        }
        self.actions.set_policy(staff.project_id, policy, staff.user_id, self.clock.now()).await
    }

    async fn own(&self, staff: &Staff, public_id: Uuid) -> Result<AgentAction, AgentActionError> {
        staff.require_own(self.actions.find(public_id).await?)
    }

    async fn decide(
        &self,
        staff: &Staff,
        public_id: Uuid,
        event: AgentActionEvent,
        reason: Option<Reason>,
    ) -> Result<ShownAgentAction, AgentActionError> {
        let decision = AgentActionDecision { by: staff.user_id, at: self.clock.now(), reason };
        let action = self.actions.decide(public_id, event, decision).await?;
        Ok(self.shown(staff, action))
    }

    async fn require_password(
        &self,
        staff: &Staff,
        password: Option<&SecretString>,
    ) -> Result<(), AgentActionError> {
        let password = password.ok_or(AgentActionRefusal::PasswordRequired)?;
        let employee = self.staff.employee(staff.user_id).await?.ok_or(AgentActionRefusal::WrongPassword)?;
        let known = self.staff.credentials(&employee.login, self.clock.now()).await?;
        // A login may be in use in other projects; the identifier names the employee.
        let hash = known.filter(|known| known.user_id == staff.user_id).map(|known| known.password_hash);
        let matches = self.hasher.verify(password, hash).await.map_err(|error| StoreError::Failed(error.to_string()))?;
        if matches { Ok(()) } else { Err(AgentActionRefusal::WrongPassword.into()) }
    }

    fn shown(&self, staff: &Staff, action: AgentAction) -> ShownAgentAction {
        let now: DateTime<Utc> = self.clock.now();
        ShownAgentAction { state: action.state(now), shows_arguments: action.shows_arguments_to(staff), action }
    }
}

/// Returns an error for an agent, whatever its permissions are.
fn require_employee(staff: &Staff, permission: Permission) -> Result<(), AccessDenied> {
    if staff.is_agent { Err(AccessDenied::MissingPermission(permission)) } else { staff.require(permission) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::agent_action_sample as sample;
    use crate::ports::{MockAgentActionRepository, MockPasswordHasher, MockStaffRepository};
    use chrono::TimeDelta;
    use kontor_kernel::testing::{CountingRandom, PlainCipher, staff_with};
    use kontor_kernel::{FixedClock, ProjectId, ProjectScoped, UserId};

    const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;
    const BRANDS: &[Permission] = &[Permission::create(Resource::Brands)];

    fn service(actions: MockAgentActionRepository) -> AgentActionService {
        let tool = Tool { method: "POST", path: "/api/brands", class: ToolClass::Write, permissions: BRANDS };
        AgentActionService {
            actions: Arc::new(actions),
            staff: Arc::new(MockStaffRepository::new()),
            hasher: Arc::new(MockPasswordHasher::new()),
            clock: Arc::new(FixedClock::at(NOW)),
            random: Arc::new(CountingRandom::new()),
            cipher: Arc::new(PlainCipher),
            tools: [tool].into(),
        }
    }

    /// Storage with one proposed call of project 1 under policy 1, and a session that began at this time.
    fn storing(state: AgentActionState, session: DateTime<Utc>) -> MockAgentActionRepository {
        let mut actions = MockAgentActionRepository::new();
        actions
            .expect_find()
            .returning(move |_| Ok(Some(ProjectScoped::new(ProjectId::new(1).unwrap(), sample(state)))));
        actions.expect_policy().returning(|_| Ok(AgentPolicy { version: 1, ..AgentPolicy::default() }));
        actions.expect_session_start().returning(move |_| Ok(Some(session)));
        actions
    }

    fn approver() -> Staff {
        staff_with([Permission::APPROVE_AGENT_ACTIONS, Permission::create(Resource::Brands)])
    }

    #[tokio::test]
    async fn an_approval_needs_the_right_to_approve_and_the_right_to_the_effect() {
        let mut actions = storing(AgentActionState::Proposed, NOW);
        actions
            .expect_decide()
            .withf(|_, event, decision| *event == AgentActionEvent::Approve && decision.by.get() == 1)
            .once()
            .returning(|_, _, _| Ok(sample(AgentActionState::Approved)));
        let service = service(actions);
        let agent = Staff { is_agent: true, ..approver() };
        let no_effect = staff_with([Permission::APPROVE_AGENT_ACTIONS]);
        let no_approval = staff_with([Permission::create(Resource::Brands)]);
        for refused in [agent, no_effect, no_approval] {
            let refused = service.approve(&refused, Uuid::nil(), None).await;
            assert!(matches!(refused, Err(AgentActionError::Denied(AccessDenied::MissingPermission(_)))));
        }
        let approved = service.approve(&approver(), Uuid::nil(), None).await.unwrap();
        assert_eq!((approved.state, approved.shows_arguments), (AgentActionState::Approved, true));
    }

    #[tokio::test]
    async fn a_session_that_began_after_the_proposal_needs_the_password() {
        let late = NOW + TimeDelta::seconds(1);
        let service = service(storing(AgentActionState::Proposed, late));
        let refused = service.approve(&approver(), Uuid::nil(), None).await;
        assert!(matches!(refused, Err(AgentActionError::Refused(AgentActionRefusal::PasswordRequired))));
    }

    #[tokio::test]
    async fn an_approval_is_for_the_policy_that_demanded_it() {
        let mut actions = MockAgentActionRepository::new();
        let proposed = || ProjectScoped::new(ProjectId::new(1).unwrap(), sample(AgentActionState::Proposed));
        actions.expect_find().returning(move |_| Ok(Some(proposed())));
        actions.expect_policy().returning(|_| Ok(AgentPolicy { version: 2, ..AgentPolicy::default() }));
        let refused = service(actions).approve(&approver(), Uuid::nil(), None).await;
        assert!(matches!(refused, Err(AgentActionError::Refused(AgentActionRefusal::PolicyChanged))));
    }

    #[tokio::test]
    async fn what_is_decided_is_not_approved() {
        for state in [AgentActionState::Refused, AgentActionState::Approved, AgentActionState::Executed] {
            let refused = service(storing(state, NOW)).approve(&approver(), Uuid::nil(), None).await;
            let expected = AgentActionRefusal::State(state);
            assert!(matches!(refused, Err(AgentActionError::Refused(refusal)) if refusal == expected));
        }
    }

    #[tokio::test]
    async fn an_unknown_operation_moves_money_and_reads_need_no_policy() {
        let service = service(storing(AgentActionState::Proposed, NOW));
        assert_eq!(service.class("POST", "/api/brands"), ToolClass::Write);
        assert_eq!(service.class("POST", "/api/new"), ToolClass::Money);
        let judged = service.judge(&approver(), "POST", "/api/new").await.unwrap();
        assert_eq!((judged.rule, judged.policy_version), (AgentRule::Allowed, 1));
    }

    #[tokio::test]
    async fn a_proposal_is_bound_to_a_key_and_a_version() {
        let mut actions = MockAgentActionRepository::new();
        actions
            .expect_propose()
            .withf(|new| {
                new.call.key == Some(format!("agent-action-{}", new.public_id))
                    && new.call.if_match.as_deref() == Some("\"brands-7-1\"")
                    && new.expires_at == NOW + AGENT_ACTION_LIFETIME
            })
            .returning(|new| Ok(AgentAction { proposal: new, ..sample(AgentActionState::Proposed) }));
        let judged = JudgedCall { rule: AgentRule::NeedsApproval, class: ToolClass::Write, policy_version: 1 };
        let call = sample(AgentActionState::Proposed).proposal.call;
        let agent = Staff { is_agent: true, user_id: UserId::new(9).unwrap(), ..staff_with([]) };
        service(actions).propose(&agent, judged, call, Some("\"brands-7-1\"".to_owned())).await.unwrap();
    }

    #[tokio::test]
    async fn an_approved_call_is_started_and_an_executed_one_is_not() {
        let judged = JudgedCall { rule: AgentRule::NeedsApproval, class: ToolClass::Write, policy_version: 1 };
        let call = sample(AgentActionState::Proposed).proposal.call;
        for (state, starts) in [(AgentActionState::Approved, 1), (AgentActionState::Executed, 0)] {
            let mut actions = MockAgentActionRepository::new();
            actions.expect_latest().returning(move |_, _| Ok(Some(sample(state))));
            actions.expect_start().times(starts).returning(|_, _| Ok(sample(AgentActionState::Executing)));
            let found = service(actions).look_up(&staff_with([]), judged, &call).await.unwrap();
            assert_eq!(matches!(found, AgentCallState::Execute(_)), starts == 1);
        }
        let mut actions = MockAgentActionRepository::new();
        actions.expect_latest().returning(|_, _| Ok(Some(sample(AgentActionState::Refused))));
        let refused = service(actions).look_up(&staff_with([]), judged, &call).await;
        assert!(matches!(refused, Err(AgentActionError::Refused(AgentActionRefusal::State(_)))));
    }
}
