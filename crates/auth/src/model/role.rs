use chrono::{DateTime, Utc};
use kontor_kernel::{Edit, Line, Name, PermissionId, RoleId};

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

/// Fields of a new role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleDraft {
    /// Name.
    pub name: Name,
    /// Purpose, in words.
    pub description: Option<Line<500>>,
    /// Permissions.
    pub permissions: Vec<PermissionId>,
}

/// Change of a role.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RoleChange {
    /// Name.
    pub name: Edit<Name>,
    /// Purpose, in words.
    pub description: Edit<Option<Line<500>>>,
    /// New set of permissions, replacing the old one.
    pub permissions: Edit<Vec<PermissionId>>,
}
