use chrono::{DateTime, Utc};
use kontor_kernel::NotificationId;

/// What a customer was told, in the words of that moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    /// Its number.
    pub id: NotificationId,
    /// One line.
    pub title: String,
    /// The code of what happened; whoever writes notifications has the list of codes.
    pub code: String,
    /// More about it.
    pub body: Option<String>,
    /// The address of the application that it was written for, if that has one.
    pub action_url: Option<String>,
    /// When it happened.
    pub created_at: DateTime<Utc>,
}
