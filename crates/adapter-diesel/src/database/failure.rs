//! How a step ends without a commit, and what an error of the database means for it.

use diesel::result::{DatabaseErrorKind, Error as QueryError};
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

pub(super) fn conclude<R: From<StoreError>>(abort: Abort<R>) -> R {
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
pub(super) fn is_lost(error: &QueryError) -> bool {
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

/// What PostgreSQL calls a deadlock in the languages its messages are expected in (`lc_messages`).
const DEADLOCK: [&str; 2] = ["deadlock detected", "обнаружена взаимоблокировка"];

/// SQLSTATE 40001 and 40P01; diesel has a kind only for the first and keeps the states to itself.
pub(super) fn is_conflict(error: &QueryError) -> bool {
    match error {
        QueryError::DatabaseError(DatabaseErrorKind::SerializationFailure, _) => true,
        QueryError::DatabaseError(DatabaseErrorKind::Unknown, information) => {
            DEADLOCK.iter().any(|text| information.message().contains(text))
        }
        _ => false,
    }
}

/// What another run of the step may not meet again. A record that a step looked up and refers to, and that somebody else
/// deleted in between, is one of these: the next run finds it gone and refuses by its name. On SQLite nobody can come in
/// between. A step that maps the error itself ([`super::on_reference`]) does not get here.
pub(super) fn passes(error: &QueryError) -> bool {
    let gone = matches!(error, QueryError::DatabaseError(DatabaseErrorKind::ForeignKeyViolation, _));
    gone || is_conflict(error)
}

/// How distributed engines say that a commit may have happened (SQLSTATE 40003).
const AMBIGUOUS: &str = "result is ambiguous";

/// What a `COMMIT` that failed means: the connection was gone before it could be sent, nobody knows what became of it, or
/// the database answered that it was rolled back. When SQLite could not sync, it is rolled back for as long as the process
/// lives: one that is killed then may find the change stored when it starts again.
pub(super) fn at_commit<R>(error: QueryError) -> Abort<R> {
    let unknown = match &error {
        // The answer of a connection that is known to be broken; nothing was sent.
        QueryError::BrokenTransactionManager => false,
        QueryError::DatabaseError(DatabaseErrorKind::Unknown, information) => {
            information.message().contains(AMBIGUOUS) || says(&error, &DISK_FAILS)
        }
        error => is_lost(error) || says(error, &DISK_FAILS),
    };
    if unknown { Abort::Store(StoreError::OutcomeUnknown(error.to_string())) } else { Abort::Query(error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(kind: DatabaseErrorKind, message: &str) -> QueryError {
        QueryError::DatabaseError(kind, Box::new(message.to_owned()))
    }

    fn is_unknown(error: QueryError) -> bool {
        matches!(at_commit::<StoreError>(error), Abort::Store(StoreError::OutcomeUnknown(_)))
    }

    #[test]
    fn only_a_commit_whose_answer_is_missing_is_unknown() {
        let closed = || reported(DatabaseErrorKind::ClosedConnection, "server closed the connection unexpectedly");
        assert!(is_unknown(closed()));
        let both = QueryError::RollbackErrorOnCommit {
            rollback_error: Box::new(QueryError::BrokenTransactionManager),
            commit_error: Box::new(closed()),
        };
        assert!(is_unknown(both));
        assert!(is_unknown(reported(DatabaseErrorKind::Unknown, "result is ambiguous: replica unavailable")));
        assert!(is_unknown(reported(DatabaseErrorKind::Unknown, "disk I/O error")), "not synced, but perhaps written");
        for error in [
            reported(DatabaseErrorKind::SerializationFailure, "could not serialize access"),
            reported(DatabaseErrorKind::UniqueViolation, "a deferred key"),
            reported(DatabaseErrorKind::Unknown, "deadlock detected"),
            reported(DatabaseErrorKind::Unknown, "database or disk is full"),
            QueryError::BrokenTransactionManager,
        ] {
            assert!(!is_unknown(error));
        }
    }

    #[test]
    fn what_passes_by_itself_is_unavailable() {
        let demoted =
            reported(DatabaseErrorKind::ReadOnlyTransaction, "cannot execute INSERT in a read-only transaction");
        assert!(matches!(store_error(&demoted), StoreError::Unavailable(_)));
        for text in ["database or disk is full", "disk I/O error", "attempt to write a readonly database"] {
            assert!(matches!(store_error(&reported(DatabaseErrorKind::Unknown, text)), StoreError::Unavailable(_)));
        }
        let wrong = reported(DatabaseErrorKind::Unknown, "syntax error");
        assert!(matches!(store_error(&wrong), StoreError::Failed(_)));
    }
}
