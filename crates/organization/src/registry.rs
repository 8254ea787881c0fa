use std::collections::BTreeSet;
use std::sync::Arc;

use kontor_kernel::{ApplicationId, Clock, PaymentTypeId, ProjectId, Random, SecretCipher, StoreError};

use crate::ApplicationError;
use crate::model::{AppToken, Application, IssuedApplication, PaymentChoice};
use crate::ports::{ApplicationRepository, CheckoutOptionRepository};

/// Applications, as those who run the service change them.
pub struct ApplicationRegistry {
    /// Where they are kept.
    pub applications: Arc<dyn ApplicationRepository>,
    /// Where delivery and payment types are kept.
    pub options: Arc<dyn CheckoutOptionRepository>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Where random numbers come from.
    pub random: Arc<dyn Random>,
    /// Seals secrets and makes fingerprints.
    pub cipher: Arc<dyn SecretCipher>,
}

impl ApplicationRegistry {
    /// Every application of a project.
    pub async fn list(&self, project: ProjectId) -> Result<Vec<Application>, StoreError> {
        self.applications.list(project).await
    }

    /// Has the token of an application accepted again.
    pub async fn activate(&self, id: ApplicationId) -> Result<Application, ApplicationError> {
        self.applications.switch(id, true, self.clock.now()).await
    }

    /// Shuts an application out, with everybody who came through it.
    pub async fn deactivate(&self, id: ApplicationId) -> Result<Application, ApplicationError> {
        self.applications.switch(id, false, self.clock.now()).await
    }

    /// Issues another App Token, which is shown this once. The old one is worth nothing from this moment. Customers stay
    /// signed in, and an application that was shut out stays so.
    pub async fn rotate_token(&self, id: ApplicationId) -> Result<IssuedApplication, ApplicationError> {
        let token = AppToken::generate(&*self.random);
        let fingerprint = token.fingerprint(&*self.cipher);
        let application = self.applications.replace_token(id, fingerprint, self.clock.now()).await?;
        Ok(IssuedApplication { application, token })
    }

    /// The payment types of the application's project, and which of them it takes.
    pub async fn payment_types(&self, id: ApplicationId) -> Result<Vec<PaymentChoice>, ApplicationError> {
        self.options.payment_choices(id).await?.ok_or(ApplicationError::NotFound)
    }

    /// Has an application take these payment types only, or all of its project when none is named.
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

    #[tokio::test]
    async fn another_token_is_stored_by_its_fingerprint() {
        let id = ApplicationId::new(5).unwrap();
        let mut applications = MockApplicationRepository::new();
        applications
            .expect_replace_token()
            .withf(|_, fingerprint, _| fingerprint.starts_with("plain:"))
            .once()
            .returning(|id, _, at| {
                let branch_id = BranchId::new(1).unwrap();
                let details =
                    ApplicationDraft { branch_id, name: Name::parse("Shop").unwrap(), url: None, wholesale: false };
                Ok(Application { id, details, is_active: false, created_at: at, updated_at: at })
            });
        let mut options = MockCheckoutOptionRepository::new();
        options.expect_payment_choices().returning(|_| Ok(None));
        let registry = ApplicationRegistry {
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
