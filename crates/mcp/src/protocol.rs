//! Messages: JSON-RPC 2.0, versions of the protocol, and the headers that repeat parts of a message.

use actix_web::http::StatusCode;
use actix_web::http::header::HeaderMap;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value, json};

/// Version without sessions: each request names its version and the capabilities of its client.
pub const MODERN: &str = "2026-07-28";
/// Version with the request `initialize`. This server gives out no sessions.
pub const LEGACY: &str = "2025-11-25";

const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const METHOD_NOT_FOUND: i32 = -32601;
/// Code of wrong parameters, also of an unknown tool, prompt or resource.
pub const INVALID_PARAMS: i32 = -32602;
/// Code of failures of the service.
pub const INTERNAL_ERROR: i32 = -32603;
/// Code of an unknown resource in the version with `initialize`.
const RESOURCE_NOT_FOUND: i32 = -32002;
const HEADER_MISMATCH: i32 = -32020;
const MISSING_CAPABILITY: i32 = -32021;
const UNSUPPORTED_VERSION: i32 = -32022;
/// Code of a missing permission. The protocol defines none, and asks for one outside the reserved range.
pub const FORBIDDEN: i32 = 403;

/// Prefix of the protocol's own keys in `_meta`.
const RESERVED: &str = "io.modelcontextprotocol/";

/// Version of the protocol that a request is answered in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProtocolVersion {
    /// [`MODERN`].
    Modern,
    /// [`LEGACY`].
    Legacy,
}

/// Message of a client.
#[derive(Debug, PartialEq)]
pub enum Message {
    /// Request, which is answered.
    Request(Request),
    /// Notification, which is not.
    Notification,
}

/// Request of a client.
#[derive(Debug, PartialEq)]
pub struct Request {
    /// Id: a text or a whole number.
    pub id: Value,
    /// Method.
    pub method: String,
    /// Parameters.
    pub params: Map<String, Value>,
    /// Version.
    pub version: ProtocolVersion,
}

impl Request {
    /// Returns a parameter that is a text, or an empty text without it.
    pub fn text(&self, key: &str) -> &str {
        self.params.get(key).and_then(Value::as_str).unwrap_or_default()
    }
}

/// Refusal of a message.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// Status of the HTTP response.
    pub status: StatusCode,
    /// Code of the error.
    pub code: i32,
    /// Text of the error.
    pub message: String,
    /// Details.
    pub data: Option<Value>,
}

impl Failure {
    /// Creates the refusal of a request that was understood.
    pub fn of(code: i32, message: impl Into<String>) -> Self {
        Self { status: StatusCode::OK, code, message: message.into(), data: None }
    }

    fn bad(code: i32, message: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, ..Self::of(code, message) }
    }

    /// Creates the refusal of an unknown method.
    pub fn unknown_method(version: ProtocolVersion, method: &str) -> Self {
        let status = if version == ProtocolVersion::Modern { StatusCode::NOT_FOUND } else { StatusCode::OK };
        Self { status, ..Self::of(METHOD_NOT_FOUND, format!("Method not found: {method}")) }
    }

    /// Creates the refusal of an unknown resource.
    pub fn unknown_resource(version: ProtocolVersion, uri: &str) -> Self {
        let code = if version == ProtocolVersion::Modern { INVALID_PARAMS } else { RESOURCE_NOT_FOUND };
        Self { data: Some(json!({ "uri": uri })), ..Self::of(code, "Resource not found") }
    }

    /// Creates the refusal of a request that needs more capabilities of the client.
    pub fn missing_capabilities(required: &Value) -> Self {
        let failure = Self::bad(MISSING_CAPABILITY, "Missing required client capability");
        Self { data: Some(json!({ "requiredCapabilities": required })), ..failure }
    }

    /// Returns the response, with the id of the request if it is known.
    pub fn body(&self, id: Option<&Value>) -> Value {
        let error = json!({ "code": self.code, "message": self.message });
        let error = match &self.data {
            Some(data) => with(error, "data", data.clone()),
            None => error,
        };
        let body = json!({ "jsonrpc": "2.0", "error": error });
        match id {
            Some(id) => with(body, "id", id.clone()),
            None => body,
        }
    }
}

/// Adds a field to an object.
pub fn with(mut object: Value, name: &str, value: Value) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(name.to_owned(), value);
    }
    object
}

/// Refusal with the id of its request.
pub type Refused = (Option<Value>, Failure);

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

/// Returns a key of the protocol in `_meta`.
pub fn meta<'a>(params: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    params.get("_meta")?.get(format!("{RESERVED}{key}"))
}

/// Returns the capabilities that a client declares with a request.
pub fn client_capabilities(params: &Map<String, Value>) -> Option<&Value> {
    meta(params, "clientCapabilities").filter(|capabilities| capabilities.is_object())
}

/// Returns the answer that makes a client carry out requests, by key, and repeat its own request with the results and
/// the state.
pub fn input_required(requests: &Value, state: &str) -> Value {
    json!({ "resultType": "input_required", "inputRequests": requests, "requestState": state })
}

/// Reads a message.
pub fn read(body: &[u8], headers: &HeaderMap) -> Result<Message, Refused> {
    let message: Value = serde_json::from_slice(body)
        .map_err(|error| (None, Failure::bad(PARSE_ERROR, format!("The body is not valid JSON: {error}"))))?;
    let invalid = |text: &str| Failure::bad(INVALID_REQUEST, text);
    let Value::Object(mut message) = message else {
        return Err((None, invalid("The body must be one message. Batches are not part of the protocol.")));
    };
    let id = message.remove("id");
    let is_valid = id.as_ref().is_none_or(|id| id.is_string() || id.is_i64() || id.is_u64());
    let known_id = id.clone().filter(|_| is_valid);
    let refuse = |text: &str| Err((known_id.clone(), invalid(text)));
    if message.get("jsonrpc") != Some(&json!("2.0")) {
        return refuse("`jsonrpc` must be \"2.0\".");
    }
    if !is_valid {
        return refuse("`id` must be a string or a whole number.");
    }
    let Some(Value::String(method)) = message.remove("method") else {
        return refuse("`method` must be a string.");
    };
    let params = match message.remove("params") {
        None => Map::new(),
        Some(Value::Object(params)) => params,
        Some(_) => return refuse("`params` must be an object."),
    };
    match id {
        None if method.starts_with("notifications/") => Ok(Message::Notification),
        None => refuse("A request must have an `id`."),
        Some(id) => match version(&method, &params, headers) {
            Ok(version) => Ok(Message::Request(Request { id, method, params, version })),
            Err(failure) => Err((Some(id), failure)),
        },
    }
}

/// Returns the version of a request.
fn version(method: &str, params: &Map<String, Value>, headers: &HeaderMap) -> Result<ProtocolVersion, Failure> {
    let (sent, named) = (header(headers, "mcp-protocol-version"), meta(params, "protocolVersion"));
    let Some(sent) = sent else {
        // The first request of a client that does not know the versions of the server.
        if method == "initialize" && named.is_none() {
            return Ok(ProtocolVersion::Legacy);
        }
        return Err(mismatch("The header MCP-Protocol-Version is required."));
    };
    if let Some(named) = named
        && named != sent
    {
        return Err(mismatch("The header MCP-Protocol-Version differs from the version in `_meta`."));
    }
    match sent {
        LEGACY => Ok(ProtocolVersion::Legacy),
        MODERN => check_modern(method, params, headers).map(|()| ProtocolVersion::Modern),
        // Answered with the version that the server has.
        _ if method == "initialize" && named.is_none() => Ok(ProtocolVersion::Legacy),
        requested => {
            let data = json!({ "supported": [MODERN, LEGACY], "requested": requested });
            let failure = Failure::bad(UNSUPPORTED_VERSION, "Unsupported protocol version");
            Err(Failure { data: Some(data), ..failure })
        }
    }
}

fn mismatch(text: &str) -> Failure {
    Failure::bad(HEADER_MISMATCH, format!("Header mismatch: {text}"))
}

fn check_modern(method: &str, params: &Map<String, Value>, headers: &HeaderMap) -> Result<(), Failure> {
    let invalid = |key: &str| Failure::bad(INVALID_PARAMS, format!("`_meta` must have `{RESERVED}{key}`."));
    if !meta(params, "protocolVersion").is_some_and(Value::is_string) {
        return Err(invalid("protocolVersion"));
    }
    client_capabilities(params).ok_or_else(|| invalid("clientCapabilities"))?;
    if header(headers, "mcp-method") != Some(method) {
        return Err(mismatch("Mcp-Method is missing or differs from the method."));
    }
    let name = match method {
        "tools/call" | "prompts/get" => params.get("name"),
        "resources/read" => params.get("uri"),
        _ => return Ok(()),
    };
    let sent = header(headers, "mcp-name").and_then(decoded);
    match name.and_then(Value::as_str) {
        Some(name) if sent.as_deref() != Some(name) => Err(mismatch("Mcp-Name is missing or differs from the name.")),
        _ => Ok(()),
    }
}

/// Returns the text of a header value, which is encoded if it has more than visible ASCII.
fn decoded(value: &str) -> Option<String> {
    match value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
        None => Some(value.to_owned()),
        Some(encoded) => String::from_utf8(BASE64_STANDARD.decode(encoded).ok()?).ok(),
    }
}
