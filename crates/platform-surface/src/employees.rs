//! Accounts of employees, managed by staff.

use actix_web::web::{Data, Path};
use actix_web::{get, post, put};
use deserr::Deserr;
use kontor_auth::EmployeeService;
use kontor_auth::model::{EmployeeDraft, EmployeeUpdate};
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use super::employee_record::EmployeeRecord;
use kontor_web::envelope::{Answer, Created, answer, created, one};
use kontor_web::wire::{self, InputErrors, change_body, into_domain};
use kontor_web::{Body, HistoryList, PageQuery, PathId, Query, Service, Settings, SignedInStaff};

/// Registers the routes. Other files register further paths below `/api/users`.
pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config
        .service(create_user)
        .service(show_user)
        .service(update_user)
        .service(ban_user)
        .service(unban_user)
        .service(list_user_history);
}

one!(UserResponse { user: EmployeeRecord });

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewUser {
    /// Unique in the whole service. Upper and lower case are equal.
    login: wire::Login,
    /// Address that receives the temporary password.
    email: wire::Email,
    first_name: wire::Name,
    last_name: wire::Name,
    #[deserr(default)]
    middle_name: Option<wire::Name>,
    #[deserr(default)]
    phone: Option<wire::Phone>,
    /// Role of the employee. It must not have permissions that the caller does not hold.
    role_id: wire::RoleId,
    /// Branch of the employee. Without it, the employee belongs to all branches.
    #[deserr(default)]
    branch_id: Option<wire::BranchId>,
    #[deserr(default)]
    department_id: Option<wire::DepartmentId>,
}

into_domain!(NewUser => EmployeeDraft {
    login, email, first_name, last_name, middle_name, phone, role_id, branch_id, department_id,
});

change_body! {
    ChangedUser => EmployeeUpdate {
        /// Address that receives temporary passwords. Another address invalidates the one that was sent before.
        email: wire::Email,
        first_name: wire::Name,
        last_name: wire::Name,
        middle_name: wire::Name | null,
        phone: wire::Phone | null,
        /// Role of the employee. It must not have permissions that the caller does not hold.
        role_id: wire::RoleId,
        /// `null` assigns the employee to all branches.
        branch_id: wire::BranchId | null,
        department_id: wire::DepartmentId | null,
        /// `true` if the employee is on sick leave.
        is_sick: wire::Flag,
    }
}

/// Create an employee
///
/// The employee gets a temporary password by e-mail, valid for one hour. `POST /api/send_password` sends another one.
#[utoipa::path(tag = "Staff", request_body = NewUser, responses((status = 201, body = UserResponse)))]
#[post("/api/users")]
async fn create_user(
    staff: SignedInStaff,
    service: Service<EmployeeService>,
    config: Data<Settings>,
    body: Body<NewUser>,
) -> Created<UserResponse> {
    created(EmployeeRecord::of(service.create(&staff, body.0.into()).await?, &config))
}

/// Get an employee
#[utoipa::path(tag = "Staff", responses((status = 200, body = UserResponse)))]
#[get("/api/users/{id}")]
async fn show_user(
    staff: SignedInStaff,
    service: Service<EmployeeService>,
    config: Data<Settings>,
    id: Path<PathId>,
) -> Answer<UserResponse> {
    answer(EmployeeRecord::of(service.read(&staff, id.parse()?).await?, &config))
}

/// Update an employee
///
/// Fields that are not sent keep their values. Another role applies at once. Callers cannot change their own role, nor
/// an employee with permissions that they do not hold. The last owner of the project keeps the role.
#[utoipa::path(tag = "Staff", request_body = ChangedUser, responses((status = 200, body = UserResponse)))]
#[put("/api/users/{id}")]
async fn update_user(
    staff: SignedInStaff,
    service: Service<EmployeeService>,
    config: Data<Settings>,
    id: Path<PathId>,
    body: Body<ChangedUser>,
) -> Answer<UserResponse> {
    answer(EmployeeRecord::of(service.update(&staff, id.parse()?, body.0.into()).await?, &config))
}

/// Defines the handlers that ban an employee and lift the ban.
macro_rules! bans {
    ($($handler:ident, $path:literal, $banned:literal, $summary:literal, $description:literal, $refused:literal;)+) => {$(
        #[utoipa::path(
            tag = "Staff",
            summary = $summary,
            description = $description,
            params(("id" = i64, Path)),
            responses((status = 200, body = UserResponse), (status = 422, description = $refused)),
        )]
        #[post($path)]
        async fn $handler(
            staff: SignedInStaff,
            service: Service<EmployeeService>,
            config: Data<Settings>,
            id: Path<PathId>,
        ) -> Answer<UserResponse> {
            answer(EmployeeRecord::of(service.set_banned(&staff, id.parse()?, $banned).await?, &config))
        }
    )+};
}

bans! {
    ban_user, "/api/users/{id}/ban", true, "Ban an employee",
        "Revokes the tokens and the temporary password of the employee at once. Callers cannot ban themselves, nor an \
         employee with permissions that they do not hold. The last owner of the project cannot be banned.",
        "The employee is the caller or the last owner.";
    unban_user, "/api/users/{id}/unban", false, "Unban an employee",
        "The employee can log in again. The employee must not have permissions that the caller does not hold.",
        "The employee is the caller.";
}

/// List the history of an employee
///
/// Newest first. Changes by commands of the operator are not included.
#[utoipa::path(tag = "Staff", params(PageQuery), responses((status = 200, body = HistoryList)))]
#[get("/api/users/{id}/history")]
async fn list_user_history(
    staff: SignedInStaff,
    service: Service<EmployeeService>,
    id: Path<PathId>,
    query: Query<PageQuery>,
) -> Answer<HistoryList> {
    let page = query.0.page()?;
    answer(service.history(&staff, id.parse()?, page).await?)
}
