//! Groups of routes below one path.

use actix_web::Scope;
use actix_web::guard::fn_guard;
use utoipa_actix_web::scope::scope;
use utoipa_actix_web::service_config::ServiceConfig;

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
