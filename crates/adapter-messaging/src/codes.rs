use std::net::IpAddr;

use async_trait::async_trait;
use kontor_auth::ports::CodeSender;
use kontor_kernel::{Email, Phone, SendError};

use crate::calls::FlashCalls;
use crate::mail::Mailer;
use crate::sms::SmsCodes;

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
