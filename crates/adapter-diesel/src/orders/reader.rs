//! Reading orders: a fixed number of statements, whatever the number of orders.

use async_trait::async_trait;
use kontor_kernel::{CustomerScope, Listing, OfProject, OrderId, Page, Phone, ProjectId, StoreError};
use kontor_orders::model::{Order, PromoCode};
use kontor_orders::ports::OrderReader;

use super::assemble::orders;
use crate::database::{Abort, Database};
use crate::listing::{Source, in_order};
use crate::statement::Statement;

#[async_trait]
impl OrderReader for Database {
    async fn find(&self, id: OrderId) -> Result<Option<OfProject<Order>>, StoreError> {
        self.read_brief(move |connection| {
            let found = orders(connection, Statement::new(" WHERE o.id = ").value(id.get()))?;
            Ok::<_, Abort<StoreError>>(found.into_iter().next())
        })
        .await
    }

    async fn of_customer(&self, customer: CustomerScope) -> Result<Vec<Order>, StoreError> {
        let project = customer.app.project_id;
        self.read(move |connection| {
            let own = Statement::new(" WHERE o.counterparty_id = ")
                .value(customer.counterparty_id.get())
                .sql(" AND o.application_id = ")
                .value(customer.app.application_id.get())
                .sql(" ORDER BY o.id DESC");
            let found = orders(connection, own)?;
            Ok::<_, Abort<StoreError>>(found.into_iter().filter_map(|order| order.within(project)).collect())
        })
        .await
    }

    async fn list(&self, project: ProjectId, listing: Listing) -> Result<Page<Order>, StoreError> {
        self.read_snapshot(move |connection| {
            let own = Statement::new("o.project_id = ").value(project.get());
            let found = ORDERS.page(connection, own, &listing)?;
            let these = Statement::new(" WHERE o.id").among(&found.items).sql(" ORDER BY o.id");
            let own = orders(connection, these)?.into_iter().filter_map(|order| order.within(project)).collect();
            let orders = in_order(&found.items, own, |order: &Order| order.id.get());
            Ok::<_, Abort<StoreError>>(found.with_items(orders))
        })
        .await
    }
}

/// The orders of a project. Its table calls the application `client_id`.
const ORDERS: Source = Source {
    from: "orders o",
    id: "o.id",
    fields: &[
        ("id", "o.id"),
        ("status_id", "o.status_id"),
        ("counterparty_id", "o.counterparty_id"),
        ("application_id", "o.application_id"),
        ("client_id", "o.application_id"),
        ("price", "o.final_price"),
        ("created_at", "o.created_at"),
    ],
    search: |text| search(text.as_str().trim()),
};

/// By number, by phone or by promo code, each as a whole.
fn search(query: &str) -> Statement {
    let mut found = Statement::new("(o.id = ").value(query.parse::<i64>().unwrap_or_default());
    if let Ok(phone) = Phone::parse(query) {
        found = found.sql(" OR o.phone = ").value(phone.as_str());
    }
    if let Ok(code) = PromoCode::parse(query) {
        found = found.sql(" OR o.promo_code = ").value(code.as_str());
    }
    found.sql(")")
}
