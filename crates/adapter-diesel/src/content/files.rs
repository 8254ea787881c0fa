use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_content::FileError;
use kontor_content::model::{
    Dimensions, FileKey, FileType, ListedFile, MediaType, NewFile, Sha256, StoredContent, StoredFile,
};
use kontor_content::ports::{FileRepository, OrphanedFile};
use kontor_kernel::{FileId, Listing, OrderId, Page, ProjectId, ProjectScoped, Stamp, StoreError};

use crate::customer_data::READY;
use crate::database::{Abort, AnyConnection, Database, Extent};
use crate::lease::{LeaseRequest, Leased, Queue};
use crate::listing::{Source, Totals, in_order, key_contains, unsearched};
use crate::records::{self, StoredRecord};
use crate::schema::{files, keyed, orders, referred, users};
use crate::statement::Statement;
use crate::unreadable;
use crate::{decode, histories};

/// Source of the files of an order.
const OF_ORDER: Source = Source {
    from: "files f",
    id: "f.id",
    fields: &[("id", "f.id"), ("name", "f.name"), ("size", "f.size"), ("created_at", "f.created_at")],
    search: unsearched,
};

/// Source of the files of a project.
const OF_PROJECT: Source = Source {
    from: "files f",
    id: "f.id",
    fields: &[
        ("id", "f.id"),
        ("size", "f.size"),
        ("created_at", "f.created_at"),
        ("file_type_id", "f.file_type_id"),
        ("creator_id", "f.creator_id"),
        ("order_id", "f.order_id"),
    ],
    search: |text| key_contains("f.name_key", text),
};

/// Returns the condition for files of a project that are ready.
fn ready_in(project: ProjectId) -> Statement {
    Statement::new("f.project_id = ").value(project.get()).sql(format!(" AND f.state = '{READY}'"))
}

const WAITING: &str = "waiting";
const DELETED: &str = "deleted";

/// Queue of contents to delete.
pub(crate) const CONTENTS: Queue = Queue {
    table: "files",
    key: "id",
    due: Some("sweep_at"),
    open: "sweep_at IS NOT NULL",
    on_park: "",
    of_projects: true,
};

/// File id, project id, key of the content.
type ContentRow = (i64, i64, String);

const LEASED: Leased<i64, ContentRow, OrphanedFile> = Leased { load: load_leftovers, read: orphaned_file };

fn load_leftovers(connection: &mut AnyConnection, ids: &[i64]) -> QueryResult<Vec<(i64, ContentRow)>> {
    let rows: Vec<ContentRow> = files::table
        .filter(files::id.eq_any(ids))
        .order((files::sweep_at, files::id))
        .select((files::id, files::project_id, files::file_key))
        .load(connection)?;
    Ok(rows.into_iter().map(|row| (row.0, row)).collect())
}

fn orphaned_file((id, project, key): ContentRow) -> Result<OrphanedFile, StoreError> {
    Ok(OrphanedFile {
        id: decode::id(id)?,
        project_id: decode::id(project)?,
        key: FileKey::parse(&key).map_err(StoreError::corrupt)?,
    })
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = files)]
struct FileRow {
    id: i64,
    project_id: i64,
    file_type_id: i64,
    file_key: String,
    name: String,
    mime_type: String,
    width: Option<i32>,
    height: Option<i32>,
    size: Option<i64>,
    sha256: Option<String>,
    order_id: Option<i64>,
    creator_id: i64,
    created_at: NaiveDateTime,
}

/// Returns a value that every ready file has.
fn present<T>(value: Option<T>) -> Result<T, StoreError> {
    value.ok_or_else(|| StoreError::corrupt("a file that is ready has no content"))
}

fn dimensions(width: Option<i32>, height: Option<i32>) -> Result<Option<Dimensions>, StoreError> {
    let side = |side: i32| u64::try_from(side).map_err(StoreError::corrupt);
    match (width, height) {
        (Some(width), Some(height)) => {
            Dimensions::new(side(width)?, side(height)?).map(Some).map_err(StoreError::corrupt)
        }
        _ => Ok(None),
    }
}

impl TryFrom<FileRow> for StoredFile {
    type Error = StoreError;

    fn try_from(row: FileRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: decode::id(row.id)?,
            project_id: decode::id(row.project_id)?,
            file_type: FileType::from_id(row.file_type_id)
                .map_err(|_| decode::unknown("files", row.id, "file_type_id", row.file_type_id))?,
            key: FileKey::parse(&row.file_key).map_err(StoreError::corrupt)?,
            name: decode::owned(row.name)?,
            media: MediaType::parse(&row.mime_type).map_err(StoreError::corrupt)?,
            dimensions: dimensions(row.width, row.height)?,
            content: StoredContent {
                size: u64::try_from(present(row.size)?).map_err(StoreError::corrupt)?,
                sha256: Sha256::parse(&present(row.sha256)?).map_err(StoreError::corrupt)?,
            },
            order_id: decode::optional_id(row.order_id)?,
            creator_id: decode::id(row.creator_id)?,
            created_at: decode::moment(row.created_at),
        })
    }
}

impl StoredRecord for StoredFile {
    const TABLE: &'static str = "files";

    fn load<R>(connection: &mut AnyConnection, id: i64) -> Result<Option<ProjectScoped<Self>>, Abort<R>> {
        let ready = files::table.find(id).filter(files::state.eq(READY));
        let row = ready.select(FileRow::as_select()).first(connection).optional()?;
        Ok(row.map(|row| records::of_project(row.project_id, row.try_into())).transpose()?)
    }
}

/// Loads the files of a page.
fn listed(connection: &mut AnyConnection, found: &Page<i64>) -> Result<Page<ListedFile>, Abort<StoreError>> {
    let rows: Vec<(FileRow, String, String)> = files::table
        .inner_join(referred!(users, files::creator_id))
        .filter(files::id.eq_any(&found.items))
        .select((FileRow::as_select(), users::first_name, users::last_name))
        .load(connection)?;
    let file = |(row, first, last): (FileRow, String, String)| -> Result<ListedFile, StoreError> {
        let name = format!("{first} {last}").trim().to_owned();
        Ok(ListedFile { file: row.try_into()?, creator_name: (!name.is_empty()).then_some(name) })
    };
    let records = unreadable::rows("files", rows, |row| row.0.id, file)?;
    Ok(found.with_items(in_order(&found.items, records, |record: &ListedFile| record.file.id.get())))
}

/// Converts a side; at most 16,384, see [`Dimensions`].
fn side(side: u32) -> Result<i32, StoreError> {
    i32::try_from(side).map_err(StoreError::corrupt)
}

#[async_trait]
impl FileRepository for Database {
    async fn insert_pending(&self, file: NewFile) -> Result<FileId, StoreError> {
        let width = file.dimensions.map(|size| side(size.width())).transpose()?;
        let height = file.dimensions.map(|size| side(size.height())).transpose()?;
        self.write(move |connection| {
            let id: i64 = diesel::insert_into(files::table)
                .values((
                    files::project_id.eq(file.project_id.get()),
                    files::file_type_id.eq(file.file_type.id()),
                    files::state.eq(WAITING),
                    files::file_key.eq(file.key.as_str()),
                    files::name.eq(file.name.as_str()),
                    files::name_key.eq(Some(file.name.key())),
                    files::mime_type.eq(file.media.mime()),
                    files::width.eq(width),
                    files::height.eq(height),
                    files::order_id.eq(file.order_id.map(OrderId::get)),
                    files::creator_id.eq(file.creator_id.get()),
                    files::created_at.eq(file.created_at.naive_utc()),
                    files::sweep_at.eq(Some(file.expires_at.naive_utc())),
                ))
                .returning(files::id)
                .get_result(connection)?;
            Ok::<_, Abort<StoreError>>(decode::id(id)?)
        })
        .await
    }

    async fn complete(
        &self,
        stamp: Stamp,
        id: FileId,
        content: StoredContent,
    ) -> Result<Option<StoredFile>, StoreError> {
        let size = i64::try_from(content.size).map_err(StoreError::corrupt)?;
        self.write(move |connection| {
            let own = files::table.find(id.get()).filter(files::project_id.eq(stamp.project_id.get()));
            let waiting = own.filter(files::state.eq(WAITING));
            let completed = diesel::update(waiting)
                .set((
                    files::state.eq(READY),
                    files::size.eq(Some(size)),
                    files::sha256.eq(Some(content.sha256.as_str())),
                    files::sweep_at.eq(None::<NaiveDateTime>),
                ))
                .execute(connection)?;
            if completed == 0 {
                return Ok(None);
            }
            let row = files::table.find(id.get()).select(FileRow::as_select()).first(connection)?;
            let file = row.try_into()?;
            histories::created(connection, &stamp, &file)?;
            Ok::<_, Abort<StoreError>>(Some(file))
        })
        .await
    }

    async fn give_up(&self, id: FileId, at: DateTime<Utc>) -> Result<(), StoreError> {
        self.write(move |connection| {
            let waiting = files::table.find(id.get()).filter(files::state.eq(WAITING));
            diesel::update(waiting)
                .set((files::state.eq(DELETED), files::sweep_at.eq(Some(at.naive_utc()))))
                .execute(connection)?;
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }

    async fn find_order(&self, id: OrderId) -> Result<Option<ProjectScoped<OrderId>>, StoreError> {
        self.expecting(Extent::Keys)
            .read(move |connection| {
                let found =
                    orders::table.find(id.get()).select(orders::project_id).first::<i64>(connection).optional()?;
                Ok::<_, Abort<StoreError>>(found.map(|project| records::of_project(project, Ok(id))).transpose()?)
            })
            .await
    }

    async fn of_order(
        &self,
        project: ProjectId,
        order: OrderId,
        listing: Listing,
    ) -> Result<Page<ListedFile>, StoreError> {
        self.snapshot(move |connection| {
            let own = ready_in(project).sql(" AND f.order_id = ").value(order.get());
            let found = OF_ORDER.page(connection, own, &listing)?;
            listed(connection, &found)
        })
        .await
    }

    async fn page(&self, project: ProjectId, listing: Listing) -> Result<Page<ListedFile>, StoreError> {
        let totals = self.memory::<Totals>();
        self.snapshot(move |connection| {
            let found = OF_PROJECT.page_of_many(connection, ready_in(project), &listing, &totals)?;
            listed(connection, &found)
        })
        .await
    }

    async fn find(&self, id: FileId) -> Result<Option<ProjectScoped<StoredFile>>, StoreError> {
        records::find(self, id.get()).await
    }

    async fn find_by_key(&self, key: FileKey) -> Result<Option<StoredFile>, StoreError> {
        self.expecting(Extent::Keys)
            .read(move |connection| {
                let ready = files::table.filter(files::file_key.eq(key.as_str())).filter(files::state.eq(READY));
                let row = ready.select(FileRow::as_select()).first(connection).optional()?;
                Ok::<_, Abort<StoreError>>(row.map(TryInto::try_into).transpose()?)
            })
            .await
    }

    async fn delete(&self, stamp: Stamp, id: FileId) -> Result<(), FileError> {
        records::delete(self, stamp, id.get(), move |connection, _: &StoredFile| {
            Ok(diesel::update(keyed!(files, id.get(), stamp.project_id).filter(files::state.eq(READY)))
                .set((files::state.eq(DELETED), files::sweep_at.eq(Some(stamp.at.naive_utc()))))
                .execute(connection)?)
        })
        .await
    }

    async fn take_orphaned_files(
        &self,
        owner: &str,
        now: DateTime<Utc>,
        again_at: DateTime<Utc>,
        most: u32,
    ) -> Result<Vec<OrphanedFile>, StoreError> {
        let most = usize::try_from(most).map_err(StoreError::corrupt)?;
        let set = Statement::new(format!(", state = '{DELETED}'"));
        self.lease_rows(&CONTENTS, LeaseRequest::new(owner, now, again_at, most), set, LEASED).await
    }

    async fn forget(&self, id: FileId, at: DateTime<Utc>) -> Result<(), StoreError> {
        self.write(move |connection| {
            let deleted = files::table.find(id.get()).filter(files::state.eq(DELETED));
            let project: Option<i64> = deleted.select(files::project_id).first(connection).optional()?;
            if let Some(project) = project {
                for owner in ["users", "counterparties"] {
                    Statement::new(format!(
                        "UPDATE {owner} SET avatar_id = NULL, version = version + 1, updated_at = "
                    ))
                    .value(at.naive_utc())
                    .sql(" WHERE avatar_id = ")
                    .value(id.get())
                    .sql(" AND project_id = ")
                    .value(project)
                    .run(connection)?;
                }
                diesel::delete(deleted.filter(files::project_id.eq(project))).execute(connection)?;
            }
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Kind, TestDatabase};
    use kontor_kernel::listing::{Comparison, Condition, FilterValue, Sort};

    #[tokio::test]
    async fn every_order_and_filter_of_the_list_has_an_index() {
        let db = TestDatabase::fresh(Kind::Sqlite);
        let one = || Comparison::AnyOf(vec![FilterValue::Number(1)]);
        for (sort, filter, index) in [
            ("id", None, "files_ready"),
            ("created_at", None, "files_by_moment"),
            ("size", None, "files_by_size"),
            ("id", Some("file_type_id"), "files_by_type"),
            ("id", Some("creator_id"), "files_by_creator"),
        ] {
            let own = ready_in(ProjectId::new(1).unwrap());
            let condition = filter.map(|field| Condition { field, comparison: one() });
            let plan = OF_PROJECT.plan(&db, own, Sort::descending(sort), condition).await;
            assert!(plan.contains(&format!("INDEX {index} (")), "{sort}, {filter:?}: {plan}");
            assert!(!plan.contains("TEMP B-TREE"), "{sort}, {filter:?}: {plan}");
        }
    }
}
