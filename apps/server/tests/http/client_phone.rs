//! Customers change their phone.

use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::TestDatabase;
use reqwest::Method;
use serde_json::{Value, json};

use crate::outside::{Outside, another, bearer};
use crate::support::{Answer, Project, send};

const OLD: &str = "79001234567";
const NEW: &str = "79007654321";

struct PhoneFixture {
    outside: Outside,
    project: Project,
    customer: Value,
}

impl PhoneFixture {
    async fn start(db: TestDatabase) -> Self {
        let outside = Outside::start(db).await;
        let project = outside.server.project().await;
        let customer = outside.signed_in(&project, OLD).await;
        Self { outside, project, customer }
    }

    async fn post(&self, path: &str, body: Value) -> Answer {
        let path = format!("/api/counterparty/phone/{path}");
        let token = bearer(&self.customer);
        send(self.outside.server.as_customer(&self.project, &token, Method::POST, &path).json(&body)).await
    }

    async fn request(&self, phone: &str) -> Answer {
        self.post("request_change", json!({ "phone": phone })).await
    }

    async fn verify(&self, phone: &str, code: &str) -> Answer {
        self.post("verify_change", json!({ "phone": phone, "password": code })).await
    }
}

database_tests! {
    async fn the_phone_changes_only_after_its_code(db: TestDatabase) {
        let fixture = PhoneFixture::start(db).await;
        fixture.verify(NEW, "1234").await.expect(400);
        let sent = fixture.request("+7 (900) 765-43-21").await.expect(200);
        assert_eq!(sent.as_object().unwrap().keys().collect::<Vec<_>>(), ["message"]);
        let token = bearer(&fixture.customer);
        let profile = async || {
            let read = fixture.outside.server.request(Method::GET, "/api/counterparty").bearer_auth(&token);
            send(read).await.expect(200)["counterparty"]["phone_1"].clone()
        };
        assert_eq!(profile().await, OLD);
        let code = fixture.outside.code(NEW).await;
        fixture.verify(NEW, &another(&code)).await.expect(401);
        fixture.verify("79007654322", &code).await.expect(400);
        let changed = fixture.verify("8 900 765 43 21", &code).await.expect(200);
        assert_eq!((&changed["counterparty"]["phone_1"], &changed["counterparty"]["id"]), (&json!(NEW), &fixture.customer["id"]));
        assert_eq!(profile().await, NEW);
        fixture.verify(NEW, &code).await.expect(400);
        assert_eq!(fixture.outside.signed_in(&fixture.project, NEW).await["id"], fixture.customer["id"]);
        assert_ne!(fixture.outside.signed_in(&fixture.project, OLD).await["id"], fixture.customer["id"]);
        fixture.request(OLD).await.expect_invalid(&["phone"]);
    }

    async fn a_phone_of_another_customer_is_not_called(db: TestDatabase) {
        let fixture = PhoneFixture::start(db).await;
        fixture.outside.signed_in(&fixture.project, NEW).await;
        let calls = fixture.outside.count(NEW).await;
        fixture.request(NEW).await.expect_invalid(&["phone"]);
        assert_eq!(fixture.outside.count(NEW).await, calls);
        fixture.request(OLD).await.expect_invalid(&["phone"]);
        // In another project the phone belongs to another customer.
        let other = fixture.outside.server.project().await;
        fixture.outside.signed_in(&other, "79005550000").await;
        fixture.request("79005550000").await.expect(200);
        // Another customer takes the phone first.
        let code = fixture.outside.code("79005550000").await;
        fixture.outside.signed_in(&fixture.project, "79005550000").await;
        fixture.verify("79005550000", &code).await.expect_invalid(&["phone"]);
    }

    async fn codes_of_different_purposes_do_not_stand_for_each_other(db: TestDatabase) {
        let fixture = PhoneFixture::start(db).await;
        fixture.request(NEW).await.expect(200);
        let change = fixture.outside.code(NEW).await;
        fixture.outside.log_in(&fixture.project, NEW, &change).await.expect_invalid(&["phone"]);
        fixture.outside.request_code(&fixture.project, OLD).await.expect(200);
        fixture.outside.log_in(&fixture.project, OLD, &another(&fixture.outside.code(OLD).await)).await.expect(401);
        let login = fixture.outside.code(OLD).await;
        let outcome = fixture.verify(NEW, &login).await;
        assert_eq!(outcome.status.as_u16(), if login == change { 200 } else { 401 }, "{}", outcome.text);
    }

    async fn five_wrong_codes_and_five_minutes_end_a_code(db: TestDatabase) {
        let fixture = PhoneFixture::start(db).await;
        fixture.request(NEW).await.expect(200);
        let code = fixture.outside.code(NEW).await;
        for _ in 0..5 {
            fixture.verify(NEW, &another(&code)).await.expect(401);
        }
        fixture.verify(NEW, &code).await.expect(429);
        fixture.outside.server.clock.advance(60);
        fixture.verify(NEW, &code).await.expect(400);
        fixture.request(NEW).await.expect(200);
        let code = fixture.outside.code(NEW).await;
        fixture.outside.server.clock.advance(300);
        fixture.verify(NEW, &code).await.expect(400);
    }

    async fn a_code_that_could_not_be_sent_is_500_and_codes_are_limited(db: TestDatabase) {
        let fixture = PhoneFixture::start(db).await;
        for fault in ["drop", "http_500", "refuse"] {
            fixture.outside.fault("telephony", fault).await;
            assert!(fixture.request(NEW).await.expect(500)["message"].is_string(), "{fault}");
        }
        fixture.verify(NEW, "1234").await.expect(400);
        let refused = fixture.request(NEW).await;
        refused.expect(429);
        assert!(refused.headers.contains_key("retry-after"));
        fixture.request("79007654322").await.expect(200);
        // The login code counts, too.
        for n in 0..14 {
            fixture.request(&format!("790076543{:02}", n + 30)).await.expect(200);
        }
        fixture.request("79007654399").await.expect(429);
        fixture.outside.server.clock.advance(3600);
        fixture.request(NEW).await.expect(200);
    }

    async fn every_wrong_field_is_named(db: TestDatabase) {
        let fixture = PhoneFixture::start(db).await;
        fixture.post("request_change", json!({})).await.expect_invalid(&["phone"]);
        for phone in [json!(null), json!("anna@x.ru"), json!([]), json!("7900\n7654321x"), json!("7".repeat(10_000))] {
            fixture.post("request_change", json!({ "phone": phone })).await.expect_invalid(&["phone"]);
        }
        fixture.post("verify_change", json!({})).await.expect_invalid(&["password", "phone"]);
        let wrong = json!({ "phone": "x", "password": "" });
        fixture.post("verify_change", wrong).await.expect_invalid(&["password", "phone"]);
        let path = "/api/counterparty/phone/request_change";
        let body = json!({ "phone": NEW });
        send(fixture.outside.server.as_app(&fixture.project, Method::POST, path).json(&body)).await.expect(401);
    }
}
