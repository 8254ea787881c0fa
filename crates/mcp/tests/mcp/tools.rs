//! Calls of tools: requests to the API, and results from its responses.

use actix_web::http::Method;
use kontor_mcp::Challenge;
use serde_json::{Value, json};

use crate::script::{Client, Script, agent, owner, server};

const ID: &str = "0b9c1f5e-0000-4000-8000-000000000001";

fn waiting(state: &str) -> Value {
    json!({ "agentAction": { "publicId": ID, "state": state, "expires_at": "2026-01-31T12:30:00Z" } })
}

fn refused(code: &str, next_action: &str) -> Value {
    json!({ "message": code, "error": { "code": code, "next_action": next_action } })
}

fn refund() -> Value {
    json!({ "order_id": 3, "everything": true, "reason": "Dented", "restock": false })
}

#[actix_web::test]
async fn a_read_becomes_a_query() {
    let (server, reader) = (server(), agent(&["view-orders"]));
    let api = Script::of([(200, json!({ "orders": [], "ordersCount": 0 }))]);
    let arguments = json!({ "status_id": [22, 1], "query": "Анна & Co", "per_page": 5, "page": null });
    let result = Client::new(&server, &reader).call("find_orders", arguments, &api).await;
    assert_eq!((&result["isError"], &result["structuredContent"]["ordersCount"]), (&json!(false), &json!(0)));
    let text = result["content"][0]["text"].as_str().unwrap();
    let (line, body) = text.split_once('\n').unwrap();
    assert!(line.contains("not instructions"), "{line}");
    assert_eq!(serde_json::from_str::<Value>(body).unwrap(), result["structuredContent"]);
    let seen = api.seen.take();
    let query = "per_page=5&query=%D0%90%D0%BD%D0%BD%D0%B0+%26+Co&status_id%5B%5D=1&status_id%5B%5D=22";
    let mut sent: Vec<&str> = seen[0].path.strip_prefix("/api/orders?").unwrap().split('&').collect();
    sent.sort_unstable();
    assert_eq!((sent.join("&").as_str(), &seen[0].method, &seen[0].body), (query, &Method::GET, &None));
}

#[actix_web::test]
async fn a_write_has_a_body_a_key_and_a_dry_run() {
    let (server, owner) = (server(), owner());
    let api = Script::of([(200, json!({ "order": { "id": 3 }, "preview": {} }))]);
    let mut arguments = refund();
    arguments["dry_run"] = json!(true);
    arguments["idempotency_key"] = json!("k-1");
    Client::new(&server, &owner).call("refund_order", arguments, &api).await;
    let seen = api.seen.take();
    assert_eq!(seen[0].path, "/api/orders/3/request-refund?dry_run=1");
    assert_eq!((&seen[0].method, seen[0].headers.idempotency_key.as_deref()), (&Method::POST, Some("k-1")));
    let body = seen[0].body.as_ref().unwrap();
    let sent: Value = serde_json::from_slice(&body.bytes).unwrap();
    assert_eq!(sent, json!({ "everything": true, "reason": "Dented", "restock": false }));
    assert_eq!(body.content_type, "application/json");
}

#[actix_web::test]
async fn a_table_is_sent_as_a_file() {
    let (server, owner) = (server(), owner());
    let api = Script::of([(200, json!({ "message": "", "created": 0, "updated": 1, "errors": [] }))]);
    let csv = "article,warehouse,quantity\nA-1,Main,5\n";
    let client = Client::new(&server, &owner);
    client.call("import_stock", json!({ "csv": csv, "dry_run": true }), &api).await;
    let seen = api.seen.take();
    let body = seen[0].body.as_ref().unwrap();
    let boundary = body.content_type.strip_prefix("multipart/form-data; boundary=").unwrap();
    let text = std::str::from_utf8(&body.bytes).unwrap();
    assert!(text.ends_with(&format!("--{boundary}--\r\n")));
    let parts: Vec<&str> = text.split(&format!("--{boundary}\r\n")).skip(1).collect();
    assert_eq!(parts[0], "Content-Disposition: form-data; name=\"dry_run\"\r\n\r\n1\r\n");
    assert!(parts[1].contains("name=\"file\"; filename=\"table.csv\"") && parts[1].contains(csv));
    let torn = json!({ "csv": format!("a\r\n--{boundary}--"), "partial": boundary });
    let refused = client.call("import_stock", torn, &Script::default()).await["content"].to_string();
    assert!(refused.contains("csv") && refused.contains("partial"), "{refused}");
}

#[actix_web::test]
async fn wrong_arguments_are_named_together() {
    let (server, owner) = (server(), owner());
    let client = Client::new(&server, &owner);
    let wrong = json!({ "order_id": "x", "colour": 1, "idempotency_key": 5, "restock": true });
    let result = client.call("refund_order", wrong, &Script::default()).await;
    assert_eq!(result["isError"], true);
    let text = result["content"][0]["text"].as_str().unwrap();
    let reported: Value = serde_json::from_str(text.split_once('\n').unwrap().1).unwrap();
    let names: Vec<&String> = reported["errors"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["colour", "idempotency_key", "order_id", "reason"]);
    let list = client.ask("tools/call", json!({ "name": "get_order", "arguments": [3] }), &Script::default()).await;
    assert_eq!(list.body.unwrap()["error"]["code"], -32602);
}

#[actix_web::test]
async fn refusals_are_results_that_a_model_can_read() {
    let (server, owner) = (server(), owner());
    let client = Client::new(&server, &owner);
    let errors = json!({ "message": "reason is required", "errors": { "reason": ["is required"] } });
    for (status, body, is_retryable) in [
        (422, errors, false),
        (403, json!({ "message": "This action is unauthorized." }), false),
        (404, json!({ "message": "Not found." }), false),
        (409, refused("agent_call_refused", "contact_support"), false),
        (429, json!({ "message": "Too Many Attempts." }), true),
        (500, json!({ "message": "Server Error" }), true),
        (503, json!({ "message": "The service is overloaded." }), true),
    ] {
        let result = client.call("refund_order", refund(), &Script::of([(status, body.clone())])).await;
        assert_eq!((&result["isError"], result.get("structuredContent")), (&json!(true), None), "{status}");
        let text = result["content"][0]["text"].as_str().unwrap();
        let reported: Value = serde_json::from_str(text.split_once('\n').unwrap().1).unwrap();
        assert_eq!(
            (&reported["status"], &reported["body"], &reported["retryable"]),
            (&json!(status), &body, &json!(is_retryable))
        );
        assert_eq!(reported.get("retry_after_seconds"), (status == 503).then_some(&json!(7)));
    }
    for (code, next_action, is_retryable, line) in [
        ("idempotency_in_progress", "poll", true, "The call is in progress"),
        ("agent_call_executing", "poll", true, "The call is in progress"),
        ("idempotency_result_lost", "contact_support", false, "The call was carried out"),
        ("order_refund_pending", "wait", false, "The service refused the call."),
    ] {
        let api = Script::of([(409, refused(code, next_action))]);
        let result = client.call("refund_order", refund(), &api).await;
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(result["isError"] == true && text.starts_with(line), "{code}: {text}");
        let reported: Value = serde_json::from_str(text.split_once('\n').unwrap().1).unwrap();
        assert_eq!(reported["retryable"], is_retryable, "{code}");
    }
    let gone = Script::of([(401, json!({ "message": "Unauthenticated." }))]);
    let reply = client.ask("tools/call", json!({ "name": "get_order", "arguments": { "order_id": 3 } }), &gone).await;
    assert_eq!((reply.status.as_u16(), reply.challenge), (401, Some(Challenge::Token)));
}

#[actix_web::test]
async fn a_missing_permission_is_asked_for() {
    let (server, reader) = (server(), agent(&["view-orders"]));
    let challenge = |missing: &str| Some(Challenge::Permissions(vec![missing.to_owned()]));
    // The API refuses and logs a write. Wrong arguments are no request.
    let forbidden = json!({ "message": "This action is unauthorized." });
    for (arguments, asked) in [(refund(), 1), (json!({}), 0)] {
        let api = Script::of([(403, forbidden.clone())]);
        let params = json!({ "name": "refund_order", "arguments": arguments });
        let reply = Client::new(&server, &reader).ask("tools/call", params, &api).await;
        assert_eq!((reply.status.as_u16(), reply.challenge), (403, challenge("edit-orders")));
        assert_eq!(reply.body.unwrap()["error"]["data"], json!({ "permissions": ["edit-orders"] }));
        assert_eq!(api.seen.borrow().len(), asked);
    }
    let api = Script::default();
    let params = json!({ "name": "get_item", "arguments": { "item_id": 1 } });
    let reply = Client::new(&server, &reader).ask("tools/call", params, &api).await;
    assert_eq!((reply.status.as_u16(), reply.challenge), (403, challenge("view-nomenclatures")));
    assert!(api.seen.borrow().is_empty(), "the API was not asked");
}

#[actix_web::test]
async fn a_preview_names_the_key_of_its_call() {
    let (server, owner) = (server(), owner());
    let client = Client::new(&server, &owner);
    let with = |more: Value| {
        let mut arguments = refund();
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    };
    let preview = json!({ "order": { "id": 3 }, "preview": { "amount": "9.90" } });
    let api = Script::of([
        (200, preview.clone()),
        (200, preview.clone()),
        (200, json!({})),
        (200, json!({})),
        (200, json!({})),
    ]);
    let shown = client.call("refund_order", with(json!({ "dry_run": true })), &api).await["structuredContent"].clone();
    let (key, hash) = (shown["idempotency_key"].as_str().unwrap(), shown["preview_hash"].as_str().unwrap());
    let again = client.call("refund_order", with(json!({ "dry_run": true, "preview_hash": hash })), &api).await;
    assert_eq!(again["structuredContent"], shown);
    let after = with(json!({ "preview_hash": hash }));
    client.call("refund_order", after.clone(), &api).await;
    client.call("refund_order", with(json!({ "preview_hash": hash, "idempotency_key": "own" })), &api).await;
    let plain = client.call("refund_order", refund(), &api).await;
    assert_eq!(plain["structuredContent"], json!({}), "only a preview names a key");
    let sent: Vec<_> = api.seen.take().into_iter().map(|request| request.headers).collect();
    let keys: Vec<Option<&str>> = sent.iter().map(|headers| headers.idempotency_key.as_deref()).collect();
    assert_eq!(keys, [None, None, Some(key), Some("own"), None]);
    assert_eq!((sent[2].preview_hash.as_deref(), sent[4].preview_hash.as_deref()), (Some(hash), None));
}

#[actix_web::test]
async fn a_write_without_a_dry_run_of_its_own_is_rehearsed() {
    let (server, owner) = (server(), owner());
    let client = Client::new(&server, &owner);
    let (task, before) =
        (json!({ "task": { "id": 1, "status_id": 3 } }), json!({ "task": { "id": 1, "status_id": 1 } }));
    let mut api = Script::of([(200, task.clone()), (200, before.clone()), (200, task.clone())]);
    api.etag = Some("\"tasks-1-1\"".to_owned());
    let change = json!({ "task_id": 1, "status_id": 3, "dry_run": true });
    let shown = client.call("update_task", change, &api).await["structuredContent"].clone();
    assert_eq!((&shown["task"], &shown["before"]), (&task["task"], &before));
    assert_eq!(shown["etag"], "\"tasks-1-1\"");
    let hash = &shown["preview_hash"];
    client.call("update_task", json!({ "task_id": 1, "status_id": 3, "preview_hash": hash }), &api).await;
    let seen = api.seen.take();
    let sent: Vec<_> = seen.iter().map(|sent| (&sent.method, sent.path.as_str(), sent.is_rehearsal)).collect();
    let path = "/api/tasks/1";
    assert_eq!(sent, [(&Method::PUT, path, true), (&Method::GET, path, false), (&Method::PUT, path, false)]);
    assert_eq!(seen[0].body, seen[2].body, "the flag is beside the request");
    assert_eq!(seen[2].headers.idempotency_key.as_deref(), shown["idempotency_key"].as_str());

    // The record is not shown, or there is none: the rehearsal counts.
    let api = Script::of([(200, task.clone()), (403, json!({})), (201, task.clone()), (409, json!({}))]);
    let hidden = json!({ "task_id": 1, "status_id": 3, "dry_run": 1 });
    let shown = client.call("update_task", hidden, &api).await["structuredContent"].clone();
    assert_eq!((&shown["task"], shown.get("before")), (&task["task"], None));
    let new = json!({ "title": "A", "dry_run": true });
    assert_eq!(client.call("create_task", new.clone(), &api).await["structuredContent"].get("before"), None);
    let refused = client.call("create_task", new, &api).await;
    assert_eq!((&refused["isError"], api.seen.take().len()), (&json!(true), 4));
    // A flag that is not understood must not carry out the call.
    let unclear = json!({ "title": "A", "dry_run": "yes" });
    assert_eq!(client.call("create_task", unclear, &Script::default()).await["isError"], true);
}

#[actix_web::test]
async fn a_change_may_be_for_one_version_of_its_record() {
    let (server, owner) = (server(), owner());
    let client = Client::new(&server, &owner);
    let task = json!({ "task": { "id": 1 } });
    let mut api = Script::of([(200, task.clone()), (412, json!({}))]);
    api.etag = Some("\"tasks-1-2\"".to_owned());
    let arguments = json!({ "task_id": 1, "status_id": 3, "etag": "\"tasks-1-1\"" });
    let changed = client.call("update_task", arguments.clone(), &api).await["structuredContent"].clone();
    assert_eq!((&changed["etag"], &changed["task"]), (&json!("\"tasks-1-2\""), &task["task"]));
    assert_eq!(client.call("update_task", arguments, &api).await["isError"], true);
    assert_eq!(api.seen.take()[0].headers.if_match.as_deref(), Some("\"tasks-1-1\""));
    let refused = client.call("create_task", json!({ "title": "A", "etag": "x" }), &Script::default()).await;
    assert!(refused["content"][0]["text"].as_str().unwrap().contains("etag"), "a new record has no version");
}

#[actix_web::test]
async fn a_call_that_waits_for_approval_shows_the_page() {
    let (server, owner) = (server(), owner());
    let url = format!("https://shop.example/console/agent-actions/{ID}");
    let mut client = Client::new(&server, &owner);
    let result = client.call("refund_order", refund(), &Script::of([(202, waiting("proposed"))])).await;
    assert_eq!((&result["resultType"], &result["isError"]), (&json!("complete"), &json!(false)));
    let pending = &result["structuredContent"]["pending_approval"];
    assert_eq!((&pending["id"], &pending["state"], &pending["url"]), (&json!(ID), &json!("proposed"), &json!(url)));

    client.capabilities = json!({ "elicitation": { "url": {} } });
    let result = client.call("refund_order", refund(), &Script::of([(202, waiting("proposed"))])).await;
    assert_eq!((&result["resultType"], &result["requestState"]), (&json!("input_required"), &json!(ID)));
    let asked = &result["inputRequests"]["approval"];
    assert_eq!((&asked["method"], &asked["params"]["mode"]), (&json!("elicitation/create"), &json!("url")));
    assert_eq!(asked["params"]["url"], url);

    let again = json!({
        "name": "refund_order", "arguments": refund(),
        "requestState": ID, "inputResponses": { "approval": { "action": "accept" } },
    });
    let order = json!({ "order": { "id": 3 } });
    // Not decided, approved, refused.
    let api = Script::of([(200, waiting("proposed")), (202, waiting("proposed"))]);
    let result = client.result("tools/call", again.clone(), &api).await;
    assert_eq!(result["structuredContent"]["pending_approval"]["state"], "proposed");
    let api = Script::of([(200, waiting("approved")), (200, order.clone())]);
    assert_eq!(client.result("tools/call", again.clone(), &api).await["structuredContent"], order);
    let paths: Vec<String> = api.seen.take().into_iter().map(|request| request.path).collect();
    assert_eq!(paths, [format!("/api/agent-actions/{ID}"), "/api/orders/3/request-refund".to_owned()]);
    for state in ["refused", "expired"] {
        let result = client.result("tools/call", again.clone(), &Script::of([(200, waiting(state))])).await;
        assert_eq!(result["isError"], true, "{state}");
        assert!(result["content"][0]["text"].as_str().unwrap().contains(state));
    }
    let long = Script::of([(200, waiting("reported")), (200, waiting("reported"))]);
    let result = client.result("tools/call", again.clone(), &long).await;
    assert_eq!(result["structuredContent"]["pending_approval"]["state"], "reported");
    assert!(result["content"][0]["text"].as_str().unwrap().starts_with("The call was carried out"));
    // A state that is no id leads nowhere else.
    let mut unexpected = again;
    unexpected["requestState"] = json!("../orders/1");
    let api = Script::of([(200, order)]);
    client.result("tools/call", unexpected, &api).await;
    assert_eq!(api.seen.take()[0].path, "/api/orders/3/request-refund");
}

#[actix_web::test]
async fn another_202_is_a_result() {
    let (server, owner) = (server(), owner());
    let api = Script::of([(202, json!({ "job": { "id": 1 } }))]);
    let result = Client::new(&server, &owner).call("import_stock", json!({ "csv": "a" }), &api).await;
    assert_eq!(result["structuredContent"]["job"]["id"], 1);
}
