//! Discounts as orders use them.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_kernel::{CategoryId, StoreError};
use kontor_orders::change::PromoUse;
use kontor_orders::model::{Discount, DiscountStatus, DiscountTarget, DiscountValue};
use kontor_orders::ports::PlaceRefused;

use crate::database::{Abort, AnyConnection};
use crate::schema::{discount_usages, discounts};
use crate::stored;

#[derive(QueryableByName)]
#[diesel(table_name = discounts)]
pub(super) struct DiscountRow {
    id: i64,
    name: String,
    code: Option<String>,
    kind: String,
    value: i64,
    target: String,
    target_id: Option<i64>,
    minimum_sum: i64,
    starts_at: Option<NaiveDateTime>,
    ends_at: Option<NaiveDateTime>,
    usage_limit: Option<i64>,
    customer_limit: Option<i64>,
    used_count: i64,
    status: String,
}

const PERCENT: &str = "percent";
const FIXED: &str = "fixed";

fn unknown(part: &str, value: &str) -> StoreError {
    StoreError::corrupt(format!("a discount has the {part} {value}"))
}

impl TryFrom<DiscountRow> for Discount {
    type Error = StoreError;

    fn try_from(row: DiscountRow) -> Result<Self, StoreError> {
        let value = match row.kind.as_str() {
            PERCENT => DiscountValue::Percent(u16::try_from(row.value).map_err(StoreError::corrupt)?),
            FIXED => DiscountValue::Fixed(stored::money(row.value)?),
            other => return Err(unknown("kind", other)),
        };
        let target = match (row.target.as_str(), row.target_id) {
            ("cart", _) => DiscountTarget::Cart,
            ("category", Some(id)) => DiscountTarget::Category(stored::id::<CategoryId>(id)?),
            ("product", Some(id)) => DiscountTarget::Product(stored::id(id)?),
            (other, _) => return Err(unknown("target", other)),
        };
        let status = match row.status.as_str() {
            "active" => DiscountStatus::Active,
            "paused" => DiscountStatus::Paused,
            "archived" => DiscountStatus::Archived,
            other => return Err(unknown("status", other)),
        };
        Ok(Self {
            id: stored::id(row.id)?,
            name: row.name,
            code: row.code,
            value,
            target,
            minimum_sum: stored::money(row.minimum_sum)?,
            starts_at: row.starts_at.map(stored::moment),
            ends_at: row.ends_at.map(stored::moment),
            usage_limit: optional_count(row.usage_limit)?,
            customer_limit: optional_count(row.customer_limit)?,
            used_count: count(row.used_count)?,
            status,
        })
    }
}

pub(super) fn count(stored: i64) -> Result<u64, StoreError> {
    u64::try_from(stored).map_err(StoreError::corrupt)
}

fn optional_count(stored: Option<i64>) -> Result<Option<u64>, StoreError> {
    stored.map(count).transpose()
}

/// How many orders of the customer use the discount.
pub(super) fn used_by(
    connection: &mut AnyConnection,
    discount: i64,
    customer: i64,
) -> Result<i64, diesel::result::Error> {
    discount_usages::table
        .filter(discount_usages::discount_id.eq(discount))
        .filter(discount_usages::counterparty_id.eq(customer))
        .count()
        .get_result(connection)
}

/// Takes one use of a promo code. The row stays locked until the commit, so the count of the customer's orders that
/// follows cannot be outrun by another order of his.
pub(super) fn take_use(
    connection: &mut AnyConnection,
    promo: &PromoUse,
    customer: i64,
) -> Result<(), Abort<PlaceRefused>> {
    let id = promo.discount_id.get();
    let (kind, value) = match promo.value {
        DiscountValue::Percent(points) => (PERCENT, i64::from(points)),
        DiscountValue::Fixed(amount) => (FIXED, amount.minor()),
    };
    let left = discounts::usage_limit.is_null().or(discounts::used_count.nullable().lt(discounts::usage_limit));
    let taken: Option<Option<i64>> = diesel::update(
        discounts::table
            .filter(discounts::id.eq(id))
            .filter(discounts::status.eq("active"))
            .filter(discounts::kind.eq(kind))
            .filter(discounts::value.eq(value))
            .filter(left),
    )
    .set(discounts::used_count.eq(discounts::used_count + 1))
    .returning(discounts::customer_limit)
    .get_result(connection)
    .optional()?;
    match taken {
        Some(Some(limit)) if used_by(connection, id, customer)? >= limit => {
            Err(Abort::Refused(PlaceRefused::PromoExhausted))
        }
        Some(_) => Ok(()),
        None => {
            let row: Option<(Option<i64>, i64)> = discounts::table
                .find(id)
                .select((discounts::usage_limit, discounts::used_count))
                .first(connection)
                .optional()?;
            let exhausted = row.is_some_and(|(limit, used)| limit.is_some_and(|limit| used >= limit));
            Err(Abort::Refused(if exhausted { PlaceRefused::PromoExhausted } else { PlaceRefused::Stale }))
        }
    }
}

/// Gives back the use of an order that is given up.
pub(super) fn return_use(connection: &mut AnyConnection, order: i64) -> Result<(), diesel::result::Error> {
    let used: Option<i64> = diesel::delete(discount_usages::table.find(order))
        .returning(discount_usages::discount_id)
        .get_result(connection)
        .optional()?;
    if let Some(discount) = used {
        diesel::update(discounts::table.find(discount).filter(discounts::used_count.gt(0)))
            .set(discounts::used_count.eq(discounts::used_count - 1))
            .execute(connection)?;
    }
    Ok(())
}
