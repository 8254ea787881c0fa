//! Scripted API, and messages to a server over it.

use std::cell::RefCell;
use std::collections::VecDeque;

use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use kontor_kernel::testing::staff_with;
use kontor_kernel::{Permission, Staff};
use kontor_mcp::{Api, ApiAnswer, ApiRequest, Caller, Mcp, Reply};
use serde_json::{Value, json};

/// API that returns prepared answers and keeps the requests.
#[derive(Default)]
pub struct Script {
    answers: RefCell<VecDeque<ApiAnswer>>,
    pub seen: RefCell<Vec<ApiRequest>>,
    /// Header `ETag` of every answer.
    pub etag: Option<String>,
}

impl Script {
    pub fn of(answers: impl IntoIterator<Item = (u16, Value)>) -> Self {
        let answers = answers.into_iter().map(|(status, body)| ApiAnswer {
            status: StatusCode::from_u16(status).unwrap(),
            retry_after: (status == 503).then_some(7),
            etag: None,
            body,
        });
        Self { answers: RefCell::new(answers.collect()), seen: RefCell::default(), etag: None }
    }
}

impl Api for Script {
    async fn call(&self, request: ApiRequest) -> ApiAnswer {
        self.seen.borrow_mut().push(request);
        ApiAnswer { etag: self.etag.clone(), ..self.answers.borrow_mut().pop_front().unwrap() }
    }
}

/// Description of the API with recorded examples.
pub fn description() -> Value {
    serde_json::from_str(include_str!("../../../../docs/openapi.json")).unwrap()
}

pub fn server() -> Mcp {
    Mcp::new(&description(), kontor_platform_surface::POLICIES).unwrap()
}

pub fn agent(permissions: &[&str]) -> Staff {
    staff_with(permissions.iter().map(|name| name.parse().unwrap()))
}

pub fn owner() -> Staff {
    staff_with(Permission::all())
}

pub fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for &(name, value) in pairs {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
    }
    headers
}

/// Client of the version with a version in each request.
pub struct Client<'a> {
    pub server: &'a Mcp,
    pub staff: &'a Staff,
    pub capabilities: Value,
}

impl<'a> Client<'a> {
    pub fn new(server: &'a Mcp, staff: &'a Staff) -> Self {
        Self { server, staff, capabilities: json!({}) }
    }

    pub async fn send(&self, headers: &HeaderMap, body: &Value, api: &Script) -> Reply {
        let caller = Caller { staff: self.staff, public_url: "https://shop.example" };
        self.server.answer(caller, headers, body.to_string().as_bytes(), api).await
    }

    pub async fn ask(&self, method: &'static str, mut params: Value, api: &Script) -> Reply {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": self.capabilities,
        });
        let name = params["name"].as_str().or_else(|| params["uri"].as_str()).unwrap_or("none").to_owned();
        let sent = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", method), ("mcp-name", name.as_str())];
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.send(&headers(&sent), &body, api).await
    }

    /// Returns the result of a request that succeeds.
    pub async fn result(&self, method: &'static str, params: Value, api: &Script) -> Value {
        let reply = self.ask(method, params, api).await;
        assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
        let result = reply.body.unwrap()["result"].clone();
        assert!(result.is_object(), "{method}");
        result
    }

    pub async fn call(&self, tool: &str, arguments: Value, api: &Script) -> Value {
        self.result("tools/call", json!({ "name": tool, "arguments": arguments }), api).await
    }

    /// Returns the names of the listed tools.
    pub async fn tools(&self) -> Vec<String> {
        let listed = self.result("tools/list", json!({}), &Script::default()).await;
        listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }
}
