//! `Cache-Control` and `Vary` of every response, from the policy of its endpoint.
//!
//! Personal data is never cached. Data that is the same for all users of an application may be cached, but must be
//! revalidated before each use: a new price or a revoked App Token takes effect at its commit. Handlers of file
//! contents set their own headers.

use actix_web::HttpRequest;
use actix_web::dev::ServiceResponse;
use actix_web::http::header::{AUTHORIZATION, CACHE_CONTROL, HeaderValue, VARY};
use actix_web::http::{Method, StatusCode};

use super::policy::{Access, Policy};

/// Returns the credential headers that the response of an endpoint depends on.
fn depends_on(access: Access) -> Option<&'static str> {
    match access {
        Access::Public => None,
        Access::App => Some("Token"),
        Access::Visitor | Access::Customer | Access::CustomerOnly => Some("Token, Authorization"),
        Access::Staff(_) | Access::Backend => Some("Authorization"),
    }
}

/// Returns `true` if the response is the same for every caller with the App Token.
fn is_shared(policy: &Policy, request: &HttpRequest) -> bool {
    let shown = match policy.access {
        Access::App => true,
        Access::Visitor => !request.headers().contains_key(AUTHORIZATION),
        Access::Public | Access::Customer | Access::CustomerOnly | Access::Staff(_) | Access::Backend => false,
    };
    shown && policy.method == Method::GET
}

/// Sets the caching headers of a response. Errors and responses without a policy get `no-store`.
pub fn declare<B>(response: &mut ServiceResponse<B>, policy: Option<&Policy>) {
    let everybody = policy.is_some_and(|policy| is_shared(policy, response.request()));
    let keep = if everybody && response.status() == StatusCode::OK { "no-cache" } else { "no-store" };
    let headers = response.headers_mut();
    if !headers.contains_key(CACHE_CONTROL) {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(keep));
    }
    let Some(credentials) = policy.and_then(|policy| depends_on(policy.access)) else { return };
    // Keeps an existing `Vary` header, such as `Origin` of CORS.
    let more = headers.get(VARY).and_then(|present| present.to_str().ok());
    let vary = more.map(|more| HeaderValue::from_str(&format!("{credentials}, {more}")));
    headers.insert(VARY, vary.and_then(Result::ok).unwrap_or_else(|| HeaderValue::from_static(credentials)));
}
