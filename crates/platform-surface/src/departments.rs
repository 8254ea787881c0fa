//! Departments of a project.

use actix_web::web::{Data, Path};
use actix_web::{delete, get, post, put};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_organization::DepartmentService;
use kontor_organization::model::{Department, DepartmentChange, DepartmentDraft};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use kontor_web::envelope::{Answer, Created, answer, created, list, one};
use kontor_web::records::Message;
use kontor_web::wire::{self, InputErrors, NamedRecord, NonNullPatch, Patch};
use kontor_web::{Body, PathId, SignedInStaff};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config
        .service(list_departments)
        .service(create_department)
        .service(show_department)
        .service(update_department)
        .service(delete_department);
}

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

one!(OneDepartment { department: DepartmentRecord });
list!(DepartmentList { departments: [DepartmentRecord], departments_count });

/// List departments
///
/// Returns every department of the project.
#[utoipa::path(tag = "Roles and departments", responses((status = 200, body = DepartmentList)))]
#[get("/api/departments")]
async fn list_departments(staff: SignedInStaff, service: Data<DepartmentService>) -> Answer<DepartmentList> {
    answer(service.list(&staff).await?)
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

impl From<NewDepartment> for DepartmentDraft {
    fn from(new: NewDepartment) -> Self {
        Self {
            name: new.name.0,
            description: new.description.map(|text| text.0),
            branch_id: new.branch_id.map(|id| id.0),
        }
    }
}

/// Create a department
#[utoipa::path(tag = "Roles and departments", request_body = NewDepartment, responses((status = 201, body = OneDepartment)))]
#[post("/api/departments")]
async fn create_department(
    staff: SignedInStaff,
    service: Data<DepartmentService>,
    body: Body<NewDepartment>,
) -> Created<OneDepartment> {
    created(service.create(&staff, body.0.into()).await?)
}

/// Get a department
#[utoipa::path(tag = "Roles and departments", responses((status = 200, body = OneDepartment)))]
#[get("/api/departments/{id}")]
async fn show_department(
    staff: SignedInStaff,
    service: Data<DepartmentService>,
    id: Path<PathId>,
) -> Answer<OneDepartment> {
    answer(service.read(&staff, id.parse()?).await?)
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct ChangedDepartment {
    #[deserr(default)]
    #[schema(value_type = Option<wire::Name>, nullable = false)]
    name: NonNullPatch<wire::Name>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::Line500>)]
    description: Patch<wire::Line500>,
    /// `null` assigns the department to the whole project.
    #[deserr(default)]
    #[schema(value_type = Option<wire::BranchId>)]
    branch_id: Patch<wire::BranchId>,
}

impl From<ChangedDepartment> for DepartmentChange {
    fn from(new: ChangedDepartment) -> Self {
        Self { name: new.name.into(), description: new.description.into(), branch_id: new.branch_id.into() }
    }
}

/// Update a department
///
/// Fields that are not sent keep their values.
#[utoipa::path(
    tag = "Roles and departments",
    request_body = ChangedDepartment,
    responses((status = 200, body = OneDepartment)),
)]
#[put("/api/departments/{id}")]
async fn update_department(
    staff: SignedInStaff,
    service: Data<DepartmentService>,
    id: Path<PathId>,
    body: Body<ChangedDepartment>,
) -> Answer<OneDepartment> {
    answer(service.update(&staff, id.parse()?, body.0.into()).await?)
}

/// Delete a department
///
/// The department must have no employees.
#[utoipa::path(tag = "Roles and departments", responses((status = 200, body = Message)))]
#[delete("/api/departments/{id}")]
async fn delete_department(
    staff: SignedInStaff,
    service: Data<DepartmentService>,
    id: Path<PathId>,
) -> Answer<Message> {
    service.delete(&staff, id.parse()?).await?;
    answer(Message::new("The department was deleted."))
}
