//! Who may keep an answer: `Cache-Control` and `Vary` of every answer, by the row of its endpoint.
//!
//! What belongs to a person is kept by nobody. What an application shows to everybody may be kept by anybody who asks
//! again before each use: a price or an App Token that ended counts from its commit on. Handlers that know better (contents
//! of files) say so themselves.

use actix_web::HttpRequest;
use actix_web::dev::ServiceResponse;
use actix_web::http::header::{AUTHORIZATION, CACHE_CONTROL, HeaderValue, VARY};
use actix_web::http::{Method, StatusCode};

use super::policy::{Access, Policy};

/// The credentials by which answers of an endpoint differ.
fn depends_on(access: Access) -> Option<&'static str> {
    match access {
        Access::Public => None,
        Access::App => Some("Token"),
        Access::Visitor | Access::Customer | Access::CustomerAlone => Some("Token, Authorization"),
        Access::Staff(_) | Access::Backend => Some("Authorization"),
    }
}

/// Whether the answer is the same for everybody with the App Token.
fn is_for_everybody(policy: &Policy, request: &HttpRequest) -> bool {
    let shown = match policy.access {
        Access::App => true,
        Access::Visitor => !request.headers().contains_key(AUTHORIZATION),
        Access::Public | Access::Customer | Access::CustomerAlone | Access::Staff(_) | Access::Backend => false,
    };
    shown && policy.method == Method::GET
}

/// Tells caches what they may do with an answer. An answer without a row, and every refusal, is kept by nobody.
pub fn declare<B>(response: &mut ServiceResponse<B>, policy: Option<&Policy>) {
    let everybody = policy.is_some_and(|policy| is_for_everybody(policy, response.request()));
    let keep = if everybody && response.status() == StatusCode::OK { "no-cache" } else { "no-store" };
    let headers = response.headers_mut();
    if !headers.contains_key(CACHE_CONTROL) {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(keep));
    }
    let Some(credentials) = policy.and_then(|policy| depends_on(policy.access)) else { return };
    // What is there already is told of the origin.
    let more = headers.get(VARY).and_then(|present| present.to_str().ok());
    let vary = more.map(|more| HeaderValue::from_str(&format!("{credentials}, {more}")));
    headers.insert(VARY, vary.and_then(Result::ok).unwrap_or_else(|| HeaderValue::from_static(credentials)));
}
