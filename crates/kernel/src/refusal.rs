//! Errors of use cases: those that all records share, and those of one kind of record.

use std::convert::Infallible;

use crate::{AccessDenied, StoreError};

/// Refusal specific to one kind of record, such as a name in use.
pub trait Refusal: std::error::Error + Send + Sync + 'static {}

/// For records without specific refusals.
impl Refusal for Infallible {}

/// Error of a use case of a record; `R` is the refusal specific to its kind.
#[derive(Debug, thiserror::Error)]
pub enum RecordError<R: Refusal = Infallible> {
    /// The employee lacks a permission.
    #[error(transparent)]
    Denied(#[from] AccessDenied),
    /// The record does not exist.
    #[error("there is no such record")]
    NotFound,
    /// A rule of this kind of record refuses it.
    #[error(transparent)]
    Refused(R),
    /// Storage failure.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl<R: Refusal> From<R> for RecordError<R> {
    fn from(refusal: R) -> Self {
        Self::Refused(refusal)
    }
}
