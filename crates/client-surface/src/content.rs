//! Content of the calling application: pages, blocks, menus.

use actix_web::web::{Data, Path};
use actix_web::{HttpMessage as _, HttpRequest, get};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_content::model::{Node, PageFilter, PageOrder, PageType, PartCode, ShownItem, Slug};
use kontor_content::ports::BlockKey;
use kontor_content::{PageViewer, PartViewer, ShownBlock, ShownPage};
use kontor_kernel::{Link, PageRequest, Violations};
use kontor_organization::StaffMenuService;
use kontor_organization::model::StaffMenuItem;
use kontor_web::envelope::{Answer, answer, list, one};
use kontor_web::file_contents::placeholder_url;
use kontor_web::paging::{PageNumber, PageSize, page_of, paginated};
use kontor_web::records::{PageTagRecord, Picture, picture};
use kontor_web::response_cache::{SortedByViews, ViewCountShown, Viewed};
use kontor_web::wire::{self, InputErrors, NamedRecord, PhotoRecord};
use kontor_web::{ApiError, CallingApp, ClientIp, Query, Service, Settings};
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_actix_web::service_config::ServiceConfig;

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_page_types).service(list_pages).service(show_page);
    config.service(show_block_by_identifier).service(show_block_by_code);
    config.service(show_default_menu).service(list_project_menu).service(show_menu);
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

/// Block with its child blocks.
#[derive(Serialize, ToSchema)]
struct ClientBlockRecord {
    id: i64,
    /// Code of the block, unique in the application.
    code: i64,
    /// Text identifier of the block, unique in the application.
    identifier: String,
    name: String,
    avatar: Option<PhotoRecord>,
    block_type: NamedRecord,
    link: Option<String>,
    file: Option<PhotoRecord>,
    /// HTML, sanitized like the content of pages.
    text: Option<String>,
    /// Parent block. `null` for a root block.
    parent: Option<NamedRecord>,
    /// Child blocks, ordered by code.
    #[schema(no_recursion)]
    children: Vec<ClientBlockRecord>,
    created_at: DateTime<Utc>,
}

impl From<Node<ShownBlock>> for ClientBlockRecord {
    fn from(node: Node<ShownBlock>) -> Self {
        let ShownBlock { block, html } = node.record;
        Self {
            id: block.id.get(),
            code: block.place.code.get(),
            identifier: block.place.slug.into(),
            name: block.name.into(),
            avatar: block.avatar.map(Into::into),
            block_type: NamedRecord::new(block.block_type.0.get(), block.block_type.1),
            link: block.link.map(Into::into),
            file: block.file.map(Into::into),
            text: html.map(Into::into),
            parent: block.place.parent.map(|(id, name)| NamedRecord::new(id.get(), name)),
            children: node.children.into_iter().map(Into::into).collect(),
            created_at: block.created_at,
        }
    }
}

one!(/// Content block.
    ClientBlockResponse { block: ClientBlockRecord });

/// Get a content block by code
///
/// Returns a block of the calling application with its children.
#[utoipa::path(
    tag = "Client: content",
    params(("code" = i64, Path)),
    responses(
        (status = 200, body = ClientBlockResponse),
        (status = 404, description = "Block not found in the application."),
    ),
)]
#[get("/api/counterparty/blocks/{code}")]
async fn show_block_by_code(
    app: CallingApp,
    parts: Service<PartViewer>,
    code: Path<String>,
) -> Answer<ClientBlockResponse> {
    let code = code.parse().ok().and_then(|code| PartCode::new(code).ok()).ok_or_else(ApiError::not_found)?;
    answer(parts.block(*app, BlockKey::Code(code)).await?)
}

/// Get a content block by identifier
///
/// Returns a block of the calling application with its children.
#[utoipa::path(
    tag = "Client: content",
    params(("identifier" = String, Path)),
    responses(
        (status = 200, body = ClientBlockResponse),
        (status = 404, description = "Block not found in the application."),
    ),
)]
#[get("/api/counterparty/blocks/id/{identifier}")]
async fn show_block_by_identifier(
    app: CallingApp,
    parts: Service<PartViewer>,
    identifier: Path<String>,
) -> Answer<ClientBlockResponse> {
    let slug = Slug::parse(&identifier).map_err(|_| ApiError::not_found())?;
    answer(parts.block(*app, BlockKey::Identifier(slug)).await?)
}

/// Slug of the default menu.
const DEFAULT_MENU: &str = "navpanel";

/// Menu item with its child items.
#[derive(Serialize, ToSchema)]
struct MenuNode {
    /// Code of the item, unique in the application.
    code: i64,
    avatar: Option<PhotoRecord>,
    /// URL of the picture, or of a placeholder if the item has none.
    preview: String,
    name: String,
    /// URL of the application followed by the slug. If the application has no URL: `/` and the slug.
    url: String,
    /// Child items, in menu order.
    #[schema(no_recursion)]
    children: Vec<MenuNode>,
}

impl MenuNode {
    fn new(node: Node<ShownItem>, root: &str, placeholder: &str) -> Self {
        let item = node.record;
        Self {
            code: item.code.get(),
            avatar: item.avatar.map(Into::into),
            preview: item.preview.map_or_else(|| placeholder.to_owned(), Into::into),
            name: item.name.into(),
            url: format!("{root}/{}", item.slug),
            children: node.children.into_iter().map(|child| Self::new(child, root, placeholder)).collect(),
        }
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Menu {
    menu_items: MenuNode,
}

async fn menu(app: &CallingApp, parts: &PartViewer, config: &Settings, slug: &str) -> Answer<Menu> {
    let slug = Slug::parse(slug).map_err(|_| ApiError::not_found())?;
    let menu = parts.menu(**app, slug).await?;
    let address = menu.address.as_ref().map_or("", Link::as_str).trim_end_matches('/');
    let menu_items = MenuNode::new(menu.root, address, &placeholder_url(config));
    Ok(actix_web::web::Json(Menu { menu_items }))
}

/// Get the default menu
///
/// Returns the menu `navpanel` of the calling application.
#[utoipa::path(
    tag = "Client: content",
    responses((status = 200, body = Menu), (status = 404, description = "The application has no menu `navpanel`.")),
)]
#[get("/api/counterparty/menus")]
async fn show_default_menu(app: CallingApp, parts: Service<PartViewer>, config: Data<Settings>) -> Answer<Menu> {
    menu(&app, &parts, &config, DEFAULT_MENU).await
}

/// Get a menu by slug
///
/// Returns the root item with this slug and its children.
#[utoipa::path(
    tag = "Client: content",
    params(("slug" = String, Path)),
    responses((status = 200, body = Menu), (status = 404, description = "Menu not found in the application.")),
)]
#[get("/api/counterparty/menus/{slug}")]
async fn show_menu(
    app: CallingApp,
    parts: Service<PartViewer>,
    config: Data<Settings>,
    slug: Path<String>,
) -> Answer<Menu> {
    menu(&app, &parts, &config, &slug).await
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ProjectMenu {
    menu_items: Vec<MenuNode>,
    menu_items_count: usize,
}

/// List the items of the project's menu
///
/// The name must match exactly.
#[utoipa::path(
    tag = "Client: content",
    params(("name" = String, Path)),
    responses((status = 200, body = ProjectMenu), (status = 404, description = "The project has no menu with this name.")),
)]
#[get("/api/counterparty/menus/{name}/items")]
async fn list_project_menu(
    app: CallingApp,
    menus: Service<StaffMenuService>,
    config: Data<Settings>,
    name: Path<String>,
) -> Answer<ProjectMenu> {
    let menu = menus.of_project(*app, &name).await?;
    let node = |(item, code): (StaffMenuItem, i64)| MenuNode {
        code,
        avatar: None,
        preview: placeholder_url(&config),
        name: item.name.into(),
        url: item.url.into(),
        children: Vec::new(),
    };
    let menu_items: Vec<MenuNode> = menu.items.into_iter().zip(1_i64..).map(node).collect();
    Ok(actix_web::web::Json(ProjectMenu { menu_items_count: menu_items.len(), menu_items }))
}
