//! Implementations of the catalog ports.

mod assortment;
mod assortment_order;
mod brands;
mod cards;
mod categories;
mod discounts;
mod exports;
mod favourites;
mod import;
mod import_columns;
mod import_stock;
mod import_tags;
mod import_words;
pub(crate) mod import_writes;
mod inventories;
mod job_order;
mod job_rows;
mod job_steps;
mod jobs;
mod next_change;
mod nomenclatures;
mod offer_refresh;
mod plans;
mod promotions;
mod searches;
mod showcase;
mod staff_discounts;
mod storefront;
mod storefront_card;
mod storefront_facets;
mod storefront_groups;
mod storefront_plans;
mod storefront_query;
mod storefront_reductions;
mod storefront_views;
mod tags;
mod warehouses;

pub(crate) use exports::EXPORTS;
pub(crate) use jobs::JOBS;

use kontor_catalog::model::{Brand, Category, Discount, Nomenclature, Tag, Warehouse};

use crate::records::{Read, readable};

/// Tables that `kontor doctor` reads.
pub(crate) const READABLE: &[(&str, Read)] = &[
    readable::<Nomenclature>(),
    readable::<Category>(),
    readable::<Brand>(),
    readable::<Tag>(),
    readable::<Warehouse>(),
    readable::<Discount>(),
    ("inventories", |connection, ids| inventories::load(connection, ids).map(|_| Vec::new())),
];

/// Maximum ids in one statement.
const CHUNK: usize = 1000;

/// Locks a record until the transaction ends, so that decisions based on it stay valid. SQLite has one writer and needs
/// no lock.
macro_rules! lock_row {
    ($connection:expr, $record:expr) => {
        if let $crate::database::Driver::Postgres(pg) = $connection.driver() {
            $record.for_no_key_update().load::<i64>(pg)?;
        }
    };
}
use lock_row;
