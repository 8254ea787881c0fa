use async_trait::async_trait;
use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_catalog::model::{PhotoUrl, Tag, TagDraft};
use kontor_catalog::ports::TagRepository;
use kontor_catalog::{TagError, TagRefusal};
use kontor_kernel::{Name, ProjectId, ProjectScoped, RecordError, Stamp, StoreError};

use super::lock_row;
use crate::database::{Abort, AnyConnection, Database, found};
use crate::decode;
use crate::records::{self, StoredRecord};
use crate::schema::{projects, tags};
use crate::unreadable;

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
            lock_row!(connection, projects::table.find(project).select(projects::id));
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
