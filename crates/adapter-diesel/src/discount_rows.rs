//! Rows of discounts, as the catalogue and orders read them.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_kernel::{DiscountStatus, DiscountTarget, DiscountValue, StoreError};

use crate::schema::discounts;
use crate::stored;

/// What a discount is, whoever looks at it.
#[derive(Queryable, QueryableByName, Selectable)]
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

/// What a discount takes off, from its columns.
pub(crate) fn value(id: i64, kind: &str, value: i64) -> Result<DiscountValue, StoreError> {
    match kind {
        "percent" => Ok(DiscountValue::Percent(u16::try_from(value).map_err(StoreError::corrupt)?)),
        "fixed" => Ok(DiscountValue::Fixed(stored::money(value)?)),
        other => Err(stored::unknown("discounts", id, "kind", other)),
    }
}

/// The number of a value: basis points, or minor units.
pub(crate) fn number(value: DiscountValue) -> i64 {
    match value {
        DiscountValue::Percent(points) => i64::from(points),
        DiscountValue::Fixed(amount) => amount.minor(),
    }
}

/// What a discount applies to, from its columns.
pub(crate) fn target(discount: i64, target: &str, id: Option<i64>) -> Result<DiscountTarget, StoreError> {
    match (target, id) {
        ("cart", _) => Ok(DiscountTarget::Cart),
        ("category", Some(id)) => Ok(DiscountTarget::Category(stored::id(id)?)),
        ("product", Some(id)) => Ok(DiscountTarget::Product(stored::id(id)?)),
        (other, _) => Err(stored::unknown("discounts", discount, "target", other)),
    }
}

/// The columns of a target.
pub(crate) fn target_columns(target: DiscountTarget) -> (&'static str, Option<i64>) {
    match target {
        DiscountTarget::Cart => ("cart", None),
        DiscountTarget::Category(id) => ("category", Some(id.get())),
        DiscountTarget::Product(id) => ("product", Some(id.get())),
    }
}

/// Whether a discount may be in force, from its column.
pub(crate) fn status(id: i64, name: &str) -> Result<DiscountStatus, StoreError> {
    stored::word("discounts", id, "status", name)
}
