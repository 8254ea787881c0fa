//! Agent access requests: a program without credentials becomes an agent.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::project_fixture::ProjectFixture;
use crate::support::{Answer, send};

const REQUESTS: &str = "/api/agent-access-requests";

/// An access request as the requester knows it.
struct Asked {
    path: String,
    secret: String,
}

impl ProjectFixture {
    async fn ask_with(&self, body: Value) -> Answer {
        send(self.server.request(Method::POST, REQUESTS).json(&body)).await
    }

    async fn ask(&self, permissions: &[&str]) -> Asked {
        let body = json!({ "name": "Bot", "reason": "To count the stock", "permissions": permissions });
        let asked = self.ask_with(body).await.expect(201);
        let text = |key: &str| asked[key].as_str().unwrap().to_owned();
        Asked { path: format!("{REQUESTS}/{}", text("publicId")), secret: text("secret") }
    }

    /// Calls a step of the requester.
    async fn step(&self, asked: &Asked, step: &str) -> Answer {
        let path = format!("{}/{step}", asked.path);
        send(self.server.request(Method::POST, &path).json(&json!({ "secret": asked.secret }))).await
    }

    async fn state(&self, asked: &Asked) -> Value {
        self.step(asked, "status").await.expect(200)
    }
}

/// Returns the code of a structured refusal.
fn code(answer: &Answer) -> String {
    let body = answer.expect(409);
    assert_eq!(body["message"], body["error"]["code"]);
    body["error"]["code"].as_str().unwrap().to_owned()
}

database_tests! {
    async fn a_program_asks_an_employee_agrees_the_program_works(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let asked = fixture.ask(&["view-branches", "view-brands"]).await;
        assert_eq!(asked.secret.len(), 48);
        let stored = "SELECT COUNT(*) AS id FROM agent_access_requests WHERE secret_fingerprint = ".to_owned();
        assert_eq!(fixture.server.insert(format!("{stored}'{}'", crate::support::sha256(&asked.secret))).await, 1);
        let state = fixture.state(&asked).await;
        assert_eq!((state["status"].as_str(), state["next_poll_in_seconds"].as_i64()), (Some("pending"), Some(5)));
        assert_eq!(code(&fixture.step(&asked, "consume").await), "agent_access_pending");

        let shown = fixture.get(&format!("{}/review", asked.path)).await.expect(200)["agentAccessRequest"].clone();
        assert_eq!(format!("{REQUESTS}/{}", shown["publicId"].as_str().unwrap()), asked.path);
        assert_eq!((shown["name"].as_str(), shown["reason"].as_str()), (Some("Bot"), Some("To count the stock")));
        assert_eq!((&shown["permissions"], shown["status"].as_str()), (&json!(["view-branches", "view-brands"]), Some("pending")));

        let approved = fixture.post(&format!("{}/approve", asked.path), json!({ "permissions": ["view-branches"], "name": "Counter" })).await.expect(200);
        assert_eq!((approved["agentAccessRequest"]["status"].as_str(), approved["agent"]["name"].as_str()), (Some("approved"), Some("Counter")));
        let state = fixture.state(&asked).await;
        assert_eq!((state["status"].as_str(), &state["permissions"], &state["next_poll_in_seconds"]), (Some("approved"), &json!(["view-branches"]), &Value::Null));

        let fetched = fixture.step(&asked, "consume").await.expect(200);
        assert_eq!(fetched["agent"], approved["agent"]);
        let bearer = fetched["access_token"]["value"].as_str().unwrap();
        let user = send(fixture.server.as_staff(bearer, Method::GET, "/api/user")).await.expect(200)["user"].clone();
        assert_eq!((&user["id"], user["permissions"].as_array().unwrap().len()), (&fetched["agent"]["id"], 1));
        send(fixture.server.as_staff(bearer, Method::GET, "/api/branches")).await.expect(200);
        send(fixture.server.as_staff(bearer, Method::GET, "/api/brands")).await.expect(403);
        assert_eq!(code(&fixture.step(&asked, "consume").await), "agent_access_consumed");
        assert_eq!(fixture.state(&asked).await["status"], "consumed");
        let agents = fixture.get("/api/agents").await.expect(200);
        assert_eq!((agents["agentsCount"].as_i64(), agents["agents"][0]["description"].as_str()), (Some(1), Some("To count the stock")));
    }

    async fn a_caller_without_the_secret_learns_nothing(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let asked = fixture.ask(&["view-orders"]).await;
        fixture.post(&format!("{}/approve", asked.path), json!({})).await.expect(200);
        let nowhere = format!("{REQUESTS}/00000000-0000-4000-8000-000000000000");
        let wrong = [
            Asked { secret: "wrong".to_owned(), path: asked.path.clone() },
            Asked { secret: asked.secret.to_lowercase(), path: asked.path.clone() },
            Asked { secret: asked.secret.clone(), path: nowhere },
            Asked { secret: asked.secret.clone(), path: format!("{REQUESTS}/1") },
        ];
        for step in ["status", "consume"] {
            for wrong in &wrong {
                assert_eq!(fixture.step(wrong, step).await.expect(404), json!({ "message": "Not found." }));
            }
            let path = format!("{}/{step}", asked.path);
            send(fixture.server.request(Method::POST, &path).json(&json!({}))).await.expect_invalid(&["secret"]);
            send(fixture.server.request(Method::POST, &path).json(&json!({ "secret": [1] }))).await.expect_invalid(&["secret"]);
            send(fixture.server.request(Method::GET, &path)).await.expect(405);
        }
        fixture.step(&asked, "consume").await.expect(200);
    }

    async fn one_request_gives_one_token(db: TestDatabase) {
        let fixture = std::sync::Arc::new(ProjectFixture::open(db).await);
        let asked = std::sync::Arc::new(fixture.ask(&["view-orders"]).await);
        fixture.post(&format!("{}/approve", asked.path), json!({})).await.expect(200);
        // As many as the limit allows at once.
        let calls: Vec<_> = (0..30).map(|_| {
            let (fixture, asked) = (fixture.clone(), asked.clone());
            tokio::spawn(async move { fixture.step(&asked, "consume").await })
        }).collect();
        let mut won = 0;
        for call in calls {
            let answer = call.await.unwrap();
            if answer.status == 200 { won += 1 } else { assert_eq!(code(&answer), "agent_access_consumed") }
        }
        assert_eq!(won, 1);
        let agents = "SELECT COUNT(*) AS id FROM access_tokens WHERE name = 'Bot'";
        assert_eq!(fixture.server.insert(agents.to_owned()).await, 1);
    }

    async fn a_full_agent_gets_no_token(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let asked = fixture.ask(&["view-orders"]).await;
        let approved = fixture.post(&format!("{}/approve", asked.path), json!({})).await.expect(200);
        let tokens = format!("/api/agents/{}/tokens", approved["agent"]["id"]);
        for _ in 0..50 {
            fixture.post(&tokens, json!({ "name": "Token" })).await.expect(201);
        }
        let refused = fixture.step(&asked, "consume").await.expect(422);
        assert_eq!(refused["errors"]["agent"], json!(["has reached the maximum number of tokens"]));
        assert_eq!(fixture.state(&asked).await["status"], "approved");
    }

    async fn an_employee_declines(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let asked = fixture.ask(&["view-orders"]).await;
        let declined = fixture.post(&format!("{}/decline", asked.path), json!({ "reason": "Not now" })).await.expect(200);
        assert_eq!(declined["agentAccessRequest"]["status"], "declined");
        let state = fixture.state(&asked).await;
        assert_eq!((state["status"].as_str(), state["decline_reason"].as_str()), (Some("declined"), Some("Not now")));
        assert_eq!(code(&fixture.step(&asked, "consume").await), "agent_access_declined");
        for step in ["approve", "decline", "review"] {
            assert_eq!(code(&fixture.post(&format!("{}/{step}", asked.path), json!({})).await), "agent_access_declined");
        }
        assert_eq!(fixture.get("/api/agents").await.expect(200)["agentsCount"], 0);
        let other = fixture.ask(&["view-orders"]).await;
        let approve = format!("{}/approve", other.path);
        fixture.post(&approve, json!({})).await.expect(200);
        assert_eq!(code(&fixture.post(&approve, json!({})).await), "agent_access_approved");
    }

    async fn a_request_lives_thirty_minutes(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let (pending, approved) = (fixture.ask(&["view-orders"]).await, fixture.ask(&["view-orders"]).await);
        fixture.post(&format!("{}/approve", approved.path), json!({})).await.expect(200);
        fixture.server.clock.advance(30 * 60 + 1);
        for asked in [&pending, &approved] {
            assert_eq!(fixture.state(asked).await["status"], "expired");
            assert_eq!(code(&fixture.step(asked, "consume").await), "agent_access_expired");
            assert_eq!(code(&fixture.post(&format!("{}/approve", asked.path), json!({})).await), "agent_access_expired");
        }
        assert_eq!(fixture.server.insert("SELECT COUNT(*) AS id FROM access_tokens WHERE name = 'Bot'".to_owned()).await, 0);
    }

    async fn an_employee_grants_only_requested_and_held_permissions(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let asked = fixture.ask(&["view-orders", "edit-orders"]).await;
        let approve = format!("{}/approve", asked.path);
        let employee = ["view-agents", "create-agents", "view-orders"];
        let as_clerk = async |step: &str, body: Value| {
            fixture.as_one_who_may(&employee, Method::POST, &format!("{}/{step}", asked.path), body).await
        };
        let denied = as_clerk("approve", json!({})).await.expect(403);
        assert!(denied["message"].as_str().unwrap().contains("edit-orders"));
        fixture.post(&approve, json!({ "permissions": ["view-orders", "view-brands"] })).await.expect_invalid(&["permissions"]);
        fixture.post(&approve, json!({ "permissions": [], "name": "" })).await.expect_invalid(&["permissions", "name"]);
        fixture.post(&approve, json!({ "permissions": ["fly", 5] })).await.expect_invalid(&["permissions.0", "permissions.1"]);
        for (permissions, step, method) in [
            (["view-orders", "create-agents"], "review", Method::GET),
            (["view-orders", "view-agents"], "review", Method::POST),
            (["view-orders", "view-agents"], "approve", Method::POST),
            (["view-orders", "view-agents"], "decline", Method::POST),
        ] {
            fixture.as_one_who_may(&permissions, method, &format!("{}/{step}", asked.path), json!({})).await.expect(403);
        }
        let narrowed = as_clerk("review", json!({ "permissions": ["view-orders"] })).await.expect(200)["agentAccessRequest"].clone();
        assert_eq!((&narrowed["permissions"], &narrowed["requested_permissions"]), (&json!(["view-orders"]), &json!(["view-orders", "edit-orders"])));
        assert_eq!(fixture.state(&asked).await["permissions"], json!(["view-orders"]));
        fixture.post(&approve, json!({ "permissions": ["edit-orders"] })).await.expect_invalid(&["permissions"]);
        let approved = as_clerk("approve", json!({})).await.expect(200);
        assert_eq!(approved["agent"]["permissions"].as_array().unwrap().len(), 1);
    }

    async fn a_request_belongs_to_the_project_that_dealt_with_it_first(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let asked = fixture.ask(&["view-orders"]).await;
        let review = format!("{}/review", asked.path);
        fixture.as_outsider(Method::GET, &review, json!({})).await.expect(200);
        fixture.post(&review, json!({})).await.expect(200);
        fixture.as_outsider(Method::GET, &review, json!({})).await.expect(404);
        for step in ["review", "approve", "decline"] {
            fixture.as_outsider(Method::POST, &format!("{}/{step}", asked.path), json!({})).await.expect(404);
            send(fixture.server.request(Method::POST, &format!("{}/{step}", asked.path)).json(&json!({}))).await.expect(401);
        }
        send(fixture.server.request(Method::GET, &review)).await.expect(401);
        assert_eq!(fixture.state(&asked).await["status"], "pending");
    }

    async fn handled_requests_are_listed_newest_first(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let mut asked = Vec::new();
        for _ in 0..4 {
            asked.push(fixture.ask(&["view-orders"]).await);
        }
        for (asked, step) in asked.iter().zip(["approve", "decline", "review"]) {
            fixture.post(&format!("{}/{step}", asked.path), json!({})).await.expect(200);
        }
        let statuses = async |query: &str| -> Vec<String> {
            let listed = fixture.get(&format!("{REQUESTS}{query}")).await.expect(200);
            assert_eq!(listed["agentAccessRequestsCount"], 3);
            let rows = listed["agentAccessRequests"].as_array().unwrap().iter();
            rows.map(|row| row["status"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(statuses("").await, ["pending", "declined", "approved"]);
        assert_eq!(statuses("?per_page=2&page=2").await, ["approved"]);
        fixture.server.clock.advance(30 * 60 + 1);
        assert_eq!(statuses("").await, ["expired", "declined", "expired"]);
        fixture.get(&format!("{REQUESTS}?page=0&status=open")).await.expect_invalid(&["page", "status"]);
        let elsewhere = fixture.as_outsider(Method::GET, REQUESTS, json!({})).await.expect(200);
        assert_eq!(elsewhere["agentAccessRequests"], json!([]));
        fixture.as_one_who_may(&["create-agents"], Method::GET, REQUESTS, json!({})).await.expect(403);
    }

    async fn asking_is_limited_and_checked(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let long = "x".repeat(1001);
        fixture.ask_with(json!({})).await.expect_invalid(&["name", "reason", "permissions"]);
        fixture.ask_with(json!({ "name": [], "reason": long, "permissions": ["fly", "view-orders"] })).await
            .expect_invalid(&["name", "reason", "permissions.0"]);
        fixture.ask_with(json!({ "name": "a\u{0}b", "reason": " ", "permissions": [] })).await
            .expect_invalid(&["name", "reason", "permissions"]);
        let mut asked = Vec::new();
        for _ in 0..5 {
            asked.push(fixture.ask(&["view-orders"]).await);
        }
        let body = json!({ "name": "Bot", "reason": "r", "permissions": ["view-orders"] });
        let refused = fixture.ask_with(body.clone()).await;
        refused.expect(429);
        assert!(refused.headers.contains_key("retry-after"));
        for _ in 0..3 {
            fixture.server.clock.advance(61);
            for _ in 0..5 {
                fixture.ask_with(body.clone()).await.expect(201);
            }
        }
        fixture.server.clock.advance(61);
        fixture.ask_with(body).await.expect(429);

        for _ in 0..30 {
            fixture.step(&asked[0], "status").await.expect(200);
        }
        fixture.step(&asked[0], "status").await.expect(429);
        assert_eq!(code(&fixture.step(&asked[0], "consume").await), "agent_access_pending");
        fixture.step(&asked[1], "status").await.expect(200);
    }

    async fn the_page_carries_nothing_of_the_request(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let attack = "<script>alert(document.domain)</script>";
        let body = json!({ "name": attack, "reason": "\"><img src=x onerror=alert(1)>", "permissions": ["view-orders"] });
        let asked = fixture.ask_with(body).await.expect(201);
        let url = asked["review_url"].as_str().unwrap();
        let path = url.strip_prefix("http://127.0.0.1:8080").unwrap();
        assert_eq!(path, format!("/agent-access/{}", asked["publicId"].as_str().unwrap()));
        let browser = async |path: &str| send(fixture.server.http.get(format!("{}{path}", fixture.server.url)).header("Accept", "text/html,*/*;q=0.8")).await;
        let page = browser(path).await;
        assert_eq!(page.status, 200);
        assert!(!page.text.contains("alert(") && !page.text.contains("onerror") && !page.text.contains("view-orders"));
        assert!(!page.text.contains(asked["publicId"].as_str().unwrap()) && !page.text.contains("{{"));
        assert_eq!(page.headers["content-type"], "text/html; charset=utf-8");
        let policy = page.headers["content-security-policy"].to_str().unwrap().to_owned();
        for part in ["default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"] {
            assert!(policy.contains(part), "{policy}");
        }
        assert!(!policy.contains("unsafe"));
        let nonce = policy.split("script-src 'nonce-").nth(1).unwrap().split('\'').next().unwrap();
        assert_eq!(page.text.matches(&format!("nonce=\"{nonce}\"")).count(), 2);
        assert_eq!((&page.headers["x-frame-options"], &page.headers["cache-control"]), (&"DENY".parse().unwrap(), &"no-store".parse().unwrap()));
        let again = browser(path).await;
        assert_ne!(again.headers["content-security-policy"].to_str().unwrap(), policy);
        assert_eq!(browser("/agent-access/nothing").await.status, 404);
        assert_eq!(browser("/agent-access/00000000-0000-4000-8000-000000000000").await.status, 200);

        // Reviewers get the texts as JSON, exactly as they were sent.
        let shown = fixture.get(&format!("{REQUESTS}/{}/review", asked["publicId"].as_str().unwrap())).await;
        assert_eq!(shown.expect(200)["agentAccessRequest"]["name"], attack);
        assert_eq!(shown.headers["content-type"], "application/json");
    }
}
