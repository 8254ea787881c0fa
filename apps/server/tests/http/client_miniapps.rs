//! Customers log in with a contact signed by a messenger.

use std::sync::Arc;

use kontor::config::Config;
use kontor::wiring::Adapters;
use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_auth::miniapp::{BotToken, MiniAppProvider, MiniAppRegistry};
use kontor_kernel::{Clock as _, hex};
use reqwest::Method;
use ring::hmac;
use serde_json::{Value, json};

use crate::outside::bearer;
use crate::support::{Answer, Project, TestServer, send};

const PHONE: &str = "79001234567";

/// A service with an application whose bot is configured.
struct Shop {
    server: TestServer,
    project: Project,
}

impl Shop {
    async fn open(db: TestDatabase) -> Self {
        let shop = Self::closed(db).await;
        shop.set_bot(&shop.project, BOT).await;
        shop
    }

    async fn closed(db: TestDatabase) -> Self {
        let server = TestServer::start_with(db, |config| config.trusted_proxies = vec!["127.0.0.1".into()]).await;
        let project = server.project().await;
        Self { server, project }
    }

    /// Does what `kontor miniapp set` does.
    async fn set_bot(&self, project: &Project, token: &str) {
        let around = Adapters::new(&Config::default(), self.server.clock.clone());
        let registry = MiniAppRegistry {
            bots: Arc::new(self.server.db.database.clone()),
            clock: self.server.clock.clone(),
            cipher: around.unwrap().cipher,
        };
        let application = project.application_id.try_into().unwrap();
        let token = BotToken::parse(token).unwrap();
        registry.set(application, MiniAppProvider::Max, &token).await.unwrap();
    }

    fn now(&self) -> i64 {
        self.server.clock.now().timestamp()
    }

    /// Returns a contact that the messenger signed just now.
    fn contact(&self, phone: &str) -> Value {
        self.contact_at(phone, &(self.now() - 2).to_string())
    }

    fn contact_at(&self, phone: &str, auth_date: &str) -> Value {
        contact(self.now() - 30, phone, auth_date)
    }

    async fn sign_in_to(&self, project: &Project, provider: &str, body: &Value) -> Answer {
        let path = format!("/api/counterparty/miniapps/{provider}/contact_auth");
        send(self.server.as_app(project, Method::POST, &path).json(body)).await
    }

    async fn sign_in(&self, body: &Value) -> Answer {
        self.sign_in_to(&self.project, "max", body).await
    }

    /// Moves a minute forward: the limit is reset, and contacts are signed again.
    fn later(&self) {
        self.server.clock.advance(60);
    }
}

fn changed(body: &Value, field: &str, value: impl Into<Value>) -> Value {
    let mut body = body.clone();
    body[field] = value.into();
    body
}

/// Checks a structured refusal: its code, its next action, and the request id in body and header.
fn refused(answer: &Answer, status: u16, code: &str, next_action: &str) {
    let body = answer.expect(status);
    assert_eq!((&body["message"], &body["error"]["code"]), (&json!(code), &json!(code)), "{body}");
    assert_eq!(
        (&body["error"]["next_action"], &body["error"]["retry_after_seconds"]),
        (&json!(next_action), &Value::Null)
    );
    assert_eq!(body["error"]["request_id"], answer.headers["x-request-id"].to_str().unwrap());
}

fn invalid(answer: &Answer) {
    refused(answer, 401, "miniapp_contact_auth_invalid", "restart");
}

/// The token of the bot that most tests use.
pub const BOT: &str = "12345:test-bot-token";
const USER: &str = r#"{"id":67890,"first_name":"Max"}"#;

fn mac(key: &[u8], message: &str) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), message.as_bytes()).as_ref().to_vec()
}

/// Returns the body of a login with a contact signed at the time `auth_date`, in a mini-app started at the Unix time
/// `started_at`.
pub fn contact(started_at: i64, phone: &str, auth_date: &str) -> Value {
    let launch = hex(&mac(&mac(b"WebAppData", BOT), &format!("auth_date={started_at}\nuser={USER}")));
    let user: String = form_urlencoded::byte_serialize(USER.as_bytes()).collect();
    let hash = hex(&mac(BOT.as_bytes(), &format!("authDate={auth_date}\nphone={phone}\nuserId=67890")));
    let auth_date: Value = serde_json::from_str(auth_date).unwrap();
    let init_data = format!("auth_date={started_at}&user={user}&hash={launch}");
    json!({ "phone": phone, "auth_date": auth_date, "hash": hash, "init_data": init_data })
}

database_tests! {
    async fn a_signed_contact_signs_in(db: TestDatabase) {
        let shop = Shop::open(db).await;
        let contact = changed(&shop.contact(PHONE), "device", "x".repeat(255));
        let signed = shop.sign_in(&contact).await.expect(200);
        assert_eq!(signed.as_object().unwrap().keys().collect::<Vec<_>>(), ["counterparty"]);
        let customer = &signed["counterparty"];
        assert_eq!((&customer["phone_1"], &customer["type"]["id"]), (&json!(PHONE), &json!(1)));
        assert!(customer["access_token"]["expires_at"].is_string());
        let profile = shop.server.as_customer(&shop.project, &bearer(customer), Method::GET, "/api/counterparty");
        assert_eq!(send(profile).await.expect(200)["counterparty"]["id"], customer["id"]);

        // The response may have been lost: the same contact is sent again.
        let again = shop.sign_in(&contact).await.expect(200);
        assert_eq!(again["counterparty"]["id"], customer["id"]);
        assert_ne!(bearer(&again["counterparty"]), bearer(customer));
        let plain = shop.sign_in(&changed(&contact, "device", Value::Null)).await.expect(200);
        assert_eq!(plain["counterparty"]["id"], customer["id"]);
    }

    async fn an_unknown_application_is_named_in_the_structured_body(db: TestDatabase) {
        let shop = Shop::closed(db).await;
        let call = || shop.server.request(Method::POST, "/api/counterparty/miniapps/max/contact_auth").json(&json!({}));
        for (call, text) in [
            (call(), "Application token is missing"),
            (call().header("Token", "1|nobody"), "Application token is invalid"),
        ] {
            let answer = send(call).await;
            let body = answer.expect(401);
            let error = &body["error"];
            assert_eq!((&body["message"], &error["message"]), (&json!(text), &json!(text)), "{body}");
            assert_eq!((&error["code"], &error["next_action"]), (&json!("application_token_invalid"), &json!("contact_support")));
            assert_eq!(error["retry_after_seconds"], Value::Null, "{body}");
            assert_eq!(error["request_id"], answer.headers["x-request-id"].to_str().unwrap());
        }
    }

    async fn every_spelling_and_unit_is_one_customer(db: TestDatabase) {
        let shop = Shop::open(db).await;
        let (known, _) = shop.server.customer(&shop.project).await;
        for phone in ["79001234567", "+79001234567", "+7 (900) 123-45-67", "8 900 123-45-67", "9001234567"] {
            let signed = shop.sign_in(&shop.contact(phone)).await.expect(200);
            assert_eq!((&signed["counterparty"]["id"], &signed["counterparty"]["phone_1"]), (&json!(known), &json!(PHONE)), "{phone}");
        }
        shop.later();
        let seconds = shop.now() - 2;
        for digits in [format!("{seconds}"), format!("{seconds}001"), format!("{seconds}000001"), format!("\"{seconds}\"")] {
            let mut contact = shop.contact_at(PHONE, digits.trim_matches('"'));
            contact["auth_date"] = serde_json::from_str(&digits).unwrap();
            contact["hash"] = contact["hash"].as_str().unwrap().to_uppercase().into();
            assert_eq!(shop.sign_in(&contact).await.expect(200)["counterparty"]["id"], known, "{digits}");
        }
    }

    async fn a_contact_that_is_not_proven_is_refused(db: TestDatabase) {
        let shop = Shop::open(db).await;
        let good = shop.contact(PHONE);
        for (field, value) in [
            ("hash", json!("0".repeat(64))),
            ("phone", json!("+7 900 123-45-67")),
            ("auth_date", json!(shop.now() - 3)),
            ("init_data", json!("auth_date=1&user=%7B%7D")),
            ("init_data", json!(good["init_data"].as_str().unwrap().replace("67890", "67891"))),
        ] {
            invalid(&shop.sign_in(&changed(&good, field, value)).await);
        }
        shop.later();
        for auth_date in [shop.now() + 60, shop.now() - 3_700] {
            invalid(&shop.sign_in(&shop.contact_at(PHONE, &auth_date.to_string())).await);
        }
        let contact = shop.contact(PHONE);
        shop.server.clock.advance(3_500);
        shop.sign_in(&contact).await.expect(200);
        shop.server.clock.advance(150);
        invalid(&shop.sign_in(&contact).await);
        let customers = "INSERT INTO projects (name, currency, created_at) \
            SELECT 'x', 'RUB', '2026-01-01 00:00:00' RETURNING (SELECT COUNT(*) FROM counterparties) AS id";
        assert_eq!(shop.server.insert(customers.to_owned()).await, 1);
    }

    async fn a_proven_phone_that_is_none_of_ours_is_named(db: TestDatabase) {
        let shop = Shop::open(db).await;
        let abroad = shop.sign_in(&shop.contact("+49 40 123456")).await;
        abroad.expect_invalid(&["phone"]);
        refused(&abroad, 422, "invalid_input", "fix_input");
    }

    async fn every_wrong_field_is_named(db: TestDatabase) {
        let shop = Shop::open(db).await;
        let good = shop.contact(PHONE);
        let nothing = shop.sign_in(&json!({})).await;
        nothing.expect_invalid(&["phone", "auth_date", "hash", "init_data"]);
        refused(&nothing, 422, "invalid_input", "fix_input");
        for (field, values) in [
            ("phone", vec![json!("7".repeat(33)), json!(""), json!("7900\n1234567"), json!([]), json!(null)]),
            ("auth_date", vec![json!("soon"), json!(""), json!(1.5), json!(-1), json!(true), json!("01771409719"), json!(u64::MAX), json!("1e9")]),
            ("hash", vec![json!("a".repeat(63)), json!("a".repeat(65)), json!("g".repeat(64)), json!(1), json!("")]),
            ("init_data", vec![json!("x".repeat(8_193)), json!(""), json!({}), json!(1)]),
            ("device", vec![json!("x".repeat(256)), json!("a\nb"), json!(1)]),
        ] {
            for value in values {
                shop.sign_in(&changed(&good, field, value)).await.expect_invalid(&[field]);
            }
        }
        let longest = changed(&good, "init_data", "x".repeat(8_192));
        invalid(&shop.sign_in(&longest).await);
        invalid(&shop.sign_in(&changed(&good, "phone", "7".repeat(32))).await);
        let path = "/api/counterparty/miniapps/max/contact_auth";
        let answer = send(shop.server.request(Method::POST, path).json(&good)).await;
        assert_eq!(answer.expect(401)["message"], "Application token is missing");
        let answer = send(shop.server.request(Method::POST, path).header("Token", "x").json(&good)).await;
        assert_eq!(answer.expect(401)["message"], "Application token is invalid");
    }

    async fn messengers_are_distinguished(db: TestDatabase) {
        let shop = Shop::closed(db).await;
        let contact = shop.contact(PHONE);
        let not_configured = async |project: &Project| {
            let answer = shop.sign_in_to(project, "max", &contact).await;
            refused(&answer, 503, "miniapp_contact_auth_not_configured", "contact_support");
        };
        not_configured(&shop.project).await;
        for body in [&contact, &json!({})] {
            let answer = shop.sign_in_to(&shop.project, "telegram", body).await;
            refused(&answer, 422, "miniapp_contact_auth_not_supported", "contact_support");
        }
        for provider in ["vk", "MAX", "max%2Fx", "%20"] {
            shop.sign_in_to(&shop.project, provider, &contact).await.expect(404);
        }
        for path in ["/api/miniapps/max/contact_auth", "/api/miniapps/max", "/api/miniapps"] {
            for method in [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
                let request = shop.server.as_app(&shop.project, method.clone(), path);
                let request = if method == Method::GET { request } else { request.json(&contact) };
                let answer = send(request).await;
                assert_eq!(answer.status, 404, "{method} {path}: {}", answer.text);
            }
        }
        // Another application cannot use it, and the bot of another application signs for that one only.
        shop.set_bot(&shop.project, BOT).await;
        let other = shop.server.project().await;
        not_configured(&other).await;
        shop.set_bot(&other, "54321:other-bot-token").await;
        invalid(&shop.sign_in_to(&other, "max", &contact).await);
        shop.sign_in(&contact).await.expect(200);

        // A token sealed with another service key cannot be read.
        shop.server.execute("UPDATE application_miniapps SET sealed_token = 'v1.00'").await;
        not_configured(&shop.project).await;
    }

    async fn contacts_are_limited_by_application_and_address(db: TestDatabase) {
        let shop = Shop::open(db).await;
        let contact = changed(&shop.contact(PHONE), "hash", "0".repeat(64));
        for remaining in ["4", "3", "2", "1", "0"] {
            let answer = shop.sign_in(&contact).await;
            invalid(&answer);
            assert_eq!(answer.headers["x-ratelimit-remaining"], remaining);
        }
        let limited = shop.sign_in(&shop.contact(PHONE)).await;
        assert_eq!(limited.expect(429), json!({ "message": "Too Many Attempts." }));
        assert!(limited.headers.contains_key("retry-after"));
        let other = shop.server.project().await;
        shop.sign_in_to(&other, "max", &contact).await.expect(503);
        let path = "/api/counterparty/miniapps/max/contact_auth";
        let elsewhere = shop.server.as_app(&shop.project, Method::POST, path).header("X-Forwarded-For", "203.0.113.7");
        send(elsewhere.json(&shop.contact(PHONE))).await.expect(200);
        shop.later();
        shop.sign_in(&shop.contact(PHONE)).await.expect(200);
    }
}
