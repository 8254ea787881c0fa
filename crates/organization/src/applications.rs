use std::collections::BTreeSet;
use std::sync::Arc;

use kontor_kernel::history::{Histories, HistoryEntry};
use kontor_kernel::{
    AppScope, ApplicationId, Clock, Page, PageRequest, PaymentTypeId, Permission, ProjectId, Random, Resource,
    SecretCipher, Staff, Stamp, StoreError,
};

use crate::ApplicationError;
use crate::model::{AppToken, Application, ApplicationChange, ApplicationDraft, IssuedApplication, PaymentChoice};
use crate::ports::{ApplicationRepository, CheckoutOptionRepository};

/// Use cases of applications.
pub struct ApplicationService {
    /// Storage of applications.
    pub applications: Arc<dyn ApplicationRepository>,
    /// History of applications.
    pub histories: Arc<dyn Histories>,
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
        let application = self.applications.insert(Stamp::of(staff, self.clock.now()), draft, fingerprint).await?;
        Ok(IssuedApplication { application, token })
    }

    /// Changes an application of the employee's project.
    pub async fn update(
        &self,
        staff: &Staff,
        id: ApplicationId,
        change: ApplicationChange,
    ) -> Result<Application, ApplicationError> {
        self.applications.update(self.stamp_to_edit(staff, id).await?, id, change).await
    }

    /// Activates the App Token of an application and the access of its customers again.
    pub async fn activate(&self, staff: &Staff, id: ApplicationId) -> Result<Application, ApplicationError> {
        self.applications.switch(self.stamp_to_edit(staff, id).await?, id, true).await
    }

    /// Deactivates an application. Its customers lose their access too.
    pub async fn deactivate(&self, staff: &Staff, id: ApplicationId) -> Result<Application, ApplicationError> {
        self.applications.switch(self.stamp_to_edit(staff, id).await?, id, false).await
    }

    /// Issues a new App Token, which is shown only in this result. The old one is invalid at once. Customers stay
    /// logged in, and a deactivated application stays deactivated.
    pub async fn rotate_token(&self, staff: &Staff, id: ApplicationId) -> Result<IssuedApplication, ApplicationError> {
        let stamp = self.stamp_to_edit(staff, id).await?;
        rotate_token(&*self.applications, &*self.random, &*self.cipher, stamp, id).await
    }

    /// Returns one page of the history of an application of the employee's project, latest first.
    pub async fn history(
        &self,
        staff: &Staff,
        id: ApplicationId,
        page: PageRequest,
    ) -> Result<Page<HistoryEntry>, ApplicationError> {
        self.read(staff, id).await?;
        Ok(self.histories.page(staff.project_id, Resource::Applications.name(), id.get(), page).await?)
    }

    /// Returns the stamp of a change, if the employee may change this application.
    async fn stamp_to_edit(&self, staff: &Staff, id: ApplicationId) -> Result<Stamp, ApplicationError> {
        staff.require(Permission::edit(Resource::Applications))?;
        staff.require_own(self.applications.find(id).await?)?;
        Ok(Stamp::of(staff, self.clock.now()))
    }

    /// Returns the application of an App Token; `None` for an unknown token or an inactive application.
    pub async fn identify(&self, token: &str) -> Result<Option<AppScope>, StoreError> {
        self.applications.by_token(&self.cipher.fingerprint(token)).await
    }
}

/// Issues a new App Token. Only its fingerprint is stored.
async fn rotate_token(
    applications: &dyn ApplicationRepository,
    random: &dyn Random,
    cipher: &dyn SecretCipher,
    stamp: Stamp,
    id: ApplicationId,
) -> Result<IssuedApplication, ApplicationError> {
    let token = AppToken::generate(random);
    let application = applications.replace_token(stamp, id, token.fingerprint(cipher)).await?;
    Ok(IssuedApplication { application, token })
}

/// Use cases of applications for operators.
pub struct ApplicationAdministration {
    /// Storage of applications.
    pub applications: Arc<dyn ApplicationRepository>,
    /// Storage of delivery and payment types.
    pub options: Arc<dyn CheckoutOptionRepository>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Source of random numbers.
    pub random: Arc<dyn Random>,
    /// Seals secrets and computes fingerprints.
    pub cipher: Arc<dyn SecretCipher>,
}

impl ApplicationAdministration {
    /// Returns every application of a project.
    pub async fn list(&self, project: ProjectId) -> Result<Vec<Application>, StoreError> {
        self.applications.list(project).await
    }

    /// Activates the token of an application again.
    pub async fn activate(&self, id: ApplicationId) -> Result<Application, ApplicationError> {
        self.applications.switch(self.stamp(id).await?, id, true).await
    }

    /// Deactivates an application. Its customers lose their access too.
    pub async fn deactivate(&self, id: ApplicationId) -> Result<Application, ApplicationError> {
        self.applications.switch(self.stamp(id).await?, id, false).await
    }

    /// Issues a new App Token, which is shown only in this result. The old one is invalid at once. Customers
    /// stay logged in, and a deactivated application stays deactivated.
    pub async fn rotate_token(&self, id: ApplicationId) -> Result<IssuedApplication, ApplicationError> {
        rotate_token(&*self.applications, &*self.random, &*self.cipher, self.stamp(id).await?, id).await
    }

    /// Returns the stamp of a change of this application.
    async fn stamp(&self, id: ApplicationId) -> Result<Stamp, ApplicationError> {
        let project = self.applications.project(id).await?.ok_or(ApplicationError::NotFound)?;
        Ok(Stamp::of_system(project, self.clock.now()))
    }

    /// Returns the payment types of the application's project, with their state in the application.
    pub async fn payment_types(&self, id: ApplicationId) -> Result<Vec<PaymentChoice>, ApplicationError> {
        self.options.payment_choices(id).await?.ok_or(ApplicationError::NotFound)
    }

    /// Sets the payment types that an application accepts. An empty set means all of its project.
    pub async fn choose_payment_types(
        &self,
        id: ApplicationId,
        chosen: BTreeSet<PaymentTypeId>,
    ) -> Result<(), ApplicationError> {
        self.options.choose_payment_types(self.stamp(id).await?, id, chosen).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::{MockApplicationRepository, MockCheckoutOptionRepository};
    use chrono::DateTime;
    use kontor_kernel::history::MockHistories;
    use kontor_kernel::testing::{CountingRandom, PlainCipher, staff_with};
    use kontor_kernel::{AccessDenied, BranchId, FixedClock, Name, ProjectScoped};

    fn service(applications: MockApplicationRepository) -> ApplicationService {
        let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
        let (random, cipher) = (Arc::new(CountingRandom::new()), Arc::new(PlainCipher));
        let (applications, histories) = (Arc::new(applications), Arc::new(MockHistories::new()));
        ApplicationService { applications, histories, clock, random, cipher }
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
            token_issued_at: DateTime::UNIX_EPOCH,
            created_at: DateTime::UNIX_EPOCH,
            updated_at: DateTime::UNIX_EPOCH,
        }
    }

    #[tokio::test]
    async fn only_the_fingerprint_of_a_token_is_stored() {
        let mut applications = MockApplicationRepository::new();
        applications
            .expect_insert()
            .withf(|_, _, fingerprint| fingerprint.starts_with("plain:"))
            .returning(|_, _, _| Ok(stored()));
        let issued = service(applications)
            .create(&staff_with([Permission::create(Resource::Applications)]), draft())
            .await
            .unwrap();
        assert_eq!(issued.token.reveal().len(), 48);
    }

    /// Calls every use case of one application, and returns their errors.
    async fn refusals(service: &ApplicationService, staff: &Staff) -> Vec<ApplicationError> {
        let id = ApplicationId::new(5).unwrap();
        let page = PageRequest::new(1, 10, 10).unwrap();
        vec![
            service.read(staff, id).await.unwrap_err(),
            service.update(staff, id, ApplicationChange::default()).await.unwrap_err(),
            service.activate(staff, id).await.unwrap_err(),
            service.deactivate(staff, id).await.unwrap_err(),
            service.rotate_token(staff, id).await.map(drop).unwrap_err(),
            service.history(staff, id, page).await.unwrap_err(),
        ]
    }

    #[tokio::test]
    async fn an_application_of_another_project_is_refused() {
        let mut applications = MockApplicationRepository::new();
        applications.expect_find().returning(|_| Ok(Some(ProjectScoped::new(ProjectId::new(99).unwrap(), stored()))));
        for refused in refusals(&service(applications), &staff_with(Permission::all())).await {
            assert!(matches!(refused, ApplicationError::Denied(AccessDenied::ForeignProject)), "{refused}");
        }
    }

    #[tokio::test]
    async fn storage_is_not_read_without_the_permission() {
        let service = service(MockApplicationRepository::new());
        let refused = service.create(&staff_with([]), draft()).await;
        assert!(matches!(refused, Err(ApplicationError::Denied(AccessDenied::MissingPermission(_)))));
        let creator = staff_with([Permission::create(Resource::Applications)]);
        for refused in refusals(&service, &creator).await {
            assert!(matches!(refused, ApplicationError::Denied(AccessDenied::MissingPermission(_))), "{refused}");
        }
    }

    #[tokio::test]
    async fn a_rotation_by_an_employee_is_stamped_with_them() {
        let staff = staff_with([Permission::edit(Resource::Applications)]);
        let (project, expected) = (staff.project_id, Stamp::of(&staff, DateTime::UNIX_EPOCH));
        let mut applications = MockApplicationRepository::new();
        applications.expect_find().returning(move |_| Ok(Some(ProjectScoped::new(project, stored()))));
        applications
            .expect_replace_token()
            .withf(move |stamp, _, fingerprint| *stamp == expected && fingerprint.starts_with("plain:"))
            .once()
            .returning(|_, _, _| Ok(stored()));
        let issued = service(applications).rotate_token(&staff, ApplicationId::new(5).unwrap()).await.unwrap();
        assert_eq!(issued.token.reveal().len(), 48);
    }

    #[tokio::test]
    async fn another_token_is_stored_by_its_fingerprint() {
        let id = ApplicationId::new(5).unwrap();
        let project = ProjectId::new(7).unwrap();
        let expected = Stamp::of_system(project, DateTime::UNIX_EPOCH);
        let mut applications = MockApplicationRepository::new();
        applications.expect_project().returning(move |_| Ok(Some(project)));
        applications
            .expect_replace_token()
            .withf(move |stamp, _, fingerprint| *stamp == expected && fingerprint.starts_with("plain:"))
            .once()
            .returning(|_, id, _| Ok(Application { id, is_active: false, ..stored() }));
        let mut options = MockCheckoutOptionRepository::new();
        options.expect_payment_choices().returning(|_| Ok(None));
        let registry = ApplicationAdministration {
            applications: Arc::new(applications),
            options: Arc::new(options),
            clock: Arc::new(FixedClock::at(DateTime::UNIX_EPOCH)),
            random: Arc::new(CountingRandom::new()),
            cipher: Arc::new(PlainCipher),
        };
        let issued = registry.rotate_token(id).await.unwrap();
        assert_eq!((issued.token.reveal().len(), issued.application.is_active), (48, false));
        assert!(matches!(registry.payment_types(id).await, Err(ApplicationError::NotFound)));
    }
}
