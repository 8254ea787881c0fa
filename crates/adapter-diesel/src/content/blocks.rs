use async_trait::async_trait;
use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_content::model::{
    Block, BlockChange, BlockDraft, Menu, Node, PartCode, Place, PlaceChange, PlaceDraft, Slug,
};
use kontor_content::ports::{BlockKey, PartReader};
use kontor_content::{PartError, PartRefusal};
use kontor_kernel::{
    AppScope, ApplicationId, BlockId, BlockTypeId, Link, Name, PhotoUrl, ProjectScoped, Stamp, StoreError,
};

use super::parts::{self, StoredPart, TreePart};
use crate::collation::sort_key;
use crate::database::{Abort, AnyConnection, Database, Extent};
use crate::decode;
use crate::listing::{Source, key_contains};
use crate::records::StoredRecord;
use crate::schema::{blocks, keyed};
use crate::statement::{Statement, by_place};

by_place! {
    pub(super) struct BlockRow {
        id: i64,
        project_id: i64,
        application_id: i64,
        parent_id: Option<i64>,
        parent_name: Option<String>,
        code: i64,
        slug: String,
        name: String,
        avatar: Option<String>,
        type_id: i64,
        type_name: String,
        link: Option<String>,
        file: Option<String>,
        text: Option<String>,
        version: i64,
        created_at: NaiveDateTime,
        updated_at: NaiveDateTime,
    }
}

const BLOCKS: &str = "SELECT r.id, r.project_id, r.application_id, r.parent_id, a.name, r.code, r.slug, r.name, r.avatar, \
    r.block_type_id, t.name, r.link, r.file, r.text, r.version, r.created_at, r.updated_at FROM blocks r \
    JOIN dictionary_items t ON t.dictionary = 'block_types' AND t.id = r.block_type_id \
    LEFT JOIN blocks a ON a.id = r.parent_id AND a.project_id = r.project_id WHERE r.id";

impl TryFrom<BlockRow> for Block {
    type Error = StoreError;

    fn try_from(row: BlockRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: decode::id(row.id)?,
            place: Place {
                application_id: decode::id(row.application_id)?,
                parent: parts::parent(row.parent_id, row.parent_name)?,
                code: PartCode::new(row.code).map_err(StoreError::corrupt)?,
                slug: decode::text(&row.slug)?,
            },
            name: decode::owned(row.name)?,
            avatar: decode::optional_text(row.avatar.as_deref())?,
            block_type: (decode::id(row.type_id)?, decode::owned(row.type_name)?),
            link: decode::link(row.link.as_deref()),
            file: decode::optional_text(row.file.as_deref())?,
            text: decode::optional_text(row.text.as_deref())?,
            version: decode::count(row.version)?,
            created_at: decode::moment(row.created_at),
            updated_at: decode::moment(row.updated_at),
        })
    }
}

impl StoredRecord for Block {
    const TABLE: &'static str = "blocks";

    fn load<R>(connection: &mut AnyConnection, id: i64) -> Result<Option<ProjectScoped<Self>>, Abort<R>> {
        Ok(parts::load_many(connection, &[id])?.pop())
    }
}

fn require_type(connection: &mut AnyConnection, id: BlockTypeId) -> Result<(), Abort<PartError>> {
    let known = Statement::new("SELECT id FROM dictionary_items WHERE dictionary = 'block_types' AND id = ");
    if known.value(id.get()).finds(connection)? { Ok(()) } else { Err(Abort::refused(PartRefusal::UnknownType)) }
}

impl StoredPart for Block {
    const SOURCE: Source = Source {
        from: "blocks r",
        id: "r.id",
        fields: &[
            ("id", "r.id"),
            ("code", "r.code"),
            ("name", "r.sort_key"),
            ("block_type_id", "r.block_type_id"),
            ("parent_id", "r.parent_id"),
            ("created_at", "r.created_at"),
            ("updated_at", "r.updated_at"),
        ],
        search: |text| key_contains("r.name_key", text),
    };
    const SELECT: &'static str = BLOCKS;

    type Row = BlockRow;

    fn decode_row(row: BlockRow) -> (i64, i64, Result<Self, StoreError>) {
        (row.id, row.project_id, row.try_into())
    }

    fn insert(
        connection: &mut AnyConnection,
        stamp: &Stamp,
        application: ApplicationId,
        draft: &BlockDraft,
    ) -> Result<i64, Abort<PartError>> {
        let spot = parts::new_position::<Self>(connection, application, draft)?;
        require_type(connection, draft.block_type_id)?;
        let id = diesel::insert_into(blocks::table)
            .values((
                (
                    blocks::project_id.eq(stamp.project_id.get()),
                    blocks::application_id.eq(spot.application),
                    blocks::parent_id.eq(spot.parent),
                    blocks::code.eq(spot.code),
                    blocks::slug.eq(&spot.slug),
                    blocks::name.eq(draft.name.as_str()),
                    blocks::name_key.eq(draft.name.key()),
                    blocks::sort_key.eq(sort_key(&draft.name)),
                ),
                (
                    blocks::avatar.eq(draft.avatar.as_ref().map(PhotoUrl::as_str)),
                    blocks::block_type_id.eq(draft.block_type_id.get()),
                    blocks::link.eq(draft.link.as_ref().map(Link::as_str)),
                    blocks::file.eq(draft.file.as_ref().map(PhotoUrl::as_str)),
                    blocks::text.eq(draft.text.as_deref()),
                    blocks::created_at.eq(stamp.at.naive_utc()),
                    blocks::updated_at.eq(stamp.at.naive_utc()),
                ),
            ))
            .returning(blocks::id)
            .get_result(connection)?;
        Ok(id)
    }

    fn update(
        connection: &mut AnyConnection,
        stamp: &Stamp,
        before: &Self,
        change: &BlockChange,
    ) -> Result<usize, Abort<PartError>> {
        parts::check_move(connection, before, change)?;
        if let Some(id) = change.block_type_id.as_set() {
            require_type(connection, *id)?;
        }
        let place = &change.place;
        let changed = diesel::update(keyed!(blocks, before.id.get(), stamp.project_id))
            .set((
                place.parent_id.as_set().map(|parent| blocks::parent_id.eq(parent.map(BlockId::get))),
                place.code.as_set().map(|code| blocks::code.eq(code.get())),
                place.slug.as_set().map(|slug| blocks::slug.eq(slug.as_str())),
                change.name.as_set().map(|name| {
                    let keys = (blocks::name_key.eq(name.key()), blocks::sort_key.eq(sort_key(name)));
                    (blocks::name.eq(name.as_str()), keys)
                }),
                change.avatar.as_set().map(|url| blocks::avatar.eq(url.as_ref().map(PhotoUrl::as_str))),
                change.block_type_id.as_set().map(|id| blocks::block_type_id.eq(id.get())),
                change.link.as_set().map(|link| blocks::link.eq(link.as_ref().map(Link::as_str))),
                change.file.as_set().map(|url| blocks::file.eq(url.as_ref().map(PhotoUrl::as_str))),
                change.text.as_set().map(|text| blocks::text.eq(text.as_deref())),
                blocks::version.eq(blocks::version + 1),
                blocks::updated_at.eq(stamp.at.naive_utc()),
            ))
            .execute(connection)?;
        Ok(changed)
    }
}

impl TreePart for Block {
    const FALLBACK_SLUG: &'static str = "block";

    fn parent(&self) -> Option<i64> {
        self.place.parent.as_ref().map(|(id, _)| id.get())
    }

    fn drafted(draft: &BlockDraft) -> (&PlaceDraft<BlockId>, &Name) {
        (&draft.place, &draft.name)
    }

    fn moved(change: &BlockChange) -> &PlaceChange<BlockId> {
        &change.place
    }
}

#[async_trait]
impl PartReader for Database {
    async fn block(&self, app: AppScope, key: BlockKey) -> Result<Option<Node<Block>>, StoreError> {
        self.expecting(Extent::Page)
            .read(move |connection| {
                let root = match &key {
                    BlockKey::Code(code) => Statement::new("code = ").value(code.get()),
                    BlockKey::Identifier(slug) => Statement::new("slug = ").value(slug.as_str()),
                };
                parts::with_descendants(connection, app, root)
            })
            .await
    }

    async fn menu(&self, app: AppScope, slug: Slug) -> Result<Option<Menu>, StoreError> {
        super::menu_items::menu(self, app, slug).await
    }
}
