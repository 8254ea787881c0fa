// Written by generate.py from docs/openapi.json.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::*;
use crate::{Money, Secret};

/// Cart input.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct CartInput {
    /// Delivery subtype. Without it, the delivery price is that of the type alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery_subtype_id: Option<i64>,
    /// Delivery type that the cart is calculated with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery_type_id: Option<i64>,
    /// Products and quantities of the cart.
    pub products: Vec<ProductLine>,
    /// Promo code of the customer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub promo_code: Option<String>,
}

/// Contact form.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ContactForm {
    /// Delivery address for the courier.
    pub address: String,
    pub first_name: String,
    pub last_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub middle_name: Option<String>,
    /// Payment type used on receipt of the order.
    pub payment_type_id: i64,
    /// Phone of the customer.
    pub phone: String,
    /// Products and quantities of the order.
    pub products: Vec<ProductLine>,
}

/// New order.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct NewOrder {
    /// Required if `delivery_subtype_id` is 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Required if `delivery_type_id` is 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery_subtype_id: Option<i64>,
    /// Required if `delivery_subtype_id` is 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery_subtype_param_id: Option<i64>,
    pub delivery_type_id: i64,
    /// Payment method for online payment. Without it, no online payment is created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment_method_type: Option<PaymentMethodType>,
    /// Payment type of the order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment_type_id: Option<i64>,
    /// Products and quantities of the order.
    pub products: Vec<ProductLine>,
    /// Promo code of the customer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub promo_code: Option<String>,
    /// Required if `delivery_type_id` is 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shop_id: Option<i64>,
}

/// Order as shown to its customer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OwnOrder {
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
    /// Content of the ticket code, for orders with tickets. `null` unless the order is paid and its tickets are not
    /// refunded.
    pub redeem_token: Option<Secret>,
}

/// Own order list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OwnOrderList {
    pub orders: Vec<OwnOrder>,
    #[serde(rename = "ordersCount")]
    pub orders_count: i64,
}

/// Own order response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OwnOrderResponse {
    pub order: OwnOrder,
}
