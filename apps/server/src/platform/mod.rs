//! The platform surface: staff, integrations and agents.

mod applications;
mod branches;
mod dictionaries;
mod orders;
mod webhook_deliveries;
mod webhooks;

use utoipa_actix_web::service_config::ServiceConfig;

/// Registers the platform surface.
pub fn routes(config: &mut ServiceConfig<'_>) {
    branches::routes(config);
    applications::routes(config);
    webhooks::routes(config);
    webhook_deliveries::routes(config);
    dictionaries::routes(config);
    orders::routes(config);
}
