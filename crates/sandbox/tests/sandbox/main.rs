//! The sandbox driven from outside: over HTTP and SMTP, as adapters and browsers drive it.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests fail by panicking")]

mod acquirer;
mod charges;
mod control;
mod faults;
mod lifecycle;
mod mail;
mod notifications;
mod page;
mod peers;
mod receipts;
mod suggest;
mod support;
mod telephony;
mod time_travel;
