use async_trait::async_trait;
use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_catalog::BrandError;
use kontor_catalog::model::{Brand, BrandChange, BrandDraft, PhotoUrl};
use kontor_catalog::ports::BrandRepository;
use kontor_kernel::{BrandId, ProjectId, Stamp, StoreError};

use super::CHUNK;
use super::categories::photo;
use super::lock_row;
use crate::collation::sort_key;
use crate::database::invalidation::{Topic, invalidate};
use crate::database::{Abort, AnyConnection, Database, on_duplicate};
use crate::histories;
use crate::schema::brands;
use crate::stored;

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
            id: stored::id(row.id)?,
            project_id: stored::id(row.project_id)?,
            details: BrandDraft { name: stored::text(&row.name)?, photo: photo(row.photo.as_deref())? },
            created_at: stored::moment(row.created_at),
            updated_at: stored::moment(row.updated_at),
        })
    }
}

/// These brands, in no particular order.
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

#[async_trait]
impl BrandRepository for Database {
    async fn list(&self, project: ProjectId) -> Result<Vec<Brand>, StoreError> {
        self.read(move |connection| {
            let rows: Vec<BrandRow> = brands::table
                .filter(brands::project_id.eq(project.get()))
                .order(brands::id)
                .select(BrandRow::as_select())
                .load(connection)?;
            rows.into_iter().map(|row| row.try_into().map_err(Abort::Store)).collect()
        })
        .await
    }

    async fn find(&self, id: BrandId) -> Result<Option<Brand>, StoreError> {
        self.read(move |connection| Ok(load(connection, &[id.get()])?.pop())).await
    }

    async fn update(&self, stamp: Stamp, id: BrandId, change: BrandChange) -> Result<Brand, BrandError> {
        self.write(move |connection| {
            invalidate(Topic::Storefront, stamp.project_id.get());
            let own = brands::table.find(id.get()).filter(brands::project_id.eq(stamp.project_id.get()));
            lock_row!(connection, own.select(brands::id));
            let before: BrandRow = own
                .select(BrandRow::as_select())
                .first(connection)
                .optional()?
                .ok_or(Abort::Refused(BrandError::NotFound))?;
            diesel::update(own)
                .set((
                    change.name.as_set().map(|name| {
                        let keys = (brands::name_key.eq(name.key()), brands::sort_key.eq(sort_key(name)));
                        (brands::name.eq(name.as_str()), keys)
                    }),
                    change.photo.as_set().map(|photo| brands::photo.eq(photo.as_ref().map(PhotoUrl::as_str))),
                    brands::updated_at.eq(stamp.at.naive_utc()),
                ))
                .execute(connection)
                .map_err(on_duplicate(BrandError::NameTaken))?;
            let after = load(connection, &[id.get()])?.pop().ok_or(Abort::Refused(BrandError::NotFound))?;
            histories::changed(connection, &stamp, &before.try_into()?, &after)?;
            Ok(after)
        })
        .await
    }

    async fn insert(&self, stamp: Stamp, draft: BrandDraft) -> Result<Brand, BrandError> {
        self.write(move |connection| {
            let (project, at) = (stamp.project_id, stamp.at);
            invalidate(Topic::Storefront, project.get());
            let id: i64 = diesel::insert_into(brands::table)
                .values((
                    brands::project_id.eq(project.get()),
                    brands::name.eq(draft.name.as_str()),
                    brands::name_key.eq(draft.name.key()),
                    brands::sort_key.eq(sort_key(&draft.name)),
                    brands::photo.eq(draft.photo.as_ref().map(PhotoUrl::as_str)),
                    brands::created_at.eq(at.naive_utc()),
                    brands::updated_at.eq(at.naive_utc()),
                ))
                .returning(brands::id)
                .get_result(connection)
                .map_err(on_duplicate(BrandError::NameTaken))?;
            let created = Brand {
                id: stored::id(id)?,
                project_id: project,
                details: draft.clone(),
                created_at: at,
                updated_at: at,
            };
            histories::created(connection, &stamp, &created)?;
            Ok(created)
        })
        .await
    }
}
