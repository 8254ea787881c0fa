//! Customers as every domain deals with them: held while something is written for them, forgotten when they leave; and
//! the pictures of persons.

mod avatars;
mod forget;
mod presence;
pub(crate) mod sessions;

pub(crate) use avatars::{READY, avatar_key, is_avatar};
pub(crate) use forget::{contacts, forget_contacts, forget_customer};
pub(crate) use presence::{hold, hold_alone, mark_verified};

/// The two kinds of tokens, as the column `guard` spells them.
pub(crate) mod guard {
    pub(crate) const USER: &str = "user";
    pub(crate) const COUNTERPARTY: &str = "counterparty";
}
