//! Order lines: those of all orders, and those of one.

use actix_web::get;
use kontor_kernel::listing::Sort;
use kontor_kernel::{NomenclatureId, OrderId, WarehouseId, Word};
use kontor_orders::ReservationService;
use kontor_orders::model::{ReservationRecord, ReservationState};

use crate::endpoints::handlers;
use crate::table::{Cell, Column, Filter, Table, list_params};

handlers! {
    ReservationService, "Stock";

    /// List all order lines as a table
    ///
    /// Newest first.
    table "/api/tables/reservations" as list_reservations_table(ReservationParams) = list() -> TABLE;
}

handlers! {
    fn line_routes; ReservationService, "Orders";

    /// List the lines of an order as a table
    ///
    /// `id` is the id of the line, as in `reservations` of the order.
    table "/api/tables/orders/{id}/nomenclatures" as list_order_lines_table(OrderLineParams) = of_order(id) -> LINES;
}

const ITEM: Column<ReservationRecord> = Column::with_icon("nomenclature", "Item", |line| {
    Cell::linked(line.item.name.as_str(), format!("/api/nomenclatures/{}", line.item.id))
});
const WAREHOUSE: Column<ReservationRecord> =
    Column::with_icon("warehouse", "Warehouse", |line| match &line.warehouse {
        Some(place) => Cell::linked(place.name.as_str(), format!("/api/warehouses/{}", place.id)),
        None => Cell::Linked { value: serde_json::Value::Null, icon: None, link: None },
    });

const LINES: Table<ReservationRecord> = Table {
    id: 35,
    resource: "nomenclatures",
    version: None,
    columns: &[
        Column::new("id", "No.", |line| Cell::plain(line.id.get())),
        ITEM,
        WAREHOUSE,
        Column::new("quantity", "Pieces", |line| Cell::plain(line.quantity.get())),
        Column::new("price", "Price", |line| Cell::plain(line.unit_price.to_string())),
        Column::new("total", "Total", |line| Cell::plain(line.total.to_string())),
        Column::new("state", "State", |line| Cell::plain(line.state.word())),
    ],
    sorts: &["id"],
    filters: &[
        Filter::id::<NomenclatureId>("nomenclature_id", "Of these items."),
        Filter::id::<WarehouseId>("warehouse_id", "From these warehouses."),
        Filter::word::<ReservationState>("state", "In these states."),
    ],
    search: None,
    period: None,
    order: Sort::ascending("id"),
};

list_params! {
    /// Query parameters of `GET /api/tables/orders/{id}/nomenclatures`.
    OrderLineParams of LINES
}

const TABLE: Table<ReservationRecord> = Table {
    id: 12,
    resource: "reservations",
    version: None,
    columns: &[
        Column::new("id", "No.", |line| Cell::plain(line.id.get())),
        Column::with_icon("order", "Order", |line| {
            Cell::linked(line.order_id.get(), format!("/api/orders/{}", line.order_id))
        }),
        Column::new("order_status_id", "Order status", |line| Cell::plain(line.order_status.id())),
        ITEM,
        WAREHOUSE,
        Column::new("quantity", "Pieces", |line| Cell::plain(line.quantity.get())),
        Column::new("price", "Price", |line| Cell::plain(line.unit_price.to_string())),
        Column::new("total", "Total", |line| Cell::plain(line.total.to_string())),
        Column::new("state", "State", |line| Cell::plain(line.state.word())),
        Column::new("created_at", "Created", |line| Cell::moment(line.created_at)),
        Column::new("updated_at", "Changed", |line| Cell::moment(line.updated_at)),
    ],
    sorts: &["id", "created_at"],
    filters: &[
        Filter::id::<OrderId>("order_id", "Of these orders."),
        Filter::id::<NomenclatureId>("nomenclature_id", "Of these items."),
        Filter::id::<WarehouseId>("warehouse_id", "From these warehouses."),
        Filter::word::<ReservationState>("state", "In these states."),
        Filter::count("quantity", "With this quantity."),
    ],
    search: None,
    period: Some("created_at"),
    order: Sort::descending("id"),
};

list_params! {
    /// Query parameters of `GET /api/tables/reservations`.
    ReservationParams of TABLE
}
