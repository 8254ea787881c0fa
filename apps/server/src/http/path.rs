//! Identifiers in paths.

use actix_web::web::Path;
use kontor_kernel::InvalidId;
use serde::Deserialize;

use super::ApiError;

/// One path segment that names a record. A text that is no identifier names no record: `404`.
#[derive(Deserialize)]
#[serde(transparent)]
pub struct PathId(String);

impl PathId {
    /// The identifier.
    pub fn parse<T: TryFrom<i64, Error = InvalidId>>(&self) -> Result<T, ApiError> {
        let digits = self.0.bytes().all(|byte| byte.is_ascii_digit());
        let number = self.0.parse().ok().filter(|_| digits).ok_or_else(ApiError::not_found)?;
        T::try_from(number).map_err(|_| ApiError::not_found())
    }
}

/// Two numbers in a path. The description takes them from the path itself; a tuple that is written out at a handler would
/// have to declare them.
pub type TwoIds = Path<(PathId, PathId)>;

/// Three numbers in a path.
pub type ThreeIds = Path<(PathId, PathId, PathId)>;

/// Four numbers in a path.
pub type FourIds = Path<(PathId, PathId, PathId, PathId)>;
