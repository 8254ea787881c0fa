//! Content pages of a project.

mod input;
mod record;
mod table;

use actix_web::web::{Data, Path};
use actix_web::{delete, get, post, put};
use kontor_content::{PageHistory, PageService, PageViewer};
use utoipa_actix_web::service_config::ServiceConfig;

use self::input::{ChangedPage, NewPage, PagePreviewInput};
use self::record::{PagePreview, PageResponse, PageTagList};
use self::table::{PageParams, TABLE};
use crate::endpoints::handlers;
use kontor_web::envelope::{Answer, Created, answer, created};
use kontor_web::{Body, HistoryList, PageQuery, PathId, Query, SignedInStaff};

handlers! {
    fn table_routes; PageService, "Content";

    /// List content pages as a table
    table "/api/tables/pages" as list_pages_table(PageParams) = page() -> TABLE;
}

handlers! {
    fn usual_routes; PageService, "Content";

    /// Get a content page
    ///
    /// Returns the HTML as written by staff, not sanitized.
    read "/api/pages/{id}" as show_page -> PageResponse;

    /// Delete a content page
    delete "/api/pages/{id}" as delete_page -> "The page was deleted.";
}

/// Registers the table and the tags, whose paths are outside the prefix of the other routes.
pub(super) fn outer_routes(config: &mut ServiceConfig<'_>) {
    table_routes(config);
    config.service(list_page_tags);
}

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    usual_routes(config);
    config.service(create_page).service(preview_page).service(update_page).service(list_page_history);
}

/// Create a content page
///
/// Without a slug, one is derived from the title in Latin letters.
#[utoipa::path(
    tag = "Content",
    request_body = NewPage,
    responses((status = 201, body = PageResponse)),
    extensions(("x-zero-to-null" = json!(["page_type_id"]))),
)]
#[post("/api/pages")]
async fn create_page(staff: SignedInStaff, service: Data<PageService>, body: Body<NewPage>) -> Created<PageResponse> {
    created(service.create(&staff, body.0.draft()?).await?)
}

/// Get HTML as customers see it in a content page
///
/// Nothing is stored. The HTML is sanitized as in `GET /api/counterparty/pages/{slug}`.
#[utoipa::path(tag = "Content", request_body = PagePreviewInput, responses((status = 200, body = PagePreview)))]
#[post("/api/pages/preview")]
async fn preview_page(
    staff: SignedInStaff,
    pages: Data<PageViewer>,
    body: Body<PagePreviewInput>,
) -> Answer<PagePreview> {
    answer(pages.preview(&staff, body.0.content.map(|html| html.0).as_ref())?)
}

/// Update a content page
///
/// Fields that are not sent keep their values. A new title does not change the slug.
#[utoipa::path(
    tag = "Content",
    request_body = ChangedPage,
    responses((status = 200, body = PageResponse)),
    extensions(("x-zero-to-null" = json!(["page_type_id"]))),
)]
#[put("/api/pages/{id}")]
async fn update_page(
    staff: SignedInStaff,
    service: Data<PageService>,
    id: Path<PathId>,
    body: Body<ChangedPage>,
) -> Answer<PageResponse> {
    answer(service.update(&staff, id.parse()?, body.0.change()?).await?)
}

/// List the history of a content page
///
/// Newest first.
#[utoipa::path(tag = "Content", params(PageQuery), responses((status = 200, body = HistoryList)))]
#[get("/api/pages/{page}/history")]
async fn list_page_history(
    staff: SignedInStaff,
    service: Data<PageHistory>,
    id: Path<PathId>,
    query: Query<PageQuery>,
) -> Answer<HistoryList> {
    let page = query.0.page()?;
    answer(service.page(&staff, id.parse()?, page).await?)
}

/// List the tags of content pages
///
/// Returns every page tag of the project, ordered by name. New tags are created when a page uses them.
#[utoipa::path(tag = "Content", responses((status = 200, body = PageTagList)))]
#[get("/api/page_tags")]
async fn list_page_tags(staff: SignedInStaff, pages: Data<PageViewer>) -> Answer<PageTagList> {
    answer(pages.tags(&staff).await?)
}
