//! Search for items and customers by typed text.
//!
//! [`kontor_catalog::model::SearchQuery`] defines the matches. SQLite uses FTS5 tables with tokens of three or more
//! letters. PostgreSQL uses the trigrams of `pg_trgm` where available, and six-letter tokens of customers' numbers
//! (`kontor_grams`). All indexes are separated by project, so that a search reads nothing of other projects.

mod customers;
mod found;
mod index;
mod pages;
mod terms;
mod trigrams;

pub(crate) use customers::{customers_found, customers_named, fill_customers, index_customer, number_in};
pub(crate) use found::{MAX_FOUND, MAX_FOUND_BY_CUSTOMERS, Search};
pub(crate) use index::{SEARCH_TEXT_COLUMN, fill_missing, outdated_items, refill};
pub(crate) use index::{put, update_index};
pub(crate) use pages::{forget_page, note_page, page_text, pages_found, pages_to_find};
pub(crate) use terms::items_found;
pub(crate) use trigrams::index_texts;
