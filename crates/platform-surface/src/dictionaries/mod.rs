//! System-wide dictionaries, and other lists that staff select from.

mod countries;
mod items;
mod settings;
mod units;

use actix_web::get;
use actix_web::web::Data;
use kontor_organization::DictionaryService;
use utoipa_actix_web::service_config::ServiceConfig;

use kontor_web::SignedInStaff;
use kontor_web::delivery_option::DeliveryOptionRecord;
use kontor_web::envelope::{Answer, answer, list};
use kontor_web::routes::below;

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    items::routes(config);
    below(config, "/api/storage_units", units::routes);
    below(config, "/api/settings", settings::routes);
    config.service(countries::list_countries).service(list_delivery_types);
}

list!(StaffDeliveryTypeList { delivery_types: [DeliveryOptionRecord], delivery_types_count });

/// List delivery types
///
/// Returns the delivery types of the project.
#[utoipa::path(tag = "Dictionaries", responses((status = 200, body = StaffDeliveryTypeList)))]
#[get("/api/delivery_types")]
async fn list_delivery_types(staff: SignedInStaff, service: Data<DictionaryService>) -> Answer<StaffDeliveryTypeList> {
    answer(service.delivery_types(&staff).await?)
}
