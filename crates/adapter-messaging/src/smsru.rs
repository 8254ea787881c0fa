//! SMS.RU: how its methods are called and how its answers are read.

use std::time::Duration;

use kontor_auth::ports::SendError;
use kontor_kernel::{ExposeSecret, SecretString};
use serde_json::Value;

use crate::http::{ClientError, client, read_start};

const CONNECT: Duration = Duration::from_secs(5);
const TIMEOUT: Duration = Duration::from_secs(10);
const MOST_OF_AN_ANSWER: usize = 64 * 1024;

/// The account that calls and messages are ordered with.
#[derive(Debug, Clone)]
pub struct CallSettings {
    /// The provider's address without a trailing slash, such as `https://sms.ru`.
    pub base_url: String,
    /// The account's key.
    pub api_id: SecretString,
}

/// Calls the methods of the provider. Nothing is repeated by itself.
pub(crate) struct SmsRu {
    client: reqwest::Client,
    base_url: String,
    api_id: SecretString,
    timeout: Duration,
}

impl SmsRu {
    /// A client that gives the provider ten seconds for an answer.
    pub(crate) fn new(settings: CallSettings) -> Result<Self, ClientError> {
        let base_url = settings.base_url.trim_end_matches('/').to_owned();
        let client = client().connect_timeout(CONNECT).build()?;
        Ok(Self { client, base_url, api_id: settings.api_id, timeout: TIMEOUT })
    }

    /// The same client with another limit for a whole exchange.
    pub(crate) fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Calls a method and gives its answer, when that says `OK` as a whole.
    pub(crate) async fn ask(&self, path: &str, fields: &[(&str, &str)]) -> Result<Value, SendError> {
        let unavailable = |error: reqwest::Error| SendError::Unavailable(error.without_url().to_string());
        let form: Vec<_> =
            [("api_id", self.api_id.expose_secret())].into_iter().chain(fields.iter().copied()).collect();
        let post = self.client.post(format!("{}{path}", self.base_url)).timeout(self.timeout).form(&form);
        let response = post.send().await.map_err(unavailable)?;
        let status = response.status();
        let body = read_start(response, MOST_OF_AN_ANSWER).await.map_err(unavailable)?;
        if !status.is_success() {
            return Err(SendError::Unavailable(format!("the telephony provider answered {status}")));
        }
        read_answer(&body)
    }
}

/// An answer that is not what the provider describes.
pub(crate) fn senseless() -> SendError {
    SendError::Unavailable("the answer of the telephony provider makes no sense".to_owned())
}

/// The answer, when it says `OK`.
pub(crate) fn read_answer(body: &[u8]) -> Result<Value, SendError> {
    let answer: Value = serde_json::from_slice(body).map_err(|_| senseless())?;
    match answer.get("status").and_then(Value::as_str) {
        Some("OK") => Ok(answer),
        Some("ERROR") => Err(refusal(&answer)),
        _ => Err(senseless()),
    }
}

/// 220 and 500 are the provider's own troubles; everything else is a refusal of this call.
pub(crate) fn refusal(answer: &Value) -> SendError {
    let number = answer.get("status_code").and_then(Value::as_u64);
    let text = answer.get("status_text").and_then(Value::as_str).unwrap_or("no reason given");
    match number {
        Some(220 | 500) => SendError::Unavailable(text.to_owned()),
        Some(number) => SendError::Refused(format!("{number}: {text}")),
        None => SendError::Refused(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_told_from_a_provider_in_trouble() {
        let refused = [
            (r#"{"status":"ERROR","status_code":202,"status_text":"bad phone"}"#, "202: bad phone"),
            (r#"{"status":"ERROR","status_text":"no"}"#, "no"),
        ];
        for (body, expected) in refused {
            assert!(
                matches!(read_answer(body.as_bytes()), Err(SendError::Refused(text)) if text == expected),
                "{body}"
            );
        }
        let unavailable = [
            r#"{"status":"ERROR","status_code":220,"status_text":"later"}"#,
            r#"{"status":"ERROR","status_code":500}"#,
            r#"{"code":"1234"}"#,
            "[]",
            "<html>",
            "",
        ];
        for body in unavailable {
            assert!(matches!(read_answer(body.as_bytes()), Err(SendError::Unavailable(_))), "{body}");
        }
    }
}
