//! Staff console of Kontor: static files, and one function that serves them.
//!
//! The console is a client of the documented API and of nothing else. Its files are compiled into the binary as they are
//! in `static/`; nothing is generated.
//!
//! | Address | Answer | Cache |
//! |---|---|---|
//! | `/console/` and each path below it without an extension | `index.html` | `no-cache` with `ETag` |
//! | `/console/<hash>/<file>` | a file of `static/` | `immutable` |
//!
//! The hash covers all files. A changed file changes every address, so relative imports always meet their own version.

mod files;
mod serve;

use actix_web::web;

pub use files::content_hash;

/// Adds the routes of the console below `/console/`.
pub fn routes(config: &mut web::ServiceConfig) {
    config.service(web::resource("/console").route(web::get().to(serve::redirect))).service(
        web::resource("/console/{path:.*}").route(web::get().to(serve::console)).route(web::head().to(serve::console)),
    );
}
