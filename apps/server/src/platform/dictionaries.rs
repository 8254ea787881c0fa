//! System-wide dictionaries.

use actix_web::get;
use actix_web::web::{Data, Json};
use chrono::{DateTime, Utc};
use kontor_organization::model::{Dictionary, DictionaryItem, StorageUnit};
use kontor_organization::{DictionaryError, DictionaryService};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::client::DeliveryOptionRecord;
use crate::http::records::{Picture, picture};
use crate::http::{ApiError, SignedInStaff};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config
        .service(list_order_statuses)
        .service(list_nomenclature_kinds)
        .service(list_vats)
        .service(list_storage_units)
        .service(list_delivery_types);
}

impl From<DictionaryError> for ApiError {
    fn from(error: DictionaryError) -> Self {
        match error {
            DictionaryError::Denied(denied) => denied.into(),
            DictionaryError::Store(error) => error.into(),
        }
    }
}

#[derive(Serialize, ToSchema)]
struct DictionaryRecord {
    id: i64,
    name: String,
    avatar: Option<Picture>,
    created_at: DateTime<Utc>,
}

impl From<DictionaryItem> for DictionaryRecord {
    fn from(item: DictionaryItem) -> Self {
        let DictionaryItem { id, name, avatar, created_at } = item;
        Self { id, name: name.into(), avatar: picture(avatar), created_at }
    }
}

/// The lists differ in their keys alone.
macro_rules! dictionary_lists {
    ($($list:ident { $items:ident, $count:ident } = $handler:ident, $path:literal, $dictionary:expr, $doc:literal;)+) => {$(
        #[derive(Serialize, ToSchema)]
        #[serde(rename_all = "camelCase")]
        struct $list {
            $items: Vec<DictionaryRecord>,
            $count: usize,
        }

        #[doc = $doc]
        #[utoipa::path(tag = "Dictionaries", responses((status = 200, body = $list)))]
        #[get($path)]
        async fn $handler(staff: SignedInStaff, service: Data<DictionaryService>) -> Result<Json<$list>, ApiError> {
            let items = service.items(&staff, $dictionary).await?;
            let $items: Vec<DictionaryRecord> = items.into_iter().map(Into::into).collect();
            Ok(Json($list { $count: $items.len(), $items }))
        }
    )+};
}

dictionary_lists! {
    OrderStatusList { order_statuses, order_statuses_count } = list_order_statuses, "/api/order_statuses",
        Dictionary::OrderStatuses, "Order statuses. The ids 1-6 and 22 carry meaning, the names do not.";
    NomenclatureKindList { nomenclature_kinds, nomenclature_kinds_count } = list_nomenclature_kinds,
        "/api/nomenclature_kinds", Dictionary::NomenclatureKinds, "Nomenclature kinds: 1 service, 2 goods.";
    VatList { vats, vats_count } = list_vats, "/api/vats", Dictionary::Vats, "VAT rates.";
}

#[derive(Serialize, ToSchema)]
struct StorageUnitRecord {
    id: i64,
    name: String,
    abbreviation: String,
}

impl From<StorageUnit> for StorageUnitRecord {
    fn from(unit: StorageUnit) -> Self {
        Self { id: unit.id.get(), name: unit.name.into(), abbreviation: unit.abbreviation.into() }
    }
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
