//! Kontor as an application reaches it.

use std::time::Duration;

use reqwest::{Client, Method, RequestBuilder, StatusCode};
use serde_json::Value;

use crate::settings::Settings;

/// Nobody waits longer for a lesson.
const PATIENCE: Duration = Duration::from_secs(5);

/// Kontor, asked by one application.
#[derive(Clone)]
pub struct Kontor {
    http: Client,
    settings: Settings,
}

/// Why there is no answer to go by.
#[derive(Debug)]
pub enum Unanswered {
    /// Kontor does not know the customer's token, or knows it no more.
    SignedOut,
    /// Kontor refuses, with a status and a body that are meant for whoever asked.
    Refused(StatusCode, Value),
    /// Kontor cannot be asked, or does not know itself.
    Unreachable,
}

impl Kontor {
    /// Reaches Kontor by these settings. The first one in a process chooses its TLS provider.
    pub fn new(settings: Settings) -> reqwest::Result<Self> {
        // An error means that the process has chosen already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Ok(Self { http: Client::builder().timeout(PATIENCE).build()?, settings })
    }

    /// The plan that opens the lesson.
    pub fn plan(&self) -> &str {
        &self.settings.plan
    }

    /// Where a customer subscribes, for those who hold a token of their own.
    pub fn checkout_url(&self) -> String {
        format!("{}/api/counterparty/subscriptions/checkout", self.settings.kontor)
    }

    /// The customer's subscriptions.
    pub async fn subscriptions(&self, token: &str) -> Result<Value, Unanswered> {
        let asked = self.request(Method::GET, "/api/counterparty/subscriptions").bearer_auth(token);
        Ok(answered(asked).await?.get_mut("data").map(Value::take).unwrap_or_default())
    }

    /// Begins a first payment. The customer consents to recurring charges: that is theirs to say, not ours.
    pub async fn check_out(&self, token: &str, consents: bool) -> Result<Value, Unanswered> {
        let plans = self.request(Method::GET, "/api/counterparty/subscription-plans").bearer_auth(token);
        let plans = answered(plans).await?;
        let called = |plan: &&Value| plan.get("plan_slug").and_then(Value::as_str) == Some(self.plan());
        let plan = plans.get("data").and_then(Value::as_array).and_then(|plans| plans.iter().find(called));
        let Some(plan) = plan.and_then(|plan| plan.get("nomenclature_id")) else { return Err(Unanswered::Unreachable) };
        let body = serde_json::json!({ "nomenclature_id": plan, "autopay_consent": consents });
        let asked = self.request(Method::POST, "/api/counterparty/subscriptions/checkout").bearer_auth(token);
        answered(asked.json(&body)).await
    }

    /// Has a code sent to a phone.
    pub async fn send_code(&self, phone: &str) -> Result<Value, Unanswered> {
        let body = serde_json::json!({ "phone": phone });
        answered(self.request(Method::POST, "/api/counterparty/send_password").json(&body)).await
    }

    /// Signs a customer in by that code; gives their token.
    pub async fn log_in(&self, phone: &str, code: &str) -> Result<String, Unanswered> {
        let body = serde_json::json!({ "phone": phone, "password": code });
        let known = answered(self.request(Method::POST, "/api/counterparty/login").json(&body)).await?;
        let token = known.pointer("/counterparty/access_token/value").and_then(Value::as_str);
        token.map(str::to_owned).ok_or(Unanswered::Unreachable)
    }

    /// Lets a token open nothing any more.
    pub async fn log_out(&self, token: &str) -> Result<Value, Unanswered> {
        answered(self.request(Method::POST, "/api/counterparty/logout").bearer_auth(token)).await
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let url = format!("{}{path}", self.settings.kontor);
        self.http.request(method, url).header("Token", &self.settings.app_token)
    }
}

async fn answered(request: RequestBuilder) -> Result<Value, Unanswered> {
    let answer = request.send().await.map_err(|_| Unanswered::Unreachable)?;
    let status = answer.status();
    let body = answer.json::<Value>().await;
    match (status, body) {
        (StatusCode::UNAUTHORIZED, _) => Err(Unanswered::SignedOut),
        (status, Ok(body)) if status.is_success() => Ok(body),
        (status, Ok(body)) if status.is_client_error() => Err(Unanswered::Refused(status, body)),
        _ => Err(Unanswered::Unreachable),
    }
}
