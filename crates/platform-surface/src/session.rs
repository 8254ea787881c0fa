//! Employee login with a password or a temporary password, current user, logout.

use actix_web::web::Data;
use actix_web::{HttpRequest, get, post};
use deserr::Deserr;
use kontor_auth::{KnownAddresses, StaffSessions, TemporaryPasswords};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use super::employees::EmployeeRecord;
use kontor_web::envelope::{Answer, answer, one};
use kontor_web::limits::{
    STAFF_LOGIN, STAFF_LOGIN_ACCOUNT, STAFF_LOGIN_DAY, STAFF_LOGIN_HOUR, STAFF_LOGIN_IP, STAFF_PASSWORD_IP,
    STAFF_PASSWORD_LOGIN,
};
use kontor_web::records::{AccessTokenRecord, Logout, Message};
use kontor_web::wire::{self, InputErrors};
use kontor_web::{ApiError, Body, ClientIp, PasswordQueue, Service, Settings, SignedInStaff, Throttle};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(send_password).service(log_in).service(show_current_user).service(log_out);
}

one!(CurrentUser { user: EmployeeRecord });

#[derive(Serialize, ToSchema)]
struct UserWithToken {
    #[serde(flatten)]
    record: EmployeeRecord,
    access_token: AccessTokenRecord,
}

one!(SignedInUser { user: UserWithToken });

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct PasswordRequest {
    login: wire::Login,
}

/// Send a temporary password
///
/// The password is sent to the employee's e-mail address. The response is the same for unknown logins. The current
/// password stays valid until the temporary password is used, which then replaces it.
///
/// Rate limits: 3 requests an hour per login, 20 an hour per IP address.
#[utoipa::path(
    tag = "Staff login and current user",
    request_body = PasswordRequest,
    responses(
        (status = 200, body = Message),
        (status = 429, description = "Too many requests. Retry after `Retry-After` seconds."),
    ),
)]
#[post("/api/send_password")]
async fn send_password(
    request: HttpRequest,
    ip: ClientIp,
    throttle: Data<Throttle>,
    passwords: Service<TemporaryPasswords>,
    body: Body<PasswordRequest>,
) -> Answer<Message> {
    let login = body.0.login.0;
    let address = ip.subject();
    throttle.hit(&request, &[(STAFF_PASSWORD_IP, address.as_str()), (STAFF_PASSWORD_LOGIN, login.as_str())]).await?;
    passwords.request(&login).await?;
    answer(Message::new("If the login exists, a temporary password is being sent."))
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct StaffLogin {
    login: wire::Login,
    password: wire::Secret,
}

/// Log in an employee
///
/// Accepts the password or a temporary password. A temporary password becomes the new password and revokes all tokens
/// of the employee.
///
/// Rate limits:
///
/// - per IP address and login: 5 a minute and 60 an hour;
/// - per IP address: 30 a minute;
/// - from IP addresses without a login of this employee in the last 30 days: 200 a day per IP address and login, and
///   100 a minute per login.
#[utoipa::path(
    tag = "Staff login and current user",
    request_body = StaffLogin,
    responses(
        (status = 200, body = SignedInUser),
        (status = 401, description = "The login or the password is invalid, or the employee is banned."),
        (status = 429, description = "Too many attempts. Retry after `Retry-After` seconds."),
        (status = 503, description = "Too many concurrent logins. Retry after `Retry-After` seconds.", body = Message),
    ),
)]
#[post("/api/login")]
async fn log_in(
    request: HttpRequest,
    ip: ClientIp,
    throttle: Data<Throttle>,
    (queue, known_addresses): (Data<PasswordQueue>, Service<KnownAddresses>),
    sessions: Service<StaffSessions>,
    config: Data<Settings>,
    body: Body<StaffLogin>,
) -> Answer<SignedInUser> {
    let (login, password) = (body.0.login.0, body.0.password.0);
    let address = ip.subject();
    // A caller rejected by the full queue has not made an attempt, so the rate limit does not count it.
    let is_known = known_addresses.knows(&login, &address).await?;
    let place = queue.place(address.clone(), is_known)?;
    let pair = format!("{address}|{login}");
    let hits = [(STAFF_LOGIN_IP, address.as_str()), (STAFF_LOGIN, pair.as_str()), (STAFF_LOGIN_HOUR, pair.as_str())];
    throttle.hit(&request, &hits).await?;
    if !is_known {
        let hits = [(STAFF_LOGIN_DAY, pair.as_str()), (STAFF_LOGIN_ACCOUNT, login.as_str())];
        throttle.hit(&request, &hits).await?;
    }
    let turn = place.acquire().await?;
    let signed = sessions.log_in(&login, &password).await?;
    drop(turn);
    if let Err(error) = known_addresses.remember(&login, &address).await {
        tracing::warn!(%error, "the IP address of a login was not stored");
    }
    let record = EmployeeRecord::of(signed.employee, &config);
    answer(UserWithToken { record, access_token: signed.token.into() })
}

/// Get the current employee
///
/// Includes the employee's permissions.
#[utoipa::path(tag = "Staff login and current user", responses((status = 200, body = CurrentUser)))]
#[get("/api/user")]
async fn show_current_user(
    staff: SignedInStaff,
    sessions: Service<StaffSessions>,
    config: Data<Settings>,
) -> Answer<CurrentUser> {
    let employee = sessions.current(&staff).await?.ok_or_else(|| ApiError::unauthenticated("Unauthenticated."))?;
    answer(EmployeeRecord::of(employee, &config))
}

/// Log out the employee
///
/// Ends the login on this device, or on all devices with `from_all_devices`.
#[utoipa::path(tag = "Staff login and current user", request_body = Logout, responses((status = 200, body = Message)))]
#[post("/api/user/logout")]
async fn log_out(staff: SignedInStaff, sessions: Service<StaffSessions>, body: Body<Logout>) -> Answer<Message> {
    sessions.log_out(&staff, body.0.into()).await?;
    answer(Message::new("Signed out."))
}
