//! Orders of customers: the calculated cart, placement with a login or by the contact form, and reading.

use std::borrow::Cow;

use actix_web::http::StatusCode;
use actix_web::web::{Data, Json, Path};
use actix_web::{HttpRequest, get, post};
use deserr::Deserr;
use kontor_kernel::ExposeSecret as _;
use kontor_orders::change::ContactPerson;
use kontor_orders::model::{DeliveryRequest, Order};
use kontor_orders::tickets::TicketService;
use kontor_orders::{ContactOrderCommand, OrderCommand, OrderService, PlacedOutcome, PlacementService};
use kontor_web::cart_record::{CartRecord, ProductLine, Products, delivery_choice};
use kontor_web::envelope::{Answer, Created, answer, created, list, one};
use kontor_web::limits::{CONTACT_FORM_IP, CONTACT_FORM_PHONE, PRECALCULATE};
use kontor_web::order_record::OrderRecord;
use kontor_web::wire::{self, In, InputErrors, Scalar, WireValue};
use kontor_web::{
    ApiError, Body, CallingApp, CallingVisitor, ClientIp, PathId, Query, Service, SignedInCustomer, Throttle,
};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::ObjectBuilder;
use utoipa::openapi::schema::Type;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::queries::OwnListQuery;

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(calculate_cart).service(list_own_orders).service(place_order).service(show_own_order);
}

/// Field that must not be sent.
struct Prohibited;

impl WireValue for Prohibited {
    fn from_scalar(_: Scalar) -> Result<Self, String> {
        Err(Self::expected().into_owned())
    }

    fn expected() -> Cow<'static, str> {
        Cow::Borrowed("is prohibited")
    }

    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Prohibited")
    }

    fn schema() -> ObjectBuilder {
        ObjectBuilder::new().schema_type(Type::Null)
    }
}

type NotAccepted = In<Prohibited>;

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewOrder {
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
    /// Payment type of the order.
    #[deserr(default)]
    payment_type_id: Option<wire::PaymentTypeId>,
    /// Payment method for online payment. Without it, no online payment is created.
    #[deserr(default)]
    payment_method_type: Option<wire::PaymentMethodType>,
    /// Promo code of the customer.
    #[deserr(default)]
    promo_code: Option<wire::PromoCode>,
    /// Products and quantities of the order.
    #[schema(value_type = Vec<ProductLine>)]
    products: Products,
    #[deserr(default, rename = "phone")]
    #[schema(ignore)]
    _phone: Option<NotAccepted>,
    #[deserr(default, rename = "comment")]
    #[schema(ignore)]
    _comment: Option<NotAccepted>,
}

impl From<NewOrder> for OrderCommand {
    fn from(new: NewOrder) -> Self {
        Self {
            cart: new.products.0,
            promo_code: new.promo_code.map(|code| code.0),
            delivery: DeliveryRequest {
                type_id: new.delivery_type_id.0,
                subtype_id: new.delivery_subtype_id.map(|id| id.0),
                subtype_param_id: new.delivery_subtype_param_id.map(|id| id.0),
                shop_id: new.shop_id.map(|id| id.0),
                address: new.address.map(|address| address.0),
                payment_type_id: new.payment_type_id.map(|id| id.0),
            },
            payment_method: new.payment_method_type.map(|method| method.0),
        }
    }
}

/// Order as shown to its customer.
#[derive(Serialize, ToSchema)]
pub(super) struct OwnOrder {
    #[serde(flatten)]
    order: OrderRecord,
    /// Content of the ticket code, for orders with tickets. `null` unless the order is paid and its tickets are not
    /// refunded.
    redeem_token: Option<String>,
}

impl OwnOrder {
    /// Returns the order without the ticket token, for callers that are not verified as its customer.
    pub(super) fn without_token(order: &Order) -> Self {
        Self { order: order.into(), redeem_token: None }
    }
}

/// Customer of the shown orders, and the service that creates their ticket tokens.
struct Owner<'a> {
    customer: &'a SignedInCustomer,
    tickets: &'a TicketService,
}

impl Owner<'_> {
    fn shows(&self, order: &Order) -> OwnOrder {
        let token = self.tickets.token(**self.customer, order);
        OwnOrder { order: order.into(), redeem_token: token.map(|token| token.expose_secret().to_owned()) }
    }
}

one!(pub(super) OwnOrderResponse { order: OwnOrder });
list!(OwnOrderList { orders: [OwnOrder], orders_count of all });

/// List the customer's orders
///
/// Returns orders of the calling application, newest first. Without `page` and `per_page` these are the newest 500;
/// `ordersCount` counts all.
#[utoipa::path(tag = "Client: orders", params(OwnListQuery), responses((status = 200, body = OwnOrderList)))]
#[get("/api/counterparty/orders")]
async fn list_own_orders(
    customer: SignedInCustomer,
    service: Service<OrderService>,
    tickets: Service<TicketService>,
    query: Query<OwnListQuery>,
) -> Answer<OwnOrderList> {
    let owner = Owner { customer: &customer, tickets: &tickets };
    let orders = service.of_customer(*customer, query.0.page()?).await?;
    answer(orders.map(|order| owner.shows(&order)))
}

/// Place an order
///
/// With `payment_method_type`, an online payment is requested after the order is stored:
///
/// - If the acquirer rejects the payment, the order is canceled and the response is 502.
/// - If the outcome is unknown, the response is 202 and `payment_link` appears in the order later.
///
/// Orders with a promo code count toward the rate limit of cart calculations.
#[utoipa::path(
    tag = "Client: orders",
    request_body = NewOrder,
    responses(
        (status = 201, body = OwnOrderResponse),
        (status = 202, body = OwnOrderResponse, description = "The payment outcome is not known yet."),
        (status = 502, description = "The acquirer declined the payment, and the order is canceled."),
    ),
)]
#[post("/api/counterparty/orders")]
async fn place_order(
    request: HttpRequest,
    customer: SignedInCustomer,
    ip: ClientIp,
    throttle: Data<Throttle>,
    service: Service<PlacementService>,
    tickets: Service<TicketService>,
    body: Body<NewOrder>,
) -> Result<(Json<OwnOrderResponse>, StatusCode), ApiError> {
    let command = OrderCommand::from(body.0);
    if command.promo_code.is_some() {
        let subject = format!("{}|{}", customer.app.application_id, ip.subject());
        throttle.hit(&request, &[(PRECALCULATE, &subject)]).await?;
    }
    let (order, status) = match service.place(*customer, &command).await? {
        PlacedOutcome::Ready(order) => (order, StatusCode::CREATED),
        PlacedOutcome::PaymentOutcomeUnknown(order) => (order, StatusCode::ACCEPTED),
    };
    let owner = Owner { customer: &customer, tickets: &tickets };
    Ok((Json(owner.shows(&order).into()), status))
}

/// Get an order of the customer
#[utoipa::path(
    tag = "Client: orders",
    responses((status = 200, body = OwnOrderResponse), (status = 404, description = "Order not found.")),
)]
#[get("/api/counterparty/orders/{id}")]
async fn show_own_order(
    customer: SignedInCustomer,
    service: Service<OrderService>,
    tickets: Service<TicketService>,
    id: Path<PathId>,
) -> Answer<OwnOrderResponse> {
    let order = service.one_of_customer(*customer, id.parse()?).await?;
    answer(Owner { customer: &customer, tickets: &tickets }.shows(&order))
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

pub(super) fn contact_form_routes(config: &mut ServiceConfig<'_>) {
    config.service(place_order_by_contact_form);
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct ContactForm {
    first_name: wire::Name,
    last_name: wire::Name,
    #[deserr(default)]
    middle_name: Option<wire::Name>,
    /// Phone of the customer.
    phone: wire::Phone,
    /// Delivery address for the courier.
    address: wire::Line500,
    /// Payment type used on receipt of the order.
    payment_type_id: wire::PaymentTypeId,
    /// Products and quantities of the order.
    #[schema(value_type = Vec<ProductLine>)]
    products: Products,
}

impl From<ContactForm> for ContactOrderCommand {
    fn from(form: ContactForm) -> Self {
        Self {
            cart: form.products.0,
            person: ContactPerson {
                first_name: form.first_name.0,
                last_name: form.last_name.0,
                middle_name: form.middle_name.map(|name| name.0),
                phone: form.phone.0,
            },
            address: form.address.0,
            payment_type_id: form.payment_type_id.0,
        }
    }
}

/// Place an order without login
///
/// The order is delivered by courier. The customer is found by the phone, or created with the order; the response does
/// not reveal which. The data of an existing customer is not changed.
///
/// The unconfirmed orders of one phone are limited in units and in total price. Above a limit the response is 422 on
/// `products`. An order that no employee confirms is canceled after a limited time.
#[utoipa::path(
    tag = "Client: orders",
    request_body = ContactForm,
    responses(
        (status = 201, body = OwnOrderResponse),
        (status = 429, description = "Too many forms. Retry after `Retry-After` seconds."),
    ),
)]
#[post("/api/counterparty/contact_form")]
async fn place_order_by_contact_form(
    app: CallingApp,
    request: HttpRequest,
    ip: ClientIp,
    throttle: Data<Throttle>,
    service: Service<PlacementService>,
    body: Body<ContactForm>,
) -> Created<OwnOrderResponse> {
    let subject = format!("{}:{}", app.project_id, body.0.phone.0);
    throttle.hit(&request, &[(CONTACT_FORM_IP, ip.subject()), (CONTACT_FORM_PHONE, subject)]).await?;
    let command = ContactOrderCommand::from(body.0);
    let (PlacedOutcome::Ready(order) | PlacedOutcome::PaymentOutcomeUnknown(order)) =
        service.place_by_contact(*app, &command).await?;
    created(OwnOrder::without_token(&order))
}
