//! Addresses, banks and companies that people may mean, over HTTP.
//!
//! **Implements** `kontor_organization::ports::SuggestionProvider` ([`Suggestions`]: DaData's suggestions API 4.1).
//!
//! **Invariants**
//! - Every exchange ends within three seconds and is made once: people type on.
//! - No redirect is followed, no proxy is used, at most 1 MiB of an answer is read.
//! - Errors name neither the key nor what was looked for.

mod answer;
mod client;

pub use client::{ClientError, SuggestSettings, Suggestions};
