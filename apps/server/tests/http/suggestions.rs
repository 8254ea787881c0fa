//! Suggested addresses, banks and companies, from the sandbox.

use std::sync::Arc;

use kontor::adapters::SystemClock;
use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_sandbox::{Sandbox, SandboxConfig, SandboxHandle};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Project, TestServer, send};

struct Desk {
    server: TestServer,
    sandbox: SandboxHandle,
    project: Project,
    /// An employee without any permission.
    staff: String,
}

impl Desk {
    async fn open(db: TestDatabase) -> Self {
        let sandbox = Sandbox::start(SandboxConfig::new(Arc::new(SystemClock))).await.unwrap();
        let url = format!("{}/suggestions/api/4_1/rs", sandbox.url());
        let server = TestServer::start_with(db, |config| {
            config.suggest_url = url;
            config.suggest_api_key = "sandbox-suggest-key".to_owned().into();
        })
        .await;
        let project = server.project().await;
        let staff = server.staff_with(&project, &[]).await;
        Self { server, sandbox, project, staff }
    }

    async fn staff(&self, what: &str, body: Value) -> Answer {
        let request = self.server.as_staff(&self.staff, Method::POST, &format!("/api/search_{what}"));
        send(request.json(&body)).await
    }

    async fn client(&self, body: Value) -> Answer {
        let path = "/api/counterparty/search_address";
        send(self.server.as_app(&self.project, Method::POST, path).json(&body)).await
    }

    async fn fault(&self, fault: &str) {
        let url = format!("{}/control/faults", self.sandbox.url());
        let body = json!({ "service": "suggest", "fault": fault });
        send(self.server.http.post(url).json(&body)).await.expect(200);
    }
}

database_tests! {
    async fn addresses_banks_and_companies_are_suggested(db: TestDatabase) {
        let desk = Desk::open(db).await;
        let found = desk.client(json!({ "query": "москва тверская 7" })).await.expect(200);
        assert_eq!(found["addressesCount"], 1);
        let address = &found["addresses"][0];
        assert_eq!((&address["value"], &address["flat"]), (&json!("г Москва, ул Тверская, д 7"), &json!(null)));
        assert_eq!(desk.staff("address", json!({ "query": "москва тверская 7" })).await.expect(200), found);
        let none = desk.client(json!({ "query": "no such street" })).await.expect(200);
        assert_eq!(none, json!({ "addresses": [], "addressesCount": 0 }));
        let banks = desk.staff("bank", json!({ "query": "044525225" })).await.expect(200);
        assert_eq!((&banks["banksCount"], &banks["banks"][0]["is_active"]), (&json!(1), &json!(true)));
        let companies = desk.staff("company", json!({ "query": "ромашка" })).await.expect(200);
        assert_eq!(companies["companiesCount"], 2);
        assert_eq!(desk.staff("company", json!({ "query": "ромашка", "field": "name" })).await.expect(200), companies);
        let one = desk.staff("company", json!({ "query": "1027700000017", "field": "ogrn" })).await.expect(200);
        assert_eq!((&one["companiesCount"], &one["companies"][0]["inn"]), (&json!(1), &json!("7701234567")));
        let other = desk.staff("company", json!({ "query": "1027700000017", "field": "inn" })).await.expect(200);
        assert_eq!(other["companiesCount"], 0);
    }

    async fn every_wrong_field_is_named(db: TestDatabase) {
        let desk = Desk::open(db).await;
        let (most, more) = ("я".repeat(300), "я".repeat(301));
        for wrong in [json!({}), json!({ "query": "" }), json!({ "query": " " }), json!({ "query": more }), json!({ "query": 5 }), json!({ "query": "a\nb" })] {
            desk.client(wrong.clone()).await.expect_invalid(&["query"]);
            desk.staff("address", wrong.clone()).await.expect_invalid(&["query"]);
            desk.staff("bank", wrong.clone()).await.expect_invalid(&["query"]);
            desk.staff("company", wrong).await.expect_invalid(&["query"]);
        }
        desk.client(json!({ "query": most })).await.expect(200);
        desk.staff("company", json!({ "field": "phone" })).await.expect_invalid(&["query", "field"]);
        desk.staff("company", json!({ "query": "ООО", "field": "inn" })).await.expect_invalid(&["query"]);
    }

    async fn a_provider_in_trouble_is_named_and_nothing_of_it_is_told(db: TestDatabase) {
        let desk = Desk::open(db).await;
        for fault in ["http_500", "drop", "refuse"] {
            desk.fault(fault).await;
            let answer = desk.client(json!({ "query": "москва" })).await;
            let body = answer.expect(503);
            assert_eq!((&body["message"], &body["error"]["next_action"]), (&json!("suggestions_unavailable"), &json!("wait")));
            assert_eq!(answer.headers["retry-after"], "5");
            assert!(!answer.text.contains("127.0.0.1") && !answer.text.contains("sandbox-suggest-key"));
            desk.client(json!({ "query": "москва" })).await.expect(200);
        }
    }

    async fn without_an_account_there_are_none(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let project = server.project().await;
        let path = "/api/counterparty/search_address";
        let body = send(server.as_app(&project, Method::POST, path).json(&json!({ "query": "a" }))).await.expect(503);
        assert_eq!(body["error"]["code"], "suggestions_not_configured");
        assert_eq!(body["error"]["next_action"], "contact_support");
    }

    async fn typing_is_limited(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let project = server.project().await;
        let staff = server.staff_with(&project, &[]).await;
        for (number, what) in (0..120).zip(["address", "bank", "company"].into_iter().cycle()) {
            let staff_request = server.as_staff(&staff, Method::POST, &format!("/api/search_{what}"));
            send(staff_request.json(&json!({ "query": "a" }))).await.expect(503);
            let client = server.as_app(&project, Method::POST, "/api/counterparty/search_address");
            let answer = send(client.json(&json!({ "query": "a" }))).await;
            assert_eq!(answer.headers["x-ratelimit-remaining"], (119 - number).to_string().as_str());
        }
        let staff_request = server.as_staff(&staff, Method::POST, "/api/search_bank");
        send(staff_request.json(&json!({ "query": "a" }))).await.expect(429);
        let client = server.as_app(&project, Method::POST, "/api/counterparty/search_address");
        send(client.json(&json!({ "query": "a" }))).await.expect(429);
    }
}
