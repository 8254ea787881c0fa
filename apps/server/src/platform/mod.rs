//! The platform surface: staff, integrations and agents.

mod agent_access;
mod agents;
mod applications;
mod assortment;
mod branches;
mod brands;
mod categories;
mod departments;
mod dictionaries;
mod directory;
mod directory_query;
mod employee_record;
mod inventories;
mod inventory_upload;
mod nomenclature_import;
mod nomenclatures;
mod order_queries;
mod orders;
mod permissions;
mod policies;
mod roles;
mod session;
mod warehouses;
mod webhook_deliveries;
mod webhooks;

pub use policies::POLICIES;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::http::routes::below;

/// Registers the platform surface.
pub fn routes(config: &mut ServiceConfig<'_>) {
    session::routes(config);
    agents::routes(config);
    below(config, "/api/agent-access-requests", agent_access::routes);
    directory::routes(config);
    below(config, "/api/departments", departments::routes);
    below(config, "/api/roles", roles::routes);
    permissions::routes(config);
    branches::routes(config);
    below(config, "/api/applications", |config| {
        applications::routes(config);
        webhooks::routes(config);
        webhook_deliveries::routes(config);
        assortment::routes(config);
    });
    dictionaries::routes(config);
    categories::routes(config);
    brands::routes(config);
    below(config, "/api/warehouses", warehouses::routes);
    nomenclature_import::routes(config);
    inventory_upload::routes(config);
    nomenclatures::routes(config);
    inventories::routes(config);
    orders::routes(config);
}
