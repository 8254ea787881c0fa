//! A client of Kontor for an application.

use std::time::Duration;

use reqwest::{Client, Method, RequestBuilder, StatusCode};
use serde_json::Value;

use crate::settings::Settings;

/// Timeout of requests to Kontor.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

/// A client of Kontor for one application.
#[derive(Clone)]
pub struct Kontor {
    http: Client,
    settings: Settings,
}

/// Reason why a call failed.
#[derive(Debug)]
pub enum CallError {
    /// The customer's token is unknown or no longer valid.
    SignedOut,
    /// Kontor refused, with a status and a body for the caller.
    Refused(StatusCode, Value),
    /// Kontor cannot be reached, or failed.
    Unreachable,
}

impl Kontor {
    /// Creates a client with these settings. The first one in a process installs its TLS provider.
    pub fn new(settings: Settings) -> reqwest::Result<Self> {
        // An error means that the process has installed a provider already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Ok(Self { http: Client::builder().timeout(REQUEST_TIMEOUT).build()?, settings })
    }

    /// Returns the plan that grants the lesson.
    pub fn plan(&self) -> &str {
        &self.settings.plan
    }

    /// Returns the URL where a customer subscribes, for callers that hold the token themselves.
    pub fn checkout_url(&self) -> String {
        format!("{}/api/counterparty/subscriptions/checkout", self.settings.kontor)
    }

    /// Returns the customer's subscriptions.
    pub async fn subscriptions(&self, token: &str) -> Result<Value, CallError> {
        let asked = self.request(Method::GET, "/api/counterparty/subscriptions").bearer_auth(token);
        Ok(answered(asked).await?.get_mut("data").map(Value::take).unwrap_or_default())
    }

    /// Starts a first payment. Only the customer can consent to recurring charges.
    pub async fn check_out(&self, token: &str, consents: bool) -> Result<Value, CallError> {
        let plans = self.request(Method::GET, "/api/counterparty/subscription-plans").bearer_auth(token);
        let plans = answered(plans).await?;
        let called = |plan: &&Value| plan.get("plan_slug").and_then(Value::as_str) == Some(self.plan());
        let plan = plans.get("data").and_then(Value::as_array).and_then(|plans| plans.iter().find(called));
        let Some(plan) = plan.and_then(|plan| plan.get("nomenclature_id")) else { return Err(CallError::Unreachable) };
        let body = serde_json::json!({ "nomenclature_id": plan, "autopay_consent": consents });
        let asked = self.request(Method::POST, "/api/counterparty/subscriptions/checkout").bearer_auth(token);
        answered(asked.json(&body)).await
    }

    /// Sends a code to a phone.
    pub async fn send_code(&self, phone: &str) -> Result<Value, CallError> {
        let body = serde_json::json!({ "phone": phone });
        answered(self.request(Method::POST, "/api/counterparty/send_password").json(&body)).await
    }

    /// Logs a customer in with that code and returns their token.
    pub async fn log_in(&self, phone: &str, code: &str) -> Result<String, CallError> {
        let body = serde_json::json!({ "phone": phone, "password": code });
        let known = answered(self.request(Method::POST, "/api/counterparty/login").json(&body)).await?;
        let token = known.pointer("/counterparty/access_token/value").and_then(Value::as_str);
        token.map(str::to_owned).ok_or(CallError::Unreachable)
    }

    /// Revokes a token.
    pub async fn log_out(&self, token: &str) -> Result<Value, CallError> {
        answered(self.request(Method::POST, "/api/counterparty/logout").bearer_auth(token)).await
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let url = format!("{}{path}", self.settings.kontor);
        self.http.request(method, url).header("Token", &self.settings.app_token)
    }
}

async fn answered(request: RequestBuilder) -> Result<Value, CallError> {
    let answer = request.send().await.map_err(|_| CallError::Unreachable)?;
    let status = answer.status();
    let body = answer.json::<Value>().await;
    match (status, body) {
        (StatusCode::UNAUTHORIZED, _) => Err(CallError::SignedOut),
        (status, Ok(body)) if status.is_success() => Ok(body),
        (status, Ok(body)) if status.is_client_error() => Err(CallError::Refused(status, body)),
        _ => Err(CallError::Unreachable),
    }
}
