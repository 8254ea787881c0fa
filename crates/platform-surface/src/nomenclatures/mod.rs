//! Items of the catalog: goods, services and subscription plans.

mod input;
mod record;

use actix_web::{get, post, put};
use deserr::Deserr;
use kontor_catalog::NomenclatureService;
use kontor_kernel::Listing;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use self::input::{ChangedNomenclature, NewNomenclature};
pub(super) use self::record::NomenclatureRecord;
use self::record::{NomenclatureList, NomenclatureParams, NomenclatureResponse, TABLE};
use crate::endpoints::handlers;
use kontor_web::envelope::{Answer, Created, answer, created};
use kontor_web::paging::{PageSize, page_of};
use kontor_web::routes::below;
use kontor_web::wire::{self, InputErrors};
use kontor_web::{Body, HistoryList, Service, SignedInStaff};

handlers! {
    fn table_routes; NomenclatureService, "Catalog";

    /// List items as a table
    table "/api/tables/nomenclatures" as list_nomenclatures_table(NomenclatureParams) = list() -> TABLE;
}

handlers! {
    fn usual_routes; NomenclatureService, "Catalog";

    /// List items
    list "/api/nomenclatures" as list_nomenclatures = list(rows NomenclatureParams TABLE 100) -> NomenclatureList;

    /// Get an item
    read "/api/nomenclatures/{id}" as show_nomenclature -> NomenclatureResponse;

    /// Update an item
    ///
    /// Fields that are not sent keep their values.
    update "/api/nomenclatures/{id}" as update_nomenclature(ChangedNomenclature) -> NomenclatureResponse
        zero ["type_id", "category_id", "brand_id", "country_id", "storage_unit_id", "vat_id"];

    /// List the history of an item
    ///
    /// Newest first.
    history "/api/nomenclatures/{id}/history" as list_nomenclature_history -> HistoryList;
}

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    table_routes(config);
    config.service(search_nomenclature);
    below(config, "/api/nomenclatures", |config| {
        usual_routes(config);
        config.service(create_nomenclature);
    });
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
    service: Service<NomenclatureService>,
    body: Body<NewNomenclature>,
) -> Created<NomenclatureResponse> {
    let item = service.create(&staff, body.0.card()?).await?;
    created(item)
}

const MAX_RESULTS: i64 = 20;

/// Search text and maximum number of results.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct ItemSearch {
    /// Words of the name and the article, or parts of them, in any order and case.
    query: wire::Name,
    /// Maximum number of items, 20 by default.
    #[deserr(default)]
    limit: Option<PageSize>,
}

/// Search items
///
/// Returns the best matches and the total number of matches, at most 10,000.
#[utoipa::path(tag = "Catalog", request_body = ItemSearch, responses((status = 200, body = NomenclatureList)))]
#[post("/api/search_nomenclature")]
async fn search_nomenclature(
    staff: SignedInStaff,
    service: Service<NomenclatureService>,
    body: Body<ItemSearch>,
) -> Answer<NomenclatureList> {
    let page = page_of(None, body.0.limit.as_ref(), MAX_RESULTS)?;
    let best = Listing { text: Some(body.0.query.0), unsorted: true, ..Listing::unfiltered(TABLE.order, page) };
    answer(service.list(&staff, best).await?)
}
