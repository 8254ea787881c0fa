//! What a cart costs.

use actix_web::web::{Data, Json};
use actix_web::{HttpRequest, post};
use deserr::Deserr;
use kontor_orders::PlacementService;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::http::cart_record::{CartRecord, ProductLine, Products, delivery_choice};
use crate::http::limits::PRECALCULATE;
use crate::http::wire::{self, InputErrors};
use crate::http::{ApiError, Body, CallingVisitor, ClientIp, Throttle};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(precalculate);
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct CartInput {
    #[schema(value_type = Vec<ProductLine>)]
    products: Products,
    #[deserr(default)]
    promo_code: Option<wire::PromoCode>,
    /// With which delivery it is calculated.
    #[deserr(default)]
    delivery_type_id: Option<wire::DeliveryTypeId>,
    /// Without it the price is that of the delivery type alone.
    #[deserr(default)]
    delivery_subtype_id: Option<wire::DeliverySubtypeId>,
}

/// Calculates a cart. With a customer token the limit of uses per customer counts. A promo code that cannot be used is no
/// error: `discount_error` says why.
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
    visitor: CallingVisitor,
    ip: ClientIp,
    throttle: Data<Throttle>,
    service: Data<PlacementService>,
    body: Body<CartInput>,
) -> Result<Json<CartRecord>, ApiError> {
    let subject = format!("{}|{}", visitor.app.application_id, ip.subject());
    throttle.hit(&request, &[(PRECALCULATE, &subject)]).await?;
    let Body(input) = body;
    let (promo, choice) =
        (input.promo_code.map(|code| code.0), delivery_choice(input.delivery_type_id, input.delivery_subtype_id)?);
    let view = service.precalculate(*visitor, &input.products.0, promo, choice).await?;
    Ok(Json(view.into()))
}
