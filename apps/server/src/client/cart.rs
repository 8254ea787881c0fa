//! What a cart costs.

use actix_web::web::{Data, Json};
use actix_web::{HttpRequest, post};
use deserr::Deserr;
use kontor_orders::model::{Cart, CartLine, CartRefused, Discount, PromoProblem};
use kontor_orders::{CartError, CartView, CartViewLine, PlacementService};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::http::limits::PRECALCULATE;
use crate::http::order_record::number;
use crate::http::wire::{self, InputErrors};
use crate::http::{ApiError, Body, CallingApp, ClientIp, Throttle};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(precalculate);
}

impl From<CartError> for ApiError {
    fn from(error: CartError) -> Self {
        match error {
            CartError::Refused(refused) => refused.violations().into(),
            CartError::Store(error) => error.into(),
        }
    }
}

/// One line of a cart.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
pub(super) struct ProductLine {
    id: wire::NomenclatureId,
    quantity: wire::Quantity,
}

/// The lines as a cart.
pub(super) fn cart(lines: &[ProductLine]) -> Result<Cart, CartRefused> {
    Cart::new(lines.iter().map(|line| CartLine { item: line.id.0, quantity: line.quantity.0 }).collect())
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct CartInput {
    products: Vec<ProductLine>,
    #[deserr(default)]
    promo_code: Option<wire::PromoCode>,
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

/// Why the promo code takes nothing off.
#[derive(Serialize, ToSchema)]
struct DiscountError {
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
    /// Decimal string: one piece before discounts.
    price: String,
    quantity: u32,
    pieces_per_pack: u32,
    /// How many packs the quantity makes up.
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

#[derive(Serialize, ToSchema)]
struct CartRecord {
    /// Decimal string, as `original_price`.
    price: String,
    /// Decimal string, as `total_discount_amount`.
    discount: String,
    /// Decimal string, as `final_price`.
    total: String,
    quantity_pack: u64,
    original_price: f64,
    product_discount_amount: f64,
    promo_discount_amount: f64,
    total_discount_amount: f64,
    final_price: f64,
    applied_discount: Option<AppliedDiscount>,
    discount_error: Option<DiscountError>,
    products: Vec<CartProduct>,
}

impl From<CartView> for CartRecord {
    fn from(view: CartView) -> Self {
        let quantity_pack = view.packs();
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
            applied_discount: pricing.applied.map(Into::into),
            discount_error: pricing.promo_problem.map(Into::into),
            products: view.lines.into_iter().map(Into::into).collect(),
        }
    }
}

/// What a cart costs. A promo code that cannot be used does not fail.
#[utoipa::path(
    tag = "Client: orders",
    request_body = CartInput,
    responses(
        (status = 200, body = CartRecord),
        (status = 429, description = "Too many calculations; `Retry-After` says when to try again."),
    ),
)]
#[post("/api/counterparty/orders/precalculate")]
async fn precalculate(
    request: HttpRequest,
    app: CallingApp,
    ip: ClientIp,
    throttle: Data<Throttle>,
    service: Data<PlacementService>,
    body: Body<CartInput>,
) -> Result<Json<CartRecord>, ApiError> {
    let subject = format!("{}|{}", app.application_id, ip.subject());
    throttle.hit(&request, &[(PRECALCULATE, &subject)]).await?;
    let Body(input) = body;
    let cart = cart(&input.products).map_err(CartError::from)?;
    let view = service.precalculate(*app, &cart, input.promo_code.map(|code| code.0)).await?;
    Ok(Json(view.into()))
}
