//! The service as the employee of the demo reaches it.

use reqwest::multipart::{Form, Part};
use reqwest::{Client, Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};

use crate::cli::Failure;

/// An employee who has signed in.
pub struct Desk<'a> {
    /// Without the proxies of the environment: everything is on this machine.
    pub http: Client,
    base_url: &'a str,
    bearer: String,
}

impl<'a> Desk<'a> {
    /// Signs in; `None` when the service does not know this login with this password, or knows it no more.
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

    /// Sends a body.
    pub async fn post(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        self.send(Method::POST, path, |request| request.json(body)).await
    }

    /// Makes a record and gives its number, which stands at the pointer of the answer.
    pub async fn make(&self, path: &str, body: &Value, pointer: &str) -> Result<i64, Failure> {
        let made = self.post(path, body).await?;
        at(&made, pointer)?.as_i64().ok_or_else(|| format!("{path}: {pointer} is no number").into())
    }

    /// Sends a file.
    pub async fn upload(&self, path: &str, name: &'static str, text: String) -> Result<Value, Failure> {
        let form = Form::new().part("file", Part::text(text).file_name(name));
        self.send(Method::POST, path, |request| request.multipart(form)).await
    }

    /// Asks, and fails unless the answer is a success.
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

/// What stands at a JSON pointer.
pub fn at<'v>(value: &'v Value, pointer: &str) -> Result<&'v Value, Failure> {
    value.pointer(pointer).ok_or_else(|| format!("an answer lacks {pointer}: {value}").into())
}
