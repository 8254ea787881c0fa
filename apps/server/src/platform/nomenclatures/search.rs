//! Looking items up while somebody types.

use actix_web::post;
use actix_web::web::Data;
use deserr::Deserr;
use kontor_catalog::NomenclatureService;
use kontor_kernel::Listing;
use utoipa::ToSchema;

use super::record::{NomenclatureList, TABLE};
use crate::http::envelope::{Answer, answer};
use crate::http::paging::{PageSize, page_of};
use crate::http::wire::{self, InputErrors};
use crate::http::{Body, SignedInStaff};

const BEST: i64 = 20;

/// What is looked for.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
pub(super) struct ItemSearch {
    /// Words of the name and the article in any order and case, or parts of them.
    query: wire::Name,
    /// How many items at most; 20 when it is absent.
    #[deserr(default)]
    limit: Option<PageSize>,
}

/// The items of the project that fit best, and how many there are in all (10,000 at most).
#[utoipa::path(
    tag = "Catalog",
    request_body = ItemSearch,
    responses((status = 200, body = NomenclatureList)),
)]
#[post("/api/search_nomenclature")]
pub(super) async fn search_nomenclature(
    staff: SignedInStaff,
    service: Data<NomenclatureService>,
    body: Body<ItemSearch>,
) -> Answer<NomenclatureList> {
    let page = page_of(None, body.0.limit.as_ref(), BEST)?;
    let best = Listing { text: Some(body.0.query.0), unsorted: true, ..Listing::everything(TABLE.order, page) };
    answer(service.list(&staff, best).await?)
}
