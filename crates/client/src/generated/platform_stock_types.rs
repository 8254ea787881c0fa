// Written by generate.py from docs/openapi.json.

use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Serialize};

use super::*;
use crate::{Money, Numbered, Page};

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

/// Stocked item record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StockedItemRecord {
    pub article: Option<String>,
    pub id: i64,
    pub name: String,
}
