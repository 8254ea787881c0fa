//! Discounts for staff, decoded from their rows.

use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_catalog::model::{Discount, DiscountFilter, DiscountState, DiscountTerms, Period, PromoTerms};
use kontor_kernel::{DiscountStatus, ProjectId, ProjectScoped, PromoCode, Quantity, StoreError, Word};

use crate::database::{Abort, AnyConnection, Backend};
use crate::decode;
use crate::discount_rows::{DiscountRow, number, status, target, target_columns, value};
use crate::listing::{ESCAPE, containing};
use crate::records;
use crate::schema::{categories, discounts, nomenclatures};

#[derive(Queryable, Selectable)]
#[diesel(table_name = discounts)]
struct StaffRow {
    #[diesel(embed)]
    discount: DiscountRow,
    project_id: i64,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
    description: Option<String>,
    used_amount: i64,
}

fn limit(orders: Option<i64>) -> Result<Option<Quantity>, StoreError> {
    orders.map(|orders| Quantity::new(orders).map_err(StoreError::corrupt)).transpose()
}

pub(super) fn period(from: Option<NaiveDateTime>, to: Option<NaiveDateTime>) -> Result<Period, StoreError> {
    Period::new(from.map(decode::moment), to.map(decode::moment)).map_err(StoreError::corrupt)
}

fn discount((staff, category, item): (StaffRow, Option<String>, Option<String>)) -> Result<Discount, StoreError> {
    let row = staff.discount;
    let promo = match row.code {
        None => None,
        Some(code) => Some(PromoTerms {
            code: PromoCode::parse(&code).map_err(StoreError::corrupt)?,
            usage_limit: limit(row.usage_limit)?,
            customer_limit: limit(row.customer_limit)?,
        }),
    };
    Ok(Discount {
        id: decode::id(row.id)?,
        terms: DiscountTerms {
            name: decode::owned(row.name)?,
            description: staff.description.map(decode::owned).transpose()?,
            value: value(row.id, &row.kind, row.value)?,
            target: target(row.id, &row.target, row.target_id)?,
            minimum_sum: decode::money(row.minimum_sum)?,
            period: period(row.starts_at, row.ends_at)?,
            promo,
        },
        target_name: category.or(item).map(decode::owned).transpose()?,
        status: status(row.id, &row.status)?,
        used_count: decode::count(row.used_count)?,
        used_amount: decode::money(staff.used_amount)?,
        version: decode::count(row.version)?,
        created_at: decode::moment(staff.created_at),
        updated_at: decode::moment(staff.updated_at),
    })
}

/// Loads these discounts, newest first, each with the name of its target.
pub(super) fn load<R>(connection: &mut AnyConnection, ids: &[i64]) -> Result<Vec<ProjectScoped<Discount>>, Abort<R>> {
    let category = discounts::target.eq("category").and(discounts::target_id.eq(categories::id.nullable()));
    let item = discounts::target.eq("product").and(discounts::target_id.eq(nomenclatures::id.nullable()));
    let rows: Vec<(StaffRow, Option<String>, Option<String>)> = discounts::table
        .left_join(categories::table.on(category))
        .left_join(nomenclatures::table.on(item))
        .filter(discounts::id.eq_any(ids.to_vec()))
        .order(discounts::id.desc())
        .select((StaffRow::as_select(), categories::name.nullable(), nomenclatures::name.nullable()))
        .load(connection)?;
    let of_project = |row: (StaffRow, _, _)| records::of_project(row.0.project_id, discount(row));
    rows.into_iter().map(|row| of_project(row).map_err(Abort::Store)).collect()
}

/// Condition for the discounts that match a filter at the time `at`.
pub(super) fn matching(
    project: ProjectId,
    filter: &DiscountFilter,
    at: DateTime<Utc>,
) -> discounts::BoxedQuery<'static, Backend> {
    let at = at.naive_utc();
    let mut query = discounts::table.filter(discounts::project_id.eq(project.get())).into_boxed();
    if let Some(text) = &filter.query {
        let pattern = containing(&text.key());
        let code = diesel::dsl::sql::<diesel::sql_types::Text>("lower(coalesce(code, ''))");
        let named = discounts::name_key.like(pattern.clone()).escape(ESCAPE);
        query = query.filter(named.or(code.like(pattern).escape(ESCAPE)));
    }
    if let Some(has_code) = filter.has_code {
        query = if has_code {
            query.filter(discounts::code.is_not_null())
        } else {
            query.filter(discounts::code.is_null())
        };
    }
    let stored_as = |state| match state {
        DiscountState::Active | DiscountState::Scheduled | DiscountState::Expired => DiscountStatus::Active,
        DiscountState::Paused => DiscountStatus::Paused,
        DiscountState::Archived => DiscountStatus::Archived,
    };
    if let Some(state) = filter.state {
        query = query.filter(discounts::status.eq(stored_as(state).word()));
    }
    let begun = discounts::starts_at.is_null().or(discounts::starts_at.assume_not_null().le(at));
    let open = discounts::ends_at.is_null().or(discounts::ends_at.assume_not_null().gt(at));
    match filter.state {
        Some(DiscountState::Active) => query.filter(begun).filter(open),
        Some(DiscountState::Scheduled) => {
            query.filter(discounts::starts_at.is_not_null().and(discounts::starts_at.assume_not_null().gt(at)))
        }
        Some(DiscountState::Expired) => {
            query.filter(discounts::ends_at.is_not_null().and(discounts::ends_at.assume_not_null().le(at)))
        }
        Some(DiscountState::Paused | DiscountState::Archived) | None => query,
    }
}

/// Columns that staff write.
#[derive(Insertable, AsChangeset)]
#[diesel(table_name = discounts, treat_none_as_null = true)]
pub(super) struct Terms {
    name: String,
    name_key: String,
    description: Option<String>,
    code: Option<String>,
    kind: &'static str,
    value: i64,
    target: &'static str,
    target_id: Option<i64>,
    minimum_sum: i64,
    starts_at: Option<NaiveDateTime>,
    ends_at: Option<NaiveDateTime>,
    usage_limit: Option<i64>,
    customer_limit: Option<i64>,
    status: &'static str,
    updated_at: NaiveDateTime,
}

impl Terms {
    pub fn new(terms: &DiscountTerms, status: DiscountStatus, at: DateTime<Utc>) -> Self {
        let (target, target_id) = target_columns(terms.target);
        let promo = terms.promo.as_ref();
        let limit = |limit: Option<Quantity>| limit.map(|orders| i64::from(orders.get()));
        Self {
            name: terms.name.as_str().to_owned(),
            name_key: terms.name.key(),
            description: terms.description.clone().map(String::from),
            code: promo.map(|promo| promo.code.to_string()),
            kind: terms.value.kind(),
            value: number(terms.value),
            target,
            target_id,
            minimum_sum: terms.minimum_sum.minor(),
            starts_at: terms.period.starts_at().map(|at| at.naive_utc()),
            ends_at: terms.period.ends_at().map(|at| at.naive_utc()),
            usage_limit: limit(promo.and_then(|promo| promo.usage_limit)),
            customer_limit: limit(promo.and_then(|promo| promo.customer_limit)),
            status: status.word(),
            updated_at: at.naive_utc(),
        }
    }
}
