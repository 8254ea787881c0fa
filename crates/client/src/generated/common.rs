// Written by generate.py from docs/openapi.json.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::*;
use crate::{Money, Numbered, Page, Secret};

/// New Bearer token. It is shown only once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AccessTokenRecord {
    /// Expiry time.
    pub expires_at: DateTime<Utc>,
    /// Token to send unchanged, in the form `<id>|<secret>`.
    pub value: Secret,
}

/// Applied discount.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AppliedDiscount {
    pub code: Option<String>,
    pub id: i64,
    pub name: String,
    /// `percent` or `fixed`.
    pub r#type: AppliedDiscountType,
    /// Decimal string: percent or an amount.
    pub value: String,
}

words! {
    /// Applied discount type.
    pub enum AppliedDiscountType {
        Percent = "percent",
        Fixed = "fixed",
    }
}

/// Author of a change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AuthorRecord {
    pub id: i64,
    pub name: Option<String>,
}

/// Cart product.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CartProduct {
    pub id: i64,
    pub pieces_per_pack: i64,
    /// Price of one unit before discounts, as a decimal string.
    pub price: Money,
    pub quantity: i64,
    /// Number of packs in the quantity.
    pub quantity_pack: i64,
    pub wholesale: bool,
}

/// Calculated prices of a cart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CartRecord {
    /// Amount to pay: `final_price` plus `delivery_price`.
    pub amount_due: Money,
    pub applied_discount: Option<AppliedDiscount>,
    /// Delivery price; 0 without `delivery_type_id`, or if the project does not charge for delivery.
    pub delivery_price: Money,
    /// Decimal string, equal to `total_discount_amount`.
    pub discount: Money,
    pub discount_error: Option<DiscountError>,
    pub final_price: Money,
    pub original_price: Money,
    /// Decimal string, equal to `original_price`.
    pub price: Money,
    pub product_discount_amount: Money,
    pub products: Vec<CartProduct>,
    pub promo_discount_amount: Money,
    pub quantity_pack: i64,
    /// Decimal string, equal to `final_price`.
    pub total: Money,
    pub total_discount_amount: Money,
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

/// Customer type: person or company.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CustomerType {
    pub created_at: DateTime<Utc>,
    pub id: i64,
    pub name: String,
}

/// Reason why the promo code gives no discount.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DiscountError {
    /// `unknown`, `not_started`, `expired`, `paused`, `limit_reached`, `customer_limit`, `minimum_sum` or
    /// `not_applicable`.
    pub code: DiscountErrorCode,
    pub message: String,
}

words! {
    /// Discount error code.
    pub enum DiscountErrorCode {
        Unknown = "unknown",
        NotStarted = "not_started",
        Expired = "expired",
        Paused = "paused",
        LimitReached = "limit_reached",
        CustomerLimit = "customer_limit",
        MinimumSum = "minimum_sum",
        NotApplicable = "not_applicable",
    }
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

/// Extent of a logout.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Logout {
    /// `true` ends all sessions of the customer or employee. By default only the token of the request is revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_all_devices: Option<bool>,
}

/// Employee responsible for a customer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ManagerRecord {
    pub first_name: String,
    pub id: i64,
    pub last_name: String,
    pub middle_name: Option<String>,
    pub name: String,
}

/// Result of the operation in human-readable form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Message {
    pub message: String,
}

/// Reference to another record, by id and name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NamedRecord {
    pub id: i64,
    pub name: String,
}

/// Delivery type or subtype of an order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OrderDeliveryRecord {
    pub id: i64,
    /// `1` or `0`.
    pub is_active: i64,
    pub name: String,
    /// Current price as a decimal string. `delivery_price` of the order is the price at the time of the order.
    pub price: Money,
}

/// Payment type of an order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OrderPaymentTypeRecord {
    pub description: Option<String>,
    pub id: i64,
    pub name: String,
    pub photo: Option<Picture>,
}

/// Shop or pickup point of an order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OrderPlaceRecord {
    pub address: Option<String>,
    pub id: i64,
    pub name: String,
}

/// Item of an order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OrderProductRecord {
    pub id: i64,
    pub name: String,
    pub photos: Vec<Picture>,
    /// Price of one unit before discounts, as a decimal string.
    pub price: Money,
    pub quantity: i64,
}

/// Query of a list that has no filters.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct PageQuery {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<i64>,
    /// Default 15.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_page: Option<i64>,
}

impl Numbered for PageQuery {
    fn set_page(&mut self, page: i64) {
        self.page = Some(page);
    }
}

/// Position of a page in its list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Pagination {
    pub current_page: i64,
    pub from: Option<i64>,
    pub last_page: i64,
    pub per_page: i64,
    pub to: Option<i64>,
    pub total: i64,
}

/// Packaging of an item.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Parameters {
    /// Units in one pack.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pieces_per_pack: Option<i64>,
    /// Packs in one unit of sale.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantity_pack: Option<i64>,
    /// `true` if the item is sold wholesale.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wholesale: Option<bool>,
}

words! {
    /// Payment method type.
    pub enum PaymentMethodType {
        BankCard = "bank_card",
        Sbp = "sbp",
        Sberbank = "sberbank",
        TinkoffBank = "tinkoff_bank",
        YooMoney = "yoo_money",
    }
}

/// Photo. Photos given by URL have no id.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PhotoRecord {
    pub id: Option<i64>,
    pub url: String,
}

/// Picture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Picture {
    /// URL of the picture.
    pub url: String,
}

/// Line of a cart.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ProductLine {
    pub id: i64,
    pub quantity: i64,
}

/// Product record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProductRecord {
    pub article: Option<String>,
    pub brand: Option<NamedRecord>,
    pub category: Option<NamedRecord>,
    pub id: i64,
    /// `true` if the product is a favourite of the customer. Requires a customer token.
    pub is_favourite: bool,
    /// `1` service, `2` goods.
    pub kind_id: i64,
    pub name: String,
    /// Price without discount, decimal string. `null` if there is no discount.
    pub old_price: Option<Money>,
    pub parameters: Parameters,
    pub photos: Vec<PhotoRecord>,
    /// Current price with discount, decimal string.
    pub price: Money,
    /// Units that can be ordered. `0` for a service, which needs no stock.
    pub quantity: i64,
}

/// Mapping from file headers to columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SavedColumns {
    /// Column names by header. `null` ignores the header.
    pub columns: Value,
}

/// Unit of quantities, such as pieces.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StorageUnitRecord {
    pub abbreviation: String,
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

/// Tag record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TagRecord {
    pub created_at: DateTime<Utc>,
    pub id: i64,
    pub name: String,
    pub photo: Option<PhotoRecord>,
}
