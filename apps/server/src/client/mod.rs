//! The client surface: sites, apps and their backends.

mod cart;
mod delivery;
mod orders;
mod payment_types;
mod profile;
mod session;
mod settings;
mod shops;

use utoipa_actix_web::service_config::ServiceConfig;

pub(crate) use delivery::DeliveryOptionRecord;

/// Registers the client surface.
pub fn routes(config: &mut ServiceConfig<'_>) {
    session::routes(config);
    profile::routes(config);
    settings::routes(config);
    delivery::routes(config);
    payment_types::routes(config);
    shops::routes(config);
    cart::routes(config);
    orders::routes(config);
}
