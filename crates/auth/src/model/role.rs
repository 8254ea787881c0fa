use chrono::{DateTime, Utc};
use kontor_kernel::{Line, Name, PermissionId, RoleId, draft_and_change};

use super::GrantedPermission;

/// Staff role of a project: a named set of permissions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaffRole {
    /// Identifier.
    pub id: RoleId,
    /// Name.
    pub name: Name,
    /// Purpose, in words.
    pub description: Option<Line<500>>,
    /// `true` if the role always has every permission.
    pub is_owner: bool,
    /// Permissions, by identifier.
    pub permissions: Vec<GrantedPermission>,
    /// Version, incremented by every change.
    pub version: i64,
    /// Time of creation.
    pub created_at: DateTime<Utc>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
}

draft_and_change! {
    /// Fields of a new role.
    RoleDraft,
    /// Change of a role.
    RoleChange {
        /// Name.
        name: Name,
        /// Purpose, in words.
        description: Option<Line<500>>,
        /// Permissions; a change replaces the whole set.
        permissions: Vec<PermissionId>,
    }
}
