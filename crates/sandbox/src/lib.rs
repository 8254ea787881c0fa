//! An emulator of outside services: acquirer, telephony, suggestions, mailbox and webhook receiver.
//!
//! Adapters use the real protocols, so only base URLs and credentials differ between development and production. It
//! **owns** the state of the emulated providers, in memory and bounded:
//! - the acquirer: the YooKassa API v3 under `/v3`, its payment page under `/pay`, its notifications;
//! - telephony: SMS.RU's flash call, check by an incoming call and SMS under `/code/call`, `/callcheck` and
//!   `/sms/send`;
//! - the mailbox: an SMTP server on its own port;
//! - suggestions: DaData's addresses, banks and companies under `/suggestions/api/4_1/rs`;
//! - the webhook receiver under `/hooks`;
//! - a bucket with the protocol of S3 under `/s3`;
//! - the control interface under `/control`: messages, payments, charges, faults, the clock, contacts signed by MAX.
//!
//! **Invariants**
//! - Time is the configured [`kontor_kernel::Clock`]: expiries, idempotence keys and redeliveries follow it. Only
//!   held and delayed responses, and the repeats of messages about calls, are measured in real time.
//! - An idempotence key does its work once within 24 hours; final payments never change; refunds never exceed the
//!   sum.
//! - A charge of a saved method uses up one step of the method's script; a repeat with the same key uses up none.
//! - With a [`TimeTravel`], `POST /control/clock` is answered when everything due until then has happened.
//! - A planned fault hits one call of its service and is consumed; there is one list of faults for all services.
//! - Every collection is bounded. Most drop their oldest entry when a new one does not fit, some reject the new one.
//!
//! ```
//! use std::sync::Arc;
//! use kontor_kernel::FixedClock;
//! use kontor_sandbox::{Sandbox, SandboxConfig};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let clock = Arc::new(FixedClock::at(chrono::DateTime::UNIX_EPOCH));
//! let sandbox = Sandbox::start(SandboxConfig::new(clock)).await?;
//! sandbox.set_notification_url("http://127.0.0.1:8080/notifications");
//! assert!(sandbox.url().starts_with("http://127.0.0.1:"));
//! sandbox.stop().await;
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

/// Declares an enum whose values have names on the wire.
macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $wire:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$variant_doc])* $variant),+ }

        impl $name {
            /// All names, in order.
            pub const NAMES: &[&str] = &[$($wire),+];

            /// Returns the value with this name.
            pub fn named(name: &str) -> Option<Self> {
                match name { $($wire => Some(Self::$variant),)+ _ => None }
            }

            /// Returns the name on the wire.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $wire),+ }
            }
        }
    };
}

mod acquirer;
mod control;
mod faults;
mod index;
mod messages;
mod server;
mod smtp;
mod state;
mod storage;
mod suggest;
mod telephony;
mod webhook_receiver;

pub use server::{Outside, Sandbox, SandboxError, SandboxHandle, TimeTravel, reachable};
pub use state::{Entropy, SandboxConfig, system_entropy};
