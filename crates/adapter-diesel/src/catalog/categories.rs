use async_trait::async_trait;
use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_catalog::model::{Category, CategoryChange, CategoryCode, CategoryDraft, Edit, PhotoUrl};
use kontor_catalog::ports::CategoryRepository;
use kontor_catalog::{CategoryError, CategoryRefusal};
use kontor_kernel::{CategoryId, Listing, Page, ProjectId, ProjectScoped, Stamp, StoreError};

use super::CHUNK;
use crate::collation::sort_key;
use crate::database::{Abort, AnyConnection, Database, found, on_duplicate};
use crate::decode::{self, reference};
use crate::listing::{Source, in_order, key_contains};
use crate::locks::lock_project;
use crate::records::{self, StoredRecord};
use crate::schema::{categories, keyed};
use crate::statement::Statement;
use crate::unreadable;

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
    version: i64,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
}

type WithParent = (CategoryRow, Option<i64>, Option<String>);

fn category((row, parent_id, parent_name): WithParent) -> Result<Category, StoreError> {
    let parent = parent_id.zip(parent_name).map(|(id, name)| reference(id, &name)).transpose()?;
    Ok(Category {
        id: decode::id(row.id)?,
        name: decode::text(&row.name)?,
        photo: decode::optional_text(row.photo.as_deref())?,
        parent,
        code: CategoryCode::new(row.code).map_err(StoreError::corrupt)?,
        description: decode::optional_text(row.description.as_deref())?,
        version: decode::count(row.version)?,
        created_at: decode::moment(row.created_at),
        updated_at: decode::moment(row.updated_at),
    })
}

/// Categories with their parents; callers add filters.
macro_rules! with_parents {
    () => {
        categories::table
            .left_join(
                PARENTS.on(categories::parent_id
                    .eq(PARENTS.field(categories::id).nullable())
                    .and(categories::project_id.eq(PARENTS.field(categories::project_id)))),
            )
            .select((
                CategoryRow::as_select(),
                PARENTS.field(categories::id).nullable(),
                PARENTS.field(categories::name).nullable(),
            ))
    };
}

impl StoredRecord for Category {
    const TABLE: &'static str = "categories";

    fn load<R>(connection: &mut AnyConnection, id: i64) -> Result<Option<ProjectScoped<Self>>, Abort<R>> {
        let row: Option<WithParent> = with_parents!().filter(categories::id.eq(id)).first(connection).optional()?;
        Ok(row.map(|row| records::of_project(row.0.project_id, category(row))).transpose()?)
    }
}

/// Loads these categories, in no particular order.
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

/// Returns the code after the largest. If the largest code is in use, returns the smallest free code.
pub(super) fn next_code(connection: &mut AnyConnection, project: ProjectId) -> QueryResult<i64> {
    let largest: Option<i64> = categories::table
        .filter(categories::project_id.eq(project.get()))
        .select(diesel::dsl::max(categories::code))
        .first(connection)?;
    let next = largest.unwrap_or_default() + 1;
    if next <= CategoryCode::MAX_CODE {
        return Ok(next);
    }
    Statement::new(
        "SELECT min(f.code) FROM (SELECT 1 AS code UNION ALL SELECT c.code + 1 FROM categories c WHERE c.project_id = ",
    )
    .value(project.get())
    .sql(") AS f WHERE NOT EXISTS (SELECT 1 FROM categories t WHERE t.code = f.code AND t.project_id = ")
    .value(project.get())
    .sql(")")
    .scalar(connection)
}

/// Source of the category list for staff.
const CATEGORIES: Source = Source {
    from: "categories c",
    id: "c.id",
    fields: &[
        ("id", "c.id"),
        ("code", "c.code"),
        ("name", "c.sort_key"),
        ("parent_id", "c.parent_id"),
        ("created_at", "c.created_at"),
        ("updated_at", "c.updated_at"),
    ],
    search: |text| key_contains("c.name_key", text),
};

#[async_trait]
impl CategoryRepository for Database {
    async fn list(&self, project: ProjectId) -> Result<Vec<Category>, StoreError> {
        self.read(move |connection| {
            let rows: Vec<WithParent> = with_parents!()
                .filter(categories::project_id.eq(project.get()))
                .order(categories::id)
                .load(connection)?;
            Ok(unreadable::rows("categories", rows, |row| row.0.id, category)?)
        })
        .await
    }

    async fn page(
        &self,
        project: ProjectId,
        parent: Option<CategoryId>,
        listing: Listing,
    ) -> Result<Page<Category>, StoreError> {
        self.snapshot(move |connection| {
            let own = Statement::new("c.project_id = ").value(project.get());
            let own = match parent {
                Some(parent) => own.sql(" AND c.parent_id = ").value(parent.get()),
                None => own,
            };
            let found = CATEGORIES.page(connection, own, &listing)?;
            let records = unreadable::records(connection, "categories", &found.items, load)?;
            Ok(found.with_items(in_order(&found.items, records, |category| category.id.get())))
        })
        .await
    }

    async fn find(&self, id: CategoryId) -> Result<Option<ProjectScoped<Category>>, StoreError> {
        records::find(self, id.get()).await
    }

    async fn insert(&self, stamp: Stamp, draft: CategoryDraft) -> Result<Category, CategoryError> {
        records::insert(self, stamp, move |connection| {
            let project = stamp.project_id;
            require_parent(connection, project, draft.parent_id)?;
            let code = if let Some(code) = draft.code {
                code.get()
            } else {
                lock_project(connection, project)?;
                next_code(connection, project)?
            };
            diesel::insert_into(categories::table)
                .values((
                    categories::project_id.eq(project.get()),
                    categories::parent_id.eq(draft.parent_id.map(i64::from)),
                    categories::name.eq(draft.name.as_str()),
                    categories::name_key.eq(draft.name.key()),
                    categories::sort_key.eq(sort_key(&draft.name)),
                    categories::code.eq(code),
                    categories::description.eq(draft.description.as_deref()),
                    categories::photo.eq(draft.photo.as_ref().map(PhotoUrl::as_str)),
                    categories::created_at.eq(stamp.at.naive_utc()),
                    categories::updated_at.eq(stamp.at.naive_utc()),
                ))
                .returning(categories::id)
                .get_result(connection)
                .map_err(on_duplicate(CategoryRefusal::CodeTaken))
        })
        .await
    }

    async fn update(&self, stamp: Stamp, id: CategoryId, change: CategoryChange) -> Result<Category, CategoryError> {
        records::change(self, stamp, id.get(), move |connection, _: &Category| {
            let project = stamp.project_id;
            if let Edit::Set(Some(parent)) = change.parent_id {
                // Two changes that would close a cycle together wait for each other here.
                lock_project(connection, project)?;
                require_parent(connection, project, Some(parent))?;
                if is_descendant(connection, parent, id)? {
                    return Err(Abort::refused(CategoryRefusal::Cycle));
                }
            }
            diesel::update(keyed!(categories, id.get(), stamp.project_id))
                .set((
                    change.name.as_set().map(|name| {
                        let keys = (categories::name_key.eq(name.key()), categories::sort_key.eq(sort_key(name)));
                        (categories::name.eq(name.as_str()), keys)
                    }),
                    change.photo.as_set().map(|photo| categories::photo.eq(photo.as_ref().map(PhotoUrl::as_str))),
                    change.parent_id.as_set().map(|parent| categories::parent_id.eq(parent.map(i64::from))),
                    change.code.as_set().map(|code| categories::code.eq(code.get())),
                    change.description.as_set().map(|text| categories::description.eq(text.as_deref())),
                    categories::version.eq(categories::version + 1),
                    categories::updated_at.eq(stamp.at.naive_utc()),
                ))
                .execute(connection)
                .map_err(on_duplicate(CategoryRefusal::CodeTaken))
        })
        .await
    }
}

fn require_parent(
    connection: &mut AnyConnection,
    project: ProjectId,
    parent: Option<CategoryId>,
) -> Result<(), Abort<CategoryError>> {
    let Some(parent) = parent else { return Ok(()) };
    let own = categories::table.find(parent.get()).filter(categories::project_id.eq(project.get()));
    if found!(connection, own)? { Ok(()) } else { Err(Abort::refused(CategoryRefusal::UnknownParent)) }
}

/// Returns `true` if a category is `other` or a descendant of it.
fn is_descendant(connection: &mut AnyConnection, category: CategoryId, other: CategoryId) -> QueryResult<bool> {
    // UNION instead of UNION ALL: it ends even if the categories form a cycle.
    Statement::new("WITH RECURSIVE above (id) AS (SELECT id FROM categories WHERE id = ")
        .value(category.get())
        .sql(" UNION SELECT up.parent_id FROM categories up JOIN above ON up.id = above.id WHERE up.parent_id IS NOT NULL) ")
        .sql("SELECT EXISTS (SELECT 1 FROM above WHERE id = ")
        .value(other.get())
        .sql(")")
        .scalar(connection)
}
