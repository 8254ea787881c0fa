//! Saved payment methods as their customers see them.

use std::sync::Arc;

use kontor_kernel::{Clock, CustomerScope, SavedMethodId, StoreError};

use crate::error::SavedMethodError;
use crate::model::SavedMethod;
use crate::ports::SavedMethodStore;

/// Use cases of saved payment methods. They are seen by the customer who saved them, in the application they were saved
/// in, and nowhere else.
pub struct SavedMethodService {
    /// Where they are kept.
    pub methods: Arc<dyn SavedMethodStore>,
    /// Time.
    pub clock: Arc<dyn Clock>,
}

impl SavedMethodService {
    /// The active ones, newest first.
    pub async fn list(&self, customer: CustomerScope) -> Result<Vec<SavedMethod>, StoreError> {
        self.methods.list(customer).await
    }

    /// Lets a method be charged no more. Doing it again changes nothing.
    pub async fn deactivate(&self, customer: CustomerScope, id: SavedMethodId) -> Result<(), SavedMethodError> {
        let known = self.methods.deactivate(customer, id, self.clock.now()).await?;
        if known { Ok(()) } else { Err(SavedMethodError::NotFound) }
    }
}
