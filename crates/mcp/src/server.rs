//! Methods of the protocol, over any content.

use actix_web::http::StatusCode;
use actix_web::http::header::HeaderMap;
use serde_json::{Value, json};

use crate::protocol::{
    FORBIDDEN, Failure, INVALID_PARAMS, LEGACY, MODERN, Message, ProtocolVersion, Request, read, with,
};

/// Time that clients may keep lists, in milliseconds. Permissions may change meanwhile; calls check them.
const LIST_TTL: u32 = 60_000;

/// Tools, resources and prompts that one caller is offered.
pub trait Content {
    /// Returns name, title and version of the server.
    fn about(&self) -> Value;

    /// Returns the instructions for models.
    fn instructions(&self) -> &'static str;

    /// Returns the capabilities of the server.
    fn capabilities(&self, version: ProtocolVersion) -> Value;

    /// Lists the tools.
    fn tools(&self) -> Vec<Value>;

    /// Lists the resources.
    fn resources(&self) -> Vec<Value>;

    /// Lists the templates of resources.
    fn templates(&self) -> Vec<Value> {
        Vec::new()
    }

    /// Lists the prompts.
    fn prompts(&self) -> Vec<Value>;

    /// Calls a tool.
    fn call(&self, request: &Request) -> impl Future<Output = Result<Value, Stop>>;

    /// Reads a resource.
    fn read(&self, request: &Request) -> impl Future<Output = Result<Value, Stop>>;

    /// Returns a prompt with its arguments.
    fn prompt(&self, request: &Request) -> Result<Value, Stop>;

    /// Answers a method that not every server has.
    fn other(&self, request: &Request) -> Result<Value, Stop> {
        Err(Failure::unknown_method(request.version, &request.method).into())
    }
}

/// Reason why a caller needs another token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Challenge {
    /// The token is missing or no longer valid.
    Token,
    /// The token lacks these permissions.
    Permissions(Vec<String>),
}

/// Response to a message.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// HTTP status.
    pub status: StatusCode,
    /// Header `WWW-Authenticate`, if another token is needed.
    pub challenge: Option<Challenge>,
    /// Body; notifications have none.
    pub body: Option<Value>,
}

/// Reason why a request has no result.
#[derive(Debug)]
pub enum Stop {
    /// The request is refused.
    Failure(Failure),
    /// The caller needs another token.
    Challenge(Challenge),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

/// Answers a message.
pub async fn answer(content: &impl Content, headers: &HeaderMap, body: &[u8]) -> Reply {
    let request = match read(body, headers) {
        Ok(Message::Notification) => return Reply { status: StatusCode::ACCEPTED, challenge: None, body: None },
        Ok(Message::Request(request)) => request,
        Err((id, failure)) => return refused(&failure, id.as_ref()),
    };
    match run(content, &request).await {
        Ok(mut result) => {
            if request.version == ProtocolVersion::Modern {
                if result.get("resultType").is_none() {
                    result = with(result, "resultType", json!("complete"));
                }
                result = with(result, "_meta", json!({ "io.modelcontextprotocol/serverInfo": content.about() }));
            }
            let body = json!({ "jsonrpc": "2.0", "id": request.id, "result": result });
            Reply { status: StatusCode::OK, challenge: None, body: Some(body) }
        }
        Err(Stop::Failure(failure)) => refused(&failure, Some(&request.id)),
        Err(Stop::Challenge(challenge)) => challenged(challenge, &request.id),
    }
}

async fn run(content: &impl Content, request: &Request) -> Result<Value, Stop> {
    let version = request.version;
    match (version, request.method.as_str()) {
        (ProtocolVersion::Modern, "server/discover") => {
            let result = json!({
                "supportedVersions": [MODERN, LEGACY],
                "capabilities": content.capabilities(version),
                "instructions": content.instructions(),
            });
            Ok(cacheable(result, LIST_TTL, "public", version))
        }
        (ProtocolVersion::Legacy, "initialize") => Ok(json!({
            "protocolVersion": LEGACY,
            "capabilities": content.capabilities(version),
            "serverInfo": content.about(),
            "instructions": content.instructions(),
        })),
        (ProtocolVersion::Legacy, "ping") => Ok(json!({})),
        (_, "tools/list") => list(request, "tools", content.tools()),
        (_, "tools/call") => content.call(request).await,
        (_, "resources/list") => list(request, "resources", content.resources()),
        (_, "resources/templates/list") => list(request, "resourceTemplates", content.templates()),
        (_, "resources/read") => Ok(cacheable(content.read(request).await?, 0, "private", version)),
        (_, "prompts/list") => list(request, "prompts", content.prompts()),
        (_, "prompts/get") => content.prompt(request),
        _ => content.other(request),
    }
}

/// Returns the only page of a list.
fn list(request: &Request, name: &str, entries: Vec<Value>) -> Result<Value, Stop> {
    if request.params.contains_key("cursor") {
        return Err(Failure::of(INVALID_PARAMS, "There is only one page: no cursor is valid.").into());
    }
    Ok(cacheable(json!({ name: entries }), LIST_TTL, "private", request.version))
}

/// Adds the time that clients may keep a result.
fn cacheable(result: Value, ttl: u32, scope: &str, version: ProtocolVersion) -> Value {
    match version {
        ProtocolVersion::Modern => with(with(result, "ttlMs", json!(ttl)), "cacheScope", json!(scope)),
        ProtocolVersion::Legacy => result,
    }
}

fn refused(failure: &Failure, id: Option<&Value>) -> Reply {
    Reply { status: failure.status, challenge: None, body: Some(failure.body(id)) }
}

fn challenged(challenge: Challenge, id: &Value) -> Reply {
    let (status, failure) = match &challenge {
        Challenge::Token => (StatusCode::UNAUTHORIZED, Failure::of(FORBIDDEN, "Unauthenticated.")),
        Challenge::Permissions(missing) => {
            let failure = Failure::of(FORBIDDEN, "The token lacks permissions for this tool.");
            (StatusCode::FORBIDDEN, Failure { data: Some(json!({ "permissions": missing })), ..failure })
        }
    };
    Reply { status, challenge: Some(challenge), body: Some(failure.body(Some(id))) }
}
