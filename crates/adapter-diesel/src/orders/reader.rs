//! Reading orders: a fixed number of statements, whatever the number of orders.

use async_trait::async_trait;
use chrono::{Days, NaiveDateTime, NaiveTime};
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use kontor_kernel::{CustomerScope, OrderId, Page, PageRequest, Phone, ProjectId, StoreError};
use kontor_orders::model::{Order, OrderFilter, PromoCode};
use kontor_orders::ports::OrderReader;

use super::assemble::orders;
use crate::database::{Abort, Database};
use crate::statement::Statement;

#[derive(QueryableByName)]
struct Total {
    #[diesel(sql_type = BigInt)]
    total: i64,
}

#[async_trait]
impl OrderReader for Database {
    async fn find(&self, id: OrderId) -> Result<Option<Order>, StoreError> {
        self.read_brief(move |connection| {
            let found = orders(connection, Statement::new(" WHERE o.id = ").value(id.get()))?;
            Ok::<_, Abort<StoreError>>(found.into_iter().next())
        })
        .await
    }

    async fn of_customer(&self, customer: CustomerScope) -> Result<Vec<Order>, StoreError> {
        self.read(move |connection| {
            let own = Statement::new(" WHERE o.counterparty_id = ")
                .value(customer.counterparty_id.get())
                .sql(" AND o.application_id = ")
                .value(customer.app.application_id.get())
                .sql(" ORDER BY o.id DESC");
            orders(connection, own)
        })
        .await
    }

    async fn list(
        &self,
        project: ProjectId,
        filter: OrderFilter,
        page: PageRequest,
    ) -> Result<Page<Order>, StoreError> {
        self.read_snapshot(move |connection| {
            let matching = matching(project, &filter);
            let count: Total = Statement::new("SELECT count(*) AS total FROM orders o")
                .then(matching.clone())
                .get_result(connection)?;
            let of_page =
                matching.sql(" ORDER BY o.id DESC LIMIT ").value(page.limit()).sql(" OFFSET ").value(page.offset());
            let items = orders(connection, of_page)?;
            let total = u64::try_from(count.total).map_err(StoreError::corrupt)?;
            Ok::<_, Abort<StoreError>>(Page { items, total, request: page })
        })
        .await
    }
}

fn matching(project: ProjectId, filter: &OrderFilter) -> Statement {
    let mut found = Statement::new(" WHERE o.project_id = ").value(project.get());
    if let Some(status) = filter.status {
        found = found.sql(" AND o.status_id = ").value(status.id());
    }
    if let Some(customer) = filter.counterparty_id {
        found = found.sql(" AND o.counterparty_id = ").value(customer.get());
    }
    if let Some(application) = filter.application_id {
        found = found.sql(" AND o.application_id = ").value(application.get());
    }
    if let Some(day) = filter.date_from {
        found = found.sql(" AND o.created_at >= ").value(NaiveDateTime::new(day, NaiveTime::MIN));
    }
    if let Some(next_day) = filter.date_to.and_then(|day| day.checked_add_days(Days::new(1))) {
        found = found.sql(" AND o.created_at < ").value(NaiveDateTime::new(next_day, NaiveTime::MIN));
    }
    match &filter.query {
        None => found,
        Some(query) => found.then(search(query.trim())),
    }
}

/// By number, by phone or by promo code, each as a whole.
fn search(query: &str) -> Statement {
    let mut found = Statement::new(" AND (o.id = ").value(query.parse::<i64>().unwrap_or_default());
    if let Ok(phone) = Phone::parse(query) {
        found = found.sql(" OR o.phone = ").value(phone.as_str());
    }
    if let Ok(code) = PromoCode::parse(query) {
        found = found.sql(" OR o.promo_code = ").value(code.as_str());
    }
    found.sql(")")
}
