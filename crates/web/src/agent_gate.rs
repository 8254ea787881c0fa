//! Gate for the writes of agents: the policy of the project, limits, approval, log.
//!
//! **Position.** After authentication and the reading of the body, before idempotency and the handler. The policy is
//! read from storage for each write, so that a kill switch acts at once on every instance.
//!
//! **Approval.** A call that needs it is stored and answered with `202`; nothing is changed. The approval executes it
//! ([`super::agent_actions`]). The agent that repeats its call gets the stored result.
//!
//! **Log.** Every other write of an agent leaves an entry with its outcome, also if it is refused here or before.

use actix_web::body::MessageBody;
use actix_web::dev::{Payload, ServiceRequest, ServiceResponse};
use actix_web::http::header::{ContentType, HeaderMap, HeaderName, IF_MATCH};
use actix_web::http::{Method, StatusCode};
use actix_web::{Error, HttpMessage, HttpResponse, web};
use kontor_auth::model::{
    AgentAction, AgentActionState, AgentCall, AgentResult, AgentRule, MAX_AGENT_CALL_BYTES, NewAgentAction, ToolClass,
};
use kontor_auth::{AgentActionError, AgentActionRefusal, AgentActionService, AgentCallState, JudgedCall};
use kontor_kernel::{Staff, StoreError};
use serde_json::Value;
use tracing::Instrument;
use uuid::Uuid;

use super::agent_actions::{AgentActionResponse, execute};
use super::body::{BYTE_ORDER_MARK, unreadable};
use super::idempotency::{Execution, REPLAYED, accepts_keys, is_repeated, sent_key};
use super::in_process::{InProcess, Origin};
use super::policy::Policy;
use super::preconditions::current_tag;
use super::request_services::Service;
use super::scopes::{Admitted, CallingAgent};
use super::{ApiError, NamedError, NextAction};

/// Request header with the hash of a preview that the agent has seen.
pub const PREVIEW_HASH: HeaderName = HeaderName::from_static("preview-hash");
/// Time after which an agent may ask again whether a new day has begun, in seconds.
const RETRY_SECONDS: u64 = 3_600;
/// Maximum length of the hash of a preview.
const MAX_PREVIEW_HASH: usize = 128;

/// Request that the gate has let through.
#[derive(Default)]
pub struct PassedRequest {
    /// Condition of its execution.
    pub execution: Execution,
    /// Entry of the log that its outcome completes.
    pub log: Option<Box<LogEntry>>,
}

/// Request that the gate has stopped.
pub enum Stopped {
    /// Refused.
    Refused(ApiError),
    /// Answered: it waits for approval, or was executed before.
    Answered(Box<HttpResponse>),
}

macro_rules! stops {
    ($($refusal:ty),+) => {$(
        impl From<$refusal> for Stopped {
            fn from(refusal: $refusal) -> Self {
                Self::Refused(refusal.into())
            }
        }
    )+};
}

stops!(AgentActionError, StoreError);

impl From<ApiError> for Stopped {
    fn from(refusal: ApiError) -> Self {
        Self::Refused(refusal)
    }
}

/// Entry of the log of agents' calls.
pub struct LogEntry {
    service: Service<AgentActionService>,
    entry: NewAgentAction,
}

/// Returns the code of a structured refusal.
fn code_of<B: MessageBody>(response: &ServiceResponse<B>) -> Option<&'static str> {
    named_code(response.response().error()?.as_error::<ApiError>()?)
}

fn named_code(error: &ApiError) -> Option<&'static str> {
    match error {
        ApiError::Named(named) => Some(named.code),
        _ => None,
    }
}

impl LogEntry {
    /// Executes the request and stores the entry with the outcome, in tasks of their own: the entry is stored even if the
    /// client disconnects or the handler panics.
    pub async fn around<B: MessageBody + 'static>(
        self,
        work: impl Future<Output = Result<ServiceResponse<B>, Error>> + 'static,
    ) -> Result<ServiceResponse<B>, Error> {
        let working = actix_web::rt::spawn(work.in_current_span());
        let logged = async move {
            let outcome = working.await.unwrap_or_else(|error| Err(ApiError::internal(&error).into()));
            let (status, code) = match &outcome {
                Ok(response) => (response.status(), code_of(response)),
                Err(error) => (error.as_response_error().status_code(), None),
            };
            self.store(status, code).await;
            outcome
        };
        let logging = actix_web::rt::spawn(logged.in_current_span());
        logging.await.unwrap_or_else(|error| Err(ApiError::internal(&error).into()))
    }

    /// A lost entry must not turn a call that was carried out into an error.
    async fn store(self, status: StatusCode, code: Option<&'static str>) {
        let result = AgentResult { status: status.as_u16(), code: code.map(str::to_owned), body: None };
        let operation = self.entry.call.operation();
        if let Err(error) = self.service.record(self.entry, result).await {
            tracing::warn!(%error, %operation, "a call of an agent could not be logged");
        }
    }

    /// Stores the entry of a refused call and returns the refusal.
    async fn refused(self, refusal: ApiError) -> Stopped {
        let status = actix_web::ResponseError::status_code(&refusal);
        self.store(status, named_code(&refusal)).await;
        Stopped::Refused(refusal)
    }
}

fn forbidden(text: &str) -> ApiError {
    NamedError::new(StatusCode::FORBIDDEN, "agent_call_forbidden", NextAction::ContactSupport, text).into()
}

fn over_limit() -> ApiError {
    let text = "The call exceeds a limit of the agent for this day.";
    let refusal = NamedError::new(StatusCode::TOO_MANY_REQUESTS, "agent_limit_exceeded", NextAction::Wait, text);
    refusal.retry_after(RETRY_SECONDS).into()
}

/// Rejects a call whose execution was interrupted before it had an effect.
fn not_executed() -> ApiError {
    let text = "The call was not executed before its approval expired.";
    NamedError::new(StatusCode::CONFLICT, "agent_call_decided", NextAction::Restart, text).into()
}

/// Stops the write of an agent that its project forbids or that waits for approval.
pub async fn pass(
    request: &mut ServiceRequest,
    policy: &Policy,
    admitted: &Admitted,
) -> Result<PassedRequest, Stopped> {
    match admitted {
        // A rehearsal changes nothing, as a read. Boxed, because most requests are not of agents and need no space for it.
        Admitted::Staff(agent)
            if agent.is_agent && policy.method != Method::GET && !Origin::is_rehearsal(request.request()) =>
        {
            Box::pin(pass_agent(request, policy, admitted, agent)).await
        }
        _ => Ok(PassedRequest::default()),
    }
}

/// Logs the write of an agent that was refused before it came to the gate: a permission is missing, or the body cannot be
/// read.
pub async fn log_refused(request: &ServiceRequest, policy: &Policy, refusal: &ApiError) {
    let agent = request.extensions_mut().remove::<CallingAgent>();
    let is_logged = policy.method != Method::GET && Origin::approval(request.request()).is_none();
    let Some(CallingAgent(agent)) = agent.filter(|_| is_logged) else { return };
    let logged = async {
        let service = Service::<AgentActionService>::of(request.request())?;
        let operation = (policy.method.as_str(), policy.path, request.query_string());
        let judged = service.judge(&agent, Origin::channel(request.request()), operation).await?;
        if judged.class != ToolClass::Read {
            let entry = service.log_entry(&agent, judged, without_body(request, policy));
            let status = actix_web::ResponseError::status_code(refusal);
            LogEntry { service, entry }.store(status, named_code(refusal)).await;
        }
        Ok::<_, ApiError>(())
    };
    if let Err(error) = logged.await {
        tracing::warn!(?error, operation = policy.path, "a refused call of an agent could not be logged");
    }
}

async fn pass_agent(
    request: &mut ServiceRequest,
    policy: &Policy,
    admitted: &Admitted,
    agent: &Staff,
) -> Result<PassedRequest, Stopped> {
    // The request has no context yet, so entries of the log do not belong to its key.
    let service = Service::<AgentActionService>::of(request.request())?;
    let operation = (policy.method.as_str(), policy.path, request.query_string());
    let judged = service.judge(agent, Origin::channel(request.request()), operation).await?;
    if judged.class == ToolClass::Read {
        return Ok(PassedRequest::default());
    }
    if let Some(public_id) = Origin::approval(request.request()) {
        return pass_approved(request, policy, (&service, agent), judged, public_id).await;
    }
    let parsed = parse(request, policy).await;
    let call = match &parsed {
        Ok(call) => call.clone(),
        Err(_) => without_body(request, policy),
    };
    let entry = service.log_entry(agent, judged, call);
    let log = LogEntry { service: service.clone(), entry };
    match judged.rule {
        AgentRule::Forbidden => Err(log.refused(forbidden("The project does not allow this call to the agent.")).await),
        // The first request was counted and logged.
        AgentRule::Allowed if accepts_keys(policy) && is_repeated(request, admitted).await? => {
            Ok(PassedRequest::default())
        }
        AgentRule::Allowed => {
            let body = parsed.ok().and_then(|call| call.body);
            if service.count(agent, judged, body.as_ref()).await? {
                Ok(PassedRequest { execution: Execution::IfNew, log: Some(Box::new(log)) })
            } else {
                Err(log.refused(over_limit()).await)
            }
        }
        AgentRule::NeedsApproval if policy.streamed => {
            let text = "The call needs approval, and a file cannot wait for it. An employee must send it.";
            Err(log.refused(forbidden(text)).await)
        }
        AgentRule::NeedsApproval if judged.holds_secrets => {
            let text = "The call needs approval, and secrets are not stored. An employee must send it.";
            Err(log.refused(forbidden(text)).await)
        }
        AgentRule::NeedsApproval => match parsed {
            Ok(call) => match wait_for_approval(request, (policy, admitted), (service, agent), judged, call).await {
                // Other refusals are about a call that the log has.
                Err(Stopped::Refused(refusal)) if named_code(&refusal) == Some("agent_call_limit") => {
                    Err(log.refused(refusal).await)
                }
                other => other,
            },
            Err(refusal) => Err(log.refused(refusal).await),
        },
    }
}

/// Checks the execution of an approved call: its arguments, and its agent, the policy and the limits as they are now.
async fn pass_approved(
    request: &mut ServiceRequest,
    policy: &Policy,
    (service, agent): (&AgentActionService, &Staff),
    judged: JudgedCall,
    public_id: Uuid,
) -> Result<PassedRequest, Stopped> {
    let action = service.executing(agent, public_id).await?;
    let (sent, approved) = (parse(request, policy).await?, &action.proposal.call);
    let is_same = (&sent.path, &sent.query, &sent.body) == (&approved.path, &approved.query, &approved.body)
        && sent.if_match == approved.if_match
        && sent.sent_key == Some(action.proposal.key());
    if !is_same {
        return Err(ApiError::internal(&"the request differs from the approved call").into());
    }
    if judged.rule == AgentRule::Forbidden {
        return Err(forbidden("The project does not allow this call to the agent.").into());
    }
    let execution = if service.is_too_late(&action) {
        Execution::Never(not_executed)
    } else if service.count_approved(&action, judged).await? {
        Execution::IfNew
    } else {
        return Err(over_limit().into());
    };
    Ok(PassedRequest { execution, log: None })
}

/// Answers a call that needs approval: proposed, refused, or with its stored result.
async fn wait_for_approval(
    request: &ServiceRequest,
    (policy, admitted): (&Policy, &Admitted),
    (service, agent): (Service<AgentActionService>, &Staff),
    judged: JudgedCall,
    call: AgentCall,
) -> Result<PassedRequest, Stopped> {
    match service.look_up(agent, judged, &call).await? {
        AgentCallState::New => {
            let if_match = if call.if_match.is_none() { current_tag(request, policy, admitted).await? } else { None };
            let action = service.propose(agent, judged, call, if_match).await?;
            waiting(&service, agent, action.proposal.public_id).await
        }
        AgentCallState::Waiting(action) => waiting(&service, agent, action.proposal.public_id).await,
        AgentCallState::Done(action) => done(&service, agent, &action).await,
        AgentCallState::Continue(action) => {
            let in_process = request.app_data::<web::Data<InProcess>>().cloned();
            let in_process =
                in_process.ok_or_else(|| ApiError::internal(&"the requests of this process are missing"))?;
            let public_id = action.proposal.public_id;
            execute(&in_process, &service, *action).await?;
            let action = service.approved(agent, public_id).await?.action;
            if action.stored == AgentActionState::Approved {
                return Err(AgentActionError::Refused(AgentActionRefusal::State(action.stored)).into());
            }
            done(&service, agent, &action).await
        }
    }
}

fn answered(response: HttpResponse) -> Stopped {
    Stopped::Answered(Box::new(response))
}

async fn waiting(service: &AgentActionService, agent: &Staff, public_id: Uuid) -> Result<PassedRequest, Stopped> {
    let shown = service.read(agent, public_id).await?;
    Err(answered(HttpResponse::Accepted().json(AgentActionResponse::from(shown))))
}

/// Answers with the stored result. If its body is too large to be stored, the response is the call with its status.
async fn done(service: &AgentActionService, agent: &Staff, action: &AgentAction) -> Result<PassedRequest, Stopped> {
    let shown = service.read(agent, action.proposal.public_id).await?;
    let stored = action.result().and_then(|result| {
        let status = StatusCode::from_u16(result.status).ok()?;
        Some((status, result.body.clone()?))
    });
    Err(answered(match stored {
        Some((status, body)) => {
            let mut response = HttpResponse::build(status);
            response.insert_header(ContentType::json()).insert_header((REPLAYED, "true")).body(body)
        }
        None => HttpResponse::Ok().json(AgentActionResponse::from(shown)),
    }))
}

fn header(headers: &HeaderMap, name: &HeaderName) -> Result<Option<String>, ApiError> {
    let value = headers.get(name).map(|value| value.to_str().map(str::to_owned)).transpose();
    value.map_err(|_| ApiError::bad_request(format!("The header `{name}` is not valid.")))
}

/// Returns a call as far as it is known without its body.
fn without_body(request: &ServiceRequest, policy: &Policy) -> AgentCall {
    AgentCall {
        method: policy.method.as_str().to_owned(),
        tool: policy.path.to_owned(),
        path: request.path().to_owned(),
        query: request.query_string().to_owned(),
        body: None,
        sent_key: None,
        if_match: None,
        preview_hash: None,
    }
}

/// Reads the arguments of a call. A streamed body is not read.
async fn parse(request: &mut ServiceRequest, policy: &Policy) -> Result<AgentCall, ApiError> {
    let sent_key = sent_key(request)?;
    let if_match = header(request.headers(), &IF_MATCH)?;
    let preview_hash = header(request.headers(), &PREVIEW_HASH)?;
    if preview_hash.as_ref().is_some_and(|hash| hash.len() > MAX_PREVIEW_HASH) {
        return Err(ApiError::bad_request("The header `preview-hash` is too long."));
    }
    let call = AgentCall { sent_key, if_match, preview_hash, ..without_body(request, policy) };
    if policy.streamed {
        return Ok(call);
    }
    let bytes = request.extract::<web::Bytes>().await.map_err(|error| unreadable(&error))?;
    request.set_payload(Payload::from(bytes.clone()));
    let tags = call.if_match.as_ref().map_or(0, String::len);
    if call.path.len() + call.query.len() + tags + bytes.len() > MAX_AGENT_CALL_BYTES {
        let text = format!("A call that needs approval must have at most {MAX_AGENT_CALL_BYTES} bytes.");
        return Err(ApiError::Message(StatusCode::PAYLOAD_TOO_LARGE, text));
    }
    let text = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&bytes);
    if text.is_empty() {
        return Ok(call);
    }
    let body: Value = serde_json::from_slice(text)
        .map_err(|error| ApiError::bad_request(format!("The body is not valid JSON: {error}")))?;
    Ok(AgentCall { body: Some(body), ..call })
}
