//! The client surface: sites, apps and their backends.

mod brands;
mod cart;
mod categories;
mod delivery;
mod orders;
mod payment_types;
mod policies;
mod products;
mod profile;
mod queries;
mod session;
mod settings;
mod shops;

use utoipa_actix_web::service_config::ServiceConfig;

pub(crate) use delivery::DeliveryOptionRecord;
pub use policies::POLICIES;

/// Registers the client surface, what visitors ask for most first: routes are tried in this order.
pub fn routes(config: &mut ServiceConfig<'_>) {
    products::routes(config);
    cart::routes(config);
    orders::routes(config);
    session::routes(config);
    profile::routes(config);
    settings::routes(config);
    categories::routes(config);
    brands::routes(config);
    delivery::routes(config);
    payment_types::routes(config);
    shops::routes(config);
}
