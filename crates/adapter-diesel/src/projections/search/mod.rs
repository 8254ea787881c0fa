//! Finding items, and customers, by what people type.
//!
//! [`kontor_catalog::model::SearchQuery`] says what is found. SQLite answers from FTS5 tables of three letters each and more,
//! PostgreSQL by the trigrams of `pg_trgm` where it has them, and by six letters of the numbers of customers (`kontor_grams`). All these
//! indexes are kept per project, so that a search walks nothing of another one's.

mod customers;
mod found;
mod index;
mod pages;
mod terms;
mod trigrams;

pub(crate) use customers::{customers_found, customers_named, fill_customers, note_customer, number_in};
pub(crate) use found::{MOST, Search};
pub(crate) use index::{PLACE, fill_missing, off, refill};
pub(crate) use index::{put, put_anew};
pub(crate) use pages::{forget_page, note_page, page_text, pages_found, pages_to_find, refill_pages};
pub(crate) use terms::items_found;
pub(crate) use trigrams::index_texts;
