//! SMS.RU's verification by an incoming call: the provider assigns a number, and a call to it from the phone verifies
//! the phone.

use std::time::Duration;

use async_trait::async_trait;
use kontor_auth::model::{CallState, CallbackNumber, CheckId};
use kontor_auth::ports::{CallCheckError, CallNotification, CallNotificationParser, CallVerifier, ExpectedCall};
use kontor_kernel::{Phone, hex};
use ring::digest::{Context, SHA256};
use serde_json::Value;

use crate::ClientError;
use crate::smsru::{CallSettings, ProviderError, SmsRu, number, unexpected_response};

/// Client that starts checks, reads their state, and parses the provider's notices about them.
pub struct CallChecks(SmsRu);

impl CallChecks {
    /// Creates a client of the provider with a timeout of ten seconds.
    pub fn new(settings: CallSettings) -> Result<Self, ClientError> {
        SmsRu::new(settings).map(Self)
    }

    /// Sets another timeout for a whole exchange.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self(self.0.with_timeout(timeout))
    }

    async fn ask(&self, path: &str, field: (&str, &str)) -> Result<Value, CallCheckError> {
        if self.0.api_id().is_empty() {
            return Err(CallCheckError::Unavailable("no telephony account is configured".to_owned()));
        }
        Ok(self.0.ask(path, &[field, ("json", "1")]).await?)
    }
}

impl From<ProviderError> for CallCheckError {
    fn from(failure: ProviderError) -> Self {
        match failure {
            ProviderError::Refused(Some(number @ 230..=233), text) => Self::RateLimited(format!("{number}: {text}")),
            ProviderError::Refused(Some(number @ (202 | 207 | 209)), text) => {
                Self::BadPhone(format!("{number}: {text}"))
            }
            ProviderError::Refused(Some(number), text) => Self::Unavailable(format!("{number}: {text}")),
            ProviderError::Refused(None, text) | ProviderError::Unavailable(text) => Self::Unavailable(text),
        }
    }
}

/// Returns a string or a number as text.
fn text(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn expected_call(answer: &Value) -> Option<ExpectedCall> {
    let check = CheckId::parse(&text(answer.get("check_id"))?).ok()?;
    let number = CallbackNumber::parse(&text(answer.get("call_phone"))?).ok()?;
    Some(ExpectedCall { check, number })
}

fn call_state(code: u64) -> Option<CallState> {
    match code {
        400 => Some(CallState::Waiting),
        401 => Some(CallState::Confirmed),
        402 => Some(CallState::Ended),
        _ => None,
    }
}

#[async_trait]
impl CallVerifier for CallChecks {
    async fn expect_call(&self, phone: &Phone) -> Result<ExpectedCall, CallCheckError> {
        let answer = self.ask("/callcheck/add", ("phone", phone.as_str())).await?;
        Ok(expected_call(&answer).ok_or_else(unexpected_response)?)
    }

    async fn call_state(&self, check: &CheckId) -> Result<CallState, CallCheckError> {
        let answer = self.ask("/callcheck/status", ("check_id", check.as_str())).await?;
        let code = answer.get("check_status").and_then(number);
        Ok(code.and_then(call_state).ok_or_else(unexpected_response)?)
    }
}

impl CallNotificationParser for CallChecks {
    fn signature(&self, entries: &[String]) -> Option<String> {
        let key = self.0.api_id();
        if key.is_empty() {
            return None;
        }
        let mut context = Context::new(&SHA256);
        context.update(key.as_bytes());
        for entry in entries {
            context.update(entry.as_bytes());
        }
        Some(hex(context.finish().as_ref()))
    }

    fn read(&self, entry: &str) -> Option<CallNotification> {
        let mut lines = entry.lines().map(str::trim);
        let ("callcheck_status", check, state) = (lines.next()?, lines.next()?, lines.next()?) else { return None };
        Some(CallNotification { check: CheckId::parse(check).ok()?, state: call_state(state.parse().ok()?)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smsru::read_answer;

    fn checks(api_id: &str) -> CallChecks {
        CallChecks::new(CallSettings { base_url: "http://127.0.0.1:1/".to_owned(), api_id: api_id.into() }).unwrap()
    }

    #[test]
    fn a_call_is_expected_as_the_provider_says() {
        let cases = [
            (
                r#"{"status":"OK","check_id":"201737-542","call_phone":"78005008275"}"#,
                Some(("201737-542", "78005008275")),
            ),
            (r#"{"status":"OK","check_id":201737,"call_phone":78005008275}"#, Some(("201737", "78005008275"))),
            (r#"{"status":"OK","check_id":"","call_phone":"78005008275"}"#, None),
            (r#"{"status":"OK","check_id":"1","call_phone":"+7 (800) 500-8275"}"#, None),
            (r#"{"status":"OK","check_id":"1"}"#, None),
        ];
        for (body, expected) in cases {
            let call = expected_call(&read_answer(body.as_bytes()).unwrap());
            let call = call.map(|call| (call.check.to_string(), call.number.to_string()));
            assert_eq!(call, expected.map(|(check, number)| (check.to_owned(), number.to_owned())), "{body}");
        }
    }

    #[test]
    fn refusals_are_distinguished_by_their_numbers() {
        let reported = |code: &str| {
            let body = format!(r#"{{"status":"ERROR","status_code":{code},"status_text":"why"}}"#);
            CallCheckError::from(read_answer(body.as_bytes()).unwrap_err())
        };
        for code in ["202", "207", "209", "\"209\""] {
            assert!(matches!(reported(code), CallCheckError::BadPhone(_)), "{code}");
        }
        for code in ["230", "231", "232", "233", "\"230\""] {
            assert!(matches!(reported(code), CallCheckError::RateLimited(_)), "{code}");
        }
        for code in ["200", "201", "220", "300", "500", "null", "-1"] {
            assert!(matches!(reported(code), CallCheckError::Unavailable(_)), "{code}");
        }
    }

    #[test]
    fn a_message_is_signed_with_the_key_and_all_entries() {
        let entries = ["callcheck_status\n201737-542\n401\n1700000000".to_owned(), "b".to_owned()];
        // printf 'keycallcheck_status\n201737-542\n401\n1700000000b' | sha256sum
        let expected = "da1f18585468d3df30537f9cebc2f1cf31ad69bb72c9f238de9c938f5e47918b";
        assert_eq!(checks("key").signature(&entries).as_deref(), Some(expected));
        assert_ne!(checks("other").signature(&entries), checks("key").signature(&entries));
        assert_eq!(checks("").signature(&entries), None);
    }

    #[test]
    fn entries_about_other_subjects_are_ignored() {
        let read = |entry: &str| checks("key").read(entry).map(|notice| (notice.check.to_string(), notice.state));
        assert_eq!(read("callcheck_status\n1-2\n401\n17"), Some(("1-2".to_owned(), CallState::Confirmed)));
        assert_eq!(read("callcheck_status\r\n1-2\r\n402\r\n17\r\n"), Some(("1-2".to_owned(), CallState::Ended)));
        for entry in ["sms_status\n1\n103\n17", "callcheck_status\n1-2", "callcheck_status\n1-2\n999\n1", "", "x"] {
            assert_eq!(read(entry), None, "{entry}");
        }
    }

    #[tokio::test]
    async fn no_call_is_expected_without_an_account() {
        let refused = checks("").expect_call(&Phone::parse("79001234567").unwrap()).await;
        assert_eq!(refused, Err(CallCheckError::Unavailable("no telephony account is configured".to_owned())));
    }
}
