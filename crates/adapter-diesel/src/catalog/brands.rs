//! Brands and tags of items.

use async_trait::async_trait;
use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_catalog::model::{Brand, PhotoUrl, Tag, TagDraft};
use kontor_catalog::ports::TagRepository;
use kontor_catalog::{BrandRefusal, TagError, TagRefusal};
use kontor_kernel::{Name, ProjectId, ProjectScoped, RecordError, Stamp, StoreError};

use super::CHUNK;
use crate::collation::sort_key;
use crate::database::{Abort, AnyConnection, Database, found, on_duplicate};
use crate::locks::lock_project;
use crate::records::{self, Inserted, RepositoryRecord, StoredRecord, Written};
use crate::schema::{brands, keyed, projects, tags};
use crate::{decode, unreadable};

#[derive(Queryable, Selectable)]
#[diesel(table_name = brands)]
struct BrandRow {
    id: i64,
    project_id: i64,
    name: String,
    photo: Option<String>,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
}

impl TryFrom<BrandRow> for Brand {
    type Error = StoreError;

    fn try_from(row: BrandRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: decode::id(row.id)?,
            name: decode::text(&row.name)?,
            photo: decode::optional_text(row.photo.as_deref())?,
            created_at: decode::moment(row.created_at),
            updated_at: decode::moment(row.updated_at),
        })
    }
}

impl StoredRecord for Brand {
    const TABLE: &'static str = "brands";

    fn load<R>(connection: &mut AnyConnection, id: i64) -> Result<Option<ProjectScoped<Self>>, Abort<R>> {
        let row = brands::table.find(id).select(BrandRow::as_select()).first(connection).optional()?;
        Ok(row.map(|row| records::of_project(row.project_id, row.try_into())).transpose()?)
    }
}

/// Loads these brands, in no particular order.
pub(super) fn load<R>(connection: &mut AnyConnection, ids: &[i64]) -> Result<Vec<Brand>, Abort<R>> {
    let mut all = Vec::with_capacity(ids.len());
    for ids in ids.chunks(CHUNK) {
        let rows: Vec<BrandRow> =
            brands::table.filter(brands::id.eq_any(ids.to_vec())).select(BrandRow::as_select()).load(connection)?;
        for row in rows {
            all.push(row.try_into()?);
        }
    }
    Ok(all)
}

impl RepositoryRecord for Brand {
    fn of_project(connection: &mut AnyConnection, project: i64) -> Result<Vec<Self>, Abort<StoreError>> {
        let rows: Vec<BrandRow> = brands::table
            .filter(brands::project_id.eq(project))
            .order(brands::id)
            .select(BrandRow::as_select())
            .load(connection)?;
        Ok(unreadable::rows("brands", rows, |row| row.id, Self::try_from)?)
    }

    fn insert(connection: &mut AnyConnection, stamp: &Stamp, draft: &Self::Draft) -> Inserted<Self> {
        diesel::insert_into(brands::table)
            .values((
                brands::project_id.eq(stamp.project_id.get()),
                brands::name.eq(draft.name.as_str()),
                brands::name_key.eq(draft.name.key()),
                brands::sort_key.eq(sort_key(&draft.name)),
                brands::photo.eq(draft.photo.as_ref().map(PhotoUrl::as_str)),
                brands::created_at.eq(stamp.at.naive_utc()),
                brands::updated_at.eq(stamp.at.naive_utc()),
            ))
            .returning(brands::id)
            .get_result(connection)
            .map_err(on_duplicate(BrandRefusal::NameTaken))
    }

    fn update(connection: &mut AnyConnection, stamp: &Stamp, before: &Self, change: &Self::Change) -> Written<Self> {
        diesel::update(keyed!(brands, before.id.get(), stamp.project_id))
            .set((
                change.name.as_set().map(|name| {
                    let keys = (brands::name_key.eq(name.key()), brands::sort_key.eq(sort_key(name)));
                    (brands::name.eq(name.as_str()), keys)
                }),
                change.photo.as_set().map(|photo| brands::photo.eq(photo.as_ref().map(PhotoUrl::as_str))),
                brands::version.eq(brands::version + 1),
                brands::updated_at.eq(stamp.at.naive_utc()),
            ))
            .execute(connection)
            .map_err(on_duplicate(BrandRefusal::NameTaken))
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = tags)]
pub(super) struct TagRow {
    pub(super) id: i64,
    project_id: i64,
    name: String,
    photo: Option<String>,
    created_at: NaiveDateTime,
}

impl TryFrom<TagRow> for Tag {
    type Error = StoreError;

    fn try_from(row: TagRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: decode::id(row.id)?,
            name: decode::text(&row.name)?,
            photo: decode::optional_text(row.photo.as_deref())?,
            created_at: decode::moment(row.created_at),
        })
    }
}

impl StoredRecord for Tag {
    const TABLE: &'static str = "tags";

    fn load<R>(connection: &mut AnyConnection, id: i64) -> Result<Option<ProjectScoped<Self>>, Abort<R>> {
        let row = tags::table.find(id).select(TagRow::as_select()).first(connection).optional()?;
        Ok(row.map(|row| records::of_project(row.project_id, row.try_into())).transpose()?)
    }
}

#[async_trait]
impl TagRepository for Database {
    async fn list(&self, project: ProjectId) -> Result<Vec<Tag>, StoreError> {
        self.read(move |connection| {
            let rows: Vec<TagRow> = tags::table
                .filter(tags::project_id.eq(project.get()))
                .order(tags::id)
                .select(TagRow::as_select())
                .load(connection)?;
            Ok(unreadable::rows("tags", rows, |row| row.id, Tag::try_from)?)
        })
        .await
    }

    async fn insert(&self, stamp: Stamp, draft: TagDraft) -> Result<Tag, TagError> {
        records::insert(self, stamp, move |connection| {
            let project = stamp.project_id.get();
            // Names are compared case-insensitively, which no key of this table does. So tags of a project are created
            // one after the other.
            lock_project(connection, stamp.project_id)?;
            if !found!(connection, projects::table.find(project))? {
                return Err(Abort::Refused(RecordError::NotFound));
            }
            let names: Vec<String> =
                tags::table.filter(tags::project_id.eq(project)).select(tags::name).load(connection)?;
            let key = draft.name.key();
            for name in names {
                if decode::text::<Name>(&name)?.key() == key {
                    return Err(Abort::refused(TagRefusal::NameTaken));
                }
            }
            Ok(diesel::insert_into(tags::table)
                .values((
                    tags::project_id.eq(project),
                    tags::name.eq(draft.name.as_str()),
                    tags::photo.eq(draft.photo.as_ref().map(PhotoUrl::as_str)),
                    tags::created_at.eq(stamp.at.naive_utc()),
                ))
                .returning(tags::id)
                .get_result(connection)?)
        })
        .await
    }
}
