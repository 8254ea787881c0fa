//! SMS.RU: its calls, and flash calls, where the last four digits of the calling number are the code.

use std::net::IpAddr;
use std::time::Duration;

use kontor_kernel::{ExposeSecret, Phone, SecretString, SendError};
use serde_json::Value;

use crate::{ClientError, client, read_start};

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

const DIGITS: usize = 4;

/// Client for flash calls.
pub struct FlashCalls(SmsRu);

impl From<ProviderError> for SendError {
    fn from(failure: ProviderError) -> Self {
        match failure {
            ProviderError::Refused(Some(number), text) => Self::Refused(format!("{number}: {text}")),
            ProviderError::Refused(None, text) => Self::Refused(text),
            ProviderError::Unavailable(text) => Self::Unavailable(text),
        }
    }
}

impl FlashCalls {
    /// Creates a client of the provider with a timeout of ten seconds.
    pub fn new(settings: CallSettings) -> Result<Self, ClientError> {
        SmsRu::new(settings).map(Self)
    }

    /// Sets another timeout for a whole exchange.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self(self.0.with_timeout(timeout))
    }

    /// Calls the phone once and returns the code, four digits. The request is not retried, because every call rings.
    pub async fn call(&self, phone: &Phone, ip: Option<IpAddr>) -> Result<String, SendError> {
        // Value of the provider for an unknown address.
        let ip = ip.map_or_else(|| "-1".to_owned(), |ip| ip.to_string());
        read(self.0.ask("/code/call", &[("phone", phone.as_str()), ("ip", &ip)]).await)
    }
}

fn read(answer: Result<Value, ProviderError>) -> Result<String, SendError> {
    Ok(code(answer?.get("code")).ok_or_else(unexpected_response)?)
}

/// Returns the code. It is a text, or a number that has lost its leading zeros.
fn code(value: Option<&Value>) -> Option<String> {
    let text = match value? {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.as_u64()?.to_string(),
        _ => return None,
    };
    let sound = (1..=DIGITS).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    sound.then(|| format!("{text:0>DIGITS$}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smsru;

    fn read_answer(body: &[u8]) -> Result<String, SendError> {
        read(smsru::read_answer(body))
    }

    #[test]
    fn a_code_keeps_its_leading_zeros() {
        let cases = [
            (r#"{"status":"OK","code":"1435","call_id":"1"}"#, "1435"),
            (r#"{"status":"OK","code":"0007"}"#, "0007"),
            (r#"{"status":"OK","code":1435,"cost":0.4}"#, "1435"),
            (r#"{"status":"OK","code":7}"#, "0007"),
            (r#"{"status":"OK","code":0}"#, "0000"),
        ];
        for (body, expected) in cases {
            assert_eq!(read_answer(body.as_bytes()).unwrap(), expected, "{body}");
        }
    }

    #[test]
    fn refusals_and_provider_failures_are_distinguished() {
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
            r#"{"status":"OK"}"#,
            r#"{"status":"OK","code":"12345"}"#,
            r#"{"status":"OK","code":"12a4"}"#,
            r#"{"status":"OK","code":-5}"#,
            r#"{"status":"OK","code":null}"#,
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
