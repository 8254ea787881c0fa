//! Menus of the storefront.

use actix_web::get;
use actix_web::web::{Data, Path};
use kontor_content::PartViewer;
use kontor_content::model::{Node, ShownItem, Slug};
use kontor_kernel::Link;
use kontor_organization::StaffMenuService;
use kontor_organization::model::StaffMenuItem;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use kontor_web::Settings;
use kontor_web::envelope::Answer;
use kontor_web::file_contents::placeholder_url;
use kontor_web::wire::PhotoRecord;
use kontor_web::{ApiError, CallingApp, Service};

/// Slug of the default menu.
const DEFAULT_MENU: &str = "navpanel";

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(show_default_menu).service(list_project_menu).service(show_menu);
}

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
