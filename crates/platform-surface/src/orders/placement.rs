//! Orders that staff place for customers.

use actix_web::http::StatusCode;
use actix_web::post;
use actix_web::web::Json;
use deserr::Deserr;
use kontor_orders::model::DeliveryRequest;
use kontor_orders::{OrderCommand, PlacedOutcome, PlacementService, StaffOrderCommand};
use utoipa::ToSchema;

use super::OrderResponse;
use kontor_web::envelope::{Answer, answer};
use kontor_web::order_record::{CartRecord, ProductLine, Products, delivery_choice};
use kontor_web::wire::{self, InputErrors};
use kontor_web::{ApiError, Body, Service, SignedInStaff};

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct StaffOrderInput {
    /// Customer of the order.
    counterparty_id: wire::CounterpartyId,
    /// Application of the order; its warehouses are used. Without it, the order belongs to the project and all
    /// warehouses are used. Customers see only orders of applications.
    #[deserr(default)]
    application_id: Option<wire::ApplicationId>,
    /// Employee responsible for the order.
    #[deserr(default)]
    manager_id: Option<wire::UserId>,
    #[deserr(default)]
    comment: Option<wire::Prose>,
    delivery_type_id: wire::DeliveryTypeId,
    /// Required if `delivery_type_id` is 2.
    #[deserr(default)]
    delivery_subtype_id: Option<wire::DeliverySubtypeId>,
    /// Required if `delivery_subtype_id` is 1.
    #[deserr(default)]
    delivery_subtype_param_id: Option<wire::DeliverySubtypeParamId>,
    /// Required if `delivery_type_id` is 1.
    #[deserr(default)]
    shop_id: Option<wire::ShopId>,
    /// Required if `delivery_subtype_id` is 2.
    #[deserr(default)]
    address: Option<wire::Line500>,
    #[deserr(default)]
    payment_type_id: Option<wire::PaymentTypeId>,
    /// Creates a `payment_link` for the customer. Without it, no online payment is created.
    #[deserr(default)]
    payment_method_type: Option<wire::PaymentMethodType>,
    #[deserr(default)]
    promo_code: Option<wire::PromoCode>,
    /// Items and quantities of the order.
    #[schema(value_type = Vec<ProductLine>)]
    products: Products,
}

impl From<StaffOrderInput> for StaffOrderCommand {
    fn from(input: StaffOrderInput) -> Self {
        let delivery = DeliveryRequest {
            type_id: input.delivery_type_id.0,
            subtype_id: input.delivery_subtype_id.map(|id| id.0),
            subtype_param_id: input.delivery_subtype_param_id.map(|id| id.0),
            shop_id: input.shop_id.map(|id| id.0),
            address: input.address.map(|address| address.0),
            payment_type_id: input.payment_type_id.map(|id| id.0),
        };
        Self {
            application_id: input.application_id.map(|id| id.0),
            counterparty_id: input.counterparty_id.0,
            manager_id: input.manager_id.map(|id| id.0),
            comment: input.comment.map(|comment| comment.0),
            order: OrderCommand {
                cart: input.products.0,
                promo_code: input.promo_code.map(|code| code.0),
                delivery,
                payment_method: input.payment_method_type.map(|method| method.0),
            },
        }
    }
}

/// Create an order for a customer
///
/// The order is priced and reserved like an order placed by the customer.
#[utoipa::path(
    tag = "Orders",
    request_body = StaffOrderInput,
    responses(
        (status = 201, body = OrderResponse),
        (status = 202, body = OrderResponse, description = "The payment outcome is not known yet."),
        (status = 502, description = "The acquirer declined the payment, and the order is canceled."),
    ),
)]
#[post("/api/orders")]
pub(super) async fn create_order(
    staff: SignedInStaff,
    service: Service<PlacementService>,
    body: Body<StaffOrderInput>,
) -> Result<(Json<OrderResponse>, StatusCode), ApiError> {
    let command = StaffOrderCommand::from(body.0);
    let (order, status) = match service.place_by_staff(&staff, &command).await? {
        PlacedOutcome::Ready(order) => (order, StatusCode::CREATED),
        PlacedOutcome::PaymentOutcomeUnknown(order) => (order, StatusCode::ACCEPTED),
    };
    Ok((Json(order.into()), status))
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct StaffCartInput {
    /// Application of the order. Without it, all warehouses of the project are used.
    #[deserr(default)]
    application_id: Option<wire::ApplicationId>,
    /// Customer whose uses of the promo code are counted.
    #[deserr(default)]
    counterparty_id: Option<wire::CounterpartyId>,
    /// Items and quantities of the cart.
    #[schema(value_type = Vec<ProductLine>)]
    products: Products,
    #[deserr(default)]
    promo_code: Option<wire::PromoCode>,
    /// Delivery type that the cart is calculated with.
    #[deserr(default)]
    delivery_type_id: Option<wire::DeliveryTypeId>,
    /// Delivery subtype. Without it, the delivery price is that of the type alone.
    #[deserr(default)]
    delivery_subtype_id: Option<wire::DeliverySubtypeId>,
}

/// Calculate an order
///
/// Nothing is stored. A promo code that cannot be used is not an error: `discount_error` contains the reason.
#[utoipa::path(tag = "Orders", request_body = StaffCartInput, responses((status = 200, body = CartRecord)))]
#[post("/api/orders/calculator")]
pub(super) async fn calculate_order(
    staff: SignedInStaff,
    service: Service<PlacementService>,
    body: Body<StaffCartInput>,
) -> Answer<CartRecord> {
    let Body(input) = body;
    let (application, customer) = (input.application_id.map(|id| id.0), input.counterparty_id.map(|id| id.0));
    let promo = input.promo_code.map(|code| code.0);
    let choice = delivery_choice(input.delivery_type_id, input.delivery_subtype_id)?;
    let view = service.calculate(&staff, application, customer, &input.products.0, promo, choice).await?;
    answer(view)
}
