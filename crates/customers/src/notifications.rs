use std::sync::Arc;

use kontor_kernel::{CustomerScope, Page, PageRequest, StoreError};

use crate::model::Notification;
use crate::ports::NotificationReader;

/// What customers were told. Other areas write it, in the commits of what happened.
pub struct NotificationService {
    /// Where they are read.
    pub notifications: Arc<dyn NotificationReader>,
}

impl NotificationService {
    /// One page of what the customer was told in the calling application, newest first.
    pub async fn list(&self, customer: CustomerScope, page: PageRequest) -> Result<Page<Notification>, StoreError> {
        self.notifications.page(customer, page).await
    }
}
