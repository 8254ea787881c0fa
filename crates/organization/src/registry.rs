use std::collections::BTreeSet;
use std::sync::Arc;

use kontor_kernel::{ApplicationId, Clock, PaymentTypeId, ProjectId, Random, SecretCipher, Stamp, StoreError};

use crate::ApplicationError;
use crate::applications::rotate_token;
use crate::model::{Application, IssuedApplication, PaymentChoice};
use crate::ports::{ApplicationRepository, CheckoutOptionRepository};

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
        self.options.choose_payment_types(id, chosen, self.clock.now()).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ApplicationDraft;
    use crate::ports::{MockApplicationRepository, MockCheckoutOptionRepository};
    use chrono::DateTime;
    use kontor_kernel::testing::{CountingRandom, PlainCipher};
    use kontor_kernel::{BranchId, FixedClock, Name};

    fn application(id: ApplicationId) -> Application {
        let branch_id = BranchId::new(1).unwrap();
        let details = ApplicationDraft { branch_id, name: Name::parse("Shop").unwrap(), url: None, wholesale: false };
        let at = DateTime::UNIX_EPOCH;
        Application { id, details, is_active: false, token_issued_at: at, created_at: at, updated_at: at }
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
            .returning(|_, id, _| Ok(application(id)));
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
