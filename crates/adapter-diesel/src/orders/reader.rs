//! Reads orders with a fixed number of statements, for any number of orders.

use async_trait::async_trait;
use diesel::QueryResult;
use kontor_kernel::{
    CustomerScope, Line, Listing, OrderId, Page, PageRequest, Phone, ProjectId, ProjectScoped, StoreError, UserId,
};
use kontor_orders::model::{Order, OrderEntry, PromoCode};
use kontor_orders::ports::OrderReader;

use super::assemble::orders;
use super::history;
use crate::customer_data::is_employee;
use crate::database::{Abort, AnyConnection, Database, Extent};
use crate::listing::{Source, Totals, in_order, of_project, unsearched};
use crate::read_models::search::{MAX_FOUND, customers_named, number_in};
use crate::records;
use crate::statement::Statement;
use crate::unreadable;

/// Loads the orders with these ids, ascending.
pub(crate) fn numbered(
    connection: &mut AnyConnection,
    ids: &[i64],
) -> Result<Vec<ProjectScoped<Order>>, Abort<StoreError>> {
    orders(connection, Statement::new(" WHERE o.id").among(ids).sql(" ORDER BY o.id"))
}

#[async_trait]
impl OrderReader for Database {
    async fn find(&self, id: OrderId) -> Result<Option<ProjectScoped<Order>>, StoreError> {
        self.expecting(Extent::Keys)
            .read(move |connection| {
                let found = orders(connection, Statement::new(" WHERE o.id = ").value(id.get()))?;
                Ok::<_, Abort<StoreError>>(found.into_iter().next())
            })
            .await
    }

    async fn of_customer(&self, customer: CustomerScope) -> Result<Vec<Order>, StoreError> {
        let project = customer.app.project_id;
        self.read(move |connection| {
            let own = || {
                Statement::new(" WHERE o.counterparty_id = ")
                    .value(customer.counterparty_id.get())
                    .sql(" AND o.project_id = ")
                    .value(project.get())
                    .sql(" AND o.application_id = ")
                    .value(customer.app.application_id.get())
                    .sql(" ORDER BY o.id DESC")
            };
            let numbers = |connection: &mut AnyConnection| {
                Ok(Statement::new("SELECT o.id FROM orders o").then(own()).scalars(connection)?)
            };
            let whole = |connection: &mut AnyConnection| orders(connection, own());
            let found = unreadable::whole(connection, "orders", whole, numbers, numbered)?;
            Ok::<_, Abort<StoreError>>(records::within(found, project))
        })
        .await
    }

    async fn has_employee(&self, project: ProjectId, user: UserId) -> Result<bool, StoreError> {
        self.read(move |connection| Ok::<_, Abort<StoreError>>(is_employee(connection, project, user)?)).await
    }

    async fn history(&self, order: OrderId, page: PageRequest) -> Result<Page<OrderEntry>, StoreError> {
        self.snapshot(move |connection| history::page(connection, order, page)).await
    }

    async fn list(&self, project: ProjectId, listing: Listing) -> Result<Page<Order>, StoreError> {
        let totals = self.memory::<Totals>();
        self.snapshot(move |connection| {
            let mut own = of_project("o.project_id", project, &listing);
            if let Some(text) = &listing.text {
                own = own.sql(" AND o.id IN ").then(orders_found(connection, project, text)?);
            }
            let found = ORDERS.page_of_many(connection, own, &listing, &totals)?;
            let read = unreadable::records(connection, "orders", &found.items, numbered)?;
            let own = records::within(read, project);
            Ok::<_, Abort<StoreError>>(found.with_items(in_order(&found.items, own, |order: &Order| order.id.get())))
        })
        .await
    }
}

/// Orders of a project. The table calls the application `client_id`.
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
    // Found by the search for orders.
    search: unsearched,
};

const OF_PROJECT: &str = "project_id = ";

/// `(SELECT ...)`: the order with this id, and the newest orders with this phone, with this promo code and of customers
/// that match the text, [`MAX_FOUND`] of each at most. Each is found by its own index.
fn orders_found(connection: &mut AnyConnection, project: ProjectId, text: &Line<255>) -> QueryResult<Statement> {
    let newest = |project_is: &'static str, condition: Statement| {
        Statement::new(" UNION SELECT id FROM (SELECT id FROM orders WHERE ")
            .sql(project_is)
            .value(project.get())
            .sql(" AND ")
            .then(condition)
            .sql(format!(" ORDER BY id DESC LIMIT {MAX_FOUND}) AS found"))
    };
    let mut found = Statement::new("(SELECT ").value(number_in(text));
    if let Ok(phone) = Phone::parse(text.trim()) {
        found = found.then(newest(OF_PROJECT, Statement::new("phone = ").value(phone.as_str())));
    }
    if let Ok(code) = PromoCode::parse(text.trim()) {
        found = found.then(newest(OF_PROJECT, Statement::new("promo_code = ").value(code.as_str())));
    }
    let named = customers_named(connection, project, text, 0)?;
    Ok(found.then(newest("+project_id = ", Statement::new("counterparty_id").then(named))).sql(")"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Kind, TestDatabase};
    use kontor_kernel::listing::{Comparison, Condition, FilterValue, Sort};

    async fn plan(db: &TestDatabase, sort: Sort, condition: Option<Condition>) -> String {
        ORDERS.plan(db, Statement::new("o.project_id = ").value(1_i64), sort, condition).await
    }

    #[tokio::test]
    async fn every_order_and_every_filter_has_its_index() {
        let db = TestDatabase::fresh(Kind::Sqlite);
        for (sort, index) in
            [(Sort::descending("id"), "orders_by_project"), (Sort::ascending("created_at"), "orders_by_date")]
        {
            let plan = plan(&db, sort, None).await;
            assert!(plan.contains(index) && !plan.contains("TEMP B-TREE"), "{plan}");
        }
        let number = || Comparison::AnyOf(vec![FilterValue::Number(1)]);
        let since = Comparison::AtLeast(FilterValue::Moment(chrono::DateTime::UNIX_EPOCH));
        for (field, comparison, index) in [
            ("status_id", number(), "orders_by_status"),
            ("counterparty_id", number(), "orders_by_customer"),
            ("client_id", number(), "orders_by_application"),
            ("price", number(), "orders_by_price"),
            ("created_at", since, "orders_by_date"),
        ] {
            let plan = plan(&db, Sort::descending("id"), Some(Condition { field, comparison })).await;
            assert!(plan.contains(index) && !plan.contains("TEMP B-TREE"), "{field}: {plan}");
        }
    }

    #[tokio::test]
    async fn what_a_text_finds_is_looked_up_by_its_number() {
        let db = TestDatabase::fresh(Kind::Sqlite);
        let project = ProjectId::new(1).unwrap();
        let read = db.database.read(move |connection| {
            let text = Line::parse("Ivanov 79001234567").unwrap();
            let page = Statement::new("SELECT o.id FROM orders o WHERE +o.project_id = ")
                .value(1_i64)
                .sql(" AND o.id IN ")
                .then(orders_found(connection, project, &text)?);
            page.sql(" ORDER BY o.id DESC LIMIT 15").plan(connection).map_err(Abort::<StoreError>::Query)
        });
        let plan = read.await.unwrap();
        assert!(!plan.contains("orders_by_project") && plan.contains("orders_by_customer"), "{plan}");
    }
}
