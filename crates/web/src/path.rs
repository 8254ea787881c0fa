//! Identifiers in paths, and groups of routes below one path.

use actix_web::Scope;
use actix_web::guard::fn_guard;
use actix_web::web::Path;
use kontor_kernel::InvalidId;
use serde::Deserialize;
use utoipa_actix_web::scope::scope;
use utoipa_actix_web::service_config::ServiceConfig;

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

/// Registers routes at or below this path; all routes below it must be in one group. Routes are matched in sequence,
/// those with placeholders by regular expressions. A group is skipped with one comparison.
pub fn below(config: &mut ServiceConfig<'_>, path: &'static str, register: impl FnOnce(&mut ServiceConfig<'_>)) {
    let guarded = Scope::new("").guard(fn_guard(move |context| is_below(context.head().uri.path(), path)));
    config.service(scope(guarded).configure(register));
}

/// Returns `true` if a path equals `root` or is below it, compared by whole segments.
pub fn is_below(path: &str, root: &str) -> bool {
    path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_lies_below_whole_segments() {
        assert!(["/api/user", "/api/user/", "/api/user/1/x"].iter().all(|path| is_below(path, "/api/user")));
        assert!(["/api/users", "/api", "/", "", "/api/User"].iter().all(|path| !is_below(path, "/api/user")));
    }
}
