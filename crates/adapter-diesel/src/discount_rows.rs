//! Rows of discounts, as the catalog and orders read them.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_kernel::{DiscountStatus, DiscountTarget, DiscountValue, StoreError};

use crate::decode;
use crate::schema::discounts;
use crate::statement::by_place;

by_place! {
    /// Columns of a discount that all readers need. Also read by [`COLUMNS`].
    #[derive(Queryable, Selectable)]
    #[diesel(table_name = discounts)]
    pub(crate) struct DiscountRow {
        pub id: i64,
        pub name: String,
        pub code: Option<String>,
        pub kind: String,
        pub value: i64,
        pub target: String,
        pub target_id: Option<i64>,
        pub minimum_sum: i64,
        pub starts_at: Option<NaiveDateTime>,
        pub ends_at: Option<NaiveDateTime>,
        pub usage_limit: Option<i64>,
        pub customer_limit: Option<i64>,
        pub used_count: i64,
        pub status: String,
        pub version: i64,
    }
}

/// Columns of a [`DiscountRow`], in the order of its fields.
pub(crate) const COLUMNS: &str = "id, name, code, kind, value, target, target_id, minimum_sum, starts_at, ends_at, \
     usage_limit, customer_limit, used_count, status, version";

/// Reads the value of a discount from its columns.
pub(crate) fn value(id: i64, kind: &str, value: i64) -> Result<DiscountValue, StoreError> {
    match kind {
        "percent" => Ok(DiscountValue::Percent(u16::try_from(value).map_err(StoreError::corrupt)?)),
        "fixed" => Ok(DiscountValue::Fixed(decode::money(value)?)),
        other => Err(decode::unknown("discounts", id, "kind", other)),
    }
}

/// Returns the stored number of a value: basis points, or minor units.
pub(crate) fn number(value: DiscountValue) -> i64 {
    match value {
        DiscountValue::Percent(points) => i64::from(points),
        DiscountValue::Fixed(amount) => amount.minor(),
    }
}

/// Reads the target of a discount from its columns.
pub(crate) fn target(discount: i64, target: &str, id: Option<i64>) -> Result<DiscountTarget, StoreError> {
    match (target, id) {
        ("cart", _) => Ok(DiscountTarget::Cart),
        ("category", Some(id)) => Ok(DiscountTarget::Category(decode::id(id)?)),
        ("product", Some(id)) => Ok(DiscountTarget::Product(decode::id(id)?)),
        (other, _) => Err(decode::unknown("discounts", discount, "target", other)),
    }
}

/// Returns the columns of a target.
pub(crate) fn target_columns(target: DiscountTarget) -> (&'static str, Option<i64>) {
    match target {
        DiscountTarget::Cart => ("cart", None),
        DiscountTarget::Category(id) => ("category", Some(id.get())),
        DiscountTarget::Product(id) => ("product", Some(id.get())),
    }
}

/// Reads the status of a discount from its column.
pub(crate) fn status(id: i64, name: &str) -> Result<DiscountStatus, StoreError> {
    decode::word("discounts", id, "status", name)
}
