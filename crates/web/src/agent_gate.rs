//! Approval of agents' calls by an employee.
//!
//! **Position.** After authentication and the reading of the body, before idempotency and the handler. Only writes of
//! agents are looked at; a read of the policy is the whole cost of an allowed one.
//!
//! **Flow.** A call that needs approval is stored and answered with `202`; nothing is changed. The agent repeats its
//! call: once approved, it runs under the idempotency key of the proposal, and the version of its record as `If-Match`.
//! Only one request at a time executes it. If its process dies, the next repetition continues under the same key, so
//! it is never carried out twice; after the period of the approval it only finds out what happened. A repetition after
//! the outcome gets the stored response.

use std::sync::Arc;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{Payload, ServiceRequest, ServiceResponse};
use actix_web::http::header::{CONTENT_LENGTH, HeaderValue, IF_MATCH};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::Next;
use actix_web::{Error, HttpResponse, web};
use kontor_auth::model::{
    AgentAction, AgentActionState, AgentCall, AgentOutcome, AgentRule, MAX_AGENT_CALL_BYTES, canonical,
};
use kontor_auth::{AgentActionService, AgentCallState};
use kontor_kernel::Staff;
use serde_json::Value;
use uuid::Uuid;

use super::agent_action_record::AgentActionResponse;
use super::body::{BYTE_ORDER_MARK, unreadable};
use super::idempotency::{Execution, KEY, sent_key, serve};
use super::policy::{Endpoint, Policy};
use super::preconditions::current_tag;
use super::scopes::Admitted;
use super::{ApiError, NamedError, NextAction};

/// Call that the gate has let through.
pub enum Passage {
    /// Needs no approval.
    Free,
    /// Approved. The request has the key and the version of the proposal.
    Approved(ApprovedCall),
}

/// Call that the gate has stopped.
pub enum Stopped {
    /// Refused.
    Refused(ApiError),
    /// Waits for approval: the response is `202`.
    Proposed(HttpResponse),
}

impl From<ApiError> for Stopped {
    fn from(refusal: ApiError) -> Self {
        Self::Refused(refusal)
    }
}

/// Approved call.
pub struct ApprovedCall {
    service: web::Data<AgentActionService>,
    public_id: Uuid,
    execution: Execution,
    /// `true` if the outcome is not stored yet.
    is_open: bool,
}

/// Rejects a call that was executed without storing its key, because it had no effect.
fn without_response() -> ApiError {
    let text = "The request succeeded, but its response is lost.";
    NamedError::new(StatusCode::CONFLICT, "idempotency_result_lost", NextAction::ContactSupport, text).into()
}

/// Rejects a call whose execution was interrupted before it had an effect.
fn not_executed() -> ApiError {
    let text = "The call was not executed before its approval expired.";
    NamedError::new(StatusCode::CONFLICT, "agent_call_decided", NextAction::Restart, text).into()
}

fn forbidden(text: &str) -> Stopped {
    Stopped::Refused(
        NamedError::new(StatusCode::FORBIDDEN, "agent_call_forbidden", NextAction::ContactSupport, text).into(),
    )
}

/// Stops the call of an agent that its project forbids or that waits for approval.
pub async fn pass(request: &mut ServiceRequest, policy: &Policy, admitted: &Admitted) -> Result<Passage, Stopped> {
    let Admitted::Staff(agent) = admitted else { return Ok(Passage::Free) };
    if !agent.is_agent || policy.method == Method::GET {
        return Ok(Passage::Free);
    }
    let service = request.app_data::<web::Data<AgentActionService>>().cloned();
    let service = service.ok_or_else(|| ApiError::internal(&"the service of agent actions is missing"))?;
    let judged = service.judge(agent, policy.method.as_str(), policy.path).await.map_err(ApiError::from)?;
    match judged.rule {
        AgentRule::Allowed => return Ok(Passage::Free),
        AgentRule::Forbidden => return Err(forbidden("The project does not allow this call to the agent.")),
        AgentRule::NeedsApproval if policy.streamed => {
            return Err(forbidden("The call needs approval, and a file cannot wait for it. An employee must send it."));
        }
        AgentRule::NeedsApproval => {}
    }
    let call = read(request, policy).await?;
    match service.look_up(agent, judged, &call).await.map_err(ApiError::from)? {
        AgentCallState::New => {
            let if_match = if call.if_match.is_none() { current_tag(request, policy, admitted).await? } else { None };
            let action = service.propose(agent, judged, call, if_match).await.map_err(ApiError::from)?;
            proposed(&service, agent, &action).await
        }
        AgentCallState::Waiting(action) => proposed(&service, agent, &action).await,
        AgentCallState::Execute(action) => Ok(approved(request, service, &action, Execution::IfNew)?),
        AgentCallState::Interrupted(action) => {
            Ok(approved(request, service, &action, Execution::Never(not_executed))?)
        }
        AgentCallState::Executed(action) => {
            Ok(approved(request, service, &action, Execution::Never(without_response))?)
        }
    }
}

/// Answers with the stored call.
async fn proposed(service: &AgentActionService, agent: &Staff, action: &AgentAction) -> Result<Passage, Stopped> {
    let shown = service.read(agent, action.proposal.public_id).await.map_err(ApiError::from)?;
    Err(Stopped::Proposed(HttpResponse::Accepted().json(AgentActionResponse::from(shown))))
}

/// Reads the arguments of a call.
async fn read(request: &mut ServiceRequest, policy: &Policy) -> Result<AgentCall, ApiError> {
    let key = sent_key(request)?;
    let bytes = request.extract::<web::Bytes>().await.map_err(|error| unreadable(&error))?;
    request.set_payload(Payload::from(bytes.clone()));
    let header = request.headers().get(IF_MATCH).map(|value| value.to_str().map(str::to_owned));
    let if_match = header.transpose().map_err(|_| ApiError::bad_request("The header `If-Match` is not valid."))?;
    let (path, query) = (request.path().to_owned(), request.query_string().to_owned());
    let tags = if_match.as_ref().map_or(0, String::len);
    if path.len() + query.len() + tags + bytes.len() > MAX_AGENT_CALL_BYTES {
        let text = format!("A call that needs approval must have at most {MAX_AGENT_CALL_BYTES} bytes.");
        return Err(ApiError::Message(StatusCode::PAYLOAD_TOO_LARGE, text));
    }
    let text = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&bytes);
    let body: Option<Value> = if text.is_empty() {
        None
    } else {
        let parsed = serde_json::from_slice(text);
        Some(parsed.map_err(|error| ApiError::bad_request(format!("The body is not valid JSON: {error}")))?)
    };
    let (method, tool) = (policy.method.as_str().to_owned(), policy.path.to_owned());
    Ok(AgentCall { method, tool, path, query, body, key, if_match })
}

/// Gives the request exactly what was approved: body, key and version.
fn approved(
    request: &mut ServiceRequest,
    service: web::Data<AgentActionService>,
    action: &AgentAction,
    execution: Execution,
) -> Result<Passage, ApiError> {
    let call = &action.proposal.call;
    let value = |text: &str| HeaderValue::from_str(text).map_err(|error| ApiError::internal(&error));
    if let Some(key) = &call.key {
        request.headers_mut().insert(KEY, value(key)?);
    }
    if let Some(tag) = &call.if_match {
        request.headers_mut().insert(IF_MATCH, value(tag)?);
    }
    let body = call.body.as_ref().map(canonical).unwrap_or_default();
    if request.headers().contains_key(CONTENT_LENGTH) {
        request.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
    }
    request.set_payload(Payload::from(web::Bytes::from(body)));
    let (public_id, is_open) = (action.proposal.public_id, action.stored == AgentActionState::Executing);
    Ok(Passage::Approved(ApprovedCall { service, public_id, execution, is_open }))
}

/// Returns the outcome that a response shows.
fn outcome(response: &ServiceResponse<BoxBody>) -> AgentOutcome {
    let status = response.status();
    let code = match response.response().error().and_then(|error| error.as_error::<ApiError>()) {
        Some(ApiError::Named(named)) => named.code,
        _ => "",
    };
    match status {
        // The request was carried out; only its response is lost.
        StatusCode::CONFLICT if code == "idempotency_result_lost" => AgentOutcome::Succeeded(status.as_u16()),
        StatusCode::CONFLICT if code == "idempotency_in_progress" => AgentOutcome::Unknown,
        StatusCode::UNAUTHORIZED | StatusCode::TOO_MANY_REQUESTS => AgentOutcome::Unknown,
        status if status.is_server_error() => AgentOutcome::Unknown,
        status if status.is_success() => AgentOutcome::Succeeded(status.as_u16()),
        status => AgentOutcome::Failed(status.as_u16()),
    }
}

impl ApprovedCall {
    /// Executes the call in a task of its own and stores the outcome, even if the agent disconnects.
    pub async fn execute<B: MessageBody + 'static>(
        self,
        request: ServiceRequest,
        next: Next<B>,
        endpoint: Arc<Endpoint>,
        admitted: Admitted,
    ) -> Result<ServiceResponse<BoxBody>, Error> {
        let Self { service, public_id, execution, is_open } = self;
        let running = actix_web::rt::spawn(async move {
            let response = serve(request, next, endpoint, admitted, execution).await?;
            // An error here leaves the call as being executed: after its lease the agent may repeat it.
            if is_open
                && let Err(error) = service.finish(public_id, outcome(&response)).await
            {
                tracing::warn!(%error, %public_id, "the outcome of an agent's call could not be stored");
            }
            Ok::<_, Error>(response)
        });
        running.await.unwrap_or_else(|error| Err(ApiError::internal(&error).into()))
    }
}
