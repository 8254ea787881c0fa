//! The ports of access control.

mod tokens;

/// The two kinds of tokens, as the column `guard` spells them.
mod guard {
    pub(super) const USER: &str = "user";
    pub(super) const COUNTERPARTY: &str = "counterparty";
}
