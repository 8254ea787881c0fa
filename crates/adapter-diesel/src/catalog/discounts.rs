//! Discounts for staff.

use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_catalog::model::{Discount, DiscountState, DiscountStats, DiscountTerms, DiscountUsage, Period, PromoTerms};
use kontor_catalog::ports::{DiscountRepository, DiscountRewrite};
use kontor_catalog::{DiscountError, DiscountRefusal};
use kontor_kernel::listing::{Comparison, Condition, FilterValue};
use kontor_kernel::{
    DiscountId, DiscountStatus, DiscountTarget, Listing, Page, PageRequest, ProjectId, ProjectScoped, PromoCode,
    Quantity, Stamp, StoreError, Word,
};

use crate::database::{Abort, AnyConnection, Database, found, on_duplicate, on_reference};
use crate::discount_rows::{DiscountRow, number, status, target, target_columns, value};
use crate::listing::{Source, key_contains};
use crate::records::{self, StoredRecord};
use crate::schema::{categories, discount_usages, discounts, keyed, nomenclatures, orders, referred};
use crate::statement::{Statement, by_place};
use crate::{decode, unreadable};

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
    let rows: Vec<(StaffRow, Option<String>, Option<String>)> = discounts::table
        .left_join(referred!(categories, discounts::target_id, discounts::target.eq("category")))
        .left_join(referred!(nomenclatures, discounts::target_id, discounts::target.eq("product")))
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

type Refused = Abort<DiscountError>;

/// Requires that the target of a discount belongs to the project.
fn require_target(connection: &mut AnyConnection, project: ProjectId, target: DiscountTarget) -> Result<(), Refused> {
    let (known, refusal) = match target {
        DiscountTarget::Cart => return Ok(()),
        DiscountTarget::Category(id) => {
            let own = categories::table.find(id.get()).filter(categories::project_id.eq(project.get()));
            (found!(connection, own)?, DiscountRefusal::UnknownCategory)
        }
        DiscountTarget::Product(id) => {
            let own = nomenclatures::table.find(id.get()).filter(nomenclatures::project_id.eq(project.get()));
            (found!(connection, own)?, DiscountRefusal::UnknownProduct)
        }
    };
    if known { Ok(()) } else { Err(Abort::refused(refusal)) }
}

impl StoredRecord for Discount {
    const TABLE: &'static str = "discounts";

    fn load<R>(connection: &mut AnyConnection, id: i64) -> Result<Option<ProjectScoped<Self>>, Abort<R>> {
        Ok(load(connection, &[id])?.pop())
    }
}

/// Returns the reason why the locked row was not updated.
fn refusal(held: &Discount, rewrite: &DiscountRewrite) -> DiscountRefusal {
    fn code(terms: &DiscountTerms) -> Option<&PromoCode> {
        terms.promo.as_ref().map(|promo| &promo.code)
    }
    if held.version != rewrite.version {
        DiscountRefusal::Stale
    } else if held.used_count > 0 && code(&held.terms) != code(&rewrite.terms) {
        DiscountRefusal::CodeInUse
    } else {
        DiscountRefusal::BelowUsed { used: held.used_count }
    }
}

by_place! {
    struct StatsRow {
        active: i64,
        scheduled: i64,
        expired: i64,
        paused: i64,
        archived: i64,
        promo_codes: i64,
        usages: i64,
        amount: i64,
    }
}

fn stats(project: ProjectId, at: DateTime<Utc>) -> Statement {
    let at = at.naive_utc();
    Statement::new("SELECT count(*) FILTER (WHERE status = 'active' AND (starts_at IS NULL OR starts_at <= ")
        .value(at)
        .sql(") AND (ends_at IS NULL OR ends_at > ")
        .value(at)
        .sql(")), count(*) FILTER (WHERE status = 'active' AND starts_at > ")
        .value(at)
        .sql("), count(*) FILTER (WHERE status = 'active' AND ends_at <= ")
        .value(at)
        .sql(
            "), count(*) FILTER (WHERE status = 'paused'), count(*) FILTER (WHERE status = 'archived'), count(code), \
             CAST(coalesce(sum(used_count), 0) AS BIGINT), CAST(coalesce(sum(used_amount), 0) AS BIGINT) \
             FROM discounts WHERE project_id = ",
        )
        .value(project.get())
}

#[async_trait]
impl DiscountRepository for Database {
    async fn list(
        &self,
        project: ProjectId,
        listing: Listing,
        at: DateTime<Utc>,
    ) -> Result<Page<Discount>, StoreError> {
        self.snapshot(move |connection| {
            let (own, listing) = within(project, &listing, at);
            let found = DISCOUNTS.page(connection, own, &listing)?;
            let items = unreadable::records(connection, "discounts", &found.items, load)?;
            Ok(found.with_items(records::within(items, project)))
        })
        .await
    }

    async fn stats(&self, project: ProjectId, at: DateTime<Utc>) -> Result<DiscountStats, StoreError> {
        self.read(move |connection| {
            let row: StatsRow = stats(project, at).row(connection)?;
            Ok(DiscountStats {
                active: decode::count(row.active)?,
                scheduled: decode::count(row.scheduled)?,
                expired: decode::count(row.expired)?,
                paused: decode::count(row.paused)?,
                archived: decode::count(row.archived)?,
                promo_codes: decode::count(row.promo_codes)?,
                usages: decode::count(row.usages)?,
                amount: decode::money(row.amount)?,
            })
        })
        .await
    }

    async fn find(&self, id: DiscountId) -> Result<Option<ProjectScoped<Discount>>, StoreError> {
        records::find(self, id.get()).await
    }

    async fn usages(&self, id: DiscountId, page: PageRequest) -> Result<Page<DiscountUsage>, StoreError> {
        self.snapshot(move |connection| {
            let of_discount = || discount_usages::table.filter(discount_usages::discount_id.eq(id.get()));
            let total: i64 = of_discount().count().get_result(connection)?;
            let rows: Vec<(i64, i64, i64, i64, NaiveDateTime)> = of_discount()
                .inner_join(referred!(orders, discount_usages::order_id))
                .order(discount_usages::order_id.desc())
                .limit(page.limit())
                .offset(page.offset())
                .select((
                    discount_usages::order_id,
                    discount_usages::counterparty_id,
                    orders::promo_discount,
                    orders::final_price,
                    discount_usages::created_at,
                ))
                .load(connection)?;
            let usage = |(order, customer, amount, left, at)| {
                Ok::<_, StoreError>(DiscountUsage {
                    order_id: decode::id(order)?,
                    counterparty_id: decode::id(customer)?,
                    amount: decode::money(amount)?,
                    final_price: decode::money(left)?,
                    created_at: decode::moment(at),
                })
            };
            Ok(decode::page(unreadable::rows("discount_usages", rows, |row| row.0, usage)?, total, page)?)
        })
        .await
    }

    async fn insert(
        &self,
        stamp: Stamp,
        terms: DiscountTerms,
        status: DiscountStatus,
    ) -> Result<Discount, DiscountError> {
        records::insert(self, stamp, move |connection| {
            require_target(connection, stamp.project_id, terms.target)?;
            diesel::insert_into(discounts::table)
                .values((
                    discounts::project_id.eq(stamp.project_id.get()),
                    Terms::new(&terms, status, stamp.at),
                    discounts::used_count.eq(0),
                    discounts::used_amount.eq(0),
                    discounts::version.eq(1),
                    discounts::created_at.eq(stamp.at.naive_utc()),
                ))
                .returning(discounts::id)
                .get_result(connection)
                .map_err(on_duplicate(DiscountRefusal::CodeTaken))
        })
        .await
    }

    async fn replace(&self, stamp: Stamp, rewrite: DiscountRewrite) -> Result<Discount, DiscountError> {
        let version = i64::try_from(rewrite.version).map_err(StoreError::corrupt)?;
        records::change(self, stamp, rewrite.id.get(), move |connection, held: &Discount| {
            require_target(connection, stamp.project_id, rewrite.terms.target)?;
            let promo = rewrite.terms.promo.as_ref();
            let most = promo.and_then(|promo| promo.usage_limit).map_or(i64::MAX, |limit| i64::from(limit.get()));
            // No code is empty.
            let code = promo.map_or("", |promo| promo.code.as_str());
            let seen = discounts::table
                .find(rewrite.id.get())
                .filter(discounts::project_id.eq(stamp.project_id.get()))
                .filter(discounts::version.eq(version))
                .filter(discounts::used_count.le(most))
                .filter(discounts::used_count.eq(0).or(discounts::code.assume_not_null().eq(code)));
            let written = diesel::update(seen)
                .set((Terms::new(&rewrite.terms, rewrite.status, stamp.at), discounts::version.eq(version + 1)))
                .execute(connection)
                .map_err(on_duplicate(DiscountRefusal::CodeTaken))?;
            if written == 0 { Err(Abort::refused(refusal(held, &rewrite))) } else { Ok(written) }
        })
        .await
    }

    async fn delete(&self, stamp: Stamp, id: DiscountId) -> Result<(), DiscountError> {
        records::delete(self, stamp, id.get(), move |connection, _: &Discount| {
            // The promotions that announce the discount lose it.
            Statement::new("UPDATE promotions SET version = version + 1, updated_at = ")
                .value(stamp.at.naive_utc())
                .sql(" WHERE project_id = ")
                .value(stamp.project_id.get())
                .sql(" AND id IN (SELECT promotion_id FROM promotion_discounts WHERE discount_id = ")
                .value(id.get())
                .sql(" AND project_id = ")
                .value(stamp.project_id.get())
                .sql(")")
                .run(connection)?;
            // Only orders prevent the deletion of a discount; promotions release it.
            diesel::delete(keyed!(discounts, id.get(), stamp.project_id))
                .execute(connection)
                .map_err(on_reference(DiscountRefusal::UsedByOrders))
        })
        .await
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
