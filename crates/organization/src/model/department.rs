use chrono::{DateTime, Utc};
use kontor_kernel::{BranchId, DepartmentId, Line, Name, ProjectId};

/// A department: employees who work together, perhaps in one branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Department {
    /// The number of the department.
    pub id: DepartmentId,
    /// The project it belongs to.
    pub project_id: ProjectId,
    /// Its name.
    pub name: Name,
    /// What it does.
    pub description: Option<Line<500>>,
    /// The branch it belongs to, with that one's name.
    pub branch: Option<(BranchId, Name)>,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
}

/// What staff say about a new department.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DepartmentDraft {
    /// Its name.
    pub name: Name,
    /// What it does.
    pub description: Option<Line<500>>,
    /// The branch it belongs to; `None` for all branches.
    pub branch_id: Option<BranchId>,
}

/// What staff change about a department; what is not named stays.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DepartmentPatch {
    /// Its name.
    pub name: Option<Name>,
    /// What it does; `Some(None)` empties it.
    pub description: Option<Option<Line<500>>>,
    /// The branch it belongs to; `Some(None)` takes it out of its branch.
    pub branch_id: Option<Option<BranchId>>,
}
