use async_trait::async_trait;
use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_catalog::TagError;
use kontor_catalog::model::{PhotoUrl, Tag, TagDraft};
use kontor_catalog::ports::TagRepository;
use kontor_kernel::{Name, ProjectId, Stamp, StoreError};

use super::categories::photo;
use super::lock_row;
use crate::database::invalidation::{Topic, invalidate};
use crate::database::{Abort, Database, found};
use crate::histories;
use crate::schema::{projects, tags};
use crate::stored;

#[derive(Queryable, Selectable)]
#[diesel(table_name = tags)]
struct TagRow {
    id: i64,
    project_id: i64,
    name: String,
    photo: Option<String>,
    created_at: NaiveDateTime,
}

impl TryFrom<TagRow> for Tag {
    type Error = StoreError;

    fn try_from(row: TagRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: stored::id(row.id)?,
            project_id: stored::id(row.project_id)?,
            details: TagDraft { name: stored::text(&row.name)?, photo: photo(row.photo.as_deref())? },
            created_at: stored::moment(row.created_at),
        })
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
            rows.into_iter().map(|row| row.try_into().map_err(Abort::Store)).collect()
        })
        .await
    }

    async fn insert(&self, stamp: Stamp, draft: TagDraft) -> Result<Tag, TagError> {
        self.write(move |connection| {
            let (project, at) = (stamp.project_id, stamp.at);
            invalidate(Topic::Storefront, project.get());
            let own = projects::table.find(project.get());
            // Names are compared in any case, which no key of this table does: one tag of a project after the other.
            lock_row!(connection, own.select(projects::id));
            if !found!(connection, own)? {
                return Err(Abort::Refused(TagError::UnknownProject));
            }
            let names: Vec<String> =
                tags::table.filter(tags::project_id.eq(project.get())).select(tags::name).load(connection)?;
            let key = draft.name.key();
            for name in names {
                if stored::text::<Name>(&name)?.key() == key {
                    return Err(Abort::Refused(TagError::NameTaken));
                }
            }
            let id: i64 = diesel::insert_into(tags::table)
                .values((
                    tags::project_id.eq(project.get()),
                    tags::name.eq(draft.name.as_str()),
                    tags::photo.eq(draft.photo.as_ref().map(PhotoUrl::as_str)),
                    tags::created_at.eq(at.naive_utc()),
                ))
                .returning(tags::id)
                .get_result(connection)?;
            let created = Tag { id: stored::id(id)?, project_id: project, details: draft.clone(), created_at: at };
            histories::created(connection, &stamp, &created)?;
            Ok(created)
        })
        .await
    }
}
