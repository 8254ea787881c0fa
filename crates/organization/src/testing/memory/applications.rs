use async_trait::async_trait;
use kontor_kernel::{AppScope, ApplicationId, ProjectId, ProjectScoped, RecordError, Stamp, StoreError};

use super::{Guard, InMemoryOrganization, State};
use crate::model::{Application, ApplicationChange, ApplicationDraft};
use crate::ports::ApplicationRepository;
use crate::{ApplicationError, ApplicationRefusal};

/// Application with its token, which only the storage reads.
#[derive(Clone)]
pub(super) struct StoredApplication {
    pub(super) application: Application,
    token_fingerprint: String,
}

impl State {
    pub(super) fn insert_application(
        &mut self,
        stamp: Stamp,
        details: ApplicationDraft,
        token_fingerprint: String,
    ) -> Result<Application, ApplicationError> {
        if !self.has_branch(stamp, details.branch_id) {
            return Err(ApplicationRefusal::UnknownBranch.into());
        }
        if self.applications.values().any(|(_, stored)| stored.token_fingerprint == token_fingerprint) {
            return Err(StoreError::Failed("the token belongs to another application".to_owned()).into());
        }
        let application = Application {
            id: self.ids.id(),
            details,
            is_active: true,
            token_issued_at: stamp.at,
            created_at: stamp.at,
            updated_at: stamp.at,
        };
        let stored = StoredApplication { application: application.clone(), token_fingerprint };
        self.applications.insert(application.id, (stamp.project_id, stored));
        Ok(application)
    }

    /// Returns an application of the project to change it.
    fn own_application(&mut self, stamp: Stamp, id: ApplicationId) -> Result<&mut StoredApplication, ApplicationError> {
        let any = !self.guards.has(Guard::Project);
        let found = self.applications.get_mut(&id).filter(|(owner, _)| *owner == stamp.project_id || any);
        found.map(|(_, stored)| stored).ok_or(RecordError::NotFound)
    }

    fn update_application(
        &mut self,
        stamp: Stamp,
        id: ApplicationId,
        change: ApplicationChange,
    ) -> Result<Application, ApplicationError> {
        if change.branch_id.as_set().is_some_and(|branch| !self.has_branch(stamp, *branch)) {
            return Err(ApplicationRefusal::UnknownBranch.into());
        }
        let application = &mut self.own_application(stamp, id)?.application;
        let before = application.details.clone();
        application.details = ApplicationDraft {
            branch_id: change.branch_id.or(before.branch_id),
            name: change.name.or(before.name),
            url: change.url.or(before.url),
            wholesale: change.wholesale.or(before.wholesale),
        };
        application.updated_at = stamp.at;
        Ok(application.clone())
    }

    fn by_token(&self, fingerprint: &str) -> Option<AppScope> {
        let mut accepted = self.applications.values().filter(|(_, stored)| {
            let is_active = stored.application.is_active || !self.guards.has(Guard::Active);
            is_active && stored.token_fingerprint == fingerprint
        });
        accepted.next().map(|(project_id, stored)| AppScope {
            project_id: *project_id,
            application_id: stored.application.id,
            wholesale: stored.application.details.wholesale,
        })
    }
}

#[async_trait]
impl ApplicationRepository for InMemoryOrganization {
    async fn list(&self, project: ProjectId) -> Result<Vec<Application>, StoreError> {
        Ok(self.state.with(|state| {
            let own = state.applications.values().filter(|(owner, _)| *owner == project);
            own.map(|(_, stored)| stored.application.clone()).collect()
        }))
    }

    async fn find(&self, id: ApplicationId) -> Result<Option<ProjectScoped<Application>>, StoreError> {
        Ok(self.state.with(|state| {
            let found = state.applications.get(&id);
            found.map(|(project, stored)| ProjectScoped::new(*project, stored.application.clone()))
        }))
    }

    async fn project(&self, id: ApplicationId) -> Result<Option<ProjectId>, StoreError> {
        Ok(self.state.with(|state| state.applications.get(&id).map(|(project, _)| *project)))
    }

    async fn insert(
        &self,
        stamp: Stamp,
        draft: ApplicationDraft,
        token_fingerprint: String,
    ) -> Result<Application, ApplicationError> {
        self.state.with(|state| state.insert_application(stamp, draft, token_fingerprint))
    }

    async fn update(
        &self,
        stamp: Stamp,
        id: ApplicationId,
        change: ApplicationChange,
    ) -> Result<Application, ApplicationError> {
        self.state.with(|state| state.update_application(stamp, id, change))
    }

    async fn switch(&self, stamp: Stamp, id: ApplicationId, is_active: bool) -> Result<Application, ApplicationError> {
        self.state.with(|state| {
            let application = &mut state.own_application(stamp, id)?.application;
            if application.is_active != is_active {
                (application.is_active, application.updated_at) = (is_active, stamp.at);
            }
            Ok(application.clone())
        })
    }

    async fn replace_token(
        &self,
        stamp: Stamp,
        id: ApplicationId,
        token_fingerprint: String,
    ) -> Result<Application, ApplicationError> {
        self.state.with(|state| {
            let stored = state.own_application(stamp, id)?;
            stored.token_fingerprint = token_fingerprint;
            (stored.application.token_issued_at, stored.application.updated_at) = (stamp.at, stamp.at);
            Ok(stored.application.clone())
        })
    }

    async fn by_token(&self, fingerprint: &str) -> Result<Option<AppScope>, StoreError> {
        Ok(self.state.with(|state| state.by_token(fingerprint)))
    }
}
