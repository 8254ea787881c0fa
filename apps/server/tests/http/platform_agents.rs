//! Agents and their tokens.

use chrono::{DateTime, TimeDelta, Utc};
use kontor_adapter_diesel::database_tests;
use kontor_kernel::Clock as _;
use reqwest::Method;
use serde_json::{Value, json};

use crate::project_fixture::ProjectFixture;
use crate::support::send;

impl ProjectFixture {
    async fn agent(&self, name: &str, permissions: &[&str]) -> String {
        let id = self.create("/api/agents", json!({ "name": name, "permissions": permissions })).await;
        format!("/api/agents/{id}")
    }

    /// Returns the bearer of a new token.
    async fn token(&self, agent: &str, more: Value) -> String {
        let mut body = json!({ "name": "Token" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let issued = self.post(&format!("{agent}/tokens"), body).await.expect(201);
        issued["access_token"]["value"].as_str().unwrap().to_owned()
    }

    /// Returns the status that a caller gets for a `GET`.
    async fn status(&self, bearer: &str, path: &str) -> u16 {
        send(self.server.as_staff(bearer, Method::GET, path)).await.status.as_u16()
    }
}

/// Returns the names of the permissions in a record.
fn names(record: &Value) -> Vec<String> {
    let names = record["permissions"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned());
    names.collect()
}

database_tests! {
    async fn an_agent_lives_from_creation_to_deletion(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let body = json!({ "name": " Счетовод ", "description": "Counts\nthe stock", "permissions": [46, "view-orders", "edit-brands"] });
        let known = fixture.get("/api/user").await.expect(200)["user"]["permissions"].clone();
        let by_number = known.as_array().unwrap().iter().find(|one| one["id"] == 46).unwrap()["name"].clone();
        let created = fixture.post("/api/agents", body).await.expect(201)["agent"].clone();
        assert_eq!((created["name"].as_str(), created["description"].as_str()), (Some("Счетовод"), Some("Counts\nthe stock")));
        assert_eq!((created["is_banned"].as_bool(), &created["last_activity_at"]), (Some(false), &Value::Null));
        assert_eq!(created["creator"]["name"], "Anna Kern");
        assert!(names(&created).iter().any(|name| *name == by_number), "{created} has {by_number}");
        assert_eq!(created["permissions"][0].as_object().unwrap().len(), 4);
        let one = format!("/api/agents/{}", created["id"]);
        assert_eq!(fixture.get(&one).await.expect(200), json!({ "agent": created }));
        assert_eq!(fixture.get("/api/agents").await.expect(200), json!({ "agents": [created], "agentsCount": 1 }));

        let table = fixture.get("/api/tables/agents").await.expect(200);
        assert_eq!(table["agents"][0]["name"], json!({ "icon": null, "value": "Счетовод", "link": one }));
        assert_eq!((&table["pagination"]["per_page"], &table["pagination"]["total"]), (&json!(15), &json!(1)));
        assert_eq!(table["columns"][1]["key"], "name");

        let changed = fixture.patch(&one, json!({ "name": "Clerk", "description": null, "permissions": ["view-brands"] })).await;
        let changed = changed.expect(200)["agent"].clone();
        assert_eq!((changed["name"].as_str(), &changed["description"], names(&changed)), (Some("Clerk"), &Value::Null, vec!["view-brands".to_owned()]));
        let paused = fixture.patch(&one, json!({ "is_banned": true })).await.expect(200)["agent"].clone();
        assert_eq!((paused["is_banned"].as_bool(), &paused["name"]), (Some(true), &changed["name"]));

        assert!(fixture.delete(&one).await.expect(200)["message"].is_string());
        assert_eq!(fixture.get("/api/agents").await.expect(200), json!({ "agents": [], "agentsCount": 0 }));
        for (method, path) in [(Method::GET, one.clone()), (Method::DELETE, one.clone()), (Method::GET, format!("{one}/tokens"))] {
            send(fixture.server.as_staff(&fixture.owner, method, &path)).await.expect(404);
        }
    }

    async fn a_token_opens_what_the_agent_may_do_until_it_ends(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let agent = fixture.agent("Bot", &["view-branches", "view-brands"]).await;
        let issued = fixture.post(&format!("{agent}/tokens"), json!({ "name": "Night run" })).await.expect(201);
        let bearer = issued["access_token"]["value"].as_str().unwrap().to_owned();
        let token = issued["token"].clone();
        assert_eq!((&token["name"], &token["abilities"], &token["last_used_at"]), (&json!("Night run"), &Value::Null, &Value::Null));
        assert_eq!(bearer.split('|').next().unwrap(), token["id"].to_string());
        let ends: DateTime<Utc> = token["expires_at"].as_str().unwrap().parse().unwrap();
        let left = ends - fixture.server.clock.now();
        assert!(left > TimeDelta::days(29) && left <= TimeDelta::days(30), "{left}");
        assert_eq!(issued["access_token"]["expires_at"], token["expires_at"]);

        let user = send(fixture.server.as_staff(&bearer, Method::GET, "/api/user")).await.expect(200)["user"].clone();
        assert_eq!(format!("/api/agents/{}", user["id"]), agent);
        assert_eq!((user["first_name"].as_str(), names(&user)), (Some("Bot"), vec!["view-branches".to_owned(), "view-brands".to_owned()]));
        assert_eq!(fixture.status(&bearer, "/api/branches").await, 200);
        assert_eq!(fixture.status(&bearer, "/api/warehouses/1").await, 403);
        assert_eq!(fixture.status(&bearer, "/api/agents").await, 403);

        let listed = fixture.get(&format!("{agent}/tokens")).await;
        let body = listed.expect(200);
        assert_eq!((body["tokensCount"].as_i64(), &body["tokens"][0]["id"]), (Some(1), &token["id"]));
        assert!(!listed.text.contains(bearer.split('|').nth(1).unwrap()) && !listed.text.contains("fingerprint"));

        let other = fixture.agent("Other", &[]).await;
        fixture.delete(&format!("{other}/tokens/{}", token["id"])).await.expect(404);
        assert_eq!(fixture.status(&bearer, "/api/branches").await, 200);
        fixture.delete(&format!("{agent}/tokens/{}", token["id"])).await.expect(200);
        assert_eq!(fixture.status(&bearer, "/api/branches").await, 401);
        fixture.delete(&format!("{agent}/tokens/{}", token["id"])).await.expect(404);

        let short = fixture.token(&agent, json!({ "expires_in_days": 1 })).await;
        fixture.server.clock.advance(24 * 3600 - 300);
        assert_eq!(fixture.status(&short, "/api/user").await, 200);
        fixture.server.clock.advance(600);
        assert_eq!(fixture.status(&short, "/api/user").await, 401);
    }

    async fn a_token_follows_its_agent_at_once(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let agent = fixture.agent("Bot", &["view-branches", "view-brands"]).await;
        let (whole, part) = (fixture.token(&agent, json!({})).await, fixture.token(&agent, json!({ "abilities": ["view-brands"] })).await);
        let seen = async |bearer: &str| {
            (fixture.status(bearer, "/api/branches").await, fixture.status(bearer, "/api/brands").await)
        };
        assert_eq!((seen(&whole).await, seen(&part).await), ((200, 200), (403, 200)));
        let user = send(fixture.server.as_staff(&part, Method::GET, "/api/user")).await.expect(200)["user"].clone();
        assert_eq!(names(&user), ["view-brands"]);
        fixture.patch(&agent, json!({ "permissions": ["view-branches"] })).await.expect(200);
        assert_eq!((seen(&whole).await, seen(&part).await), ((200, 403), (403, 403)));
        fixture.patch(&agent, json!({ "is_banned": true })).await.expect(200);
        assert_eq!((seen(&whole).await, seen(&part).await), ((401, 401), (401, 401)));
        fixture.patch(&agent, json!({ "is_banned": false })).await.expect(200);
        assert_eq!(seen(&whole).await, (200, 403));
        fixture.delete(&agent).await.expect(200);
        assert_eq!((seen(&whole).await, seen(&part).await), ((401, 401), (401, 401)));
    }

    async fn callers_grant_only_permissions_that_they_hold(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let agents = ["view-agents", "edit-agents", "view-orders"];
        let create = async |permissions: Value| {
            let body = json!({ "name": "Bot", "permissions": permissions });
            fixture.as_one_who_may(&agents, Method::POST, "/api/agents", body).await
        };
        create(json!(["view-orders", "create-agents"])).await.expect(201);
        let denied = create(json!(["view-orders", "edit-orders", "view-brands"])).await.expect(403);
        let message = denied["message"].as_str().unwrap();
        assert!(message.contains("view-brands, edit-orders") && !message.contains("view-orders"), "{message}");

        let strong = fixture.agent("Strong", &["view-orders", "edit-orders"]).await;
        let weak = async |method, path: &str, body| fixture.as_one_who_may(&agents, method, path, body).await;
        for body in [json!({ "is_banned": true }), json!({ "permissions": [] }), json!({})] {
            weak(Method::PATCH, &strong, body).await.expect(403);
        }
        weak(Method::DELETE, &strong, json!({})).await.expect(403);
        let tokens = format!("{strong}/tokens");
        weak(Method::POST, &tokens, json!({ "name": "T" })).await.expect(403);
        weak(Method::POST, &tokens, json!({ "name": "T", "abilities": ["edit-orders"] })).await.expect(403);
        weak(Method::POST, &tokens, json!({ "name": "T", "abilities": ["view-orders"] })).await.expect(201);
        let id = fixture.get(&tokens).await.expect(200)["tokens"][0]["id"].clone();
        weak(Method::DELETE, &format!("{tokens}/{id}"), json!({})).await.expect(200);

        // An agent that may create agents is limited to the current permissions of its token.
        let maker = fixture.agent("Maker", &["edit-agents", "view-orders", "view-brands"]).await;
        let bearer = fixture.token(&maker, json!({ "abilities": ["edit-agents", "view-orders"] })).await;
        let made = async |permissions: Value| {
            let body = json!({ "name": "Child", "permissions": permissions });
            send(fixture.server.as_staff(&bearer, Method::POST, "/api/agents").json(&body)).await.status.as_u16()
        };
        assert_eq!((made(json!(["view-orders"])).await, made(json!(["view-brands"])).await), (201, 403));
        let own = send(fixture.server.as_staff(&bearer, Method::POST, &format!("{maker}/tokens")).json(&json!({ "name": "T" })));
        own.await.expect(403);
        let own = send(fixture.server.as_staff(&bearer, Method::PATCH, &maker).json(&json!({ "name": "X" })));
        own.await.expect(403);
    }

    async fn every_wrong_field_is_named(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let body = json!({ "name": "", "description": 5, "permissions": ["fly", 0, [], "view-orders"], "is_banned": "maybe" });
        let wrong = ["name", "description", "permissions.0", "permissions.1", "permissions.2", "is_banned"];
        fixture.post("/api/agents", body.clone()).await.expect_invalid(&wrong);
        fixture.post("/api/agents", json!({})).await.expect_invalid(&["name"]);
        fixture.post("/api/agents", json!({ "name": "B", "permissions": "view-orders" })).await.expect_invalid(&["permissions"]);
        fixture.post("/api/agents", json!({ "name": "B", "permissions": [46, 9999] })).await.expect_invalid(&["permissions.1"]);
        let agent = fixture.agent("Bot", &["view-orders"]).await;
        fixture.patch(&agent, body).await.expect_invalid(&wrong);
        fixture.patch(&agent, json!({ "name": null, "permissions": null, "is_banned": null })).await
            .expect_invalid(&["name", "permissions", "is_banned"]);

        let tokens = format!("{agent}/tokens");
        let now = fixture.server.clock.now();
        for (body, fields) in [
            (json!({}), vec!["name"]),
            (json!({ "name": "T\n", "abilities": ["fly"], "expires_at": "soon", "expires_in_days": "x" }),
                vec!["abilities.0", "expires_at", "expires_in_days"]),
            (json!({ "name": "T", "abilities": ["view-brands"] }), vec!["abilities"]),
            (json!({ "name": "T", "abilities": [9999] }), vec!["abilities.0"]),
            (json!({ "name": "T", "expires_in_days": 0 }), vec!["expires_in_days"]),
            (json!({ "name": "T", "expires_in_days": 366 }), vec!["expires_in_days"]),
            (json!({ "name": "T", "expires_in_days": i64::MAX }), vec!["expires_in_days"]),
            (json!({ "name": "T", "expires_at": now - TimeDelta::seconds(1) }), vec!["expires_at"]),
            (json!({ "name": "T", "expires_at": now + TimeDelta::days(366) }), vec!["expires_at"]),
            (json!({ "name": "T", "expires_at": now + TimeDelta::days(9), "expires_in_days": 9 }), vec!["expires_in_days"]),
        ] {
            fixture.post(&tokens, body).await.expect_invalid(&fields);
        }
        for query in ["page=0", "per_page=101", "color=red"] {
            for path in ["/api/agents", "/api/tables/agents"] {
                fixture.get(&format!("{path}?{query}")).await.expect_invalid(&[query.split('=').next().unwrap()]);
            }
        }
    }

    async fn agents_of_other_projects_are_refused_and_employees_are_none(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let agent = fixture.agent("Bot", &[]).await;
        for (method, path) in [
            (Method::GET, agent.clone()),
            (Method::PATCH, agent.clone()),
            (Method::DELETE, agent.clone()),
            (Method::GET, format!("{agent}/tokens")),
            (Method::POST, format!("{agent}/tokens")),
            (Method::DELETE, format!("{agent}/tokens/1")),
        ] {
            fixture.as_outsider(method, &path, json!({ "name": "T" })).await.expect(403);
        }
        let me = fixture.get("/api/user").await.expect(200)["user"]["id"].clone();
        for path in [format!("/api/agents/{me}"), "/api/agents/999999".to_owned(), "/api/agents/x".to_owned()] {
            fixture.get(&path).await.expect(404);
            fixture.patch(&path, json!({ "is_banned": true })).await.expect(404);
            fixture.delete(&path).await.expect(404);
        }
        assert_eq!(fixture.get("/api/user").await.expect(200)["user"]["is_banned"], false);
    }

    async fn no_login_works_for_an_agent(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let agent = fixture.agent("Bot", &["view-orders"]).await;
        let bearer = fixture.token(&agent, json!({})).await;
        let user = send(fixture.server.as_staff(&bearer, Method::GET, "/api/user")).await.expect(200);
        let login = user["user"]["login"].as_str().unwrap();
        assert!(login.starts_with("agent-"));
        for password in ["none", "", login] {
            let body = json!({ "login": login, "password": password });
            let answer = send(fixture.server.request(Method::POST, "/api/login").json(&body)).await;
            assert!(matches!(answer.status.as_u16(), 401 | 422), "{}", answer.text);
        }
        // Logout ends the token like any other.
        send(fixture.server.as_staff(&bearer, Method::POST, "/api/user/logout")).await.expect(200);
        assert_eq!(fixture.status(&bearer, "/api/user").await, 401);
    }

    async fn lists_cost_the_same_however_long_they_are(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        fixture.agent("Bot", &["view-orders"]).await;
        let costs = (fixture.cost("/api/agents").await, fixture.cost("/api/tables/agents").await);
        for index in 0..9 {
            fixture.agent(&format!("Bot {index}"), &["view-orders", "view-brands"]).await;
        }
        assert_eq!((fixture.cost("/api/agents").await, fixture.cost("/api/tables/agents").await), costs);
        assert!(costs.0 <= 8, "{costs:?}");
    }
}
