// Written by generate.py from docs/openapi.json.

use super::*;
use crate::{Call, Method, Pages, PlatformSurface};

impl PlatformSurface {
    /// List changed orders.
    ///
    /// Ordered by the time of change, oldest first.
    ///
    /// `GET /api/changes/orders`
    pub fn list_changed_orders(&self, query: &StaffListChangedOrdersQuery) -> Call<ChangedOrders> {
        self.call(Method::GET, "/api/changes/orders").query(query)
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
}
