//! Outcomes without a commit, the meaning of database errors for them, and the retry policy of operations.

use std::time::{Duration, Instant};

use diesel::result::{DatabaseErrorInformation, DatabaseErrorKind, Error as QueryError};
use kontor_kernel::StoreError;

/// Reason why a transaction ended without a commit.
#[derive(Debug)]
pub enum Abort<R> {
    /// A business rule refused the operation; everything is rolled back and the caller gets the reason.
    Refused(R),
    /// The database reported an error.
    Query(QueryError),
    /// A stored record breaks an invariant.
    Store(StoreError),
}

impl<R> Abort<R> {
    /// Creates a refusal with this reason.
    pub fn refused(reason: impl Into<R>) -> Self {
        Self::Refused(reason.into())
    }

    /// Maps the reason of a refusal.
    pub(crate) fn map<S>(self, reason: impl FnOnce(R) -> S) -> Abort<S> {
        match self {
            Self::Refused(refused) => Abort::Refused(reason(refused)),
            Self::Query(error) => Abort::Query(error),
            Self::Store(error) => Abort::Store(error),
        }
    }
}

impl Abort<StoreError> {
    /// Converts to an operation with other reasons for refusals: there a storage error is no refusal.
    pub(crate) fn into_store<R>(self) -> Abort<R> {
        match self {
            Self::Refused(error) | Self::Store(error) => Abort::Store(error),
            Self::Query(error) => Abort::Query(error),
        }
    }
}

impl<R> From<QueryError> for Abort<R> {
    fn from(error: QueryError) -> Self {
        Self::Query(error)
    }
}

impl<R> From<StoreError> for Abort<R> {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Returns the error for the caller.
pub(crate) fn conclude<R: From<StoreError>>(abort: Abort<R>) -> R {
    match abort {
        Abort::Refused(reason) => reason,
        Abort::Query(error) => store_error(&error).into(),
        Abort::Store(error) => error.into(),
    }
}

/// Message of the triggers that refuse changes of a project on its way to another database. A retry soon succeeds, or
/// the project is there.
pub const MOVING: &str = "the project is being moved to another database";

pub(super) fn store_error(error: &QueryError) -> StoreError {
    let passes = is_lost(error) || is_conflict(error) || is_read_only(error) || is_disk_error(error);
    let text = error.to_string();
    if passes || text.contains("database is locked") || text.contains(MOVING) {
        StoreError::Unavailable(text)
    } else {
        StoreError::Failed(text)
    }
}

/// `true` if the connection is lost. Uncommitted changes of it are lost too.
pub(crate) fn is_lost(error: &QueryError) -> bool {
    match error {
        QueryError::DatabaseError(kind, _) => {
            matches!(kind, DatabaseErrorKind::ClosedConnection | DatabaseErrorKind::UnableToSendCommand)
        }
        QueryError::RollbackErrorOnCommit { commit_error, .. } => is_lost(commit_error),
        QueryError::BrokenTransactionManager => true,
        _ => false,
    }
}

/// `true` if the server is read-only (SQLSTATE 25006): after a fail-over it is a replica.
pub(super) fn is_read_only(error: &QueryError) -> bool {
    matches!(error, QueryError::DatabaseError(DatabaseErrorKind::ReadOnlyTransaction, _))
}

/// Messages of SQLite for a disk that is full or read-only, and for a disk that fails. SQLite has no localized
/// messages, and diesel does not expose the codes.
const DISK_FULL_MESSAGES: [&str; 2] = ["database or disk is full", "attempt to write a readonly database"];
const DISK_FAILURE_MESSAGES: [&str; 2] = ["disk I/O error", "unable to open database file"];

fn has_message(error: &QueryError, texts: &[&str]) -> bool {
    match error {
        QueryError::DatabaseError(DatabaseErrorKind::Unknown, information) => {
            texts.iter().any(|text| information.message() == *text)
        }
        QueryError::RollbackErrorOnCommit { commit_error, .. } => has_message(commit_error, texts),
        _ => false,
    }
}

/// `true` if SQLite cannot write to the disk at this time. An immediate retry does not help.
fn is_disk_error(error: &QueryError) -> bool {
    has_message(error, &DISK_FULL_MESSAGES) || has_message(error, &DISK_FAILURE_MESSAGES)
}

/// `true` for SQLSTATE 40001 and 40P01.
pub(super) fn is_conflict(error: &QueryError) -> bool {
    match error {
        QueryError::DatabaseError(DatabaseErrorKind::SerializationFailure, _) => true,
        QueryError::DatabaseError(DatabaseErrorKind::Unknown, information) => is_deadlock(information.as_ref()),
        _ => false,
    }
}

/// `true` for a deadlock. Diesel does not expose SQLSTATEs that it has no kind for, and messages depend on the language
/// of the server. The set of fields does not: a deadlock has a detail (which process waits for which) and a hint, but
/// no statement position and no object.
fn is_deadlock(information: &dyn DatabaseErrorInformation) -> bool {
    information.details().is_some() && information.hint().is_some() && !has_place(information)
}

/// `true` if an error points at a part of a statement or at an object. Such an error recurs with every attempt.
fn has_place(information: &dyn DatabaseErrorInformation) -> bool {
    information.statement_position().is_some()
        || information.table_name().is_some()
        || information.column_name().is_some()
        || information.constraint_name().is_some()
}

/// `true` if another attempt may not meet this error. This includes a record that the operation looked up and refers
/// to, and that another transaction deleted in between: the next attempt does not find it and refuses by its name. On
/// SQLite no other writer can intervene. An operation that maps the error itself ([`on_reference`]) does not get
/// here.
pub(super) fn is_retryable(error: &QueryError) -> bool {
    let gone = matches!(error, QueryError::DatabaseError(DatabaseErrorKind::ForeignKeyViolation, _));
    gone || is_conflict(error)
}

/// `true` if the error of a server may be temporary: diesel has no kind for it, and it points at no object. Other
/// engines report deadlocks and lost races that way. Nothing is stored, so a retry is always safe, and at worst
/// useless: the caller bounds the attempts and the time.
pub(super) fn is_unclassified(error: &QueryError) -> bool {
    match error {
        QueryError::DatabaseError(DatabaseErrorKind::Unknown, information) => !has_place(information.as_ref()),
        _ => false,
    }
}

/// Returns the outcome of an operation that does not run again. A server reports these errors by codes that diesel 2.3
/// does not expose, in its own language: a full disk, lack of memory, a lock timeout, a statement timeout (SQLSTATE
/// 53100, 53200, 55P03, 57014). They are recognized by what they lack: an error of the statement points at a position,
/// an error of the data has a kind. Nothing is stored.
pub(super) fn settled<R>(abort: Abort<R>, is_server: bool) -> Abort<R> {
    match abort {
        Abort::Query(error) if is_server && is_unclassified(&error) => {
            Abort::Store(StoreError::Unavailable(error.to_string()))
        }
        abort => abort,
    }
}

/// Returns the meaning of a failed `COMMIT`: the connection was lost before it was sent, the outcome is unknown, or the
/// database rolled back. A server has SQLSTATEs for an unknown outcome (40003, 08007), for which diesel has no kind.
/// Any error that cannot be distinguished from them counts as unknown. The embedded database knows the outcome unless
/// it could not sync. Then the commit is undone while the process lives, but may be stored when a killed process starts
/// again.
pub(super) fn at_commit<R>(error: QueryError, is_server: bool) -> Abort<R> {
    let unknown = match &error {
        // The connection was already known to be broken; nothing was sent.
        QueryError::BrokenTransactionManager => false,
        QueryError::DatabaseError(DatabaseErrorKind::Unknown, _) if is_server => !is_conflict(&error),
        error => is_lost(error) || (!is_server && has_message(error, &DISK_FAILURE_MESSAGES)),
    };
    if unknown { Abort::Store(StoreError::OutcomeUnknown(error.to_string())) } else { Abort::Query(error) }
}

/// Maps a unique key violation of an insert or update to a refusal.
pub(crate) fn on_duplicate<R>(refusal: impl Into<R>) -> impl FnOnce(QueryError) -> Abort<R> {
    move |error| match error {
        QueryError::DatabaseError(DatabaseErrorKind::UniqueViolation, _) => Abort::refused(refusal),
        error => Abort::Query(error),
    }
}

/// Maps a foreign key violation of a delete to a refusal. An operation that inserts a reference looks up the referenced
/// record itself and refuses by its name. If the record is deleted in between, the operation runs again and does not
/// find it (`is_retryable`).
pub(crate) fn on_reference<R>(refusal: impl Into<R>) -> impl FnOnce(QueryError) -> Abort<R> {
    move |error| match error {
        QueryError::DatabaseError(DatabaseErrorKind::ForeignKeyViolation, _) => Abort::refused(refusal),
        error => Abort::Query(error),
    }
}

/// Maximum attempts, except after conflicts.
const MAX_ATTEMPTS: u32 = 5;

/// Maximum attempts of an operation that keeps meeting conflicts. Of conflicting transactions, one succeeds.
const MAX_CONFLICT_ATTEMPTS: u32 = 25;

/// Conflicts after which an operation waits for the lock that serializes such operations.
const CONFLICTS_BEFORE_LOCK: u32 = 3;

/// Maximum time for retries after errors that may be permanent.
const RETRY_TIME_LIMIT: Duration = Duration::from_secs(10);

/// Maximum back-off, in milliseconds.
const MAX_BACKOFF: u64 = 80;

/// Attempts of one operation.
pub(super) struct Attempts {
    begun: Instant,
    count: u32,
    meetings: u32,
}

impl Attempts {
    pub fn begin() -> Self {
        Self { begun: Instant::now(), count: 1, meetings: 0 }
    }

    /// Returns the number of attempts.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// `true` if a read operation runs again after this error. Where the server makes transactions serializable by
    /// default, even reads may conflict.
    pub fn reading(&self, error: &QueryError, lost: bool) -> bool {
        (lost && self.count < MAX_ATTEMPTS) || (is_conflict(error) && self.count < MAX_CONFLICT_ATTEMPTS)
    }

    /// `true` if a write operation runs again after this error.
    pub fn writing(&self, error: &QueryError, lost: bool, is_server: bool) -> bool {
        if is_conflict(error) {
            return self.count < MAX_CONFLICT_ATTEMPTS;
        }
        let unclear = is_server && is_unclassified(error) && self.begun.elapsed() < RETRY_TIME_LIMIT;
        self.count < MAX_ATTEMPTS && (lost || is_retryable(error) || unclear)
    }

    /// `true` if the next attempt waits for the serializing lock. When hundreds of transactions want the same record,
    /// serializable transactions would abort each other until all give up.
    pub fn queues(&self) -> bool {
        self.meetings >= CONFLICTS_BEFORE_LOCK
    }

    /// Returns the back-off before the next attempt. It varies between operations after a conflict. Serialized
    /// operations do not wait.
    pub fn pause(&mut self, error: &QueryError, turn: u64) -> Duration {
        let count = u64::from(self.count);
        self.count += 1;
        self.meetings += u32::from(is_conflict(error));
        if self.queues() {
            return Duration::ZERO;
        }
        let longest = (5 * count * count).min(MAX_BACKOFF);
        Duration::from_millis(longest / 2 + turn.wrapping_mul(7) % (longest / 2 + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Error as a server reports it, with texts in any language.
    #[derive(Default)]
    #[expect(clippy::struct_excessive_bools, reason = "each says whether a field of the protocol is there")]
    struct Report {
        details: bool,
        hint: bool,
        position: bool,
        constraint: bool,
    }

    impl DatabaseErrorInformation for Report {
        fn message(&self) -> &'static str {
            "\u{2026}"
        }
        fn details(&self) -> Option<&str> {
            self.details.then_some("\u{2026}")
        }
        fn hint(&self) -> Option<&str> {
            self.hint.then_some("\u{2026}")
        }
        fn table_name(&self) -> Option<&str> {
            None
        }
        fn column_name(&self) -> Option<&str> {
            None
        }
        fn constraint_name(&self) -> Option<&str> {
            self.constraint.then_some("orders_key")
        }
        fn statement_position(&self) -> Option<i32> {
            self.position.then_some(8)
        }
    }

    const DEADLOCK: Report = Report { details: true, hint: true, position: false, constraint: false };

    fn reported(kind: DatabaseErrorKind, report: Report) -> QueryError {
        QueryError::DatabaseError(kind, Box::new(report))
    }

    fn with_text(text: &str) -> QueryError {
        QueryError::DatabaseError(DatabaseErrorKind::Unknown, Box::new(text.to_owned()))
    }

    fn other(report: Report) -> QueryError {
        reported(DatabaseErrorKind::Unknown, report)
    }

    fn is_unknown(error: QueryError, is_server: bool) -> bool {
        matches!(at_commit::<StoreError>(error, is_server), Abort::Store(StoreError::OutcomeUnknown(_)))
    }

    #[test]
    fn only_a_commit_whose_answer_is_missing_or_in_doubt_is_unknown() {
        let closed = || reported(DatabaseErrorKind::ClosedConnection, Report::default());
        assert!(is_unknown(closed(), true));
        let both = QueryError::RollbackErrorOnCommit {
            rollback_error: Box::new(QueryError::BrokenTransactionManager),
            commit_error: Box::new(closed()),
        };
        assert!(is_unknown(both, true));
        assert!(is_unknown(other(Report::default()), true), "it may be SQLSTATE 40003");
        assert!(!is_unknown(other(Report::default()), false), "SQLite knows what it did");
        assert!(is_unknown(with_text("disk I/O error"), false), "not synced, but perhaps written");
        assert!(!is_unknown(with_text("database or disk is full"), false));
        for error in [
            reported(DatabaseErrorKind::SerializationFailure, Report::default()),
            reported(DatabaseErrorKind::UniqueViolation, Report::default()),
            other(DEADLOCK),
            QueryError::BrokenTransactionManager,
        ] {
            assert!(!is_unknown(error, true));
        }
    }

    #[test]
    fn a_deadlock_is_known_by_the_fields_of_the_error_and_not_its_text() {
        assert!(is_conflict(&other(DEADLOCK)) && is_unclassified(&other(DEADLOCK)));
        for report in [
            Report { position: true, ..DEADLOCK },
            Report { constraint: true, ..DEADLOCK },
            Report { details: false, ..DEADLOCK },
            Report { hint: false, ..DEADLOCK },
        ] {
            assert!(!is_conflict(&other(report)));
        }
        assert!(is_unclassified(&other(Report { hint: false, ..DEADLOCK })), "an engine that reports it with less");
        assert!(!is_unclassified(&other(Report { position: true, ..Report::default() })), "a statement that is wrong");
        assert!(!is_unclassified(&reported(DatabaseErrorKind::UniqueViolation, Report::default())));
    }

    #[test]
    fn a_server_without_room_or_time_is_unavailable() {
        let is_unavailable = |report: Report, is_server| {
            matches!(
                settled::<StoreError>(Abort::Query(other(report)), is_server),
                Abort::Store(StoreError::Unavailable(_))
            )
        };
        // 53100 has a hint, 53200 details or a hint, 57014 neither.
        for (details, hint) in [(false, true), (true, false), (false, false)] {
            assert!(is_unavailable(Report { details, hint, ..Report::default() }, true));
        }
        for report in [Report { position: true, ..Report::default() }, Report { constraint: true, ..Report::default() }]
        {
            assert!(!is_unavailable(report, true), "the statement or the data are wrong");
        }
        assert!(!is_unavailable(Report::default(), false), "SQLite says the same of a statement that is wrong");
    }

    #[test]
    fn transient_errors_are_unavailable() {
        let demoted = reported(DatabaseErrorKind::ReadOnlyTransaction, Report::default());
        assert!(matches!(store_error(&demoted), StoreError::Unavailable(_)));
        for text in ["database or disk is full", "disk I/O error", "attempt to write a readonly database"] {
            assert!(matches!(store_error(&with_text(text)), StoreError::Unavailable(_)));
        }
        assert!(matches!(store_error(&other(DEADLOCK)), StoreError::Unavailable(_)));
        let wrong = other(Report { position: true, ..Report::default() });
        assert!(matches!(store_error(&wrong), StoreError::Failed(_)));
    }

    fn plain(kind: DatabaseErrorKind) -> QueryError {
        QueryError::DatabaseError(kind, Box::new(String::new()))
    }

    #[test]
    fn only_conflicts_are_retried_more_than_five_times() {
        let (conflict, gone, other) = (
            plain(DatabaseErrorKind::SerializationFailure),
            plain(DatabaseErrorKind::ForeignKeyViolation),
            plain(DatabaseErrorKind::Unknown),
        );
        let mut attempts = Attempts::begin();
        for _ in 1..MAX_ATTEMPTS {
            assert!(attempts.writing(&conflict, false, true) && attempts.reading(&conflict, false));
            assert!(attempts.writing(&gone, false, true) && attempts.writing(&gone, true, true));
            assert!(attempts.writing(&other, false, true) && !attempts.writing(&other, false, false));
            assert!(!attempts.reading(&other, false));
            assert!(attempts.pause(&gone, 0) <= Duration::from_millis(MAX_BACKOFF));
        }
        assert!(attempts.writing(&conflict, false, true) && !attempts.queues());
        assert!(!attempts.writing(&gone, true, true) && !attempts.writing(&other, false, true));
        assert!(!attempts.writing(&plain(DatabaseErrorKind::UniqueViolation), false, true));
    }

    #[test]
    fn repeated_conflicts_wait_for_the_lock_and_then_fail() {
        let conflict = plain(DatabaseErrorKind::SerializationFailure);
        let mut attempts = Attempts::begin();
        let mut runs = 1;
        while attempts.writing(&conflict, false, true) {
            assert_eq!(attempts.queues(), runs > CONFLICTS_BEFORE_LOCK);
            attempts.pause(&conflict, 0);
            runs += 1;
        }
        assert_eq!(runs, MAX_CONFLICT_ATTEMPTS);
    }
}
