//! Content of the calling application: pages, blocks, menus.

mod blocks;
mod menus;
mod pages;

use utoipa_actix_web::service_config::ServiceConfig;

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    pages::routes(config);
    blocks::routes(config);
    menus::routes(config);
}
