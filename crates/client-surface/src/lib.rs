//! Client surface: the endpoints of sites, apps and their backends, `/api/counterparty/...`.
//!
//! **Owns** the handlers and their wire types. A handler extracts its input, calls a service and returns a response.
//!
//! **Invariants**
//! - Every endpoint has a row in [`POLICIES`].
//! - A record of another project or customer is `404`.

#![allow(unused_qualifications, reason = "utoipa names the parameters of an operation by their path")]

mod callback_auth;
mod content;
mod delivery;
mod dictionaries;
mod favourites;
mod introspection;
mod orders;
mod payment_methods;
mod plans;
mod policies;
mod products;
mod profile;
mod queries;
mod session;
mod showcase;
mod subscriptions;

use utoipa_actix_web::service_config::ServiceConfig;

use kontor_web::path::below;

pub use policies::POLICIES;

/// Registers the client surface. Routes are tried in this order, so the most requested come first.
pub fn routes(config: &mut ServiceConfig<'_>) {
    below(config, "/api/counterparty/products", |config| {
        favourites::routes(config);
        products::routes(config);
    });
    products::price_routes(config);
    introspection::routes(config);
    below(config, "/api/counterparty/orders", orders::routes);
    below(config, "/api/counterparty/subscriptions", subscriptions::routes);
    below(config, "/api/counterparty/payment-methods", payment_methods::routes);
    orders::contact_form_routes(config);
    session::routes(config);
    callback_auth::routes(config);
    profile::routes(config);
    payment_methods::verification_routes(config);
    dictionaries::routes(config);
    showcase::routes(config);
    delivery::checkout_routes(config);
    plans::routes(config);
    content::routes(config);
    favourites::search_routes(config);
    below(config, "/api/counterparty/miniapps", session::miniapp_routes);
    below(config, "/api/counterparty/delivery_types", delivery::routes);
    below(config, "/api/counterparty/shops", showcase::shop_routes);
}
