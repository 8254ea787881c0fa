//! Content of the calling application: pages, blocks, menus.

mod blocks;
mod menus;
mod pages;
mod query;

use kontor_content::ContentError;
use utoipa_actix_web::service_config::ServiceConfig;

use kontor_web::ApiError;

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    pages::routes(config);
    blocks::routes(config);
    menus::routes(config);
}
