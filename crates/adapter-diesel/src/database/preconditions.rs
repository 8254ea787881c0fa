//! Context of a request that writes: its idempotency key, a precondition on the version of its record, or its rehearsal.
//!
//! A request with a precondition writes by a handle of its own ([`Database::for_request`]). If it expects a version,
//! each of its write operations locks the record first. The operation is rolled back if the version differs, until an
//! operation of the request has changed the record. The new version is read in the transaction of the operation, so
//! that the response can contain it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use diesel::result::{OptionalExtension as _, QueryResult};
use kontor_kernel::StoreError;

use super::idempotency::IdempotentRequest;
use super::operation::Operation;
use super::rehearsal::Rehearsal;
use super::{Abort, AnyConnection, Database, Extent};
use crate::statement::Statement;

/// Location of the version of a record.
#[derive(Debug, Clone)]
pub struct VersionedRow {
    pub(crate) table: &'static str,
    /// Conditions on the row: SQL, a number, and the SQL that follows it.
    pub(crate) conditions: Vec<(&'static str, i64, &'static str)>,
    /// Further condition, as SQL.
    pub(crate) present: &'static str,
}

impl VersionedRow {
    fn select(&self, conditions: &[&(&'static str, i64, &'static str)]) -> Statement {
        let select = Statement::new("SELECT version FROM ").sql(self.table).sql(" WHERE ").sql(self.present);
        let and = |select: Statement, (sql, number, end): &&(&'static str, i64, &'static str)| {
            select.sql(" AND ").sql(*sql).value(*number).sql(*end)
        };
        conditions.iter().fold(select, and)
    }

    fn version(&self, connection: &mut AnyConnection) -> QueryResult<Option<i64>> {
        self.select(&self.conditions.iter().collect::<Vec<_>>()).scalar(connection).optional()
    }

    /// Returns the version of the record, and locks it until the transaction ends. Conditions on other tables, such as
    /// the project, never change and are checked before: a locking statement must not read other rows.
    fn locked_version(&self, connection: &mut AnyConnection) -> QueryResult<Option<i64>> {
        let own: Vec<_> = self.conditions.iter().filter(|(sql, ..)| !sql.contains("SELECT ")).collect();
        if own.len() < self.conditions.len() && self.version(connection)?.is_none() {
            return Ok(None);
        }
        self.select(&own).locked(connection, " FOR NO KEY UPDATE").scalar(connection).optional()
    }
}

/// Location of the version of a record that does not exist yet.
#[derive(Debug, Clone)]
pub struct NewRow {
    /// Resource name that operations pass for records they create.
    pub(crate) kind: &'static str,
    /// Location without the record number.
    pub(crate) row: VersionedRow,
    /// Index of the condition on the record number.
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

/// Result of a request.
#[derive(Debug, Clone, Copy)]
pub struct Left {
    /// Version of the record.
    pub version: i64,
    /// Number of the record, if it was created.
    pub made: Option<i64>,
}

#[derive(Debug, Default)]
struct Progress {
    is_stale: bool,
    left: Option<Left>,
    /// `true` if an operation of the request has changed the record, or if no version is expected and one is known.
    is_settled: bool,
}

/// Request about one record that is in progress.
#[derive(Debug)]
pub struct VersionedRequest {
    subject: Subject,
    expected: Option<i64>,
    progress: Mutex<Progress>,
}

impl VersionedRequest {
    /// Creates a request that has written nothing yet. With an expected version, it writes nothing while the record has
    /// another version.
    pub fn new(row: VersionedRow, expected: Option<i64>) -> Arc<Self> {
        Arc::new(Self { subject: Subject::Present(row), expected, progress: Mutex::default() })
    }

    /// Creates a request that creates a record.
    pub fn making(row: NewRow) -> Arc<Self> {
        Arc::new(Self { subject: Subject::New(row), expected: None, progress: Mutex::default() })
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `true` if an operation was rolled back because the record has another version. The request has then changed
    /// nothing.
    pub fn is_stale(&self) -> bool {
        self.progress().is_stale
    }

    /// Returns the result of the request, if it wrote anything and the record exists.
    pub fn left(&self) -> Option<Left> {
        self.progress().left
    }

    /// Locks the record before the operation, and rejects a record with another version. The operation itself handles a
    /// missing record.
    pub(super) fn check<R>(&self, connection: &mut AnyConnection) -> Result<(), Abort<R>> {
        let Some(expected) = self.expected.filter(|_| !self.progress().is_settled) else { return Ok(()) };
        let Subject::Present(row) = &self.subject else { return Ok(()) };
        let version = row.locked_version(connection)?;
        // The change that failed an earlier attempt may have been rolled back since.
        let is_stale = version.is_some_and(|version| version != expected);
        self.progress().is_stale = is_stale;
        if !is_stale {
            return Ok(());
        }
        Err(Abort::Store(StoreError::Unavailable("the record has changed since it was read".to_owned())))
    }

    /// Returns the result that the operation is about to commit; `None` if the result is settled.
    pub(super) fn leaving(&self, connection: &mut AnyConnection, operation: &Operation) -> QueryResult<Option<Left>> {
        if self.progress().is_settled {
            return Ok(None);
        }
        let (row, made) = match &self.subject {
            Subject::Present(row) => (row.clone(), None),
            Subject::New(new) => match operation.named.filter(|named| named.is_new && named.resource == new.kind) {
                Some(named) => (new.numbered(named.id), Some(named.id)),
                None => return Ok(None),
            },
        };
        Ok(row.version(connection)?.map(|version| Left { version, made }))
    }

    /// Notes that the operation is committed. A later operation may see changes of others: its version would be newer
    /// than the response.
    pub(super) fn committed(&self, left: Option<Left>) {
        let mut progress = self.progress();
        if let Some(now) = left.filter(|_| !progress.is_settled) {
            progress.left = left;
            progress.is_settled = Some(now.version) != self.expected;
        }
    }
}

impl Database {
    /// Returns the version of a record, if it exists.
    pub async fn version_of(&self, row: VersionedRow) -> Result<Option<i64>, StoreError> {
        self.expecting(Extent::Keys).read(move |connection| Ok::<_, Abort<StoreError>>(row.version(connection)?)).await
    }
}

/// Context of a request: its write operations store its idempotency key and check the version of its record, or are
/// rolled back at its end. Background work has an empty context.
#[derive(Debug, Clone, Default)]
pub struct RequestContext {
    /// Set if the request has an idempotency key.
    pub keyed: Option<Arc<IdempotentRequest>>,
    /// Set if the request is about one record.
    pub versioned: Option<Arc<VersionedRequest>>,
    /// Set if the request must have no effect.
    pub rehearsed: Option<Arc<Rehearsal>>,
}

impl From<Arc<IdempotentRequest>> for RequestContext {
    fn from(keyed: Arc<IdempotentRequest>) -> Self {
        Self { keyed: Some(keyed), ..Self::default() }
    }
}

impl From<Arc<VersionedRequest>> for RequestContext {
    fn from(versioned: Arc<VersionedRequest>) -> Self {
        Self { versioned: Some(versioned), ..Self::default() }
    }
}

impl From<Arc<Rehearsal>> for RequestContext {
    fn from(rehearsed: Arc<Rehearsal>) -> Self {
        Self { rehearsed: Some(rehearsed), ..Self::default() }
    }
}

impl Database {
    /// Returns a handle that writes for a request. It shares the pools, and replaces the context of this handle.
    #[must_use]
    pub fn for_request(&self, context: impl Into<RequestContext>) -> Self {
        let mut handle = self.clone();
        handle.context = context.into();
        handle
    }

    /// Returns the rehearsal that this handle writes for, if any.
    pub fn rehearsal(&self) -> Option<&Arc<Rehearsal>> {
        self.context.rehearsed.as_ref()
    }
}
