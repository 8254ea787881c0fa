//! The example backends against a demo: access is granted and refused.

use std::net::{SocketAddr, TcpListener};

use actix_web::dev::{Server, ServerHandle};
use kontor_adapter_diesel::database_tests;
use kontor_examples::kontor::Kontor;
use kontor_examples::settings::Settings;
use kontor_examples::{bff, direct};
use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};

use crate::customer_client::ApplicationClient;
use crate::member::{DemoFixture, Member};
use crate::subscription_fixture::ROOT;
use crate::support::{Answer, send};

const DAY: i64 = 24 * 3_600;

/// A running example.
struct Backend {
    address: SocketAddr,
    handle: ServerHandle,
    http: Client,
}

impl Backend {
    fn start(fixture: &DemoFixture, serve: impl FnOnce(Kontor, TcpListener) -> std::io::Result<Server>) -> Self {
        let settings = Settings {
            kontor: fixture.file().base_url.clone(),
            app_token: fixture.file().app_token.clone(),
            plan: "club".to_owned(),
        };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = serve(Kontor::new(settings).unwrap(), listener).unwrap();
        let handle = server.handle();
        tokio::spawn(server);
        Self { address, handle, http: Client::builder().no_proxy().build().unwrap() }
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("http://{}{path}", self.address))
    }

    async fn lesson(&self, credentials: (&str, &str)) -> Answer {
        send(self.request(Method::GET, "/lesson").header(credentials.0, credentials.1)).await
    }
}

/// The subscription of a member ends in every way, and the access ends with it.
async fn loses_and_regains(member: &Member, backend: &Backend, credentials: (&str, &str)) {
    assert!(backend.lesson(credentials).await.expect(200)["lesson"].is_string());
    member.moves(json!({ "advance_seconds": 31 * DAY })).await.expect(200);
    backend.lesson(credentials).await.expect(200);

    member.direct(json!([{ "outcome": "decline", "reason": "insufficient_funds", "times": null }])).await;
    member.moves(json!({ "advance_seconds": 31 * DAY })).await.expect(200);
    assert_eq!(member.subscription().await["status"], "past_due");
    let refused = backend.lesson(credentials).await;
    assert!(refused.expect(402)["subscribe"].as_str().unwrap().contains("subscription"), "{}", refused.text);

    member.direct(json!([])).await;
    member.moves(json!({ "advance_seconds": 8 * DAY })).await.expect(200);
    backend.lesson(credentials).await.expect(200);
    member.post(&format!("{ROOT}/{}/cancel", member.id), &json!({})).await.expect(200);
    backend.lesson(credentials).await.expect(402);
}

database_tests! {
    async fn a_backend_that_is_sent_tokens_asks_who_they_open_for(db: TestDatabase) {
        let fixture = DemoFixture::open(db).await;
        let backend = Backend::start(&fixture, direct::serve);
        send(backend.request(Method::GET, "/lesson")).await.expect(401);
        backend.lesson(("Authorization", "Bearer 1|nobody")).await.expect(401);
        let customer_client = ApplicationClient::of_demo(fixture.file()).sign_in(&fixture.file().customer.phone).await;
        let bearer = format!("Bearer {}", customer_client.bearer);
        let credentials = ("Authorization", bearer.as_str());
        let refused = backend.lesson(credentials).await.expect(402);
        assert_eq!(refused["subscribe"], format!("{}{ROOT}/checkout", fixture.file().base_url));
        let member = Member::join(customer_client).await;
        loses_and_regains(&member, &backend, credentials).await;
        fixture.end().await;
        backend.lesson(credentials).await.expect(503);
        backend.handle.stop(false).await;
    }

    async fn a_backend_for_a_frontend_keeps_the_token(db: TestDatabase) {
        let fixture = DemoFixture::open(db).await;
        let backend = Backend::start(&fixture, |kontor, listener| bff::serve(kontor, listener, false));
        let post = |path: &str, body: Value| backend.request(Method::POST, path).json(&body);
        send(backend.request(Method::GET, "/lesson")).await.expect(401);
        send(post("/subscription", json!({ "autopay_consent": true }))).await.expect(401);
        backend.lesson(("Cookie", "session=0")).await.expect(401);
        send(post("/session", json!({ "phone": 7 }))).await.expect_invalid(&["phone", "code"]);
        let phone = &fixture.file().customer.phone;
        send(post("/code", json!({ "phone": phone }))).await.expect(204);
        let wrong = send(post("/session", json!({ "phone": phone, "code": "x" }))).await;
        assert!(wrong.status.is_client_error() && !wrong.headers.contains_key("set-cookie"), "{}", wrong.text);
        let front = ApplicationClient::of_demo(fixture.file());
        let messages = send(front.http.get(format!("{}/control/messages?to={phone}", front.sandbox))).await.expect(200);
        let code = &messages["messages"][0]["code"];
        let signed_in = send(post("/session", json!({ "phone": phone, "code": code }))).await;
        signed_in.expect(204);
        let set = signed_in.headers["set-cookie"].to_str().unwrap();
        assert!(set.contains("HttpOnly") && set.contains("SameSite=Strict") && !set.contains('|'), "{set}");
        let cookie = set.split(';').next().unwrap().to_owned();
        let credentials = ("Cookie", cookie.as_str());
        let subscribe = |consent: bool| {
            send(post("/subscription", json!({ "autopay_consent": consent })).header("Cookie", &cookie))
        };
        assert_eq!(backend.lesson(credentials).await.expect(402)["subscribe"], "/subscription");
        subscribe(false).await.expect_invalid(&["autopay_consent"]);
        let opened = subscribe(true).await;
        assert!(opened.expect(201)["payment_link"].as_str().unwrap().starts_with(&front.sandbox), "{}", opened.text);
        assert!(!opened.text.contains('|'), "no token gets to the browser: {}", opened.text);

        // The same customer pays the open charge on another device.
        let member = Member::join(front.sign_in(phone).await).await;
        loses_and_regains(&member, &backend, credentials).await;
        send(backend.request(Method::DELETE, "/session").header("Cookie", &cookie)).await.expect(204);
        backend.lesson(credentials).await.expect(401);
        fixture.end().await;
        backend.handle.stop(false).await;
    }
}
