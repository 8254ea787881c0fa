use std::sync::Arc;

use kontor_kernel::{Clock, CounterpartyId, FileId};

use crate::CustomerError;
use crate::ports::CustomerRepository;

/// Records of customers, as those who run the service change them.
pub struct CustomerRegistry {
    /// Where they are kept.
    pub customers: Arc<dyn CustomerRepository>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
}

impl CustomerRegistry {
    /// Gives a customer another picture: a file of the type for avatars that staff of his project uploaded; or none.
    pub async fn set_avatar(&self, id: CounterpartyId, avatar: Option<FileId>) -> Result<(), CustomerError> {
        self.customers.set_avatar(id, avatar, self.clock.now()).await
    }
}
