//! Identifiers in paths.

use actix_web::web::Path;
use kontor_kernel::InvalidId;
use serde::Deserialize;

use super::ApiError;

/// Path segment that identifies a record. A text that is no valid identifier results in `404`.
#[derive(Deserialize)]
#[serde(transparent)]
pub struct PathId(String);

impl PathId {
    /// Parses the identifier.
    pub fn parse<T: TryFrom<i64, Error = InvalidId>>(&self) -> Result<T, ApiError> {
        let digits = self.0.bytes().all(|byte| byte.is_ascii_digit());
        let number = self.0.parse().ok().filter(|_| digits).ok_or_else(ApiError::not_found)?;
        T::try_from(number).map_err(|_| ApiError::not_found())
    }
}

/// Two identifiers in a path. The API description takes them from the path itself; a tuple written out in a handler
/// would have to declare them.
pub type TwoIds = Path<(PathId, PathId)>;

/// Three identifiers in a path.
pub type ThreeIds = Path<(PathId, PathId, PathId)>;

/// Four identifiers in a path.
pub type FourIds = Path<(PathId, PathId, PathId, PathId)>;
