//! Saved column mappings of imports, per project.

use std::collections::BTreeMap;

use actix_web::{get, put};
use deserr::Deserr;
use kontor_catalog::spreadsheet::{ColumnMap, ImportColumns, ImportKind};
use kontor_kernel::Violations;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use kontor_web::envelope::{Answer, answer};
use kontor_web::wire::InputErrors;
use kontor_web::{Body, Service, SignedInStaff};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config
        .service(show_nomenclature_columns)
        .service(set_nomenclature_columns)
        .service(show_inventory_columns)
        .service(set_inventory_columns);
}

/// Mapping from file headers to columns.
#[derive(Serialize, ToSchema)]
struct SavedColumns {
    /// Column names by header. `null` ignores the header.
    #[schema(value_type = Object)]
    columns: BTreeMap<String, Option<&'static str>>,
}

impl From<ColumnMap> for SavedColumns {
    fn from(map: ColumnMap) -> Self {
        let columns = map.headers().iter().map(|mapped| (mapped.header.to_string(), mapped.column));
        Self { columns: columns.collect() }
    }
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct ColumnsInput {
    /// Column names by header, at most 200. `null` ignores the header. Several headers may map to one column, for files
    /// of different suppliers. `{}` clears the mapping.
    #[schema(value_type = Object)]
    columns: BTreeMap<String, Option<String>>,
}

impl ColumnsInput {
    fn map(self, kind: ImportKind) -> Result<ColumnMap, Violations> {
        ColumnMap::shared(kind, self.columns).map_err(|reasons| {
            let mut wrong = Violations::default();
            for reason in reasons {
                wrong.add("columns", reason);
            }
            wrong
        })
    }
}

/// Get the saved columns of item imports
///
/// An import without the part `columns` uses the saved columns whose headers are in its file.
#[utoipa::path(tag = "Catalog", responses((status = 200, body = SavedColumns)))]
#[get("/api/nomenclatures/import/columns")]
async fn show_nomenclature_columns(staff: SignedInStaff, service: Service<ImportColumns>) -> Answer<SavedColumns> {
    answer(service.read(&staff, ImportKind::Nomenclatures).await?)
}

/// Save the columns of item imports
///
/// Replaces the saved columns.
#[utoipa::path(tag = "Catalog", request_body = ColumnsInput, responses((status = 200, body = SavedColumns)))]
#[put("/api/nomenclatures/import/columns")]
async fn set_nomenclature_columns(
    staff: SignedInStaff,
    service: Service<ImportColumns>,
    body: Body<ColumnsInput>,
) -> Answer<SavedColumns> {
    let kind = ImportKind::Nomenclatures;
    answer(service.replace(&staff, kind, body.0.map(kind)?).await?)
}

/// Get the saved columns of stock uploads
///
/// An upload without the part `columns` uses the saved columns whose headers are in its file.
#[utoipa::path(tag = "Stock", responses((status = 200, body = SavedColumns)))]
#[get("/api/inventories/upload/columns")]
async fn show_inventory_columns(staff: SignedInStaff, service: Service<ImportColumns>) -> Answer<SavedColumns> {
    answer(service.read(&staff, ImportKind::Inventories).await?)
}

/// Save the columns of stock uploads
///
/// Replaces the saved columns.
#[utoipa::path(tag = "Stock", request_body = ColumnsInput, responses((status = 200, body = SavedColumns)))]
#[put("/api/inventories/upload/columns")]
async fn set_inventory_columns(
    staff: SignedInStaff,
    service: Service<ImportColumns>,
    body: Body<ColumnsInput>,
) -> Answer<SavedColumns> {
    let kind = ImportKind::Inventories;
    answer(service.replace(&staff, kind, body.0.map(kind)?).await?)
}
