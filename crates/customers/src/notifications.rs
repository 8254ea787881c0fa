use std::sync::Arc;

use chrono::{DateTime, Utc};
use kontor_kernel::{CustomerScope, NotificationId, Page, PageRequest, StoreError};

use crate::ports::NotificationReader;

/// Notification of a customer, with the text as it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    /// Identifier.
    pub id: NotificationId,
    /// Title, one line.
    pub title: String,
    /// Code of the event; the areas that write notifications define the codes.
    pub code: String,
    /// Body.
    pub body: Option<String>,
    /// URL for the notification in its application, if the application has one.
    pub action_url: Option<String>,
    /// Time of the event.
    pub created_at: DateTime<Utc>,
}

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
