//! Menu items of an application.

use actix_web::web::{Data, Json, Path};
use actix_web::{delete, get, post, put};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_content::model::{MenuItem, MenuItemChange, MenuItemDraft, PlaceChange, PlaceDraft};
use kontor_content::{PartOrderService, PartService};
use kontor_kernel::listing::Sort;
use kontor_kernel::{MenuItemId, MoveDirection};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::table::{Cell, Column, Filter, Table, TableAnswer, TableRequest, list_params};
use kontor_web::envelope::{Answer, Created, answer, created, one};
use kontor_web::records::Message;
use kontor_web::wire::{self, InputErrors, NamedRecord, NonNullPatch, Patch, PhotoRecord, ZeroIsNull};
use kontor_web::{Body, PathId, SignedInStaff, TwoIds};

pub(super) fn table_routes(config: &mut ServiceConfig<'_>) {
    config.service(list_menu_items_table);
}

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config
        .service(create_menu_item)
        .service(show_menu_item)
        .service(update_menu_item)
        .service(delete_menu_item)
        .service(move_menu_item_up)
        .service(move_menu_item_down);
}

#[derive(Serialize, ToSchema)]
struct MenuItemRecord {
    id: i64,
    code: i64,
    slug: String,
    /// Position among the items with the same parent, lowest first.
    position: i64,
    name: String,
    avatar: Option<PhotoRecord>,
    preview: Option<PhotoRecord>,
    parent: Option<NamedRecord>,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl From<MenuItem> for MenuItemRecord {
    fn from(item: MenuItem) -> Self {
        Self {
            id: item.id.get(),
            code: item.place.code.get(),
            slug: item.place.slug.into(),
            position: item.position,
            name: item.name.into(),
            avatar: item.avatar.map(Into::into),
            preview: item.preview.map(Into::into),
            parent: item.place.parent.map(|(id, name)| NamedRecord::new(id.get(), name)),
            created_at: item.created_at,
            updated_at: item.updated_at,
        }
    }
}

one!(/// Menu item.
    MenuItemResponse { menu_item: MenuItemRecord });

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewMenuItem {
    name: wire::Name,
    /// Unique in the application. By default, one more than the largest code.
    #[deserr(default)]
    code: Option<wire::PartCode>,
    /// Unique in the application. By default, derived from the name. A root item is a menu; clients request it by its
    /// slug.
    #[deserr(default)]
    slug: Option<wire::Slug>,
    /// Parent item in the same application.
    #[deserr(default)]
    #[schema(value_type = Option<wire::MenuItemId>)]
    parent_id: ZeroIsNull<wire::MenuItemId>,
    #[deserr(default)]
    avatar: Option<wire::PhotoUrl>,
    #[deserr(default)]
    preview: Option<wire::PhotoUrl>,
}

impl From<NewMenuItem> for MenuItemDraft {
    fn from(new: NewMenuItem) -> Self {
        Self {
            place: PlaceDraft {
                parent_id: new.parent_id.0.map(|id| id.0),
                code: new.code.map(|code| code.0),
                slug: new.slug.map(|slug| slug.0),
            },
            name: new.name.0,
            avatar: new.avatar.map(|url| url.0),
            preview: new.preview.map(|url| url.0),
        }
    }
}

/// Create a menu item
///
/// The item is added last among the items with the same parent. An application can have at most 1,000 items in 16
/// levels.
#[utoipa::path(
    tag = "Application categories, brands, menu items",
    params(("id" = i64, Path)),
    request_body = NewMenuItem,
    responses((status = 201, body = MenuItemResponse)),
    extensions(("x-zero-to-null" = json!(["parent_id"]))),
)]
#[post("/api/applications/{id}/menu_items")]
async fn create_menu_item(
    staff: SignedInStaff,
    service: Data<PartService<MenuItem>>,
    id: Path<PathId>,
    body: Body<NewMenuItem>,
) -> Created<MenuItemResponse> {
    created(service.create(&staff, id.parse()?, body.0.into()).await?)
}

/// Get a menu item
#[utoipa::path(
    tag = "Application categories, brands, menu items",
    responses((status = 200, body = MenuItemResponse)),
)]
#[get("/api/applications/{id}/menu_items/{menu_item_id}")]
async fn show_menu_item(
    staff: SignedInStaff,
    service: Data<PartService<MenuItem>>,
    path: TwoIds,
) -> Answer<MenuItemResponse> {
    answer(service.read(&staff, path.0.parse()?, path.1.parse()?).await?)
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct ChangedMenuItem {
    #[deserr(default)]
    #[schema(value_type = Option<wire::Name>, nullable = false)]
    name: NonNullPatch<wire::Name>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::PartCode>, nullable = false)]
    code: NonNullPatch<wire::PartCode>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::Slug>, nullable = false)]
    slug: NonNullPatch<wire::Slug>,
    /// `null` makes the item a root. Its children move with it.
    #[deserr(default)]
    #[schema(value_type = Option<wire::MenuItemId>)]
    parent_id: Patch<ZeroIsNull<wire::MenuItemId>>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::PhotoUrl>)]
    avatar: Patch<wire::PhotoUrl>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::PhotoUrl>)]
    preview: Patch<wire::PhotoUrl>,
}

impl From<ChangedMenuItem> for MenuItemChange {
    fn from(changed: ChangedMenuItem) -> Self {
        Self {
            place: PlaceChange {
                parent_id: changed.parent_id.into(),
                code: changed.code.into(),
                slug: changed.slug.into(),
            },
            name: changed.name.into(),
            avatar: changed.avatar.into(),
            preview: changed.preview.into(),
        }
    }
}

/// Update a menu item
///
/// Fields that are not sent keep their values. Below a new parent, the item is placed last.
#[utoipa::path(
    tag = "Application categories, brands, menu items",
    request_body = ChangedMenuItem,
    responses((status = 200, body = MenuItemResponse)),
    extensions(("x-zero-to-null" = json!(["parent_id"]))),
)]
#[put("/api/applications/{id}/menu_items/{menu_item_id}")]
async fn update_menu_item(
    staff: SignedInStaff,
    service: Data<PartService<MenuItem>>,
    path: TwoIds,
    body: Body<ChangedMenuItem>,
) -> Answer<MenuItemResponse> {
    answer(service.update(&staff, path.0.parse()?, path.1.parse()?, body.0.into()).await?)
}

/// Delete a menu item
///
/// The item must have no children.
#[utoipa::path(
    tag = "Application categories, brands, menu items",
    responses((status = 200, body = Message), (status = 422, description = "The record has children.")),
)]
#[delete("/api/applications/{id}/menu_items/{menu_item_id}")]
async fn delete_menu_item(staff: SignedInStaff, service: Data<PartService<MenuItem>>, path: TwoIds) -> Answer<Message> {
    service.delete(&staff, path.0.parse()?, path.1.parse()?).await?;
    answer(Message::new("The menu item was deleted."))
}

/// Move a menu item up
///
/// Moves it one position up among the items with the same parent. The first item is not changed.
#[utoipa::path(
    tag = "Application categories, brands, menu items",
    responses((status = 200, body = MenuItemResponse)),
)]
#[post("/api/applications/{id}/menu_items/{menu_item_id}/up")]
async fn move_menu_item_up(
    staff: SignedInStaff,
    service: Data<PartOrderService<MenuItem>>,
    path: TwoIds,
) -> Answer<MenuItemResponse> {
    answer(service.shift(&staff, path.0.parse()?, path.1.parse()?, MoveDirection::Up).await?)
}

/// Move a menu item down
///
/// Moves it one position down among the items with the same parent. The last item is not changed.
#[utoipa::path(
    tag = "Application categories, brands, menu items",
    responses((status = 200, body = MenuItemResponse)),
)]
#[post("/api/applications/{id}/menu_items/{menu_item_id}/down")]
async fn move_menu_item_down(
    staff: SignedInStaff,
    service: Data<PartOrderService<MenuItem>>,
    path: TwoIds,
) -> Answer<MenuItemResponse> {
    answer(service.shift(&staff, path.0.parse()?, path.1.parse()?, MoveDirection::Down).await?)
}

/// List the menu items of an application as a table
#[utoipa::path(
    tag = "Application categories, brands, menu items",
    params(("id" = i64, Path), MenuItemParams),
    responses((status = 200, body = TableAnswer)),
)]
#[get("/api/tables/applications/{id}/menu_items")]
async fn list_menu_items_table(
    staff: SignedInStaff,
    service: Data<PartService<MenuItem>>,
    id: Path<PathId>,
    asked: TableRequest,
) -> Answer<TableAnswer> {
    Ok(Json(TABLE.render(&service.page(&staff, id.parse()?, TABLE.listing(asked, 15)?).await?)))
}

/// Table of `GET /api/tables/applications/{id}/menu_items`.
const TABLE: Table<MenuItem> = Table {
    id: 37,
    resource: "menu_items",
    version: Some(|row| row.version.into()),
    columns: &[
        Column::new("id", "No.", |item| Cell::plain(item.id.get())),
        Column::new("code", "Code", |item| Cell::plain(item.place.code.get())),
        Column::new("slug", "Slug", |item| Cell::plain(item.place.slug.as_str())),
        Column::with_icon("name", "Name", |item| Cell::Linked {
            value: item.name.as_str().into(),
            icon: item.avatar.as_ref().map(ToString::to_string),
            link: None,
        }),
        Column::new("parent", "In", |item| Cell::plain(item.place.parent.as_ref().map(|(_, name)| name.as_str()))),
        Column::new("position", "Position", |item| Cell::plain(item.position)),
        Column::new("created_at", "Created", |item| Cell::moment(item.created_at)),
        Column::new("updated_at", "Changed", |item| Cell::moment(item.updated_at)),
    ],
    sorts: &["id", "code", "name", "position", "created_at", "updated_at"],
    filters: &[Filter::id::<MenuItemId>("parent_id", "Right below these items.")],
    search: Some("Part of the name, in any case."),
    period: Some("created_at"),
    order: Sort::ascending("position"),
};

list_params! {
    /// Query parameters of `GET /api/tables/applications/{id}/menu_items`.
    MenuItemParams of TABLE
}
