//! The platform surface: staff, integrations and agents.

mod applications;
mod assortment;
mod branches;
mod brands;
mod categories;
mod inventories;
mod nomenclatures;
mod warehouses;

use utoipa_actix_web::service_config::ServiceConfig;

/// Registers the platform surface.
pub fn routes(config: &mut ServiceConfig<'_>) {
    branches::routes(config);
    applications::routes(config);
    categories::routes(config);
    brands::routes(config);
    assortment::routes(config);
    warehouses::routes(config);
    nomenclatures::routes(config);
    inventories::routes(config);
}
