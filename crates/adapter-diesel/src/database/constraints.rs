//! Violations of unique and foreign keys that are expected refusals.

use diesel::result::{DatabaseErrorKind, Error as QueryError};

use super::Abort;

/// Maps a unique key violation of an insert or update to a refusal.
pub(crate) fn on_duplicate<R>(refusal: impl Into<R>) -> impl FnOnce(QueryError) -> Abort<R> {
    move |error| match error {
        QueryError::DatabaseError(DatabaseErrorKind::UniqueViolation, _) => Abort::refused(refusal),
        error => Abort::Query(error),
    }
}

/// Maps a foreign key violation of a delete to a refusal. An operation that inserts a reference looks up the referenced
/// record itself and refuses by its name. If the record is deleted in between, the operation runs again and does not
/// find it (`failure::is_retryable`).
pub(crate) fn on_reference<R>(refusal: impl Into<R>) -> impl FnOnce(QueryError) -> Abort<R> {
    move |error| match error {
        QueryError::DatabaseError(DatabaseErrorKind::ForeignKeyViolation, _) => Abort::refused(refusal),
        error => Abort::Query(error),
    }
}
