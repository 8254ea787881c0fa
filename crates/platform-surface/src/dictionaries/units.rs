//! Storage units, which have their own record shape.

use actix_web::get;
use actix_web::web::{Data, Path};
use kontor_organization::DictionaryService;
use utoipa_actix_web::service_config::ServiceConfig;

use kontor_web::envelope::{Answer, answer, list, one};
use kontor_web::records::StorageUnitRecord;
use kontor_web::{PathId, SignedInStaff};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_storage_units).service(show_storage_unit);
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

one!(OneStorageUnit { unit: StorageUnitRecord });

/// Get a storage unit
#[utoipa::path(tag = "Dictionaries", responses((status = 200, body = OneStorageUnit)))]
#[get("/api/storage_units/{id}")]
async fn show_storage_unit(
    staff: SignedInStaff,
    service: Data<DictionaryService>,
    id: Path<PathId>,
) -> Answer<OneStorageUnit> {
    answer(service.storage_unit(&staff, id.parse()?).await?)
}
