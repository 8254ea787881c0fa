//! System-wide dictionaries, and other lists that staff select from.

mod items;
mod settings;

use actix_web::get;
use actix_web::web::{Data, Path};
use chrono::{DateTime, Utc};
use kontor_organization::DictionaryService;
use kontor_organization::model::Country;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use kontor_web::delivery_option::DeliveryOptionRecord;
use kontor_web::envelope::{Answer, answer, list, one};
use kontor_web::records::{Picture, StorageUnitRecord, picture};
use kontor_web::routes::below;
use kontor_web::{PathId, SignedInStaff};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    items::routes(config);
    below(config, "/api/storage_units", |config| {
        config.service(list_storage_units).service(show_storage_unit);
    });
    below(config, "/api/settings", settings::routes);
    config.service(list_countries).service(list_delivery_types);
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

#[derive(Serialize, ToSchema)]
struct StaffCountryRecord {
    id: i64,
    name: String,
    photo: Option<Picture>,
    created_at: DateTime<Utc>,
}

impl From<Country> for StaffCountryRecord {
    fn from(country: Country) -> Self {
        let Country { id, name, photo, created_at } = country;
        Self { id: id.get(), name: name.into(), photo: picture(photo), created_at }
    }
}

list!(StaffCountryList { countries: [StaffCountryRecord], countries_count });

/// List countries
///
/// Returns the countries of origin of goods.
#[utoipa::path(tag = "Dictionaries", responses((status = 200, body = StaffCountryList)))]
#[get("/api/countries")]
async fn list_countries(staff: SignedInStaff, service: Data<DictionaryService>) -> Answer<StaffCountryList> {
    answer(service.countries(&staff).await?)
}

list!(StorageUnitList { units: [StorageUnitRecord], units_count });

/// List storage units
///
/// Storage units are units of count or measure for goods.
#[utoipa::path(tag = "Dictionaries", responses((status = 200, body = StorageUnitList)))]
#[get("/api/storage_units")]
async fn list_storage_units(staff: SignedInStaff, service: Data<DictionaryService>) -> Answer<StorageUnitList> {
    answer(service.storage_units(&staff).await?)
}

one!(StorageUnitResponse { unit: StorageUnitRecord });

/// Get a storage unit
#[utoipa::path(tag = "Dictionaries", responses((status = 200, body = StorageUnitResponse)))]
#[get("/api/storage_units/{id}")]
async fn show_storage_unit(
    staff: SignedInStaff,
    service: Data<DictionaryService>,
    id: Path<PathId>,
) -> Answer<StorageUnitResponse> {
    answer(service.storage_unit(&staff, id.parse()?).await?)
}
