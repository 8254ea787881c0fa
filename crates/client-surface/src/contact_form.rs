//! Orders of customers who are not logged in.

use actix_web::web::Data;
use actix_web::{HttpRequest, post};
use deserr::Deserr;
use kontor_orders::change::ContactPerson;
use kontor_orders::{ContactOrderCommand, PlacedOutcome, PlacementService};
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use super::orders::{OwnOrder, OwnOrderResponse};
use kontor_web::cart_record::{ProductLine, Products};
use kontor_web::envelope::{Created, created};
use kontor_web::limits::{CONTACT_FORM_IP, CONTACT_FORM_PHONE};
use kontor_web::wire::{self, InputErrors};
use kontor_web::{Body, CallingApp, ClientIp, Service, Throttle};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
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
