//! API client of the demo's employee.

use reqwest::multipart::{Form, Part};
use reqwest::{Client, Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};

use crate::cli::Failure;

/// Logged-in employee.
pub struct ApiClient<'a> {
    /// Client that ignores proxy settings, because everything runs on this machine.
    pub http: Client,
    base_url: &'a str,
    bearer: String,
}

impl<'a> ApiClient<'a> {
    /// Logs in. Returns `None` if the service rejects the login or password.
    pub async fn open(base_url: &'a str, login: &str, password: &str) -> Result<Option<Self>, Failure> {
        let http = Client::builder().no_proxy().build()?;
        let body = json!({ "login": login, "password": password });
        let response = http.post(format!("{base_url}/api/login")).json(&body).send().await?;
        if matches!(response.status(), StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return Ok(None);
        }
        let answer: Value = response.error_for_status()?.json().await?;
        let bearer = at(&answer, "/user/access_token/value")?.as_str().unwrap_or_default().to_owned();
        Ok(Some(Self { http, base_url, bearer }))
    }

    /// Sends a body by `POST`.
    pub async fn post(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        self.send(Method::POST, path, |request| request.json(body)).await
    }

    /// Creates a record and returns its id, which the response has at the JSON pointer.
    pub async fn make(&self, path: &str, body: &Value, pointer: &str) -> Result<i64, Failure> {
        let made = self.post(path, body).await?;
        at(&made, pointer)?.as_i64().ok_or_else(|| format!("{path}: {pointer} is not a number").into())
    }

    /// Sends a file.
    pub async fn upload(&self, path: &str, name: &'static str, text: String) -> Result<Value, Failure> {
        let form = Form::new().part("file", Part::text(text).file_name(name));
        self.send(Method::POST, path, |request| request.multipart(form)).await
    }

    /// Sends a request, and fails unless the response is a success.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        fill: impl FnOnce(RequestBuilder) -> RequestBuilder,
    ) -> Result<Value, Failure> {
        let request = self.http.request(method, format!("{}{path}", self.base_url)).bearer_auth(&self.bearer);
        let response = fill(request).send().await?;
        let (status, text) = (response.status(), response.text().await?);
        if status.is_success() {
            Ok(serde_json::from_str(&text)?)
        } else {
            Err(format!("{path} answered {status}: {text}").into())
        }
    }
}

/// Returns the value at a JSON pointer.
pub fn at<'v>(value: &'v Value, pointer: &str) -> Result<&'v Value, Failure> {
    value.pointer(pointer).ok_or_else(|| format!("an answer lacks {pointer}: {value}").into())
}
