//! How a step ends without a commit, and what an error of the database means for it.

use diesel::result::{DatabaseErrorInformation, DatabaseErrorKind, Error as QueryError};
use kontor_kernel::StoreError;

/// Why the work of a transaction ended without a commit.
#[derive(Debug)]
pub enum Abort<R> {
    /// A guard refused; everything is rolled back and the caller learns the reason.
    Refused(R),
    /// The database reported an error.
    Query(QueryError),
    /// A stored record breaks an invariant.
    Store(StoreError),
}

impl<R> Abort<R> {
    /// A guard refused for this reason.
    pub fn refused(reason: impl Into<R>) -> Self {
        Self::Refused(reason.into())
    }

    /// The same, with another reason.
    pub(crate) fn map<S>(self, reason: impl FnOnce(R) -> S) -> Abort<S> {
        match self {
            Self::Refused(refused) => Abort::Refused(reason(refused)),
            Self::Query(error) => Abort::Query(error),
            Self::Store(error) => Abort::Store(error),
        }
    }
}

impl Abort<StoreError> {
    /// The same in a step that refuses for other reasons: storage that fails is no refusal there.
    pub(crate) fn in_step<R>(self) -> Abort<R> {
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

/// What is told to the caller.
pub(crate) fn conclude<R: From<StoreError>>(abort: Abort<R>) -> R {
    match abort {
        Abort::Refused(reason) => reason,
        Abort::Query(error) => store_error(&error).into(),
        Abort::Store(error) => error.into(),
    }
}

pub(crate) fn store_error(error: &QueryError) -> StoreError {
    let passes = is_lost(error) || is_conflict(error) || is_demoted(error) || is_of_the_disk(error);
    if passes || error.to_string().contains("database is locked") {
        StoreError::Unavailable(error.to_string())
    } else {
        StoreError::Failed(error.to_string())
    }
}

/// The connection is gone. What was not committed over it never will be.
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

/// The server takes no changes any longer (SQLSTATE 25006): after a fail-over it is a replica.
pub(super) fn is_demoted(error: &QueryError) -> bool {
    matches!(error, QueryError::DatabaseError(DatabaseErrorKind::ReadOnlyTransaction, _))
}

/// What SQLite says of a disk that is full or takes no changes, and of one that fails. It has one language, and diesel keeps
/// the codes to itself.
const NO_ROOM: [&str; 2] = ["database or disk is full", "attempt to write a readonly database"];
const DISK_FAILS: [&str; 2] = ["disk I/O error", "unable to open database file"];

fn says(error: &QueryError, texts: &[&str]) -> bool {
    match error {
        QueryError::DatabaseError(DatabaseErrorKind::Unknown, information) => {
            texts.iter().any(|text| information.message() == *text)
        }
        QueryError::RollbackErrorOnCommit { commit_error, .. } => says(commit_error, texts),
        _ => false,
    }
}

/// The disk of SQLite takes nothing at the moment. Doing the step again at once is of no use.
pub(super) fn is_of_the_disk(error: &QueryError) -> bool {
    says(error, &NO_ROOM) || says(error, &DISK_FAILS)
}

/// SQLSTATE 40001 and 40P01.
pub(super) fn is_conflict(error: &QueryError) -> bool {
    match error {
        QueryError::DatabaseError(DatabaseErrorKind::SerializationFailure, _) => true,
        QueryError::DatabaseError(DatabaseErrorKind::Unknown, information) => is_deadlock(information.as_ref()),
        _ => false,
    }
}

/// Diesel has a kind for the SQLSTATEs it knows and keeps the others to itself, and what a message says depends on the
/// language of the server. Which fields an error has does not: a deadlock comes with a detail (who waits for whom) and a
/// hint (where to read on), and points at no place in a statement and at no object.
fn is_deadlock(information: &dyn DatabaseErrorInformation) -> bool {
    information.details().is_some() && information.hint().is_some() && !has_place(information)
}

/// Whether an error says where a statement or a record is wrong. Such an error comes again with every run.
fn has_place(information: &dyn DatabaseErrorInformation) -> bool {
    information.statement_position().is_some()
        || information.table_name().is_some()
        || information.column_name().is_some()
        || information.constraint_name().is_some()
}

/// What another run of the step may not meet again. A record that a step looked up and refers to, and that somebody else
/// deleted in between, is one of these: the next run finds it gone and refuses by its name. On SQLite nobody can come in
/// between. A step that maps the error itself ([`super::on_reference`]) does not get here.
pub(super) fn passes(error: &QueryError) -> bool {
    let gone = matches!(error, QueryError::DatabaseError(DatabaseErrorKind::ForeignKeyViolation, _));
    gone || is_conflict(error)
}

/// What may pass on a server, where nobody can tell: an error that diesel has no kind for and that has no place. Other
/// engines report their deadlocks and lost races that way. Nothing of the step is stored, so to run it again is never
/// wrong, and at worst in vain: the caller bounds how often and for how long.
pub(super) fn may_pass(error: &QueryError) -> bool {
    match error {
        QueryError::DatabaseError(DatabaseErrorKind::Unknown, information) => !has_place(information.as_ref()),
        _ => false,
    }
}

/// The outcome of a step that does not run again. A server reports a full disk, no memory, a lock or a statement that took too
/// long (SQLSTATE 53100, 53200, 55P03, 57014) by codes that diesel 2.3 keeps to itself and in words of its own language. So they
/// are told by what they lack: an error of the statement has a place, an error of the data has a kind. Nothing is stored.
pub(super) fn settled<R>(abort: Abort<R>, is_server: bool) -> Abort<R> {
    match abort {
        Abort::Query(error) if is_server && may_pass(&error) => {
            Abort::Store(StoreError::Unavailable(error.to_string()))
        }
        abort => abort,
    }
}

/// What a `COMMIT` that failed means: the connection was gone before it could be sent, nobody knows what became of it, or
/// the database answered that it was rolled back. A server has SQLSTATEs for a commit that is in doubt (40003, 08007), which
/// diesel has no kind for: any answer to a commit that cannot be told apart from them leaves it in doubt. The embedded
/// database knows what it did, unless it could not sync: then the commit is undone for as long as the process lives, and one
/// that is killed may find it stored when it starts again.
pub(super) fn at_commit<R>(error: QueryError, is_server: bool) -> Abort<R> {
    let unknown = match &error {
        // The answer of a connection that is known to be broken; nothing was sent.
        QueryError::BrokenTransactionManager => false,
        QueryError::DatabaseError(DatabaseErrorKind::Unknown, _) if is_server => !is_conflict(&error),
        error => is_lost(error) || (!is_server && says(error, &DISK_FAILS)),
    };
    if unknown { Abort::Store(StoreError::OutcomeUnknown(error.to_string())) } else { Abort::Query(error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An error as a server reports it, its texts in whatever language.
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

    fn told(text: &str) -> QueryError {
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
        assert!(is_unknown(told("disk I/O error"), false), "not synced, but perhaps written");
        assert!(!is_unknown(told("database or disk is full"), false));
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
    fn the_fields_of_an_error_tell_a_deadlock_and_not_its_words() {
        assert!(is_conflict(&other(DEADLOCK)) && may_pass(&other(DEADLOCK)));
        for report in [
            Report { position: true, ..DEADLOCK },
            Report { constraint: true, ..DEADLOCK },
            Report { details: false, ..DEADLOCK },
            Report { hint: false, ..DEADLOCK },
        ] {
            assert!(!is_conflict(&other(report)));
        }
        assert!(may_pass(&other(Report { hint: false, ..DEADLOCK })), "an engine that reports it with less");
        assert!(!may_pass(&other(Report { position: true, ..Report::default() })), "a statement that is wrong");
        assert!(!may_pass(&reported(DatabaseErrorKind::UniqueViolation, Report::default())));
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
    fn what_passes_by_itself_is_unavailable() {
        let demoted = reported(DatabaseErrorKind::ReadOnlyTransaction, Report::default());
        assert!(matches!(store_error(&demoted), StoreError::Unavailable(_)));
        for text in ["database or disk is full", "disk I/O error", "attempt to write a readonly database"] {
            assert!(matches!(store_error(&told(text)), StoreError::Unavailable(_)));
        }
        assert!(matches!(store_error(&other(DEADLOCK)), StoreError::Unavailable(_)));
        let wrong = other(Report { position: true, ..Report::default() });
        assert!(matches!(store_error(&wrong), StoreError::Failed(_)));
    }
}
