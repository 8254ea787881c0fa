//! Wire form of a calculated cart, shared by both surfaces.

use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use kontor_kernel::Violations;
use kontor_orders::model::{Cart, CartLine, DeliveryChoice, Discount, PromoProblem};
use kontor_orders::{CartError, CartView, CartViewLine};
use serde::Serialize;
use utoipa::ToSchema;

use super::ApiError;
use super::order_record::number;
use super::wire::{self, InputErrors};

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
