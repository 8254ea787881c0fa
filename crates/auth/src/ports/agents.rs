//! Ports of agents and access requests.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{
    Listing, Page, PageRequest, Permission, PermissionId, ProjectId, ProjectScoped, StoreError, TokenId, UserId,
};
use uuid::Uuid;

use crate::model::{
    AccessRequest, Agent, AgentAction, AgentActionDecision, AgentActionEvent, AgentActionFilter, AgentOutcome,
    AgentPolicy, AgentToken, AgentUpdate, Approval, Consumption, NewAccessRequest, NewAgent, NewAgentAction,
    NewAgentToken, Refusal, Review, StoredAccessRequest,
};
use crate::{AccessRequestError, AgentActionError, AgentError};

/// Storage of agents and their tokens. A deleted agent is not found; its record is kept for the history entries that
/// refer to it.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait AgentRepository: Send + Sync {
    /// Returns the permissions that the service checks, by identifier.
    async fn known_permissions(&self) -> Result<BTreeMap<PermissionId, Permission>, StoreError>;

    /// Returns one page of the agents of a project. Conditions may use `id`, `is_banned` and `created_at`. The number
    /// of statements is constant.
    async fn list(&self, project: ProjectId, listing: Listing) -> Result<Page<Agent>, StoreError>;

    /// Returns an agent of any project.
    async fn find(&self, agent: UserId) -> Result<Option<ProjectScoped<Agent>>, StoreError>;

    /// Stores an agent with its own role.
    async fn insert(&self, new: NewAgent) -> Result<Agent, StoreError>;

    /// Changes an agent. Refuses one with more permissions than `held`, and a deleted one.
    async fn update(&self, update: AgentUpdate) -> Result<Agent, AgentError>;

    /// Revokes every token of an agent and marks it as deleted. Refuses as [`AgentRepository::update`] does.
    async fn delete(&self, agent: UserId, held: BTreeSet<Permission>, at: DateTime<Utc>) -> Result<(), AgentError>;

    /// Returns the tokens of an agent, by identifier.
    async fn tokens(&self, agent: UserId) -> Result<Vec<AgentToken>, StoreError>;

    /// Stores a token. Refuses what [`NewAgentToken::check`] refuses, a deleted agent, and a token beyond the maximum.
    async fn insert_token(&self, token: NewAgentToken) -> Result<AgentToken, AgentError>;

    /// Revokes a token. Returns `true` if the agent had it.
    async fn delete_token(&self, agent: UserId, token: TokenId) -> Result<bool, StoreError>;
}

/// Storage of access requests. Every change locks the request, so that only one of several concurrent changes succeeds.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait AccessRequestRepository: Send + Sync {
    /// Stores a request.
    async fn insert(&self, new: NewAccessRequest) -> Result<(), StoreError>;

    /// Returns a request of any project or none.
    async fn find(&self, public_id: Uuid) -> Result<Option<StoredAccessRequest>, StoreError>;

    /// Returns one page of the requests that a project has handled, newest first.
    async fn handled(&self, project: ProjectId, page: PageRequest) -> Result<Page<AccessRequest>, StoreError>;

    /// Assigns a pending request to a project and narrows it.
    async fn review(&self, review: Review) -> Result<AccessRequest, AccessRequestError>;

    /// Creates the agent that [`AccessRequest::approved`] describes.
    async fn approve(&self, approval: Approval) -> Result<(AccessRequest, Agent), AccessRequestError>;

    /// Declines a pending request.
    async fn decline(&self, refusal: Refusal) -> Result<AccessRequest, AccessRequestError>;

    /// Stores the one token of an approved request. A request whose agent was deleted in the meantime counts as
    /// declined.
    async fn consume(&self, consumption: Consumption) -> Result<(TokenId, Agent), AccessRequestError>;
}

/// Storage of calls of agents that need approval, and of the policies that demand it. Every change locks the call, so
/// that concurrent changes apply the moves one after the other.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait AgentActionRepository: Send + Sync {
    /// Returns the policy of a project, in one statement.
    async fn policy(&self, project: ProjectId) -> Result<AgentPolicy, StoreError>;

    /// Replaces the policy of a project and raises its version. Refuses another version than the stored one, and
    /// numbers that name no agent of the project.
    async fn set_policy(
        &self,
        project: ProjectId,
        policy: AgentPolicy,
        by: UserId,
        at: DateTime<Utc>,
    ) -> Result<AgentPolicy, AgentActionError>;

    /// Returns the newest call with this token and this hash of its arguments.
    async fn latest(&self, token: TokenId, arguments_hash: String) -> Result<Option<AgentAction>, StoreError>;

    /// Stores a call, or returns the newest equal one if that answers the call. Refuses a call beyond the maximum, and
    /// one of a deleted agent.
    async fn propose(&self, new: NewAgentAction) -> Result<AgentAction, AgentActionError>;

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

    /// Approves or refuses a call, if [`AgentAction::after`] allows it.
    async fn decide(
        &self,
        public_id: Uuid,
        event: AgentActionEvent,
        decision: AgentActionDecision,
    ) -> Result<AgentAction, AgentActionError>;

    /// Begins or continues the execution of a call, if [`AgentAction::after`] allows it.
    async fn start(&self, public_id: Uuid, at: DateTime<Utc>) -> Result<AgentAction, AgentActionError>;

    /// Stores the outcome of an execution, unless it is stored already.
    async fn finish(&self, public_id: Uuid, outcome: AgentOutcome, at: DateTime<Utc>) -> Result<(), StoreError>;

    /// Returns the time at which a token of an employee was issued.
    async fn session_start(&self, token: TokenId) -> Result<Option<DateTime<Utc>>, StoreError>;
}
