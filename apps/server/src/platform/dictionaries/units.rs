//! Storage units, which have a shape of their own.

use actix_web::get;
use actix_web::web::{Data, Json, Path};
use kontor_organization::DictionaryService;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::http::records::StorageUnitRecord;
use crate::http::{ApiError, PathId, SignedInStaff};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_storage_units).service(show_storage_unit);
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct StorageUnitList {
    units: Vec<StorageUnitRecord>,
    units_count: usize,
}

/// Units in which goods are counted or measured.
#[utoipa::path(tag = "Dictionaries", responses((status = 200, body = StorageUnitList)))]
#[get("/api/storage_units")]
async fn list_storage_units(
    staff: SignedInStaff,
    service: Data<DictionaryService>,
) -> Result<Json<StorageUnitList>, ApiError> {
    let units: Vec<StorageUnitRecord> = service.storage_units(&staff).await?.into_iter().map(Into::into).collect();
    Ok(Json(StorageUnitList { units_count: units.len(), units }))
}

#[derive(Serialize, ToSchema)]
struct OneStorageUnit {
    unit: StorageUnitRecord,
}

/// One unit.
#[utoipa::path(
    tag = "Dictionaries",
    params(("id" = i64, Path)),
    responses((status = 200, body = OneStorageUnit)),
)]
#[get("/api/storage_units/{id}")]
async fn show_storage_unit(
    staff: SignedInStaff,
    service: Data<DictionaryService>,
    id: Path<PathId>,
) -> Result<Json<OneStorageUnit>, ApiError> {
    Ok(Json(OneStorageUnit { unit: service.storage_unit(&staff, id.parse()?).await?.into() }))
}
