use std::sync::Arc;

use kontor_kernel::{AppScope, ApplicationId, Clock, Permission, Random, Resource, SecretCipher, Staff, StoreError};

use crate::ApplicationError;
use crate::model::{AppToken, Application, ApplicationDraft, IssuedApplication};
use crate::ports::ApplicationRepository;

/// Use cases of applications.
pub struct ApplicationService {
    /// Storage of applications.
    pub applications: Arc<dyn ApplicationRepository>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Source of random numbers.
    pub random: Arc<dyn Random>,
    /// Seals secrets and computes fingerprints.
    pub cipher: Arc<dyn SecretCipher>,
}

impl ApplicationService {
    /// Returns every application of the employee's project.
    pub async fn list(&self, staff: &Staff) -> Result<Vec<Application>, ApplicationError> {
        staff.require(Permission::view(Resource::Applications))?;
        Ok(self.applications.list(staff.project_id).await?)
    }

    /// Returns one application of the employee's project.
    pub async fn read(&self, staff: &Staff, id: ApplicationId) -> Result<Application, ApplicationError> {
        staff.require(Permission::view(Resource::Applications))?;
        staff.require_own(self.applications.find(id).await?)
    }

    /// Adds an application and issues its App Token, which is shown only in this result.
    pub async fn create(&self, staff: &Staff, draft: ApplicationDraft) -> Result<IssuedApplication, ApplicationError> {
        staff.require(Permission::create(Resource::Applications))?;
        let token = AppToken::generate(&*self.random);
        let fingerprint = token.fingerprint(&*self.cipher);
        let application = self.applications.insert(staff.project_id, draft, fingerprint, self.clock.now()).await?;
        Ok(IssuedApplication { application, token })
    }

    /// Returns the application of an App Token; `None` for an unknown token or an inactive application.
    pub async fn identify(&self, token: &str) -> Result<Option<AppScope>, StoreError> {
        self.applications.by_token(&self.cipher.fingerprint(token)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::MockApplicationRepository;
    use chrono::DateTime;
    use kontor_kernel::testing::{CountingRandom, PlainCipher, staff_with};
    use kontor_kernel::{AccessDenied, BranchId, FixedClock, Name, ProjectId, ProjectScoped};

    fn service(applications: MockApplicationRepository) -> ApplicationService {
        let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
        let (random, cipher) = (Arc::new(CountingRandom::new()), Arc::new(PlainCipher));
        ApplicationService { applications: Arc::new(applications), clock, random, cipher }
    }

    fn draft() -> ApplicationDraft {
        let branch_id = BranchId::new(1).unwrap();
        ApplicationDraft { branch_id, name: Name::parse("Shop").unwrap(), url: None, wholesale: false }
    }

    fn stored() -> Application {
        Application {
            id: ApplicationId::new(5).unwrap(),
            details: draft(),
            is_active: true,
            created_at: DateTime::UNIX_EPOCH,
            updated_at: DateTime::UNIX_EPOCH,
        }
    }

    #[tokio::test]
    async fn only_the_fingerprint_of_a_token_is_stored() {
        let mut applications = MockApplicationRepository::new();
        applications
            .expect_insert()
            .withf(|_, _, fingerprint, _| fingerprint.starts_with("plain:"))
            .returning(|_, _, _, _| Ok(stored()));
        let issued = service(applications)
            .create(&staff_with([Permission::create(Resource::Applications)]), draft())
            .await
            .unwrap();
        assert_eq!(issued.token.reveal().len(), 48);
    }

    #[tokio::test]
    async fn an_application_of_another_project_is_refused() {
        let mut applications = MockApplicationRepository::new();
        applications.expect_find().returning(|_| Ok(Some(ProjectScoped::new(ProjectId::new(99).unwrap(), stored()))));
        let staff = staff_with([Permission::view(Resource::Applications)]);
        let refused = service(applications).read(&staff, ApplicationId::new(5).unwrap()).await;
        assert!(matches!(refused, Err(ApplicationError::Denied(AccessDenied::ForeignProject))));
    }

    #[tokio::test]
    async fn storage_is_not_read_without_the_permission() {
        let refused = service(MockApplicationRepository::new()).create(&staff_with([]), draft()).await;
        assert!(matches!(refused, Err(ApplicationError::Denied(AccessDenied::MissingPermission(_)))));
    }
}
