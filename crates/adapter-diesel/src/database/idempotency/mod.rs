//! Requests that may be repeated under an idempotency key.
//!
//! A request with a key writes by a handle of its own ([`Database::for_request`](super::Database::for_request)). Its
//! first write operation stores the key in the same transaction, so the change and the key are committed together. The
//! unique key arbitrates between processes; the loser is rolled back completely. An operation that only prepares the
//! request ([`note_preparation`](super::AnyConnection::note_preparation)) stores no key. The response is added later
//! ([`answers`]), and nothing waits for it: without it the changed record can still be read.

mod answers;
mod numbers;
mod request;
mod rows;

pub use numbers::RequestNumbers;
pub(crate) use numbers::last_expired_number;
pub use request::{IdempotentRequest, KeyClaim, KeyOwner};
pub(crate) use rows::delete_keys_of_owner;
pub use rows::{StoredKey, StoredResponse};
