//! Content pages of the storefront.

use actix_web::web::{Data, Path};
use actix_web::{HttpMessage as _, HttpRequest, get};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_content::model::{PageFilter, PageOrder, PageType, Slug};
use kontor_content::{PageViewer, ShownPage};
use kontor_kernel::{PageRequest, Violations};
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_actix_web::service_config::ServiceConfig;

use kontor_web::envelope::{Answer, answer, list, one};
use kontor_web::paging::{PageNumber, PageSize, page_of, paginated};
use kontor_web::records::{PageTagRecord, Picture, picture};
use kontor_web::response_cache::{SortedByViews, ViewCountShown, Viewed};
use kontor_web::wire::{self, InputErrors, NamedRecord, PhotoRecord};
use kontor_web::{CallingApp, ClientIp, Query};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_page_types).service(list_pages).service(show_page);
}

#[derive(Serialize, ToSchema)]
struct PageTypeRecord {
    id: i64,
    name: String,
    photo: Option<Picture>,
    created_at: DateTime<Utc>,
}

impl From<PageType> for PageTypeRecord {
    fn from(kind: PageType) -> Self {
        Self { id: kind.id.get(), name: kind.name.into(), photo: picture(kind.photo), created_at: kind.created_at }
    }
}

list!(/// Content page types.
    ClientPageTypeList { items: [PageTypeRecord], items_count });

/// List content page types
#[utoipa::path(tag = "Client: content", responses((status = 200, body = ClientPageTypeList)))]
#[get("/api/counterparty/page_types")]
async fn list_page_types(_app: CallingApp, pages: Data<PageViewer>) -> Answer<ClientPageTypeList> {
    answer(pages.types().await?)
}

/// Content page.
#[derive(Serialize, ToSchema)]
struct ClientPageRecord {
    id: i64,
    slug: String,
    title: String,
    description: Option<String>,
    preview: Option<PhotoRecord>,
    /// HTML without scripts, styles and frames of other sites.
    content: String,
    views_count: u64,
    author: Option<NamedRecord>,
    tags: Vec<PageTagRecord>,
    created_at: DateTime<Utc>,
}

impl From<ShownPage> for ClientPageRecord {
    fn from(shown: ShownPage) -> Self {
        let page = shown.page;
        Self {
            id: page.id.get(),
            slug: page.content.slug.into(),
            title: page.content.title.into(),
            description: page.content.description.map(Into::into),
            preview: page.content.preview.map(Into::into),
            content: shown.html.map(Into::into).unwrap_or_default(),
            views_count: page.views_count,
            author: page.author.map(|(id, name)| NamedRecord::new(id.get(), name)),
            tags: page.tags.into_iter().map(Into::into).collect(),
            created_at: page.created_at,
        }
    }
}

paginated!(
    /// One page of the list of content pages.
    PagesRecord [ClientPageRecord]
);
one!(ClientPages { pages: PagesRecord });

/// List content pages
///
/// Returns the visible content pages of the project.
#[utoipa::path(tag = "Client: content", params(PagesQuery), responses((status = 200, body = ClientPages)))]
#[get("/api/counterparty/pages")]
async fn list_pages(
    app: CallingApp,
    pages: Data<PageViewer>,
    query: Query<PagesQuery>,
    request: HttpRequest,
) -> Answer<ClientPages> {
    let (filter, order, page) = query.0.list()?;
    request.extensions_mut().insert(SortedByViews);
    answer(pages.list(*app, filter, order, page).await?)
}

one!(/// Content page.
    ClientPageResponse { page: ClientPageRecord });

/// Get a content page
///
/// Counts a view, at most once in 10 minutes per IP address. A project can define a fallback page, which is returned
/// instead of pages that do not exist. To detect it, compare `slug`.
#[utoipa::path(
    tag = "Client: content",
    params(("slug" = String, Path)),
    responses(
        (status = 200, body = ClientPageResponse),
        (status = 404, description = "Page not found, and no fallback page exists."),
    ),
)]
#[get("/api/counterparty/pages/{slug}")]
async fn show_page(
    app: CallingApp,
    pages: Data<PageViewer>,
    slug: Path<String>,
    viewer: ClientIp,
    request: HttpRequest,
) -> Answer<ClientPageResponse> {
    // An invalid slug matches no page.
    let shown = pages.read(*app, Slug::parse(&slug).ok(), &viewer.subject()).await?;
    let looked = ViewCountShown {
        viewed: Viewed::Page(shown.page.id),
        shown: shown.page.views_count,
        unstored: shown.unstored_views,
    };
    request.extensions_mut().insert(looked);
    answer(shown)
}

/// Query parameters of `GET /api/counterparty/pages`.
#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct PagesQuery {
    /// Filter by page type.
    #[deserr(default)]
    #[param(value_type = Option<i64>, minimum = 1)]
    page_type_id: Option<wire::PageTypeId>,
    /// Words to search in title, description and content. Each word must match a part of a word.
    #[deserr(default)]
    #[param(value_type = Option<String>, min_length = 3, max_length = 255)]
    query: Option<wire::PageQueryText>,
    /// `date_asc`, `date_desc`, `popularity_asc` or `popularity_desc`. Newest first by default.
    #[deserr(default)]
    #[param(value_type = Option<String>)]
    order_by: Option<wire::PageOrder>,
    /// Ignored.
    #[expect(dead_code, reason = "it is checked and not used, as the contract says")]
    #[deserr(default)]
    #[param(value_type = Option<i64>, minimum = 1)]
    application_id: Option<wire::ApplicationId>,
    #[deserr(default)]
    #[param(value_type = Option<i64>, minimum = 1)]
    page: Option<PageNumber>,
    /// At most 100, 10 by default.
    #[deserr(default)]
    #[param(value_type = Option<i64>, minimum = 1, maximum = 100)]
    per_page: Option<PageSize>,
}

impl PagesQuery {
    /// Returns the filter, the order and the page.
    pub fn list(self) -> Result<(PageFilter, PageOrder, PageRequest), Violations> {
        let page = page_of(self.page.as_ref(), self.per_page.as_ref(), 10)?;
        let filter =
            PageFilter { page_type_id: self.page_type_id.map(|id| id.0), query: self.query.map(|query| query.0) };
        Ok((filter, self.order_by.map(|order| order.0).unwrap_or_default(), page))
    }
}
