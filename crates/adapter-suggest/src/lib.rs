//! Suggestions of addresses, banks and companies, over HTTP.
//!
//! **Implements** `kontor_organization::ports::SuggestionProvider` ([`Suggestions`]: DaData's suggestions API 4.1).
//!
//! **Invariants**
//! - Every exchange ends within three seconds and is not retried, because users continue to type.
//! - No redirect is followed, no proxy is used, at most 1 MiB of a response is read.
//! - Errors contain neither the key nor the searched text.

mod answer;
mod client;

pub use client::{ClientError, SuggestSettings, Suggestions};
