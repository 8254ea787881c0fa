use std::sync::Arc;

use kontor_kernel::{CustomerScope, Page, PageRequest, StoreError};

use crate::model::Notification;
use crate::ports::NotificationReader;

/// Use cases of notifications. Other areas write them, in the commits of their events.
pub struct NotificationService {
    /// Reads notifications.
    pub notifications: Arc<dyn NotificationReader>,
}

impl NotificationService {
    /// Returns one page of the customer's notifications in the calling application, newest first.
    pub async fn list(&self, customer: CustomerScope, page: PageRequest) -> Result<Page<Notification>, StoreError> {
        self.notifications.page(customer, page).await
    }
}
