//! Wire form of an order, shared by both surfaces.

use std::borrow::Cow;

use chrono::{DateTime, Utc};
use kontor_kernel::{Money, Word};
use kontor_orders::model::{DeliveryOptionRef, Order, OrderLine, OrderStatus, PaymentMethod, PaymentType, Place};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::ObjectBuilder;
use utoipa::openapi::schema::Type;

use super::records::{Picture, picture};
use super::wire::{In, NamedRecord, Scalar, WireValue};

/// Converts an amount to a JSON number of major units. Two decimals survive the conversion to a double.
pub fn number(amount: Money) -> f64 {
    amount.to_string().parse().unwrap_or_default()
}

impl WireValue for OrderStatus {
    fn from_scalar(scalar: Scalar) -> Result<Self, String> {
        let id = i64::from_scalar(scalar)?;
        Self::from_id(id).ok_or_else(|| "order status not found".to_owned())
    }

    fn expected() -> Cow<'static, str> {
        Cow::Borrowed("must be the id of an order status")
    }

    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("OrderStatusId")
    }

    fn schema() -> ObjectBuilder {
        let ids = Self::ALL.iter().map(|status| status.id().to_string()).collect::<Vec<_>>().join(", ");
        ObjectBuilder::new().schema_type(Type::Integer).description(Some(format!("One of {ids}.")))
    }
}

/// Identifier of an order status.
pub type OrderStatusId = In<OrderStatus>;

/// Delivery type or subtype of an order.
#[derive(Serialize, ToSchema)]
pub struct OrderDeliveryRecord {
    id: i64,
    name: String,
    /// Current price as a decimal string. `delivery_price` of the order is the price at the time of the order.
    price: String,
    /// `1` or `0`.
    is_active: u8,
}

impl<Id: Into<i64>> From<DeliveryOptionRef<Id>> for OrderDeliveryRecord {
    fn from(way: DeliveryOptionRef<Id>) -> Self {
        Self { id: way.id.into(), name: way.name, price: way.price.to_string(), is_active: way.is_active.into() }
    }
}

/// Shop or pickup point of an order.
#[derive(Serialize, ToSchema)]
pub struct OrderPlaceRecord {
    id: i64,
    name: String,
    address: Option<String>,
}

impl<Id: Into<i64>> From<Place<Id>> for OrderPlaceRecord {
    fn from(place: Place<Id>) -> Self {
        Self { id: place.id.into(), name: place.name, address: place.address }
    }
}

/// Payment type of an order.
#[derive(Serialize, ToSchema)]
pub struct OrderPaymentTypeRecord {
    id: i64,
    photo: Option<Picture>,
    name: String,
    description: Option<String>,
}

impl From<PaymentType> for OrderPaymentTypeRecord {
    fn from(kind: PaymentType) -> Self {
        Self { id: kind.id.get(), photo: picture(kind.photo), name: kind.name, description: kind.description }
    }
}

/// Item of an order.
#[derive(Serialize, ToSchema)]
pub struct OrderProductRecord {
    id: i64,
    name: String,
    /// Price of one unit before discounts, as a decimal string.
    price: String,
    quantity: u32,
    photos: Vec<Picture>,
}

/// Merges order lines: an item from several warehouses appears once for each price.
fn products(lines: &[OrderLine]) -> Vec<OrderProductRecord> {
    let mut products: Vec<OrderProductRecord> = Vec::with_capacity(lines.len());
    for line in lines {
        let (id, price) = (line.item.id.get(), line.unit_price.to_string());
        match products.iter_mut().find(|product| product.id == id && product.price == price) {
            Some(product) => product.quantity = product.quantity.saturating_add(line.quantity.get()),
            None => products.push(OrderProductRecord {
                id,
                name: line.item.name.clone(),
                price,
                quantity: line.quantity.get(),
                photos: line.photos.iter().map(|url| Picture { url: url.clone() }).collect(),
            }),
        }
    }
    products
}

/// Fields of an order that both surfaces show.
#[derive(Serialize, ToSchema)]
pub struct OrderRecord {
    id: i64,
    status: NamedRecord,
    /// Decimal string, equal to `final_price`.
    price: String,
    promo_code: Option<String>,
    original_price: f64,
    product_discount_amount: f64,
    promo_discount_amount: f64,
    total_discount_amount: f64,
    /// Price of the products.
    final_price: f64,
    /// Delivery price; 0 unless the project charges for delivery.
    delivery_price: f64,
    /// Amount to pay: `final_price` plus `delivery_price`.
    amount_due: f64,
    delivery_type: OrderDeliveryRecord,
    delivery_subtype: Option<OrderDeliveryRecord>,
    delivery_subtype_param: Option<OrderPlaceRecord>,
    payment_type: Option<OrderPaymentTypeRecord>,
    acquirer_payment_method_type: Option<&'static str>,
    /// Address of the handover.
    address: String,
    shop: Option<OrderPlaceRecord>,
    products: Vec<OrderProductRecord>,
    /// URL of the payment page, while the order can be paid.
    payment_link: Option<String>,
    created_at: DateTime<Utc>,
    /// Number of redeemed tickets.
    redeemed_count: u32,
    /// Number of tickets, without those that were returned.
    total_tickets: u32,
    last_redeemed_at: Option<DateTime<Utc>>,
}

impl From<&Order> for OrderRecord {
    fn from(order: &Order) -> Self {
        Self {
            id: order.id.get(),
            status: NamedRecord::new(order.status.id(), &order.status_name),
            price: order.final_price.to_string(),
            promo_code: order.promo_code.clone(),
            original_price: number(order.original_price),
            product_discount_amount: number(order.product_discount),
            promo_discount_amount: number(order.promo_discount),
            total_discount_amount: number(order.total_discount()),
            final_price: number(order.final_price),
            delivery_price: number(order.delivery_charge.price),
            amount_due: number(order.amount_due()),
            delivery_type: order.delivery_type.clone().into(),
            delivery_subtype: order.delivery_subtype.clone().map(Into::into),
            delivery_subtype_param: order.delivery_subtype_param.clone().map(Into::into),
            payment_type: order.payment_type.clone().map(Into::into),
            acquirer_payment_method_type: order.payment_method.map(PaymentMethod::word),
            address: order.address.clone().unwrap_or_default(),
            shop: order.shop.clone().map(Into::into),
            products: products(&order.lines),
            payment_link: order.payment_link.clone(),
            created_at: order.created_at,
            redeemed_count: order.tickets.redeemed,
            total_tickets: order.tickets.total,
            last_redeemed_at: order.tickets.last_redeemed_at,
        }
    }
}
