//! Flash calls of SMS.RU: the phone rings, and the last four digits of the calling number are the code.

use std::net::IpAddr;
use std::time::Duration;

use kontor_kernel::{Phone, SendError};
use serde_json::Value;

use crate::http::ClientError;
use crate::smsru::{CallSettings, ProviderError, SmsRu, unexpected_response};

const DIGITS: usize = 4;

/// Client for flash calls.
pub struct FlashCalls(SmsRu);

impl From<ProviderError> for SendError {
    fn from(trouble: ProviderError) -> Self {
        match trouble {
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
