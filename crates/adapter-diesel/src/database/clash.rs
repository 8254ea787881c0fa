//! Errors of keys that are expected refusals.

use diesel::result::{DatabaseErrorKind, Error as QueryError};

use super::Abort;

/// What is inserted or changed clashes with a unique key.
pub(crate) fn on_duplicate<R>(refusal: R) -> impl FnOnce(QueryError) -> Abort<R> {
    move |error| match error {
        QueryError::DatabaseError(DatabaseErrorKind::UniqueViolation, _) => Abort::Refused(refusal),
        error => Abort::Query(error),
    }
}

/// What is deleted is referred to, or what is referred to is gone.
pub(crate) fn on_reference<R>(refusal: R) -> impl FnOnce(QueryError) -> Abort<R> {
    move |error| match error {
        QueryError::DatabaseError(DatabaseErrorKind::ForeignKeyViolation, _) => Abort::Refused(refusal),
        error => Abort::Query(error),
    }
}
