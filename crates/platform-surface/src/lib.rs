//! Platform surface: the endpoints of staff, integrations and agents, `/api/...`.
//!
//! **Owns** the handlers, their wire types and the [tables](table) of staff screens. A handler extracts its input, calls
//! a service and returns a response.
//!
//! **Invariants**
//! - Every endpoint has a row in [`POLICIES`].
//! - A record of another project is `403`.

#![allow(unused_qualifications, reason = "utoipa names the parameters of an operation by their path")]

mod agent_access;
mod agent_actions;
mod agent_policy;
mod agent_tools;
mod agents;
mod application_parts;
mod applications;
mod assortment;
mod bank_requisites;
mod branches;
mod brands;
mod bulk_upload;
mod categories;
mod changes;
mod customers;
mod dictionaries;
mod discounts;
mod employees;
mod endpoints;
mod files;
mod integrations;
mod inventories;
mod jobs;
mod nomenclature_import;
mod nomenclatures;
mod orders;
mod pages;
mod payment_types;
mod plans;
mod policies;
mod project_settings;
mod promotions;
mod reports;
mod reservations;
mod roles;
mod session;
mod sheets;
mod shops;
mod staff_menus;
mod subscriptions;
mod suggestions;
pub mod table;
mod tasks;
mod tickets;
mod warehouses;
mod webhooks;

pub use agent_tools::agent_tools;
pub use policies::POLICIES;
pub use sheets::{HeaderRecord, RowRecord};
use utoipa_actix_web::service_config::ServiceConfig;

use kontor_web::path::below;

/// Registers the platform surface.
pub fn routes(config: &mut ServiceConfig<'_>) {
    session::routes(config);
    agents::routes(config);
    below(config, "/api/agent-access-requests", agent_access::routes);
    below(config, "/api/agent-actions", agent_actions::routes);
    agent_policy::routes(config);
    employees::directory_routes(config);
    employees::routes(config);
    below(config, "/api/departments", roles::department_routes);
    below(config, "/api/roles", roles::routes);
    below(config, "/api/permissions", roles::permission_routes);
    below(config, "/api/screens", roles::screen_routes);
    below(config, "/api/branches", |config| {
        branches::routes(config);
        branches::history_routes(config);
        bank_requisites::branch_routes(config);
        integrations::requisite_routes(config);
    });
    branches::table_routes(config);
    below(config, "/api/applications", |config| {
        applications::routes(config);
        webhooks::routes(config);
        webhooks::delivery_routes(config);
        assortment::routes(config);
        application_parts::routes(config);
        plans::routes(config);
        payment_types::application_routes(config);
    });
    webhooks::list_routes(config);
    dictionaries::routes(config);
    below(config, "/api/payment_types", |config| {
        payment_types::routes(config);
        payment_types::history_routes(config);
    });
    project_settings::routes(config);
    suggestions::routes(config);
    below(config, "/api/categories", categories::routes);
    categories::table_routes(config);
    application_parts::table_routes(config);
    shops::table_routes(config);
    below(config, "/api/shops", shops::routes);
    staff_menus::routes(config);
    tasks::table_routes(config);
    below(config, "/api/tasks", tasks::routes);
    pages::outer_routes(config);
    below(config, "/api/pages", pages::routes);
    below(config, "/api/brands", brands::routes);
    brands::tag_routes(config);
    below(config, "/api/warehouses", |config| {
        warehouses::routes(config);
        integrations::warehouse_routes(config);
    });
    warehouses::table_routes(config);
    below(config, "/api/integrations", integrations::routes);
    nomenclature_import::routes(config);
    bulk_upload::routes(config);
    config.service(jobs::export_inventories);
    bulk_upload::column_routes(config);
    nomenclatures::routes(config);
    inventories::routes(config);
    reservations::routes(config);
    reservations::line_routes(config);
    reports::routes(config);
    below(config, "/api/changes", changes::routes);
    customers::table_routes(config);
    below(config, "/api/counterparties", |config| {
        config.service(jobs::export_counterparties);
        customers::routes(config);
    });
    orders::routes(config);
    files::table_routes(config);
    subscriptions::table_routes(config);
    below(config, "/api/subscriptions", subscriptions::routes);
    below(config, "/api/files", files::routes);
    discounts::table_routes(config);
    below(config, "/api/discounts", discounts::routes);
    below(config, "/api/promotions", promotions::routes);
    below(config, "/api/jobs", jobs::routes);
}
