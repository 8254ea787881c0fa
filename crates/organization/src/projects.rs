use std::sync::Arc;

use kontor_kernel::{Clock, Language, Name, ProjectId, Random, SecretCipher, StoreError, Zone};

use crate::model::{AppToken, NewProject, ProjectPlan};
use crate::ports::ProjectRepository;

/// Creation of projects, by the operator and not by employees.
pub struct ProjectCreation {
    /// Storage of projects.
    pub projects: Arc<dyn ProjectRepository>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Source of random numbers.
    pub random: Arc<dyn Random>,
    /// Seals secrets and computes fingerprints.
    pub cipher: Arc<dyn SecretCipher>,
}

impl ProjectCreation {
    /// Creates a project ready to sell.
    pub async fn create_project(&self, name: Name) -> Result<NewProject, StoreError> {
        let token = AppToken::generate(&*self.random);
        let plan = ProjectPlan::ready_to_sell(name, token.fingerprint(&*self.cipher));
        let records = self.projects.create_project(plan, self.clock.now()).await?;
        Ok(NewProject { records, token })
    }

    /// Sets the time zone of a project. `false` if there is no such project.
    pub async fn set_time_zone(&self, project: ProjectId, zone: Zone) -> Result<bool, StoreError> {
        self.projects.set_time_zone(project, zone).await
    }

    /// Sets the language of a project for future messages to customers. `false` if there is no such project.
    pub async fn set_language(&self, project: ProjectId, language: Language) -> Result<bool, StoreError> {
        self.projects.set_language(project, language).await
    }

    /// Sets if changes of the project's records require an `If-Match` version. `false` if there is no such
    /// project.
    pub async fn require_if_match(&self, project: ProjectId, required: bool) -> Result<bool, StoreError> {
        self.projects.require_if_match(project, required).await
    }

    /// Deletes a project that was just created, if its owner could not be created.
    pub async fn abandon(&self, project: ProjectId) -> Result<(), StoreError> {
        self.projects.abandon(project).await
    }
}
