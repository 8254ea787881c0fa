//! What the floor of the database is told about the tables: which grow, what is filled in after migrations, which writes
//! change what others remember.

use kontor_kernel::StoreError;

use crate::catalog::discount_names::fill_names;

#[cfg(feature = "test-support")]
use crate::database::InvalidatingWrites;
#[cfg(feature = "test-support")]
use crate::database::Topic;
use crate::database::{Database, DatabaseUrl, PoolOptions, Tables};
use crate::projections::search::{fill_customers, fill_missing};
use crate::projections::sort_keys::fill_sort_keys;

static TABLES: Tables = Tables {
    growing: "nomenclatures, nomenclature_photos, nomenclature_tags, inventories, stock_movements, \
              storefront_offers, histories, counterparties",
    fills: &[fill_missing, fill_names, fill_sort_keys, fill_customers],
    #[cfg(feature = "test-support")]
    invalidating: INVALIDATING,
};

/// A table that storefronts show.
#[cfg(feature = "test-support")]
const fn shown(table: &'static str) -> InvalidatingWrites {
    InvalidatingWrites { table, verbs: &["INSERT INTO ", "UPDATE ", "DELETE FROM "], topics: &[Topic::Storefront] }
}

#[cfg(feature = "test-support")]
const INVALIDATING: &[InvalidatingWrites] = &[
    shown("nomenclatures"),
    shown("nomenclature_photos"),
    shown("nomenclature_tags"),
    shown("storefront_offers"),
    shown("inventories"),
    shown("warehouse_applications"),
    shown("categories"),
    shown("brands"),
    shown("tags"),
    shown("countries"),
    shown("storage_units"),
    shown("application_categories"),
    shown("application_brands"),
    shown("application_payment_types"),
    shown("discounts"),
    shown("slides"),
    shown("subscription_nomenclatures"),
    // Tables by which somebody is let in, and what shuts them out.
    InvalidatingWrites { table: "access_tokens", verbs: &["DELETE FROM "], topics: &[Topic::Access] },
    InvalidatingWrites {
        table: "applications",
        verbs: &["UPDATE ", "DELETE FROM "],
        topics: &[Topic::Access, Topic::Storefront],
    },
    InvalidatingWrites {
        table: "introspection_clients",
        verbs: &["UPDATE ", "DELETE FROM "],
        topics: &[Topic::Access],
    },
];

impl Database {
    /// Opens the pools. A missing SQLite file is created; migrations are a step of their own.
    pub fn open(url: DatabaseUrl, options: PoolOptions) -> Result<Self, StoreError> {
        Self::open_with(url, options, &TABLES)
    }
}
