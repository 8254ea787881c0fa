use chrono::{DateTime, Utc};
use kontor_kernel::{Edit, Line, Name, PermissionId, RoleId};

use super::GrantedPermission;

/// A role of a project's staff: a named set of permissions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaffRole {
    /// Its number.
    pub id: RoleId,
    /// Its name.
    pub name: Name,
    /// What it is for.
    pub description: Option<Line<500>>,
    /// Whether it has every permission, for ever.
    pub is_owner: bool,
    /// What it allows, by number.
    pub permissions: Vec<GrantedPermission>,
    /// Counts its changes.
    pub version: i64,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
}

/// What staff say about a new role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleDraft {
    /// Its name.
    pub name: Name,
    /// What it is for.
    pub description: Option<Line<500>>,
    /// What it allows.
    pub permissions: Vec<PermissionId>,
}

/// What staff change about a role.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RoleChange {
    /// Its name.
    pub name: Edit<Name>,
    /// What it is for.
    pub description: Edit<Option<Line<500>>>,
    /// What it allows, in the place of all it did.
    pub permissions: Edit<Vec<PermissionId>>,
}
