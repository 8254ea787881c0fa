//! The ports of the catalogue.

pub(crate) mod offers;
