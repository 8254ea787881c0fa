// Written by generate.py from docs/openapi.json.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::*;
use crate::{Call, Method, Money, NextAction, Numbered, Page, Pages, Patch, PlatformSurface, Secret};

impl PlatformSurface {
    /// List categories.
    ///
    /// Returns every category of the project.
    ///
    /// `GET /api/categories`
    pub fn list_categories(&self) -> Call<CategoryList> {
        self.call(Method::GET, "/api/categories")
    }

    /// Create a category.
    ///
    /// `POST /api/categories`
    pub fn create_category(&self, body: &NewCategory) -> Call<CategoryResponse> {
        self.call(Method::POST, "/api/categories").json(body)
    }

    /// Update a category.
    ///
    /// Fields that are not sent keep their values.
    ///
    /// `PUT /api/categories/{id}`
    pub fn update_category(&self, id: i64, body: &ChangedCategory) -> Call<CategoryResponse> {
        self.call(Method::PUT, &format!("/api/categories/{id}")).json(body)
    }

    /// List the history of a category.
    ///
    /// Newest first.
    ///
    /// `GET /api/categories/{id}/history`
    pub fn list_category_history(&self, id: i64, query: &PageQuery) -> Call<HistoryList> {
        self.call(Method::GET, &format!("/api/categories/{id}/history")).query(query)
    }

    /// Reads [`list_category_history`](Self::list_category_history) page by page, from the first page.
    pub fn list_category_history_pages(&self, id: i64, query: PageQuery) -> Pages<PageQuery, HistoryList> {
        let surface = self.clone();
        Pages::new(query, move |query| surface.list_category_history(id, query))
    }

    /// List changed stock.
    ///
    /// Ordered by the time of change, oldest first.
    ///
    /// `GET /api/changes/inventories`
    pub fn list_changed_inventories(&self, query: &StaffListChangedInventoriesQuery) -> Call<ChangedInventories> {
        self.call(Method::GET, "/api/changes/inventories").query(query)
    }

    /// List changed items.
    ///
    /// Ordered by the time of change, oldest first.
    ///
    /// `GET /api/changes/nomenclatures`
    pub fn list_changed_nomenclatures(&self, query: &StaffListChangedNomenclaturesQuery) -> Call<ChangedNomenclatures> {
        self.call(Method::GET, "/api/changes/nomenclatures").query(query)
    }

    /// List changed orders.
    ///
    /// Ordered by the time of change, oldest first.
    ///
    /// `GET /api/changes/orders`
    pub fn list_changed_orders(&self, query: &StaffListChangedOrdersQuery) -> Call<ChangedOrders> {
        self.call(Method::GET, "/api/changes/orders").query(query)
    }

    /// List stock levels.
    ///
    /// `GET /api/inventories`
    pub fn list_inventories(&self, query: &StaffListInventoriesQuery) -> Call<InventoryList> {
        self.call(Method::GET, "/api/inventories").query(query)
    }

    /// Reads [`list_inventories`](Self::list_inventories) page by page, from the first page.
    pub fn list_inventories_pages(
        &self,
        query: StaffListInventoriesQuery,
    ) -> Pages<StaffListInventoriesQuery, InventoryList> {
        let surface = self.clone();
        Pages::new(query, move |query| surface.list_inventories(query))
    }

    /// Create a stock level.
    ///
    /// The warehouse must not have a stock level of this item yet.
    ///
    /// `POST /api/inventories`
    pub fn create_inventory(&self, body: &NewInventory) -> Call<InventoryResponse> {
        self.call(Method::POST, "/api/inventories").json(body)
    }

    /// Export stock.
    ///
    /// Starts a job. The file has one row per item and warehouse. It can be uploaded again; unchanged rows have no
    /// effect.
    ///
    /// Columns: `article`, `warehouse`, `quantity`, `price`, `name`, `reserved`, `available`, `kontor_id`. `warehouse`
    /// is the name, or the id if several warehouses share the name.
    ///
    /// `POST /api/inventories/export`
    pub fn export_inventories(&self, query: &StaffExportInventoriesQuery) -> Call<JobResponse> {
        self.call(Method::POST, "/api/inventories/export").query(query)
    }

    /// Get the saved columns of stock uploads.
    ///
    /// An upload without the part `columns` uses the saved columns whose headers are in its file.
    ///
    /// `GET /api/inventories/upload/columns`
    pub fn show_inventory_columns(&self) -> Call<SavedColumns> {
        self.call(Method::GET, "/api/inventories/upload/columns")
    }

    /// Save the columns of stock uploads.
    ///
    /// Replaces the saved columns.
    ///
    /// `PUT /api/inventories/upload/columns`
    pub fn set_inventory_columns(&self, body: &ColumnsInput) -> Call<SavedColumns> {
        self.call(Method::PUT, "/api/inventories/upload/columns").json(body)
    }

    /// Get a stock level.
    ///
    /// `GET /api/inventories/{id}`
    pub fn show_inventory(&self, id: i64) -> Call<InventoryResponse> {
        self.call(Method::GET, &format!("/api/inventories/{id}"))
    }

    /// Update a stock level.
    ///
    /// Sets quantity and price. Fields that are not sent keep their values.
    ///
    /// `PUT /api/inventories/{id}`
    pub fn update_inventory(&self, id: i64, body: &ChangedInventory) -> Call<InventoryResponse> {
        self.call(Method::PUT, &format!("/api/inventories/{id}")).json(body)
    }

    /// List the movements of a stock level.
    ///
    /// Newest first.
    ///
    /// `GET /api/inventories/{id}/history`
    pub fn list_inventory_history(&self, id: i64, query: &PageQuery) -> Call<StockHistoryList> {
        self.call(Method::GET, &format!("/api/inventories/{id}/history")).query(query)
    }

    /// Reads [`list_inventory_history`](Self::list_inventory_history) page by page, from the first page.
    pub fn list_inventory_history_pages(&self, id: i64, query: PageQuery) -> Pages<PageQuery, StockHistoryList> {
        let surface = self.clone();
        Pages::new(query, move |query| surface.list_inventory_history(id, query))
    }

    /// Log in an employee.
    ///
    /// Accepts the password or a temporary password. A temporary password becomes the new password and revokes all
    /// tokens of the employee.
    ///
    /// Rate limits:
    ///
    /// - per IP address and login: 5 a minute and 60 an hour;
    /// - per IP address: 30 a minute;
    /// - from IP addresses without a login of this employee in the last 30 days: 200 a day per IP address and login,
    ///   and 100 a minute per login.
    ///
    /// `POST /api/login`
    pub fn log_in(&self, body: &StaffLogin) -> Call<SignedInUser> {
        self.call(Method::POST, "/api/login").json(body)
    }

    /// List items.
    ///
    /// `GET /api/nomenclatures`
    pub fn list_nomenclatures(&self, query: &StaffListNomenclaturesQuery) -> Call<NomenclatureList> {
        self.call(Method::GET, "/api/nomenclatures").query(query)
    }

    /// Reads [`list_nomenclatures`](Self::list_nomenclatures) page by page, from the first page.
    pub fn list_nomenclatures_pages(
        &self,
        query: StaffListNomenclaturesQuery,
    ) -> Pages<StaffListNomenclaturesQuery, NomenclatureList> {
        let surface = self.clone();
        Pages::new(query, move |query| surface.list_nomenclatures(query))
    }

    /// Create an item.
    ///
    /// Goods need no price; it is set per warehouse.
    ///
    /// `POST /api/nomenclatures`
    pub fn create_nomenclature(&self, body: &NewNomenclature) -> Call<NomenclatureResponse> {
        self.call(Method::POST, "/api/nomenclatures").json(body)
    }

    /// Export all items as a spreadsheet.
    ///
    /// The file can be imported again; unchanged rows have no effect.
    ///
    /// `POST /api/nomenclatures/export`
    pub fn export_nomenclatures(&self, query: &StaffExportNomenclaturesQuery) -> Call<Vec<u8>> {
        self.call::<Value>(Method::POST, "/api/nomenclatures/export").query(query).file()
    }

    /// Get the saved columns of item imports.
    ///
    /// An import without the part `columns` uses the saved columns whose headers are in its file.
    ///
    /// `GET /api/nomenclatures/import/columns`
    pub fn show_nomenclature_columns(&self) -> Call<SavedColumns> {
        self.call(Method::GET, "/api/nomenclatures/import/columns")
    }

    /// Save the columns of item imports.
    ///
    /// Replaces the saved columns.
    ///
    /// `PUT /api/nomenclatures/import/columns`
    pub fn set_nomenclature_columns(&self, body: &ColumnsInput) -> Call<SavedColumns> {
        self.call(Method::PUT, "/api/nomenclatures/import/columns").json(body)
    }

    /// Get an item.
    ///
    /// `GET /api/nomenclatures/{id}`
    pub fn show_nomenclature(&self, id: i64) -> Call<NomenclatureResponse> {
        self.call(Method::GET, &format!("/api/nomenclatures/{id}"))
    }

    /// Update an item.
    ///
    /// Fields that are not sent keep their values.
    ///
    /// `PUT /api/nomenclatures/{id}`
    pub fn update_nomenclature(&self, id: i64, body: &ChangedNomenclature) -> Call<NomenclatureResponse> {
        self.call(Method::PUT, &format!("/api/nomenclatures/{id}")).json(body)
    }

    /// List the history of an item.
    ///
    /// Newest first.
    ///
    /// `GET /api/nomenclatures/{id}/history`
    pub fn list_nomenclature_history(&self, id: i64, query: &PageQuery) -> Call<HistoryList> {
        self.call(Method::GET, &format!("/api/nomenclatures/{id}/history")).query(query)
    }

    /// Reads [`list_nomenclature_history`](Self::list_nomenclature_history) page by page, from the first page.
    pub fn list_nomenclature_history_pages(&self, id: i64, query: PageQuery) -> Pages<PageQuery, HistoryList> {
        let surface = self.clone();
        Pages::new(query, move |query| surface.list_nomenclature_history(id, query))
    }

    /// List orders.
    ///
    /// Returns every order of the project, newest first.
    ///
    /// `GET /api/orders`
    pub fn list_orders(&self, query: &StaffListOrdersQuery) -> Call<OrderList> {
        self.call(Method::GET, "/api/orders").query(query)
    }

    /// Reads [`list_orders`](Self::list_orders) page by page, from the first page.
    pub fn list_orders_pages(&self, query: StaffListOrdersQuery) -> Pages<StaffListOrdersQuery, OrderList> {
        let surface = self.clone();
        Pages::new(query, move |query| surface.list_orders(query))
    }

    /// Create an order for a customer.
    ///
    /// The order is priced and reserved like an order placed by the customer.
    ///
    /// `POST /api/orders`
    pub fn create_order(&self, body: &StaffOrderInput) -> Call<OrderResponse> {
        self.call(Method::POST, "/api/orders").json(body)
    }

    /// Calculate an order.
    ///
    /// Nothing is stored. A promo code that cannot be used is not an error: `discount_error` contains the reason.
    ///
    /// `POST /api/orders/calculator`
    pub fn calculate_order(&self, body: &StaffCartInput) -> Call<CartRecord> {
        self.call(Method::POST, "/api/orders/calculator").json(body).reads()
    }

    /// Export orders.
    ///
    /// Starts a job. The file has one row per order line.
    ///
    /// Columns: `order_id`, `created_at`, `status`, `payment_state`, `paid_at`, `counterparty_id`,
    /// `counterparty_name`, `phone`, `email`, `nomenclature_id`, `article`, `name`, `quantity`, `price`,
    /// `product_discount_amount`, `promo_discount_amount`, `total`, `refunded_quantity`, `refunded_amount`,
    /// `final_price`, `delivery_price`, `amount_due`. The last three are totals of the order, repeated in each of its
    /// rows.
    ///
    /// `POST /api/orders/export`
    pub fn export_orders(&self, query: &StaffExportOrdersQuery) -> Call<JobResponse> {
        self.call(Method::POST, "/api/orders/export").query(query)
    }

    /// Redeem tickets.
    ///
    /// A repeated scan with the same `scan_id` gets the same response. Rejected scans are stored, too.
    ///
    /// `POST /api/orders/redeem`
    pub fn redeem_tickets(&self, body: &ScanInput) -> Call<TicketScanResponse> {
        self.call(Method::POST, "/api/orders/redeem").json(body)
    }

    /// Redeem tickets from offline scans.
    ///
    /// Scans are processed in the order of their times and returned in the order of the request. A rejected scan does
    /// not stop the others.
    ///
    /// `POST /api/orders/redeem/batch`
    pub fn redeem_ticket_batch(&self, body: &ScanBatchInput) -> Call<BatchedScanList> {
        self.call(Method::POST, "/api/orders/redeem/batch").json(body)
    }

    /// Cancel an order.
    ///
    /// Releases the reserved stock and the use of the promo code. The order itself is kept. Paid orders must be
    /// refunded first.
    ///
    /// `DELETE /api/orders/{id}`
    pub fn cancel_order(&self, id: i64) -> Call<Message> {
        self.call(Method::DELETE, &format!("/api/orders/{id}"))
    }

    /// Get an order.
    ///
    /// `GET /api/orders/{id}`
    pub fn show_order(&self, id: i64) -> Call<OrderResponse> {
        self.call(Method::GET, &format!("/api/orders/{id}"))
    }

    /// Update an order.
    ///
    /// Changes the status or the details. Canceling releases the reserved stock; issuing removes it from the
    /// warehouse.
    ///
    /// `PUT /api/orders/{id}`
    pub fn update_order(&self, id: i64, body: &OrderPatch, query: &StaffUpdateOrderQuery) -> Call<OrderResponse> {
        self.call(Method::PUT, &format!("/api/orders/{id}")).json(body).query(query)
    }

    /// List the history of an order.
    ///
    /// Newest first. Each entry has the author, the time and the old and new values. Entries reported by the acquirer
    /// have neither `user` nor `counterparty`.
    ///
    /// `GET /api/orders/{id}/history`
    pub fn list_order_history(&self, id: i64, query: &PageQuery) -> Call<OrderHistoryList> {
        self.call(Method::GET, &format!("/api/orders/{id}/history")).query(query)
    }

    /// Reads [`list_order_history`](Self::list_order_history) page by page, from the first page.
    pub fn list_order_history_pages(&self, id: i64, query: PageQuery) -> Pages<PageQuery, OrderHistoryList> {
        let surface = self.clone();
        Pages::new(query, move |query| surface.list_order_history(id, query))
    }

    /// Add a line to an unpaid order.
    ///
    /// The item is priced and reserved as in a new order, with current discounts. An open payment is canceled at the
    /// acquirer first. If that fails, the order is not changed.
    ///
    /// `POST /api/orders/{id}/nomenclatures`
    pub fn add_order_line(&self, id: i64, body: &NewOrderLine, query: &StaffAddOrderLineQuery) -> Call<OrderResponse> {
        self.call(Method::POST, &format!("/api/orders/{id}/nomenclatures")).json(body).query(query)
    }

    /// Remove a line of an order.
    ///
    /// The units of a paid order are refunded. The last line of an unpaid order cannot be removed; cancel the order
    /// instead.
    ///
    /// `DELETE /api/orders/{id}/nomenclatures/{nomenclature}`
    pub fn remove_order_line(
        &self,
        id: i64,
        nomenclature: i64,
        query: &StaffRemoveOrderLineQuery,
    ) -> Call<OrderResponse> {
        self.call(Method::DELETE, &format!("/api/orders/{id}/nomenclatures/{nomenclature}")).query(query)
    }

    /// Update a line of an order.
    ///
    /// Changes quantity or price. `nomenclature` is the id of the line in `reservations`. Paid orders accept only a
    /// lower quantity or price; the difference is refunded.
    ///
    /// `PUT /api/orders/{id}/nomenclatures/{nomenclature}`
    pub fn update_order_line(
        &self,
        id: i64,
        nomenclature: i64,
        body: &OrderLinePatch,
        query: &StaffUpdateOrderLineQuery,
    ) -> Call<OrderResponse> {
        self.call(Method::PUT, &format!("/api/orders/{id}/nomenclatures/{nomenclature}")).json(body).query(query)
    }

    /// Record an offline payment of an order.
    ///
    /// Records that an employee took the full price in cash or at a terminal, for example at hand-over. An issued
    /// order stays issued; any other order becomes paid.
    ///
    /// `POST /api/orders/{id}/record-payment`
    pub fn record_payment(&self, id: i64, body: &RecordedPayment) -> Call<OrderResponse> {
        self.call(Method::POST, &format!("/api/orders/{id}/record-payment")).json(body)
    }

    /// Request a refund of a paid order.
    ///
    /// Refunds units of its lines, an amount, or everything that remains.
    ///
    /// `POST /api/orders/{id}/request-refund`
    pub fn request_refund(
        &self,
        id: i64,
        body: &RefundRequest,
        query: &StaffRequestRefundQuery,
    ) -> Call<OrderResponse> {
        self.call(Method::POST, &format!("/api/orders/{id}/request-refund")).json(body).query(query)
    }

    /// List the ticket scans of an order.
    ///
    /// Newest first, including rejected scans.
    ///
    /// `GET /api/orders/{id}/scans`
    pub fn list_ticket_scans(&self, id: i64, query: &PageQuery) -> Call<TicketScanList> {
        self.call(Method::GET, &format!("/api/orders/{id}/scans")).query(query)
    }

    /// Reads [`list_ticket_scans`](Self::list_ticket_scans) page by page, from the first page.
    pub fn list_ticket_scans_pages(&self, id: i64, query: PageQuery) -> Pages<PageQuery, TicketScanList> {
        let surface = self.clone();
        Pages::new(query, move |query| surface.list_ticket_scans(id, query))
    }

    /// Search items.
    ///
    /// Returns the best matches and the total number of matches, at most 10,000.
    ///
    /// `POST /api/search_nomenclature`
    pub fn search_nomenclature(&self, body: &ItemSearch) -> Call<NomenclatureList> {
        self.call(Method::POST, "/api/search_nomenclature").json(body).reads()
    }

    /// Send a temporary password.
    ///
    /// The password is sent to the employee's e-mail address. The response is the same for unknown logins. The current
    /// password stays valid until the temporary password is used, which then replaces it.
    ///
    /// Rate limits: 3 requests an hour per login, 20 an hour per IP address.
    ///
    /// `POST /api/send_password`
    pub fn send_password(&self, body: &PasswordRequest) -> Call<Message> {
        self.call(Method::POST, "/api/send_password").json(body)
    }

    /// List categories as a table.
    ///
    /// `GET /api/tables/categories`
    pub fn list_categories_table(&self, query: &StaffListCategoriesTableQuery) -> Call<TableAnswer> {
        self.call(Method::GET, "/api/tables/categories").query(query)
    }

    /// Reads [`list_categories_table`](Self::list_categories_table) page by page, from the first page.
    pub fn list_categories_table_pages(
        &self,
        query: StaffListCategoriesTableQuery,
    ) -> Pages<StaffListCategoriesTableQuery, TableAnswer> {
        let surface = self.clone();
        Pages::new(query, move |query| surface.list_categories_table(query))
    }

    /// List the direct children of a category as a table.
    ///
    /// `GET /api/tables/categories/{id}`
    pub fn list_subcategories_table(&self, id: i64, query: &StaffListSubcategoriesTableQuery) -> Call<TableAnswer> {
        self.call(Method::GET, &format!("/api/tables/categories/{id}")).query(query)
    }

    /// Reads [`list_subcategories_table`](Self::list_subcategories_table) page by page, from the first page.
    pub fn list_subcategories_table_pages(
        &self,
        id: i64,
        query: StaffListSubcategoriesTableQuery,
    ) -> Pages<StaffListSubcategoriesTableQuery, TableAnswer> {
        let surface = self.clone();
        Pages::new(query, move |query| surface.list_subcategories_table(id, query))
    }

    /// List stock levels as a table.
    ///
    /// `GET /api/tables/inventories`
    pub fn list_inventories_table(&self, query: &StaffListInventoriesTableQuery) -> Call<TableAnswer> {
        self.call(Method::GET, "/api/tables/inventories").query(query)
    }

    /// Reads [`list_inventories_table`](Self::list_inventories_table) page by page, from the first page.
    pub fn list_inventories_table_pages(
        &self,
        query: StaffListInventoriesTableQuery,
    ) -> Pages<StaffListInventoriesTableQuery, TableAnswer> {
        let surface = self.clone();
        Pages::new(query, move |query| surface.list_inventories_table(query))
    }

    /// List items as a table.
    ///
    /// `GET /api/tables/nomenclatures`
    pub fn list_nomenclatures_table(&self, query: &StaffListNomenclaturesTableQuery) -> Call<TableAnswer> {
        self.call(Method::GET, "/api/tables/nomenclatures").query(query)
    }

    /// Reads [`list_nomenclatures_table`](Self::list_nomenclatures_table) page by page, from the first page.
    pub fn list_nomenclatures_table_pages(
        &self,
        query: StaffListNomenclaturesTableQuery,
    ) -> Pages<StaffListNomenclaturesTableQuery, TableAnswer> {
        let surface = self.clone();
        Pages::new(query, move |query| surface.list_nomenclatures_table(query))
    }

    /// List orders as a table.
    ///
    /// `GET /api/tables/orders`
    pub fn list_orders_table(&self, query: &StaffListOrdersTableQuery) -> Call<TableAnswer> {
        self.call(Method::GET, "/api/tables/orders").query(query)
    }

    /// Reads [`list_orders_table`](Self::list_orders_table) page by page, from the first page.
    pub fn list_orders_table_pages(
        &self,
        query: StaffListOrdersTableQuery,
    ) -> Pages<StaffListOrdersTableQuery, TableAnswer> {
        let surface = self.clone();
        Pages::new(query, move |query| surface.list_orders_table(query))
    }

    /// List the files of an order as a table.
    ///
    /// Newest first. To remove a file, use `DELETE /api/files/{id}`.
    ///
    /// `GET /api/tables/orders/{id}/files`
    pub fn list_order_files_table(&self, id: i64, query: &StaffListOrderFilesTableQuery) -> Call<TableAnswer> {
        self.call(Method::GET, &format!("/api/tables/orders/{id}/files")).query(query)
    }

    /// Reads [`list_order_files_table`](Self::list_order_files_table) page by page, from the first page.
    pub fn list_order_files_table_pages(
        &self,
        id: i64,
        query: StaffListOrderFilesTableQuery,
    ) -> Pages<StaffListOrderFilesTableQuery, TableAnswer> {
        let surface = self.clone();
        Pages::new(query, move |query| surface.list_order_files_table(id, query))
    }

    /// List the lines of an order as a table.
    ///
    /// `id` is the id of the line, as in `reservations` of the order.
    ///
    /// `GET /api/tables/orders/{id}/nomenclatures`
    pub fn list_order_lines_table(&self, id: i64, query: &StaffListOrderLinesTableQuery) -> Call<TableAnswer> {
        self.call(Method::GET, &format!("/api/tables/orders/{id}/nomenclatures")).query(query)
    }

    /// Reads [`list_order_lines_table`](Self::list_order_lines_table) page by page, from the first page.
    pub fn list_order_lines_table_pages(
        &self,
        id: i64,
        query: StaffListOrderLinesTableQuery,
    ) -> Pages<StaffListOrderLinesTableQuery, TableAnswer> {
        let surface = self.clone();
        Pages::new(query, move |query| surface.list_order_lines_table(id, query))
    }

    /// List all order lines as a table.
    ///
    /// Newest first.
    ///
    /// `GET /api/tables/reservations`
    pub fn list_reservations_table(&self, query: &StaffListReservationsTableQuery) -> Call<TableAnswer> {
        self.call(Method::GET, "/api/tables/reservations").query(query)
    }

    /// Reads [`list_reservations_table`](Self::list_reservations_table) page by page, from the first page.
    pub fn list_reservations_table_pages(
        &self,
        query: StaffListReservationsTableQuery,
    ) -> Pages<StaffListReservationsTableQuery, TableAnswer> {
        let surface = self.clone();
        Pages::new(query, move |query| surface.list_reservations_table(query))
    }

    /// List tags.
    ///
    /// Returns every tag of the project.
    ///
    /// `GET /api/tags`
    pub fn list_tags(&self) -> Call<StaffTagList> {
        self.call(Method::GET, "/api/tags")
    }

    /// Get the current employee.
    ///
    /// Includes the employee's permissions.
    ///
    /// `GET /api/user`
    pub fn show_current_user(&self) -> Call<CurrentUser> {
        self.call(Method::GET, "/api/user")
    }

    /// Log out the employee.
    ///
    /// Ends the login on this device, or on all devices with `from_all_devices`.
    ///
    /// `POST /api/user/logout`
    pub fn log_out(&self, body: &Logout) -> Call<Message> {
        self.call(Method::POST, "/api/user/logout").json(body)
    }
}

/// Author of a change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AuthorRecord {
    pub id: i64,
    pub name: Option<String>,
}

/// Batched scan list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BatchedScanList {
    pub scans: Vec<BatchedScanRecord>,
    #[serde(rename = "scansCount")]
    pub scans_count: i64,
}

/// Result of a scan of the batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BatchedScanRecord {
    /// `null` if the tickets are redeemed.
    pub error: Option<ScanErrorRecord>,
    /// Record of the scan.
    pub scan: Option<TicketScanRecord>,
    pub scan_id: String,
}

/// Categories.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CategoryList {
    pub categories: Vec<CategoryRecord>,
    #[serde(rename = "categoriesCount")]
    pub categories_count: i64,
}

/// Category as shown to staff.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CategoryRecord {
    /// Code of the category, unique in the project.
    pub code: i64,
    /// HTML.
    pub description: Option<String>,
    pub id: i64,
    pub name: String,
    /// Parent category. `null` for a root category.
    pub parent: Option<NamedRecord>,
    pub photo: Option<PhotoRecord>,
}

/// Category.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CategoryResponse {
    pub category: CategoryRecord,
}

/// Changed category.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ChangedCategory {
    /// Unique code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<i64>,
    /// HTML.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub description: Patch<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// `null` makes the category a root.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub parent_id: Patch<i64>,
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub photo: Patch<String>,
}

/// Part of the changes of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ChangedInventories {
    /// Current records, ordered by the time of change, oldest first.
    pub data: Vec<InventoryRecord>,
    /// Ids of deleted records.
    pub deleted: Vec<i64>,
    /// Deletions before this time are not reported.
    pub deletions_since: DateTime<Utc>,
    /// `true` if more changes are available now.
    pub has_more: bool,
    /// Cursor of the next request. Send it at once if `has_more` is `true`, otherwise at the next check.
    pub next_cursor: String,
}

/// Changed inventory.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ChangedInventory {
    /// Reason of the change, stored in the history. Without a change of quantity or price it is not stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Price of one unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Money>,
    /// Units in the warehouse, including reserved units. At least the number of reserved units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantity: Option<i64>,
}

/// Change of an item.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ChangedNomenclature {
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub article: Patch<String>,
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub billing_period_months: Patch<i64>,
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub brand_id: Patch<i64>,
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub category_id: Patch<i64>,
    /// HTML.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub characteristics: Patch<String>,
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub country_id: Patch<i64>,
    /// HTML.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub description: Patch<String>,
    /// If set to `false`, the billing period is cleared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_subscription: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Parameters>,
    /// Replaces all photos of the item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub photos: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Money>,
    /// Link by which customers share the item.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub share_link: Patch<String>,
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub storage_unit_id: Patch<i64>,
    /// Replaces all tags of the item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<i64>>,
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub type_id: Patch<i64>,
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub vat_id: Patch<i64>,
}

/// Part of the changes of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ChangedNomenclatures {
    /// Current records, ordered by the time of change, oldest first.
    pub data: Vec<NomenclatureRecord>,
    /// Ids of deleted records.
    pub deleted: Vec<i64>,
    /// Deletions before this time are not reported.
    pub deletions_since: DateTime<Utc>,
    /// `true` if more changes are available now.
    pub has_more: bool,
    /// Cursor of the next request. Send it at once if `has_more` is `true`, otherwise at the next check.
    pub next_cursor: String,
}

/// Part of the changes of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ChangedOrders {
    /// Current records, ordered by the time of change, oldest first.
    pub data: Vec<StaffOrder>,
    /// Ids of deleted records.
    pub deleted: Vec<i64>,
    /// Deletions before this time are not reported.
    pub deletions_since: DateTime<Utc>,
    /// `true` if more changes are available now.
    pub has_more: bool,
    /// Cursor of the next request. Send it at once if `has_more` is `true`, otherwise at the next check.
    pub next_cursor: String,
}

/// Column record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ColumnRecord {
    pub has_icon: bool,
    pub id: i64,
    pub key: String,
    pub order: i64,
    pub table_id: i64,
    pub text: String,
}

/// Columns input.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ColumnsInput {
    /// Column names by header, at most 200. `null` ignores the header. Several headers may map to one column, for
    /// files of different suppliers. `{}` clears the mapping.
    pub columns: Value,
}

/// Current user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CurrentUser {
    pub user: EmployeeRecord,
}

/// Employee, as shown to themselves and to staff who may view employees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EmployeeRecord {
    /// Total time worked with the service, in seconds.
    pub active_time: i64,
    pub avatar: Option<Picture>,
    /// Branch of the employee. `null` for all branches.
    pub branch: Option<NamedRecord>,
    /// Employee who created the account.
    pub creator: Option<NamedRecord>,
    pub department: Option<NamedRecord>,
    /// Address that receives temporary passwords.
    pub email: String,
    pub first_name: String,
    pub id: i64,
    /// `true` if the employee cannot log in.
    pub is_banned: bool,
    /// `true` if the employee is on sick leave.
    pub is_sick: bool,
    /// Time of the last activity, accurate to about a minute.
    pub last_activity_at: Option<DateTime<Utc>>,
    pub last_name: String,
    pub login: String,
    pub middle_name: Option<String>,
    /// Permissions of the employee's role.
    pub permissions: Vec<PermissionRecord>,
    pub phone: Option<String>,
    pub role: EmployeeRole,
}

/// Employee role.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EmployeeRole {
    pub description: Option<String>,
    pub id: i64,
    pub name: String,
}

/// Changed field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FieldChangeRecord {
    /// Name of the field in requests.
    pub field: String,
    pub new: Option<String>,
    pub old: Option<String>,
}

words! {
    /// Hand method word.
    pub enum HandMethodWord {
        Cash = "cash",
        Terminal = "terminal",
    }
}

/// Header of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HeaderRecord {
    /// Name of the matching column; `null` if the header is ignored.
    pub column: Option<String>,
    /// Text of the header in the file.
    pub header: String,
}

words! {
    /// History action.
    pub enum HistoryAction {
        Created = "created",
        Changed = "changed",
        Deleted = "deleted",
    }
}

/// Page of a history, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HistoryList {
    pub histories: Vec<HistoryRecord>,
    #[serde(rename = "historiesCount")]
    pub histories_count: i64,
    pub pagination: Pagination,
}

impl Page for HistoryList {
    type Item = HistoryRecord;

    fn total(&self) -> i64 {
        self.histories_count
    }

    fn into_items(self) -> Vec<HistoryRecord> {
        self.histories
    }
}

/// History entry. `user` is the employee or agent who made the change, `counterparty` the customer. Both are `null`
/// for changes by the service itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HistoryRecord {
    /// `created`, `changed` or `deleted`
    pub action: HistoryAction,
    pub changes: Vec<FieldChangeRecord>,
    pub counterparty: Option<AuthorRecord>,
    #[serde(rename = "dateTime")]
    pub date_time: DateTime<Utc>,
    pub id: i64,
    pub user: Option<AuthorRecord>,
}

/// One page of stock levels, with the total number of records.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct InventoryList {
    pub inventories: Vec<InventoryRecord>,
    #[serde(rename = "inventoriesCount")]
    pub inventories_count: i64,
}

impl Page for InventoryList {
    type Item = InventoryRecord;

    fn total(&self) -> i64 {
        self.inventories_count
    }

    fn into_items(self) -> Vec<InventoryRecord> {
        self.inventories
    }
}

/// Inventory record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct InventoryRecord {
    /// Units that can still be ordered.
    pub available: i64,
    pub created_at: DateTime<Utc>,
    pub id: i64,
    pub nomenclature: StockedItemRecord,
    /// Price of one unit. `null` if no price is set; then nothing is sold from this warehouse.
    pub price: Option<Money>,
    /// Units in the warehouse.
    pub quantity: i64,
    /// Reserved units, included in `quantity`.
    pub reserved: i64,
    pub updated_at: DateTime<Utc>,
    pub warehouse: NamedRecord,
}

/// Stock level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct InventoryResponse {
    pub inventory: InventoryRecord,
}

/// Search text and maximum number of results.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ItemSearch {
    /// Maximum number of items, 20 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<i64>,
    /// Words of the name and the article, or parts of them, in any order and case.
    pub query: String,
}

words! {
    /// Job kind.
    pub enum JobKind {
        NomenclaturesImport = "nomenclatures_import",
        InventoriesUpload = "inventories_upload",
        InventoriesExport = "inventories_export",
        OrdersExport = "orders_export",
        CounterpartiesExport = "counterparties_export",
    }
}

/// Job record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct JobRecord {
    /// Headers from left to right. Empty until checking is complete.
    pub columns: Vec<HeaderRecord>,
    /// Number of records created.
    pub created: i64,
    pub created_at: DateTime<Utc>,
    /// Number of rows processed in this phase.
    pub done_rows: i64,
    /// `true` if the job ends after checking and writes nothing.
    pub dry_run: bool,
    /// Number of errors found. `GET /api/jobs/{id}/row_errors` and `GET /api/jobs/{id}/errors` return the first
    /// 10,000.
    pub errors_total: i64,
    /// Time when the file of an export is deleted. `null` for imports, and until the export has succeeded.
    pub file_expires_at: Option<DateTime<Utc>>,
    pub file_name: Option<String>,
    /// Size of the file in bytes. `0` until an export has succeeded.
    pub file_size: i64,
    pub finished_at: Option<DateTime<Utc>>,
    /// Number of the header row. `null` until checking is complete.
    pub header_row: Option<i64>,
    pub id: i64,
    /// Headers that are not imported.
    pub ignored_columns: Vec<String>,
    /// `true` if empty cells change nothing.
    pub keep_empty: bool,
    /// `nomenclatures_import`, `inventories_upload`, `inventories_export`, `orders_export` or `counterparties_export`.
    pub kind: JobKind,
    /// Reason of the failure.
    pub message: Option<String>,
    /// `true` if valid rows are written even if others are invalid.
    pub partial: bool,
    /// `checking`: all rows are checked and nothing is written; then `writing`. Exports are always `writing`.
    pub phase: String,
    /// Name of the sheet that was read. `null` for csv, and until checking is complete.
    pub sheet: Option<String>,
    /// Number of rows skipped because of errors.
    pub skipped: i64,
    pub started_at: Option<DateTime<Utc>>,
    /// `queued`, `running`, `succeeded`, `failed` or `canceled`.
    pub status: JobStatus,
    /// Number of rows below the headers. `null` until checking is complete, or until an export has started.
    pub total_rows: Option<i64>,
    /// Number of records that already match the file.
    pub unchanged: i64,
    /// Number of records updated.
    pub updated: i64,
    /// Id of the employee who started the job. `null` if it was started from the command line.
    pub user_id: Option<i64>,
}

/// Job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct JobResponse {
    pub job: JobRecord,
}

words! {
    /// Job status.
    pub enum JobStatus {
        Queued = "queued",
        Running = "running",
        Succeeded = "succeeded",
        Failed = "failed",
        Canceled = "canceled",
    }
}

/// New category.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct NewCategory {
    /// Unique code. By default, one more than the largest code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<i64>,
    /// HTML.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub name: String,
    /// Parent category. Without it, the category is a root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub photo: Option<String>,
}

/// New inventory.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct NewInventory {
    /// Id of the item. It must be goods.
    pub nomenclature_id: i64,
    /// Price of one unit.
    pub price: Money,
    /// Units in the warehouse.
    pub quantity: i64,
    pub warehouse_id: i64,
}

/// Item to create.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct NewNomenclature {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub article: Option<String>,
    /// Required for subscription plans, not allowed for other items.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub billing_period_months: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brand_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category_id: Option<i64>,
    /// HTML.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub characteristics: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country_id: Option<i64>,
    /// HTML.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// `true` if the item is a subscription plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_subscription: Option<bool>,
    /// `1` service, `2` goods.
    pub kind_id: i64,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Parameters>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub photos: Option<Vec<String>>,
    /// Required for services and subscription plans.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Money>,
    /// Link by which customers share the item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_link: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage_unit_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<i64>>,
    /// Type of the item, a classification by staff in addition to the kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub type_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vat_id: Option<i64>,
}

/// New order line.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct NewOrderLine {
    /// Item that is not in the order yet.
    pub nomenclature_id: i64,
    /// Price of one unit, decimal string. By default the current price of the item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Money>,
    /// Quantity in units.
    pub quantity: i64,
}

/// One page of items, with the total number of items.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NomenclatureList {
    pub nomenclatures: Vec<NomenclatureRecord>,
    #[serde(rename = "nomenclaturesCount")]
    pub nomenclatures_count: i64,
}

impl Page for NomenclatureList {
    type Item = NomenclatureRecord;

    fn total(&self) -> i64 {
        self.nomenclatures_count
    }

    fn into_items(self) -> Vec<NomenclatureRecord> {
        self.nomenclatures
    }
}

/// Nomenclature record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NomenclatureRecord {
    pub article: Option<String>,
    /// Length of a billing period, in months. `null` unless the item is a subscription plan.
    pub billing_period_months: Option<i64>,
    pub brand: Option<NamedRecord>,
    pub brand_id: Option<i64>,
    pub category: Option<NamedRecord>,
    pub category_id: Option<i64>,
    /// HTML.
    pub characteristics: Option<String>,
    pub country: Option<NamedRecord>,
    pub country_id: Option<i64>,
    pub created_at: DateTime<Utc>,
    /// HTML.
    pub description: Option<String>,
    pub id: i64,
    /// `true` if the item is a subscription plan.
    pub is_subscription: bool,
    pub kind: NamedRecord,
    /// `1` service, `2` goods.
    pub kind_id: i64,
    pub name: String,
    pub parameters: ParametersRecord,
    pub photos: Vec<PhotoRecord>,
    /// Price of the item. `null` if none is set.
    pub price: Option<Money>,
    /// Link by which customers share the item.
    pub share_link: Option<String>,
    pub storage_unit: Option<StorageUnitRecord>,
    pub storage_unit_id: Option<i64>,
    pub tags: Vec<NamedRecord>,
    pub r#type: Option<NamedRecord>,
    pub type_id: Option<i64>,
    pub updated_at: DateTime<Utc>,
    pub vat: Option<NamedRecord>,
    pub vat_id: Option<i64>,
}

/// Item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NomenclatureResponse {
    pub nomenclature: NomenclatureRecord,
}

/// Order customer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OrderCustomer {
    pub id: i64,
    pub name: String,
    pub phone: Option<String>,
}

words! {
    /// Order history action.
    pub enum OrderHistoryAction {
        Created = "created",
        Changed = "changed",
        Deleted = "deleted",
    }
}

words! {
    /// Order history event.
    pub enum OrderHistoryEvent {
        Created = "created",
        StatusChanged = "status_changed",
        Changed = "changed",
        LinesChanged = "lines_changed",
        PaymentRenewed = "payment_renewed",
        PaymentWithdrawn = "payment_withdrawn",
        PaymentSuspicious = "payment_suspicious",
        PaymentFailed = "payment_failed",
        Paid = "paid",
        PaidAfterCancellation = "paid_after_cancellation",
        PaidOutOfTurn = "paid_out_of_turn",
        RefundRequested = "refund_requested",
        Refunded = "refunded",
        RefundFailed = "refund_failed",
        Expired = "expired",
        TicketsRedeemed = "tickets_redeemed",
    }
}

/// One page of the history of an order, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OrderHistoryList {
    pub histories: Vec<OrderHistoryRecord>,
    #[serde(rename = "historiesCount")]
    pub histories_count: i64,
    pub pagination: Pagination,
}

impl Page for OrderHistoryList {
    type Item = OrderHistoryRecord;

    fn total(&self) -> i64 {
        self.histories_count
    }

    fn into_items(self) -> Vec<OrderHistoryRecord> {
        self.histories
    }
}

/// History entry of an order. Fields of items are named `nomenclatures.{nomenclature_id}.quantity` and `.price`, those
/// of lines `reservations.{id}.refunded_quantity`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OrderHistoryRecord {
    /// `created`, `changed` or `deleted`
    pub action: OrderHistoryAction,
    pub changes: Vec<FieldChangeRecord>,
    pub counterparty: Option<AuthorRecord>,
    #[serde(rename = "dateTime")]
    pub date_time: DateTime<Utc>,
    pub id: i64,
    pub user: Option<AuthorRecord>,
    /// Amount, number of tickets or reason, depending on the event.
    pub detail: Option<String>,
    /// `created`, `status_changed`, `changed`, `lines_changed`, `payment_renewed`, `payment_withdrawn`,
    /// `payment_suspicious`, `payment_failed`, `paid`, `paid_after_cancellation`, `paid_out_of_turn`,
    /// `refund_requested`, `refunded`, `refund_failed`, `expired` or `tickets_redeemed`.
    pub event: OrderHistoryEvent,
    /// Status of the order after the event.
    pub status_id: i64,
}

/// Order line patch.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct OrderLinePatch {
    /// Price of one unit, decimal string.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Money>,
    /// New quantity of the line, in units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantity: Option<i64>,
    /// For paid orders: reason of the refund, shown to the customer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// For paid orders: `true` if removed units return to their warehouses. `true` by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restock: Option<bool>,
}

/// Order list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OrderList {
    pub orders: Vec<StaffOrder>,
    #[serde(rename = "ordersCount")]
    pub orders_count: i64,
}

impl Page for OrderList {
    type Item = StaffOrder;

    fn total(&self) -> i64 {
        self.orders_count
    }

    fn into_items(self) -> Vec<StaffOrder> {
        self.orders
    }
}

/// Order patch.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct OrderPatch {
    /// `null` clears the address. Not allowed for orders with courier delivery.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub address: Patch<String>,
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub comment: Patch<String>,
    /// Employee responsible for the order. `null` removes them.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub manager_id: Patch<i64>,
    /// New status of the order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_id: Option<i64>,
}

/// Order after the change. Returned only with `dry_run`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OrderPreview {
    pub amount_due: Money,
    pub delivery_price: Money,
    /// Increase of the amount to pay, decimal string. Negative if the amount decreases.
    pub difference: Money,
    /// Reason why the promo code would no longer apply.
    pub discount_error: Option<DiscountError>,
    pub final_price: Money,
    pub lines: Vec<PreviewLineRecord>,
    /// `true` if a payment of the new amount would be requested. An open payment is canceled before.
    pub new_payment: bool,
    /// Prices are decimal strings, as in the order.
    pub original_price: Money,
    pub product_discount_amount: Money,
    pub promo_discount_amount: Money,
    /// Refund of a paid order.
    pub refund: Option<RefundPreview>,
    /// Status of the order after the change.
    pub status_id: i64,
    pub stock: Vec<StockRecord>,
}

/// Refund of an order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OrderRefundRecord {
    /// Amount of the refund, decimal string.
    pub amount: Money,
    pub created_at: DateTime<Utc>,
    /// Part of `amount` that refunds the delivery price, decimal string. The rest refunds lines.
    pub delivery_amount: Money,
    pub id: i64,
    /// Reason shown to the customer.
    pub reason: String,
    /// `true` if the units return to their warehouses.
    pub restock: bool,
    /// Time of the final result. `null` while `pending`.
    pub settled_at: Option<DateTime<Utc>>,
    /// `pending`, `succeeded` or `failed`.
    pub state: OrderRefundState,
}

words! {
    /// Order refund state.
    pub enum OrderRefundState {
        Pending = "pending",
        Succeeded = "succeeded",
        Failed = "failed",
    }
}

/// Order. With `dry_run`, the unchanged order and a preview of the change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OrderResponse {
    pub order: StaffOrder,
    pub preview: Option<OrderPreview>,
}

/// Parameters record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ParametersRecord {
    /// Units in one pack.
    pub pieces_per_pack: i64,
    /// Packs in one unit of sale.
    pub quantity_pack: i64,
    /// `true` if the item is sold wholesale.
    pub wholesale: bool,
}

/// Password request.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct PasswordRequest {
    pub login: String,
}

/// Permission in the records of employees and roles.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PermissionRecord {
    pub description: String,
    pub id: i64,
    pub name: String,
    pub screen: NamedRecord,
}

/// Order line after the change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PreviewLineRecord {
    /// `null` for a line that would be new.
    pub id: Option<i64>,
    pub nomenclature: NamedRecord,
    /// Price of one unit before discounts, decimal string.
    pub price: Money,
    pub product_discount_amount: Money,
    pub promo_discount_amount: Money,
    pub quantity: i64,
    /// Refunded amount of the line, decimal string.
    pub refunded_amount: Money,
    /// Number of refunded units.
    pub refunded_quantity: i64,
    pub total: Money,
    /// `null` for a service.
    pub warehouse_id: Option<i64>,
}

/// Recorded payment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecordedPayment {
    pub method: HandMethodWord,
    /// Number of the receipt from the cash register. It is shown in the history.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receipt: Option<String>,
}

/// Preview of a refund of a paid order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RefundPreview {
    /// Amount of the refund, decimal string.
    pub amount: Money,
    /// Part of `amount` that refunds the delivery price, decimal string. The rest refunds `lines`.
    pub delivery_amount: Money,
    /// Amount that can still be refunded afterwards, decimal string.
    pub left: Money,
    pub lines: Vec<ReturnedLineRecord>,
}

/// Refund to request. Send at least one of: `lines`, `delivery` (alone or with `lines`), `amount` (alone or with
/// `lines`), `everything`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct RefundRequest {
    /// Amount to refund, decimal string. With `lines`, at most their price. Alone, it is taken from lines and delivery
    /// in proportion to their remaining amounts, and the stock is not changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<Money>,
    /// `true` refunds the rest of the delivery price, which `lines` alone does not include. Not allowed with `amount`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery: Option<bool>,
    /// `true` ends the subscription period paid by this order, and the subscription with it. Allowed only if the whole
    /// amount is refunded. `false` by default: the period is not changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ends_period: Option<bool>,
    /// `true` refunds all remaining units and the whole remaining amount. An order that is not handed over is
    /// canceled. Required without `lines`, `delivery` and `amount`; not allowed with them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub everything: Option<bool>,
    /// Lines and quantities to refund.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<Vec<RefundedLine>>,
    /// Reason of the refund, shown to the customer.
    pub reason: String,
    /// `true` returns the units to their warehouses; `false` writes them off.
    pub restock: bool,
}

/// Refunded line.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct RefundedLine {
    /// Id of the order line, from `reservations`.
    pub id: i64,
    /// Number of units to refund.
    pub quantity: i64,
}

/// Order line. Its `id` is the last id in `/api/orders/{order}/nomenclatures/{nomenclature}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReservationRecord {
    pub id: i64,
    pub nomenclature: ReservedItem,
    /// Price of one unit before discounts, decimal string.
    pub price: Money,
    pub product_discount_amount: Money,
    pub promo_discount_amount: Money,
    /// Ordered units.
    pub quantity: i64,
    /// Part of `total` that is refunded, being refunded or requested to be refunded, decimal string.
    pub refunded_amount: Money,
    /// Number of refunded units.
    pub refunded_quantity: i64,
    /// `held`, `released` or `sold`.
    pub state: ReservationState,
    /// Price of the line after discounts, decimal string.
    pub total: Money,
    /// Warehouse that the units are reserved in. `null` for a service.
    pub warehouse: Option<NamedRecord>,
}

words! {
    /// Reservation state.
    pub enum ReservationState {
        Held = "held",
        Released = "released",
        Sold = "sold",
    }
}

/// Reserved item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReservedItem {
    pub article: Option<String>,
    pub id: i64,
    pub name: String,
}

/// Refunded part of a line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReturnedLineRecord {
    /// Refunded amount, decimal string.
    pub amount: Money,
    /// Id of the order line.
    pub id: i64,
    /// Number of refunded units.
    pub quantity: i64,
    /// Effect on the stock: `none`, `release`, `write_off` or `restock`.
    pub stock: String,
}

/// Mapping from file headers to columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SavedColumns {
    /// Column names by header. `null` ignores the header.
    pub columns: Value,
}

/// Scan batch input.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ScanBatchInput {
    /// 1 to 500 scans in any order.
    pub scans: Vec<ScanInput>,
}

/// Scan error record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ScanErrorRecord {
    /// Reason, as for a single scan. Also `scan_id_reused` and `unknown_shop`; in these cases the scan is not stored.
    pub code: String,
    pub message: String,
    pub next_action: NextAction,
}

/// Scan input.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ScanInput {
    /// Time of the scan. The current time by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<DateTime<Utc>>,
    /// Number of tickets to redeem.
    pub quantity: i64,
    /// Content of the ticket code.
    pub redeem_token: Secret,
    /// Unique id of this scan, set by the scanner. A repeated scan with the same id gets the same response.
    pub scan_id: String,
    /// Shop of the entrance. Tickets of orders for other shops are rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shop_id: Option<i64>,
}

/// Signed in user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SignedInUser {
    pub user: UserWithToken,
}

/// Query of `add_order_line`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StaffAddOrderLineQuery {
    /// `1` returns the result of the call without writing anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<bool>,
}

/// Staff cart input.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StaffCartInput {
    /// Application of the order. Without it, all warehouses of the project are used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub application_id: Option<i64>,
    /// Customer whose uses of the promo code are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counterparty_id: Option<i64>,
    /// Delivery subtype. Without it, the delivery price is that of the type alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery_subtype_id: Option<i64>,
    /// Delivery type that the cart is calculated with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery_type_id: Option<i64>,
    /// Items and quantities of the cart.
    pub products: Vec<ProductLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub promo_code: Option<String>,
}

words! {
    /// Staff export inventories format.
    pub enum StaffExportInventoriesFormat {
        Xlsx = "xlsx",
        Csv = "csv",
    }
}

/// Query of `export_inventories`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StaffExportInventoriesQuery {
    /// `xlsx` or `csv`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<StaffExportInventoriesFormat>,
}

words! {
    /// Staff export nomenclatures format.
    pub enum StaffExportNomenclaturesFormat {
        Xlsx = "xlsx",
        Csv = "csv",
    }
}

/// Query of `export_nomenclatures`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StaffExportNomenclaturesQuery {
    /// `xlsx` or `csv`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<StaffExportNomenclaturesFormat>,
}

words! {
    /// Staff export orders format.
    pub enum StaffExportOrdersFormat {
        Xlsx = "xlsx",
        Csv = "csv",
    }
}

/// Query of `export_orders`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StaffExportOrdersQuery {
    /// `xlsx` or `csv`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<StaffExportOrdersFormat>,
    /// First creation day to export, in the project's time zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_from: Option<NaiveDate>,
    /// Last creation day to export, in the project's time zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_to: Option<NaiveDate>,
}

words! {
    /// Staff list categories table order by.
    pub enum StaffListCategoriesTableOrderBy {
        IdAsc = "id_asc",
        IdDesc = "id_desc",
        CodeAsc = "code_asc",
        CodeDesc = "code_desc",
        NameAsc = "name_asc",
        NameDesc = "name_desc",
        CreatedAtAsc = "created_at_asc",
        CreatedAtDesc = "created_at_desc",
        UpdatedAtAsc = "updated_at_asc",
        UpdatedAtDesc = "updated_at_desc",
    }
}

/// Query of `list_categories_table`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StaffListCategoriesTableQuery {
    /// Part of the name, in any case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// Right below these categories. A single value may be sent without the brackets.
    #[serde(rename = "parent_id[]", skip_serializing_if = "Vec::is_empty")]
    pub parent_id: Vec<i64>,
    /// From this day on, in the project's time zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_from: Option<NaiveDate>,
    /// Up to and including this day, in the project's time zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_to: Option<NaiveDate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_by: Option<StaffListCategoriesTableOrderBy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_page: Option<i64>,
}

impl Numbered for StaffListCategoriesTableQuery {
    fn set_page(&mut self, page: i64) {
        self.page = Some(page);
    }
}

/// Query of `list_changed_inventories`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StaffListChangedInventoriesQuery {
    /// Returns records changed at this time or later. Some records changed up to two minutes earlier may be included.
    /// Without it, all records are returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_since: Option<DateTime<Utc>>,
    /// `next_cursor` of the previous response. `updated_since` must be left out then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// At most 100, 100 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_page: Option<i64>,
}

/// Query of `list_changed_nomenclatures`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StaffListChangedNomenclaturesQuery {
    /// Returns records changed at this time or later. Some records changed up to two minutes earlier may be included.
    /// Without it, all records are returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_since: Option<DateTime<Utc>>,
    /// `next_cursor` of the previous response. `updated_since` must be left out then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// At most 100, 100 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_page: Option<i64>,
}

/// Query of `list_changed_orders`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StaffListChangedOrdersQuery {
    /// Returns records changed at this time or later. Some records changed up to two minutes earlier may be included.
    /// Without it, all records are returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_since: Option<DateTime<Utc>>,
    /// `next_cursor` of the previous response. `updated_since` must be left out then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// At most 100, 100 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_page: Option<i64>,
}

words! {
    /// Staff list inventories order by.
    pub enum StaffListInventoriesOrderBy {
        IdAsc = "id_asc",
        IdDesc = "id_desc",
        QuantityAsc = "quantity_asc",
        QuantityDesc = "quantity_desc",
        ReservedAsc = "reserved_asc",
        ReservedDesc = "reserved_desc",
        PriceAsc = "price_asc",
        PriceDesc = "price_desc",
        CreatedAtAsc = "created_at_asc",
        CreatedAtDesc = "created_at_desc",
        UpdatedAtAsc = "updated_at_asc",
        UpdatedAtDesc = "updated_at_desc",
    }
}

/// Query of `list_inventories`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StaffListInventoriesQuery {
    /// Part of the name or of the article of the item, in any case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// In these warehouses. A single value may be sent without the brackets.
    #[serde(rename = "warehouse_id[]", skip_serializing_if = "Vec::is_empty")]
    pub warehouse_id: Vec<i64>,
    /// Of these items. A single value may be sent without the brackets.
    #[serde(rename = "nomenclature_id[]", skip_serializing_if = "Vec::is_empty")]
    pub nomenclature_id: Vec<i64>,
    /// With this quantity in stock. A single value may be sent without the brackets.
    #[serde(rename = "quantity[]", skip_serializing_if = "Vec::is_empty")]
    pub quantity: Vec<i64>,
    /// More than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantity_gt: Option<i64>,
    /// Less than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantity_lt: Option<i64>,
    /// With this reserved quantity. A single value may be sent without the brackets.
    #[serde(rename = "reserved[]", skip_serializing_if = "Vec::is_empty")]
    pub reserved: Vec<i64>,
    /// More than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reserved_gt: Option<i64>,
    /// Less than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reserved_lt: Option<i64>,
    /// At this price. A single value may be sent without the brackets.
    #[serde(rename = "price[]", skip_serializing_if = "Vec::is_empty")]
    pub price: Vec<Money>,
    /// More than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_gt: Option<Money>,
    /// Less than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_lt: Option<Money>,
    /// From this day on, in the project's time zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_from: Option<NaiveDate>,
    /// Up to and including this day, in the project's time zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_to: Option<NaiveDate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_by: Option<StaffListInventoriesOrderBy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_page: Option<i64>,
}

impl Numbered for StaffListInventoriesQuery {
    fn set_page(&mut self, page: i64) {
        self.page = Some(page);
    }
}

words! {
    /// Staff list inventories table order by.
    pub enum StaffListInventoriesTableOrderBy {
        IdAsc = "id_asc",
        IdDesc = "id_desc",
        QuantityAsc = "quantity_asc",
        QuantityDesc = "quantity_desc",
        ReservedAsc = "reserved_asc",
        ReservedDesc = "reserved_desc",
        PriceAsc = "price_asc",
        PriceDesc = "price_desc",
        CreatedAtAsc = "created_at_asc",
        CreatedAtDesc = "created_at_desc",
        UpdatedAtAsc = "updated_at_asc",
        UpdatedAtDesc = "updated_at_desc",
    }
}

/// Query of `list_inventories_table`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StaffListInventoriesTableQuery {
    /// Part of the name or of the article of the item, in any case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// In these warehouses. A single value may be sent without the brackets.
    #[serde(rename = "warehouse_id[]", skip_serializing_if = "Vec::is_empty")]
    pub warehouse_id: Vec<i64>,
    /// Of these items. A single value may be sent without the brackets.
    #[serde(rename = "nomenclature_id[]", skip_serializing_if = "Vec::is_empty")]
    pub nomenclature_id: Vec<i64>,
    /// With this quantity in stock. A single value may be sent without the brackets.
    #[serde(rename = "quantity[]", skip_serializing_if = "Vec::is_empty")]
    pub quantity: Vec<i64>,
    /// More than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantity_gt: Option<i64>,
    /// Less than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantity_lt: Option<i64>,
    /// With this reserved quantity. A single value may be sent without the brackets.
    #[serde(rename = "reserved[]", skip_serializing_if = "Vec::is_empty")]
    pub reserved: Vec<i64>,
    /// More than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reserved_gt: Option<i64>,
    /// Less than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reserved_lt: Option<i64>,
    /// At this price. A single value may be sent without the brackets.
    #[serde(rename = "price[]", skip_serializing_if = "Vec::is_empty")]
    pub price: Vec<Money>,
    /// More than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_gt: Option<Money>,
    /// Less than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_lt: Option<Money>,
    /// From this day on, in the project's time zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_from: Option<NaiveDate>,
    /// Up to and including this day, in the project's time zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_to: Option<NaiveDate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_by: Option<StaffListInventoriesTableOrderBy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_page: Option<i64>,
}

impl Numbered for StaffListInventoriesTableQuery {
    fn set_page(&mut self, page: i64) {
        self.page = Some(page);
    }
}

words! {
    /// Staff list nomenclatures order by.
    pub enum StaffListNomenclaturesOrderBy {
        IdAsc = "id_asc",
        IdDesc = "id_desc",
        NameAsc = "name_asc",
        NameDesc = "name_desc",
        PriceAsc = "price_asc",
        PriceDesc = "price_desc",
        CreatedAtAsc = "created_at_asc",
        CreatedAtDesc = "created_at_desc",
        UpdatedAtAsc = "updated_at_asc",
        UpdatedAtDesc = "updated_at_desc",
    }
}

/// Query of `list_nomenclatures`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StaffListNomenclaturesQuery {
    /// Words or parts of words of the name and the article, in any order and case. Without `order_by`, the best match
    /// comes first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// In exactly these categories. A single value may be sent without the brackets.
    #[serde(rename = "category_id[]", skip_serializing_if = "Vec::is_empty")]
    pub category_id: Vec<i64>,
    /// Of these brands. A single value may be sent without the brackets.
    #[serde(rename = "brand_id[]", skip_serializing_if = "Vec::is_empty")]
    pub brand_id: Vec<i64>,
    /// Of these kinds. A single value may be sent without the brackets.
    #[serde(rename = "kind_id[]", skip_serializing_if = "Vec::is_empty")]
    pub kind_id: Vec<i64>,
    /// Of these types. A single value may be sent without the brackets.
    #[serde(rename = "type_id[]", skip_serializing_if = "Vec::is_empty")]
    pub type_id: Vec<i64>,
    /// With this card price. A single value may be sent without the brackets.
    #[serde(rename = "price[]", skip_serializing_if = "Vec::is_empty")]
    pub price: Vec<Money>,
    /// More than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_gt: Option<Money>,
    /// Less than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_lt: Option<Money>,
    /// From this day on, in the project's time zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_from: Option<NaiveDate>,
    /// Up to and including this day, in the project's time zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_to: Option<NaiveDate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_by: Option<StaffListNomenclaturesOrderBy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_page: Option<i64>,
}

impl Numbered for StaffListNomenclaturesQuery {
    fn set_page(&mut self, page: i64) {
        self.page = Some(page);
    }
}

words! {
    /// Staff list nomenclatures table order by.
    pub enum StaffListNomenclaturesTableOrderBy {
        IdAsc = "id_asc",
        IdDesc = "id_desc",
        NameAsc = "name_asc",
        NameDesc = "name_desc",
        PriceAsc = "price_asc",
        PriceDesc = "price_desc",
        CreatedAtAsc = "created_at_asc",
        CreatedAtDesc = "created_at_desc",
        UpdatedAtAsc = "updated_at_asc",
        UpdatedAtDesc = "updated_at_desc",
    }
}

/// Query of `list_nomenclatures_table`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StaffListNomenclaturesTableQuery {
    /// Words or parts of words of the name and the article, in any order and case. Without `order_by`, the best match
    /// comes first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// In exactly these categories. A single value may be sent without the brackets.
    #[serde(rename = "category_id[]", skip_serializing_if = "Vec::is_empty")]
    pub category_id: Vec<i64>,
    /// Of these brands. A single value may be sent without the brackets.
    #[serde(rename = "brand_id[]", skip_serializing_if = "Vec::is_empty")]
    pub brand_id: Vec<i64>,
    /// Of these kinds. A single value may be sent without the brackets.
    #[serde(rename = "kind_id[]", skip_serializing_if = "Vec::is_empty")]
    pub kind_id: Vec<i64>,
    /// Of these types. A single value may be sent without the brackets.
    #[serde(rename = "type_id[]", skip_serializing_if = "Vec::is_empty")]
    pub type_id: Vec<i64>,
    /// With this card price. A single value may be sent without the brackets.
    #[serde(rename = "price[]", skip_serializing_if = "Vec::is_empty")]
    pub price: Vec<Money>,
    /// More than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_gt: Option<Money>,
    /// Less than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_lt: Option<Money>,
    /// From this day on, in the project's time zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_from: Option<NaiveDate>,
    /// Up to and including this day, in the project's time zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_to: Option<NaiveDate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_by: Option<StaffListNomenclaturesTableOrderBy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_page: Option<i64>,
}

impl Numbered for StaffListNomenclaturesTableQuery {
    fn set_page(&mut self, page: i64) {
        self.page = Some(page);
    }
}

words! {
    /// Staff list order files table order by.
    pub enum StaffListOrderFilesTableOrderBy {
        IdAsc = "id_asc",
        IdDesc = "id_desc",
        NameAsc = "name_asc",
        NameDesc = "name_desc",
        SizeAsc = "size_asc",
        SizeDesc = "size_desc",
        CreatedAtAsc = "created_at_asc",
        CreatedAtDesc = "created_at_desc",
    }
}

/// Query of `list_order_files_table`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StaffListOrderFilesTableQuery {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_by: Option<StaffListOrderFilesTableOrderBy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_page: Option<i64>,
}

impl Numbered for StaffListOrderFilesTableQuery {
    fn set_page(&mut self, page: i64) {
        self.page = Some(page);
    }
}

words! {
    /// Staff list order lines table order by.
    pub enum StaffListOrderLinesTableOrderBy {
        IdAsc = "id_asc",
        IdDesc = "id_desc",
    }
}

/// Query of `list_order_lines_table`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StaffListOrderLinesTableQuery {
    /// Of these items. A single value may be sent without the brackets.
    #[serde(rename = "nomenclature_id[]", skip_serializing_if = "Vec::is_empty")]
    pub nomenclature_id: Vec<i64>,
    /// From these warehouses. A single value may be sent without the brackets.
    #[serde(rename = "warehouse_id[]", skip_serializing_if = "Vec::is_empty")]
    pub warehouse_id: Vec<i64>,
    /// In these states. A single value may be sent without the brackets.
    #[serde(rename = "state[]", skip_serializing_if = "Vec::is_empty")]
    pub state: Vec<StaffListOrderLinesTableState>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_by: Option<StaffListOrderLinesTableOrderBy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_page: Option<i64>,
}

impl Numbered for StaffListOrderLinesTableQuery {
    fn set_page(&mut self, page: i64) {
        self.page = Some(page);
    }
}

words! {
    /// Staff list order lines table state.
    pub enum StaffListOrderLinesTableState {
        Held = "held",
        Released = "released",
        Sold = "sold",
    }
}

words! {
    /// Staff list orders order by.
    pub enum StaffListOrdersOrderBy {
        IdAsc = "id_asc",
        IdDesc = "id_desc",
        CreatedAtAsc = "created_at_asc",
        CreatedAtDesc = "created_at_desc",
    }
}

/// Query of `list_orders`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StaffListOrdersQuery {
    /// The full order number, phone or promo code; or parts of the customer's name, phones and other contacts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// In these states. A single value may be sent without the brackets.
    #[serde(rename = "status_id[]", skip_serializing_if = "Vec::is_empty")]
    pub status_id: Vec<i64>,
    /// Of these customers. A single value may be sent without the brackets.
    #[serde(rename = "counterparty_id[]", skip_serializing_if = "Vec::is_empty")]
    pub counterparty_id: Vec<i64>,
    /// With this total. A single value may be sent without the brackets.
    #[serde(rename = "price[]", skip_serializing_if = "Vec::is_empty")]
    pub price: Vec<Money>,
    /// More than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_gt: Option<Money>,
    /// Less than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_lt: Option<Money>,
    /// Made through these applications. A single value may be sent without the brackets.
    #[serde(rename = "application_id[]", skip_serializing_if = "Vec::is_empty")]
    pub application_id: Vec<i64>,
    /// From this day on, in the project's time zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_from: Option<NaiveDate>,
    /// Up to and including this day, in the project's time zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_to: Option<NaiveDate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_by: Option<StaffListOrdersOrderBy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_page: Option<i64>,
}

impl Numbered for StaffListOrdersQuery {
    fn set_page(&mut self, page: i64) {
        self.page = Some(page);
    }
}

words! {
    /// Staff list orders table order by.
    pub enum StaffListOrdersTableOrderBy {
        IdAsc = "id_asc",
        IdDesc = "id_desc",
        CreatedAtAsc = "created_at_asc",
        CreatedAtDesc = "created_at_desc",
    }
}

/// Query of `list_orders_table`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StaffListOrdersTableQuery {
    /// The full order number, phone or promo code; or parts of the customer's name, phones and other contacts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// In these states. A single value may be sent without the brackets.
    #[serde(rename = "status_id[]", skip_serializing_if = "Vec::is_empty")]
    pub status_id: Vec<i64>,
    /// Of these customers. A single value may be sent without the brackets.
    #[serde(rename = "counterparty_id[]", skip_serializing_if = "Vec::is_empty")]
    pub counterparty_id: Vec<i64>,
    /// With this total. A single value may be sent without the brackets.
    #[serde(rename = "price[]", skip_serializing_if = "Vec::is_empty")]
    pub price: Vec<Money>,
    /// More than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_gt: Option<Money>,
    /// Less than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_lt: Option<Money>,
    /// Made through these applications. A single value may be sent without the brackets.
    #[serde(rename = "client_id[]", skip_serializing_if = "Vec::is_empty")]
    pub client_id: Vec<i64>,
    /// From this day on, in the project's time zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_from: Option<NaiveDate>,
    /// Up to and including this day, in the project's time zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_to: Option<NaiveDate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_by: Option<StaffListOrdersTableOrderBy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_page: Option<i64>,
}

impl Numbered for StaffListOrdersTableQuery {
    fn set_page(&mut self, page: i64) {
        self.page = Some(page);
    }
}

words! {
    /// Staff list reservations table order by.
    pub enum StaffListReservationsTableOrderBy {
        IdAsc = "id_asc",
        IdDesc = "id_desc",
        CreatedAtAsc = "created_at_asc",
        CreatedAtDesc = "created_at_desc",
    }
}

/// Query of `list_reservations_table`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StaffListReservationsTableQuery {
    /// Of these orders. A single value may be sent without the brackets.
    #[serde(rename = "order_id[]", skip_serializing_if = "Vec::is_empty")]
    pub order_id: Vec<i64>,
    /// Of these items. A single value may be sent without the brackets.
    #[serde(rename = "nomenclature_id[]", skip_serializing_if = "Vec::is_empty")]
    pub nomenclature_id: Vec<i64>,
    /// From these warehouses. A single value may be sent without the brackets.
    #[serde(rename = "warehouse_id[]", skip_serializing_if = "Vec::is_empty")]
    pub warehouse_id: Vec<i64>,
    /// In these states. A single value may be sent without the brackets.
    #[serde(rename = "state[]", skip_serializing_if = "Vec::is_empty")]
    pub state: Vec<StaffListReservationsTableState>,
    /// With this quantity. A single value may be sent without the brackets.
    #[serde(rename = "quantity[]", skip_serializing_if = "Vec::is_empty")]
    pub quantity: Vec<i64>,
    /// More than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantity_gt: Option<i64>,
    /// Less than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantity_lt: Option<i64>,
    /// From this day on, in the project's time zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_from: Option<NaiveDate>,
    /// Up to and including this day, in the project's time zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_to: Option<NaiveDate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_by: Option<StaffListReservationsTableOrderBy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_page: Option<i64>,
}

impl Numbered for StaffListReservationsTableQuery {
    fn set_page(&mut self, page: i64) {
        self.page = Some(page);
    }
}

words! {
    /// Staff list reservations table state.
    pub enum StaffListReservationsTableState {
        Held = "held",
        Released = "released",
        Sold = "sold",
    }
}

words! {
    /// Staff list subcategories table order by.
    pub enum StaffListSubcategoriesTableOrderBy {
        IdAsc = "id_asc",
        IdDesc = "id_desc",
        CodeAsc = "code_asc",
        CodeDesc = "code_desc",
        NameAsc = "name_asc",
        NameDesc = "name_desc",
        CreatedAtAsc = "created_at_asc",
        CreatedAtDesc = "created_at_desc",
        UpdatedAtAsc = "updated_at_asc",
        UpdatedAtDesc = "updated_at_desc",
    }
}

/// Query of `list_subcategories_table`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StaffListSubcategoriesTableQuery {
    /// Part of the name, in any case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// From this day on, in the project's time zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_from: Option<NaiveDate>,
    /// Up to and including this day, in the project's time zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_to: Option<NaiveDate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_by: Option<StaffListSubcategoriesTableOrderBy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_page: Option<i64>,
}

impl Numbered for StaffListSubcategoriesTableQuery {
    fn set_page(&mut self, page: i64) {
        self.page = Some(page);
    }
}

/// Staff login.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StaffLogin {
    pub login: String,
    pub password: Secret,
}

/// Order as shown to staff.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StaffOrder {
    pub acquirer_payment_method_type: Option<String>,
    /// Address of the handover.
    pub address: String,
    /// Amount to pay: `final_price` plus `delivery_price`.
    pub amount_due: Money,
    pub created_at: DateTime<Utc>,
    /// Delivery price; 0 unless the project charges for delivery.
    pub delivery_price: Money,
    pub delivery_subtype: Option<OrderDeliveryRecord>,
    pub delivery_subtype_param: Option<OrderPlaceRecord>,
    pub delivery_type: OrderDeliveryRecord,
    /// Price of the products.
    pub final_price: Money,
    pub id: i64,
    pub last_redeemed_at: Option<DateTime<Utc>>,
    pub original_price: Money,
    /// URL of the payment page, while the order can be paid.
    pub payment_link: Option<String>,
    pub payment_type: Option<OrderPaymentTypeRecord>,
    /// Decimal string, equal to `final_price`.
    pub price: Money,
    pub product_discount_amount: Money,
    pub products: Vec<OrderProductRecord>,
    pub promo_code: Option<String>,
    pub promo_discount_amount: Money,
    /// Number of redeemed tickets.
    pub redeemed_count: i64,
    pub shop: Option<OrderPlaceRecord>,
    pub status: NamedRecord,
    pub total_discount_amount: Money,
    /// Number of tickets, without those that were returned.
    pub total_tickets: i64,
    /// `null` if the order was created for the project, not for an application.
    pub application: Option<NamedRecord>,
    /// Amount received, decimal string.
    pub captured_amount: Money,
    /// Comment of staff, not shown to the customer.
    pub comment: Option<String>,
    pub counterparty: OrderCustomer,
    /// Employee responsible for the order.
    pub manager: Option<NamedRecord>,
    pub paid_at: Option<DateTime<Utc>>,
    /// `unpaid`, `pending`, `paid`, `partially_refunded` or `refunded`.
    pub payment_state: StaffOrderPaymentState,
    /// Part of the received amount that is refunded, decimal string.
    pub refunded_amount: Money,
    /// Part of the received amount that is being refunded, decimal string.
    pub refunding_amount: Money,
    /// Refunds of the order, oldest first.
    pub refunds: Vec<OrderRefundRecord>,
    /// Lines of the order.
    pub reservations: Vec<ReservationRecord>,
    /// Time when an unconfirmed order of the contact form is canceled unless an employee confirms it. `null` for all
    /// other orders.
    pub reserved_until: Option<DateTime<Utc>>,
    pub updated_at: DateTime<Utc>,
    pub version: i64,
}

/// Staff order input.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StaffOrderInput {
    /// Required if `delivery_subtype_id` is 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Application of the order; its warehouses are used. Without it, the order belongs to the project and all
    /// warehouses are used. Customers see only orders of applications.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub application_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Customer of the order.
    pub counterparty_id: i64,
    /// Required if `delivery_type_id` is 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery_subtype_id: Option<i64>,
    /// Required if `delivery_subtype_id` is 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery_subtype_param_id: Option<i64>,
    pub delivery_type_id: i64,
    /// Employee responsible for the order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manager_id: Option<i64>,
    /// Creates a `payment_link` for the customer. Without it, no online payment is created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment_method_type: Option<PaymentMethodType>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment_type_id: Option<i64>,
    /// Items and quantities of the order.
    pub products: Vec<ProductLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub promo_code: Option<String>,
    /// Required if `delivery_type_id` is 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shop_id: Option<i64>,
}

words! {
    /// Staff order payment state.
    pub enum StaffOrderPaymentState {
        Unpaid = "unpaid",
        Pending = "pending",
        Paid = "paid",
        PartiallyRefunded = "partially_refunded",
        Refunded = "refunded",
    }
}

/// Query of `remove_order_line`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StaffRemoveOrderLineQuery {
    /// `1` returns the result of the call without writing anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<bool>,
    /// For paid orders: `1` if removed units return to their warehouses. `1` by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restock: Option<bool>,
    /// For paid orders: reason of the refund, shown to the customer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Query of `request_refund`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StaffRequestRefundQuery {
    /// `1` returns the result of the call without writing anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<bool>,
}

/// Staff tag list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StaffTagList {
    pub tags: Vec<StaffTagRecord>,
    #[serde(rename = "tagsCount")]
    pub tags_count: i64,
}

/// Staff tag record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StaffTagRecord {
    pub created_at: DateTime<Utc>,
    pub id: i64,
    pub name: String,
    pub photo: Option<PhotoRecord>,
}

/// Query of `update_order_line`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StaffUpdateOrderLineQuery {
    /// `1` returns the result of the call without writing anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<bool>,
}

/// Query of `update_order`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StaffUpdateOrderQuery {
    /// `1` returns the result of the call without writing anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<bool>,
}

words! {
    /// Stock history action.
    pub enum StockHistoryAction {
        Created = "created",
        Changed = "changed",
        Deleted = "deleted",
    }
}

/// One page of stock movements, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StockHistoryList {
    pub histories: Vec<StockHistoryRecord>,
    #[serde(rename = "historiesCount")]
    pub histories_count: i64,
    pub pagination: Pagination,
}

impl Page for StockHistoryList {
    type Item = StockHistoryRecord;

    fn total(&self) -> i64 {
        self.histories_count
    }

    fn into_items(self) -> Vec<StockHistoryRecord> {
        self.histories
    }
}

words! {
    /// Stock history reason.
    pub enum StockHistoryReason {
        Opening = "opening",
        Creation = "creation",
        Edit = "edit",
        Upload = "upload",
        Reservation = "reservation",
        Release = "release",
        Sale = "sale",
        Correction = "correction",
        Return = "return",
        WriteOff = "write_off",
    }
}

/// Stock movement. The fields that change are `quantity`, `reserved` and `price`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StockHistoryRecord {
    /// `created`, `changed` or `deleted`
    pub action: StockHistoryAction,
    pub changes: Vec<FieldChangeRecord>,
    pub counterparty: Option<AuthorRecord>,
    #[serde(rename = "dateTime")]
    pub date_time: DateTime<Utc>,
    pub id: i64,
    pub user: Option<AuthorRecord>,
    /// Comment of the employee who made the movement.
    pub comment: Option<String>,
    /// Id of the job that made the movement.
    pub job_id: Option<i64>,
    /// Id of the order that caused the movement.
    pub order_id: Option<i64>,
    /// `opening`, `creation`, `edit`, `upload`, `reservation`, `release`, `sale`, `correction`, `return` or
    /// `write_off`.
    pub reason: StockHistoryReason,
}

/// Change of the stock of an item in a warehouse.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StockRecord {
    pub nomenclature_id: i64,
    /// Change of the quantity in the warehouse, in units.
    pub quantity: i64,
    /// Change of the reserved quantity, in units.
    pub reserved: i64,
    pub warehouse_id: Option<i64>,
}

/// Stocked item record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StockedItemRecord {
    pub article: Option<String>,
    pub id: i64,
    pub name: String,
}

/// Envelope of a table. Beside `columns` and `pagination` it has the rows under the name of the resource.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TableAnswer {
    pub columns: Vec<ColumnRecord>,
    pub pagination: Pagination,
    /// Further fields by name.
    #[serde(flatten)]
    pub rows: BTreeMap<String, Vec<Value>>,
}

impl Page for TableAnswer {
    type Item = Value;

    fn total(&self) -> i64 {
        self.pagination.total
    }

    fn into_items(self) -> Vec<Value> {
        self.rows.into_values().flatten().collect()
    }
}

/// Ticket scan list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TicketScanList {
    pub pagination: Pagination,
    pub scans: Vec<TicketScanRecord>,
    #[serde(rename = "scansCount")]
    pub scans_count: i64,
}

impl Page for TicketScanList {
    type Item = TicketScanRecord;

    fn total(&self) -> i64 {
        self.scans_count
    }

    fn into_items(self) -> Vec<TicketScanRecord> {
        self.scans
    }
}

words! {
    /// Ticket scan outcome.
    pub enum TicketScanOutcome {
        Admitted = "admitted",
        Unknown = "unknown",
        Canceled = "canceled",
        Unpaid = "unpaid",
        AlreadyRedeemed = "already_redeemed",
        TooMany = "too_many",
        OtherShop = "other_shop",
        NotYet = "not_yet",
        Expired = "expired",
    }
}

/// Scan of a ticket.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TicketScanRecord {
    /// Time of the scan.
    pub at: DateTime<Utc>,
    pub id: i64,
    /// `null` if the ticket is unknown.
    pub order_id: Option<i64>,
    /// `admitted`, `unknown`, `canceled`, `unpaid`, `already_redeemed`, `too_many`, `other_shop`, `not_yet` or
    /// `expired`.
    pub outcome: TicketScanOutcome,
    /// Number of tickets to redeem.
    pub quantity: i64,
    /// Time when the service received the scan.
    pub received_at: DateTime<Utc>,
    /// Time of the last entry. Only for the outcomes `already_redeemed` and `too_many`.
    pub redeemed_at: Option<DateTime<Utc>>,
    /// Number of redeemed tickets of the order at that time, including this scan.
    pub redeemed_count: i64,
    /// Shop of the last entry.
    pub redeemed_shop: Option<NamedRecord>,
    /// Id of the scan, set by the scanner.
    pub scan_id: String,
    pub shop: Option<NamedRecord>,
    /// Number of tickets of the order at that time.
    pub total_tickets: i64,
    /// Employee who sent the scan.
    pub user_id: i64,
}

/// Ticket scan response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TicketScanResponse {
    pub scan: TicketScanRecord,
}

/// User with token.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UserWithToken {
    /// Total time worked with the service, in seconds.
    pub active_time: i64,
    pub avatar: Option<Picture>,
    /// Branch of the employee. `null` for all branches.
    pub branch: Option<NamedRecord>,
    /// Employee who created the account.
    pub creator: Option<NamedRecord>,
    pub department: Option<NamedRecord>,
    /// Address that receives temporary passwords.
    pub email: String,
    pub first_name: String,
    pub id: i64,
    /// `true` if the employee cannot log in.
    pub is_banned: bool,
    /// `true` if the employee is on sick leave.
    pub is_sick: bool,
    /// Time of the last activity, accurate to about a minute.
    pub last_activity_at: Option<DateTime<Utc>>,
    pub last_name: String,
    pub login: String,
    pub middle_name: Option<String>,
    /// Permissions of the employee's role.
    pub permissions: Vec<PermissionRecord>,
    pub phone: Option<String>,
    pub role: EmployeeRole,
    pub access_token: AccessTokenRecord,
}
