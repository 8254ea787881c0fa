//! Wire form of an order and of a calculated cart, shared by both surfaces.

use std::borrow::Cow;

use chrono::{DateTime, Utc};
use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use kontor_kernel::{Money, Violations, Word};
use kontor_orders::model::{
    Cart, CartLine, DeliveryChoice, DeliveryOptionRef, Discount, Order, OrderLine, OrderStatus, PaymentMethod,
    PaymentType, Place, PromoProblem,
};
use kontor_orders::{CartError, CartView, CartViewLine};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::ObjectBuilder;
use utoipa::openapi::schema::Type;

use super::ApiError;
use super::records::{Picture, picture};
use super::wire::{self, In, InputErrors, NamedRecord, Scalar, WireValue};

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

impl From<CartError> for ApiError {
    fn from(error: CartError) -> Self {
        match error {
            CartError::Denied(denied) => denied.into(),
            CartError::Missing(missing) => missing.into(),
            CartError::Refused(refused) => refused.violations().into(),
            CartError::Store(error) => error.into(),
        }
    }
}

/// Line of a cart.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
pub struct ProductLine {
    id: wire::NomenclatureId,
    quantity: wire::Quantity,
}

/// Field `products` of a body: an array of lines. Errors in it are reported together with those of the other fields.
pub struct Products(pub Cart);

impl Deserr<InputErrors> for Products {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, InputErrors> {
        let lines = Vec::<ProductLine>::deserialize_from_value(value, location)?;
        let lines = lines.into_iter().map(|line| CartLine { item: line.id.0, quantity: line.quantity.0 }).collect();
        Cart::new(lines).map(Self).map_err(|refused| refused.violations().into())
    }
}

/// Returns the delivery choice of a calculation.
pub fn delivery_choice(
    type_id: Option<wire::DeliveryTypeId>,
    subtype_id: Option<wire::DeliverySubtypeId>,
) -> Result<Option<DeliveryChoice>, Violations> {
    let subtype_id = subtype_id.map(|id| id.0);
    match type_id {
        Some(type_id) => Ok(Some(DeliveryChoice { type_id: type_id.0, subtype_id })),
        None if subtype_id.is_some() => {
            Err(Violations::single("delivery_type_id", "is required with delivery_subtype_id"))
        }
        None => Ok(None),
    }
}

#[derive(Serialize, ToSchema)]
struct AppliedDiscount {
    id: i64,
    code: Option<String>,
    name: String,
    /// `percent` or `fixed`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// Decimal string: percent or an amount.
    value: String,
}

impl From<Discount> for AppliedDiscount {
    fn from(discount: Discount) -> Self {
        let (kind, value) = (discount.value.kind(), discount.value.to_string());
        Self { id: discount.id.get(), code: discount.code, name: discount.name, kind, value }
    }
}

/// Reason why the promo code gives no discount.
#[derive(Serialize, ToSchema)]
pub struct DiscountError {
    /// `unknown`, `not_started`, `expired`, `paused`, `limit_reached`, `customer_limit`, `minimum_sum` or
    /// `not_applicable`.
    code: &'static str,
    message: String,
}

impl From<PromoProblem> for DiscountError {
    fn from(problem: PromoProblem) -> Self {
        Self { code: problem.code(), message: problem.to_string() }
    }
}

#[derive(Serialize, ToSchema)]
struct CartProduct {
    id: i64,
    /// Price of one unit before discounts, as a decimal string.
    price: String,
    quantity: u32,
    pieces_per_pack: u32,
    /// Number of packs in the quantity.
    quantity_pack: u32,
    wholesale: bool,
}

impl From<CartViewLine> for CartProduct {
    fn from(line: CartViewLine) -> Self {
        Self {
            id: line.item.get(),
            price: line.unit_price.to_string(),
            quantity: line.quantity.get(),
            pieces_per_pack: line.packaging.pieces_per_pack,
            quantity_pack: line.packaging.packs(line.quantity),
            wholesale: line.packaging.wholesale,
        }
    }
}

/// Calculated prices of a cart.
#[derive(Serialize, ToSchema)]
pub struct CartRecord {
    /// Decimal string, equal to `original_price`.
    price: String,
    /// Decimal string, equal to `total_discount_amount`.
    discount: String,
    /// Decimal string, equal to `final_price`.
    total: String,
    quantity_pack: u64,
    original_price: f64,
    product_discount_amount: f64,
    promo_discount_amount: f64,
    total_discount_amount: f64,
    final_price: f64,
    /// Delivery price; 0 without `delivery_type_id`, or if the project does not charge for delivery.
    delivery_price: f64,
    /// Amount to pay: `final_price` plus `delivery_price`.
    amount_due: f64,
    applied_discount: Option<AppliedDiscount>,
    discount_error: Option<DiscountError>,
    products: Vec<CartProduct>,
}

impl From<CartView> for CartRecord {
    fn from(view: CartView) -> Self {
        let (quantity_pack, amount_due) = (view.packs(), view.amount_due());
        let pricing = view.pricing;
        Self {
            price: pricing.original_price().to_string(),
            discount: pricing.total_discount().to_string(),
            total: pricing.final_price().to_string(),
            quantity_pack,
            original_price: number(pricing.original_price()),
            product_discount_amount: number(pricing.product_discount()),
            promo_discount_amount: number(pricing.promo_discount()),
            total_discount_amount: number(pricing.total_discount()),
            final_price: number(pricing.final_price()),
            delivery_price: number(view.delivery_price),
            amount_due: number(amount_due),
            applied_discount: pricing.applied.map(Into::into),
            discount_error: pricing.promo_problem.map(Into::into),
            products: view.lines.into_iter().map(Into::into).collect(),
        }
    }
}
