// Written by generate.py from docs/openapi.json.

use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Serialize};

use super::*;
use crate::{Money, NextAction, Numbered, Page, Patch, Secret};

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

words! {
    /// Hand method word.
    pub enum HandMethodWord {
        Cash = "cash",
        Terminal = "terminal",
    }
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
