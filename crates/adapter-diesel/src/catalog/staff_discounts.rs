//! Discounts for staff, decoded from their rows.

use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_catalog::model::{Discount, DiscountState, DiscountTerms, Period, PromoTerms};
use kontor_kernel::listing::{Comparison, Condition, FilterValue};
use kontor_kernel::{DiscountStatus, Listing, ProjectId, ProjectScoped, PromoCode, Quantity, StoreError, Word};

use crate::database::{Abort, AnyConnection};
use crate::decode;
use crate::discount_rows::{DiscountRow, number, status, target, target_columns, value};
use crate::listing::{Source, key_contains};
use crate::records;
use crate::schema::{categories, discounts, nomenclatures};
use crate::statement::Statement;

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

/// Loads these discounts in this order, each with the name of its target.
pub(super) fn load<R>(connection: &mut AnyConnection, ids: &[i64]) -> Result<Vec<ProjectScoped<Discount>>, Abort<R>> {
    let category = discounts::target.eq("category").and(discounts::target_id.eq(categories::id.nullable()));
    let item = discounts::target.eq("product").and(discounts::target_id.eq(nomenclatures::id.nullable()));
    let rows: Vec<(StaffRow, Option<String>, Option<String>)> = discounts::table
        .left_join(categories::table.on(category))
        .left_join(nomenclatures::table.on(item))
        .filter(discounts::id.eq_any(ids.to_vec()))
        .select((StaffRow::as_select(), categories::name.nullable(), nomenclatures::name.nullable()))
        .load(connection)?;
    let numbered = |row: (StaffRow, _, _)| (row.0.discount.id, row.0.project_id, discount(row));
    Ok(records::in_order_of(ids, rows.into_iter().map(numbered))?)
}

/// Source of the discount lists. The state depends on the time, so [`within`] holds its condition.
pub(super) const DISCOUNTS: Source = Source {
    from: "discounts d",
    id: "d.id",
    fields: &[("id", "d.id"), ("has_code", "(d.code IS NOT NULL)"), ("target", "d.target")],
    search: |text| {
        let code = key_contains("lower(coalesce(d.code, ''))", text);
        Statement::new("(").then(key_contains("d.name_key", text)).sql(" OR ").then(code).sql(")")
    },
};

/// Returns the condition for discounts of the project, and the listing with the other conditions.
pub(super) fn within(project: ProjectId, listing: &Listing, at: DateTime<Utc>) -> (Statement, Listing) {
    let is_state = |condition: &Condition| condition.field == "status";
    let (states, conditions) = listing.conditions.iter().cloned().partition::<Vec<_>, _>(is_state);
    let mut own = Statement::new("d.project_id = ").value(project.get());
    for Condition { comparison, .. } in states {
        let words = if let Comparison::AnyOf(words) = comparison { words } else { Vec::new() };
        let states = words.iter().filter_map(state_of).map(|state| in_state(state, at.naive_utc()));
        let any = states.reduce(|one, other| one.sql(" OR ").then(other));
        own = own.sql(" AND (").then(any.unwrap_or_else(|| Statement::new("FALSE"))).sql(")");
    }
    (own, Listing { conditions, ..listing.clone() })
}

fn state_of(word: &FilterValue) -> Option<DiscountState> {
    if let FilterValue::Text(word) = word { DiscountState::from_word(word) } else { None }
}

fn in_state(state: DiscountState, at: NaiveDateTime) -> Statement {
    match state {
        DiscountState::Active => Statement::new("d.status = 'active' AND (d.starts_at IS NULL OR d.starts_at <= ")
            .value(at)
            .sql(") AND (d.ends_at IS NULL OR d.ends_at > ")
            .value(at)
            .sql(")"),
        DiscountState::Scheduled => Statement::new("d.status = 'active' AND d.starts_at > ").value(at),
        DiscountState::Expired => Statement::new("d.status = 'active' AND d.ends_at <= ").value(at),
        DiscountState::Paused => Statement::new("d.status = 'paused'"),
        DiscountState::Archived => Statement::new("d.status = 'archived'"),
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

#[cfg(test)]
mod tests {
    use kontor_kernel::PageRequest;
    use kontor_kernel::listing::Sort;

    use super::*;
    use crate::testing::{Kind, TestDatabase};

    #[tokio::test]
    async fn a_page_is_one_index_range_in_every_state() {
        let db = TestDatabase::fresh(Kind::Sqlite);
        let (project, page) = (ProjectId::new(1).unwrap(), PageRequest::new(1, 15, 100).unwrap());
        let states = DiscountState::all().iter().map(|state| vec![FilterValue::Text(state.word().to_owned())]);
        for words in states.map(Some).chain([None]) {
            let mut listing = Listing::unfiltered(Sort::descending("id"), page);
            let index = if words.is_some() { "discounts_by_status" } else { "discounts_by_project" };
            let comparison = words.map(Comparison::AnyOf);
            listing.conditions.extend(comparison.map(|comparison| Condition { field: "status", comparison }));
            let read = db.database.read(move |connection| {
                let (own, listing) = within(project, &listing, DateTime::UNIX_EPOCH);
                DISCOUNTS.plan_of(connection, own, &listing)
            });
            let plan = read.await.unwrap();
            assert!(plan.contains(index) && !plan.contains("TEMP B-TREE"), "{plan}");
        }
    }
}
