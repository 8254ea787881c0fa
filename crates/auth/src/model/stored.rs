use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use kontor_kernel::{AppScope, CounterpartyId, Permission, ProjectId, UserId};

/// A stored token of an employee.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredStaffToken {
    /// Fingerprint of the secret.
    pub fingerprint: String,
    /// The end of its validity.
    pub expires_at: DateTime<Utc>,
    /// When it was last used, to the minute or so.
    pub last_used_at: Option<DateTime<Utc>>,
    /// The employee.
    pub user_id: UserId,
    /// His project.
    pub project_id: ProjectId,
    /// Whether he is shut out.
    pub is_banned: bool,
    /// What his role allows.
    pub permissions: BTreeSet<Permission>,
    /// What the token may do at most; `None` for all that the role allows.
    pub abilities: Option<BTreeSet<Permission>>,
}

impl StoredStaffToken {
    /// What a call with the token may do: never more than the role allows now.
    pub fn granted(self) -> BTreeSet<Permission> {
        match self.abilities {
            None => self.permissions,
            Some(abilities) => Permission::common(&self.permissions, &abilities),
        }
    }
}

/// A stored token of a customer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredCustomerToken {
    /// Fingerprint of the secret.
    pub fingerprint: String,
    /// The end of its validity.
    pub expires_at: DateTime<Utc>,
    /// The customer.
    pub counterparty_id: CounterpartyId,
    /// The application he logged in to, in his project.
    pub app: AppScope,
    /// Whether that application is active.
    pub app_is_active: bool,
    /// When it was last used, to the minute or so.
    pub last_used_at: Option<DateTime<Utc>>,
}

/// Whose token it is. The kinds never mix: an employee and a customer may have the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenOwner {
    /// An employee.
    Staff(UserId),
    /// A customer.
    Customer(CounterpartyId),
}
