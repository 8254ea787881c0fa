//! Requests about one record whose version counts.
//!
//! Such a request runs within [`VersionedRequest::run`]. Where it expects a version, each step that it writes locks the
//! record first and is rolled back when the version is another one, until a step of its own has changed the record. What a
//! step leaves behind is read in its transaction, so that it can be told with the answer.

use std::cell::Cell;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use diesel::result::QueryResult;
use diesel::sql_types::BigInt;
use kontor_kernel::StoreError;

use super::{Abort, AnyConnection, Database};
use crate::statement::{Statement, by_place};

/// Where the version of a record stands.
#[derive(Debug, Clone)]
pub struct VersionedRow {
    /// The table.
    pub(crate) table: &'static str,
    /// What its row must meet: SQL, a number, and what closes the SQL.
    pub(crate) conditions: Vec<(&'static str, i64, &'static str)>,
    /// What it must meet besides.
    pub(crate) alive: &'static str,
}

by_place! {
    struct VersionRow {
        version: i64 as BigInt,
    }
}

impl VersionedRow {
    fn select(&self, conditions: &[&(&'static str, i64, &'static str)]) -> Statement {
        let select = Statement::new("SELECT version FROM ").sql(self.table).sql(" WHERE ").sql(self.alive);
        let and = |select: Statement, (sql, number, end): &&(&'static str, i64, &'static str)| {
            select.sql(" AND ").sql(*sql).value(*number).sql(*end)
        };
        conditions.iter().fold(select, and)
    }

    fn version(&self, connection: &mut AnyConnection) -> QueryResult<Option<i64>> {
        let rows: Vec<VersionRow> = self.select(&self.conditions.iter().collect::<Vec<_>>()).rows(connection)?;
        Ok(rows.first().map(|row| row.version))
    }

    /// The version of the record, which nobody else changes until the transaction ends. What other tables tell of it, such as
    /// its project, never changes and is looked up before: a locking statement reads no other rows.
    fn locked_version(&self, connection: &mut AnyConnection) -> QueryResult<Option<i64>> {
        let own: Vec<_> = self.conditions.iter().filter(|(sql, ..)| !sql.contains("SELECT ")).collect();
        if own.len() < self.conditions.len() && self.version(connection)?.is_none() {
            return Ok(None);
        }
        let rows: Vec<VersionRow> = self.select(&own).locked(connection, " FOR NO KEY UPDATE").rows(connection)?;
        Ok(rows.first().map(|row| row.version))
    }
}

/// Where the version of a record will stand that is still to be made.
#[derive(Debug, Clone)]
pub struct NewRow {
    /// The word for records of this kind, as steps say it of what they make.
    pub(crate) kind: &'static str,
    /// Its row, but for its number.
    pub(crate) row: VersionedRow,
    /// Which of the conditions is about its number.
    pub(crate) place: usize,
}

impl NewRow {
    fn numbered(&self, number: i64) -> VersionedRow {
        let mut row = self.row.clone();
        if let Some((_, open, _)) = row.conditions.get_mut(self.place) {
            *open = number;
        }
        row
    }
}

#[derive(Debug)]
enum Subject {
    Present(VersionedRow),
    New(NewRow),
}

/// What a request leaves behind.
#[derive(Debug, Clone, Copy)]
pub struct Left {
    /// The version of the record.
    pub version: i64,
    /// The number of a record that was made.
    pub made: Option<i64>,
}

#[derive(Debug, Default)]
struct Progress {
    is_stale: bool,
    left: Option<Left>,
    /// A step of the request has changed the record, or no version is expected and one is known.
    is_settled: bool,
}

/// A request about one record while it is worked on.
#[derive(Debug)]
pub struct VersionedRequest {
    subject: Subject,
    expected: Option<i64>,
    progress: Mutex<Progress>,
}

thread_local! {
    /// The first record that the step on this thread made: what it is called, its number.
    static MADE: Cell<Option<(&'static str, i64)>> = const { Cell::new(None) };
}

/// Forgets what an earlier attempt of a step made.
pub(super) fn begin() {
    MADE.set(None);
}

/// Says which record the step made.
pub(super) fn made(resource: &'static str, id: i64) {
    if MADE.get().is_none() {
        MADE.set(Some((resource, id)));
    }
}

tokio::task_local! {
    static REQUEST: Arc<VersionedRequest>;
}

/// The request that this task works on, if it is about one record.
pub(super) fn current() -> Option<Arc<VersionedRequest>> {
    REQUEST.try_with(Arc::clone).ok()
}

impl VersionedRequest {
    /// A request that has written nothing yet. With an expected version nothing is written while the record has another.
    pub fn new(row: VersionedRow, expected: Option<i64>) -> Arc<Self> {
        Arc::new(Self { subject: Subject::Present(row), expected, progress: Mutex::default() })
    }

    /// A request that makes a record.
    pub fn making(row: NewRow) -> Arc<Self> {
        Arc::new(Self { subject: Subject::New(row), expected: None, progress: Mutex::default() })
    }

    /// Runs the request: the steps it writes in this task know of the record.
    pub async fn run<T>(self: Arc<Self>, work: impl Future<Output = T>) -> T {
        REQUEST.scope(self, work).await
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a step was rolled back because the record has another version. Nothing of the request is left then.
    pub fn is_stale(&self) -> bool {
        self.progress().is_stale
    }

    /// What the request left behind, when it wrote anything and the record is there.
    pub fn left(&self) -> Option<Left> {
        self.progress().left
    }

    /// Locks the record before anything else of a step, and refuses one that has another version. A record that is not
    /// there is the step's own matter.
    pub(super) fn check<R>(&self, connection: &mut AnyConnection) -> Result<(), Abort<R>> {
        let Some(expected) = self.expected.filter(|_| !self.progress().is_settled) else { return Ok(()) };
        let Subject::Present(row) = &self.subject else { return Ok(()) };
        let version = row.locked_version(connection)?;
        // What another step changed may have been rolled back since an earlier attempt.
        let is_stale = version.is_some_and(|version| version != expected);
        self.progress().is_stale = is_stale;
        if !is_stale {
            return Ok(());
        }
        Err(Abort::Store(StoreError::Unavailable("the record has changed since it was read".to_owned())))
    }

    /// What a step is about to leave behind; nothing when it counts no longer.
    pub(super) fn leaving(&self, connection: &mut AnyConnection) -> QueryResult<Option<Left>> {
        if self.progress().is_settled {
            return Ok(None);
        }
        let (row, made) = match &self.subject {
            Subject::Present(row) => (row.clone(), None),
            Subject::New(new) => match MADE.get().filter(|(kind, _)| *kind == new.kind) {
                Some((_, number)) => (new.numbered(number), Some(number)),
                None => return Ok(None),
            },
        };
        Ok(row.version(connection)?.map(|version| Left { version, made }))
    }

    /// The step is committed. A later one may see what others did since: its version would be newer than the answer.
    pub(super) fn committed(&self, left: Option<Left>) {
        let mut progress = self.progress();
        if let Some(now) = left.filter(|_| !progress.is_settled) {
            progress.left = left;
            progress.is_settled = Some(now.version) != self.expected;
        }
    }
}

impl Database {
    /// The version of a record, while there is such a record.
    pub async fn version_of(&self, row: VersionedRow) -> Result<Option<i64>, StoreError> {
        self.read_brief(move |connection| Ok::<_, Abort<StoreError>>(row.version(connection)?)).await
    }
}
