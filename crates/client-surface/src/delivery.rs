//! Options of the checkout: delivery types, addresses found by text, and payment types.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, get, post};
use kontor_organization::model::{DeliverySubtypeParam, PaymentType};
use kontor_organization::{CheckoutOptions, SuggestionService};
use kontor_web::envelope::{Answer, answer, list, one};
use kontor_web::limits::SUGGEST_ADDRESS;
use kontor_web::named::NamedErrorBody;
use kontor_web::records::{DeliveryOptionRecord, Picture, picture};
use kontor_web::suggestions::{AddressList, SuggestionInput};
use kontor_web::{Body, CallingApp, ClientIp, PathId, Service, Throttle, TwoIds};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config
        .service(list_delivery_types)
        .service(show_delivery_type)
        .service(list_delivery_subtypes)
        .service(show_delivery_subtype)
        .service(list_delivery_subtype_params);
}

#[derive(Serialize, ToSchema)]
struct DeliveryParamRecord {
    id: i64,
    name: String,
    address: Option<String>,
    /// `1` if active, otherwise `0`.
    is_active: u8,
}

impl From<DeliverySubtypeParam> for DeliveryParamRecord {
    fn from(param: DeliverySubtypeParam) -> Self {
        Self { id: param.id.get(), name: param.name.into(), address: param.address, is_active: param.is_active.into() }
    }
}

list!(DeliveryTypeList { delivery_types: [DeliveryOptionRecord], delivery_types_count });
one!(DeliveryTypeResponse { delivery_type: DeliveryOptionRecord });
list!(DeliverySubtypeList { delivery_subtypes: [DeliveryOptionRecord], delivery_subtypes_count });
one!(DeliverySubtypeResponse { delivery_subtype: DeliveryOptionRecord });
list!(DeliveryParamList { delivery_subtype_params: [DeliveryParamRecord] });

/// List delivery types
///
/// Includes inactive types. Show only those with `is_active` = `1`.
#[utoipa::path(tag = "Client: dictionaries", responses((status = 200, body = DeliveryTypeList)))]
#[get("/api/counterparty/delivery_types")]
async fn list_delivery_types(app: CallingApp, options: Service<CheckoutOptions>) -> Answer<DeliveryTypeList> {
    answer(options.delivery_types(*app).await?)
}

/// Get a delivery type
#[utoipa::path(tag = "Client: dictionaries", responses((status = 200, body = DeliveryTypeResponse)))]
#[get("/api/counterparty/delivery_types/{type_id}")]
async fn show_delivery_type(
    app: CallingApp,
    options: Service<CheckoutOptions>,
    type_id: Path<PathId>,
) -> Answer<DeliveryTypeResponse> {
    answer(options.delivery_type(*app, type_id.parse()?).await?)
}

/// List the subtypes of a delivery type
#[utoipa::path(tag = "Client: dictionaries", responses((status = 200, body = DeliverySubtypeList)))]
#[get("/api/counterparty/delivery_types/{type_id}/subtypes")]
async fn list_delivery_subtypes(
    app: CallingApp,
    options: Service<CheckoutOptions>,
    type_id: Path<PathId>,
) -> Answer<DeliverySubtypeList> {
    answer(options.subtypes(*app, type_id.parse()?).await?)
}

/// Get a delivery subtype
///
/// The subtype is not checked against the type in the path. Use ids from the subtype list.
#[utoipa::path(tag = "Client: dictionaries", responses((status = 200, body = DeliverySubtypeResponse)))]
#[get("/api/counterparty/delivery_types/{type_id}/subtypes/{subtype_id}")]
async fn show_delivery_subtype(
    app: CallingApp,
    options: Service<CheckoutOptions>,
    path: TwoIds,
) -> Answer<DeliverySubtypeResponse> {
    answer(options.subtype(*app, path.1.parse()?).await?)
}

/// List the options of a delivery subtype
///
/// Options are, for example, pickup points.
#[utoipa::path(tag = "Client: dictionaries", responses((status = 200, body = DeliveryParamList)))]
#[get("/api/counterparty/delivery_types/{type_id}/subtypes/{subtype_id}/params")]
async fn list_delivery_subtype_params(
    app: CallingApp,
    options: Service<CheckoutOptions>,
    path: TwoIds,
) -> Answer<DeliveryParamList> {
    answer(options.params(*app, path.1.parse()?).await?)
}

/// Search addresses
///
/// Returns suggestions only. Customers may enter any other address.
#[utoipa::path(
    tag = "Client: dictionaries",
    request_body = SuggestionInput,
    responses(
        (status = 200, body = AddressList),
        (status = 429, description = "Too many requests. Retry after `Retry-After` seconds."),
        (status = 503, description = "`suggestions_unavailable` or `suggestions_not_configured`", body = NamedErrorBody),
    ),
)]
#[post("/api/counterparty/search_address")]
async fn search_address(
    request: HttpRequest,
    app: CallingApp,
    ip: ClientIp,
    throttle: Data<Throttle>,
    suggestions: Data<SuggestionService>,
    body: Body<SuggestionInput>,
) -> Answer<AddressList> {
    throttle.hit(&request, &[(SUGGEST_ADDRESS, &format!("{}|{}", app.application_id, ip.subject()))]).await?;
    answer(suggestions.addresses(body.0.query.0).await?)
}

pub(super) fn checkout_routes(config: &mut ServiceConfig<'_>) {
    config.service(list_payment_types).service(search_address);
}

#[derive(Serialize, ToSchema)]
pub(super) struct PaymentTypeRecord {
    id: i64,
    photo: Option<Picture>,
    name: String,
    description: Option<String>,
    /// `true` if the order is paid online. Orders with this type require `payment_method_type`; the contact form does
    /// not accept it.
    is_online: bool,
}

impl From<PaymentType> for PaymentTypeRecord {
    fn from(kind: PaymentType) -> Self {
        Self {
            id: kind.id.get(),
            photo: picture(kind.photo),
            name: kind.name.into(),
            description: kind.description,
            is_online: kind.is_online,
        }
    }
}

list!(PaymentTypeList { payment_types: [PaymentTypeRecord], payment_types_count });

/// List payment types
///
/// Returns the payment types that the application accepts.
#[utoipa::path(tag = "Client: dictionaries", responses((status = 200, body = PaymentTypeList)))]
#[get("/api/counterparty/payment_types")]
async fn list_payment_types(app: CallingApp, options: Service<CheckoutOptions>) -> Answer<PaymentTypeList> {
    answer(options.payment_types(*app).await?)
}
