//! The flash call of SMS.RU: the phone rings, and the last four digits of the calling number are the code.

use std::net::IpAddr;
use std::time::Duration;

use kontor_auth::ports::SendError;
use kontor_kernel::Phone;
use serde_json::Value;

use crate::http::ClientError;
use crate::smsru::{CallSettings, SmsRu, senseless};

const DIGITS: usize = 4;

/// Orders calls.
pub struct FlashCalls(SmsRu);

impl FlashCalls {
    /// A client of the provider, which is given ten seconds for an answer.
    pub fn new(settings: CallSettings) -> Result<Self, ClientError> {
        SmsRu::new(settings).map(Self)
    }

    /// The same client with another limit for a whole exchange.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self(self.0.with_timeout(timeout))
    }

    /// Rings the phone once and answers the code, four digits. It is never repeated by itself: every call rings.
    pub async fn call(&self, phone: &Phone, ip: Option<IpAddr>) -> Result<String, SendError> {
        // The provider's word for an unknown address.
        let ip = ip.map_or_else(|| "-1".to_owned(), |ip| ip.to_string());
        let answer = self.0.ask("/code/call", &[("phone", phone), ("ip", &ip)]).await?;
        code(answer.get("code")).ok_or_else(senseless)
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_code_keeps_its_leading_zeros() {
        for (value, expected) in [
            (json!("1435"), "1435"),
            (json!("0007"), "0007"),
            (json!(1435), "1435"),
            (json!(7), "0007"),
            (json!(0), "0000"),
        ] {
            assert_eq!(code(Some(&value)).as_deref(), Some(expected), "{value}");
        }
        for value in [json!("12345"), json!("12a4"), json!(""), json!(-5), json!(1.5), json!(null), json!([1])] {
            assert_eq!(code(Some(&value)), None, "{value}");
        }
        assert_eq!(code(None), None);
    }
}
