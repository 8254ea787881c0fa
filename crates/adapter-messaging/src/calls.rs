//! The flash call of SMS.RU: the phone rings, and the last four digits of the calling number are the code.

use std::net::IpAddr;
use std::time::Duration;

use kontor_auth::ports::SendError;
use kontor_kernel::{ExposeSecret, Phone, SecretString};
use serde_json::Value;

use crate::http::{ClientError, client, read_start};

const CONNECT: Duration = Duration::from_secs(5);
const TIMEOUT: Duration = Duration::from_secs(10);
const MOST_OF_AN_ANSWER: usize = 64 * 1024;
const DIGITS: usize = 4;

/// Where calls are ordered.
#[derive(Debug, Clone)]
pub struct CallSettings {
    /// The provider's address without a trailing slash, such as `https://sms.ru`.
    pub base_url: String,
    /// The account's key.
    pub api_id: SecretString,
}

/// Orders calls.
pub struct FlashCalls {
    client: reqwest::Client,
    url: String,
    api_id: SecretString,
    timeout: Duration,
}

impl FlashCalls {
    /// A client of the provider, which is given ten seconds for an answer.
    pub fn new(settings: CallSettings) -> Result<Self, ClientError> {
        let url = format!("{}/code/call", settings.base_url.trim_end_matches('/'));
        let client = client().connect_timeout(CONNECT).build()?;
        Ok(Self { client, url, api_id: settings.api_id, timeout: TIMEOUT })
    }

    /// The same client with another limit for a whole exchange.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Rings the phone once and answers the code, four digits. It is never repeated by itself: every call rings.
    pub async fn call(&self, phone: &Phone, ip: Option<IpAddr>) -> Result<String, SendError> {
        // The provider's word for an unknown address.
        let ip = ip.map_or_else(|| "-1".to_owned(), |ip| ip.to_string());
        let form = [("api_id", self.api_id.expose_secret()), ("phone", phone.as_str()), ("ip", &ip)];
        let unavailable = |error: reqwest::Error| SendError::Unavailable(error.without_url().to_string());
        let post = self.client.post(&self.url).timeout(self.timeout).form(&form);
        let response = post.send().await.map_err(unavailable)?;
        let status = response.status();
        let body = read_start(response, MOST_OF_AN_ANSWER).await.map_err(unavailable)?;
        if !status.is_success() {
            return Err(SendError::Unavailable(format!("the telephony provider answered {status}")));
        }
        read_answer(&body)
    }
}

fn read_answer(body: &[u8]) -> Result<String, SendError> {
    let senseless = || SendError::Unavailable("the answer of the telephony provider makes no sense".to_owned());
    let answer: Value = serde_json::from_slice(body).map_err(|_| senseless())?;
    match answer.get("status").and_then(Value::as_str) {
        Some("OK") => code(answer.get("code")).ok_or_else(senseless),
        Some("ERROR") => Err(refusal(&answer)),
        _ => Err(senseless()),
    }
}

/// The code comes as a text or as a number, which has lost its leading zeros.
fn code(value: Option<&Value>) -> Option<String> {
    let text = match value? {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.as_u64()?.to_string(),
        _ => return None,
    };
    let sound = (1..=DIGITS).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    sound.then(|| format!("{text:0>DIGITS$}"))
}

/// 220 and 500 are the provider's own troubles; everything else is a refusal of this call.
fn refusal(answer: &Value) -> SendError {
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
