use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{Email, UserId};

use super::Login;

/// How long a temporary password is valid.
pub const TEMPORARY_PASSWORD_LIFETIME: TimeDelta = TimeDelta::hours(1);
/// How long a temporary password is tried to be sent before its request is forgotten.
pub const PASSWORD_REQUEST_LIFETIME: TimeDelta = TimeDelta::minutes(15);

/// Somebody's wish for a temporary password, leased to one worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PasswordRequest {
    /// Whose password; perhaps nobody's.
    pub login: Login,
    /// When it was asked for.
    pub requested_at: DateTime<Utc>,
    /// How often it has been tried, this time included.
    pub attempts: u32,
}

/// Who gets a temporary password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PasswordRecipient {
    /// The employee.
    pub user_id: UserId,
    /// Where his mail goes.
    pub email: Email,
}

/// A temporary password as it is stored, in the place of an earlier one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemporaryPassword {
    /// The employee.
    pub user_id: UserId,
    /// The stored form.
    pub hash: String,
    /// Now.
    pub created_at: DateTime<Utc>,
    /// The end of its validity.
    pub expires_at: DateTime<Utc>,
}
