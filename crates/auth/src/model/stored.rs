use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use kontor_kernel::{AppScope, CounterpartyId, Permission, ProjectId, UserId};

/// Stored token of an employee.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredStaffToken {
    /// Fingerprint of the secret.
    pub fingerprint: String,
    /// End of validity.
    pub expires_at: DateTime<Utc>,
    /// Time of the last use, accurate to about a minute.
    pub last_used_at: Option<DateTime<Utc>>,
    /// Employee.
    pub user_id: UserId,
    /// Project of the employee.
    pub project_id: ProjectId,
    /// `true` if the employee is banned.
    pub is_banned: bool,
    /// `true` if the owner is an agent.
    pub is_agent: bool,
    /// Permissions of the role.
    pub permissions: BTreeSet<Permission>,
    /// Upper bound of the token's permissions; `None` for all permissions of the role.
    pub abilities: Option<BTreeSet<Permission>>,
}

impl StoredStaffToken {
    /// Returns the permissions of a call with this token: never more than the role grants now, and for an agent none
    /// to decide about agents, even if its role has them.
    pub fn granted(self) -> BTreeSet<Permission> {
        let mut granted = match self.abilities {
            None => self.permissions,
            Some(abilities) => Permission::common(&self.permissions, &abilities),
        };
        if self.is_agent {
            granted.retain(|permission| permission.is_for_agents());
        }
        granted
    }
}

/// Stored token of a customer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredCustomerToken {
    /// Fingerprint of the secret.
    pub fingerprint: String,
    /// End of validity.
    pub expires_at: DateTime<Utc>,
    /// Customer.
    pub counterparty_id: CounterpartyId,
    /// Application the customer logged in to.
    pub app: AppScope,
    /// `true` if that application is active.
    pub app_is_active: bool,
    /// Time of the last use, accurate to about a minute.
    pub last_used_at: Option<DateTime<Utc>>,
}

/// Owner of a token. The kinds are distinct: an employee and a customer may have the same identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenOwner {
    /// Employee.
    Staff(UserId),
    /// Customer.
    Customer(CounterpartyId),
}
