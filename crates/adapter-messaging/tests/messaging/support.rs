//! The sandbox, receivers that misbehave, and signed requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use chrono::{DateTime, Utc};
use kontor_adapter_messaging::HmacSigner;
use kontor_kernel::FixedClock;
use kontor_kernel::testing::PlainCipher;
use kontor_sandbox::{Sandbox, SandboxConfig, SandboxHandle};
use kontor_webhooks::model::{DeliveryRequest, EndpointUrl, Message, OutboundPolicy, WebhookSecret};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use uuid::Uuid;

pub const SECRET: &str = "whsec_0123456789abcdefghijABCDEFGHIJ0123456789abc";
pub const BODY: &str = "{\"order_id\": 7, \"примечание\": \"оплачен\"}";

pub struct Outside {
    pub sandbox: SandboxHandle,
    http: reqwest::Client,
}

pub async fn outside() -> Outside {
    let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
    let sandbox = Sandbox::start(SandboxConfig::new(clock)).await.unwrap();
    Outside { sandbox, http: reqwest::Client::builder().no_proxy().build().unwrap() }
}

impl Outside {
    pub async fn get(&self, path: &str) -> Value {
        self.http.get(format!("{}{path}", self.sandbox.url())).send().await.unwrap().json().await.unwrap()
    }

    pub async fn post(&self, path: &str, body: Value) -> Value {
        let call = self.http.post(format!("{}{path}", self.sandbox.url())).json(&body);
        call.send().await.unwrap().json().await.unwrap()
    }

    /// Makes the next call of this service fail in this way.
    pub async fn fault(&self, service: &str, fault: &str) {
        let planned = self.post("/control/faults", json!({ "service": service, "fault": fault })).await;
        assert!(planned["faults"].is_array(), "{planned}");
    }

    /// Creates a webhook receiver that responds with this status. Returns its id and its address.
    pub async fn hook(&self, status: u16) -> (String, String) {
        let hook = self.post("/control/hooks", json!({ "status": status })).await;
        (hook["id"].as_str().unwrap().to_owned(), hook["url"].as_str().unwrap().to_owned())
    }

    pub async fn deliveries(&self, hook: &str) -> Vec<Value> {
        self.get(&format!("/control/hooks/{hook}")).await["deliveries"].as_array().unwrap().clone()
    }

    pub async fn messages(&self, to: &str) -> Vec<Value> {
        self.get(&format!("/control/messages?to={to}")).await["messages"].as_array().unwrap().clone()
    }
}

/// Returns a delivery for this address, signed at this time.
pub fn request(url: &str, at: DateTime<Utc>) -> DeliveryRequest {
    let message = Message {
        event: "order.paid".to_owned(),
        event_id: Uuid::from_u128(1),
        delivery_id: Uuid::from_u128(2),
        body: BODY.to_owned(),
    };
    let secret = WebhookSecret::open(&format!("sealed:{SECRET}"), &PlainCipher).unwrap();
    DeliveryRequest::sign(message, EndpointUrl::parse(url).unwrap(), &secret, at, &HmacSigner)
}

/// Returns a policy that permits this machine and no other internal address.
pub fn loopback() -> OutboundPolicy {
    let networks = vec!["127.0.0.0/8".parse().unwrap(), "::1/128".parse().unwrap()];
    OutboundPolicy { allow_http: true, internal_networks: networks }
}

/// A receiver that responds to every connection with the same bytes and counts them.
pub struct Receiver {
    pub port: u16,
    calls: Arc<AtomicUsize>,
}

impl Receiver {
    /// Responds with `answer`; with `endless` it continues with zeros until the caller disconnects.
    pub async fn start(answer: String, endless: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let calls = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&calls);
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                counter.fetch_add(1, Ordering::SeqCst);
                let answer = answer.clone();
                tokio::spawn(async move {
                    let mut request = [0; 4096];
                    let _ = socket.read(&mut request).await;
                    let _ = socket.write_all(answer.as_bytes()).await;
                    while endless && socket.write_all(&[b'0'; 8192]).await.is_ok() {}
                });
            }
        });
        Self { port, calls }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook", self.port)
    }

    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}
