//! Port of agents' calls and of the policies for them.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{Page, PageRequest, ProjectId, ProjectScoped, StoreError, TokenId, UserId};
use uuid::Uuid;

use crate::AgentActionError;
use crate::model::{
    AgentAction, AgentActionDecision, AgentActionEvent, AgentActionFilter, AgentLimits, AgentPolicy, AgentResult,
    NewAgentAction,
};

/// Storage of agents' calls and of the policies for them. Every change locks the call, so that concurrent changes apply
/// the moves one after the other.
///
/// After [`StoreError::OutcomeUnknown`], a proposal, the count of an approved call, a result and a report may be
/// repeated. Callers read the call before they repeat a decision, and the policy before they replace it. A use of a day
/// may have been counted; the call is not executed. An approved call is continued after its lease.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait AgentActionRepository: Send + Sync {
    /// Returns the policy of a project, in one statement and never from a cache.
    async fn policy(&self, project: ProjectId) -> Result<AgentPolicy, StoreError>;

    /// Replaces the policy of a project and raises its version. Refuses another version than the stored one, also under
    /// concurrent calls, and numbers that name no agent of the project.
    async fn set_policy(
        &self,
        project: ProjectId,
        policy: AgentPolicy,
        by: UserId,
        at: DateTime<Utc>,
    ) -> Result<AgentPolicy, AgentActionError>;

    /// Counts a call, and the amount that it moves, toward the day of an agent that ends at a time. Returns `false`,
    /// and counts nothing, if a limit would be exceeded, also under concurrent calls, or if the agent was deleted.
    async fn use_limits(
        &self,
        agent: UserId,
        day_end: DateTime<Utc>,
        limits: AgentLimits,
        amount: i64,
    ) -> Result<bool, StoreError>;

    /// Counts an approved call as [`AgentActionRepository::use_limits`] does, once: later and concurrent attempts
    /// return `true` and count nothing. A call that a limit refused is not counted yet. Returns `false` for an unknown
    /// call.
    async fn count_approved(
        &self,
        public_id: Uuid,
        day_end: DateTime<Utc>,
        limits: AgentLimits,
        amount: i64,
    ) -> Result<bool, StoreError>;

    /// Returns the newest call with this token and this hash of its arguments that needed approval.
    async fn latest(&self, token: TokenId, arguments_hash: String) -> Result<Option<AgentAction>, StoreError>;

    /// Stores a call and queues the mails about it, or returns the newest equal one if that answers the call. Refuses a
    /// call beyond the maximum, also under concurrent calls, and one of a deleted agent.
    async fn propose(&self, new: NewAgentAction) -> Result<AgentAction, AgentActionError>;

    /// Stores a call that has ended, for the log. A failure beyond the maximum of the agent within an hour is only
    /// counted, on its newest entry.
    async fn record(&self, ended: AgentAction) -> Result<(), StoreError>;

    /// Returns a call of any project.
    async fn find(&self, public_id: Uuid) -> Result<Option<ProjectScoped<AgentAction>>, StoreError>;

    /// Returns one page of the calls of a project, newest first.
    async fn list(
        &self,
        project: ProjectId,
        filter: AgentActionFilter,
        at: DateTime<Utc>,
        page: PageRequest,
    ) -> Result<Page<AgentAction>, StoreError>;

    /// Approves or refuses a call, if [`AgentAction::after`] allows it. An approval begins the execution in the same
    /// commit. Refuses an approval under another policy than that of the proposal, and one beyond the maximum of the
    /// employee within an hour, also under concurrent calls.
    async fn decide(
        &self,
        public_id: Uuid,
        event: AgentActionEvent,
        decision: AgentActionDecision,
        approvals_per_hour: i64,
    ) -> Result<AgentAction, AgentActionError>;

    /// Returns the approved call whose lease has ended first, if there is one.
    async fn interrupted(&self, at: DateTime<Utc>) -> Result<Option<Uuid>, StoreError>;

    /// Continues the execution of a call, if [`AgentAction::after`] allows it. Of concurrent callers one continues it.
    async fn start(&self, public_id: Uuid, at: DateTime<Utc>) -> Result<AgentAction, AgentActionError>;

    /// Stores the result of an attempt to execute a call, unless a result is stored already. The failure of an attempt
    /// is not stored once another one has begun: that one may have the effect.
    async fn finish(
        &self,
        public_id: Uuid,
        attempt: i32,
        result: AgentResult,
        at: DateTime<Utc>,
    ) -> Result<(), StoreError>;

    /// Notes that the agent has got the result. The first time is kept.
    async fn report(&self, public_id: Uuid, at: DateTime<Utc>) -> Result<(), StoreError>;

    /// Returns the time at which a token of an employee was issued.
    async fn session_start(&self, token: TokenId) -> Result<Option<DateTime<Utc>>, StoreError>;
}
