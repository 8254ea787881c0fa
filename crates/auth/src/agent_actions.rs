use std::sync::Arc;

use chrono::{DateTime, Utc};
use kontor_kernel::{
    AccessDenied, Clock, Page, PageRequest, Permission, Random, Resource, SecretCipher, SecretString, Staff, StoreError,
};
use uuid::Uuid;

use crate::model::{
    AgentAction, AgentActionDecision, AgentActionEvent, AgentActionFilter, AgentActionState, AgentPolicy, Reason, Tool,
};
use crate::ports::{AgentActionRepository, PasswordHasher, StaffRepository};
use crate::{AgentActionError, AgentActionRefusal};

/// Call with the parts that depend on the time and on the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownAgentAction {
    /// Call.
    pub action: AgentAction,
    /// Current state.
    pub state: AgentActionState,
    /// `true` if the caller may see the arguments and the result.
    pub shows_arguments: bool,
}

/// Calls of agents, and their approval by employees. An agent never approves: its token has no permission to. The
/// approval executes the call for the agent, with its permissions, at most once.
pub struct AgentActionService {
    /// Storage of calls and policies.
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
    /// Returns one page of the calls of agents of the employee's project, newest first.
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

    /// Returns a call to an employee with the permission, or to its agent, which so gets the result.
    pub async fn read(&self, staff: &Staff, public_id: Uuid) -> Result<ShownAgentAction, AgentActionError> {
        let mut action = self.own(staff, public_id).await?;
        if action.proposal.agent_id != staff.user_id {
            staff.require(Permission::view(Resource::AgentActions))?;
        } else if action.proposal.needs_approval
            && let Some(reported) = action.stored.after(AgentActionEvent::Report)
        {
            let now = self.clock.now();
            self.actions.report(public_id, now).await?;
            (action.stored, action.reported_at) = (reported, Some(now));
        }
        Ok(self.shown(staff, action))
    }

    /// Approves a call and begins its execution: the caller executes it now. The employee needs the permissions of the
    /// operation, too. A session that began after the proposal needs the employee's password: the login may have been
    /// made for this approval.
    pub async fn approve(
        &self,
        staff: &Staff,
        public_id: Uuid,
        password: Option<&SecretString>,
    ) -> Result<AgentAction, AgentActionError> {
        require_employee(staff, Permission::APPROVE_AGENT_ACTIONS)?;
        let action = self.own(staff, public_id).await?;
        let proposal = &action.proposal;
        let tool = self.tool(&proposal.call.method, &proposal.call.tool);
        let tool = tool.ok_or(AgentActionRefusal::UnknownOperation)?;
        tool.permissions.iter().try_for_each(|permission| staff.require(*permission))?;
        action.after(AgentActionEvent::Approve, self.clock.now())?;
        let policy = self.actions.policy(staff.project_id).await?;
        if policy.version != proposal.policy_version {
            return Err(AgentActionRefusal::PolicyChanged.into());
        }
        let session = self.actions.session_start(staff.token_id).await?;
        if session.is_none_or(|start| start > proposal.proposed_at) {
            self.require_password(staff, password).await?;
        }
        let decision = AgentActionDecision { by: staff.user_id, at: self.clock.now(), reason: None };
        self.actions.decide(public_id, AgentActionEvent::Approve, decision, policy.approvals_per_hour).await
    }

    /// Refuses a call.
    pub async fn refuse(
        &self,
        staff: &Staff,
        public_id: Uuid,
        reason: Option<Reason>,
    ) -> Result<ShownAgentAction, AgentActionError> {
        require_employee(staff, Permission::APPROVE_AGENT_ACTIONS)?;
        self.own(staff, public_id).await?;
        let decision = AgentActionDecision { by: staff.user_id, at: self.clock.now(), reason };
        let action = self.actions.decide(public_id, AgentActionEvent::Refuse, decision, i64::MAX).await?;
        Ok(self.shown(staff, action))
    }

    /// Returns a call that the employee has approved, with its result if it is known.
    pub async fn approved(&self, staff: &Staff, public_id: Uuid) -> Result<ShownAgentAction, AgentActionError> {
        Ok(self.shown(staff, self.own(staff, public_id).await?))
    }

    /// Returns the policy of the employee's project.
    pub async fn policy(&self, staff: &Staff) -> Result<AgentPolicy, AgentActionError> {
        staff.require(Permission::view(Resource::AgentActions))?;
        Ok(self.actions.policy(staff.project_id).await?)
    }

    /// Replaces the policy, if it still has the version of the new one. Calls proposed under the previous policy can no
    /// longer be approved.
    pub async fn set_policy(&self, staff: &Staff, policy: AgentPolicy) -> Result<AgentPolicy, AgentActionError> {
        require_employee(staff, Permission::edit(Resource::AgentActions))?;
        if !policy.is_bounded() {
            return Err(AgentActionRefusal::TooManyRules.into());
        }
        self.actions.set_policy(staff.project_id, policy, staff.user_id, self.clock.now()).await
    }

    pub(crate) async fn own(&self, staff: &Staff, public_id: Uuid) -> Result<AgentAction, AgentActionError> {
        staff.require_own(self.actions.find(public_id).await?)
    }

    async fn require_password(&self, staff: &Staff, password: Option<&SecretString>) -> Result<(), AgentActionError> {
        let password = password.ok_or(AgentActionRefusal::PasswordRequired)?;
        let employee = self.staff.employee(staff.user_id).await?.ok_or(AgentActionRefusal::WrongPassword)?;
        let known = self.staff.credentials(&employee.login, self.clock.now()).await?;
        // A login may be in use in other projects; the identifier names the employee.
        let hash = known.filter(|known| known.user_id == staff.user_id).map(|known| known.password_hash);
        let matches =
            self.hasher.verify(password, hash).await.map_err(|error| StoreError::Failed(error.to_string()))?;
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
pub(crate) mod tests {
    use super::*;
    use crate::model::{AgentExecution, ToolClass, agent_action_sample as sample};
    use crate::ports::{MockAgentActionRepository, MockPasswordHasher, MockStaffRepository};
    use chrono::TimeDelta;
    use kontor_kernel::testing::{CountingRandom, PlainCipher, staff_with};
    use kontor_kernel::{FixedClock, ProjectId, ProjectScoped, UserId};

    const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;
    const BRANDS: &[Permission] = &[Permission::create(Resource::Brands)];

    const fn tool(path: &'static str, class: ToolClass) -> Tool {
        let (holds_secrets, has_preview, amount) = (false, false, None);
        Tool { method: "POST", path, class, permissions: BRANDS, holds_secrets, has_preview, amount }
    }

    const TOOLS: [Tool; 2] = [
        tool("/api/brands", ToolClass::Write),
        Tool { has_preview: true, amount: Some("amount"), ..tool("/api/orders/{id}/request-refund", ToolClass::Money) },
    ];

    pub(crate) fn service(actions: MockAgentActionRepository) -> AgentActionService {
        AgentActionService {
            actions: Arc::new(actions),
            staff: Arc::new(MockStaffRepository::new()),
            hasher: Arc::new(MockPasswordHasher::new()),
            clock: Arc::new(FixedClock::at(NOW)),
            random: Arc::new(CountingRandom::new()),
            cipher: Arc::new(PlainCipher),
            tools: TOOLS.into(),
        }
    }

    /// Storage with one call of project 1 under policy 1, and a session that began at this time.
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
            .withf(|_, event, decision, most| {
                *event == AgentActionEvent::Approve && decision.by.get() == 1 && *most == 60
            })
            .once()
            .returning(|_, _, _, _| {
                let execution = Some(AgentExecution::begun(NOW));
                Ok(AgentAction { execution, ..sample(AgentActionState::Approved) })
            });
        let service = service(actions);
        let agent = Staff { is_agent: true, ..approver() };
        let no_effect = staff_with([Permission::APPROVE_AGENT_ACTIONS]);
        let no_approval = staff_with([Permission::create(Resource::Brands)]);
        for refused in [agent, no_effect, no_approval] {
            let refused = service.approve(&refused, Uuid::nil(), None).await;
            assert!(matches!(refused, Err(AgentActionError::Denied(AccessDenied::MissingPermission(_)))));
        }
        let approved = service.approve(&approver(), Uuid::nil(), None).await.unwrap();
        assert_eq!(approved.stored, AgentActionState::Approved);
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
    async fn a_decided_call_is_not_approved() {
        for state in [AgentActionState::Refused, AgentActionState::Approved, AgentActionState::Executed] {
            let refused = service(storing(state, NOW)).approve(&approver(), Uuid::nil(), None).await;
            let expected = AgentActionRefusal::State(state);
            assert!(matches!(refused, Err(AgentActionError::Refused(refusal)) if refusal == expected));
        }
    }

    #[tokio::test]
    async fn the_agent_gets_the_result_and_others_do_not() {
        for (reader, reports) in [(9, 1), (1, 0)] {
            let mut actions = storing(AgentActionState::Executed, NOW);
            actions.expect_report().times(reports).returning(|_, _| Ok(()));
            let viewer = staff_with([Permission::view(Resource::AgentActions)]);
            let reader = Staff { user_id: UserId::new(reader).unwrap(), ..viewer };
            let shown = service(actions).read(&reader, Uuid::nil()).await.unwrap();
            assert_eq!(
                (shown.state == AgentActionState::Reported, shown.shows_arguments),
                (reports == 1, reports == 1)
            );
        }
    }
}
