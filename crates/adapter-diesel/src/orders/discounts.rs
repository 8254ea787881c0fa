//! Discounts used by orders.

use diesel::prelude::*;
use diesel::result::Error as QueryError;
use kontor_kernel::{Money, StoreError};
use kontor_orders::change::{AppliedDiscounts, PromoUse};
use kontor_orders::model::Discount;
use kontor_orders::ports::PlaceRefused;

use crate::database::{Abort, AnyConnection};
use crate::decode;
use crate::discount_rows::{DiscountRow, status, target, value};
use crate::schema::{discount_usages, discounts, orders};
use crate::statement::Statement;

/// Selects the automatic discounts that may apply to these items, from `FROM` on.
pub(super) fn automatic(project: i64, items: &[i64]) -> Statement {
    Statement::new(" FROM discounts WHERE project_id = ")
        .value(project)
        .sql(" AND status = 'active' AND code IS NULL AND (target <> 'product' OR target_id")
        .among(items)
        .sql(")")
}

/// Selects the ids and versions of the automatic discounts that may apply to these items, as one text like
/// [`seen_text`].
pub(super) fn automatic_text(project: i64, items: &[i64]) -> Statement {
    Statement::new("SELECT string_agg(id || ':' || version, ',' ORDER BY id)").then(automatic(project, items))
}

/// Returns the ids and versions of the discounts that an order was priced with; `None` if there are none.
pub(super) fn seen_text(priced_by: &AppliedDiscounts) -> Option<String> {
    let seen: Vec<String> = priced_by.seen.iter().map(|(id, version)| format!("{}:{version}", id.get())).collect();
    (!seen.is_empty()).then(|| seen.join(","))
}

/// Returns `true` if the automatic discounts that may apply to these items are the ones used for pricing. Discounts
/// that cover one of the items are locked until the commit.
pub(super) fn check_automatic_discounts(
    connection: &mut AnyConnection,
    project: i64,
    items: &[i64],
    priced_by: &AppliedDiscounts,
) -> Result<bool, QueryError> {
    let covering: Vec<i64> = priced_by.covering.iter().map(|id| id.get()).collect();
    if !covering.is_empty() {
        let held = Statement::new("SELECT id FROM discounts WHERE id").among(&covering);
        held.hold(connection, " ORDER BY id FOR SHARE")?;
    }
    Ok(automatic_text(project, items).scalar::<Option<String>>(connection)? == seen_text(priced_by))
}

impl TryFrom<DiscountRow> for Discount {
    type Error = StoreError;

    fn try_from(row: DiscountRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: decode::id(row.id)?,
            name: row.name,
            code: row.code,
            value: value(row.id, &row.kind, row.value)?,
            target: target(row.id, &row.target, row.target_id)?,
            minimum_sum: decode::money(row.minimum_sum)?,
            starts_at: row.starts_at.map(decode::moment),
            ends_at: row.ends_at.map(decode::moment),
            usage_limit: decode::optional_count(row.usage_limit)?,
            customer_limit: decode::optional_count(row.customer_limit)?,
            used_count: decode::count(row.used_count)?,
            status: status(row.id, &row.status)?,
            version: decode::count(row.version)?,
        })
    }
}

/// Returns the number of the customer's orders that use the discount.
fn used_by(connection: &mut AnyConnection, discount: i64, customer: i64) -> Result<i64, QueryError> {
    discount_usages::table
        .filter(discount_usages::discount_id.eq(discount))
        .filter(discount_usages::counterparty_id.eq(customer))
        .count()
        .get_result(connection)
}

/// Takes one use of a promo code, which reduces the order by `amount`. A code that staff changed or stopped since the
/// cart was priced is not taken. The row stays locked until the commit, so a concurrent order of the customer cannot
/// invalidate the count of the customer's orders that follows.
pub(super) fn take_promo_use(
    connection: &mut AnyConnection,
    project: i64,
    promo: &PromoUse,
    amount: Money,
    customer: i64,
) -> Result<(), Abort<PlaceRefused>> {
    let id = promo.discount_id.get();
    let version = i64::try_from(promo.version).map_err(StoreError::corrupt)?;
    let left = discounts::usage_limit.is_null().or(discounts::used_count.nullable().lt(discounts::usage_limit));
    let taken: Option<Option<i64>> = diesel::update(
        discounts::table
            .filter(discounts::id.eq(id))
            .filter(discounts::project_id.eq(project))
            .filter(discounts::status.eq("active"))
            .filter(discounts::version.eq(version))
            .filter(left),
    )
    .set((
        discounts::used_count.eq(discounts::used_count + 1),
        discounts::used_amount.eq(discounts::used_amount + amount.minor()),
    ))
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

/// Changes the discount amount of the use. Returns `false` if staff changed or stopped the code since the order was
/// priced.
pub(super) fn update_promo_use(
    connection: &mut AnyConnection,
    project: i64,
    promo: &PromoUse,
    order: i64,
    amount: Money,
) -> Result<bool, Abort<StoreError>> {
    let version = i64::try_from(promo.version).map_err(StoreError::corrupt)?;
    let before: i64 = orders::table.find(order).select(orders::promo_discount).first(connection)?;
    let kept = discounts::table
        .filter(discounts::id.eq(promo.discount_id.get()))
        .filter(discounts::project_id.eq(project))
        .filter(discounts::status.eq("active"))
        .filter(discounts::version.eq(version));
    let more = discounts::used_amount.eq(discounts::used_amount + amount.minor() - before);
    Ok(diesel::update(kept).set(more).execute(connection)? == 1)
}

/// Releases the use of a canceled order.
pub(super) fn return_use(
    connection: &mut AnyConnection,
    project: i64,
    order: i64,
) -> Result<(), diesel::result::Error> {
    let of_order = discount_usages::table.find(order).filter(discount_usages::project_id.eq(project));
    let used: Option<i64> =
        diesel::delete(of_order).returning(discount_usages::discount_id).get_result(connection).optional()?;
    if let Some(discount) = used {
        let amount: i64 = orders::table.find(order).select(orders::promo_discount).first(connection)?;
        // Never below zero: the use may have been stored by a version that did not yet sum these amounts.
        Statement::new("UPDATE discounts SET used_count = used_count - 1, used_amount = CASE WHEN used_amount > ")
            .value(amount)
            .sql(" THEN used_amount - ")
            .value(amount)
            .sql(" ELSE 0 END WHERE used_count > 0 AND id = ")
            .value(discount)
            .sql(" AND project_id = ")
            .value(project)
            .run(connection)?;
    }
    Ok(())
}
