// Written by generate.py from docs/openapi.json.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::*;
use crate::{Money, Numbered, Secret};

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

/// Extent of a logout.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Logout {
    /// `true` ends all sessions of the customer or employee. By default only the token of the request is revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_all_devices: Option<bool>,
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

/// Unit of quantities, such as pieces.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StorageUnitRecord {
    pub abbreviation: String,
    pub id: i64,
    pub name: String,
}
