//! Requests that code of this process makes to its own API.
//!
//! They take the same way as requests of a client: middleware, policy, permissions, limits, idempotency, handler. A
//! thread of its own runs a second application for them, which is built when the first request arrives. So a request
//! may be made from any thread, also by the worker.
//!
//! Only this module creates an [`Origin`]. It is an extension of the request, never a header, so that no client can
//! send it.

use std::fmt::Debug;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use actix_http::Request;
use actix_service::IntoServiceFactory;
use actix_web::body::{MessageBody, to_bytes_limited};
use actix_web::dev::{AppConfig, Payload, Service, ServiceFactory, ServiceResponse};
use actix_web::http::header::{AUTHORIZATION, CONNECTION, CONTENT_LENGTH, HeaderMap, HeaderValue, TRANSFER_ENCODING};
use actix_web::http::uri::{PathAndQuery, Uri};
use actix_web::http::{Method, StatusCode};
use actix_web::{Error, HttpMessage, HttpRequest, HttpResponse};
use bytes::Bytes;
use kontor_auth::model::Channel;
use kontor_kernel::TokenId;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinSet, LocalSet};
use tokio_util::sync::{CancellationToken, DropGuard};
use uuid::Uuid;

use super::ApiError;

/// Requests that wait for execution at most.
const QUEUE: usize = 64;
/// Requests that are executed concurrently at most.
const AT_ONCE: usize = 16;
/// Maximum size of a request body.
pub const MAX_IN_PROCESS_BODY: usize = 1 << 20;
/// Maximum size of a response body.
pub const MAX_IN_PROCESS_RESPONSE: usize = 4 << 20;
/// Maximum time that a caller waits for the response. The request itself continues.
const MAX_WAIT: Duration = Duration::from_mins(1);
/// Time after which a caller may retry if too many requests wait.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Caller of a request. It has no `Debug`, because a bearer token must not get into a log.
#[derive(Clone)]
pub enum InProcessCaller {
    /// Holder of this bearer token, which is verified like one of a client.
    Bearer(String),
    /// Owner of this stored token. The code that makes the request vouches for them; whether the token is valid, the
    /// ban and the permissions are checked as always.
    Token(TokenId),
}

/// Request to the API of this process.
#[derive(Clone)]
pub struct InProcessCall {
    /// Caller.
    pub caller: InProcessCaller,
    /// Channel that the call arrived on. The policy for agents depends on it.
    pub channel: Channel,
    /// Approved call of an agent that this request executes.
    pub approval: Option<Uuid>,
    /// `true` to get the result of a write without its effect ([`super::rehearsal`]).
    pub is_rehearsal: bool,
    /// Method.
    pub method: Method,
    /// Path and query string.
    pub path: String,
    /// Headers. Those about credentials, the connection and the address are removed.
    pub headers: HeaderMap,
    /// Body.
    pub body: Bytes,
    /// Address that limits by address count, if known.
    pub address: Option<IpAddr>,
}

/// Response to an [`InProcessCall`].
#[derive(Debug, Clone)]
pub struct InProcessResponse {
    /// Status.
    pub status: StatusCode,
    /// Headers.
    pub headers: HeaderMap,
    /// Body.
    pub body: Bytes,
}

/// Origin of a request that code of this process made.
#[derive(Debug, Clone, Copy)]
pub struct Origin {
    token: Option<TokenId>,
    channel: Channel,
    approval: Option<Uuid>,
    is_rehearsal: bool,
}

impl Origin {
    fn of(request: &HttpRequest) -> Option<Self> {
        request.extensions().get().copied()
    }

    /// Returns the stored token that the request is made for.
    pub(crate) fn token(request: &HttpRequest) -> Option<TokenId> {
        Self::of(request)?.token
    }

    /// Returns the channel of a request.
    pub fn channel(request: &HttpRequest) -> Channel {
        Self::of(request).map_or(Channel::Api, |origin| origin.channel)
    }

    /// Returns the approved call that the request executes.
    pub fn approval(request: &HttpRequest) -> Option<Uuid> {
        Self::of(request)?.approval
    }

    /// Returns `true` if the request must have no effect.
    pub fn is_rehearsal(request: &HttpRequest) -> bool {
        Self::of(request).is_some_and(|origin| origin.is_rehearsal)
    }
}

type Reply = oneshot::Sender<Result<InProcessResponse, ApiError>>;

/// Makes requests to the API of this process.
#[derive(Clone)]
pub struct InProcess(mpsc::Sender<(InProcessCall, Reply)>);

/// Requests that wait for [`InProcessQueue::serve`].
pub struct InProcessQueue(mpsc::Receiver<(InProcessCall, Reply)>);

/// Thread that executes the requests. It ends when this is dropped.
pub struct InProcessThread {
    stop: DropGuard,
    ended: oneshot::Receiver<()>,
}

fn stopped() -> ApiError {
    ApiError::Message(StatusCode::SERVICE_UNAVAILABLE, "The service is stopping. Try again later.".to_owned())
}

impl InProcess {
    /// Creates the sender and the queue of requests.
    pub fn channel() -> (Self, InProcessQueue) {
        let (sender, receiver) = mpsc::channel(QUEUE);
        (Self(sender), InProcessQueue(receiver))
    }

    /// Makes a request and returns its response. An error says that there is none: the queue is full (`503`), the
    /// request or its response is too large (`413`, `500`), or the response is late (`504`). After `504` and `500` the
    /// request may have been executed; repeat it under its key.
    pub async fn call(&self, call: InProcessCall) -> Result<InProcessResponse, ApiError> {
        if call.body.len() > MAX_IN_PROCESS_BODY {
            return Err(ApiError::Message(StatusCode::PAYLOAD_TOO_LARGE, "The body is too large.".to_owned()));
        }
        let (reply, response) = oneshot::channel();
        self.0.try_send((call, reply)).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => ApiError::Overloaded(RETRY_AFTER),
            mpsc::error::TrySendError::Closed(_) => stopped(),
        })?;
        match tokio::time::timeout(MAX_WAIT, response).await {
            Ok(Ok(response)) => response,
            Ok(Err(_)) => Err(ApiError::internal(&"a request of this process ended without a response")),
            Err(_) => {
                let text = "The response is late. Repeat the request with the same `Idempotency-Key`.";
                Err(ApiError::Message(StatusCode::GATEWAY_TIMEOUT, text.to_owned()))
            }
        }
    }
}

impl InProcessQueue {
    /// Starts the thread that executes the requests with this application.
    pub fn serve<F, A, S, B>(self, application: F) -> std::io::Result<InProcessThread>
    where
        F: FnOnce() -> A + Send + 'static,
        A: IntoServiceFactory<S, Request>,
        S: ServiceFactory<Request, Config = AppConfig, Response = ServiceResponse<B>, Error = Error>,
        S::Service: 'static,
        S::InitError: Debug,
        B: MessageBody + 'static,
    {
        let stop = CancellationToken::new();
        let (until, (end, ended)) = (stop.clone(), oneshot::channel());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        thread::Builder::new().name("in-process".to_owned()).spawn(move || {
            LocalSet::new().block_on(&runtime, run(self.0, application, until));
            // Only `stop` waits for the end.
            let _ = end.send(());
        })?;
        Ok(InProcessThread { stop: stop.drop_guard(), ended })
    }
}

impl InProcessThread {
    /// Lets the current requests finish and ends.
    pub async fn stop(self) {
        drop(self.stop);
        if self.ended.await.is_err() {
            tracing::warn!("the thread of requests of this process ended with an error");
        }
    }
}

async fn run<F, A, S, B>(mut calls: mpsc::Receiver<(InProcessCall, Reply)>, application: F, stop: CancellationToken)
where
    F: FnOnce() -> A,
    A: IntoServiceFactory<S, Request>,
    S: ServiceFactory<Request, Config = AppConfig, Response = ServiceResponse<B>, Error = Error>,
    S::Service: 'static,
    S::InitError: Debug,
    B: MessageBody + 'static,
{
    let mut next = tokio::select! {
        () = stop.cancelled() => return,
        call = calls.recv() => call,
    };
    let service = match application().into_factory().new_service(AppConfig::default()).await {
        Ok(service) => Rc::new(service),
        Err(error) => {
            tracing::error!(?error, "the application for requests of this process cannot be built");
            return;
        }
    };
    let mut running = JoinSet::new();
    while let Some((call, reply)) = next {
        let service = Rc::clone(&service);
        running.spawn_local(async move {
            // The caller may have stopped waiting.
            let _ = reply.send(answer(&*service, call).await);
        });
        next = loop {
            tokio::select! {
                () = stop.cancelled() => break None,
                Some(_) = running.join_next(), if !running.is_empty() => {}
                call = calls.recv(), if running.len() < AT_ONCE => break call,
            }
        };
    }
    while running.join_next().await.is_some() {}
}

/// Builds the request of a call.
fn request(call: InProcessCall) -> Result<Request, ApiError> {
    let path = call.path.starts_with('/').then(|| PathAndQuery::try_from(call.path.as_str()).ok()).flatten();
    let path = path.ok_or_else(|| ApiError::bad_request("The path is not valid."))?;
    let mut headers = call.headers;
    for name in [AUTHORIZATION, CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING] {
        headers.remove(name);
    }
    for name in ["token", "x-forwarded-for"] {
        headers.remove(name);
    }
    let token = match call.caller {
        InProcessCaller::Token(token) => Some(token),
        InProcessCaller::Bearer(bearer) => {
            let value = HeaderValue::try_from(format!("Bearer {bearer}"));
            headers.insert(AUTHORIZATION, value.map_err(|_| ApiError::unauthenticated("Unauthenticated."))?);
            None
        }
    };
    let payload = if call.body.is_empty() {
        Payload::None
    } else {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(call.body.len()));
        Payload::from(call.body)
    };
    let mut request: Request = Request::with_payload(payload);
    let head = request.head_mut();
    head.method = call.method;
    head.uri = Uri::from(path);
    head.headers = headers;
    head.peer_addr = call.address.map(|address| SocketAddr::new(address, 0));
    let (channel, approval, is_rehearsal) = (call.channel, call.approval, call.is_rehearsal);
    request.extensions_mut().insert(Origin { token, channel, approval, is_rehearsal });
    Ok(request)
}

async fn answer<S, B>(service: &S, call: InProcessCall) -> Result<InProcessResponse, ApiError>
where
    S: Service<Request, Response = ServiceResponse<B>, Error = Error>,
    B: MessageBody + 'static,
{
    let response: HttpResponse = match service.call(request(call)?).await {
        Ok(response) => response.map_into_boxed_body().into_parts().1,
        Err(error) => HttpResponse::from_error(error),
    };
    let (status, headers) = (response.status(), response.headers().clone());
    let body = to_bytes_limited(response.into_body(), MAX_IN_PROCESS_RESPONSE).await;
    let body = body.map_err(|_| ApiError::internal(&"the response to a request of this process is too large"))?;
    let body = body.map_err(|error| ApiError::internal(&error))?;
    Ok(InProcessResponse { status, headers, body })
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::{App, web};

    fn call(path: &str, body: &'static str) -> InProcessCall {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, HeaderValue::from_static("Bearer of-a-client"));
        InProcessCall {
            caller: InProcessCaller::Token(TokenId::new(7).unwrap()),
            channel: Channel::Mcp,
            approval: None,
            is_rehearsal: false,
            method: Method::POST,
            path: path.to_owned(),
            headers,
            body: Bytes::from_static(body.as_bytes()),
            address: Some(IpAddr::from([203, 0, 113, 9])),
        }
    }

    /// Shows the origin of a request.
    fn shown(request: &HttpRequest, body: &Bytes) -> String {
        let credentials = request.headers().contains_key(AUTHORIZATION);
        let token = Origin::token(request).map(TokenId::get);
        let (channel, peer) = (Origin::channel(request), request.peer_addr());
        format!("{token:?} {channel:?} {credentials} {peer:?} {} {}", request.query_string(), body.len())
    }

    fn broken() -> HttpResponse {
        panic!("a handler panics")
    }

    fn thread(queue: InProcessQueue) -> InProcessThread {
        let here = |request: HttpRequest, body: Bytes| async move { shown(&request, &body) };
        let application = move || {
            App::new().route("/here", web::post().to(here)).route("/broken", web::post().to(|| async { broken() }))
        };
        queue.serve(application).unwrap()
    }

    #[tokio::test]
    async fn a_request_of_this_process_names_its_token_in_an_extension() {
        let (sender, queue) = InProcess::channel();
        let thread = thread(queue);
        let response = sender.call(call("/here?a=1", "body")).await.unwrap();
        assert_eq!(response.status, StatusCode::OK);
        assert_eq!(response.body, "Some(7) Mcp false Some(203.0.113.9:0) a=1 4".as_bytes());
        assert_eq!(sender.call(call("/there", "")).await.unwrap().status, StatusCode::NOT_FOUND);
        let refused = sender.call(call("here", "")).await;
        assert!(matches!(refused, Err(ApiError::Message(StatusCode::BAD_REQUEST, _))));
        thread.stop().await;
        assert!(sender.call(call("/here", "")).await.is_err(), "the thread has ended");
    }

    #[tokio::test]
    async fn a_panic_of_a_handler_ends_one_request() {
        let (sender, queue) = InProcess::channel();
        let thread = thread(queue);
        assert!(sender.call(call("/broken", "")).await.is_err());
        assert!(sender.call(call("/here", "")).await.is_ok());
        thread.stop().await;
    }

    #[tokio::test]
    async fn a_full_queue_and_a_large_body_are_refused() {
        let (sender, _queue) = InProcess::channel();
        let large = InProcessCall { body: Bytes::from(vec![0; MAX_IN_PROCESS_BODY + 1]), ..call("/", "") };
        assert!(matches!(sender.call(large).await, Err(ApiError::Message(StatusCode::PAYLOAD_TOO_LARGE, _))));
        for _ in 0..QUEUE {
            let (reply, _) = oneshot::channel();
            sender.0.try_send((call("/", ""), reply)).unwrap();
        }
        assert!(matches!(sender.call(call("/", "")).await, Err(ApiError::Overloaded(_))));
    }
}
