//! Agents at work through `POST /mcp`.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::project_fixture::ProjectFixture;
use crate::support::{Answer, send};

const META: &str = "io.modelcontextprotocol/";

/// Sends a request in the version without sessions.
async fn ask(fixture: &ProjectFixture, bearer: &str, method: &str, mut params: Value) -> Answer {
    params["_meta"] =
        json!({ format!("{META}protocolVersion"): "2026-07-28", format!("{META}clientCapabilities"): {} });
    let name = params["name"].as_str().or_else(|| params["uri"].as_str()).unwrap_or_default().to_owned();
    let body = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
    let request = fixture.server.as_staff(bearer, Method::POST, "/mcp").json(&body);
    let request = request.header("MCP-Protocol-Version", "2026-07-28").header("Mcp-Method", method);
    send(request.header("Mcp-Name", name)).await
}

async fn result(fixture: &ProjectFixture, bearer: &str, method: &str, params: Value) -> Value {
    let answer = ask(fixture, bearer, method, params).await.expect(200);
    assert!(answer["result"].is_object(), "{answer}");
    answer["result"].clone()
}

async fn call(fixture: &ProjectFixture, bearer: &str, tool: &str, arguments: Value) -> Value {
    result(fixture, bearer, "tools/call", json!({ "name": tool, "arguments": arguments })).await
}

/// Returns the id of a new agent and its token.
async fn new_agent(fixture: &ProjectFixture, permissions: &[&str]) -> (i64, String) {
    let id = fixture.create("/api/agents", json!({ "name": "Clerk", "permissions": permissions })).await;
    let issued = fixture.post(&format!("/api/agents/{id}/tokens"), json!({ "name": "Token" })).await.expect(201);
    (id, issued["access_token"]["value"].as_str().unwrap().to_owned())
}

fn names(listed: &Value, of: &str) -> Vec<String> {
    listed[of].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
}

database_tests! {
    async fn a_client_without_a_token_finds_the_way(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let metadata = "http://127.0.0.1:8080/.well-known/oauth-protected-resource/mcp";
        for bearer in ["", "1|wrong", "no token"] {
            let refused = ask(&fixture, bearer, "server/discover", json!({})).await;
            assert_eq!(refused.status, 401, "{bearer}");
            assert_eq!(refused.headers["www-authenticate"], format!("Bearer resource_metadata=\"{metadata}\""));
        }
        let (_, customer) = fixture.server.customer(&fixture.project).await;
        assert_eq!(ask(&fixture, &customer, "tools/list", json!({})).await.status, 401);
        for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"] {
            let document = send(fixture.server.request(Method::GET, path)).await.expect(200);
            assert_eq!(document["resource"], "http://127.0.0.1:8080/mcp");
            let scopes = document["scopes_supported"].as_array().unwrap();
            assert!(["view-orders", "view-dictionaries"].iter().all(|scope| scopes.contains(&json!(scope))) && !scopes.contains(&json!("edit-agents")));
            assert!(document.get("authorization_servers").is_none());
        }
        for method in [Method::GET, Method::DELETE, Method::PUT] {
            let refused = send(fixture.server.as_staff(&fixture.owner, method, "/mcp")).await;
            assert_eq!((refused.status.as_u16(), &refused.headers["allow"]), (405, &"POST".parse().unwrap()));
        }
        let foreign = fixture.server.as_staff(&fixture.owner, Method::POST, "/mcp").header("Origin", "https://evil.example");
        send(foreign.json(&json!({}))).await.expect(403);
        for path in ["/llms.txt", "/guides/agents.md", "/skills/kontor/SKILL.md"] {
            let page = send(fixture.server.request(Method::GET, path)).await;
            assert_eq!((page.status.as_u16(), &page.headers["content-type"]), (200, &"text/markdown; charset=utf-8".parse().unwrap()));
        }
    }

    async fn both_versions_are_spoken(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let found = result(&fixture, &fixture.owner, "server/discover", json!({})).await;
        assert_eq!(found["supportedVersions"], json!(["2026-07-28", "2025-11-25"]));
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" },
        } });
        let post = || fixture.server.as_staff(&fixture.owner, Method::POST, "/mcp");
        let started = send(post().json(&body)).await;
        assert!(!started.headers.contains_key("mcp-session-id"));
        assert_eq!(started.expect(200)["result"]["protocolVersion"], "2025-11-25");
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let done = send(post().header("MCP-Protocol-Version", "2025-11-25").json(&initialized)).await;
        assert_eq!((done.status.as_u16(), done.text.as_str()), (202, ""));
        let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
        let listed = send(post().header("MCP-Protocol-Version", "2025-11-25").json(&list)).await.expect(200);
        let modern = result(&fixture, &fixture.owner, "tools/list", json!({})).await;
        assert_eq!(names(&listed["result"], "tools"), names(&modern, "tools"));
        let large = "x".repeat((1 << 20) + 1);
        send(post().body(large)).await.expect(413);
        send(post().header("Content-Encoding", "gzip").body("x")).await.expect(415);
        send(post().body("{")).await.expect(400);
    }

    async fn an_agent_sees_and_uses_what_its_token_allows(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let goods = fixture.goods("Assam tea").await;
        let (id, bearer) = new_agent(&fixture, &["view-nomenclatures", "edit-tasks"]).await;
        let listed = names(&result(&fixture, &bearer, "tools/list", json!({})).await, "tools");
        let mut expected = ["search_items", "list_items", "get_item", "create_task", "update_task", "get_job"];
        expected.sort_unstable();
        let mut sorted = listed.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, expected);

        let shown = call(&fixture, &bearer, "get_item", json!({ "item_id": goods })).await;
        let same = fixture.get(&format!("/api/nomenclatures/{goods}")).await;
        let mut record = same.expect(200);
        record["etag"] = json!(same.headers["etag"].to_str().unwrap());
        assert_eq!((&shown["structuredContent"], &shown["isError"]), (&record, &json!(false)));
        let found = call(&fixture, &bearer, "search_items", json!({ "query": "assam" })).await;
        assert_eq!(found["structuredContent"]["nomenclatures"][0]["id"], goods);

        let refused = ask(&fixture, &bearer, "tools/call", json!({ "name": "find_orders", "arguments": {} })).await;
        assert_eq!(refused.status, 403);
        let challenge = refused.headers["www-authenticate"].to_str().unwrap();
        assert!(challenge.starts_with("Bearer error=\"insufficient_scope\", scope=\"view-orders\", resource_metadata="));
        let forbidden = json!({ "name": "cancel_order", "arguments": { "order_id": 1 } });
        assert_eq!(ask(&fixture, &bearer, "tools/call", forbidden).await.status, 403);
        let logged = fixture.get("/api/agent-actions").await.expect(200);
        let entry = &logged["agentActions"][0];
        assert_eq!((&logged["agentActionsCount"], &entry["status_code"]), (&json!(1), &json!(403)));
        assert_eq!((&entry["operation"], &entry["channel"]), (&json!("DELETE /api/orders/{id}"), &json!("mcp")));
        fixture.patch(&format!("/api/agents/{id}"), json!({ "is_banned": true })).await.expect(200);
        assert_eq!(ask(&fixture, &bearer, "tools/list", json!({})).await.status, 401);
    }

    async fn a_write_is_carried_out_once_per_key(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let (_, bearer) = new_agent(&fixture, &["view-tasks", "edit-tasks"]).await;
        let task = json!({ "title": "Call the supplier", "idempotency_key": "task-1" });
        let first = call(&fixture, &bearer, "create_task", task.clone()).await;
        let again = call(&fixture, &bearer, "create_task", task).await;
        assert_eq!(first["structuredContent"], again["structuredContent"]);
        let stored = fixture.get("/api/tasks").await.expect(200);
        assert_eq!((&stored["tasksCount"], &stored["tasks"][0]["title"]), (&json!(1), &json!("Call the supplier")));

        let (id, tag) = (&first["structuredContent"]["task"]["id"], &first["structuredContent"]["etag"]);
        let rename = |title: &str| json!({ "task_id": id, "title": title, "etag": tag });
        let renamed = call(&fixture, &bearer, "update_task", rename("Call the supplier today")).await;
        assert_ne!(&renamed["structuredContent"]["etag"], tag);
        let stale = call(&fixture, &bearer, "update_task", rename("Call later")).await["content"][0]["text"].to_string();
        assert!(stale.contains("precondition_failed"), "{stale}");
        call(&fixture, &bearer, "update_task", json!({ "task_id": id, "status_id": 3 })).await;
        let done = call(&fixture, &bearer, "find_tasks", json!({ "status_id": [3] })).await;
        assert_eq!(done["structuredContent"]["tasksCount"], 1);
        let wrong = call(&fixture, &bearer, "update_task", json!({ "task_id": id, "status_id": "x", "title": "" })).await;
        assert_eq!((&wrong["isError"], wrong.get("structuredContent")), (&json!(true), None));
        let text = wrong["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("\"status_id\"") && text.contains("\"title\"") && text.contains("422"), "{text}");
        let elsewhere = fixture.create_elsewhere("/api/tasks", json!({ "title": "Theirs" })).await;
        let foreign = call(&fixture, &bearer, "update_task", json!({ "task_id": elsewhere, "title": "Ours" })).await;
        assert!(foreign["content"][0]["text"].as_str().unwrap().contains("403"), "{foreign}");
    }

    async fn every_write_is_previewed_without_effect(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let (goods, warehouse) = (fixture.goods("Tin").await, fixture.warehouse("Main").await);
        let stock = json!({ "nomenclature_id": goods, "warehouse_id": warehouse, "quantity": 2, "price": "4.90" });
        let inventory = fixture.create("/api/inventories", stock).await;
        let task = fixture.create("/api/tasks", json!({ "title": "Call" })).await;
        let page = fixture.create("/api/pages", json!({ "title": "News", "is_active": false })).await;
        let resources = ["tasks", "nomenclatures", "counterparties", "pages", "inventories"];
        let permissions: Vec<String> =
            resources.iter().flat_map(|name| [format!("view-{name}"), format!("edit-{name}")]).collect();
        let (_, bearer) = new_agent(&fixture, &permissions.iter().map(String::as_str).collect::<Vec<_>>()).await;
        let rows = async || {
            let tables = ["histories", "tasks", "nomenclatures", "counterparties", "pages", "stock_movements", "agent_actions", "idempotency_keys"];
            let counts: Vec<String> = tables.iter().map(|table| format!("(SELECT COUNT(*) FROM {table})")).collect();
            fixture.server.insert(format!("SELECT {} AS id", counts.join(" + "))).await
        };
        let before = rows().await;
        for (tool, record, arguments) in [
            ("create_task", "task", json!({ "title": "Ask" })),
            ("update_task", "task", json!({ "task_id": task, "title": "Renamed" })),
            ("create_item", "nomenclature", json!({ "name": "Box", "kind_id": 2 })),
            ("update_item", "nomenclature", json!({ "item_id": goods, "name": "Tin box" })),
            ("create_customer", "counterparty", json!({ "is_company": false, "first_name": "Ivan" })),
            ("create_page", "page", json!({ "title": "About", "is_active": false })),
            ("update_page", "page", json!({ "page_id": page, "title": "Old news" })),
            // It waits for no approval.
            ("correct_stock", "inventory", json!({ "inventory_id": inventory, "quantity": 9, "comment": "Counted" })),
        ] {
            let mut dry = arguments;
            dry["dry_run"] = json!(true);
            let shown = call(&fixture, &bearer, tool, dry).await["structuredContent"].clone();
            assert!(shown[record].is_object() && shown["preview_hash"].is_string(), "{tool}: {shown}");
            assert_eq!(shown["before"][record].is_object(), tool.starts_with("update") || tool.starts_with("correct"), "{tool}");
            assert_eq!(rows().await, before, "{tool}");
        }

        // The call returns the same, and carries it out once.
        let change = |more: Value| {
            let mut change = json!({ "inventory_id": inventory, "quantity": 9, "comment": "Counted" });
            change.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            change
        };
        let holder = fixture.server.staff_with(&fixture.project, &["view-inventories", "edit-inventories"]).await;
        let quantity = async || {
            fixture.get(&format!("/api/inventories/{inventory}")).await.expect(200)["inventory"]["quantity"].clone()
        };
        let preview = call(&fixture, &holder, "correct_stock", change(json!({ "dry_run": true }))).await["structuredContent"].clone();
        let shown = |at: &str| preview.pointer(at).unwrap().clone();
        assert_eq!((shown("/inventory/quantity"), shown("/before/inventory/quantity"), quantity().await), (json!(9), json!(2), json!(2)));
        let carried_out = change(json!({ "preview_hash": preview["preview_hash"], "etag": preview["etag"] }));
        let done = call(&fixture, &holder, "correct_stock", carried_out.clone()).await["structuredContent"].clone();
        let apart_from_times = |record: &Value| {
            let mut fields = record["inventory"].as_object().unwrap().clone();
            fields.retain(|name, _| !name.ends_with("_at"));
            fields
        };
        assert_eq!(apart_from_times(&preview), apart_from_times(&done));
        let again = call(&fixture, &holder, "correct_stock", carried_out).await["structuredContent"].clone();
        assert_eq!((again["inventory"].clone(), quantity().await), (done["inventory"].clone(), json!(9)));

        // Refusals are those of the call.
        let wrong = call(&fixture, &holder, "correct_stock", json!({ "inventory_id": inventory, "quantity": "x", "dry_run": true })).await;
        assert!(wrong["content"][0]["text"].as_str().unwrap().contains("\"quantity\""), "{wrong}");
        let stale = change(json!({ "quantity": 5, "dry_run": true, "etag": preview["etag"] }));
        let stale = call(&fixture, &holder, "correct_stock", stale).await["content"][0]["text"].to_string();
        assert!(stale.contains("precondition_failed"), "{stale}");
    }

    async fn a_list_of_stock_is_checked_and_then_imported(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let goods = fixture.create("/api/nomenclatures", json!({ "name": "Tin", "kind_id": 2, "article": "A-1" })).await;
        let warehouse = fixture.warehouse("Main").await;
        // Without a policy an agent must not: a file cannot wait for approval.
        let bearer = fixture.server.staff_with(&fixture.project, &["view-inventories", "edit-inventories"]).await;
        let quantity = async || {
            let found = call(&fixture, &bearer, "find_stock", json!({ "nomenclature_id": [goods] })).await;
            found["structuredContent"]["inventories"][0]["quantity"].clone()
        };
        let stock = json!({ "nomenclature_id": goods, "warehouse_id": warehouse, "quantity": 2, "price": "4.90" });
        fixture.create("/api/inventories", stock).await;
        let csv = "article,warehouse,quantity,price\nA-1,Main,5,4.90\n";
        let checked = call(&fixture, &bearer, "import_stock", json!({ "csv": csv, "dry_run": true })).await;
        assert_eq!((&checked["structuredContent"]["updated"], quantity().await), (&json!(1), json!(2)));
        let done = call(&fixture, &bearer, "import_stock", json!({ "csv": csv })).await;
        assert_eq!((&done["structuredContent"]["updated"], quantity().await), (&json!(1), json!(5)));
        let wrong = call(&fixture, &bearer, "import_stock", json!({ "csv": "article,warehouse,quantity,price\nB-2,Main,5,4.90\n" })).await;
        assert_eq!((&wrong["isError"], quantity().await), (&json!(true), json!(5)));
        let (_, agent) = new_agent(&fixture, &["view-inventories", "edit-inventories"]).await;
        let refused = call(&fixture, &agent, "import_stock", json!({ "csv": csv })).await;
        assert!(refused["content"][0]["text"].as_str().unwrap().contains("agent_call_forbidden"), "{refused}");
    }

    async fn money_waits_for_an_employee(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let (goods, warehouse) = (fixture.goods("Tin").await, fixture.warehouse("Main").await);
        let stock = json!({ "nomenclature_id": goods, "warehouse_id": warehouse, "quantity": 2, "price": "4.90" });
        let id = fixture.create("/api/inventories", stock).await;
        let quantity = async || {
            fixture.get(&format!("/api/inventories/{id}")).await.expect(200)["inventory"]["quantity"].clone()
        };
        let (_, bearer) = new_agent(&fixture, &["view-inventories", "edit-inventories"]).await;
        let arguments = json!({ "inventory_id": id, "quantity": 9, "comment": "Counted" });
        let asked = call(&fixture, &bearer, "correct_stock", arguments.clone()).await;
        let pending = asked["structuredContent"]["pending_approval"].clone();
        assert_eq!((&pending["state"], quantity().await), (&json!("proposed"), json!(2)));
        let action = format!("/api/agent-actions/{}", pending["id"].as_str().unwrap());
        assert_eq!(fixture.get(&action).await.expect(200)["agentAction"]["channel"], "mcp");
        fixture.post(&format!("{action}/approve"), json!({})).await.expect(200);
        assert_eq!(quantity().await, 9);
        let result = call(&fixture, &bearer, "correct_stock", arguments).await;
        assert_eq!((&result["structuredContent"]["inventory"]["quantity"], quantity().await), (&json!(9), json!(9)));
    }

    async fn messages_are_limited_by_token(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let (_, bearer) = new_agent(&fixture, &["view-tasks"]).await;
        let mut served = 0;
        let refused = loop {
            let answer = ask(&fixture, &bearer, "server/discover", json!({})).await;
            if answer.status != 200 || served > 1_200 {
                break answer;
            }
            served += 1;
        };
        // A new minute may begin meanwhile.
        assert!((600..=1_200).contains(&served), "{served}");
        refused.expect(429);
        assert_eq!(refused.headers["x-ratelimit-limit"], "600");
        ask(&fixture, &fixture.owner, "server/discover", json!({})).await.expect(200);
    }

    async fn dictionaries_are_resources(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let uri = "kontor://dictionaries/order_statuses";
        let read = result(&fixture, &fixture.owner, "resources/read", json!({ "uri": uri })).await;
        let text: Value = serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, fixture.get("/api/order_statuses").await.expect(200));
        let listed = result(&fixture, &fixture.owner, "resources/list", json!({})).await;
        assert_eq!(listed["resources"].as_array().unwrap().len(), 7);
        let prompts = result(&fixture, &fixture.owner, "prompts/list", json!({})).await;
        assert_eq!(prompts["prompts"].as_array().unwrap().len(), 5);
    }
}
