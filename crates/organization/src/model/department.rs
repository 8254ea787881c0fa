use chrono::{DateTime, Utc};
use kontor_kernel::history::{Audited, AuditedField};
use kontor_kernel::{BranchId, DepartmentId, Edit, Line, Name, Record, Resource};

use crate::DepartmentRefusal;

/// Department: a group of employees, optionally of one branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Department {
    /// Identifier of the department.
    pub id: DepartmentId,
    /// Name.
    pub name: Name,
    /// Description.
    pub description: Option<Line<500>>,
    /// Branch with its name, if the department belongs to one.
    pub branch: Option<(BranchId, Name)>,
    /// Creation time.
    pub created_at: DateTime<Utc>,
    /// Time of the last change.
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

/// Fields of a new department.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DepartmentDraft {
    /// Name.
    pub name: Name,
    /// Description.
    pub description: Option<Line<500>>,
    /// Branch; `None` for all branches.
    pub branch_id: Option<BranchId>,
}

/// Changes of a department.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DepartmentChange {
    /// Name.
    pub name: Edit<Name>,
    /// Description.
    pub description: Edit<Option<Line<500>>>,
    /// Branch.
    pub branch_id: Edit<Option<BranchId>>,
}
