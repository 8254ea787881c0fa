// Written by generate.py from docs/openapi.json.

use super::*;
use crate::{Call, Method, Pages, PlatformSurface};

impl PlatformSurface {
    /// List changed stock.
    ///
    /// Ordered by the time of change, oldest first.
    ///
    /// `GET /api/changes/inventories`
    pub fn list_changed_inventories(&self, query: &StaffListChangedInventoriesQuery) -> Call<ChangedInventories> {
        self.call(Method::GET, "/api/changes/inventories").query(query)
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
}
