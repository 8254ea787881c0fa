//! Guards as extractors: a handler that takes one of these types has its proof.

use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;

use actix_web::http::header::AUTHORIZATION;
use actix_web::{FromRequest, HttpRequest, dev::Payload, web};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use kontor_auth::model::ClientCredentials;
use kontor_auth::{CustomerAuthentication, CustomerGuard, StaffGuard};
use kontor_kernel::{AppScope, CustomerScope, Staff};
use kontor_organization::ApplicationService;

use super::ApiError;

type Extraction<T> = Pin<Box<dyn Future<Output = Result<T, ApiError>>>>;

/// A signed-in employee: `Authorization: Bearer <ERP_TOKEN>`.
pub struct SignedInStaff(pub Staff);

/// The calling application: header `Token`.
pub struct CallingApp(pub AppScope);

/// A signed-in customer inside the calling application: both headers together.
pub struct SignedInCustomer(pub CustomerScope);

/// A signed-in customer, for operations that need no application: the header `Token` may be left out, but one that is
/// sent must be right.
pub struct BearerCustomer(pub CustomerScope);

/// A backend, as it presents itself: `Authorization: Basic <base64(client_id:client_secret)>`. Whether it is the one is
/// found out together with what it asks.
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
    request.app_data::<web::Data<T>>().cloned().ok_or_else(|| ApiError::internal(&"a service is not wired"))
}

async fn calling_app(request: HttpRequest) -> Result<AppScope, ApiError> {
    let header = request.headers().get("token").and_then(|value| value.to_str().ok()).map(str::trim);
    let token = header.filter(|token| !token.is_empty());
    let token = token.ok_or_else(|| ApiError::unauthenticated("Application token is missing"))?;
    let scope = service::<ApplicationService>(&request)?.identify(token).await?;
    scope.ok_or_else(|| ApiError::unauthenticated("Application token is invalid"))
}

async fn signed_in(request: HttpRequest) -> Result<CustomerScope, ApiError> {
    let app = calling_app(request.clone()).await?;
    let token = bearer(&request).ok_or_else(unauthenticated)?;
    match service::<CustomerGuard>(&request)?.authenticate(app, &token).await? {
        CustomerAuthentication::SignedIn(scope) => Ok(scope),
        CustomerAuthentication::Unauthenticated => Err(unauthenticated()),
        CustomerAuthentication::OtherApplication => Err(ApiError::not_found()),
    }
}

impl FromRequest for SignedInStaff {
    type Error = ApiError;
    type Future = Extraction<Self>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move {
            let token = bearer(&request).ok_or_else(unauthenticated)?;
            let staff = service::<StaffGuard>(&request)?.authenticate(&token).await?;
            staff.map(Self).ok_or_else(unauthenticated)
        })
    }
}

impl FromRequest for CallingApp {
    type Error = ApiError;
    type Future = Extraction<Self>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move { calling_app(request).await.map(Self) })
    }
}

impl FromRequest for SignedInCustomer {
    type Error = ApiError;
    type Future = Extraction<Self>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move { signed_in(request).await.map(Self) })
    }
}

impl FromRequest for Backend {
    type Error = ApiError;
    type Future = std::future::Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        std::future::ready(backend(request).map(Self))
    }
}

impl FromRequest for BearerCustomer {
    type Error = ApiError;
    type Future = Extraction<Self>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move {
            if request.headers().contains_key("token") {
                return signed_in(request).await.map(Self);
            }
            let token = bearer(&request).ok_or_else(unauthenticated)?;
            let scope = service::<CustomerGuard>(&request)?.authenticate_alone(&token).await?;
            scope.map(Self).ok_or_else(unauthenticated)
        })
    }
}
