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

/// Registers the platform surface.
pub fn routes(config: &mut ServiceConfig<'_>) {
    session::routes(config);
    agents::routes(config);
    agent_access::routes(config);
    directory::routes(config);
    departments::routes(config);
    roles::routes(config);
    permissions::routes(config);
    branches::routes(config);
    applications::routes(config);
    webhooks::routes(config);
    webhook_deliveries::routes(config);
    dictionaries::routes(config);
    categories::routes(config);
    brands::routes(config);
    assortment::routes(config);
    warehouses::routes(config);
    nomenclature_import::routes(config);
    inventory_upload::routes(config);
    nomenclatures::routes(config);
    inventories::routes(config);
    orders::routes(config);
}
