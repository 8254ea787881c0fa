//! Reading orders: a fixed number of statements, whatever the number of orders.

use async_trait::async_trait;
use kontor_kernel::{
    CustomerScope, Line, Listing, OfProject, OrderId, Page, PageRequest, Phone, ProjectId, StoreError, UserId,
};
use kontor_orders::model::{Order, OrderEntry, PromoCode};
use kontor_orders::ports::OrderReader;

use super::assemble::orders;
use super::history;
use crate::database::{Abort, AnyConnection, Database};
use crate::listing::{Source, Totals, in_order, unsearched};
use crate::people::is_employee;
use crate::projections::search::{MOST, customers_named, number_in};
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

    async fn has_employee(&self, project: ProjectId, user: UserId) -> Result<bool, StoreError> {
        self.read(move |connection| Ok::<_, Abort<StoreError>>(is_employee(connection, project, user)?)).await
    }

    async fn history(&self, order: OrderId, page: PageRequest) -> Result<Page<OrderEntry>, StoreError> {
        self.read_snapshot(move |connection| history::page(connection, order, page)).await
    }

    async fn list(&self, project: ProjectId, listing: Listing) -> Result<Page<Order>, StoreError> {
        let totals = self.memory::<Totals>();
        self.read_snapshot(move |connection| {
            let mut own = Statement::new("o.project_id = ").value(project.get());
            if let Some(text) = &listing.text {
                own = own.sql(" AND o.id IN ").then(orders_found(connection, project, text));
            }
            let found = ORDERS.page_of_many(connection, own, &listing, &totals)?;
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
    // By the orders that are found.
    search: unsearched,
};

/// `(SELECT ...)`: the order with this number, and the newest ones with this phone, with this promo code and of customers
/// whom the text finds, [`MOST`] of each at most. Each is found by its own index.
fn orders_found(connection: &AnyConnection, project: ProjectId, text: &Line<255>) -> Statement {
    let newest = |condition: Statement| {
        Statement::new(" UNION SELECT id FROM (SELECT id FROM orders WHERE project_id = ")
            .value(project.get())
            .sql(" AND ")
            .then(condition)
            .sql(format!(" ORDER BY id DESC LIMIT {MOST}) AS found"))
    };
    let mut found = Statement::new("(SELECT ").value(number_in(text));
    if let Ok(phone) = Phone::parse(text.trim()) {
        found = found.then(newest(Statement::new("phone = ").value(phone.as_str())));
    }
    if let Ok(code) = PromoCode::parse(text.trim()) {
        found = found.then(newest(Statement::new("promo_code = ").value(code.as_str())));
    }
    let named = customers_named(connection, project, text, 0);
    found.then(newest(Statement::new("counterparty_id IN ").then(named))).sql(")")
}
