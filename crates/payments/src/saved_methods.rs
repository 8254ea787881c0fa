//! Saved payment methods, for their customers.

use std::sync::Arc;

use kontor_kernel::{Clock, CustomerScope, SavedMethodId, StoreError};

use crate::model::SavedMethod;
use crate::ports::SavedMethodStore;

/// Errors of the use cases of saved payment methods.
#[derive(Debug, thiserror::Error)]
pub enum SavedMethodError {
    /// The customer has no such method in this application.
    #[error("there is no such payment method")]
    NotFound,
    /// Storage error.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Use cases of saved payment methods. They are visible only to the customer who saved them, in the application
/// they were saved in.
pub struct SavedMethodService {
    /// Storage of saved methods.
    pub methods: Arc<dyn SavedMethodStore>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

impl SavedMethodService {
    /// Returns the active methods, newest first.
    pub async fn list(&self, customer: CustomerScope) -> Result<Vec<SavedMethod>, StoreError> {
        self.methods.list(customer).await
    }

    /// Deactivates a method, so that it is not charged again. Idempotent.
    pub async fn deactivate(&self, customer: CustomerScope, id: SavedMethodId) -> Result<(), SavedMethodError> {
        let known = self.methods.deactivate(customer, id, self.clock.now()).await?;
        if known { Ok(()) } else { Err(SavedMethodError::NotFound) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use kontor_kernel::{AppScope, ApplicationId, CounterpartyId, FixedClock, ProjectId, TokenId};

    use crate::ports::MockSavedMethodStore;

    fn customer() -> CustomerScope {
        let (project_id, application_id) = (ProjectId::new(1).unwrap(), ApplicationId::new(2).unwrap());
        let app = AppScope { project_id, application_id, wholesale: false };
        CustomerScope { app, counterparty_id: CounterpartyId::new(4).unwrap(), token_id: TokenId::new(1).unwrap() }
    }

    fn id() -> SavedMethodId {
        SavedMethodId::new(7).unwrap()
    }

    fn method() -> SavedMethod {
        SavedMethod {
            id: id(),
            counterparty_id: customer().counterparty_id,
            application_id: customer().app.application_id,
            method: crate::model::PaymentMethod::Sbp,
            card_type: None,
            card_last_4: None,
            title: None,
            is_active: true,
            created_at: chrono::DateTime::UNIX_EPOCH,
        }
    }

    #[tokio::test]
    async fn a_customer_sees_and_deactivates_their_own_methods() {
        let clock = Arc::new(FixedClock::at(chrono::DateTime::UNIX_EPOCH));
        let mut methods = MockSavedMethodStore::new();
        methods.expect_list().withf(|who| *who == customer()).returning(|_| Ok(vec![method()]));
        let now = clock.now();
        methods
            .expect_deactivate()
            .withf(move |who, _, at| *who == customer() && *at == now)
            .returning(|_, asked, _| Ok(asked == id()));
        let service = SavedMethodService { methods: Arc::new(methods), clock };
        assert_eq!(service.list(customer()).await.unwrap(), [method()]);
        assert!(service.deactivate(customer(), id()).await.is_ok());
        let unknown = service.deactivate(customer(), SavedMethodId::new(8).unwrap()).await;
        assert!(matches!(unknown, Err(SavedMethodError::NotFound)));
    }
}
