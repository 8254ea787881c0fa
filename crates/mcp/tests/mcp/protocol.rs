//! Versions, headers, errors, and the methods beside tools.

use actix_web::http::StatusCode;
use kontor_mcp::Challenge;
use serde_json::{Value, json};

use crate::script::{Client, Script, agent, headers, owner, server};

const META: &str = "io.modelcontextprotocol/";

fn meta(version: &str) -> Value {
    json!({ format!("{META}protocolVersion"): version, format!("{META}clientCapabilities"): {} })
}

fn request(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": "a", "method": method, "params": params })
}

#[actix_web::test]
async fn both_versions_are_answered() {
    let (server, owner) = (server(), owner());
    let client = Client::new(&server, &owner);
    let found = client.result("server/discover", json!({}), &Script::default()).await;
    assert_eq!(found["supportedVersions"], json!(["2026-07-28", "2025-11-25"]));
    assert_eq!((&found["resultType"], &found["cacheScope"]), (&json!("complete"), &json!("public")));
    assert_eq!(found["_meta"][format!("{META}serverInfo")]["name"], "kontor");
    assert!(found["ttlMs"].is_u64() && found["capabilities"]["tools"].is_object());

    let api = Script::default();
    for asked in ["2025-11-25", "2025-06-18"] {
        let body = request("initialize", json!({ "protocolVersion": asked, "capabilities": {} }));
        let reply = client.send(&headers(&[]), &body, &api).await;
        let result = reply.body.unwrap()["result"].clone();
        assert_eq!((reply.status, result["protocolVersion"].as_str()), (StatusCode::OK, Some("2025-11-25")));
        assert_eq!((&result["serverInfo"]["name"], &result["resultType"]), (&json!("kontor"), &Value::Null));
    }
    let legacy = headers(&[("mcp-protocol-version", "2025-11-25")]);
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    for sent in [&legacy, &headers(&[])] {
        let reply = client.send(sent, &initialized, &api).await;
        assert_eq!((reply.status, reply.body), (StatusCode::ACCEPTED, None));
    }
    let listed = client.send(&legacy, &request("tools/list", json!({})), &api).await.body.unwrap()["result"].clone();
    assert_eq!(listed["tools"].as_array().unwrap().len(), server.offers().len());
    assert!(listed.get("ttlMs").is_none() && listed.get("resultType").is_none());
    let pong = client.send(&legacy, &request("ping", json!({})), &api).await;
    assert_eq!(pong.body.unwrap()["result"], json!({}));
}

/// Headers of a message.
type Headers<'a> = Vec<(&'static str, &'a str)>;

#[actix_web::test]
async fn messages_that_break_the_protocol_are_refused() {
    let modern = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/list")];
    let of = |version: &str| json!({ "_meta": meta(version) });
    let call = |name: &str| request("tools/call", json!({ "name": name, "_meta": meta("2026-07-28") }));
    let named = |name| [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", name)];
    let without = |key: &str| {
        let mut meta = meta("2026-07-28");
        meta.as_object_mut().unwrap().remove(&format!("{META}{key}"));
        request("tools/list", json!({ "_meta": meta }))
    };
    let list = request("tools/list", of("2026-07-28"));
    let cases: Vec<(&str, Headers<'_>, Value, u16, i64)> = vec![
        ("a batch", modern.to_vec(), json!([list]), 400, -32600),
        ("no text", modern.to_vec(), json!("x"), 400, -32600),
        ("another JSON-RPC", modern.to_vec(), json!({ "jsonrpc": "1.0", "id": 1, "method": "ping" }), 400, -32600),
        ("a null id", modern.to_vec(), json!({ "jsonrpc": "2.0", "id": null, "method": "ping" }), 400, -32600),
        ("a response", modern.to_vec(), json!({ "jsonrpc": "2.0", "id": 1, "result": {} }), 400, -32600),
        (
            "params of a list",
            modern.to_vec(),
            json!({ "jsonrpc": "2.0", "id": 1, "method": "x", "params": [] }),
            400,
            -32600,
        ),
        ("a call without id", modern.to_vec(), json!({ "jsonrpc": "2.0", "method": "tools/call" }), 400, -32600),
        ("no version", vec![], list.clone(), 400, -32020),
        ("no version of a list", vec![], request("tools/list", json!({})), 400, -32020),
        ("another version in _meta", modern.to_vec(), request("tools/list", of("2025-11-25")), 400, -32020),
        ("no _meta", modern.to_vec(), request("tools/list", json!({})), 400, -32602),
        ("no version in _meta", modern.to_vec(), without("protocolVersion"), 400, -32602),
        ("no capabilities", modern.to_vec(), without("clientCapabilities"), 400, -32602),
        ("another method", modern.to_vec(), request("prompts/list", of("2026-07-28")), 400, -32020),
        ("no method", vec![modern[0]], list.clone(), 400, -32020),
        ("another name", named("get_item").to_vec(), call("get_order"), 400, -32020),
        ("no name", named("get_item")[..2].to_vec(), call("get_item"), 400, -32020),
        ("an unknown tool", named("fly").to_vec(), call("fly"), 200, -32602),
        ("an encoded name", named("=?base64?Zmx5?=").to_vec(), call("fly"), 200, -32602),
        (
            "an unknown method of 2025",
            vec![("mcp-protocol-version", "2025-11-25")],
            request("x", json!({})),
            200,
            -32601,
        ),
    ];
    let (server, owner) = (server(), owner());
    let client = Client::new(&server, &owner);
    for (name, sent, body, status, code) in cases {
        let reply = client.send(&headers(&sent), &body, &Script::default()).await;
        let error = reply.body.unwrap();
        assert_eq!((reply.status.as_u16(), error["error"]["code"].as_i64()), (status, Some(code)), "{name}: {error}");
        let known = body["id"].clone();
        assert_eq!(error.get("id").cloned().unwrap_or_default(), known, "{name} keeps the id");
    }
    let caller = kontor_mcp::Caller { staff: &owner, public_url: "" };
    let reply = server.answer(caller, &headers(&modern), b"{", &Script::default()).await;
    assert_eq!((reply.status.as_u16(), reply.body.unwrap()["error"]["code"].as_i64()), (400, Some(-32700)));
}

#[actix_web::test]
async fn unknown_versions_and_methods_name_what_is_known() {
    let (server, owner) = (server(), owner());
    let client = Client::new(&server, &owner);
    let sent = headers(&[("mcp-protocol-version", "1900-01-01"), ("mcp-method", "tools/list")]);
    let reply =
        client.send(&sent, &request("tools/list", json!({ "_meta": meta("1900-01-01") })), &Script::default()).await;
    let error = reply.body.unwrap()["error"].clone();
    assert_eq!((reply.status.as_u16(), error["code"].as_i64()), (400, Some(-32022)));
    assert_eq!(error["data"], json!({ "supported": ["2026-07-28", "2025-11-25"], "requested": "1900-01-01" }));
    for method in ["initialize", "ping", "logging/setLevel", "resources/subscribe", "completion/complete", "x"] {
        let reply = client.ask(method, json!({}), &Script::default()).await;
        let code = reply.body.unwrap()["error"]["code"].as_i64();
        assert_eq!((reply.status.as_u16(), code), (404, Some(-32601)), "{method}");
    }
}

#[actix_web::test]
async fn resources_are_read_from_the_api() {
    let (server, reader) = (server(), agent(&["view-dictionaries"]));
    let client = Client::new(&server, &reader);
    let listed = client.result("resources/list", json!({}), &Script::default()).await;
    let listed: Vec<&str> =
        listed["resources"].as_array().unwrap().iter().map(|one| one["uri"].as_str().unwrap()).collect();
    assert_eq!(listed.len(), 5);
    assert!(!listed.contains(&"kontor://project"), "{listed:?}");
    let api = Script::of([(200, json!({ "orderStatuses": [] }))]);
    let uri = json!({ "uri": "kontor://dictionaries/order_statuses" });
    let read = client.result("resources/read", uri, &api).await;
    assert_eq!(read["contents"][0]["text"], json!({ "orderStatuses": [] }).to_string());
    assert_eq!((&read["ttlMs"], &read["cacheScope"]), (&json!(0), &json!("private")));
    assert_eq!(api.seen.borrow()[0].path, "/api/order_statuses");
    for hidden in ["kontor://project", "kontor://nothing", "file:///etc/passwd"] {
        let reply = client.ask("resources/read", json!({ "uri": hidden }), &Script::default()).await;
        assert_eq!(reply.body.unwrap()["error"]["code"], -32602, "{hidden}");
    }
    let gone = Script::of([(401, json!({ "message": "Unauthenticated." }))]);
    let reply = client.ask("resources/read", json!({ "uri": "kontor://dictionaries/task_statuses" }), &gone).await;
    assert_eq!((reply.status.as_u16(), reply.challenge), (401, Some(Challenge::Token)));
    let templates = client.result("resources/templates/list", json!({}), &Script::default()).await;
    assert_eq!(templates["resourceTemplates"], json!([]));
    let paged = client.ask("resources/list", json!({ "cursor": "x" }), &Script::default()).await;
    assert_eq!(paged.body.unwrap()["error"]["code"], -32602);
}

#[actix_web::test]
async fn prompts_name_only_what_the_agent_may_do() {
    let (server, owner, keeper) = (server(), owner(), agent(&["view-inventories"]));
    let all = Client::new(&server, &owner).result("prompts/list", json!({}), &Script::default()).await;
    assert_eq!(all["prompts"].as_array().unwrap().len(), 5);
    let client = Client::new(&server, &keeper);
    let listed = client.result("prompts/list", json!({}), &Script::default()).await;
    assert_eq!((listed["prompts"].as_array().unwrap().len(), &listed["prompts"][0]["name"]), (1, &json!("low_stock")));
    let asked = json!({ "name": "low_stock", "arguments": { "threshold": "5" } });
    let prompt = client.result("prompts/get", asked, &Script::default()).await;
    assert!(prompt["messages"][0]["content"]["text"].as_str().unwrap().contains("fewer than 5 units"));
    for wrong in [json!({ "name": "low_stock" }), json!({ "name": "open_tasks" }), json!({ "name": "x" })] {
        let reply = client.ask("prompts/get", wrong.clone(), &Script::default()).await;
        assert_eq!(reply.body.unwrap()["error"]["code"], -32602, "{wrong}");
    }
}
