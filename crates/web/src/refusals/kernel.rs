//! Responses to refusals of `kontor-kernel`.

use crate::ApiError;
use kontor_kernel::ChangesError;

impl From<ChangesError> for ApiError {
    fn from(error: ChangesError) -> Self {
        match error {
            ChangesError::Denied(denied) => denied.into(),
            ChangesError::Cursor(refusal) => Self::invalid("cursor", refusal),
            ChangesError::Store(error) => error.into(),
        }
    }
}
