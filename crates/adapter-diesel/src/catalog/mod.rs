//! Implementations of the catalog ports.

mod assortment;
mod brands;
mod cards;
mod categories;
mod discounts;
mod exports;
mod favourites;
mod import;
mod import_columns;
mod import_words;
pub(crate) mod import_writes;
mod inventories;
mod job_order;
mod jobs;
mod plans;
mod promotions;
mod showcase;
mod storefront;
mod storefront_card;
mod storefront_facets;
mod storefront_query;
mod storefront_reductions;
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
