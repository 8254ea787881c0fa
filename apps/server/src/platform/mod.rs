//! The platform surface: staff, integrations and agents.

mod applications;
mod branches;
mod dictionaries;
mod session;

use utoipa_actix_web::service_config::ServiceConfig;

/// Registers the platform surface.
pub fn routes(config: &mut ServiceConfig<'_>) {
    session::routes(config);
    branches::routes(config);
    applications::routes(config);
    dictionaries::routes(config);
}
