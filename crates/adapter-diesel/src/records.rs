//! Records of a project: found by number, changed and deleted with their history.

use async_trait::async_trait;
use kontor_kernel::history::Audited;
use kontor_kernel::{
    DeletableRepository, Line, ListedRepository, Listing, Page, ProjectId, ProjectScoped, Record, RecordError,
    RecordErrorOf, RecordRepository, Refusal, Stamp, StoreError,
};

use crate::database::{Abort, AnyConnection, Database};
use crate::decode;
use crate::histories;
use crate::listing::{Source, Totals, in_order, of_project as of_project_column};
use crate::statement::Statement;
use crate::unreadable;

/// Record that is read by its number.
pub(crate) trait StoredRecord: Audited + Sized + Send + 'static {
    /// Table with the number in `id` and the project in `project_id`.
    const TABLE: &'static str;

    /// Returns the record with this number, from any project.
    fn load<R>(connection: &mut AnyConnection, id: i64) -> Result<Option<ProjectScoped<Self>>, Abort<R>>;

    /// Reads these records to check that they are readable.
    fn try_to_read(connection: &mut AnyConnection, ids: &[i64]) -> Result<Vec<()>, Abort<StoreError>> {
        for id in ids {
            Self::load::<StoreError>(connection, *id)?;
        }
        Ok(Vec::new())
    }
}

/// Reads the records with these numbers, to check that they are readable.
pub(crate) type Read = fn(&mut AnyConnection, &[i64]) -> Result<Vec<()>, Abort<StoreError>>;

/// Returns the table of a record with its reader, for `kontor doctor`.
pub(crate) const fn readable<T: StoredRecord>() -> (&'static str, Read) {
    (T::TABLE, T::try_to_read)
}

/// Number of the new record, or the reason why there is none.
pub(crate) type Inserted<T> = Result<i64, Abort<RecordErrorOf<T>>>;

/// Number of written rows, or the reason why nothing is written.
pub(crate) type Written<T> = Result<usize, Abort<RecordErrorOf<T>>>;

/// Record with the shared repository port: the parts specific to its table.
pub(crate) trait RepositoryRecord: StoredRecord + Record {
    /// Returns the records of a project, oldest first, without unreadable ones.
    fn of_project(connection: &mut AnyConnection, project: i64) -> Result<Vec<Self>, Abort<StoreError>>;

    /// Inserts a record.
    fn insert(connection: &mut AnyConnection, stamp: &Stamp, draft: &Self::Draft) -> Inserted<Self>;

    /// Updates a record. The row is locked and belongs to the project of the stamp.
    fn update(connection: &mut AnyConnection, stamp: &Stamp, before: &Self, change: &Self::Change) -> Written<Self>;
}

/// Stored record that can be deleted.
pub(crate) trait DeletableRecord: RepositoryRecord {
    /// Deletes a record. The row is locked and belongs to the project of the stamp.
    fn delete(connection: &mut AnyConnection, stamp: &Stamp, before: &Self) -> Written<Self>;
}

/// Stored record with paged lists for staff.
pub(crate) trait ListedRecord: RepositoryRecord {
    /// Source of the list.
    const SOURCE: Source;
    /// Column of the project.
    const PROJECT: &'static str;
    /// Condition for records that are not deleted.
    const NOT_DELETED: &'static str = "TRUE";

    /// Returns these records in this order. Missing ones are skipped.
    fn load_many(connection: &mut AnyConnection, ids: &[i64]) -> Result<Vec<ProjectScoped<Self>>, Abort<StoreError>>;

    /// Returns the source for search results.
    fn source_of_found(_: &AnyConnection) -> Source {
        Self::SOURCE
    }

    /// Returns the condition for records that a text finds.
    fn found(connection: &AnyConnection, project: ProjectId, text: &Line<255>) -> Statement;
}

#[async_trait]
impl<T: ListedRecord> ListedRepository<T> for Database {
    async fn page(&self, project: ProjectId, listing: Listing) -> Result<Page<T>, StoreError> {
        let totals = self.memory::<Totals>();
        self.snapshot(move |connection| {
            let mut own = of_project_column(T::PROJECT, project, &listing).sql(" AND ").sql(T::NOT_DELETED);
            let mut source = T::SOURCE;
            if let Some(text) = &listing.text {
                own = own.sql(" AND ").then(T::found(connection, project, text));
                source = T::source_of_found(connection);
            }
            let found = source.page_of_many(connection, own, &listing, &totals)?;
            let records = unreadable::records(connection, T::TABLE, &found.items, T::load_many)?;
            Ok(found.with_items(within(records, project)))
        })
        .await
    }
}

#[async_trait]
impl<T: RepositoryRecord> RecordRepository<T> for Database {
    async fn list(&self, project: ProjectId) -> Result<Vec<T>, StoreError> {
        self.read(move |connection| T::of_project(connection, project.get())).await
    }

    async fn find(&self, id: T::Id) -> Result<Option<ProjectScoped<T>>, StoreError> {
        find(self, id.into()).await
    }

    async fn insert(&self, stamp: Stamp, draft: T::Draft) -> Result<T, RecordErrorOf<T>> {
        insert(self, stamp, move |connection| T::insert(connection, &stamp, &draft)).await
    }

    async fn update(&self, stamp: Stamp, id: T::Id, changed: T::Change) -> Result<T, RecordErrorOf<T>> {
        change(self, stamp, id.into(), move |connection, before| T::update(connection, &stamp, before, &changed)).await
    }
}

#[async_trait]
impl<T: DeletableRecord> DeletableRepository<T> for Database {
    async fn delete(&self, stamp: Stamp, id: T::Id) -> Result<(), RecordErrorOf<T>> {
        delete(self, stamp, id.into(), move |connection, before| T::delete(connection, &stamp, before)).await
    }
}

/// Combines a record with the number of its project, as read from a row.
pub(crate) fn of_project<T>(project: i64, record: Result<T, StoreError>) -> Result<ProjectScoped<T>, StoreError> {
    Ok(ProjectScoped::new(decode::id(project)?, record?))
}

/// Sorts records from rows (number, project, record) into the order of these numbers. Missing ones are skipped.
pub(crate) fn in_order_of<T>(
    ids: &[i64],
    rows: impl IntoIterator<Item = (i64, i64, Result<T, StoreError>)>,
) -> Result<Vec<ProjectScoped<T>>, StoreError> {
    let numbered = |(id, project, record)| Ok((id, of_project(project, record)?));
    let found = rows.into_iter().map(numbered).collect::<Result<Vec<_>, StoreError>>()?;
    Ok(in_order(ids, found, |(id, _)| *id).into_iter().map(|(_, record)| record).collect())
}

/// Keeps the records of the project.
pub(crate) fn within<T>(records: Vec<ProjectScoped<T>>, project: ProjectId) -> Vec<T> {
    records.into_iter().filter_map(|record| record.within(project)).collect()
}

/// Returns the record with this number.
pub(crate) async fn find<T: StoredRecord>(
    database: &Database,
    id: i64,
) -> Result<Option<ProjectScoped<T>>, StoreError> {
    database.read(move |connection| T::load(connection, id)).await
}

/// Stores a record and its first history entry. `insert` returns its number.
pub(crate) async fn insert<T: StoredRecord, R: Refusal>(
    database: &Database,
    stamp: Stamp,
    insert: impl Fn(&mut AnyConnection) -> Result<i64, Abort<RecordError<R>>> + Send + 'static,
) -> Result<T, RecordError<R>> {
    database.write(move |connection| inserted(connection, &stamp, &insert)).await
}

/// As [`insert`], within a transaction.
pub(crate) fn inserted<T: StoredRecord, R: Refusal>(
    connection: &mut AnyConnection,
    stamp: &Stamp,
    insert: impl Fn(&mut AnyConnection) -> Result<i64, Abort<RecordError<R>>>,
) -> Result<T, Abort<RecordError<R>>> {
    let id = insert(connection)?;
    let created = load(connection, stamp.project_id, id)?;
    histories::created(connection, stamp, &created)?;
    Ok(created)
}

/// Changes a record of the project. It is locked before it is read, so concurrent changes run one after the other, and
/// the history shows each of them. `change` receives the record before the change and returns the number of changed
/// rows.
pub(crate) async fn change<T: StoredRecord, R: Refusal>(
    database: &Database,
    stamp: Stamp,
    id: i64,
    change: impl Fn(&mut AnyConnection, &T) -> Result<usize, Abort<RecordError<R>>> + Send + 'static,
) -> Result<T, RecordError<R>> {
    database.write(move |connection| changed(connection, &stamp, id, &change)).await
}

/// As [`change`], within a transaction.
pub(crate) fn changed<T: StoredRecord, R: Refusal>(
    connection: &mut AnyConnection,
    stamp: &Stamp,
    id: i64,
    change: impl Fn(&mut AnyConnection, &T) -> Result<usize, Abort<RecordError<R>>>,
) -> Result<T, Abort<RecordError<R>>> {
    // A change that leaves all fields equal writes the row but no history entry, so it invalidates here.
    histories::invalidate_shown(connection, stamp, T::RESOURCE);
    let before = lock(connection, stamp.project_id, id)?;
    confirm(change(connection, &before)?)?;
    let after = load(connection, stamp.project_id, id)?;
    histories::changed(connection, stamp, &before, &after)?;
    Ok(after)
}

/// Deletes a record of the project. `delete` receives the record and returns the number of deleted rows.
pub(crate) async fn delete<T: StoredRecord, R: Refusal>(
    database: &Database,
    stamp: Stamp,
    id: i64,
    delete: impl Fn(&mut AnyConnection, &T) -> Result<usize, Abort<RecordError<R>>> + Send + 'static,
) -> Result<(), RecordError<R>> {
    database.write(move |connection| deleted(connection, &stamp, id, &delete)).await
}

/// As [`delete`], within a transaction.
pub(crate) fn deleted<T: StoredRecord, R: Refusal>(
    connection: &mut AnyConnection,
    stamp: &Stamp,
    id: i64,
    delete: impl Fn(&mut AnyConnection, &T) -> Result<usize, Abort<RecordError<R>>>,
) -> Result<(), Abort<RecordError<R>>> {
    let before: T = lock(connection, stamp.project_id, id)?;
    confirm(delete(connection, &before)?)?;
    histories::deleted(connection, stamp, &before)
}

/// Rejects a statement that matched no row: nothing changed, and a history entry would be false.
fn confirm<R: Refusal>(written: usize) -> Result<(), Abort<RecordError<R>>> {
    if written == 0 { Err(Abort::Refused(RecordError::NotFound)) } else { Ok(()) }
}

/// Returns the record of the project, locked until the transaction ends. SQLite has one writer at a time, so no other
/// can intervene.
fn lock<T: StoredRecord, R: Refusal>(
    connection: &mut AnyConnection,
    project: ProjectId,
    id: i64,
) -> Result<T, Abort<RecordError<R>>> {
    Statement::new("SELECT id FROM ")
        .sql(T::TABLE)
        .sql(" WHERE id = ")
        .value(id)
        .sql(" AND project_id = ")
        .value(project.get())
        .hold(connection, " FOR NO KEY UPDATE")?;
    load(connection, project, id)
}

/// Returns the record with this number, if it belongs to the project.
pub(crate) fn load<T: StoredRecord, R: Refusal>(
    connection: &mut AnyConnection,
    project: ProjectId,
    id: i64,
) -> Result<T, Abort<RecordError<R>>> {
    let found = T::load(connection, id)?.and_then(|record| record.within(project));
    found.ok_or(Abort::Refused(RecordError::NotFound))
}
