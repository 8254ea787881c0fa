//! Facts about the tables for the database layer: tables that grow, data migrations, and writes that change cached
//! data.

use kontor_kernel::StoreError;

use crate::collation::{fill_file_names, fill_sort_keys};
use crate::database::{Database, DatabaseUrl, PoolOptions, Tables};
#[cfg(feature = "test-support")]
use crate::database::{InvalidatingWrites, Topic, VersionedTable};
use crate::read_models::search::{fill_customers, fill_missing, index_texts};
#[cfg(feature = "test-support")]
use crate::versions::{VERSIONED, versioned};

static TABLES: Tables = Tables {
    growing: "nomenclatures, nomenclature_photos, nomenclature_tags, inventories, stock_movements, \
              storefront_offers, histories, counterparties",
    fills: &[fill_missing, fill_sort_keys, fill_file_names, fill_customers, index_texts],
    #[cfg(feature = "test-support")]
    invalidating: INVALIDATING_TABLES,
    #[cfg(feature = "test-support")]
    versioned: VERSIONED,
    #[cfg(feature = "test-support")]
    followed: VERSIONED_TABLES,
};

/// Table with data shown on storefronts.
#[cfg(feature = "test-support")]
const fn shown(table: &'static str) -> InvalidatingWrites {
    InvalidatingWrites { table, verbs: &["INSERT INTO ", "UPDATE ", "DELETE FROM "], topics: &[Topic::Storefront] }
}

#[cfg(feature = "test-support")]
const INVALIDATING_TABLES: &[InvalidatingWrites] = &[
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
    shown("pages"),
    shown("page_tag_links"),
    shown("blocks"),
    shown("menu_items"),
    shown("subscription_nomenclatures"),
    shown("shops"),
    // Tables that grant access; these writes revoke it.
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

#[cfg(feature = "test-support")]
const VERSIONED_TABLES: &[VersionedTable] = &[
    versioned("counterparties", &["search_text", "sort_key", "verified_at"]),
    versioned("inventories", &[]),
    versioned("nomenclatures", &["article_search", "search_text", "sort_key", "views_count"]),
    versioned("orders", &[]),
    versioned("subscriptions", &["next_charge_at", "wake_at", "work_attempts"]),
];

impl Database {
    /// Opens the pools. A missing SQLite file is created; migrations run separately.
    pub fn open(url: DatabaseUrl, options: PoolOptions) -> Result<Self, StoreError> {
        Self::open_with(url, options, &TABLES)
    }
}
