//! `Idempotency-Key`: a write that is sent again under its key is carried out once, and answered alike.
//!
//! **Where it stands.** After the caller has proved themselves and their address was counted, before anything else of the
//! request is looked at: of two equal requests the second is answered by the first, whatever became of the records since.
//! An endpoint whose first deed is a commit ([`Rerun::UntilCommit`]) is spared the look: the second request is carried out as
//! far as that, rolled back or refused before, and then answered by the first.
//!
//! **How it holds.** The key is stored in the commit of what the request does ([`kontor_adapter_diesel::IdempotentRequest`]).
//! The answer follows within a second, in a commit that many share; until then it is in memory. When the process dies in
//! between, the key says what was done, and the answer is read anew ([`recovery`]).

mod answer;
mod desk;
mod key;
pub mod recovery;

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{Payload, ServiceRequest, ServiceResponse};
use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::Next;
use actix_web::web::Bytes;
use actix_web::{Error, HttpMessage, web};
use chrono::TimeDelta;
use kontor_adapter_diesel::{IdempotentRequest, KeyClaim};
use tokio::time::Instant;

use self::answer::capture;
pub use self::desk::Desk;
use self::desk::{Ticket, Turn, end_of};
use self::key::{Presented, presented};
use super::body::unreadable;
use super::policy::{Endpoint, Policy, Rerun};
use super::retry_after::whole_seconds;
use super::routes::lies_below;
use super::scopes::Admitted;
use super::{ApiError, NamedError, NextAction};

/// The header of a request.
pub const KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Says that an answer is not the first to its request.
pub const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
/// Says until when the same request has the same answer.
pub const EXPIRES: HeaderName = HeaderName::from_static("idempotency-key-expires");

/// How long a request waits for the answer to the same request.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often the answer of another process is looked for.
const LOOK: Duration = Duration::from_millis(100);

/// Whether an endpoint heeds keys: whatever it is that a client writes. Providers have their own ways to repeat.
pub fn heeds_keys(policy: &Policy) -> bool {
    policy.method != Method::GET && !lies_below(policy.path, "/callbacks")
}

/// Whether a request has a key, be it a good one.
pub fn has_key(headers: &HeaderMap) -> bool {
    headers.contains_key(KEY)
}

/// Refuses a request whose first one still runs, or may: `lease` is how long a process that does not answer is waited for.
fn in_progress(lease: TimeDelta) -> ApiError {
    let text = "The same request is still being worked on. Send it again with the same key.";
    let wait = whole_seconds(lease.to_std().unwrap_or_default());
    NamedError::new(StatusCode::CONFLICT, "idempotency_in_progress", NextAction::Poll, text).retry_after(wait).into()
}

fn reused() -> ApiError {
    let text = "The key was used for a request with another body. A new request needs a new key.";
    NamedError::new(StatusCode::UNPROCESSABLE_ENTITY, "idempotency_key_reused", NextAction::FixInput, text).into()
}

/// A request on its way: everything that it takes to answer it.
struct Errand<B> {
    desk: Arc<Desk>,
    next: Rc<Next<B>>,
    endpoint: Arc<Endpoint>,
    claim: KeyClaim,
    key: String,
    until: Instant,
}

impl<B> Clone for Errand<B> {
    fn clone(&self) -> Self {
        Self {
            desk: Arc::clone(&self.desk),
            next: Rc::clone(&self.next),
            endpoint: Arc::clone(&self.endpoint),
            claim: self.claim.clone(),
            key: self.key.clone(),
            until: self.until,
        }
    }
}

/// What a look for a key that this process is not working on comes to.
enum Looked {
    /// The key tells the answer.
    Answered(ServiceResponse<BoxBody>),
    /// There is no such key.
    Nothing(ServiceRequest),
    /// Another process works on it, or has died. After its lease nobody waits for it.
    Elsewhere { request: ServiceRequest, lease: TimeDelta },
}

/// Answers a request with a key. The caller has proved themselves.
pub async fn serve<B: MessageBody + 'static>(
    mut request: ServiceRequest,
    next: Next<B>,
    endpoint: Arc<Endpoint>,
    admitted: Admitted,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let Presented { key, owner, scope } = match presented(&request, &admitted) {
        Ok(presented) => presented,
        Err(refusal) => return Ok(request.error_response(refusal)),
    };
    let desk = request.app_data::<web::Data<Desk>>().map(|desk| Arc::clone(desk));
    let Some(desk) = desk else { return Ok(request.error_response(ApiError::internal(&"no desk is wired"))) };
    let body = match request.extract::<Bytes>().await {
        Ok(body) => body,
        Err(error) => return Ok(request.error_response(unreadable(&error))),
    };
    let claim = desk.claim(&scope, &key, owner, &body);
    request.set_payload(Payload::from(body));
    request.extensions_mut().insert(admitted);
    let errand = Errand { desk, next: Rc::new(next), endpoint, claim, key, until: Instant::now() + PATIENCE };
    errand.answer(request).await
}

impl<B: MessageBody + 'static> Errand<B> {
    async fn answer(self, mut request: ServiceRequest) -> Result<ServiceResponse<BoxBody>, Error> {
        let mut lease = TimeDelta::zero();
        loop {
            let wait = match self.desk.turn(&self.claim) {
                Turn::Reused => return Ok(self.refuse(request, reused())),
                Turn::Answered(answer, until) => {
                    return Ok(request.into_response(answer.replayed(end_of(until))));
                }
                Turn::Wait(running) => Some(running),
                Turn::Mine(ticket) if self.endpoint.policy.rerun == Rerun::UntilCommit => {
                    return self.carry_out(request, ticket).await;
                }
                Turn::Mine(ticket) => match self.look(request).await? {
                    Looked::Answered(response) => return Ok(response),
                    Looked::Nothing(request) => return self.carry_out(request, ticket).await,
                    Looked::Elsewhere { request: same, lease: left } => {
                        (request, lease) = (same, left);
                        None
                    }
                },
            };
            let pause = async {
                match wait {
                    Some(mut running) => drop(running.changed().await),
                    None => tokio::time::sleep(LOOK).await,
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

    async fn look(&self, request: ServiceRequest) -> Result<Looked, Error> {
        let kept = match self.desk.kept(&self.claim).await {
            Ok(Some(kept)) => kept,
            Ok(None) => return Ok(Looked::Nothing(request)),
            Err(error) => return Ok(Looked::Answered(self.refuse(request, error.into()))),
        };
        if kept.fingerprint != self.claim.fingerprint {
            return Ok(Looked::Answered(self.refuse(request, reused())));
        }
        let end = end_of(kept.expires_at);
        if let Some(sealed) = &kept.answer {
            if let Some(answer) = self.desk.open(&self.claim, &self.key, sealed) {
                return Ok(Looked::Answered(request.into_response(answer.replayed(end))));
            }
        } else if kept.process != self.claim.process {
            // This process would know if it were still at it.
            let lease = kept.leased_until - self.desk.now();
            if lease > TimeDelta::zero() {
                return Ok(Looked::Elsewhere { request, lease });
            }
        }
        // It was carried out, and the answer is lost.
        let response = recovery::recover(request, &self.next, &self.endpoint, &kept).await?;
        Ok(Looked::Answered(marked(response, end)))
    }

    /// Whoever sent the request may hang up: what has begun is brought to its end, and its answer is kept.
    async fn carry_out(self, request: ServiceRequest, ticket: Ticket) -> Result<ServiceResponse<BoxBody>, Error> {
        let running = actix_web::rt::spawn(async move {
            let work = IdempotentRequest::new(self.claim.clone());
            let response = Arc::clone(&work).run(self.next.call(request)).await?;
            self.settle(&work, response, ticket).await
        });
        running.await.unwrap_or_else(|error| Err(ApiError::internal(&error).into()))
    }

    async fn settle(
        self,
        work: &IdempotentRequest,
        response: ServiceResponse<B>,
        ticket: Ticket,
    ) -> Result<ServiceResponse<BoxBody>, Error> {
        let status = response.status();
        // After a fault it may be this request's own commit that is kept, whose outcome it does not know: the next one is told.
        let refused_without_effect = !work.is_stored() && !status.is_success() && !status.is_server_error();
        if work.is_overtaken() || refused_without_effect && self.desk.is_kept(&self.claim).await {
            // Nobody else holds the request, now that its answer is dropped.
            let (request, _) = response.into_parts();
            drop(ticket);
            return self.of_another(ServiceRequest::from_request(request)).await;
        }
        let (mut response, answer) = capture(response);
        response.headers_mut().insert(EXPIRES, end_of(self.claim.expires_at()));
        match (keeping(status, work), answer) {
            (Keeping::Answer, Some(answer)) => ticket.answered(answer, &self.claim, &self.key, work.is_stored()),
            (Keeping::Nothing, _) => self.desk.free(&self.claim).await,
            _ => {}
        }
        Ok(response)
    }

    /// The answer of whoever was faster.
    async fn of_another(&self, mut request: ServiceRequest) -> Result<ServiceResponse<BoxBody>, Error> {
        loop {
            let lease;
            (request, lease) = match self.look(request).await? {
                Looked::Answered(response) => return Ok(response),
                Looked::Nothing(request) => (request, TimeDelta::zero()),
                Looked::Elsewhere { request, lease } => (request, lease),
            };
            if Instant::now() >= self.until {
                return Ok(self.refuse(request, in_progress(lease)));
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}

/// What is kept of a request that has ended.
enum Keeping {
    /// Its answer.
    Answer,
    /// What it did alone: the next one reads how that stands.
    State,
    /// Nothing: the next one is carried out.
    Nothing,
}

fn keeping(status: StatusCode, work: &IdempotentRequest) -> Keeping {
    match status {
        // What is not known yet will be; a fault of ours is no answer.
        StatusCode::ACCEPTED => Keeping::State,
        // The acquirer's refusal is the outcome of what was done: the order is canceled, and stays so.
        StatusCode::BAD_GATEWAY if work.is_stored() => Keeping::Answer,
        status if status.is_server_error() => Keeping::State,
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::TOO_MANY_REQUESTS if work.is_stored() => {
            Keeping::Nothing
        }
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::TOO_MANY_REQUESTS => Keeping::State,
        // The next one may come with the tag that was read since.
        StatusCode::PRECONDITION_FAILED if !work.is_stored() => Keeping::State,
        // Wrong fields are found before anything is written.
        _ if work.is_stored() || work.has_begun() && !status.is_success() => Keeping::Answer,
        _ => Keeping::State,
    }
}

/// An answer that is not the first.
fn marked(mut response: ServiceResponse<BoxBody>, end: HeaderValue) -> ServiceResponse<BoxBody> {
    response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    response.headers_mut().insert(EXPIRES, end);
    response
}
