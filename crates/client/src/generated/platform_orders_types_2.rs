// Written by generate.py from docs/openapi.json.

use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Serialize};

use super::*;
use crate::{Money, Numbered, Page};

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
