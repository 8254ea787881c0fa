//! Agents, and the requests that some of them come from.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{Listing, OfProject, Page, Permission, PermissionId, ProjectId, StoreError, TokenId, UserId};
use uuid::Uuid;

use crate::model::{
    AccessRequest, Agent, AgentToken, AgentUpdate, Approval, Consumption, NewAccessRequest, NewAgent, NewAgentToken,
    Refusal, Review, StoredAccessRequest,
};
use crate::{AccessRequestError, AgentError};

/// Agents and their tokens. A deleted agent is not found; its record stays for the histories that name it.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait AgentRepository: Send + Sync {
    /// The permissions that the service checks, by their numbers.
    async fn known_permissions(&self) -> Result<BTreeMap<PermissionId, Permission>, StoreError>;

    /// The agents of a project, by the fields `id`, `is_banned` and `created_at`. A constant number of statements.
    async fn list(&self, project: ProjectId, listing: Listing) -> Result<Page<Agent>, StoreError>;

    /// An agent of whatever project.
    async fn find(&self, agent: UserId) -> Result<Option<OfProject<Agent>>, StoreError>;

    /// Stores an agent with a role of its own.
    async fn insert(&self, new: NewAgent) -> Result<Agent, StoreError>;

    /// Changes an agent. Refuses one that may do more than `held`, and one that is gone.
    async fn update(&self, update: AgentUpdate) -> Result<Agent, AgentError>;

    /// Ends every token of an agent and hides it. Refuses as [`AgentRepository::update`] does.
    async fn delete(&self, agent: UserId, held: BTreeSet<Permission>, at: DateTime<Utc>) -> Result<(), AgentError>;

    /// The tokens of an agent, by number.
    async fn tokens(&self, agent: UserId) -> Result<Vec<AgentToken>, StoreError>;

    /// Stores a token. Refuses what [`NewAgentToken::check`] refuses, an agent that is gone and one token too many.
    async fn insert_token(&self, token: NewAgentToken) -> Result<AgentToken, AgentError>;

    /// Ends a token; whether the agent had it.
    async fn delete_token(&self, agent: UserId, token: TokenId) -> Result<bool, StoreError>;
}

/// Requests for access. Every step holds the request still, so that of several racing steps one counts.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait AccessRequestRepository: Send + Sync {
    /// Stores a request.
    async fn insert(&self, new: NewAccessRequest) -> Result<(), StoreError>;

    /// A request of any project or none.
    async fn find(&self, public_id: Uuid) -> Result<Option<StoredAccessRequest>, StoreError>;

    /// Takes a pending request on for a project and narrows it.
    async fn review(&self, review: Review) -> Result<AccessRequest, AccessRequestError>;

    /// Makes the agent that [`AccessRequest::approved`] describes.
    async fn approve(&self, approval: Approval) -> Result<(AccessRequest, Agent), AccessRequestError>;

    /// Refuses a pending request.
    async fn decline(&self, refusal: Refusal) -> Result<AccessRequest, AccessRequestError>;

    /// Stores the one token of an approved request. A request whose agent was deleted meanwhile counts as declined.
    async fn consume(&self, consumption: Consumption) -> Result<(TokenId, Agent), AccessRequestError>;
}
