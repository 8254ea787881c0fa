use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_catalog::CategoryError;
use kontor_catalog::model::{Category, CategoryCode, CategoryDraft, PhotoUrl, Reference};
use kontor_catalog::ports::CategoryRepository;
use kontor_kernel::{ProjectId, StoreError};

use super::{CHUNK, found, hold, on_duplicate};
use crate::database::{Abort, AnyConnection, Database};
use crate::schema::{categories, projects};
use crate::stored;

diesel::alias!(const PARENTS: Alias<Parents> = categories as parents);

#[derive(Queryable, Selectable)]
#[diesel(table_name = categories)]
struct CategoryRow {
    id: i64,
    project_id: i64,
    name: String,
    code: i64,
    description: Option<String>,
    photo: Option<String>,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
}

type WithParent = (CategoryRow, Option<i64>, Option<String>);

fn category((row, parent_id, parent_name): WithParent) -> Result<Category, StoreError> {
    let parent = parent_id.zip(parent_name).map(|(id, name)| reference(id, &name)).transpose()?;
    Ok(Category {
        id: stored::id(row.id)?,
        project_id: stored::id(row.project_id)?,
        name: stored::text(&row.name)?,
        photo: photo(row.photo.as_deref())?,
        parent,
        code: CategoryCode::new(row.code).map_err(StoreError::corrupt)?,
        description: stored::optional_text(row.description.as_deref())?,
        created_at: stored::moment(row.created_at),
        updated_at: stored::moment(row.updated_at),
    })
}

/// Another record, as stored.
pub(super) fn reference<Id>(id: i64, name: &str) -> Result<Reference<Id>, StoreError>
where
    Id: TryFrom<i64, Error = kontor_kernel::InvalidId>,
{
    Ok(Reference { id: stored::id(id)?, name: stored::text(name)? })
}

/// A picture, as stored.
pub(super) fn photo(url: Option<&str>) -> Result<Option<PhotoUrl>, StoreError> {
    url.map(|url| PhotoUrl::parse(url).map_err(StoreError::corrupt)).transpose()
}

/// Categories with their parents, ready to be narrowed.
macro_rules! with_parents {
    () => {
        categories::table
            .left_join(PARENTS.on(categories::parent_id.eq(PARENTS.field(categories::id).nullable())))
            .select((
                CategoryRow::as_select(),
                PARENTS.field(categories::id).nullable(),
                PARENTS.field(categories::name).nullable(),
            ))
    };
}

/// These categories, in no particular order.
pub(super) fn load<R>(connection: &mut AnyConnection, ids: &[i64]) -> Result<Vec<Category>, Abort<R>> {
    let mut all = Vec::with_capacity(ids.len());
    for ids in ids.chunks(CHUNK) {
        let rows: Vec<WithParent> = with_parents!().filter(categories::id.eq_any(ids.to_vec())).load(connection)?;
        for row in rows {
            all.push(category(row)?);
        }
    }
    Ok(all)
}

pub(super) fn next_code(connection: &mut AnyConnection, project: ProjectId) -> QueryResult<i64> {
    let largest: Option<i64> = categories::table
        .filter(categories::project_id.eq(project.get()))
        .select(diesel::dsl::max(categories::code))
        .first(connection)?;
    Ok(largest.unwrap_or_default() + 1)
}

#[async_trait]
impl CategoryRepository for Database {
    async fn list(&self, project: ProjectId) -> Result<Vec<Category>, StoreError> {
        self.read(move |connection| {
            let rows: Vec<WithParent> = with_parents!()
                .filter(categories::project_id.eq(project.get()))
                .order(categories::id)
                .load(connection)?;
            rows.into_iter().map(|row| category(row).map_err(Abort::Store)).collect()
        })
        .await
    }

    async fn insert(
        &self,
        project: ProjectId,
        draft: CategoryDraft,
        at: DateTime<Utc>,
    ) -> Result<Category, CategoryError> {
        self.write(move |connection| {
            if let Some(parent) = draft.parent_id {
                let parent = categories::table.find(parent.get()).filter(categories::project_id.eq(project.get()));
                if !found!(connection, parent)? {
                    return Err(Abort::Refused(CategoryError::UnknownParent));
                }
            }
            let code = if let Some(code) = draft.code {
                code.get()
            } else {
                hold!(connection, projects::table.find(project.get()).select(projects::id));
                next_code(connection, project)?
            };
            let id: i64 = diesel::insert_into(categories::table)
                .values((
                    categories::project_id.eq(project.get()),
                    categories::parent_id.eq(draft.parent_id.map(i64::from)),
                    categories::name.eq(draft.name.as_str()),
                    categories::name_key.eq(draft.name.key()),
                    categories::code.eq(code),
                    categories::description.eq(draft.description.as_deref()),
                    categories::photo.eq(draft.photo.as_ref().map(PhotoUrl::as_str)),
                    categories::created_at.eq(at.naive_utc()),
                    categories::updated_at.eq(at.naive_utc()),
                ))
                .returning(categories::id)
                .get_result(connection)
                .map_err(on_duplicate(CategoryError::CodeTaken))?;
            Ok(category(with_parents!().filter(categories::id.eq(id)).first(connection)?)?)
        })
        .await
    }
}
