//! Guards as extractors: a handler with one of these types has an authenticated caller. The policy table names the
//! credentials. A handler whose guard does not match its policy rejects every request.

use std::future::{Ready, ready};
use std::ops::Deref;
use std::sync::Arc;

use actix_web::http::header::AUTHORIZATION;
use actix_web::{FromRequest, HttpMessage, HttpRequest, dev::Payload, web};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use kontor_auth::model::ClientCredentials;
use kontor_auth::{CustomerAuthentication, CustomerGuard, StaffGuard};
use kontor_kernel::{AppScope, CustomerScope, Permission, ProjectId, Staff, Visitor};
use kontor_organization::ApplicationService;

use super::ApiError;
use super::in_process::Origin;
use super::policy::{Access, Endpoint};
use super::request_services::Service;

/// Logged-in employee: `Authorization: Bearer <ERP_TOKEN>`.
pub struct SignedInStaff(pub Staff);

/// Calling application: header `Token`.
pub struct CallingApp(pub AppScope);

/// Calling application, with the logged-in customer if any: header `Token` and an optional Bearer token.
pub struct CallingVisitor(pub Visitor);

/// Logged-in customer of the calling application: both headers are required.
pub struct SignedInCustomer(pub CustomerScope);

/// Logged-in customer, for operations that need no application. The header `Token` is optional, but must be valid if
/// sent.
pub struct BearerCustomer(pub CustomerScope);

/// Credentials of a backend: `Authorization: Basic <base64(client_id:client_secret)>`. They are verified together with
/// the lookup of the handler.
pub struct Backend(pub ClientCredentials);

macro_rules! derefs {
    ($($guard:ident => $target:ty;)+) => {$(
        impl Deref for $guard {
            type Target = $target;

            fn deref(&self) -> &$target {
                &self.0
            }
        }
    )+};
}

derefs! {
    SignedInStaff => Staff;
    CallingApp => AppScope;
    CallingVisitor => Visitor;
    SignedInCustomer => CustomerScope;
    BearerCustomer => CustomerScope;
    Backend => ClientCredentials;
}

fn bearer(request: &HttpRequest) -> Option<String> {
    let value = request.headers().get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim().to_owned())
}

fn backend(request: &HttpRequest) -> Result<ClientCredentials, ApiError> {
    let presented = || {
        let value = request.headers().get(AUTHORIZATION)?.to_str().ok()?;
        let (_, encoded) = value.split_once(' ').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("basic"))?;
        let decoded = BASE64_STANDARD.decode(encoded.trim()).ok()?;
        ClientCredentials::parse(std::str::from_utf8(&decoded).ok()?)
    };
    presented().ok_or(ApiError::Challenge("The client credentials are missing or malformed."))
}

fn unauthenticated() -> ApiError {
    ApiError::unauthenticated("Unauthenticated.")
}

fn service<T: 'static>(request: &HttpRequest) -> Result<web::Data<T>, ApiError> {
    request.app_data::<web::Data<T>>().cloned().ok_or_else(|| ApiError::internal(&"a service is missing"))
}

async fn calling_app(request: &HttpRequest) -> Result<AppScope, ApiError> {
    let invalid = || ApiError::unauthenticated("Application token is invalid");
    let header = request.headers().get("token").filter(|value| !value.as_bytes().trim_ascii().is_empty());
    let header = header.ok_or_else(|| ApiError::unauthenticated("Application token is missing"))?;
    let token = header.to_str().map_err(|_| invalid())?.trim();
    let scope = Service::<ApplicationService>::of(request)?.identify(token).await?;
    scope.ok_or_else(invalid)
}

async fn customer(request: &HttpRequest) -> Result<CustomerScope, ApiError> {
    let app = calling_app(request).await?;
    let token = bearer(request).ok_or_else(unauthenticated)?;
    match service::<CustomerGuard>(request)?.authenticate(app, &token).await? {
        CustomerAuthentication::SignedIn(scope) => Ok(scope),
        CustomerAuthentication::Unauthenticated => Err(unauthenticated()),
        CustomerAuthentication::OtherApplication => Err(ApiError::not_found()),
    }
}

async fn visitor(request: &HttpRequest) -> Result<Visitor, ApiError> {
    let app = calling_app(request).await?;
    let Some(token) = bearer(request) else { return Ok(app.into()) };
    Ok(match service::<CustomerGuard>(request)?.authenticate(app, &token).await? {
        CustomerAuthentication::SignedIn(scope) => scope.into(),
        CustomerAuthentication::Unauthenticated | CustomerAuthentication::OtherApplication => app.into(),
    })
}

async fn customer_only(request: &HttpRequest) -> Result<CustomerScope, ApiError> {
    if request.headers().contains_key("token") {
        return customer(request).await;
    }
    let token = bearer(request).ok_or_else(unauthenticated)?;
    let scope = service::<CustomerGuard>(request)?.authenticate_without_app(&token).await?;
    scope.ok_or_else(unauthenticated)
}

async fn staff(request: &HttpRequest, permissions: &[Permission]) -> Result<Staff, ApiError> {
    let guard = service::<StaffGuard>(request)?;
    let staff = match Origin::token(request) {
        Some(token) => guard.authenticate_stored(token).await?,
        None => guard.authenticate(&bearer(request).ok_or_else(unauthenticated)?).await?,
    };
    let staff = staff.ok_or_else(unauthenticated)?;
    if staff.is_agent {
        request.extensions_mut().insert(CallingAgent(staff.clone()));
    }
    permissions.iter().try_for_each(|permission| staff.require(*permission))?;
    request.extensions_mut().insert(StaffProject(staff.project_id));
    Ok(staff)
}

/// Calling agent, also if it lacks a permission: the log has its refused calls.
pub struct CallingAgent(pub Staff);

/// Project of the calling employee. Unlike the guard it stays in the request. The interpretation of values depends on
/// it, such as the start of a day.
#[derive(Clone, Copy)]
pub struct StaffProject(pub ProjectId);

/// Authenticated caller. Guards take it out of the request.
pub enum Admitted {
    /// No credentials required.
    Public,
    /// Application.
    App(AppScope),
    /// Application, with a customer if logged in.
    Visitor(Visitor),
    /// Customer.
    Customer(CustomerScope),
    /// Employee or agent with the permissions of the policy.
    Staff(Staff),
    /// Credentials of a backend, not verified yet.
    Backend(ClientCredentials),
}

/// Authenticates the caller as the policy requires.
pub async fn admit(request: &HttpRequest, access: Access) -> Result<Admitted, ApiError> {
    Ok(match access {
        Access::Public => Admitted::Public,
        Access::App => Admitted::App(calling_app(request).await?),
        Access::Visitor => Admitted::Visitor(visitor(request).await?),
        Access::Customer => Admitted::Customer(customer(request).await?),
        Access::CustomerOnly => Admitted::Customer(customer_only(request).await?),
        Access::Staff(permissions) => Admitted::Staff(staff(request, permissions).await?),
        Access::Backend => Admitted::Backend(backend(request)?),
    })
}

/// Authenticates the employee of a request again, with the permissions of its policy.
pub async fn reauthenticate_staff(request: &HttpRequest) -> Result<SignedInStaff, ApiError> {
    let policy = request.extensions().get::<Arc<Endpoint>>().map(|endpoint| endpoint.policy);
    match policy.map(|policy| policy.access) {
        Some(Access::Staff(permissions)) => staff(request, permissions).await.map(SignedInStaff),
        _ => Err(ApiError::internal(&"the endpoint is not for staff")),
    }
}

/// Implements `FromRequest` for a guard: accepted policies and the admitted caller.
macro_rules! guard {
    ($guard:ident: $access:pat => $admitted:ident) => {
        impl FromRequest for $guard {
            type Error = ApiError;
            type Future = Ready<Result<Self, ApiError>>;

            fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
                let mut extensions = request.extensions_mut();
                let policy = extensions.get::<Arc<Endpoint>>().map(|endpoint| endpoint.policy);
                // A request routed a second time (`idempotency::recovery`) has no pattern.
                let fits = |pattern: String| policy.is_some_and(|policy| policy.path == pattern);
                debug_assert!(request.match_pattern().is_none_or(fits));
                let fits = policy.is_some_and(|policy| matches!(policy.access, $access));
                ready(match extensions.remove::<Admitted>() {
                    Some(Admitted::$admitted(proof)) if fits => Ok(Self(proof)),
                    _ => Err(ApiError::internal(&"the guard of a handler is not the one of its policy")),
                })
            }
        }
    };
}

guard!(CallingApp: Access::App => App);
guard!(CallingVisitor: Access::Visitor => Visitor);
guard!(SignedInCustomer: Access::Customer => Customer);
guard!(BearerCustomer: Access::CustomerOnly => Customer);
guard!(SignedInStaff: Access::Staff(_) => Staff);
guard!(Backend: Access::Backend => Backend);
