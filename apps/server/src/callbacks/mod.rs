//! What outside services call.

use utoipa_actix_web::service_config::ServiceConfig;

/// Registers the callbacks.
pub fn routes(_config: &mut ServiceConfig<'_>) {}
