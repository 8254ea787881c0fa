//! Violations of unique and foreign keys that are expected refusals.

use diesel::result::{DatabaseErrorKind, Error as QueryError};

use super::Abort;

/// What is inserted or changed clashes with a unique key.
pub(crate) fn on_duplicate<R>(refusal: impl Into<R>) -> impl FnOnce(QueryError) -> Abort<R> {
    move |error| match error {
        QueryError::DatabaseError(DatabaseErrorKind::UniqueViolation, _) => Abort::refused(refusal),
        error => Abort::Query(error),
    }
}

/// What is deleted is referred to. Where something new refers to a record, the step looks for the record and refuses by its
/// name; when the record is deleted in between, the step runs again and does not find it (`failure::passes`).
pub(crate) fn on_reference<R>(refusal: impl Into<R>) -> impl FnOnce(QueryError) -> Abort<R> {
    move |error| match error {
        QueryError::DatabaseError(DatabaseErrorKind::ForeignKeyViolation, _) => Abort::refused(refusal),
        error => Abort::Query(error),
    }
}
