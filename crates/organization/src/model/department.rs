use chrono::{DateTime, Utc};
use kontor_kernel::history::{Audited, AuditedField};
use kontor_kernel::{BranchId, DepartmentId, Edit, Line, Name, Record, Resource};

use crate::DepartmentRefusal;

/// A department: employees who work together, perhaps in one branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Department {
    /// The number of the department.
    pub id: DepartmentId,
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

impl Record for Department {
    type Id = DepartmentId;
    type Draft = DepartmentDraft;
    type Change = DepartmentChange;
    type Refusal = DepartmentRefusal;
}

impl Audited for Department {
    const RESOURCE: Resource = Resource::Departments;

    fn number(&self) -> i64 {
        self.id.get()
    }

    fn audited_fields(&self) -> Vec<AuditedField> {
        vec![
            ("name", Some(self.name.to_string())),
            ("description", self.description.as_ref().map(ToString::to_string)),
            ("branch", self.branch.as_ref().map(|(_, name)| name.to_string())),
        ]
    }
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

/// What staff change about a department.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DepartmentChange {
    /// Its name.
    pub name: Edit<Name>,
    /// What it does.
    pub description: Edit<Option<Line<500>>>,
    /// The branch it belongs to.
    pub branch_id: Edit<Option<BranchId>>,
}
