//! Routes that lie below one path.

use actix_web::Scope;
use actix_web::guard::fn_guard;
use utoipa_actix_web::scope::scope;
use utoipa_actix_web::service_config::ServiceConfig;

/// Registers routes that all lie at or below this path, and no other route does. Routes are tried one after the other,
/// and those with placeholders by regular expressions: kept together, they are passed over at the cost of one comparison.
pub fn below(config: &mut ServiceConfig<'_>, path: &'static str, register: impl FnOnce(&mut ServiceConfig<'_>)) {
    let guarded = Scope::new("").guard(fn_guard(move |context| lies_below(context.head().uri.path(), path)));
    config.service(scope(guarded).configure(register));
}

/// Whether a path is this one or lies below it, by whole segments.
pub fn lies_below(path: &str, root: &str) -> bool {
    path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_lies_below_whole_segments() {
        assert!(["/api/user", "/api/user/", "/api/user/1/x"].iter().all(|path| lies_below(path, "/api/user")));
        assert!(["/api/users", "/api", "/", "", "/api/User"].iter().all(|path| !lies_below(path, "/api/user")));
    }
}
