//! Why a use case is refused: what all records share, and what one kind of record adds.

use std::convert::Infallible;

use crate::{AccessDenied, StoreError};

/// What only one kind of record can answer, such as a name that is taken.
pub trait Refusal: std::error::Error + Send + Sync + 'static {}

/// For records that refuse nothing of their own.
impl Refusal for Infallible {}

/// Why a use case of a record is refused; `R` is what only this kind of record can answer.
#[derive(Debug, thiserror::Error)]
pub enum RecordError<R: Refusal = Infallible> {
    /// The employee may not do this.
    #[error(transparent)]
    Denied(#[from] AccessDenied),
    /// There is no such record.
    #[error("there is no such record")]
    NotFound,
    /// The record itself does not allow it.
    #[error(transparent)]
    Refused(R),
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl<R: Refusal> From<R> for RecordError<R> {
    fn from(refusal: R) -> Self {
        Self::Refused(refusal)
    }
}
