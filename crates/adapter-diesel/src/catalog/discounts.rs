use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_catalog::model::{Discount, DiscountStats, DiscountTerms, DiscountUsage};
use kontor_catalog::ports::{DiscountRepository, DiscountRewrite};
use kontor_catalog::{DiscountError, DiscountRefusal};
use kontor_kernel::{
    DiscountId, DiscountStatus, DiscountTarget, Listing, Page, PageRequest, ProjectId, ProjectScoped, PromoCode, Stamp,
    StoreError,
};

use super::staff_discounts::{DISCOUNTS, Terms, load, within};
use crate::database::{Abort, AnyConnection, Database, found, on_duplicate, on_reference};
use crate::decode;
use crate::records::{self, StoredRecord};
use crate::schema::{categories, discount_usages, discounts, nomenclatures, orders};
use crate::statement::{Statement, by_place};
use crate::unreadable;

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
                .inner_join(orders::table.on(orders::id.eq(discount_usages::order_id)))
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
                .sql(" WHERE id IN (SELECT promotion_id FROM promotion_discounts WHERE discount_id = ")
                .value(id.get())
                .sql(")")
                .run(connection)?;
            // Only orders prevent the deletion of a discount; promotions release it.
            diesel::delete(discounts::table.find(id.get()))
                .execute(connection)
                .map_err(on_reference(DiscountRefusal::UsedByOrders))
        })
        .await
    }
}
