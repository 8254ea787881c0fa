//! Callbacks of outside services.

mod acquirer;
mod policies;
mod telephony;

pub use acquirer::AcquirerAddresses;
pub use policies::POLICIES;
use utoipa_actix_web::service_config::ServiceConfig;

/// Registers the callbacks.
pub fn routes(config: &mut ServiceConfig<'_>) {
    acquirer::routes(config);
    telephony::routes(config);
}
