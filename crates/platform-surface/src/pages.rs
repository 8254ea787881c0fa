//! Content pages of a project.

use actix_web::web::{Data, Path};
use actix_web::{delete, get, post, put};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_content::model::{Page, PageChange, PageDraft, PageTag, TagNames};
use kontor_content::{PageHistory, PageService, PageViewer};
use kontor_kernel::listing::Sort;
use kontor_kernel::{Edit, PageTypeId, SafeHtml};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::endpoints::handlers;
use crate::table::{Cell, Column, Filter, Table, list_params};
use kontor_web::envelope::{Answer, Created, answer, created, list, one};
use kontor_web::records::PageTagRecord;
use kontor_web::wire::{self, InputErrors, NamedRecord, NonNullPatch, PhotoRecord, ZeroIsNull, change_body};
use kontor_web::{ApiError, Body, HistoryList, PageQuery, PathId, Query, Service, SignedInStaff};

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
async fn create_page(
    staff: SignedInStaff,
    service: Service<PageService>,
    body: Body<NewPage>,
) -> Created<PageResponse> {
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
    service: Service<PageService>,
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
    service: Service<PageHistory>,
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

/// Table of `GET /api/tables/pages`.
const TABLE: Table<Page> = Table {
    id: 51,
    resource: "pages",
    version: Some(|row| row.version.into()),
    columns: &[
        Column::new("id", "No.", |page| Cell::plain(page.id.get())),
        Column::with_icon("title", "Title", |page| Cell::Linked {
            value: page.content.title.as_str().into(),
            icon: page.content.preview.as_ref().map(ToString::to_string),
            link: Some(format!("/api/pages/{}", page.id)),
        }),
        Column::new("slug", "Slug", |page| Cell::plain(page.content.slug.as_str())),
        Column::new("page_type", "Type", |page| Cell::plain(page.page_type.as_ref().map(|(_, name)| name.as_str()))),
        Column::new("tags", "Tags", |page| {
            let names: Vec<&str> = page.tags.iter().map(|tag| tag.name.as_str()).collect();
            Cell::plain(names.join(", "))
        }),
        Column::new("author", "Author", |page| Cell::plain(page.author.as_ref().map(|(_, name)| name.as_str()))),
        Column::new("views_count", "Views", |page| Cell::plain(page.views_count)),
        Column::new("is_active", "Shown", |page| Cell::plain(page.content.is_active)),
        Column::new("is_fallback", "Fallback", |page| Cell::plain(page.content.is_fallback)),
        Column::new("created_at", "Created", |page| Cell::moment(page.created_at)),
        Column::new("updated_at", "Changed", |page| Cell::moment(page.updated_at)),
    ],
    sorts: &["id", "title", "views_count", "created_at", "updated_at"],
    filters: &[
        Filter::id::<PageTypeId>("page_type_id", "Of these types."),
        Filter::flag("is_active", "Whether customers see it."),
    ],
    search: Some("Words or parts of words. Each must occur in the title, description or text."),
    period: Some("created_at"),
    order: Sort::descending("id"),
};

list_params! {
    /// Query parameters of `GET /api/tables/pages`.
    PageParams of TABLE
}

#[derive(Serialize, ToSchema)]
struct PageRecord {
    id: i64,
    slug: String,
    title: String,
    description: Option<String>,
    preview: Option<PhotoRecord>,
    /// HTML as written by staff, not sanitized.
    content: Option<String>,
    page_type: Option<NamedRecord>,
    tags: Vec<PageTagRecord>,
    author: Option<NamedRecord>,
    views_count: u64,
    is_active: bool,
    is_fallback: bool,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl From<Page> for PageRecord {
    fn from(page: Page) -> Self {
        let content = page.content;
        Self {
            id: page.id.get(),
            slug: content.slug.into(),
            title: content.title.into(),
            description: content.description.map(Into::into),
            preview: content.preview.map(Into::into),
            content: content.html.map(Into::into),
            page_type: page.page_type.map(|(id, name)| NamedRecord::new(id.get(), name)),
            tags: page.tags.into_iter().map(Into::into).collect(),
            author: page.author.map(|(id, name)| NamedRecord::new(id.get(), name)),
            views_count: page.views_count,
            is_active: content.is_active,
            is_fallback: content.is_fallback,
            created_at: page.created_at,
            updated_at: page.updated_at,
        }
    }
}

one!(/// Content page.
    PageResponse { page: PageRecord });

#[derive(Serialize, ToSchema)]
struct DatedTagRecord {
    #[serde(flatten)]
    tag: PageTagRecord,
    created_at: DateTime<Utc>,
}

impl From<PageTag> for DatedTagRecord {
    fn from(tag: PageTag) -> Self {
        Self { created_at: tag.created_at, tag: tag.into() }
    }
}

list!(/// Tags of content pages.
    PageTagList { page_tags: [DatedTagRecord], page_tags_count });

/// HTML of a content page as customers see it.
#[derive(Serialize, ToSchema)]
struct PagePreview {
    /// Sanitized HTML. Empty if nothing is left.
    content: String,
}

impl From<Option<SafeHtml>> for PagePreview {
    fn from(html: Option<SafeHtml>) -> Self {
        Self { content: html.map(Into::into).unwrap_or_default() }
    }
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewPage {
    title: wire::Name,
    /// Unique in the project. By default, derived from the title.
    #[deserr(default)]
    slug: Option<wire::Slug>,
    #[deserr(default)]
    description: Option<wire::Line500>,
    /// URL of a picture.
    #[deserr(default)]
    preview: Option<wire::PhotoUrl>,
    /// HTML. Customers get it without scripts, styles and frames of other sites.
    #[deserr(default)]
    content: Option<wire::Prose>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::PageTypeId>)]
    page_type_id: ZeroIsNull<wire::PageTypeId>,
    /// Names of tags, at most 20. New tags are created.
    #[deserr(default)]
    #[schema(value_type = Option<Vec<wire::Line100>>)]
    tags: Option<Vec<wire::Named<wire::Line100>>>,
    /// `true` if customers can see the page. `true` by default.
    #[deserr(default)]
    is_active: Option<wire::Flag>,
    /// `true` if customers get this page instead of pages that do not exist. The previous fallback page loses this
    /// role.
    #[deserr(default)]
    is_fallback: Option<wire::Flag>,
}

fn tags(names: Vec<wire::Named<wire::Line100>>) -> Result<TagNames, ApiError> {
    TagNames::new(names.into_iter().map(|name| name.0.0).collect()).map_err(|error| ApiError::invalid("tags", error))
}

impl NewPage {
    /// Returns the draft of the page.
    pub fn draft(self) -> Result<PageDraft, ApiError> {
        Ok(PageDraft {
            slug: self.slug.map(|slug| slug.0),
            title: self.title.0,
            description: self.description.map(|text| text.0),
            preview: self.preview.map(|url| url.0),
            html: self.content.map(|html| html.0),
            page_type_id: self.page_type_id.0.map(|id| id.0),
            tags: tags(self.tags.unwrap_or_default())?,
            is_active: self.is_active.is_none_or(|flag| flag.0),
            is_fallback: self.is_fallback.is_some_and(|flag| flag.0),
        })
    }
}

change_body! {
    ChangedPage {
        title: wire::Name,
        slug: wire::Slug,
        description: wire::Line500 | null,
        preview: wire::PhotoUrl | null,
        /// HTML.
        content: wire::Prose | null,
        page_type_id: wire::PageTypeId | null | 0,
        {
            /// Replaces all tags of the page.
            #[deserr(default)]
            #[schema(value_type = Option<Vec<wire::Line100>>, nullable = false)]
            tags: NonNullPatch<Vec<wire::Named<wire::Line100>>>
        },
        is_active: wire::Flag,
        is_fallback: wire::Flag,
    }
}

impl ChangedPage {
    /// Returns the change of the page.
    pub fn change(self) -> Result<PageChange, ApiError> {
        Ok(PageChange {
            slug: self.slug.into(),
            title: self.title.into(),
            description: self.description.into(),
            preview: self.preview.into(),
            html: self.content.into(),
            page_type_id: self.page_type_id.into(),
            tags: self.tags.0.map(tags).transpose()?.map_or(Edit::Keep, Edit::Set),
            is_active: self.is_active.into(),
            is_fallback: self.is_fallback.into(),
        })
    }
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct PagePreviewInput {
    /// HTML as written by staff.
    #[deserr(default)]
    pub content: Option<wire::Prose>,
}
