//! Menus of the staff interface.

use actix_web::web::Path;
use actix_web::{get, post};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_kernel::ScreenId;
use kontor_organization::StaffMenuService;
use kontor_organization::model::{StaffMenu, StaffMenuItem, StaffMenuItems};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::endpoints::handlers;
use kontor_web::envelope::{Answer, Created, answer, created, list, one};
use kontor_web::records::Message;
use kontor_web::wire::{self, InputErrors, ZeroIsNull};
use kontor_web::{ApiError, Body, PathId, Service, SignedInStaff};

handlers! {
    fn usual_routes; StaffMenuService, "Staff menus";

    /// List staff menus
    ///
    /// Returns the staff menus of the project.
    list "/api/menus" as list_staff_menus -> StaffMenuList;

    /// List the caller's default menu items
    ///
    /// Returns the items shown without a menu: all screens with records that the caller may view.
    list "/api/menus/default/items" as list_default_menu_items = default_items() -> StaffMenuItemList;
}

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    usual_routes(config);
    config.service(attach_menu_to_user).service(attach_menu_to_project).service(create_staff_menu);
}

/// Menu item.
#[derive(Serialize, ToSchema)]
struct StaffMenuItemRecord {
    screen_id: Option<i64>,
    name: String,
    url: String,
}

impl From<StaffMenuItem> for StaffMenuItemRecord {
    fn from(item: StaffMenuItem) -> Self {
        Self { screen_id: item.screen_id.map(ScreenId::get), name: item.name.into(), url: item.url.into() }
    }
}

#[derive(Serialize, ToSchema)]
struct StaffMenuRecord {
    id: i64,
    name: String,
    items: Vec<StaffMenuItemRecord>,
    /// `true` if the menu is shown to employees without a menu of their own.
    is_project: bool,
    /// `true` if it is the caller's own menu.
    is_own: bool,
    created_at: DateTime<Utc>,
}

impl From<StaffMenu> for StaffMenuRecord {
    fn from(menu: StaffMenu) -> Self {
        Self {
            id: menu.id.get(),
            name: menu.name.into(),
            items: menu.items.into_iter().map(Into::into).collect(),
            is_project: menu.is_project,
            is_own: menu.is_own,
            created_at: menu.created_at,
        }
    }
}

one!(/// Staff menu.
    StaffMenuResponse { menu: StaffMenuRecord });
list!(/// Staff menus of the project.
    StaffMenuList { menus: [StaffMenuRecord], menus_count });
list!(/// Menu items.
    StaffMenuItemList { menu_items: [StaffMenuItemRecord], menu_items_count });

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct MenuAssignment {
    /// Id of a menu of the project. `null` or `0` removes the menu.
    #[deserr(default)]
    #[schema(value_type = Option<wire::StaffMenuId>)]
    menu_id: ZeroIsNull<wire::StaffMenuId>,
}

/// Assign a menu to an employee
///
/// Sets or removes the employee's own menu.
#[utoipa::path(
    tag = "Staff menus",
    request_body = MenuAssignment,
    responses((status = 200, body = Message)),
    extensions(("x-zero-to-null" = json!(["menu_id"]))),
)]
#[post("/api/users/{id}/attach_menu")]
async fn attach_menu_to_user(
    staff: SignedInStaff,
    service: Service<StaffMenuService>,
    id: Path<PathId>,
    body: Body<MenuAssignment>,
) -> Answer<Message> {
    service.attach_to_user(&staff, id.parse()?, body.0.menu_id.0.map(|menu| menu.0)).await?;
    answer(Message::new("The menu of the employee was changed."))
}

/// Assign a menu to the project
///
/// Sets or removes the menu of employees without a menu of their own.
#[utoipa::path(
    tag = "Staff menus",
    request_body = MenuAssignment,
    responses((status = 200, body = Message)),
    extensions(("x-zero-to-null" = json!(["menu_id"]))),
)]
#[post("/api/attach_menu_to_project")]
async fn attach_menu_to_project(
    staff: SignedInStaff,
    service: Service<StaffMenuService>,
    body: Body<MenuAssignment>,
) -> Answer<Message> {
    service.attach_to_project(&staff, body.0.menu_id.0.map(|menu| menu.0)).await?;
    answer(Message::new("The menu of the project was changed."))
}

/// Menu item to create.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewItem {
    name: wire::Name,
    /// Target of the item.
    url: wire::Link,
    /// Screen that the item opens.
    #[deserr(default)]
    #[schema(value_type = Option<wire::ScreenId>)]
    screen_id: ZeroIsNull<wire::ScreenId>,
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewMenu {
    /// Unique in the project.
    name: wire::Name,
    /// 1 to 100 items. By default, the items that the employee sees now.
    #[deserr(default)]
    items: Option<Vec<NewItem>>,
}

/// Create a staff menu from an employee's items
///
/// Uses `items`, or the items that the employee sees now: those of their own menu, of the project's menu, or of the
/// screens they may view.
#[utoipa::path(
    tag = "Staff menus",
    request_body = NewMenu,
    responses((status = 201, body = StaffMenuResponse)),
    extensions(("x-zero-to-null" = json!(["items.*.screen_id"]))),
)]
#[post("/api/users/{id}/create_menu_from_user_items")]
async fn create_staff_menu(
    staff: SignedInStaff,
    service: Service<StaffMenuService>,
    id: Path<PathId>,
    body: Body<NewMenu>,
) -> Created<StaffMenuResponse> {
    let new = body.0;
    let item = |item: NewItem| StaffMenuItem {
        screen_id: item.screen_id.0.map(|id| id.0),
        name: item.name.0,
        url: item.url.0,
    };
    let items = new.items.map(|items| StaffMenuItems::new(items.into_iter().map(item).collect())).transpose();
    let items = items.map_err(|error| ApiError::invalid("items", error))?;
    created(service.create(&staff, id.parse()?, new.name.0, items).await?)
}
