//! Messages out: calls with a code, e-mail and webhook deliveries.
//!
//! **Implements** `kontor_auth::ports::CodeSender` ([`CodeMessenger`]: SMS.RU's flash call and SMTP),
//! `kontor_auth::ports::PasswordSender` ([`Mailer`]) and `kontor_webhooks::ports::{WebhookSender, Signer}` ([`HttpWebhookSender`], [`HmacSigner`]).
//!
//! **Invariants**
//! - Every exchange ends: 10 seconds for HTTP, 15 for a mail.
//! - A delivery connects only to an address that the policy permits, checked after the name was looked up and before the
//!   connection is made; it follows no redirect, uses no proxy and reads at most 64 KiB of the answer.
//! - Errors name no key, password or code.

mod calls;
mod codes;
mod http;
mod mail;
mod resolver;
mod signer;
mod webhook;

pub use calls::{CallSettings, FlashCalls};
pub use codes::CodeMessenger;
pub use http::ClientError;
pub use mail::{Mailer, MailerError, SmtpCredentials, SmtpSettings, SmtpTls};
pub use resolver::{Lookup, SystemLookup};
pub use signer::HmacSigner;
pub use webhook::HttpWebhookSender;
