//! The client surface: sites, apps and their backends.

mod settings;

use utoipa_actix_web::service_config::ServiceConfig;

/// Registers the client surface.
pub fn routes(config: &mut ServiceConfig<'_>) {
    settings::routes(config);
}
