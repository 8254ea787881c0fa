//! Departments of a project.

use actix_web::{delete, get, post, put};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_organization::DepartmentService;
use kontor_organization::model::{Department, DepartmentChange, DepartmentDraft};
use serde::Serialize;
use utoipa::ToSchema;

use crate::endpoints::handlers;
use kontor_web::envelope::{list, one};
use kontor_web::wire::{self, InputErrors, NamedRecord, change_body, into_domain};

handlers! {
    DepartmentService, "Roles and departments";

    /// List departments
    ///
    /// Returns every department of the project.
    list "/api/departments" as list_departments -> DepartmentList;

    /// Create a department
    create "/api/departments" as create_department(NewDepartment) -> DepartmentResponse;

    /// Get a department
    read "/api/departments/{id}" as show_department -> DepartmentResponse;

    /// Update a department
    ///
    /// Fields that are not sent keep their values.
    update "/api/departments/{id}" as update_department(ChangedDepartment) -> DepartmentResponse;

    /// Delete a department
    ///
    /// The department must have no employees.
    delete "/api/departments/{id}" as delete_department -> "The department was deleted.";
}

one!(DepartmentResponse { department: DepartmentRecord });
list!(DepartmentList { departments: [DepartmentRecord], departments_count });

#[derive(Serialize, ToSchema)]
struct DepartmentRecord {
    id: i64,
    name: String,
    description: Option<String>,
    /// Branch of the department. `null` if it belongs to the whole project.
    branch: Option<NamedRecord>,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl From<Department> for DepartmentRecord {
    fn from(department: Department) -> Self {
        Self {
            id: department.id.get(),
            name: department.name.into(),
            description: department.description.map(Into::into),
            branch: department.branch.map(|(id, name)| NamedRecord::new(id, name)),
            created_at: department.created_at,
            updated_at: department.updated_at,
        }
    }
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewDepartment {
    name: wire::Name,
    #[deserr(default)]
    description: Option<wire::Line500>,
    /// Branch of the department. Without it, the department belongs to the whole project.
    #[deserr(default)]
    branch_id: Option<wire::BranchId>,
}

into_domain!(NewDepartment => DepartmentDraft { name, description, branch_id });

change_body! {
    ChangedDepartment => DepartmentChange {
        name: wire::Name,
        description: wire::Line500 | null,
        /// `null` assigns the department to the whole project.
        branch_id: wire::BranchId | null,
    }
}
