//! Menu items of an application.

use actix_web::{delete, get, post, put};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_content::model::{MenuItem, MenuItemChange, MenuItemDraft, PlaceChange, PlaceDraft};
use kontor_content::{PartOrderService, PartService};
use kontor_kernel::listing::Sort;
use kontor_kernel::{MenuItemId, MoveDirection};
use serde::Serialize;
use utoipa::ToSchema;

use crate::endpoints::handlers;
use crate::table::{Cell, Column, Filter, Table, list_params};
use kontor_web::envelope::one;
use kontor_web::wire::{self, InputErrors, NamedRecord, PhotoRecord, ZeroIsNull, change_body};

handlers! {
    fn table_routes; PartService<MenuItem>, "Application categories, brands, menu items";

    /// List the menu items of an application as a table
    table "/api/tables/applications/{id}/menu_items" as list_menu_items_table(MenuItemParams) = page(id) -> TABLE;
}

handlers! {
    PartService<MenuItem>, "Application categories, brands, menu items";

    /// Create a menu item
    ///
    /// The item is added last among the items with the same parent. An application can have at most 1,000 items in 16
    /// levels.
    create "/api/applications/{id}/menu_items" as create_menu_item(NewMenuItem) = create(id, input) -> MenuItemResponse
        zero ["parent_id"];

    /// Get a menu item
    read "/api/applications/{id}/menu_items/{menu_item_id}" as show_menu_item = read(ids) -> MenuItemResponse;

    /// Update a menu item
    ///
    /// Fields that are not sent keep their values. Below a new parent, the item is placed last.
    update "/api/applications/{id}/menu_items/{menu_item_id}" as update_menu_item(ChangedMenuItem) = update(ids, input)
        -> MenuItemResponse zero ["parent_id"];

    /// Delete a menu item
    ///
    /// The item must have no children.
    delete "/api/applications/{id}/menu_items/{menu_item_id}" as delete_menu_item = delete(ids)
        -> "The menu item was deleted.", 422 "The record has children.";
}

handlers! {
    fn move_routes; PartOrderService<MenuItem>, "Application categories, brands, menu items";

    /// Move a menu item up
    ///
    /// Moves it one position up among the items with the same parent. The first item is not changed.
    post "/api/applications/{id}/menu_items/{menu_item_id}/up" as move_menu_item_up = shift(ids, {MoveDirection::Up})
        -> MenuItemResponse;

    /// Move a menu item down
    ///
    /// Moves it one position down among the items with the same parent. The last item is not changed.
    post "/api/applications/{id}/menu_items/{menu_item_id}/down" as move_menu_item_down
        = shift(ids, {MoveDirection::Down}) -> MenuItemResponse;
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

change_body! {
    ChangedMenuItem {
        name: wire::Name,
        code: wire::PartCode,
        slug: wire::Slug,
        /// `null` makes the item a root. Its children move with it.
        parent_id: wire::MenuItemId | null | 0,
        avatar: wire::PhotoUrl | null,
        preview: wire::PhotoUrl | null,
    }
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
