//! `Idempotency-Key`: a write that is repeated under its key is carried out once and gets the same response.
//!
//! **Position.** The middleware runs after authentication and the rate limit by address, before any other check of the
//! request. A repeated request gets the stored response, even if the records have changed since. An endpoint that
//! commits first ([`Repeatability::UntilCommit`]) skips the lookup: the repeated request runs up to its first commit, is rolled
//! back or refused there, and then gets the stored response.
//!
//! **Storage.** The key is stored in the transaction of the request's own change
//! ([`kontor_adapter_diesel::IdempotentRequest`]). The response follows within a second in a batch commit; until then
//! it is in memory. If the process dies in between, the key records what was done, and the response is read from the
//! record ([`recovery`]).

mod answer;
pub mod recovery;
mod store;

pub use self::store::IdempotencyStore;

use std::sync::Arc;
use std::time::Duration;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{Payload, ServiceRequest, ServiceResponse};
use actix_web::http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::Next;
use actix_web::web::Bytes;
use actix_web::{Error, HttpMessage, web};
use chrono::TimeDelta;
use kontor_adapter_diesel::{IdempotentRequest, KeyClaim, KeyOwner, RequestContext};
use kontor_kernel::{AppScope, CustomerScope, Visitor};
use tokio::time::Instant;
use tracing::Instrument as _;

use self::answer::capture;
use self::store::{ExecutionGuard, KeyState, end_of};
use super::body::unreadable;
use super::error::whole_seconds;
use super::path::is_below;
use super::policy::{Endpoint, Policy, Repeatability};
use super::scopes::Admitted;
use super::{ApiError, NamedError, NextAction};

/// Request header with the key.
pub const KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Response header that marks a replayed response.
pub const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
/// Response header with the time at which the key expires.
pub const EXPIRES: HeaderName = HeaderName::from_static("idempotency-key-expires");

/// Maximum time that a request waits for the response to the same request.
const MAX_WAIT: Duration = Duration::from_secs(5);
/// Polling interval for the response of another process.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Returns `true` if an endpoint accepts keys: every write of a client. Providers have their own ways to repeat
/// callbacks.
pub fn accepts_keys(policy: &Policy) -> bool {
    policy.method != Method::GET && !is_below(policy.path, "/callbacks")
}

/// Returns `true` if a request has a key, valid or not.
pub fn has_key(headers: &HeaderMap) -> bool {
    headers.contains_key(KEY)
}

/// Returns the key of a request, if it has one.
pub(crate) fn sent_key(request: &ServiceRequest) -> Result<Option<String>, ApiError> {
    if has_key(request.headers()) { read_key(request).map(Some) } else { Ok(None) }
}

/// Returns `true` if a request repeats one that is known by its key. It is not executed again. A malformed key is
/// refused later.
pub(crate) async fn is_repeated(request: &ServiceRequest, admitted: &Admitted) -> Result<bool, ApiError> {
    if !has_key(request.headers()) {
        return Ok(false);
    }
    let Ok(PresentedKey { key, owner, scope }) = presented(request, admitted) else { return Ok(false) };
    let key_store = request.app_data::<web::Data<IdempotencyStore>>();
    let key_store = key_store.ok_or_else(|| ApiError::internal(&"the idempotency store is missing"))?;
    Ok(key_store.is_known(&key_store.id(&scope, &key, owner)).await?)
}

/// Condition for executing a request.
#[derive(Clone, Copy, Default)]
pub enum Execution {
    /// The key is not stored.
    #[default]
    IfNew,
    /// None: only its stored response is wanted. Without a stored key, the response is this refusal.
    Never(fn() -> ApiError),
}

/// Rejects a request while the first one is in progress. `lease` is the remaining lease of the other process.
fn in_progress(lease: TimeDelta) -> ApiError {
    let text = "A request with this `Idempotency-Key` is in progress. Retry with the same key.";
    let wait = whole_seconds(lease.to_std().unwrap_or_default());
    NamedError::new(StatusCode::CONFLICT, "idempotency_in_progress", NextAction::Poll, text).retry_after(wait).into()
}

fn reused() -> ApiError {
    let text = "This `Idempotency-Key` was used with a different body. Use a new key for a new request.";
    NamedError::new(StatusCode::UNPROCESSABLE_ENTITY, "idempotency_key_reused", NextAction::FixInput, text).into()
}

/// Request with a key, and everything needed to answer it.
struct IdempotentCall<B> {
    key_store: Arc<IdempotencyStore>,
    next: Next<B>,
    endpoint: Arc<Endpoint>,
    claim: KeyClaim,
    key: String,
    until: Instant,
    execution: Execution,
}

/// Outcome of the lookup of a key that this process does not work on.
enum Lookup {
    /// The lookup produced the response.
    Hit(ServiceResponse<BoxBody>),
    /// The key is not stored.
    Miss(ServiceRequest),
    /// Another process works on it, or died. After its lease the request stops waiting.
    InProgress { request: ServiceRequest, lease: TimeDelta },
}

/// Answers a request with a key. The caller is authenticated.
pub async fn serve<B: MessageBody + 'static>(
    mut request: ServiceRequest,
    next: Next<B>,
    endpoint: Arc<Endpoint>,
    admitted: Admitted,
    execution: Execution,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let PresentedKey { key, owner, scope } = match presented(&request, &admitted) {
        Ok(presented) => presented,
        Err(refusal) => return Ok(request.error_response(refusal)),
    };
    let key_store = request.app_data::<web::Data<IdempotencyStore>>().map(|key_store| Arc::clone(key_store));
    let Some(key_store) = key_store else {
        return Ok(request.error_response(ApiError::internal(&"the idempotency store is missing")));
    };
    let body = match request.extract::<Bytes>().await {
        Ok(body) => body,
        Err(error) => return Ok(request.error_response(unreadable(&error))),
    };
    let claim = key_store.claim(&scope, &key, owner, &body);
    request.set_payload(Payload::from(body));
    request.extensions_mut().insert(admitted);
    let until = Instant::now() + MAX_WAIT;
    let idempotent_call = IdempotentCall { key_store, next, endpoint, claim, key, until, execution };
    idempotent_call.answer(request).await
}

impl<B: MessageBody + 'static> IdempotentCall<B> {
    async fn answer(self, mut request: ServiceRequest) -> Result<ServiceResponse<BoxBody>, Error> {
        let mut lease = TimeDelta::zero();
        loop {
            let wait = match self.key_store.claim_state(&self.claim) {
                KeyState::Reused => return Ok(self.refuse(request, reused())),
                KeyState::Answered(answer, until) => {
                    return Ok(request.into_response(answer.replayed(end_of(until))));
                }
                KeyState::InProgress(running) => Some(running),
                KeyState::Free(ticket)
                    if matches!(self.execution, Execution::IfNew)
                        && self.endpoint.policy.rerun == Repeatability::UntilCommit =>
                {
                    return self.execute(request, ticket).await;
                }
                KeyState::Free(ticket) => match self.look_up(request).await? {
                    Lookup::Hit(response) => return Ok(response),
                    Lookup::Miss(request) => {
                        return match self.execution {
                            Execution::IfNew => self.execute(request, ticket).await,
                            Execution::Never(refusal) => Ok(self.refuse(request, refusal())),
                        };
                    }
                    Lookup::InProgress { request: same, lease: left } => {
                        (request, lease) = (same, left);
                        None
                    }
                },
            };
            let pause = async {
                match wait {
                    Some(mut running) => drop(running.changed().await),
                    None => tokio::time::sleep(POLL_INTERVAL).await,
                }
            };
            if tokio::time::timeout_at(self.until, pause).await.is_err() {
                return Ok(self.refuse(request, in_progress(lease)));
            }
        }
    }

    fn refuse(&self, request: ServiceRequest, refusal: ApiError) -> ServiceResponse<BoxBody> {
        let mut response = request.error_response(refusal);
        response.headers_mut().insert(EXPIRES, end_of(self.claim.expires_at()));
        response
    }

    async fn look_up(&self, request: ServiceRequest) -> Result<Lookup, Error> {
        let kept = match self.key_store.kept(&self.claim).await {
            Ok(Some(kept)) => kept,
            Ok(None) => return Ok(Lookup::Miss(request)),
            Err(error) => return Ok(Lookup::Hit(self.refuse(request, error.into()))),
        };
        if kept.fingerprint != self.claim.fingerprint {
            return Ok(Lookup::Hit(self.refuse(request, reused())));
        }
        let end = end_of(kept.expires_at);
        if let Some(sealed) = &kept.answer {
            if let Some(answer) = self.key_store.open(&self.claim, &self.key, sealed) {
                return Ok(Lookup::Hit(request.into_response(answer.replayed(end))));
            }
        } else if kept.process != self.claim.process {
            // A request that this process works on would be in memory, so only other processes matter.
            let lease = kept.leased_until - self.key_store.now();
            if lease > TimeDelta::zero() {
                return Ok(Lookup::InProgress { request, lease });
            }
        }
        // The request was carried out, but its response is lost.
        let response = recovery::recover(request, &self.next, &self.endpoint, &kept).await?;
        Ok(Lookup::Hit(marked(response, end)))
    }

    /// Executes the request in a task of its own, so that it finishes and its response is stored even if the client
    /// disconnects.
    async fn execute(self, request: ServiceRequest, ticket: ExecutionGuard) -> Result<ServiceResponse<BoxBody>, Error> {
        let work = async move {
            let work = IdempotentRequest::new(self.claim.clone());
            request.extensions_mut().insert(RequestContext::from(Arc::clone(&work)));
            let response = self.next.call(request).await?;
            self.settle(&work, response, ticket).await
        };
        // The span of the request goes with it.
        let running = actix_web::rt::spawn(work.in_current_span());
        running.await.unwrap_or_else(|error| Err(ApiError::internal(&error).into()))
    }

    async fn settle(
        self,
        work: &IdempotentRequest,
        response: ServiceResponse<B>,
        ticket: ExecutionGuard,
    ) -> Result<ServiceResponse<BoxBody>, Error> {
        let status = response.status();
        // Server errors are excluded: the stored key may belong to this request's own commit, whose outcome is unknown.
        // The next request resolves it.
        let refused_without_effect = !work.is_stored() && !status.is_success() && !status.is_server_error();
        if work.lost_key() || refused_without_effect && self.key_store.is_stored(&self.claim).await {
            // The response is dropped, so this is the only reference to the request.
            let (request, _) = response.into_parts();
            drop(ticket);
            return self.wait_for_other(ServiceRequest::from_request(request)).await;
        }
        let (mut response, answer) = capture(response);
        response.headers_mut().insert(EXPIRES, end_of(self.claim.expires_at()));
        match (keeping(status, work), answer) {
            (StoredPart::Response, Some(answer)) => {
                ticket.answered(answer, self.claim, &self.key, work.stored_number());
            }
            (StoredPart::Nothing, _) => self.key_store.free(&self.claim).await,
            _ => {}
        }
        Ok(response)
    }

    /// Returns the response of the request that finished first.
    async fn wait_for_other(&self, mut request: ServiceRequest) -> Result<ServiceResponse<BoxBody>, Error> {
        // Reading the result stores no key.
        request.extensions_mut().remove::<RequestContext>();
        loop {
            let lease;
            (request, lease) = match self.look_up(request).await? {
                Lookup::Hit(response) => return Ok(response),
                Lookup::Miss(request) => (request, TimeDelta::zero()),
                Lookup::InProgress { request, lease } => (request, lease),
            };
            if Instant::now() >= self.until {
                return Ok(self.refuse(request, in_progress(lease)));
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }
}

/// Data to keep of a request that has ended.
enum StoredPart {
    /// The response.
    Response,
    /// The stored change only. The next request reads the state of its record.
    ChangeOnly,
    /// Nothing. The next request is executed.
    Nothing,
}

fn keeping(status: StatusCode, work: &IdempotentRequest) -> StoredPart {
    match status {
        // The outcome is not known yet; an internal error must not be replayed.
        StatusCode::ACCEPTED => StoredPart::ChangeOnly,
        // The acquirer's refusal is the final outcome: the order is canceled and stays canceled.
        StatusCode::BAD_GATEWAY if work.is_stored() => StoredPart::Response,
        status if status.is_server_error() => StoredPart::ChangeOnly,
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::TOO_MANY_REQUESTS if work.is_stored() => {
            StoredPart::Nothing
        }
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::TOO_MANY_REQUESTS => StoredPart::ChangeOnly,
        // The next request may send a newer tag.
        StatusCode::PRECONDITION_FAILED if !work.is_stored() => StoredPart::ChangeOnly,
        // Validation errors are found before anything is written.
        _ if work.is_stored() || work.has_begun_to_write() && !status.is_success() => StoredPart::Response,
        _ => StoredPart::ChangeOnly,
    }
}

/// Marks a response as replayed.
fn marked(mut response: ServiceResponse<BoxBody>, end: HeaderValue) -> ServiceResponse<BoxBody> {
    response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    response.headers_mut().insert(EXPIRES, end);
    response
}

/// Maximum length of a key, in characters.
const MAX_KEY_LENGTH: usize = 255;

/// Key of a request with its owner and scope.
struct PresentedKey {
    key: String,
    owner: KeyOwner,
    /// Values that a key is unique within, joined by line breaks.
    scope: String,
}

fn refused(text: &str) -> ApiError {
    NamedError::new(StatusCode::BAD_REQUEST, "idempotency_key_invalid", NextAction::FixInput, text).into()
}

/// Returns the key of a request. Exactly one well-formed key is allowed.
fn read_key(request: &ServiceRequest) -> Result<String, ApiError> {
    let mut keys = request.headers().get_all(KEY);
    let (Some(key), None) = (keys.next(), keys.next()) else {
        return Err(refused("The `Idempotency-Key` header must be sent only once."));
    };
    let key = key.as_bytes();
    if key.is_empty() || key.len() > MAX_KEY_LENGTH || !key.iter().all(u8::is_ascii_graphic) {
        return Err(refused("The `Idempotency-Key` header must have 1 to 255 visible ASCII characters."));
    }
    Ok(key.iter().copied().map(char::from).collect())
}

/// Returns the owner of a key, and the project, application and token that it is unique within.
fn owner_of(admitted: &Admitted) -> (KeyOwner, [String; 3]) {
    let of = |guard, id: Option<i64>, within| (KeyOwner { guard, id }, within);
    let none = String::new;
    let in_application = |app: &AppScope| [app.project_id.to_string(), app.application_id.to_string(), none()];
    let application = |app: &AppScope| of("application", Some(app.application_id.get()), in_application(app));
    match admitted {
        Admitted::Public => of("anybody", None, [none(), none(), none()]),
        Admitted::App(app) => application(app),
        // No endpoint for visitors writes.
        Admitted::Visitor(Visitor { app, counterparty_id }) => match counterparty_id {
            Some(customer) => of("counterparty", Some(customer.get()), in_application(app)),
            None => application(app),
        },
        Admitted::Customer(CustomerScope { app, counterparty_id, token_id }) => {
            let [project, application, _] = in_application(app);
            of("counterparty", Some(counterparty_id.get()), [project, application, token_id.to_string()])
        }
        Admitted::Staff(staff) => {
            let within = [staff.project_id.to_string(), none(), staff.token_id.to_string()];
            of("user", Some(staff.user_id.get()), within)
        }
        // The `Authorization` header identifies the backend. No endpoint for backends writes.
        Admitted::Backend(_) => of("backend", None, [none(), none(), none()]),
    }
}

/// Returns the key with its owner and scope, or the error of a malformed one.
fn presented(request: &ServiceRequest, admitted: &Admitted) -> Result<PresentedKey, ApiError> {
    let key = read_key(request)?;
    let content_type = request.headers().get(CONTENT_TYPE).map(|value| value.as_bytes().to_ascii_lowercase());
    if content_type.is_some_and(|media| media.trim_ascii_start().starts_with(b"multipart/")) {
        return Err(refused("Uploads do not support `Idempotency-Key`. Send the request without it."));
    }
    let (owner, [project, application, token]) = owner_of(admitted);
    let path = request.uri().path_and_query().map_or("", |path| path.as_str());
    let id = owner.id.map(|id| id.to_string()).unwrap_or_default();
    // None of these contains a line break.
    let within = [&project, &application, owner.guard, &id, &token, request.method().as_str(), path];
    let scope = within.join("\n");
    Ok(PresentedKey { key, owner, scope })
}
