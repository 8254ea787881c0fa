use std::sync::Arc;

use kontor_kernel::{Clock, CounterpartyId, FileId};

use crate::CustomerError;
use crate::ports::CustomerRepository;

/// Use cases of customer records for operators.
pub struct CustomerAdministration {
    /// Storage of customers.
    pub customers: Arc<dyn CustomerRepository>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

impl CustomerAdministration {
    /// Sets or removes the avatar of a customer. The file must have the avatar type and be uploaded by staff of
    /// their project.
    pub async fn set_avatar(&self, id: CounterpartyId, avatar: Option<FileId>) -> Result<(), CustomerError> {
        self.customers.set_avatar(id, avatar, self.clock.now()).await
    }
}
