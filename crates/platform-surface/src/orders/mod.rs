//! Orders of the project.

mod files;
mod lines;
mod placement;
mod preview;
mod refunds;

use actix_web::web::Path;
use actix_web::{delete, get, post, put};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_kernel::listing::Sort;
use kontor_kernel::{ApplicationId, CounterpartyId, Word};
use kontor_orders::change::ManualPayment;
use kontor_orders::model::{Order, OrderEntry, OrderLine, OrderStatus};
use kontor_orders::{OrderChange, OrderService, lines as domain};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use self::preview::OrderPreview;
use self::refunds::OrderRefundRecord;
use super::{jobs, tickets};
use crate::endpoints::handlers;
use crate::table::{Cell, Column, Filter, Table, list_params};
use kontor_web::envelope::{Answer, answer, list};
use kontor_web::order_record::{OrderRecord, OrderStatusId};
use kontor_web::path::below;
use kontor_web::records::HistoryRecord;
use kontor_web::wire::{self, InputErrors, NamedRecord, change_body};
use kontor_web::{Body, DryRun, PageQuery, PathId, Query, Service, SignedInStaff};

handlers! {
    fn table_routes; OrderService, "Orders";

    /// List orders as a table
    table "/api/tables/orders" as list_orders_table(OrderTableParams) = list() -> TABLE;
}

handlers! {
    fn usual_routes; OrderService, "Orders";

    /// List orders
    ///
    /// Returns every order of the project, newest first.
    list "/api/orders" as list_orders = list(rows OrderParams ORDERS 100) -> OrderList;

    /// Get an order
    read "/api/orders/{id}" as show_order -> OrderResponse;

    /// Cancel an order
    ///
    /// Releases the reserved stock and the use of the promo code. The order itself is kept. Paid orders must be refunded
    /// first.
    delete "/api/orders/{id}" as cancel_order = cancel(id) -> "The order was canceled.",
        422 "The order is paid or too far in its processing to be canceled.";
}

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    table_routes(config);
    files::table_routes(config);
    below(config, "/api/orders", |config| {
        usual_routes(config);
        config.service(placement::create_order).service(placement::calculate_order);
        config.service(jobs::export_orders);
        config
            .service(tickets::redeem_tickets)
            .service(tickets::redeem_ticket_batch)
            .service(tickets::list_ticket_scans);
        config.service(update_order).service(refunds::request_refund);
        config.service(record_payment);
        config.service(files::add_order_file).service(list_order_history);
        config.service(lines::add_order_line).service(lines::update_order_line);
        config.service(lines::remove_order_line);
    });
}

#[derive(Serialize, ToSchema)]
struct OrderCustomer {
    id: i64,
    name: String,
    phone: Option<String>,
}

#[derive(Serialize, ToSchema)]
struct ReservedItem {
    id: i64,
    name: String,
    article: Option<String>,
}

/// Order line. Its `id` is the last id in `/api/orders/{order}/nomenclatures/{nomenclature}`.
#[derive(Serialize, ToSchema)]
struct ReservationRecord {
    id: i64,
    nomenclature: ReservedItem,
    /// Warehouse that the units are reserved in. `null` for a service.
    warehouse: Option<NamedRecord>,
    /// Ordered units.
    quantity: u32,
    /// Price of one unit before discounts, decimal string.
    price: String,
    product_discount_amount: String,
    promo_discount_amount: String,
    /// Price of the line after discounts, decimal string.
    total: String,
    /// Number of refunded units.
    refunded_quantity: u32,
    /// Part of `total` that is refunded, being refunded or requested to be refunded, decimal string.
    refunded_amount: String,
    /// `held`, `released` or `sold`.
    state: &'static str,
}

impl From<&OrderLine> for ReservationRecord {
    fn from(line: &OrderLine) -> Self {
        let item = line.item.clone();
        Self {
            id: line.id.get(),
            nomenclature: ReservedItem { id: item.id.get(), name: item.name, article: line.article.clone() },
            warehouse: line.warehouse.clone().map(Into::into),
            quantity: line.quantity.get(),
            price: line.unit_price.to_string(),
            product_discount_amount: line.product_discount.to_string(),
            promo_discount_amount: line.promo_discount.to_string(),
            total: line.total.to_string(),
            refunded_quantity: line.refunded_quantity,
            refunded_amount: line.refunded_amount.to_string(),
            state: line.state.word(),
        }
    }
}

/// Order as shown to staff.
#[derive(Serialize, ToSchema)]
pub(super) struct StaffOrder {
    #[serde(flatten)]
    order: OrderRecord,
    counterparty: OrderCustomer,
    /// `null` if the order was created for the project, not for an application.
    application: Option<NamedRecord>,
    /// Employee responsible for the order.
    manager: Option<NamedRecord>,
    /// Comment of staff, not shown to the customer.
    comment: Option<String>,
    /// Lines of the order.
    reservations: Vec<ReservationRecord>,
    /// `unpaid`, `pending`, `paid`, `partially_refunded` or `refunded`.
    payment_state: &'static str,
    paid_at: Option<DateTime<Utc>>,
    /// Amount received, decimal string.
    captured_amount: String,
    /// Part of the received amount that is refunded, decimal string.
    refunded_amount: String,
    /// Part of the received amount that is being refunded, decimal string.
    refunding_amount: String,
    /// Refunds of the order, oldest first.
    refunds: Vec<OrderRefundRecord>,
    /// Time when an unconfirmed order of the contact form is canceled unless an employee confirms it. `null` for all
    /// other orders.
    reserved_until: Option<DateTime<Utc>>,
    version: i64,
    updated_at: DateTime<Utc>,
}

impl From<Order> for StaffOrder {
    fn from(order: Order) -> Self {
        let customer = order.customer.clone();
        Self {
            order: (&order).into(),
            counterparty: OrderCustomer { id: customer.id.get(), name: customer.name, phone: customer.phone },
            payment_state: order.payment_state().word(),
            captured_amount: order.captured.to_string(),
            refunded_amount: order.refunded.to_string(),
            refunding_amount: order.refunding.to_string(),
            refunds: order.refunds.iter().map(Into::into).collect(),
            reserved_until: order.reserved_until,
            version: order.version,
            application: order.application.map(Into::into),
            manager: order.manager.map(Into::into),
            comment: order.comment,
            reservations: order.lines.iter().map(Into::into).collect(),
            paid_at: order.paid_at,
            updated_at: order.updated_at,
        }
    }
}

/// Order. With `dry_run`, the unchanged order and a preview of the change.
#[derive(Serialize, ToSchema)]
pub(super) struct OrderResponse {
    order: StaffOrder,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    preview: Option<OrderPreview>,
}

impl From<Order> for OrderResponse {
    fn from(order: Order) -> Self {
        Self { order: order.into(), preview: None }
    }
}

impl From<(Order, domain::OrderPreview)> for OrderResponse {
    fn from((order, preview): (Order, domain::OrderPreview)) -> Self {
        Self { order: order.into(), preview: Some(preview.into()) }
    }
}

list!(OrderList { orders: [StaffOrder], orders_count of all });

change_body! {
    OrderPatch {
        /// New status of the order.
        status_id: OrderStatusId,
        /// Employee responsible for the order. `null` removes them.
        manager_id: wire::UserId | null,
        comment: wire::Prose | null,
        /// `null` clears the address. Not allowed for orders with courier delivery.
        address: wire::Line500 | null,
    }
}

/// Update an order
///
/// Changes the status or the details. Canceling releases the reserved stock; issuing removes it from the warehouse.
#[utoipa::path(
    tag = "Orders",
    params(DryRun),
    request_body = OrderPatch,
    responses((status = 200, body = OrderResponse)),
)]
#[put("/api/orders/{id}")]
async fn update_order(
    staff: SignedInStaff,
    service: Service<OrderService>,
    id: Path<PathId>,
    dry_run: Query<DryRun>,
    body: Body<OrderPatch>,
) -> Answer<OrderResponse> {
    let Body(patch) = body;
    let change = OrderChange {
        status: patch.status_id.into(),
        manager: patch.manager_id.into(),
        comment: patch.comment.into(),
        address: patch.address.into(),
    };
    let id = id.parse()?;
    if dry_run.0.is_set() {
        return answer(service.preview_update(&staff, id, &change).await?);
    }
    answer(service.update(&staff, id, change).await?)
}

/// History entry of an order. Fields of items are named `nomenclatures.{nomenclature_id}.quantity` and `.price`, those
/// of lines `reservations.{id}.refunded_quantity`.
#[derive(Serialize, ToSchema)]
struct OrderHistoryRecord {
    #[serde(flatten)]
    line: HistoryRecord,
    /// `created`, `status_changed`, `changed`, `lines_changed`, `payment_renewed`, `payment_withdrawn`,
    /// `payment_suspicious`, `payment_failed`, `paid`, `paid_after_cancellation`, `paid_out_of_turn`,
    /// `refund_requested`, `refunded`, `refund_failed`, `expired` or `tickets_redeemed`.
    event: &'static str,
    /// Status of the order after the event.
    status_id: i64,
    /// Amount, number of tickets or reason, depending on the event.
    detail: Option<String>,
}

impl From<OrderEntry> for OrderHistoryRecord {
    fn from(entry: OrderEntry) -> Self {
        Self { line: entry.line.into(), event: entry.event.word(), status_id: entry.status.id(), detail: entry.detail }
    }
}

list!(/// One page of the history of an order, newest first.
    OrderHistoryList { histories: [OrderHistoryRecord], histories_count of all, pagination });

/// List the history of an order
///
/// Newest first. Each entry has the author, the time and the old and new values. Entries reported by the acquirer have
/// neither `user` nor `counterparty`.
#[utoipa::path(tag = "Orders", params(PageQuery), responses((status = 200, body = OrderHistoryList)))]
#[get("/api/orders/{id}/history")]
async fn list_order_history(
    staff: SignedInStaff,
    service: Service<OrderService>,
    id: Path<PathId>,
    query: Query<PageQuery>,
) -> Answer<OrderHistoryList> {
    answer(service.history(&staff, id.parse()?, query.0.page()?).await?)
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct RecordedPayment {
    method: wire::HandMethodWord,
    /// Number of the receipt from the cash register. It is shown in the history.
    #[deserr(default)]
    receipt: Option<wire::Line100>,
}

/// Record an offline payment of an order
///
/// Records that an employee took the full price in cash or at a terminal, for example at hand-over. An issued order
/// stays issued; any other order becomes paid.
#[utoipa::path(
    tag = "Orders",
    request_body(content = RecordedPayment, example = json!({ "method": "cash" })),
    responses(
        (status = 200, body = OrderResponse),
        (
            status = 409,
            description = "The payment is not recorded: `order_already_paid`, `order_paid_online` or `order_final`.",
        ),
    ),
)]
#[post("/api/orders/{id}/record-payment")]
async fn record_payment(
    staff: SignedInStaff,
    service: Service<OrderService>,
    id: Path<PathId>,
    body: Body<RecordedPayment>,
) -> Answer<OrderResponse> {
    let payment = ManualPayment { method: body.0.method.0, receipt: body.0.receipt.map(|receipt| receipt.0) };
    answer(service.record_payment(&staff, id.parse()?, payment).await?)
}

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
const TABLE: Table<Order> =
    orders(&[STATUS, CUSTOMER, PRICE, Filter::id::<ApplicationId>("client_id", APPLICATIONS_HINT)]);

/// Table of `GET /api/orders`.
const ORDERS: Table<Order> =
    orders(&[STATUS, CUSTOMER, PRICE, Filter::id::<ApplicationId>("application_id", APPLICATIONS_HINT)]);

list_params! {
    /// Query parameters of `GET /api/tables/orders`.
    OrderTableParams of TABLE
}

list_params! {
    /// Query parameters of `GET /api/orders`.
    OrderParams of ORDERS
}
