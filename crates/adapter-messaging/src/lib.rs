//! Outgoing messages: calls with a code, checks by an incoming call, e-mail and webhook deliveries.
//!
//! **Implements** `kontor_auth::ports::CodeSender` ([`CodeMessenger`]: SMS.RU's flash call or its SMS, and SMTP),
//! `kontor_auth::ports::{CallVerifier, CallNotices}` ([`CallChecks`]: SMS.RU's check by an incoming call),
//! `kontor_auth::ports::PasswordSender` ([`Mailer`]), `kontor_webhooks::ports::{WebhookSender, Signer}`
//! ([`HttpWebhookSender`], [`HmacSigner`]) and `kontor_auth::ports::Hmac` ([`HmacSigner`]).
//!
//! **Invariants**
//! - Every exchange has a timeout: 10 seconds for HTTP, 15 for a mail. Responses are limited: 64 KiB over HTTP, 256 KiB
//!   of a mail server.
//! - A delivery connects only to an address that the policy permits, checked between the name lookup and the
//!   connection. It follows no redirect, uses no proxy and reads at most 64 KiB of the response.
//! - Errors contain no key, password or code.

mod callcheck;
mod codes;
mod mail;
mod smsru;
mod smtp;
mod webhook;

pub use callcheck::CallChecks;
pub use codes::{CodeMessenger, PhoneCodes, SmsCodes};
pub use mail::{Mailer, MailerError, SmtpCredentials, SmtpSettings, SmtpTls};
pub use smsru::{CallSettings, FlashCalls};
pub use webhook::{HmacSigner, HttpWebhookSender, Lookup, SystemLookup};

use reqwest::redirect::Policy;
use reqwest::{ClientBuilder, Response};

/// The HTTP client could not be created; usually the machine has no certificate authorities.
#[derive(Debug, thiserror::Error)]
#[error("the HTTP client cannot be created: {0}")]
pub struct ClientError(#[from] reqwest::Error);

/// Returns a client builder without redirects and without a proxy from the environment.
pub(crate) fn client() -> ClientBuilder {
    // An error means that the process has chosen its TLS provider already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .redirect(Policy::none())
        .no_proxy()
        .user_agent(concat!("Kontor/", env!("CARGO_PKG_VERSION")))
}

/// Reads the first `most` bytes of a body; the rest is never read.
pub(crate) async fn read_start(mut response: Response, most: usize) -> Result<Vec<u8>, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        let room = most - body.len();
        body.extend(chunk.iter().take(room));
        if body.len() == most {
            break;
        }
    }
    Ok(body)
}
