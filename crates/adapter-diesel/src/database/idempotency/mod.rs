//! Requests that may be repeated under a key.
//!
//! A request with a key runs within [`IdempotentRequest::run`]. The first step that it writes stores the key in its own
//! commit: what was done and that it was done are one. The unique key arbitrates between processes; who comes second is
//! rolled back whole. A step that only prepares what follows ([`prepares`]) stores no key. The answer is added later
//! ([`answers`]), and is not waited for: without it what was done can be read.

mod answers;
mod request;
mod rows;

pub use answers::AnswerNumbers;
pub(crate) use answers::last_over;
pub use request::{IdempotentRequest, KeyClaim, KeyOwner};
pub(super) use request::{Serving, current, note};
pub(crate) use request::{made, names, prepares};
pub(crate) use rows::forget_keys;
pub use rows::{KeptKey, SavedAnswer};
