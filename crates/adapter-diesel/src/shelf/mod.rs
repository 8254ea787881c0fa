//! What applications sell, kept beside the cards: offers, their counts, the words they are found by, and what is locked
//! while any of it changes.

pub(crate) mod discount_rows;
pub(crate) mod holding;
pub(crate) mod offer_counts;
pub(crate) mod offers;
pub(crate) mod search;
pub(crate) mod sort_keys;
