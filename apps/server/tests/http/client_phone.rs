//! Customers change their phone.

use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::TestDatabase;
use reqwest::Method;
use serde_json::{Value, json};

use crate::outside::{Outside, another, bearer};
use crate::support::{Answer, Project, send};

const OLD: &str = "79001234567";
const NEW: &str = "79007654321";

struct Mover {
    outside: Outside,
    project: Project,
    customer: Value,
}

impl Mover {
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
        let mover = Mover::start(db).await;
        mover.verify(NEW, "1234").await.expect(400);
        let sent = mover.request("+7 (900) 765-43-21").await.expect(200);
        assert_eq!(sent.as_object().unwrap().keys().collect::<Vec<_>>(), ["message"]);
        let token = bearer(&mover.customer);
        let profile = async || {
            let read = mover.outside.server.request(Method::GET, "/api/counterparty").bearer_auth(&token);
            send(read).await.expect(200)["counterparty"]["phone_1"].clone()
        };
        assert_eq!(profile().await, OLD);
        let code = mover.outside.code(NEW).await;
        mover.verify(NEW, &another(&code)).await.expect(401);
        mover.verify("79007654322", &code).await.expect(400);
        let changed = mover.verify("8 900 765 43 21", &code).await.expect(200);
        assert_eq!((&changed["counterparty"]["phone_1"], &changed["counterparty"]["id"]), (&json!(NEW), &mover.customer["id"]));
        assert_eq!(profile().await, NEW);
        mover.verify(NEW, &code).await.expect(400);
        assert_eq!(mover.outside.signed_in(&mover.project, NEW).await["id"], mover.customer["id"]);
        assert_ne!(mover.outside.signed_in(&mover.project, OLD).await["id"], mover.customer["id"]);
        mover.request(OLD).await.expect_invalid(&["phone"]);
    }

    async fn a_phone_of_another_customer_is_not_called(db: TestDatabase) {
        let mover = Mover::start(db).await;
        mover.outside.signed_in(&mover.project, NEW).await;
        let calls = mover.outside.count(NEW).await;
        mover.request(NEW).await.expect_invalid(&["phone"]);
        assert_eq!(mover.outside.count(NEW).await, calls);
        mover.request(OLD).await.expect_invalid(&["phone"]);
        // In another project the phone belongs to another customer.
        let other = mover.outside.server.project().await;
        mover.outside.signed_in(&other, "79005550000").await;
        mover.request("79005550000").await.expect(200);
        // Another customer takes the phone first.
        let code = mover.outside.code("79005550000").await;
        mover.outside.signed_in(&mover.project, "79005550000").await;
        mover.verify("79005550000", &code).await.expect_invalid(&["phone"]);
    }

    async fn codes_of_different_purposes_do_not_stand_for_each_other(db: TestDatabase) {
        let mover = Mover::start(db).await;
        mover.request(NEW).await.expect(200);
        let change = mover.outside.code(NEW).await;
        mover.outside.log_in(&mover.project, NEW, &change).await.expect_invalid(&["phone"]);
        mover.outside.request_code(&mover.project, OLD).await.expect(200);
        mover.outside.log_in(&mover.project, OLD, &another(&mover.outside.code(OLD).await)).await.expect(401);
        let login = mover.outside.code(OLD).await;
        let outcome = mover.verify(NEW, &login).await;
        assert_eq!(outcome.status.as_u16(), if login == change { 200 } else { 401 }, "{}", outcome.text);
    }

    async fn five_wrong_codes_and_five_minutes_end_a_code(db: TestDatabase) {
        let mover = Mover::start(db).await;
        mover.request(NEW).await.expect(200);
        let code = mover.outside.code(NEW).await;
        for _ in 0..5 {
            mover.verify(NEW, &another(&code)).await.expect(401);
        }
        mover.verify(NEW, &code).await.expect(429);
        mover.outside.server.clock.advance(60);
        mover.verify(NEW, &code).await.expect(400);
        mover.request(NEW).await.expect(200);
        let code = mover.outside.code(NEW).await;
        mover.outside.server.clock.advance(300);
        mover.verify(NEW, &code).await.expect(400);
    }

    async fn a_code_that_could_not_be_sent_is_500_and_codes_are_limited(db: TestDatabase) {
        let mover = Mover::start(db).await;
        for fault in ["drop", "http_500", "refuse"] {
            mover.outside.fault("telephony", fault).await;
            assert!(mover.request(NEW).await.expect(500)["message"].is_string(), "{fault}");
        }
        mover.verify(NEW, "1234").await.expect(400);
        let refused = mover.request(NEW).await;
        refused.expect(429);
        assert!(refused.headers.contains_key("retry-after"));
        mover.request("79007654322").await.expect(200);
        // The login code counts, too.
        for n in 0..14 {
            mover.request(&format!("790076543{:02}", n + 30)).await.expect(200);
        }
        mover.request("79007654399").await.expect(429);
        mover.outside.server.clock.advance(3600);
        mover.request(NEW).await.expect(200);
    }

    async fn every_wrong_field_is_named(db: TestDatabase) {
        let mover = Mover::start(db).await;
        mover.post("request_change", json!({})).await.expect_invalid(&["phone"]);
        for phone in [json!(null), json!("anna@x.ru"), json!([]), json!("7900\n7654321x"), json!("7".repeat(10_000))] {
            mover.post("request_change", json!({ "phone": phone })).await.expect_invalid(&["phone"]);
        }
        mover.post("verify_change", json!({})).await.expect_invalid(&["password", "phone"]);
        let wrong = json!({ "phone": "x", "password": "" });
        mover.post("verify_change", wrong).await.expect_invalid(&["password", "phone"]);
        let path = "/api/counterparty/phone/request_change";
        let body = json!({ "phone": NEW });
        send(mover.outside.server.as_app(&mover.project, Method::POST, path).json(&body)).await.expect(401);
    }
}
