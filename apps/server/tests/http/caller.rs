//! A customer who logs in by calling a number.

use reqwest::Method;
use serde_json::{Value, json};

use crate::outside::Outside;
use crate::support::{Answer, Project, send};

pub const PHONE: &str = "79001234567";
const PATH: &str = "/api/counterparty/callback_auth";

/// Returns a nonce that begins like this.
pub fn nonce(start: &str) -> String {
    format!("{start:_<40}")
}

/// Calls a step of the flow as an application.
pub async fn step(outside: &Outside, project: &Project, step: &str, body: Value) -> Answer {
    send(outside.server.as_app(project, Method::POST, &format!("{PATH}/{step}")).json(&body)).await
}

pub async fn init(outside: &Outside, project: &Project, phone: &str, nonce: &str) -> Answer {
    step(outside, project, "init", json!({ "phone": phone, "client_nonce": nonce })).await
}

/// An attempt that has started.
#[derive(Clone)]
pub struct Caller<'a> {
    outside: &'a Outside,
    project: &'a Project,
    pub phone: String,
    pub nonce: String,
    pub session_token: String,
    pub number: String,
}

impl<'a> Caller<'a> {
    /// Starts an attempt with a separate nonce.
    pub async fn begin(outside: &'a Outside, project: &'a Project, phone: &str) -> Self {
        let nonce = nonce(&format!("{phone}-{}", attempts(outside).await));
        let begun = init(outside, project, phone, &nonce).await.expect(200);
        let text = |name: &str| begun[name].as_str().unwrap().to_owned();
        Self {
            outside,
            project,
            phone: phone.to_owned(),
            nonce,
            session_token: text("session_token"),
            number: text("callback_number"),
        }
    }

    pub fn secrets(&self) -> Value {
        json!({ "session_token": self.session_token, "client_nonce": self.nonce })
    }

    pub async fn status(&self) -> Answer {
        step(self.outside, self.project, "status", self.secrets()).await
    }

    pub async fn exchange(&self) -> Answer {
        step(self.outside, self.project, "exchange", self.secrets()).await
    }

    /// Calls the number from a phone. Returns the number of checks this confirms.
    pub async fn call_from(&self, phone: &str) -> usize {
        let called = self.outside.control("/calls", json!({ "from": phone, "to": self.number })).await;
        called["confirmed"].as_array().unwrap().len()
    }

    /// Calls the number from the phone to verify.
    pub async fn call(&self) {
        assert_eq!(self.call_from(&self.phone).await, 1);
    }
}

/// Returns the number of attempts.
pub async fn attempts(outside: &Outside) -> i64 {
    outside.server.insert("SELECT COUNT(*) AS id FROM callback_attempts".to_owned()).await
}

/// Returns the number of customers.
pub async fn customers(outside: &Outside) -> i64 {
    outside.server.insert("SELECT COUNT(*) AS id FROM counterparties".to_owned()).await
}

/// Checks a structured refusal and returns its details.
pub fn refused(answer: &Answer, status: u16, code: &str, next_action: &str) -> Value {
    let body = answer.expect(status);
    let error = &body["error"];
    assert_eq!(
        (&body["message"], &error["code"], &error["next_action"]),
        (&json!(code), &json!(code), &json!(next_action))
    );
    let mut keys: Vec<_> = error.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    assert_eq!(keys, ["code", "message", "next_action", "request_id", "retry_after_seconds"]);
    assert!(error["message"].as_str().unwrap().contains(' ') && error["message"] != code, "{body}");
    assert_eq!(error["request_id"], answer.headers["x-request-id"].to_str().unwrap());
    let retry = answer.headers.get("retry-after").map(|value| value.to_str().unwrap().parse::<u64>().unwrap());
    assert_eq!(error["retry_after_seconds"], json!(retry));
    body
}
