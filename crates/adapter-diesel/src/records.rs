//! Records of a project: found by number, changed and deleted with their history.

use async_trait::async_trait;
use kontor_kernel::history::Audited;
use kontor_kernel::{
    DeletableRepository, ErrorOf, Line, ListedRepository, Listing, OfProject, Page, ProjectId, Record, RecordError,
    RecordRepository, Refusal, Stamp, StoreError,
};

use crate::database::{Abort, AnyConnection, Database};
use crate::histories;
use crate::listing::{Source, Totals, in_order, of_project as of_project_column};
use crate::statement::Statement;
use crate::stored;
use crate::unreadable;

/// A record that is read by its number.
pub(crate) trait StoredRecord: Audited + Sized + Send + 'static {
    /// The table with its number in `id` and its project in `project_id`.
    const TABLE: &'static str;

    /// The record with this number, of whatever project.
    fn load<R>(connection: &mut AnyConnection, id: i64) -> Result<Option<OfProject<Self>>, Abort<R>>;

    /// Reads those with these numbers to see whether they can be read.
    fn try_to_read(connection: &mut AnyConnection, ids: &[i64]) -> Result<Vec<()>, Abort<StoreError>> {
        for id in ids {
            Self::load::<StoreError>(connection, *id)?;
        }
        Ok(Vec::new())
    }
}

/// A record whose port is the one that all records share: what of it is special to its table.
pub(crate) trait KeptRecord: StoredRecord + Record {
    /// Those of a project, oldest first, without those that cannot be read.
    fn of_project(connection: &mut AnyConnection, project: i64) -> Result<Vec<Self>, Abort<StoreError>>;

    /// Stores a new one and returns its number.
    fn insert(connection: &mut AnyConnection, stamp: &Stamp, draft: &Self::Draft) -> Result<i64, Abort<ErrorOf<Self>>>;

    /// Changes one and returns the number of rows changed. The row is locked, and of the stamp's project.
    fn update(
        connection: &mut AnyConnection,
        stamp: &Stamp,
        before: &Self,
        change: &Self::Change,
    ) -> Result<usize, Abort<ErrorOf<Self>>>;
}

/// A kept record that can be deleted.
pub(crate) trait DeletableRecord: KeptRecord {
    /// Deletes one and returns the number of rows deleted. The row is locked, and of the stamp's project.
    fn delete(connection: &mut AnyConnection, stamp: &Stamp, before: &Self) -> Result<usize, Abort<ErrorOf<Self>>>;
}

/// A kept record of which staff ask for pages.
pub(crate) trait ListedRecord: KeptRecord {
    /// Where they stand.
    const SOURCE: Source;
    /// The column of the project.
    const PROJECT: &'static str;
    /// What holds for records that are still there.
    const ALIVE: &'static str = "TRUE";

    /// These records in this order, those that are left out.
    fn load_many(connection: &mut AnyConnection, ids: &[i64]) -> Result<Vec<OfProject<Self>>, Abort<StoreError>>;

    /// Where those that a text finds are looked up.
    fn source_of_found(_: &AnyConnection) -> Source {
        Self::SOURCE
    }

    /// Records that a text finds, as a condition.
    fn found(connection: &AnyConnection, project: ProjectId, text: &Line<255>) -> Statement;
}

#[async_trait]
impl<T: ListedRecord> ListedRepository<T> for Database {
    async fn page(&self, project: ProjectId, listing: Listing) -> Result<Page<T>, StoreError> {
        let totals = self.memory::<Totals>();
        self.read_snapshot(move |connection| {
            let mut own = of_project_column(T::PROJECT, project, &listing).sql(" AND ").sql(T::ALIVE);
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
impl<T: KeptRecord> RecordRepository<T> for Database {
    async fn list(&self, project: ProjectId) -> Result<Vec<T>, StoreError> {
        self.read(move |connection| T::of_project(connection, project.get())).await
    }

    async fn find(&self, id: T::Id) -> Result<Option<OfProject<T>>, StoreError> {
        find(self, id.into()).await
    }

    async fn insert(&self, stamp: Stamp, draft: T::Draft) -> Result<T, ErrorOf<T>> {
        insert(self, stamp, move |connection| T::insert(connection, &stamp, &draft)).await
    }

    async fn update(&self, stamp: Stamp, id: T::Id, changed: T::Change) -> Result<T, ErrorOf<T>> {
        change(self, stamp, id.into(), move |connection, before| T::update(connection, &stamp, before, &changed)).await
    }
}

#[async_trait]
impl<T: DeletableRecord> DeletableRepository<T> for Database {
    async fn delete(&self, stamp: Stamp, id: T::Id) -> Result<(), ErrorOf<T>> {
        delete(self, stamp, id.into(), move |connection, before| T::delete(connection, &stamp, before)).await
    }
}

/// A record and the number of its project, as a row tells them.
pub(crate) fn of_project<T>(project: i64, record: Result<T, StoreError>) -> Result<OfProject<T>, StoreError> {
    Ok(OfProject::new(stored::id(project)?, record?))
}

/// Records as their rows tell them, each with its number and that of its project, in the order of these numbers. Those that are
/// not there are left out.
pub(crate) fn in_order_of<T>(
    ids: &[i64],
    rows: impl IntoIterator<Item = (i64, i64, Result<T, StoreError>)>,
) -> Result<Vec<OfProject<T>>, StoreError> {
    let numbered = |(id, project, record)| Ok((id, of_project(project, record)?));
    let found = rows.into_iter().map(numbered).collect::<Result<Vec<_>, StoreError>>()?;
    Ok(in_order(ids, found, |(id, _)| *id).into_iter().map(|(_, record)| record).collect())
}

/// Those of the project.
pub(crate) fn within<T>(records: Vec<OfProject<T>>, project: ProjectId) -> Vec<T> {
    records.into_iter().filter_map(|record| record.within(project)).collect()
}

/// The record with this number.
pub(crate) async fn find<T: StoredRecord>(database: &Database, id: i64) -> Result<Option<OfProject<T>>, StoreError> {
    database.read(move |connection| T::load(connection, id)).await
}

/// Stores a record and the first line of its history. `insert` returns its number.
pub(crate) async fn insert<T: StoredRecord, R: Refusal>(
    database: &Database,
    stamp: Stamp,
    insert: impl Fn(&mut AnyConnection) -> Result<i64, Abort<RecordError<R>>> + Send + 'static,
) -> Result<T, RecordError<R>> {
    database.write(move |connection| inserted(connection, &stamp, &insert)).await
}

/// The same within a step.
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

/// Changes a record of the project. It is locked before it is read, so changes of one record come one after the other,
/// and the history tells what each of them changed. `change` sees the record as it was, and returns the number of rows it
/// changed.
pub(crate) async fn change<T: StoredRecord, R: Refusal>(
    database: &Database,
    stamp: Stamp,
    id: i64,
    change: impl Fn(&mut AnyConnection, &T) -> Result<usize, Abort<RecordError<R>>> + Send + 'static,
) -> Result<T, RecordError<R>> {
    database.write(move |connection| changed(connection, &stamp, id, &change)).await
}

/// The same within a step.
pub(crate) fn changed<T: StoredRecord, R: Refusal>(
    connection: &mut AnyConnection,
    stamp: &Stamp,
    id: i64,
    change: impl Fn(&mut AnyConnection, &T) -> Result<usize, Abort<RecordError<R>>>,
) -> Result<T, Abort<RecordError<R>>> {
    // A change that leaves all fields as they are writes no line of the history, but the row.
    histories::invalidate_shown(stamp, T::RESOURCE);
    let before = lock(connection, stamp.project_id, id)?;
    confirm(change(connection, &before)?)?;
    let after = load(connection, stamp.project_id, id)?;
    histories::changed(connection, stamp, &before, &after)?;
    Ok(after)
}

/// Deletes a record of the project. `delete` sees the record as it was, and returns the number of rows it deleted.
pub(crate) async fn delete<T: StoredRecord, R: Refusal>(
    database: &Database,
    stamp: Stamp,
    id: i64,
    delete: impl Fn(&mut AnyConnection, &T) -> Result<usize, Abort<RecordError<R>>> + Send + 'static,
) -> Result<(), RecordError<R>> {
    database.write(move |connection| deleted(connection, &stamp, id, &delete)).await
}

/// The same within a step.
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

/// A statement that meets no row has changed nothing, and its history would tell something else.
fn confirm<R: Refusal>(written: usize) -> Result<(), Abort<RecordError<R>>> {
    if written == 0 { Err(Abort::Refused(RecordError::NotFound)) } else { Ok(()) }
}

/// The record of the project, locked until the step ends. SQLite has one writer at a time: nobody else comes in between.
fn lock<T: StoredRecord, R: Refusal>(
    connection: &mut AnyConnection,
    project: ProjectId,
    id: i64,
) -> Result<T, Abort<RecordError<R>>> {
    if connection.is_postgres() {
        Statement::new("SELECT id FROM ")
            .sql(T::TABLE)
            .sql(" WHERE id = ")
            .value(id)
            .sql(" AND project_id = ")
            .value(project.get())
            .sql(" FOR NO KEY UPDATE")
            .run(connection)?;
    }
    load(connection, project, id)
}

/// The record with this number, when it is of the project.
pub(crate) fn load<T: StoredRecord, R: Refusal>(
    connection: &mut AnyConnection,
    project: ProjectId,
    id: i64,
) -> Result<T, Abort<RecordError<R>>> {
    let found = T::load(connection, id)?.and_then(|record| record.within(project));
    found.ok_or(Abort::Refused(RecordError::NotFound))
}
