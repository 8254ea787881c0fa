//! The mailbox: a small SMTP server that takes every message for every recipient.

mod listener;
mod session;

pub use listener::serve;
