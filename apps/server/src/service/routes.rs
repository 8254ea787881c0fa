//! All endpoints of the contract. The route and its description come from the same declaration.

use utoipa_actix_web::service_config::ServiceConfig;

use crate::{callbacks, client, platform};

/// Registers all endpoints.
pub fn routes(config: &mut ServiceConfig<'_>) {
    client::routes(config);
    platform::routes(config);
    callbacks::routes(config);
}
