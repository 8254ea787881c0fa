//! The platform surface: staff, integrations and agents.

mod applications;
mod branches;
mod dictionaries;

use utoipa_actix_web::service_config::ServiceConfig;

/// Registers the platform surface.
pub fn routes(config: &mut ServiceConfig<'_>) {
    branches::routes(config);
    applications::routes(config);
    dictionaries::routes(config);
}
