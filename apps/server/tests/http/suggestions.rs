//! Suggested addresses, banks and companies, from the sandbox.

use std::sync::Arc;

use kontor::adapters::SystemClock;
use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_sandbox::{Sandbox, SandboxConfig, SandboxHandle};
use reqwest::Method;
use serde_json::{Value, json};

use crate::platform_customers::company;
use crate::support::{Answer, Project, TestServer, send};

struct SuggestionFixture {
    server: TestServer,
    sandbox: SandboxHandle,
    project: Project,
    /// An employee without any permission.
    staff: String,
}

impl SuggestionFixture {
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

    async fn accounts(&self) -> Accounts {
        Accounts::of(&self.server, &self.project).await
    }

    async fn fault(&self, fault: &str) {
        let url = format!("{}/control/faults", self.sandbox.url());
        let body = json!({ "service": "suggest", "fault": fault });
        send(self.server.http.post(url).json(&body)).await.expect(200);
    }
}

/// Paths of the accounts of a branch and of a customer.
struct Accounts {
    owner: String,
    paths: [String; 2],
}

impl Accounts {
    async fn of(server: &TestServer, project: &Project) -> Self {
        let owner = server.owner(project).await;
        let customer = server.as_staff(&owner, Method::POST, "/api/counterparties").json(&company("Nord"));
        let customer = send(customer).await.expect(201)["counterparty"]["id"].clone();
        let of = |record: String| format!("/api/{record}/bank_requisites");
        let paths = [of(format!("branches/{}", project.branch_id)), of(format!("counterparties/{customer}"))];
        Self { owner, paths }
    }

    async fn post(&self, server: &TestServer, path: &str, body: Value) -> Answer {
        send(server.as_staff(&self.owner, Method::POST, path).json(&body)).await
    }
}

database_tests! {
    async fn addresses_banks_and_companies_are_suggested(db: TestDatabase) {
        let fixture = SuggestionFixture::open(db).await;
        let found = fixture.client(json!({ "query": "москва тверская 7" })).await.expect(200);
        assert_eq!(found["addressesCount"], 1);
        let address = &found["addresses"][0];
        assert_eq!((&address["value"], &address["flat"]), (&json!("г Москва, ул Тверская, д 7"), &json!(null)));
        assert_eq!(fixture.staff("address", json!({ "query": "москва тверская 7" })).await.expect(200), found);
        let none = fixture.client(json!({ "query": "no such street" })).await.expect(200);
        assert_eq!(none, json!({ "addresses": [], "addressesCount": 0 }));
        let banks = fixture.staff("bank", json!({ "query": "044525225" })).await.expect(200);
        assert_eq!((&banks["banksCount"], &banks["banks"][0]["is_active"]), (&json!(1), &json!(true)));
        let companies = fixture.staff("company", json!({ "query": "ромашка" })).await.expect(200);
        assert_eq!(companies["companiesCount"], 2);
        assert_eq!(fixture.staff("company", json!({ "query": "ромашка", "field": "name" })).await.expect(200), companies);
        let one = fixture.staff("company", json!({ "query": "1027700000017", "field": "ogrn" })).await.expect(200);
        assert_eq!((&one["companiesCount"], &one["companies"][0]["inn"]), (&json!(1), &json!("7701234567")));
        let other = fixture.staff("company", json!({ "query": "1027700000017", "field": "inn" })).await.expect(200);
        assert_eq!(other["companiesCount"], 0);
    }

    async fn every_wrong_field_is_named(db: TestDatabase) {
        let fixture = SuggestionFixture::open(db).await;
        let (most, more) = ("я".repeat(300), "я".repeat(301));
        for wrong in [json!({}), json!({ "query": "" }), json!({ "query": " " }), json!({ "query": more }), json!({ "query": 5 }), json!({ "query": "a\nb" })] {
            fixture.client(wrong.clone()).await.expect_invalid(&["query"]);
            fixture.staff("address", wrong.clone()).await.expect_invalid(&["query"]);
            fixture.staff("bank", wrong.clone()).await.expect_invalid(&["query"]);
            fixture.staff("company", wrong).await.expect_invalid(&["query"]);
        }
        fixture.client(json!({ "query": most })).await.expect(200);
        fixture.staff("company", json!({ "field": "phone" })).await.expect_invalid(&["query", "field"]);
        fixture.staff("company", json!({ "query": "ООО", "field": "inn" })).await.expect_invalid(&["query"]);
    }

    async fn a_failing_provider_is_named_without_details(db: TestDatabase) {
        let fixture = SuggestionFixture::open(db).await;
        for fault in ["http_500", "drop", "refuse"] {
            fixture.fault(fault).await;
            let answer = fixture.client(json!({ "query": "москва" })).await;
            let body = answer.expect(503);
            assert_eq!((&body["message"], &body["error"]["next_action"]), (&json!("suggestions_unavailable"), &json!("wait")));
            assert_eq!(answer.headers["retry-after"], "5");
            assert!(!answer.text.contains("127.0.0.1") && !answer.text.contains("sandbox-suggest-key"));
            fixture.client(json!({ "query": "москва" })).await.expect(200);
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

    async fn a_new_account_takes_over_what_is_left_out_about_its_bank(db: TestDatabase) {
        let fixture = SuggestionFixture::open(db).await;
        let accounts = fixture.accounts().await;
        let bank = |answer: Answer| {
            let made = answer.expect(201)["bankRequisite"].clone();
            (made["bank_name"].clone(), made["correspondent_account"].clone())
        };
        for path in &accounts.paths {
            let post = async |more: Value| {
                let mut body = json!({ "bik": "044525225", "account": "40702810938000000001" });
                body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
                accounts.post(&fixture.server, path, body).await
            };
            let (name, at_centre) = (json!("ПАО Сбербанк"), json!("30101810400000000225"));
            for left_out in [json!({}), json!({ "bank_name": null, "correspondent_account": null })] {
                assert_eq!(bank(post(left_out).await), (name.clone(), at_centre.clone()));
            }
            // Values in the request are never overwritten, and a bank with a name is not looked up.
            let other = json!("30101810200000000001");
            assert_eq!(bank(post(json!({ "correspondent_account": other })).await), (name, other));
            fixture.fault("http_500").await;
            assert_eq!(bank(post(json!({ "bank_name": "Own" })).await), (json!("Own"), json!(null)));
            // The fault is still planned: no request was sent.
            for next in [Some("drop"), None] {
                let refused = post(json!({})).await;
                refused.expect_invalid(&["bank_name"]);
                let reported = &refused.text;
                assert!(reported.contains("bank look-up is unavailable") && !reported.contains("127.0.0.1"), "{reported}");
                if let Some(fault) = next {
                    fixture.fault(fault).await;
                }
            }
            let unknown = post(json!({ "bik": "044525187", "account": "40702810500000000007" })).await;
            unknown.expect_invalid(&["bank_name"]);
            assert!(unknown.text.contains("no bank with this BIK was found"), "{}", unknown.text);
            // Errors of the account are reported as usual.
            post(json!({ "account": "40702810938000000002" })).await.expect_invalid(&["account"]);
            // A change of another field looks nothing up.
            let made = post(json!({ "bank_name": "Own" })).await.expect(201)["bankRequisite"]["id"].clone();
            let one = format!("{path}/{made}");
            let changed = fixture.server.as_staff(&accounts.owner, Method::PUT, &one).json(&json!({ "comment": "c" }));
            assert_eq!(send(changed).await.expect(200)["bankRequisite"]["bank_name"], "Own");
        }
    }

    async fn without_a_look_up_the_name_of_a_bank_is_required(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let project = server.project().await;
        let accounts = Accounts::of(&server, &project).await;
        let bare = json!({ "bik": "044525225", "account": "40702810938000000001" });
        let mut named = bare.clone();
        named["bank_name"] = json!("Bank");
        for path in &accounts.paths {
            let refused = accounts.post(&server, path, bare.clone()).await;
            refused.expect_invalid(&["bank_name"]);
            assert!(refused.text.contains("bank look-up is not configured"), "{}", refused.text);
        }
        // They count as searches for a bank, and requests without a lookup do not.
        for _ in accounts.paths.len()..120 {
            let search = server.as_staff(&accounts.owner, Method::POST, "/api/search_bank");
            send(search.json(&json!({ "query": "a" }))).await.expect(503);
        }
        for path in &accounts.paths {
            accounts.post(&server, path, bare.clone()).await.expect(429);
            accounts.post(&server, path, named.clone()).await.expect(201);
        }
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
