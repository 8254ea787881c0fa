//! Content of an application: blocks, menu items and slides.

mod blocks;
mod menu_items;
mod slides;

use utoipa_actix_web::service_config::ServiceConfig;

/// Registers the tables, whose paths are outside the prefix of the other routes.
pub(super) fn table_routes(config: &mut ServiceConfig<'_>) {
    blocks::table_routes(config);
    menu_items::table_routes(config);
    slides::table_routes(config);
}

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    blocks::routes(config);
    menu_items::routes(config);
    menu_items::move_routes(config);
    slides::routes(config);
}
