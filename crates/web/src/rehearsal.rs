//! Rehearsal of a write: its response, without its effect.
//!
//! The same request takes the same way, with the same permissions and the same handler. Its writes run in a transaction
//! that never commits ([`kontor_adapter_diesel::Rehearsal`]), and the acquirer is not called. So the response is what the
//! request would return now, except for times and for the ids of new records.
//!
//! Only code of this process asks for it ([`super::in_process`]). It has no idempotency key, and counts toward no limit of
//! an agent.

use std::sync::Arc;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::StatusCode;
use actix_web::http::header::ETAG;
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage};
use kontor_adapter_diesel::{Rehearsal, RequestContext};
use kontor_auth::AgentActionService;

use super::ApiError;
use super::policy::Policy;
use super::request_services::Service;
use super::scopes::Admitted;

fn unavailable() -> ApiError {
    let text = "The call has no dry run: it holds a file or secrets, or needs an outside service. Nothing is changed.";
    ApiError::Message(StatusCode::CONFLICT, text.to_owned())
}

/// Returns an error for an operation whose effects are not all in the database.
fn check(request: &ServiceRequest, policy: &Policy) -> Result<(), ApiError> {
    let service = Service::<AgentActionService>::of(request.request())?;
    let is_possible = !policy.streamed && service.has_rehearsal(policy.method.as_str(), policy.path);
    if is_possible { Ok(()) } else { Err(unavailable()) }
}

/// Executes a request without its effect. The caller is authenticated.
pub async fn rehearse<B: MessageBody + 'static>(
    request: ServiceRequest,
    next: Next<B>,
    policy: &Policy,
    admitted: Admitted,
) -> Result<ServiceResponse<BoxBody>, Error> {
    if let Err(refusal) = check(&request, policy) {
        return Ok(request.error_response(refusal));
    }
    let rehearsal = Rehearsal::begin();
    request.extensions_mut().insert(admitted);
    request.extensions_mut().insert(RequestContext::from(Arc::clone(&rehearsal)));
    let response = next.call(request).await;
    rehearsal.end();
    let mut response = response?.map_into_boxed_body();
    if rehearsal.needs_outside() {
        return Ok(ServiceResponse::from_err(unavailable(), response.into_parts().0));
    }
    // The version is never stored.
    response.headers_mut().remove(ETAG);
    Ok(response)
}
