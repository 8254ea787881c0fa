//! Row of the policy table: an endpoint and the requirements for calling it; and `Cache-Control` and `Vary` of every
//! response, which follow from it.
//!
//! Personal data is never cached. Data that is the same for all users of an application may be cached, but must be
//! revalidated before each use: a new price or a revoked App Token takes effect at its commit. Handlers of file
//! contents set their own headers.

use std::sync::Arc;

use actix_web::HttpRequest;
use actix_web::dev::ServiceResponse;
use actix_web::http::header::{AUTHORIZATION, CACHE_CONTROL, HeaderValue, VARY};
use actix_web::http::{Method, StatusCode};
use kontor_adapter_diesel::VersionedRecord;
use kontor_kernel::{Permission, RateRule};

use super::traffic::RequestCounters;

/// Credentials that a caller must present before the handler runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// None. The handler checks what the request carries (a password, a signature, a secret).
    Public,
    /// App Token: header `Token`.
    App,
    /// App Token. A customer's Bearer token may personalize the response. A Bearer token that identifies no customer of
    /// the application is ignored, so that an expired token does not block the shop.
    Visitor,
    /// App Token and a customer's Bearer token together.
    Customer,
    /// Bearer token of a customer. An App Token is optional, but must be valid if sent.
    CustomerOnly,
    /// Bearer token of an employee or agent with all of these permissions.
    Staff(&'static [Permission]),
    /// Well-formed client credentials of a backend. The handler verifies them together with its lookup.
    Backend,
}

/// Extent to which a write may run under a key that was used before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeatability {
    /// Not at all: the key is looked up first.
    Never,
    /// Up to its first commit, which stores the key and so detects the repetition. Before that it only reads.
    UntilCommit,
    /// To its end, if the response is lost: its body identifies its effect, and it returns the same response.
    Whole,
}

/// Endpoint and the requirements for calling it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// HTTP method.
    pub method: Method,
    /// Path template, as the route declares it.
    pub path: &'static str,
    /// Required credentials.
    pub access: Access,
    /// Rate limit by address. It counts before authentication, so that failed attempts count too.
    pub limited: Option<RateRule>,
    /// `true` if the response cache may store its responses. They are the same for every caller with this App Token,
    /// and depend only on the published data of the project.
    pub server_cached: bool,
    /// `true` if an invalid App Token is reported in the structured body, like the other `401` responses of the
    /// endpoint.
    pub structured: bool,
    /// `GET` endpoint that shows the result of a write, if it does not follow from the path.
    pub result_from: Option<&'static str>,
    /// Extent to which it may run under a key that was used before.
    pub rerun: Repeatability,
    /// `true` if the handler reads the body as a stream: it holds a file.
    pub streamed: bool,
    /// Versioned record that the path or the caller identifies. Responses carry its version as `ETag`, and writes honor
    /// `If-Match`.
    pub versioned: Option<VersionedRecord>,
}

impl Policy {
    /// Counts every call toward its address, before authentication.
    #[must_use]
    pub const fn limited(mut self, rule: RateRule) -> Self {
        self.limited = Some(rule);
        self
    }

    /// Allows the response cache to store responses.
    #[must_use]
    pub const fn server_cached(mut self) -> Self {
        self.server_cached = true;
        self
    }

    /// Names the endpoint that shows the result in the form of the write's response. Optional fields of the response
    /// may be missing.
    #[must_use]
    pub const fn result_from(mut self, path: &'static str) -> Self {
        self.result_from = Some(path);
        self
    }

    /// Declares that a repeated request has no effect and returns the same response: its body identifies its effect.
    #[must_use]
    pub const fn repeats(mut self) -> Self {
        self.rerun = Repeatability::Whole;
        self
    }

    /// Declares that the endpoint only reads until its first commit, which stores its key. It counts nothing and calls
    /// no outside service before.
    #[must_use]
    pub const fn commits_first(mut self) -> Self {
        self.rerun = Repeatability::UntilCommit;
        self
    }

    /// Declares that the body holds a file, which the handler streams to disk.
    #[must_use]
    pub const fn streamed(mut self) -> Self {
        self.streamed = true;
        self
    }

    /// Declares that it shows, creates, changes or deletes a versioned record.
    #[must_use]
    pub const fn versioned(mut self, record: VersionedRecord) -> Self {
        self.versioned = Some(record);
        self
    }

    /// Gives every `401` of the endpoint the structured body.
    #[must_use]
    pub const fn structured(mut self) -> Self {
        self.structured = true;
        self
    }
}

macro_rules! rows {
    ($($name:ident => $method:ident,)+) => {$(
        #[doc = concat!("A row of a `", stringify!($method), "` endpoint.")]
        pub const fn $name(path: &'static str, access: Access) -> Policy {
            Policy {
                method: Method::$method,
                path,
                access,
                limited: None,
                server_cached: false,
                structured: false,
                result_from: None,
                rerun: Repeatability::Never,
                streamed: false,
                versioned: None,
            }
        }
    )+};
}

rows! {
    get => GET,
    post => POST,
    put => PUT,
    patch => PATCH,
    delete => DELETE,
}

/// Source of the result of a write whose response is lost.
#[derive(Clone)]
pub enum ResultSource {
    /// An endpoint shows the record in the same form as the write.
    Record {
        /// Endpoint that shows the record.
        by: Arc<Endpoint>,
        /// Status of the successful write.
        status: StatusCode,
    },
    /// The record is deleted; the response is a message.
    Deleted,
    /// The request runs again, which has no effect and returns the same response.
    Rerun,
}

/// Policy of an endpoint with its request counters.
pub struct Endpoint {
    /// Policy of the endpoint.
    pub policy: &'static Policy,
    /// Request counters.
    pub traffic: RequestCounters,
    /// Source of the result of a write, in the form of its own response.
    pub result_source: Option<ResultSource>,
}

impl Endpoint {
    /// Creates an endpoint with empty counters.
    pub fn of(policy: &'static Policy, result_source: Option<ResultSource>) -> Arc<Self> {
        Arc::new(Self { policy, traffic: RequestCounters::new(policy.method.as_str(), policy.path), result_source })
    }
}

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
pub fn declare_caching<B>(response: &mut ServiceResponse<B>, policy: Option<&Policy>) {
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
