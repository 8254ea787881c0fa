//! Ports of agents and access requests.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{
    Listing, Page, PageRequest, Permission, PermissionId, ProjectId, ProjectScoped, StoreError, TokenId, UserId,
};
use uuid::Uuid;

use crate::model::{
    AccessRequest, Agent, AgentToken, AgentUpdate, Approval, Consumption, NewAccessRequest, NewAgent, NewAgentToken,
    Refusal, Review, StoredAccessRequest,
};
use crate::{AccessRequestError, AgentError};

/// Storage of agents and their tokens. A deleted agent is not found; its record is kept for the history entries that
/// refer to it. Changes of an agent and new tokens lock it: its permissions, its deletion and its tokens are checked in
/// the same commit.
///
/// After [`StoreError::OutcomeUnknown`], callers read the agent and its tokens. An update and a deletion may be
/// repeated. A token whose secret was not handed out is revoked.
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

    /// Stores an agent with its own role, or neither of them.
    async fn insert(&self, new: NewAgent) -> Result<Agent, StoreError>;

    /// Changes an agent. Refuses one with more permissions than `held`, and a deleted one. The change applies to the
    /// tokens of the agent at once.
    async fn update(&self, update: AgentUpdate) -> Result<Agent, AgentError>;

    /// Revokes every token of an agent and marks it as deleted, in one commit: no token is issued meanwhile. Refuses as
    /// [`AgentRepository::update`] does.
    async fn delete(&self, agent: UserId, held: BTreeSet<Permission>, at: DateTime<Utc>) -> Result<(), AgentError>;

    /// Returns the tokens of an agent, by identifier.
    async fn tokens(&self, agent: UserId) -> Result<Vec<AgentToken>, StoreError>;

    /// Stores a token. Refuses what [`NewAgentToken::check`] refuses, a deleted agent, and a token beyond the maximum,
    /// also under concurrent calls.
    async fn insert_token(&self, token: NewAgentToken) -> Result<AgentToken, AgentError>;

    /// Revokes a token at once. Returns `true` if the agent had it; otherwise nothing is revoked.
    async fn delete_token(&self, agent: UserId, token: TokenId) -> Result<bool, StoreError>;
}

/// Storage of access requests. Every change locks the request, so that only one of several concurrent changes succeeds.
/// The commit checks the stage, the expiry and the project, as [`AccessRequest::require_pending`] and
/// [`AccessRequest::consumable`] do.
///
/// After [`StoreError::OutcomeUnknown`], callers read the request. Its stage shows whether a decision was stored. A
/// token that was stored and not handed out cannot be fetched again: the requester makes another request.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait AccessRequestRepository: Send + Sync {
    /// Stores a request.
    async fn insert(&self, new: NewAccessRequest) -> Result<(), StoreError>;

    /// Returns a request of any project or none.
    async fn find(&self, public_id: Uuid) -> Result<Option<StoredAccessRequest>, StoreError>;

    /// Returns one page of the requests that a project has handled, newest first.
    async fn handled(&self, project: ProjectId, page: PageRequest) -> Result<Page<AccessRequest>, StoreError>;

    /// Assigns a pending request to a project and narrows it. Afterwards other projects do not find it.
    async fn review(&self, review: Review) -> Result<AccessRequest, AccessRequestError>;

    /// Creates the agent that [`AccessRequest::approved`] describes, and stores the approval, or neither of them.
    async fn approve(&self, approval: Approval) -> Result<(AccessRequest, Agent), AccessRequestError>;

    /// Declines a pending request.
    async fn decline(&self, refusal: Refusal) -> Result<AccessRequest, AccessRequestError>;

    /// Stores the one token of an approved request, and that it was fetched, or neither of them. A request whose agent
    /// was deleted in the meantime counts as declined. Refuses a token beyond the maximum of the agent, also under
    /// concurrent calls; the request stays approved.
    async fn consume(&self, consumption: Consumption) -> Result<(TokenId, Agent), AccessRequestError>;
}
