//! Employees: signing in, who am I, signing out.

use actix_web::web::{Data, Json};
use actix_web::{HttpRequest, get, post};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_auth::model::{Employee, GrantedPermission, Reference, Role};
use kontor_auth::{StaffLoginError, StaffSessions};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::http::limits::STAFF_LOGIN;
use crate::http::records::{AccessTokenRecord, Logout, Message, Picture};
use crate::http::wire::{self, InputErrors};
use crate::http::{ApiError, Body, ClientIp, SignedInStaff, Throttle};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(log_in).service(current_user).service(log_out);
}

impl From<StaffLoginError> for ApiError {
    fn from(error: StaffLoginError) -> Self {
        match error {
            StaffLoginError::WrongCredentials => Self::unauthenticated("The login or the password is wrong."),
            StaffLoginError::Hashing(error) => Self::internal(&error),
            StaffLoginError::Store(error) => error.into(),
        }
    }
}

#[derive(Serialize, ToSchema)]
struct NamedRecord {
    id: i64,
    name: String,
}

impl<Id: Into<i64>> From<Reference<Id>> for NamedRecord {
    fn from(reference: Reference<Id>) -> Self {
        Self { id: reference.id.into(), name: reference.name.into() }
    }
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

#[derive(Serialize, ToSchema)]
struct EmployeePermission {
    id: i64,
    screen: NamedRecord,
    name: String,
    description: String,
}

impl From<GrantedPermission> for EmployeePermission {
    fn from(granted: GrantedPermission) -> Self {
        Self {
            id: granted.id.get(),
            screen: granted.screen.into(),
            name: granted.name,
            description: granted.description,
        }
    }
}

#[derive(Serialize, ToSchema)]
struct EmployeeRecord {
    id: i64,
    login: String,
    first_name: String,
    last_name: String,
    middle_name: Option<String>,
    phone: Option<String>,
    avatar: Option<Picture>,
    role: EmployeeRole,
    branch: Option<NamedRecord>,
    department: Option<NamedRecord>,
    creator: Option<NamedRecord>,
    is_banned: bool,
    is_sick: bool,
    /// Time worked with the service so far, in seconds.
    active_time: i64,
    last_activity_at: Option<DateTime<Utc>>,
    permissions: Vec<EmployeePermission>,
}

impl From<Employee> for EmployeeRecord {
    fn from(employee: Employee) -> Self {
        Self {
            id: employee.id.get(),
            login: employee.login.to_string(),
            first_name: employee.first_name.into(),
            last_name: employee.last_name.into(),
            middle_name: employee.middle_name.map(Into::into),
            phone: employee.phone.map(|phone| phone.to_string()),
            avatar: None,
            role: employee.role.into(),
            branch: employee.branch.map(Into::into),
            department: None,
            creator: employee.creator.map(Into::into),
            is_banned: employee.is_banned,
            is_sick: employee.is_sick,
            active_time: employee.active_time.num_seconds(),
            last_activity_at: employee.last_activity_at,
            permissions: employee.permissions.into_iter().map(Into::into).collect(),
        }
    }
}

#[derive(Serialize, ToSchema)]
struct CurrentUser {
    user: EmployeeRecord,
}

#[derive(Serialize, ToSchema)]
struct UserWithToken {
    #[serde(flatten)]
    record: EmployeeRecord,
    access_token: AccessTokenRecord,
}

#[derive(Serialize, ToSchema)]
struct SignedInUser {
    user: UserWithToken,
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct StaffLogin {
    login: wire::Login,
    password: wire::Secret,
}

/// Signs an employee in. At most 5 times a minute per address and login.
#[utoipa::path(
    tag = "Staff login and current user",
    request_body = StaffLogin,
    responses(
        (status = 200, body = SignedInUser),
        (status = 401, description = "The login or the password is wrong, or the employee is banned."),
        (status = 429, description = "Too many attempts; `Retry-After` says when to try again."),
    ),
)]
#[post("/api/login")]
async fn log_in(
    request: HttpRequest,
    ip: ClientIp,
    throttle: Data<Throttle>,
    sessions: Data<StaffSessions>,
    body: Body<StaffLogin>,
) -> Result<Json<SignedInUser>, ApiError> {
    let (login, password) = (body.0.login.0, body.0.password.0);
    throttle.hit(&request, &[(STAFF_LOGIN, &format!("{}|{login}", ip.subject()))]).await?;
    let signed = sessions.log_in(&login, &password).await?;
    let user = UserWithToken { record: signed.employee.into(), access_token: signed.token.into() };
    Ok(Json(SignedInUser { user }))
}

/// The employee himself, with his permissions.
#[utoipa::path(
    tag = "Staff login and current user",
    responses((status = 200, body = CurrentUser)),
)]
#[get("/api/user")]
async fn current_user(staff: SignedInStaff, sessions: Data<StaffSessions>) -> Result<Json<CurrentUser>, ApiError> {
    let employee = sessions.current(&staff).await?.ok_or_else(|| ApiError::unauthenticated("Unauthenticated."))?;
    Ok(Json(CurrentUser { user: employee.into() }))
}

/// Signs the employee out, on this device or on all.
#[utoipa::path(
    tag = "Staff login and current user",
    request_body = Logout,
    responses((status = 200, body = Message)),
)]
#[post("/api/user/logout")]
async fn log_out(
    staff: SignedInStaff,
    sessions: Data<StaffSessions>,
    body: Body<Logout>,
) -> Result<Json<Message>, ApiError> {
    sessions.log_out(&staff, body.0.into()).await?;
    Ok(Json(Message::new("Signed out.")))
}
