//! The mailbox: a small SMTP server that accepts every message for every recipient.

mod listener;
mod session;

pub use listener::serve;
