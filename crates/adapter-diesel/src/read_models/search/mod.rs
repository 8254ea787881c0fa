//! Search for items and customers by typed text.
//!
//! [`kontor_catalog::model::SearchQuery`] defines the matches. SQLite uses FTS5 tables with tokens of three or more
//! letters. PostgreSQL uses the trigrams of `pg_trgm` where available, and six-letter tokens of customers' numbers
//! (`kontor_grams`). All indexes are separated by project, so that a search reads nothing of other projects.

mod customers;
mod found;
mod index;
mod terms;

pub(crate) use customers::{customers_found, customers_named, fill_customers, index_customer, number_in};
pub(crate) use found::{FrequentMatches, MAX_FOUND, MAX_FOUND_BY_CUSTOMERS, Search};
pub(crate) use index::{
    SEARCH_TEXT_COLUMN, delete_page, fill_missing, note_page, outdated_items, page_text, pages_found, pages_to_find,
    put, refill, update_index,
};
pub(crate) use terms::{index_texts, items_found};
