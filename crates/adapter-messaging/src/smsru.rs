//! Common parts of the calls to SMS.RU.

use std::time::Duration;

use kontor_kernel::{ExposeSecret, SecretString};
use serde_json::Value;

use crate::http::{ClientError, client, read_start};

const CONNECT: Duration = Duration::from_secs(5);
const TIMEOUT: Duration = Duration::from_secs(10);
const MAX_RESPONSE_BYTES: usize = 64 * 1024;

/// Address and key of the provider.
#[derive(Debug, Clone)]
pub struct CallSettings {
    /// Address of the provider without a trailing slash, such as `https://sms.ru`.
    pub base_url: String,
    /// Key of the account.
    pub api_id: SecretString,
}

/// Reason why there is no usable response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ProviderError {
    /// The provider refused, with its number for the reason, if any.
    Refused(Option<u64>, String),
    /// The provider failed, could not be reached, or its response was malformed.
    Unavailable(String),
}

/// Calls the methods of the provider. Every exchange ends within ten seconds, and none is retried.
pub(crate) struct SmsRu {
    client: reqwest::Client,
    base_url: String,
    api_id: SecretString,
    timeout: Duration,
}

impl SmsRu {
    pub(crate) fn new(settings: CallSettings) -> Result<Self, ClientError> {
        let client = client().connect_timeout(CONNECT).build()?;
        let base_url = settings.base_url.trim_end_matches('/').to_owned();
        Ok(Self { client, base_url, api_id: settings.api_id, timeout: TIMEOUT })
    }

    pub(crate) fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Returns the key of the account; empty when there is no account.
    pub(crate) fn api_id(&self) -> &str {
        self.api_id.expose_secret()
    }

    /// Returns the provider's response if its status is `OK`.
    pub(crate) async fn ask(&self, path: &str, fields: &[(&str, &str)]) -> Result<Value, ProviderError> {
        let unavailable = |error: reqwest::Error| ProviderError::Unavailable(error.without_url().to_string());
        let form: Vec<(&str, &str)> = [("api_id", self.api_id())].into_iter().chain(fields.iter().copied()).collect();
        let post = self.client.post(format!("{}{path}", self.base_url)).timeout(self.timeout).form(&form);
        let response = kontor_traces::send(post, "telephony").await.map_err(unavailable)?;
        let status = response.status();
        let body = read_start(response, MAX_RESPONSE_BYTES).await.map_err(unavailable)?;
        if !status.is_success() {
            return Err(ProviderError::Unavailable(format!("the telephony provider answered {status}")));
        }
        read_answer(&body)
    }
}

/// Returns the error for a response that does not match the provider's documentation.
pub(crate) fn unexpected_response() -> ProviderError {
    ProviderError::Unavailable("the response of the telephony provider is not valid".to_owned())
}

/// Parses a response; its status must be `OK`.
pub(crate) fn read_answer(body: &[u8]) -> Result<Value, ProviderError> {
    let answer: Value = serde_json::from_slice(body).map_err(|_| unexpected_response())?;
    match answer.get("status").and_then(Value::as_str) {
        Some("OK") => Ok(answer),
        Some("ERROR") => Err(refusal(&answer)),
        _ => Err(unexpected_response()),
    }
}

/// Returns the error of a response. 220 and 500 are failures of the provider; everything else is a refusal of this
/// call.
pub(crate) fn refusal(answer: &Value) -> ProviderError {
    let number = answer.get("status_code").and_then(number);
    let text = answer.get("status_text").and_then(Value::as_str).unwrap_or("no reason given").to_owned();
    match number {
        Some(220 | 500) => ProviderError::Unavailable(text),
        number => ProviderError::Refused(number, text),
    }
}

/// Parses a number, which may be a JSON number or a text.
pub(crate) fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.trim().parse().ok())
}
