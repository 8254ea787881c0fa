use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_content::PartError;
use kontor_content::model::{
    ApplicationPart as _, Menu, MenuItem, MenuItemChange, MenuItemDraft, Node, PartCode, Place, PlaceChange,
    PlaceDraft, ShownItem, Slug, Tree,
};
use kontor_kernel::{AppScope, ApplicationId, Edit, MenuItemId, Name, PhotoUrl, ProjectScoped, Stamp, StoreError};

use super::parts::{self, OrderedPart, StoredPart, TreePart, next_position};
use crate::collation::sort_key;
use crate::database::{Abort, AnyConnection, Database, Extent};
use crate::decode;
use crate::listing::{Source, key_contains};
use crate::records::StoredRecord;
use crate::schema::{keyed, menu_items};
use crate::statement::{Statement, by_place};

by_place! {
    pub(super) struct ItemRow {
        id: i64,
        project_id: i64,
        application_id: i64,
        parent_id: Option<i64>,
        parent_name: Option<String>,
        code: i64,
        slug: String,
        position: i64,
        name: String,
        avatar: Option<String>,
        preview: Option<String>,
        version: i64,
        created_at: NaiveDateTime,
        updated_at: NaiveDateTime,
    }
}

const ITEMS: &str = "SELECT r.id, r.project_id, r.application_id, r.parent_id, a.name, r.code, r.slug, r.position, r.name, \
    r.avatar, r.preview, r.version, r.created_at, r.updated_at FROM menu_items r \
    LEFT JOIN menu_items a ON a.id = r.parent_id AND a.project_id = r.project_id WHERE r.id";

impl TryFrom<ItemRow> for MenuItem {
    type Error = StoreError;

    fn try_from(row: ItemRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: decode::id(row.id)?,
            place: Place {
                application_id: decode::id(row.application_id)?,
                parent: parts::parent(row.parent_id, row.parent_name)?,
                code: PartCode::new(row.code).map_err(StoreError::corrupt)?,
                slug: decode::text(&row.slug)?,
            },
            position: row.position,
            name: decode::owned(row.name)?,
            avatar: decode::optional_text(row.avatar.as_deref())?,
            preview: decode::optional_text(row.preview.as_deref())?,
            version: decode::count(row.version)?,
            created_at: decode::moment(row.created_at),
            updated_at: decode::moment(row.updated_at),
        })
    }
}

impl StoredRecord for MenuItem {
    const TABLE: &'static str = "menu_items";

    fn load<R>(connection: &mut AnyConnection, id: i64) -> Result<Option<ProjectScoped<Self>>, Abort<R>> {
        Ok(parts::load_many(connection, &[id])?.pop())
    }
}

/// Selects the siblings below a parent of the application, or its roots.
fn beside(application: i64, parent: Option<i64>) -> Statement {
    let beside = Statement::new(" FROM menu_items WHERE application_id = ").value(application);
    match parent {
        Some(parent) => beside.sql(" AND parent_id = ").value(parent),
        None => beside.sql(" AND parent_id IS NULL"),
    }
}

impl StoredPart for MenuItem {
    const SOURCE: Source = Source {
        from: "menu_items r",
        id: "r.id",
        fields: &[
            ("id", "r.id"),
            ("code", "r.code"),
            ("name", "r.sort_key"),
            ("position", "r.position"),
            ("parent_id", "r.parent_id"),
            ("created_at", "r.created_at"),
            ("updated_at", "r.updated_at"),
        ],
        search: |text| key_contains("r.name_key", text),
    };
    const SELECT: &'static str = ITEMS;

    type Row = ItemRow;

    fn decode_row(row: ItemRow) -> (i64, i64, Result<Self, StoreError>) {
        (row.id, row.project_id, row.try_into())
    }

    fn insert(
        connection: &mut AnyConnection,
        stamp: &Stamp,
        application: ApplicationId,
        draft: &MenuItemDraft,
    ) -> Result<i64, Abort<PartError>> {
        let spot = parts::new_position::<Self>(connection, application, draft)?;
        let position = next_position(connection, beside(spot.application, spot.parent))?;
        let id = diesel::insert_into(menu_items::table)
            .values((
                (
                    menu_items::project_id.eq(stamp.project_id.get()),
                    menu_items::application_id.eq(spot.application),
                    menu_items::parent_id.eq(spot.parent),
                    menu_items::code.eq(spot.code),
                    menu_items::slug.eq(&spot.slug),
                    menu_items::position.eq(position),
                ),
                (
                    menu_items::name.eq(draft.name.as_str()),
                    menu_items::name_key.eq(draft.name.key()),
                    menu_items::sort_key.eq(sort_key(&draft.name)),
                    menu_items::avatar.eq(draft.avatar.as_ref().map(PhotoUrl::as_str)),
                    menu_items::preview.eq(draft.preview.as_ref().map(PhotoUrl::as_str)),
                    menu_items::created_at.eq(stamp.at.naive_utc()),
                    menu_items::updated_at.eq(stamp.at.naive_utc()),
                ),
            ))
            .returning(menu_items::id)
            .get_result(connection)?;
        Ok(id)
    }

    fn update(
        connection: &mut AnyConnection,
        stamp: &Stamp,
        before: &Self,
        change: &MenuItemChange,
    ) -> Result<usize, Abort<PartError>> {
        parts::check_move(connection, before, change)?;
        let place = &change.place;
        let elsewhere = match place.parent_id {
            Edit::Set(parent) if parent.map(MenuItemId::get) != before.parent() => {
                let parent = parent.map(MenuItemId::get);
                Some((parent, next_position(connection, beside(before.application().get(), parent))?))
            }
            Edit::Set(_) | Edit::Keep => None,
        };
        let changed = diesel::update(keyed!(menu_items, before.id.get(), stamp.project_id))
            .set((
                elsewhere.map(|(parent, last)| (menu_items::parent_id.eq(parent), menu_items::position.eq(last))),
                place.code.as_set().map(|code| menu_items::code.eq(code.get())),
                place.slug.as_set().map(|slug| menu_items::slug.eq(slug.as_str())),
                change.name.as_set().map(|name| {
                    let keys = (menu_items::name_key.eq(name.key()), menu_items::sort_key.eq(sort_key(name)));
                    (menu_items::name.eq(name.as_str()), keys)
                }),
                change.avatar.as_set().map(|url| menu_items::avatar.eq(url.as_ref().map(PhotoUrl::as_str))),
                change.preview.as_set().map(|url| menu_items::preview.eq(url.as_ref().map(PhotoUrl::as_str))),
                menu_items::version.eq(menu_items::version + 1),
                menu_items::updated_at.eq(stamp.at.naive_utc()),
            ))
            .execute(connection)?;
        Ok(changed)
    }
}

impl TreePart for MenuItem {
    const FALLBACK_SLUG: &'static str = "item";

    fn parent(&self) -> Option<i64> {
        self.place.parent.as_ref().map(|(id, _)| id.get())
    }

    fn drafted(draft: &MenuItemDraft) -> (&PlaceDraft<MenuItemId>, &Name) {
        (&draft.place, &draft.name)
    }

    fn moved(change: &MenuItemChange) -> &PlaceChange<MenuItemId> {
        &change.place
    }
}

impl OrderedPart for MenuItem {
    fn siblings(&self, _stamp: &Stamp) -> Statement {
        beside(self.application().get(), self.parent())
    }
}

by_place! {
    struct ShownRow {
        id: i64,
        parent_id: Option<i64>,
        code: i64,
        slug: String,
        name: String,
        avatar: Option<String>,
        preview: Option<String>,
        address: Option<String>,
    }
}

impl TryFrom<ShownRow> for ShownItem {
    type Error = StoreError;

    fn try_from(row: ShownRow) -> Result<Self, StoreError> {
        Ok(Self {
            code: PartCode::new(row.code).map_err(StoreError::corrupt)?,
            slug: decode::text(&row.slug)?,
            name: decode::owned(row.name)?,
            avatar: decode::optional_text(row.avatar.as_deref())?,
            preview: decode::optional_text(row.preview.as_deref())?,
        })
    }
}

/// Returns a menu item of the application with its descendants, in one statement that reads every row once. The root is
/// returned without parent and with the URL of the application.
pub(super) async fn menu(database: &Database, app: AppScope, slug: Slug) -> Result<Option<Menu>, StoreError> {
    database
        .expecting(Extent::Page)
        .read(move |connection| {
            let application = app.application_id.get();
            let rows: Vec<ShownRow> = Statement::new(
                "WITH RECURSIVE below (id, parent_id, code, slug, name, position, avatar, preview, level) AS (SELECT id, \
                 CAST(NULL AS BIGINT), code, slug, name, position, avatar, preview, 1 FROM menu_items WHERE application_id = ",
            )
            .value(application)
            .sql(" AND project_id = ")
            .value(app.project_id.get())
            .sql(" AND slug = ")
            .value(slug.as_str())
            .sql(
                " UNION ALL SELECT n.id, n.parent_id, n.code, n.slug, n.name, n.position, n.avatar, n.preview, b.level + 1 \
                 FROM menu_items n JOIN below b ON n.parent_id = b.id WHERE n.project_id = ",
            )
            .value(app.project_id.get())
            .sql(" AND b.level < ")
            .value(i64::try_from(Tree::MAX_DEPTH).unwrap_or(i64::MAX))
            .sql(
                ") SELECT id, parent_id, code, slug, name, avatar, preview, CASE WHEN level = 1 THEN (SELECT url FROM \
                 applications WHERE id = ",
            )
            .value(application)
            .sql(") END FROM below ORDER BY position, id")
            .rows(connection)?;
            let (mut top, mut items) = (None, Vec::with_capacity(rows.len()));
            for row in rows {
                let (id, parent) = (row.id, row.parent_id);
                if parent.is_none() {
                    top = Some((id, decode::link(row.address.as_deref())));
                }
                items.push((id, parent, row.try_into()?));
            }
            let menu = top.and_then(|(id, address)| Some(Menu { root: Node::nested(items, id)?, address }));
            Ok(menu)
        })
        .await
}
