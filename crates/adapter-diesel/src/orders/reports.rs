//! Sales figures. They are summed up when they are requested, from the indexes `orders_by_payment` and
//! `order_refunds_by_settlement`. A table of totals would give each project one row that all its payments wait for.

use std::collections::BTreeMap;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use diesel::QueryResult;
use kontor_kernel::{ProjectId, StoreError};
use kontor_orders::model::Named;
use kontor_orders::ports::ReportReader;
use kontor_orders::reports::{ItemOrder, ItemQuery, ItemSales, Sales, Span};

use crate::database::{Abort, AnyConnection, Database};
use crate::decode;
use crate::statement::{Statement, Value, by_place};

by_place! {
    struct SpanRow {
        number: i64,
        orders: i64,
        revenue: i64,
        refunds: i64,
        refunded: i64,
    }
}

by_place! {
    struct SoldRow {
        item: i64,
        quantity: i64,
        revenue: i64,
        returned: i64,
        refunded: i64,
    }
}

by_place! {
    struct CardRow {
        id: i64,
        name: String,
        article: Option<String>,
        available: Option<i64>,
    }
}

fn moment(at: DateTime<Utc>) -> Statement {
    Statement::default().value(at.naive_utc())
}

/// Condition for the orders `o` of a project that were paid in a range of time.
fn paid(project: ProjectId, since: Statement, until: Statement) -> Statement {
    let paid = Statement::new("o.project_id = ").value(project.get()).sql(" AND o.paid_at >= ").then(since);
    paid.sql(" AND o.paid_at < ").then(until)
}

/// Condition for the refunds `f` of a project that succeeded in a range of time.
fn settled(project: ProjectId, since: Statement, until: Statement) -> Statement {
    let settled = Statement::new("f.project_id = ").value(project.get()).sql(" AND f.state = 'succeeded'");
    settled.sql(" AND f.settled_at >= ").then(since).sql(" AND f.settled_at < ").then(until)
}

/// Returns `true` if more than `most` orders were paid. It counts no further.
fn has_more(connection: &mut AnyConnection, paid: Statement, most: u32) -> QueryResult<bool> {
    let counted = Statement::new("SELECT COUNT(*) FROM (SELECT o.id FROM orders o WHERE ").then(paid);
    let count: i64 = counted.sql(" LIMIT ").value(i64::from(most) + 1).sql(") AS counted").scalar(connection)?;
    Ok(count > i64::from(most))
}

/// Statement that sums up each span. A subquery for each sum reads one range of an index; grouping by span would sort
/// all orders.
fn sums(project: ProjectId, spans: &[Span]) -> Statement {
    let rows = spans.iter().map(|span| -> Vec<Value> {
        vec![span.row.into(), span.since.naive_utc().into(), span.until.naive_utc().into()]
    });
    let orders = || paid(project, Statement::new("s.since"), Statement::new("s.until"));
    let refunds = || settled(project, Statement::new("s.since"), Statement::new("s.until"));
    Statement::new("WITH spans (number, since, until) AS (VALUES ")
        .tuples(rows)
        .sql(") SELECT s.number, (SELECT COUNT(*) FROM orders o WHERE ")
        .then(orders())
        .sql("), CAST(COALESCE((SELECT SUM(o.captured) FROM orders o WHERE ")
        .then(orders())
        .sql("), 0) AS BIGINT), (SELECT COUNT(*) FROM order_refunds f WHERE ")
        .then(refunds())
        .sql("), CAST(COALESCE((SELECT SUM(f.amount) FROM order_refunds f WHERE ")
        .then(refunds())
        .sql("), 0) AS BIGINT) FROM spans s")
        .once()
}

/// Statement that sums up the lines of paid orders by item.
fn sold(paid: Statement, order: ItemOrder, limit: u32) -> Statement {
    let order = match order {
        ItemOrder::Revenue => "SUM(r.total)",
        ItemOrder::Quantity => "SUM(r.quantity)",
    };
    Statement::new(
        "SELECT r.nomenclature_id, CAST(SUM(r.quantity) AS BIGINT), CAST(SUM(r.total) AS BIGINT), \
         CAST(SUM(r.refunded_quantity) AS BIGINT), CAST(SUM(r.refunded_amount) AS BIGINT) FROM orders o \
         JOIN reservations r ON r.order_id = o.id AND r.project_id = o.project_id WHERE ",
    )
    .then(paid)
    .sql(format!(" GROUP BY r.nomenclature_id ORDER BY {order} DESC, r.nomenclature_id LIMIT "))
    .value(limit)
}

fn sales(row: &SpanRow) -> Result<(u32, Sales), StoreError> {
    let sales = Sales {
        orders: decode::count(row.orders)?,
        revenue: decode::money(row.revenue)?,
        refunds: decode::count(row.refunds)?,
        refunded: decode::money(row.refunded)?,
    };
    Ok((u32::try_from(row.number).map_err(StoreError::corrupt)?, sales))
}

fn item(row: &SoldRow, card: CardRow) -> Result<ItemSales, StoreError> {
    Ok(ItemSales {
        item: Named { id: decode::id(card.id)?, name: card.name },
        article: card.article,
        quantity: decode::count(row.quantity)?,
        revenue: decode::money(row.revenue)?,
        returned: decode::count(row.returned)?,
        refunded: decode::money(row.refunded)?,
        available: decode::optional_count(card.available)?,
    })
}

#[async_trait]
impl ReportReader for Database {
    async fn sales(
        &self,
        project: ProjectId,
        spans: Vec<Span>,
        most: u32,
    ) -> Result<Option<Vec<(u32, Sales)>>, StoreError> {
        let bounds = spans.first().zip(spans.last()).map(|(first, last)| (first.since, last.until));
        let Some((since, until)) = bounds else { return Ok(Some(Vec::new())) };
        self.snapshot(move |connection| {
            if has_more(connection, paid(project, moment(since), moment(until)), most)? {
                return Ok(None);
            }
            let rows: Vec<SpanRow> = sums(project, &spans).rows(connection)?;
            let sums = rows.iter().map(sales).collect::<Result<Vec<_>, StoreError>>()?;
            Ok::<_, Abort<StoreError>>(Some(sums))
        })
        .await
    }

    async fn best_sellers(&self, query: ItemQuery, most: u32) -> Result<Option<Vec<ItemSales>>, StoreError> {
        self.snapshot(move |connection| {
            let paid = || paid(query.project_id, moment(query.since), moment(query.until));
            if has_more(connection, paid(), most)? {
                return Ok(None);
            }
            let rows: Vec<SoldRow> = sold(paid(), query.order, query.limit).rows(connection)?;
            let ids: Vec<i64> = rows.iter().map(|row| row.item).collect();
            let cards: Vec<CardRow> = Statement::new(
                "SELECT n.id, n.name, n.article, (SELECT CAST(SUM(i.quantity - i.reserved) AS BIGINT) \
                 FROM inventories i WHERE i.nomenclature_id = n.id AND i.deleted_at IS NULL) \
                 FROM nomenclatures n WHERE n.id",
            )
            .among(&ids)
            .rows(connection)?;
            let mut cards: BTreeMap<i64, CardRow> = cards.into_iter().map(|card| (card.id, card)).collect();
            let items = rows.iter().filter_map(|row| cards.remove(&row.item).map(|card| item(row, card)));
            let items = items.collect::<Result<Vec<_>, StoreError>>()?;
            Ok::<_, Abort<StoreError>>(Some(items))
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Kind, TestDatabase};

    async fn plan(db: &TestDatabase, statement: Statement) -> String {
        let read =
            db.database.read(move |connection| statement.clone().plan(connection).map_err(Abort::<StoreError>::Query));
        read.await.unwrap()
    }

    #[tokio::test]
    async fn sums_are_read_from_indexes() {
        let db = TestDatabase::fresh(Kind::Sqlite);
        let project = ProjectId::new(1).unwrap();
        let span = Span { row: 0, since: DateTime::UNIX_EPOCH, until: DateTime::UNIX_EPOCH };
        let plan_of_sums = plan(&db, sums(project, &[span, span])).await;
        assert_eq!(plan_of_sums.matches("COVERING INDEX orders_by_payment").count(), 2, "{plan_of_sums}");
        assert_eq!(plan_of_sums.matches("COVERING INDEX order_refunds_by_settlement").count(), 2, "{plan_of_sums}");
        assert!(!plan_of_sums.contains("TEMP B-TREE"), "{plan_of_sums}");
        let paid = paid(project, moment(span.since), moment(span.until));
        let plan_of_items = plan(&db, sold(paid, ItemOrder::Revenue, 50)).await;
        for index in ["COVERING INDEX orders_by_payment", "reservations_by_order"] {
            assert!(plan_of_items.contains(index), "{plan_of_items}");
        }
    }
}
