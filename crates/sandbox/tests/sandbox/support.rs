//! A running sandbox on a fixed clock, with helpers to call it.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeZone as _, Utc};
use kontor_kernel::{AdjustableClock, FixedClock};
use kontor_sandbox::{Sandbox, SandboxConfig, SandboxHandle};
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};

pub const SHOP: &str = "100500";
pub const KEY: &str = "test_sandbox_secret_key";
pub const CARD: &str = "5555555555554444";

pub struct Outside {
    pub handle: SandboxHandle,
    pub clock: Arc<AdjustableClock>,
    pub http: Client,
}

pub fn start_of_time() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2031, 5, 6, 7, 8, 9).unwrap()
}

/// Pause between two looks.
pub async fn moment() {
    tokio::time::sleep(Duration::from_millis(20)).await;
}

pub fn client() -> Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().redirect(reqwest::redirect::Policy::none()).no_proxy().build().unwrap()
}

pub async fn outside() -> Outside {
    outside_with(|config| config).await
}

pub async fn outside_with(adjust: impl FnOnce(SandboxConfig) -> SandboxConfig) -> Outside {
    let clock = Arc::new(AdjustableClock::new(Arc::new(FixedClock::at(start_of_time()))));
    let config = adjust(SandboxConfig::with_adjustable_clock(Arc::clone(&clock)));
    Outside { handle: Sandbox::start(config).await.unwrap(), clock, http: client() }
}

/// A status and a JSON body.
pub type Answer = (u16, Value);

pub async fn read(response: Response) -> Answer {
    let status = response.status().as_u16();
    let text = response.text().await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

impl Outside {
    pub fn at(&self, path: &str) -> String {
        format!("{}{path}", self.handle.url())
    }

    pub async fn get(&self, path: &str) -> Answer {
        read(self.http.get(self.at(path)).send().await.unwrap()).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        read(self.http.post(self.at(path)).json(&body).send().await.unwrap()).await
    }

    /// Prepares a call to the acquirer that changes something.
    pub fn write(&self, path: &str, key: &str, body: Option<&Value>) -> RequestBuilder {
        let call = self.http.post(self.at(&format!("/v3{path}"))).basic_auth(SHOP, Some(KEY));
        let call = call.header("Idempotence-Key", key);
        match body {
            Some(body) => call.json(body),
            None => call,
        }
    }

    pub async fn acquire(&self, path: &str, key: &str, body: Option<Value>) -> Answer {
        read(self.write(path, key, body.as_ref()).send().await.unwrap()).await
    }

    /// Calls the acquirer for reading.
    pub async fn look(&self, path: &str) -> Answer {
        let call = self.http.get(self.at(&format!("/v3{path}"))).basic_auth(SHOP, Some(KEY));
        read(call.send().await.unwrap()).await
    }

    /// Creates a pending payment of 100 roubles; `extra` fields are added to its order.
    pub async fn payment(&self, key: &str, extra: Value) -> Value {
        let (status, payment) = self.acquire("/payments", key, Some(order(extra))).await;
        assert_eq!(status, 200, "{payment}");
        payment
    }

    /// Creates a paid payment of 100 roubles.
    pub async fn paid(&self, key: &str, extra: Value) -> Value {
        let payment = self.payment(key, extra).await;
        let (status, payment) = self.act(&payment, json!({ "outcome": "succeed" })).await;
        assert_eq!(status, 200, "{payment}");
        payment
    }

    /// Applies an action of the payer to a payment.
    pub async fn act(&self, payment: &Value, act: Value) -> Answer {
        self.post(&format!("/control/payments/{}", id(payment)), act).await
    }

    pub async fn fault(&self, service: &str, fault: &str, times: u32, delay_ms: u64) {
        let body = json!({ "service": service, "fault": fault, "times": times, "delay_ms": delay_ms });
        let (status, answer) = self.post("/control/faults", body).await;
        assert_eq!(status, 200, "{answer}");
    }

    /// Opens a hook and returns its id and URL.
    pub async fn hook(&self, body: Value) -> (String, String) {
        let (status, hook) = self.post("/control/hooks", body).await;
        assert_eq!(status, 201, "{hook}");
        (hook["id"].as_str().unwrap().to_owned(), hook["url"].as_str().unwrap().to_owned())
    }

    /// Returns the deliveries to a hook, once there are at least `count`.
    pub async fn deliveries(&self, hook: &str, count: usize) -> Vec<Value> {
        for _ in 0..3_000 {
            let (_, answer) = self.get(&format!("/control/hooks/{hook}")).await;
            let deliveries = answer["deliveries"].as_array().unwrap().clone();
            if deliveries.len() >= count {
                return deliveries;
            }
            moment().await;
        }
        panic!("fewer than {count} deliveries came");
    }

    pub async fn messages(&self, to: &str) -> Vec<Value> {
        let call = self.http.get(self.at("/control/messages")).query(&[("to", to)]);
        let (_, answer) = read(call.send().await.unwrap()).await;
        answer["messages"].as_array().unwrap().clone()
    }
}

pub fn order(extra: Value) -> Value {
    let mut order = json!({
        "amount": { "value": "100.00", "currency": "RUB" },
        "capture": true,
        "description": "Order 1",
        "confirmation": { "type": "redirect", "return_url": "https://shop.test/back?order=1" },
    });
    let Value::Object(extra) = extra else { panic!("fields are expected") };
    order.as_object_mut().unwrap().extend(extra);
    order
}

pub fn id(object: &Value) -> &str {
    object["id"].as_str().unwrap()
}

/// Asserts the acquirer's error body.
pub fn assert_refused(answer: &Answer, status: StatusCode, code: &str, description: &str) {
    let (got, body) = answer;
    assert_eq!(*got, status.as_u16(), "{body}");
    assert_eq!(
        (&body["type"], &body["code"], &body["description"]),
        (&json!("error"), &json!(code), &json!(description))
    );
    assert_eq!(id(body).len(), 36);
}
