use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{Email, UserId};

use super::Login;

/// Validity of a temporary password.
pub const TEMPORARY_PASSWORD_LIFETIME: TimeDelta = TimeDelta::hours(1);
/// Period in which sending a temporary password is retried before the request is discarded.
pub const PASSWORD_REQUEST_LIFETIME: TimeDelta = TimeDelta::minutes(15);

/// Request for a temporary password, leased to one worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PasswordRequest {
    /// Login; it may not exist.
    pub login: Login,
    /// Time of the request.
    pub requested_at: DateTime<Utc>,
    /// Number of attempts, including this one.
    pub attempts: u32,
}

/// Recipient of a temporary password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PasswordRecipient {
    /// Employee.
    pub user_id: UserId,
    /// E-mail address.
    pub email: Email,
}

/// Temporary password to store. It replaces an earlier one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemporaryPassword {
    /// Employee.
    pub user_id: UserId,
    /// Hash of the password.
    pub hash: String,
    /// Time of creation.
    pub created_at: DateTime<Utc>,
    /// End of validity.
    pub expires_at: DateTime<Utc>,
}
