//! Calculation of a cart.

use actix_web::web::Data;
use actix_web::{HttpRequest, post};
use deserr::Deserr;
use kontor_orders::PlacementService;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use kontor_web::cart_record::{CartRecord, ProductLine, Products, delivery_choice};
use kontor_web::envelope::{Answer, answer};
use kontor_web::limits::PRECALCULATE;
use kontor_web::wire::{self, InputErrors};
use kontor_web::{Body, CallingVisitor, ClientIp, Service, Throttle};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(calculate_cart);
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct CartInput {
    /// Products and quantities of the cart.
    #[schema(value_type = Vec<ProductLine>)]
    products: Products,
    /// Promo code of the customer.
    #[deserr(default)]
    promo_code: Option<wire::PromoCode>,
    /// Delivery type that the cart is calculated with.
    #[deserr(default)]
    delivery_type_id: Option<wire::DeliveryTypeId>,
    /// Delivery subtype. Without it, the delivery price is that of the type alone.
    #[deserr(default)]
    delivery_subtype_id: Option<wire::DeliverySubtypeId>,
}

/// Calculate a cart
///
/// Nothing is stored. With a customer token, the per-customer limit of the promo code is checked. A promo code that
/// cannot be used is not an error: `discount_error` contains the reason.
#[utoipa::path(
    tag = "Client: orders",
    request_body = CartInput,
    responses(
        (status = 200, body = CartRecord),
        (status = 429, description = "Too many calculations. Retry after `Retry-After` seconds."),
    ),
)]
#[post("/api/counterparty/orders/precalculate")]
async fn calculate_cart(
    request: HttpRequest,
    visitor: CallingVisitor,
    ip: ClientIp,
    throttle: Data<Throttle>,
    service: Service<PlacementService>,
    body: Body<CartInput>,
) -> Answer<CartRecord> {
    let subject = format!("{}|{}", visitor.app.application_id, ip.subject());
    throttle.hit(&request, &[(PRECALCULATE, &subject)]).await?;
    let Body(input) = body;
    let (promo, choice) =
        (input.promo_code.map(|code| code.0), delivery_choice(input.delivery_type_id, input.delivery_subtype_id)?);
    let view = service.precalculate(*visitor, &input.products.0, promo, choice).await?;
    answer(view)
}
