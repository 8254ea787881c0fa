//! The output of a process contains no secret, even at the most verbose log level.

use std::time::{Duration, Instant};

use kontor_adapter_diesel::testing::Kind;
use kontor_adapter_diesel::{database_tests, retry_until};
use reqwest::header::AUTHORIZATION;
use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};

use crate::customer_client::{ApplicationClient, CustomerClient};
use crate::owner_client::OwnerClient;
use crate::process::{
    ACQUIRER_SECRET, DATABASE_PASSWORD, PATIENCE, ProcessEnvironment, REDIS_PASSWORD, SERVICE_KEY, SHOP_ID,
    SMTP_PASSWORD, TELEPHONY_KEY,
};
use crate::support::send;

const CARDS: &str = "article;name;category;price\nA-1;Anchor;Harbour;\n";
const STOCK: &str = "article;warehouse;quantity;price\nA-1;Main;50;12500,50\n";
const NO_WAIT: Duration = Duration::ZERO;

/// Secrets that must not be found.
#[derive(Default)]
struct Secrets(Vec<(&'static str, String)>);

impl Secrets {
    fn add(&mut self, what: &'static str, secret: impl Into<String>) {
        let secret = secret.into();
        assert!(secret.len() >= 4, "{what} is not worth looking for: {secret}");
        self.0.push((what, secret));
    }

    /// Adds a bearer: whole, and the part after the id.
    fn add_bearer(&mut self, what: &'static str, bearer: &str) {
        let (_, secret) = bearer.split_once('|').unwrap();
        self.add(what, secret);
        self.add(what, bearer);
    }

    fn add_value(&mut self, what: &'static str, value: &Value) {
        self.add(what, value.as_str().unwrap());
    }

    /// Returns the secrets that a text contains.
    fn shown_in(&self, text: &str) -> Vec<String> {
        let shown = |(what, secret): &(&str, String)| {
            let line = text.lines().find(|line| stands_in(line, secret))?;
            Some(format!("{what} {secret:?} in {line}"))
        };
        self.0.iter().filter_map(shown).collect()
    }
}

/// Short codes count only as separate words, because their digits also occur in longer numbers and in UUIDs.
fn stands_in(line: &str, secret: &str) -> bool {
    let inside = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    line.match_indices(secret).any(|(at, _)| {
        let (before, after) = (line[..at].chars().next_back(), line[at + secret.len()..].chars().next());
        let of_uuid = before == Some('-') && after == Some('-');
        secret.len() > 6 || !(of_uuid || inside(before) || inside(after))
    })
}

/// Returns the credentials as a `Basic` header encodes them.
fn basic(user: &str, password: &str) -> String {
    let request = Client::new().get("http://localhost").basic_auth(user, Some(password)).build().unwrap();
    request.headers()[AUTHORIZATION].to_str().unwrap().trim_start_matches("Basic ").to_owned()
}

fn ask_for_code(front: &ApplicationClient, contact: &str) -> RequestBuilder {
    front.request(Method::POST, "/api/counterparty/send_password").json(&json!({ "phone": contact }))
}

/// Requests a temporary password and returns it.
async fn temporary_password(environment: &ProcessEnvironment) -> String {
    let wish = json!({ "login": "owner" });
    send(environment.http.post(format!("{}/api/send_password", environment.url())).json(&wish)).await.expect(200);
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(text) = environment.control("/messages?to=owner@example.com").await["messages"][0]["text"].as_str()
        {
            return text.lines().next().unwrap().trim().to_owned();
        }
        retry_until!(until, "no mail came");
    }
}

async fn login(front: &ApplicationClient, contact: &str, code: &str) -> u16 {
    let login = json!({ "phone": contact, "password": code });
    send(front.request(Method::POST, "/api/counterparty/login").json(&login)).await.status.as_u16()
}

/// Places and pays an order, and waits for its webhook.
async fn trade(owner_client: &OwnerClient, customer: &CustomerClient) {
    let hook = owner_client.hook().await;
    let anchor = owner_client.product("anchor").await["id"].as_i64().unwrap();
    let order = customer.order(anchor, 1, true).await.expect(201)["order"]["id"].as_i64().unwrap();
    customer.front.pay(order).await;
    customer.wait_for_status(order, 22).await;
    assert_eq!(hook.order_of(&owner_client.first_received(&hook).await), order);
}

/// Logs in by calling a number, after attempts with wrong secrets.
async fn sign_in_by_call(front: &ApplicationClient, secrets: &mut Secrets) {
    let nonce = "nonce-of-an-attempt-to-log-in-by-calling";
    let step = async |name: &str, body: &Value| {
        send(front.request(Method::POST, &format!("/api/counterparty/callback_auth/{name}")).json(body)).await
    };
    let begun = step("init", &json!({ "phone": "79005550009", "client_nonce": nonce })).await.expect(200);
    let call = json!({ "from": "79005550009", "to": begun["callback_number"] });
    send(front.http.post(format!("{}/control/calls", front.sandbox)).json(&call)).await.expect(200);
    let own = json!({ "session_token": begun["session_token"], "client_nonce": nonce });
    for (wrong, value) in [
        ("client_nonce", "another-nonce-that-belongs-to-no-attempt"),
        ("session_token", "session-token-that-belongs-to-no-attempt"),
    ] {
        let mut body = own.clone();
        body[wrong] = json!(value);
        step("status", &body).await.expect(404);
        secrets.add("a wrong secret of an attempt", value);
    }
    step("status", &own).await.expect(200);
    let done = step("exchange", &own).await.expect(200);
    secrets.add("a nonce", nonce);
    secrets.add_value("a session token", &begun["session_token"]);
    secrets.add_bearer("a bearer of a caller", done["access_token"]["value"].as_str().unwrap());
}

/// Changes the phone, verifies the customer, and deletes the account.
async fn move_and_leave(front: &ApplicationClient, secrets: &mut Secrets) {
    let customer = front.sign_in("79005550006").await;
    secrets.add_bearer("a bearer of a customer", &customer.bearer);
    secrets.add("a one-time code", customer.code.as_str());
    let post = async |path: &str, body: Value| {
        send(customer.request(Method::POST, &format!("/api/counterparty/{path}")).json(&body)).await
    };
    let phone = "79005550007";
    post("phone/request_change", json!({ "phone": phone })).await.expect(200);
    let messages = send(front.http.get(format!("{}/control/messages?to={phone}", front.sandbox))).await.expect(200);
    let code = messages["messages"][0]["code"].as_str().unwrap();
    post("phone/verify_change", json!({ "phone": phone, "password": "0738" })).await.expect(401);
    post("phone/verify_change", json!({ "phone": phone, "password": code })).await.expect(200);
    secrets.add("a code for another phone", code);
    let verification = post("verifications/sbp-payment", json!({})).await.expect(201);
    secrets.add_value("a payment link", &verification["verification"]["payment_link"]);
    let payments = send(front.http.get(format!("{}/control/payments", front.sandbox))).await.expect(200);
    let path = format!("{}/control/payments/{}", front.sandbox, payments["payments"][0]["id"].as_str().unwrap());
    send(front.http.post(path).json(&json!({ "outcome": "succeed" }))).await.expect(200);
    let until = Instant::now() + PATIENCE;
    while post("verifications/sbp-payment", json!({})).await.expect(200)["verification"]["status"] != "succeeded" {
        retry_until!(until, "not verified");
    }
    send(customer.request(Method::PUT, "/api/counterparty").json(&json!({ "address": "Street of Secrets 17" }))).await;
    secrets.add("an address", "Street of Secrets");
    send(customer.request(Method::DELETE, "/api/counterparty")).await.expect(200);
}

/// Every outside service fails once; the log of that must not contain a secret either.
async fn suffer(environment: &ProcessEnvironment, owner_client: &OwnerClient, customer: &CustomerClient) {
    let front = &owner_client.front;
    for fault in ["drop", "http_500", "refuse"] {
        environment.fault("telephony", fault, 1, NO_WAIT).await;
        send(ask_for_code(front, &format!("7900555100{}", fault.len()))).await.expect(500);
        environment.fault("mail", fault, 1, NO_WAIT).await;
        send(ask_for_code(front, &format!("{fault}@example.com"))).await.expect(500);
    }
    let anchor = owner_client.product("anchor").await["id"].as_i64().unwrap();
    for (fault, status) in [("drop", 202), ("http_500", 202), ("refuse", 502)] {
        environment.fault("acquirer", fault, 1, NO_WAIT).await;
        customer.order(anchor, 1, true).await.expect(status);
    }
}

database_tests! {
    async fn nothing_secret_is_logged(db: TestDatabase) {
        let kind = db.kind;
        let environment = ProcessEnvironment::open(db, 1.0).await;
        let mut secrets = Secrets::default();
        for (what, secret) in [
            ("the service key", SERVICE_KEY),
            ("the acquirer's key", ACQUIRER_SECRET),
            ("the telephony key", TELEPHONY_KEY),
            ("the mail password", SMTP_PASSWORD),
            ("the database password", DATABASE_PASSWORD),
            ("the Redis password", REDIS_PASSWORD),
        ] {
            secrets.add(what, secret);
        }
        secrets.add("the acquirer's credentials", basic(SHOP_ID, ACQUIRER_SECRET));

        // An unreachable database is reported without its password.
        let address = format!("postgres://shop:{DATABASE_PASSWORD}@127.0.0.1:1/none");
        let lost = environment.spawn(&["serve", "--database", &address]);
        let process = environment.serve().await;
        let project = environment.create_project("owner");
        secrets.add_value("the app token", &project["app_token"]);
        secrets.add_value("the staff password", &project["password"]);
        let mut owner_client = OwnerClient::sign_in(&environment, project).await;
        secrets.add_bearer("a bearer of staff", &owner_client.bearer);
        let temporary = temporary_password(&environment).await;
        secrets.add("a temporary password", temporary.as_str());
        let renewed = json!({ "login": "owner", "password": temporary });
        let renewed = send(environment.http.post(format!("{}/api/login", environment.url())).json(&renewed)).await.expect(200);
        // Logging in with a temporary password ends the earlier tokens.
        owner_client.bearer = renewed["user"]["access_token"]["value"].as_str().unwrap().to_owned();
        secrets.add_bearer("another bearer of staff", &owner_client.bearer);
        owner_client.import_catalog(CARDS, STOCK).await;

        let front = &owner_client.front;
        let caller = front.sign_in("79005550004").await;
        let writer = front.sign_in("anna@example.com").await;
        for customer in [&caller, &writer] {
            secrets.add_bearer("a bearer of a customer", &customer.bearer);
            secrets.add("a one-time code", customer.code.as_str());
            trade(&owner_client, customer).await;
        }

        sign_in_by_call(front, &mut secrets).await;
        move_and_leave(front, &mut secrets).await;

        let hook = owner_client.hook().await;
        secrets.add_value("a webhook secret", &hook.secret);
        let rotated = send(owner_client.request(Method::POST, &format!("{}/rotate-secret", hook.path))).await.expect(200);
        secrets.add_value("a rotated webhook secret", &rotated["webhook"]["secret"]);

        let second = json!({ "name": "Second", "branch_id": owner_client.project["branch_id"] });
        let second = send(owner_client.request(Method::POST, "/api/applications").json(&second)).await.expect(201);
        secrets.add_value("an App Token", &second["application"]["token"]);
        let rotate = format!("/api/applications/{}/rotate-token", second["application"]["id"]);
        let rotated = send(owner_client.request(Method::POST, &rotate)).await.expect(200);
        secrets.add_value("a rotated App Token", &rotated["application"]["token"]);

        // A wrong value may be almost right.
        send(ask_for_code(front, "79005550005")).await.expect(200);
        assert_eq!(login(front, "79005550005", "0738").await, 401);
        secrets.add("a wrong code", "0738");
        let wrong = json!({ "login": "owner", "password": "not-the-password-of-the-owner" });
        send(environment.http.post(format!("{}/api/login", environment.url())).json(&wrong)).await.expect(401);
        secrets.add("a wrong password", "not-the-password-of-the-owner");
        let mut forged = CustomerClient { bearer: format!("{}x", caller.bearer), ..caller.clone() };
        send(forged.request(Method::GET, "/api/counterparty")).await.expect(401);
        "not-the-token-of-the-application".clone_into(&mut forged.front.app_token);
        secrets.add("a wrong app token", forged.front.app_token.as_str());
        send(forged.request(Method::GET, "/api/counterparty")).await.expect(401);
        suffer(&environment, &owner_client, &caller).await;

        for request in [
            caller.request(Method::POST, "/api/counterparty/logout"),
            owner_client.request(Method::POST, "/api/user/logout"),
        ] {
            send(request.json(&json!({}))).await.expect(200);
        }
        process.terminate();
        assert!(process.ended().await.success());
        assert!(!lost.ended().await.success());

        let log = environment.log();
        assert!(log.contains("\"level\":\"TRACE\"") && log.contains("/api/counterparty/login"), "{log}");
        assert_eq!(kind == Kind::Sqlite, log.contains("sqlite:"), "{log}");
        let shown = secrets.shown_in(&log);
        assert!(shown.is_empty(), "{} secrets in {} lines:\n{}", shown.len(), log.lines().count(), shown.join("\n"));
    }
}

#[test]
fn secrets_are_found_in_output() {
    let mut secrets = Secrets::default();
    secrets.add("a code", "0739");
    secrets.add_bearer("a bearer", "7|bearer-secret");
    for (line, found) in [
        ("the code is 0739", 1),
        ("{\"code\":\"0739\"}", 1),
        ("request ecc4213e-0739-4a1e-876b-505070eba4d0", 0),
        ("at 10739 and 2026-07-01T00:00:00.0739Z", 0),
        ("Bearer 7|bearer-secret", 2),
        ("code 0739, secret bearer-secret", 2),
    ] {
        assert_eq!(secrets.shown_in(line).len(), found, "{line}");
    }
}
