//! Items of the catalog: goods, services and subscription plans.

mod input;
mod record;
mod search;

use actix_web::web::{Data, Json, Path};
use actix_web::{get, post, put};
use kontor_catalog::NomenclatureService;
use utoipa_actix_web::service_config::ServiceConfig;

use self::input::{ChangedNomenclature, NewNomenclature};
pub(super) use self::record::NomenclatureRecord;
use self::record::{NomenclatureList, NomenclatureParams, NomenclatureResponse, TABLE};
use crate::table::{TableAnswer, TableRequest};
use kontor_web::envelope::{Answer, Created, answer, created};
use kontor_web::routes::below;
use kontor_web::{Body, HistoryList, PageQuery, PathId, Query, SignedInStaff};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_nomenclatures_table).service(search::search_nomenclature);
    below(config, "/api/nomenclatures", |config| {
        config
            .service(list_nomenclatures)
            .service(create_nomenclature)
            .service(show_nomenclature)
            .service(update_nomenclature)
            .service(list_nomenclature_history);
    });
}

/// List items
#[utoipa::path(
    tag = "Catalog",
    params(NomenclatureParams),
    responses((status = 200, body = NomenclatureList)),
)]
#[get("/api/nomenclatures")]
async fn list_nomenclatures(
    staff: SignedInStaff,
    service: Data<NomenclatureService>,
    asked: TableRequest,
) -> Answer<NomenclatureList> {
    answer(service.list(&staff, TABLE.listing(asked, 100)?).await?)
}

/// List items as a table
#[utoipa::path(
    tag = "Catalog",
    params(NomenclatureParams),
    responses((status = 200, body = TableAnswer)),
)]
#[get("/api/tables/nomenclatures")]
async fn list_nomenclatures_table(
    staff: SignedInStaff,
    service: Data<NomenclatureService>,
    asked: TableRequest,
) -> Answer<TableAnswer> {
    Ok(Json(TABLE.render(&service.list(&staff, TABLE.listing(asked, 15)?).await?)))
}

/// Create an item
///
/// Goods need no price; it is set per warehouse.
#[utoipa::path(
    tag = "Catalog",
    request_body = NewNomenclature,
    responses((status = 201, body = NomenclatureResponse)),
    extensions((
        "x-zero-to-null" = json!(["type_id", "category_id", "brand_id", "country_id", "storage_unit_id", "vat_id"])
    )),
)]
#[post("/api/nomenclatures")]
async fn create_nomenclature(
    staff: SignedInStaff,
    service: Data<NomenclatureService>,
    body: Body<NewNomenclature>,
) -> Created<NomenclatureResponse> {
    let item = service.create(&staff, body.0.card()?).await?;
    created(item)
}

/// Get an item
#[utoipa::path(
    tag = "Catalog",
    params(("id" = i64, Path)),
    responses((status = 200, body = NomenclatureResponse)),
)]
#[get("/api/nomenclatures/{id}")]
async fn show_nomenclature(
    staff: SignedInStaff,
    service: Data<NomenclatureService>,
    id: Path<PathId>,
) -> Answer<NomenclatureResponse> {
    answer(service.read(&staff, id.parse()?).await?)
}

/// Update an item
///
/// Fields that are not sent keep their values.
#[utoipa::path(
    tag = "Catalog",
    params(("id" = i64, Path)),
    request_body = ChangedNomenclature,
    responses((status = 200, body = NomenclatureResponse)),
    extensions((
        "x-zero-to-null" = json!(["type_id", "category_id", "brand_id", "country_id", "storage_unit_id", "vat_id"])
    )),
)]
#[put("/api/nomenclatures/{id}")]
async fn update_nomenclature(
    staff: SignedInStaff,
    service: Data<NomenclatureService>,
    id: Path<PathId>,
    body: Body<ChangedNomenclature>,
) -> Answer<NomenclatureResponse> {
    answer(service.update(&staff, id.parse()?, body.0.into()).await?)
}

/// List the history of an item
///
/// Newest first.
#[utoipa::path(
    tag = "Catalog",
    params(("id" = i64, Path), PageQuery),
    responses((status = 200, body = HistoryList)),
)]
#[get("/api/nomenclatures/{id}/history")]
async fn list_nomenclature_history(
    staff: SignedInStaff,
    service: Data<NomenclatureService>,
    id: Path<PathId>,
    query: Query<PageQuery>,
) -> Answer<HistoryList> {
    let page = query.0.page()?;
    answer(service.history(&staff, id.parse()?, page).await?)
}
