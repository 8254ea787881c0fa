//! Projections of the catalogue, kept in the commits that change it: what applications sell (offers), how many offers they
//! have, and the search index, of customers, too.

pub(crate) mod name_keys;
pub(crate) mod offer_counts;
pub(crate) mod offers;
pub(crate) mod promo_codes;
pub(crate) mod search;
pub(crate) mod sort_keys;
