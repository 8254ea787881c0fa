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
mod http;
mod mail;
mod smsru;
mod smtp;
mod webhook;

pub use callcheck::CallChecks;
pub use codes::{CodeMessenger, PhoneCodes, SmsCodes};
pub use http::ClientError;
pub use mail::{Mailer, MailerError, SmtpCredentials, SmtpSettings, SmtpTls};
pub use smsru::{CallSettings, FlashCalls};
pub use webhook::{HmacSigner, HttpWebhookSender, Lookup, SystemLookup};
