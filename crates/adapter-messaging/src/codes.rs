//! One-time codes: by SMS through SMS.RU, by a call, or by e-mail.

use std::net::IpAddr;

use async_trait::async_trait;
use kontor_auth::ports::CodeSender;
use kontor_kernel::{Email, Phone, SendError};
use serde_json::Value;

use crate::ClientError;
use crate::mail::Mailer;
use crate::smsru::{CallSettings, FlashCalls, ProviderError, SmsRu, refusal, unexpected_response};

/// Client for codes by SMS.
pub struct SmsCodes(SmsRu);

impl SmsCodes {
    /// Creates a client of the provider with a timeout of ten seconds.
    pub fn new(settings: CallSettings) -> Result<Self, ClientError> {
        SmsRu::new(settings).map(Self)
    }

    /// Sets another timeout for a whole exchange.
    #[must_use]
    pub fn with_timeout(self, timeout: std::time::Duration) -> Self {
        Self(self.0.with_timeout(timeout))
    }

    /// Sends a code. `Ok` means that the provider has accepted the message for this phone. The request is not retried,
    /// because every message costs money.
    pub async fn send_code(&self, phone: &Phone, code: &str) -> Result<(), SendError> {
        let text = format!("{code} - код для входа, действует 5 минут");
        let answer = self.0.ask("/sms/send", &[("to", phone.as_str()), ("msg", &text), ("json", "1")]).await?;
        Ok(accepted(&answer, phone)?)
    }
}

/// Checks the result for the phone: the response may be successful as a whole although no message was accepted.
fn accepted(answer: &Value, phone: &Phone) -> Result<(), ProviderError> {
    let verdict = answer.get("sms").and_then(|each| each.get(phone.as_str())).ok_or_else(unexpected_response)?;
    match verdict.get("status").and_then(Value::as_str) {
        Some("OK") => Ok(()),
        Some("ERROR") => Err(refusal(verdict)),
        _ => Err(unexpected_response()),
    }
}

/// Delivery method of a code to a phone.
pub enum PhoneCodes {
    /// The phone rings; the code is the end of the calling number.
    Calls(FlashCalls),
    /// The code is sent in a message.
    Sms(SmsCodes),
}

/// Sends one-time codes to customers, by phone or by e-mail.
pub struct CodeMessenger {
    phones: PhoneCodes,
    mailer: Mailer,
}

impl CodeMessenger {
    /// Combines both methods.
    pub fn new(phones: PhoneCodes, mailer: Mailer) -> Self {
        Self { phones, mailer }
    }
}

#[async_trait]
impl CodeSender for CodeMessenger {
    async fn code_to_phone(&self, phone: &Phone, proposed: &str, ip: Option<IpAddr>) -> Result<String, SendError> {
        match &self.phones {
            PhoneCodes::Calls(calls) => calls.call(phone, ip).await,
            PhoneCodes::Sms(sms) => sms.send_code(phone, proposed).await.map(|()| proposed.to_owned()),
        }
    }

    async fn email_code(&self, email: &Email, code: &str) -> Result<(), SendError> {
        self.mailer.send_code(email, code).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verdict_about_the_phone_counts() {
        let phone = Phone::parse("79001234567").unwrap();
        let outcome = |body: &str| accepted(&serde_json::from_str(body).unwrap(), &phone);
        outcome(r#"{"status":"OK","sms":{"79001234567":{"status":"OK","status_code":100,"sms_id":"0-1"}}}"#).unwrap();
        let refused =
            r#"{"status":"OK","sms":{"79001234567":{"status":"ERROR","status_code":207,"status_text":"no route"}}}"#;
        assert_eq!(outcome(refused), Err(ProviderError::Refused(Some(207), "no route".to_owned())));
        for body in [
            r#"{"status":"OK","sms":{"79001234567":{"status":"ERROR","status_code":220,"status_text":"later"}}}"#,
            r#"{"status":"OK","sms":{"79007654321":{"status":"OK"}}}"#,
            r#"{"status":"OK","sms":{"79001234567":{}}}"#,
            r#"{"status":"OK","sms":[]}"#,
            r#"{"status":"OK"}"#,
        ] {
            assert!(matches!(outcome(body), Err(ProviderError::Unavailable(_))), "{body}");
        }
    }
}
