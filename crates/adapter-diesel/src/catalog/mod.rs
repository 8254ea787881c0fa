//! The ports of the catalogue.

mod assortment;
mod assortment_order;
mod brands;
mod cards;
mod categories;
mod discount_rows;
mod discounts;
mod favourites;
mod import;
mod import_stock;
mod import_words;
pub(crate) mod import_writes;
mod inventories;
mod job_steps;
mod jobs;
mod nomenclatures;
mod offer_counts;
pub(crate) mod offers;
mod promotions;
pub(crate) mod search;
mod searches;
mod showcase;
mod steady;
mod storefront;
mod storefront_card;
mod storefront_query;
mod storefront_reductions;
mod storefront_shelves;
mod storefront_views;
mod tags;
mod warehouses;

use std::collections::HashMap;

use diesel::result::{DatabaseErrorKind, Error as QueryError};

use crate::database::Abort;

/// The largest number of records that one statement names by their numbers.
const CHUNK: usize = 1000;

/// Holds a record still until the transaction ends, so that what is decided by it stays true. SQLite has one writer and
/// needs nothing.
macro_rules! hold {
    ($connection:expr, $record:expr) => {
        if let $crate::database::AnyConnection::Postgres(pg) = $connection {
            $record.for_no_key_update().load::<i64>(pg)?;
        }
    };
}
use hold;

/// Whether a query finds anything.
macro_rules! found {
    ($connection:expr, $query:expr) => {
        diesel::select(diesel::dsl::exists($query)).get_result::<bool>($connection)
    };
}
use found;

/// A clash with the unique key of an insert or update is an expected refusal.
fn on_duplicate<R>(refusal: R) -> impl FnOnce(QueryError) -> Abort<R> {
    move |error| match error {
        QueryError::DatabaseError(DatabaseErrorKind::UniqueViolation, _) => Abort::Refused(refusal),
        error => Abort::Query(error),
    }
}

/// The records with these numbers, in their order.
fn in_order<T>(ids: &[i64], records: Vec<T>, number: impl Fn(&T) -> i64) -> Vec<T> {
    let mut records: HashMap<i64, T> = records.into_iter().map(|record| (number(&record), record)).collect();
    ids.iter().filter_map(|id| records.remove(id)).collect()
}
