use chrono::{DateTime, Utc};
use kontor_kernel::history::{Audited, AuditedField};
use kontor_kernel::{
    BranchId, DeletableRepository, DepartmentId, Line, Name, Record, RecordError, RecordService, Refusal, Resource,
    draft_and_change,
};

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

draft_and_change! {
    /// Fields of a new department.
    DepartmentDraft,
    /// Changes of a department.
    DepartmentChange {
        /// Name.
        name: Name,
        /// Description.
        description: Option<Line<500>>,
        /// Branch; `None` for all branches.
        branch_id: Option<BranchId>,
    }
}

/// Refusals specific to departments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DepartmentRefusal {
    /// The project has no such branch.
    #[error("there is no such branch")]
    UnknownBranch,
    /// The department has employees.
    #[error("there are employees in the department")]
    HasEmployees,
}

impl Refusal for DepartmentRefusal {}

/// Error of a use case of departments.
pub type DepartmentError = RecordError<DepartmentRefusal>;

/// Use cases of departments. The storage checks in the commit that the branch belongs to the project, and that a
/// deleted department has no employees.
pub type DepartmentService = RecordService<Department, dyn DeletableRepository<Department>>;

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
