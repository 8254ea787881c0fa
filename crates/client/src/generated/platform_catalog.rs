// Written by generate.py from docs/openapi.json.

use serde_json::Value;

use super::*;
use crate::{Call, Method, Pages, PlatformSurface};

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

    /// List changed items.
    ///
    /// Ordered by the time of change, oldest first.
    ///
    /// `GET /api/changes/nomenclatures`
    pub fn list_changed_nomenclatures(&self, query: &StaffListChangedNomenclaturesQuery) -> Call<ChangedNomenclatures> {
        self.call(Method::GET, "/api/changes/nomenclatures").query(query)
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

    /// Search items.
    ///
    /// Returns the best matches and the total number of matches, at most 10,000.
    ///
    /// `POST /api/search_nomenclature`
    pub fn search_nomenclature(&self, body: &ItemSearch) -> Call<NomenclatureList> {
        self.call(Method::POST, "/api/search_nomenclature").json(body).reads()
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

    /// List tags.
    ///
    /// Returns every tag of the project.
    ///
    /// `GET /api/tags`
    pub fn list_tags(&self) -> Call<StaffTagList> {
        self.call(Method::GET, "/api/tags")
    }
}
