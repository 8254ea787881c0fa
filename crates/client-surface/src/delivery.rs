//! Delivery options of an order.

use actix_web::get;
use actix_web::web::Path;
use kontor_organization::CheckoutOptions;
use kontor_organization::model::DeliverySubtypeParam;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use kontor_web::envelope::{Answer, answer, list, one};
use kontor_web::records::DeliveryOptionRecord;
use kontor_web::{CallingApp, PathId, Service, TwoIds};

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
