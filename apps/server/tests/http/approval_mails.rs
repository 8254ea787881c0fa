//! Mails to employees about calls of agents that wait for their approval.

use std::time::{Duration, Instant};

use kontor::instance::Roles;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_adapter_diesel::{database_tests, retry_until};
use kontor_kernel::Clock as _;
use reqwest::Method;
use serde_json::{Value, json};

use crate::outside::Outside;
use crate::support::send;

const INBOX: &str = "https://shop.example/console/agent-actions";

/// A project with an owner, and an agent whose writes need approval.
struct Scene {
    outside: Outside,
    owner: String,
    bearer: String,
}

impl Scene {
    async fn open(db: TestDatabase, public_url: Option<&str>) -> Self {
        let outside = Outside::start_as(db, Roles::Both, |config| {
            if let Some(url) = public_url {
                url.clone_into(&mut config.public_url);
            }
        })
        .await;
        let project = outside.server.project().await;
        let owner = outside.server.owner(&project).await;
        // Each of the others lacks a permission.
        let others = [
            ("approver@example.com", &["view-agent-actions", "approve-agent-actions"][..]),
            ("editor@example.com", &["view-agent-actions", "edit-brands"][..]),
        ];
        let mut mailboxes = vec![("boss@example.com", owner.clone())];
        for (mailbox, permissions) in others {
            mailboxes.push((mailbox, outside.server.staff_with(&project, permissions).await));
        }
        for (mailbox, token) in mailboxes {
            let user = send(outside.server.as_staff(&token, Method::GET, "/api/user")).await.expect(200);
            let statement = format!("UPDATE users SET email = '{mailbox}' WHERE id = {}", user["user"]["id"]);
            outside.server.execute(&statement).await;
        }
        let mut scene = Self { outside, owner, bearer: String::new() };
        let agent = json!({ "name": "Bot", "permissions": ["edit-brands"] });
        let agent = scene.ask(Method::POST, "/api/agents", agent, 201).await["agent"]["id"].clone();
        let tokens = format!("/api/agents/{agent}/tokens");
        let issued = scene.ask(Method::POST, &tokens, json!({ "name": "Token" }), 201).await;
        scene.bearer = issued["access_token"]["value"].as_str().unwrap().to_owned();
        let policy = json!({
            "version": 0, "refuses_writes": false, "approvals_per_hour": 60, "retention_days": 90,
            "rules": { "write": "needs_approval", "operations": [] }, "agents": [],
        });
        scene.ask(Method::PUT, "/api/agent-policy", policy, 200).await;
        scene
    }

    async fn ask(&self, method: Method, path: &str, body: Value, status: u16) -> Value {
        send(self.outside.server.as_staff(&self.owner, method, path).json(&body)).await.expect(status)
    }

    /// Proposes a brand, and returns the id of the call.
    async fn propose(&self, name: &str) -> String {
        let sent = self.outside.server.as_staff(&self.bearer, Method::POST, "/api/brands");
        let answer = send(sent.json(&json!({ "name": name }))).await.expect(202);
        answer["agentAction"]["publicId"].as_str().unwrap().to_owned()
    }

    /// Lets time pass until every due mail is sent.
    async fn pass(&self, seconds: i64) {
        self.outside.server.clock.advance(seconds);
        let now = self.outside.server.clock.now().format("%Y-%m-%d %H:%M:%S%.6f");
        let due = format!(
            "SELECT COUNT(*) AS id FROM approval_mails WHERE wanted > 0 AND (next_attempt_at <= '{now}' OR lease_owner IS NOT NULL)"
        );
        let patience = Instant::now() + Duration::from_mins(1);
        while self.outside.server.insert(due.clone()).await > 0 {
            retry_until!(patience, "the worker sends no mail");
        }
    }

    async fn count(&self, mailbox: &str) -> usize {
        self.outside.count(mailbox).await
    }

    async fn newest(&self) -> String {
        self.outside.newest("boss@example.com").await.unwrap()
    }
}

database_tests! {
    async fn who_may_approve_gets_one_mail_with_links(db: TestDatabase) {
        let scene = Scene::open(db, Some("https://shop.example/")).await;
        let (first, second) = (scene.propose("Acme").await, scene.propose("Northwind").await);
        let decided = scene.propose("Other").await;
        scene.ask(Method::POST, &format!("/api/agent-actions/{decided}/refuse"), json!({}), 200).await;
        assert_eq!(scene.count("boss@example.com").await, 0, "they are collected first");
        scene.pass(61).await;
        assert_eq!(scene.count("boss@example.com").await, 1);
        for mailbox in ["approver@example.com", "editor@example.com"] {
            assert_eq!(scene.count(mailbox).await, 0, "{mailbox}");
        }
        let text = scene.newest().await;
        for id in [&first, &second] {
            assert!(text.contains(&format!("{INBOX}/{id}")), "{text}");
        }
        assert!(text.contains("Bot: POST /api/brands"), "{text}");
        for hidden in ["Acme", decided.as_str(), scene.bearer.as_str()] {
            assert!(!text.contains(hidden), "{text}");
        }

        // An agent cannot flood: the next mail comes after the pause.
        for number in 0..10 {
            scene.propose(&format!("Brand {number}")).await;
            scene.pass(10).await;
        }
        assert_eq!(scene.count("boss@example.com").await, 1);
        scene.pass(300).await;
        assert_eq!(scene.count("boss@example.com").await, 2);
    }

    async fn without_a_public_address_the_mail_has_no_link(db: TestDatabase) {
        let scene = Scene::open(db, None).await;
        // The mail server is unavailable at first, and nothing is lost.
        scene.outside.fault("mail", "drop").await;
        scene.propose("Acme").await;
        scene.pass(61).await;
        assert_eq!(scene.count("boss@example.com").await, 0);
        scene.pass(61).await;
        let text = scene.newest().await;
        assert!(text.contains("Agents' calls") && !text.contains("http"), "{text}");

        // Nothing is sent about calls that have expired.
        scene.propose("Other").await;
        scene.pass(31 * 60).await;
        assert_eq!(scene.count("boss@example.com").await, 1);
    }
}
