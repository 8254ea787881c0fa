//! The platform surface: staff, integrations and agents.

mod agent_access;
mod agents;
mod applications;
mod assortment;
mod branches;
mod brands;
mod bulk_upload;
mod categories;
mod category_tables;
mod customers;
mod departments;
mod dictionaries;
mod directory;
mod directory_query;
mod discounts;
mod employee_record;
mod files;
mod integrations;
mod inventories;
mod inventory_upload;
mod jobs;
mod nomenclature_import;
mod nomenclatures;
mod order_files;
mod order_history;
mod order_lines;
mod order_placement;
mod order_preview;
mod order_refunds;
mod order_table;
mod orders;
mod permissions;
mod plans;
mod policies;
mod promotions;
mod reservations;
mod roles;
mod session;
mod subscriptions;
mod suggestions;
mod tags;
mod tickets;
mod warehouse_integrations;
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
        plans::routes(config);
    });
    dictionaries::routes(config);
    suggestions::routes(config);
    categories::routes(config);
    category_tables::routes(config);
    brands::routes(config);
    tags::routes(config);
    below(config, "/api/warehouses", |config| {
        warehouses::routes(config);
        warehouse_integrations::routes(config);
    });
    warehouses::table_routes(config);
    below(config, "/api/integrations", integrations::routes);
    nomenclature_import::routes(config);
    inventory_upload::routes(config);
    nomenclatures::routes(config);
    inventories::routes(config);
    inventories::placed_routes(config);
    reservations::routes(config);
    customers::table_routes(config);
    below(config, "/api/counterparties", customers::routes);
    orders::routes(config);
    order_files::table_routes(config);
    subscriptions::table_routes(config);
    below(config, "/api/subscriptions", subscriptions::routes);
    below(config, "/api/files", files::routes);
    below(config, "/api/discounts", discounts::routes);
    promotions::routes(config);
    below(config, "/api/jobs", jobs::routes);
}
