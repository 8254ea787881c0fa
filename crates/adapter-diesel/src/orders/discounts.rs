//! Discounts as orders use them.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use kontor_kernel::{DiscountId, Money, StoreError};
use kontor_orders::change::{PlacedOrder, PricedBy, PromoUse};
use kontor_orders::model::{Discount, DiscountStatus, DiscountTarget, DiscountValue};
use kontor_orders::ports::PlaceRefused;

use crate::database::{Abort, AnyConnection};
use crate::schema::{discount_usages, discounts, orders};
use crate::statement::{Statement, by_place};
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

/// Automatic discounts that may concern these items, from `FROM` on.
pub(super) fn automatic(project: i64, items: &[i64]) -> Statement {
    Statement::new(" FROM discounts WHERE project_id = ")
        .value(project)
        .sql(" AND status = 'active' AND code IS NULL AND (target <> 'product' OR target_id")
        .among(items)
        .sql(")")
}

by_place! {
    struct SeenRow {
        id: i64 as BigInt,
        version: i64 as BigInt,
    }
}

/// Refuses unless the automatic discounts are those by which the order was priced. Those that cover one of its lines stay
/// as they are until the commit.
pub(super) fn keep_automatic(connection: &mut AnyConnection, order: &PlacedOrder) -> Result<(), Abort<PlaceRefused>> {
    let PricedBy { seen, covering } = &order.automatic;
    let covering: Vec<i64> = covering.iter().map(|id| id.get()).collect();
    if !covering.is_empty() && matches!(connection, AnyConnection::Postgres(_)) {
        let held = Statement::new("SELECT id FROM discounts WHERE id").among(&covering);
        held.sql(" ORDER BY id FOR SHARE").run(connection)?;
    }
    let items: Vec<i64> = order.lines.iter().map(|line| line.item.get()).collect();
    let current: Vec<SeenRow> =
        Statement::new("SELECT id, version").then(automatic(order.project_id.get(), &items)).rows(connection)?;
    let same = |row: &SeenRow| {
        let version = DiscountId::new(row.id).ok().and_then(|id| seen.get(&id));
        version.is_some_and(|version| i64::try_from(*version) == Ok(row.version))
    };
    if current.len() == seen.len() && current.iter().all(same) {
        Ok(())
    } else {
        Err(Abort::Refused(PlaceRefused::Stale))
    }
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
    let known = DiscountStatus::ALL.into_iter().find(|status| status.name() == name);
    known.ok_or_else(|| stored::unknown("discounts", id, "status", name))
}

impl TryFrom<DiscountRow> for Discount {
    type Error = StoreError;

    fn try_from(row: DiscountRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: stored::id(row.id)?,
            name: row.name,
            code: row.code,
            value: value(row.id, &row.kind, row.value)?,
            target: target(row.id, &row.target, row.target_id)?,
            minimum_sum: stored::money(row.minimum_sum)?,
            starts_at: row.starts_at.map(stored::moment),
            ends_at: row.ends_at.map(stored::moment),
            usage_limit: stored::optional_count(row.usage_limit)?,
            customer_limit: stored::optional_count(row.customer_limit)?,
            used_count: stored::count(row.used_count)?,
            status: status(row.id, &row.status)?,
            version: stored::count(row.version)?,
        })
    }
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

/// Takes one use of a promo code, which lets the order off `amount`. A code that staff changed or stopped since the cart
/// was priced is not taken. The row stays locked until the commit, so the count of the customer's orders that follows
/// cannot be outrun by another order of his.
pub(super) fn take_use(
    connection: &mut AnyConnection,
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

/// Gives back the use of an order that is given up.
pub(super) fn return_use(connection: &mut AnyConnection, order: i64) -> Result<(), diesel::result::Error> {
    let used: Option<i64> = diesel::delete(discount_usages::table.find(order))
        .returning(discount_usages::discount_id)
        .get_result(connection)
        .optional()?;
    if let Some(discount) = used {
        let amount: i64 = orders::table.find(order).select(orders::promo_discount).first(connection)?;
        // Never below nothing: the use may have been taken by a process of before these amounts were added up.
        Statement::new("UPDATE discounts SET used_count = used_count - 1, used_amount = CASE WHEN used_amount > ")
            .value(amount)
            .sql(" THEN used_amount - ")
            .value(amount)
            .sql(" ELSE 0 END WHERE used_count > 0 AND id = ")
            .value(discount)
            .run(connection)?;
    }
    Ok(())
}
