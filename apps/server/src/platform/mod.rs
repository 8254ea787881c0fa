//! The platform surface: staff, integrations and agents.

mod applications;
mod assortment;
mod branches;
mod brands;
mod categories;
mod dictionaries;
mod inventories;
mod inventory_upload;
mod nomenclature_import;
mod nomenclatures;
mod order_queries;
mod orders;
mod policies;
mod session;
mod warehouses;
mod webhook_deliveries;
mod webhooks;

pub use policies::POLICIES;
use utoipa_actix_web::service_config::ServiceConfig;

/// Registers the platform surface.
pub fn routes(config: &mut ServiceConfig<'_>) {
    session::routes(config);
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
