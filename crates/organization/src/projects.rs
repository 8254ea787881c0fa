use std::sync::Arc;

use kontor_kernel::{Clock, Language, Name, ProjectId, Random, SecretCipher, StoreError, Zone};

use crate::model::{AppToken, FoundedProject, ProjectPlan};
use crate::ports::ProjectRepository;

/// Founds projects. An act of the operator, not of any employee.
pub struct ProjectFounding {
    /// Where they are kept.
    pub projects: Arc<dyn ProjectRepository>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Where random numbers come from.
    pub random: Arc<dyn Random>,
    /// Seals secrets and makes fingerprints.
    pub cipher: Arc<dyn SecretCipher>,
}

impl ProjectFounding {
    /// A project ready to sell.
    pub async fn found(&self, name: Name) -> Result<FoundedProject, StoreError> {
        let token = AppToken::generate(&*self.random);
        let plan = ProjectPlan::ready_to_sell(name, token.fingerprint(&*self.cipher));
        let records = self.projects.found(plan, self.clock.now()).await?;
        Ok(FoundedProject { records, token })
    }

    /// Has the days of a project begin in another zone; whether there is such a project.
    pub async fn set_time_zone(&self, project: ProjectId, zone: Zone) -> Result<bool, StoreError> {
        self.projects.set_time_zone(project, zone).await
    }

    /// Has a project speak another language to its customers from now on; whether there is such a project.
    pub async fn set_language(&self, project: ProjectId, language: Language) -> Result<bool, StoreError> {
        self.projects.set_language(project, language).await
    }

    /// Has the records of a project changed with the version that was read alone, or not; whether there is such a project.
    pub async fn require_if_match(&self, project: ProjectId, required: bool) -> Result<bool, StoreError> {
        self.projects.require_if_match(project, required).await
    }

    /// Takes a founding back when the project could get no owner.
    pub async fn abandon(&self, project: ProjectId) -> Result<(), StoreError> {
        self.projects.abandon(project).await
    }
}
