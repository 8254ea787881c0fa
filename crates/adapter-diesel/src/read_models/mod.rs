//! Read models of the catalog, updated in the transactions that change it: offers of applications, their counts, and
//! the search index of items and customers; and counts of views.

pub(crate) mod offer_counts;
pub(crate) mod offers;
pub(crate) mod search;
pub(crate) mod sort_keys;
pub(crate) mod views;
