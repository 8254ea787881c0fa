use chrono::{DateTime, Utc};
use kontor_kernel::NotificationId;

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
