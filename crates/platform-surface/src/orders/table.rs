//! Table of orders, and the filters of order lists.

use kontor_kernel::listing::Sort;
use kontor_kernel::{ApplicationId, CounterpartyId};
use kontor_orders::model::{Order, OrderStatus};
use serde_json::Value;

use crate::table::{Cell, Column, Filter, Table, list_params};

const COLUMNS: &[Column<Order>] = &[
    Column::with_icon("id", "Number", |order| Cell::linked(order.id.get(), format!("/api/orders/{}", order.id))),
    Column::new("created_at", "Created", |order| {
        Cell::plain(order.created_at.to_rfc3339_opts(chrono::SecondsFormat::Secs, true))
    }),
    Column::new("status", "Status", |order| Cell::plain(order.status_name.clone())),
    Column::with_icon("counterparty", "Customer", |order| {
        let customer = &order.customer;
        Cell::linked(customer.name.clone(), format!("/api/counterparties/{}", customer.id))
    }),
    Column::new("phone", "Phone", |order| Cell::plain(order.customer.phone.clone())),
    Column::with_icon("application", "Application", |order| match &order.application {
        None => Cell::plain(Value::Null),
        Some(made) => Cell::linked(made.name.clone(), format!("/api/applications/{}", made.id)),
    }),
    Column::new("price", "Sum", |order| Cell::plain(order.final_price.to_string())),
    Column::new("manager", "Manager", |order| {
        Cell::plain(order.manager.as_ref().map_or(Value::Null, |manager| manager.name.clone().into()))
    }),
];

const STATUS: Filter = Filter::id::<OrderStatus>("status_id", "In these states.");
const CUSTOMER: Filter = Filter::id::<CounterpartyId>("counterparty_id", "Of these customers.");
const PRICE: Filter = Filter::money("price", "With this total.");
const APPLICATIONS_HINT: &str = "Made through these applications.";

const fn orders(filters: &'static [Filter]) -> Table<Order> {
    Table {
        id: 15,
        resource: "orders",
        version: Some(|row| row.version.into()),
        columns: COLUMNS,
        sorts: &["id", "created_at"],
        filters,
        search: Some(
            "The full order number, phone or promo code; or parts of the customer's name, phones and other contacts.",
        ),
        period: Some("created_at"),
        order: Sort::descending("id"),
    }
}

/// Table of `GET /api/tables/orders`. Its filter by application is named `client_id`.
pub(super) const TABLE: Table<Order> =
    orders(&[STATUS, CUSTOMER, PRICE, Filter::id::<ApplicationId>("client_id", APPLICATIONS_HINT)]);

/// Table of `GET /api/orders`.
pub(super) const ORDERS: Table<Order> =
    orders(&[STATUS, CUSTOMER, PRICE, Filter::id::<ApplicationId>("application_id", APPLICATIONS_HINT)]);

list_params! {
    /// Query parameters of `GET /api/tables/orders`.
    OrderTableParams of TABLE
}

list_params! {
    /// Query parameters of `GET /api/orders`.
    OrderParams of ORDERS
}
