//! Callbacks of outside services.

mod acquirer;
mod telephony;

use kontor_web::policy::{Access, Policy, post};
use utoipa_actix_web::service_config::ServiceConfig;

pub use acquirer::AcquirerAddresses;

/// Registers the callbacks.
pub fn routes(config: &mut ServiceConfig<'_>) {
    acquirer::routes(config);
    telephony::routes(config);
}

/// Policies of the callbacks. Their handlers verify the request by a signature or by a request to the provider.
pub const POLICIES: &[Policy] =
    &[post("/callbacks/acquirer", Access::Public), post("/callbacks/telephony", Access::Public)];
