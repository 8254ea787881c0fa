use std::net::IpAddr;

use async_trait::async_trait;
use kontor_auth::ports::{CodeSender, SendError};
use kontor_kernel::{Email, Phone};

use crate::calls::FlashCalls;
use crate::mail::Mailer;

/// Brings one-time codes to customers: phones are called, addresses are written to.
pub struct CodeMessenger {
    calls: FlashCalls,
    mailer: Mailer,
}

impl CodeMessenger {
    /// Both ways together.
    pub fn new(calls: FlashCalls, mailer: Mailer) -> Self {
        Self { calls, mailer }
    }
}

#[async_trait]
impl CodeSender for CodeMessenger {
    async fn call_with_code(&self, phone: &Phone, ip: Option<IpAddr>) -> Result<String, SendError> {
        self.calls.call(phone, ip).await
    }

    async fn email_code(&self, email: &Email, code: &str) -> Result<(), SendError> {
        self.mailer.send_code(email, code).await
    }
}
