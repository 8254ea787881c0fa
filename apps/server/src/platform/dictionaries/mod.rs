//! System-wide dictionaries, and what else staff choose from.

mod items;
mod places;
mod settings;
mod units;

use actix_web::get;
use actix_web::web::{Data, Json};
use kontor_organization::{DictionaryError, DictionaryService};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::http::delivery_option::DeliveryOptionRecord;
use crate::http::routes::below;
use crate::http::{ApiError, SignedInStaff};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    items::routes(config);
    below(config, "/api/storage_units", units::routes);
    below(config, "/api/settings", settings::routes);
    config.service(places::list_countries).service(list_delivery_types);
}

impl From<DictionaryError> for ApiError {
    fn from(error: DictionaryError) -> Self {
        match error {
            DictionaryError::Denied(denied) => denied.into(),
            DictionaryError::NotFound => Self::not_found(),
            DictionaryError::Store(error) => error.into(),
        }
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct StaffDeliveryTypeList {
    delivery_types: Vec<DeliveryOptionRecord>,
    delivery_types_count: usize,
}

/// The delivery types of the project.
#[utoipa::path(tag = "Dictionaries", responses((status = 200, body = StaffDeliveryTypeList)))]
#[get("/api/delivery_types")]
async fn list_delivery_types(
    staff: SignedInStaff,
    service: Data<DictionaryService>,
) -> Result<Json<StaffDeliveryTypeList>, ApiError> {
    let types: Vec<DeliveryOptionRecord> = service.delivery_types(&staff).await?.into_iter().map(Into::into).collect();
    Ok(Json(StaffDeliveryTypeList { delivery_types_count: types.len(), delivery_types: types }))
}
