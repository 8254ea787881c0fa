//! Employees of the project: their list, their accounts and their record.

use actix_web::web::{Data, Path};
use actix_web::{get, post, put};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_auth::model::{
    Employee, EmployeeDraft, EmployeeFilter, EmployeeSummary, EmployeeUpdate, GrantedPermission, Role,
};
use kontor_auth::{EmployeeService, StaffDirectory};
use kontor_kernel::{PageRequest, Violations};
use kontor_web::envelope::{Answer, Created, answer, created, list, one};
use kontor_web::file_contents::avatar;
use kontor_web::paging::{PageNumber, PageSize, page_of};
use kontor_web::records::Picture;
use kontor_web::wire::{self, InputErrors, NamedRecord, change_body, into_domain};
use kontor_web::{Body, HistoryList, PageQuery, PathId, Query, Service, Settings, SignedInStaff};
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_actix_web::service_config::ServiceConfig;

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

#[derive(Serialize, ToSchema)]
struct EmployeeRole {
    id: i64,
    name: String,
    description: Option<String>,
}

impl From<Role> for EmployeeRole {
    fn from(role: Role) -> Self {
        Self { id: role.id.get(), name: role.name.into(), description: role.description }
    }
}

/// Permission in the records of employees and roles.
#[derive(Serialize, ToSchema)]
pub(super) struct PermissionRecord {
    id: i64,
    screen: NamedRecord,
    name: String,
    description: String,
}

impl From<GrantedPermission> for PermissionRecord {
    fn from(granted: GrantedPermission) -> Self {
        Self {
            id: granted.id.get(),
            screen: granted.screen.into(),
            name: granted.name,
            description: granted.description,
        }
    }
}

/// Employee, as shown to themselves and to staff who may view employees.
#[derive(Serialize, ToSchema)]
pub(super) struct EmployeeRecord {
    id: i64,
    login: String,
    /// Address that receives temporary passwords.
    email: String,
    first_name: String,
    last_name: String,
    middle_name: Option<String>,
    phone: Option<String>,
    avatar: Option<Picture>,
    role: EmployeeRole,
    /// Branch of the employee. `null` for all branches.
    branch: Option<NamedRecord>,
    department: Option<NamedRecord>,
    /// Employee who created the account.
    creator: Option<NamedRecord>,
    /// `true` if the employee cannot log in.
    is_banned: bool,
    /// `true` if the employee is on sick leave.
    is_sick: bool,
    /// Total time worked with the service, in seconds.
    active_time: i64,
    /// Time of the last activity, accurate to about a minute.
    last_activity_at: Option<DateTime<Utc>>,
    /// Permissions of the employee's role.
    permissions: Vec<PermissionRecord>,
}

impl EmployeeRecord {
    /// Builds the record of an employee. `config` supplies the addresses of pictures.
    pub(super) fn of(employee: Employee, config: &Settings) -> Self {
        Self {
            id: employee.id.get(),
            login: employee.login.to_string(),
            email: employee.email.to_string(),
            first_name: employee.first_name.into(),
            last_name: employee.last_name.into(),
            middle_name: employee.middle_name.map(Into::into),
            phone: employee.phone.map(|phone| phone.to_string()),
            avatar: avatar(employee.avatar.as_ref(), config),
            role: employee.role.into(),
            branch: employee.branch.map(Into::into),
            department: employee.department.map(Into::into),
            creator: employee.creator.map(Into::into),
            is_banned: employee.is_banned,
            is_sick: employee.is_sick,
            active_time: employee.active_time.num_seconds(),
            last_activity_at: employee.last_activity_at,
            permissions: employee.permissions.into_iter().map(Into::into).collect(),
        }
    }
}

pub(super) fn directory_routes(config: &mut ServiceConfig<'_>) {
    config.service(list_users).service(list_managers).service(list_responsible_users);
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct UserList {
    users: Vec<EmployeeRecord>,
    /// Number of employees on all pages.
    users_count: u64,
}

/// List employees
///
/// Returns full records, 100 per page by default.
#[utoipa::path(tag = "Staff", params(EmployeeQuery), responses((status = 200, body = UserList)))]
#[get("/api/users")]
async fn list_users(
    staff: SignedInStaff,
    directory: Service<StaffDirectory>,
    config: Data<Settings>,
    query: Query<EmployeeQuery>,
) -> Answer<UserList> {
    let (filter, page) = query.0.checked()?;
    let found = directory.employees(&staff, filter, page).await?;
    let users = found.items.into_iter().map(|employee| EmployeeRecord::of(employee, &config)).collect();
    answer(UserList { users_count: found.total, users })
}

/// Short record of an employee, for selection lists.
#[derive(Serialize, ToSchema)]
struct ColleagueRecord {
    id: i64,
    first_name: String,
    last_name: String,
    middle_name: Option<String>,
    /// Full name in one line.
    name: String,
}

impl From<EmployeeSummary> for ColleagueRecord {
    fn from(colleague: EmployeeSummary) -> Self {
        Self {
            id: colleague.id.get(),
            name: colleague.name(),
            first_name: colleague.first_name.into(),
            last_name: colleague.last_name.into(),
            middle_name: colleague.middle_name.map(Into::into),
        }
    }
}

/// Defines the lists of colleagues, which differ only in path and keys.
macro_rules! colleague_lists {
    ($($list:ident { $items:ident, $count:ident } = $handler:ident, $path:literal, $summary:literal;)+) => {$(
        list!($list { $items: [ColleagueRecord], $count of all });

        #[utoipa::path(
            tag = "Staff",
            summary = $summary,
            description = "Employees who are not banned, by name, up to 100 a page.",
            params(EmployeeQuery),
            responses((status = 200, body = $list)),
        )]
        #[get($path)]
        async fn $handler(
            staff: SignedInStaff,
            directory: Service<StaffDirectory>,
            query: Query<EmployeeQuery>,
        ) -> Answer<$list> {
            let (filter, page) = query.0.checked()?;
            answer(directory.colleagues(&staff, filter, page).await?)
        }
    )+};
}

colleague_lists! {
    ManagerList { managers, managers_count } = list_managers, "/api/managers",
        "List employees who can be a customer's manager";
    ResponsibleUserList { responsible_users, responsible_users_count } = list_responsible_users,
        "/api/responsible_users", "List employees who can be responsible for a record";
}

/// Search and page of a list of employees.
#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct EmployeeQuery {
    /// Words of the names, the login, the phone or the e-mail address, in any case and order.
    #[deserr(default)]
    #[param(inline)]
    query: Option<wire::Name>,
    #[deserr(default)]
    #[param(inline)]
    page: Option<PageNumber>,
    #[deserr(default)]
    #[param(inline)]
    per_page: Option<PageSize>,
}

impl EmployeeQuery {
    /// Returns the filter and the page.
    fn checked(self) -> Result<(EmployeeFilter, PageRequest), Violations> {
        let page = page_of(self.page.as_ref(), self.per_page.as_ref(), 100)?;
        Ok((EmployeeFilter { query: self.query.map(|query| query.0), active: false }, page))
    }
}
