//! All endpoints of the contract. The route and its description come from the same declaration.

use utoipa_actix_web::service_config::ServiceConfig;

use crate::callbacks;

/// Registers all endpoints.
pub fn routes(config: &mut ServiceConfig<'_>) {
    kontor_client_surface::routes(config);
    kontor_platform_surface::routes(config);
    callbacks::routes(config);
}
