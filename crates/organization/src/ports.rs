//! What the organization needs from the outside.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{AppScope, ApplicationId, ProjectId, StoreError};

use crate::ApplicationError;
use crate::model::{Application, ApplicationDraft, Branch, BranchDraft};

/// Branches of a project.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait BranchRepository: Send + Sync {
    /// Every branch of the project, oldest first.
    async fn list(&self, project: ProjectId) -> Result<Vec<Branch>, StoreError>;

    /// Stores a branch.
    async fn insert(&self, project: ProjectId, draft: BranchDraft, at: DateTime<Utc>) -> Result<Branch, StoreError>;
}

/// Applications of a project.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ApplicationRepository: Send + Sync {
    /// Every application of the project, oldest first.
    async fn list(&self, project: ProjectId) -> Result<Vec<Application>, StoreError>;

    /// An application of any project; the caller checks the owner.
    async fn find(&self, id: ApplicationId) -> Result<Option<Application>, StoreError>;

    /// Stores an application, refusing a branch that is not of the project with [`ApplicationError::UnknownBranch`].
    async fn insert(
        &self,
        project: ProjectId,
        draft: ApplicationDraft,
        token_fingerprint: String,
        at: DateTime<Utc>,
    ) -> Result<Application, ApplicationError>;

    /// The active application with this token fingerprint.
    async fn by_token(&self, fingerprint: &str) -> Result<Option<AppScope>, StoreError>;
}
