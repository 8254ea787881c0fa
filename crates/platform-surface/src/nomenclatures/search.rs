//! Item search while typing.

use actix_web::post;
use actix_web::web::Data;
use deserr::Deserr;
use kontor_catalog::NomenclatureService;
use kontor_kernel::Listing;
use utoipa::ToSchema;

use super::record::{NomenclatureList, TABLE};
use kontor_web::envelope::{Answer, answer};
use kontor_web::paging::{PageSize, page_of};
use kontor_web::wire::{self, InputErrors};
use kontor_web::{Body, SignedInStaff};

const MAX_RESULTS: i64 = 20;

/// Search text and maximum number of results.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
pub(super) struct ItemSearch {
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
pub(super) async fn search_nomenclature(
    staff: SignedInStaff,
    service: Data<NomenclatureService>,
    body: Body<ItemSearch>,
) -> Answer<NomenclatureList> {
    let page = page_of(None, body.0.limit.as_ref(), MAX_RESULTS)?;
    let best = Listing { text: Some(body.0.query.0), unsorted: true, ..Listing::unfiltered(TABLE.order, page) };
    answer(service.list(&staff, best).await?)
}
