//! Client surface: the endpoints of sites, apps and their backends, `/api/counterparty/...`.
//!
//! **Owns** the handlers and their wire types. A handler extracts its input, calls a service and returns a response.
//!
//! **Invariants**
//! - Every endpoint has a row in [`POLICIES`].
//! - A record of another project or customer is `404`.

#![allow(unused_qualifications, reason = "utoipa names the parameters of an operation by their path")]

mod callback_auth;
mod cart;
mod contact_form;
mod content;
mod delivery;
mod dictionaries;
mod favourites;
mod heartbeat;
mod introspection;
mod miniapps;
mod notifications;
mod orders;
mod payment_methods;
mod payment_types;
mod phone_change;
mod plans;
mod policies;
mod product_facets;
mod products;
mod profile;
mod queries;
mod search_address;
mod searches;
mod session;
mod settings;
mod shops;
mod showcase;
mod subscriptions;
mod verification;

use utoipa_actix_web::service_config::ServiceConfig;

use kontor_web::routes::below;

pub use policies::POLICIES;

/// Registers the client surface. Routes are tried in this order, so the most requested come first.
pub fn routes(config: &mut ServiceConfig<'_>) {
    below(config, "/api/counterparty/products", |config| {
        favourites::routes(config);
        products::routes(config);
    });
    products::price_routes(config);
    introspection::routes(config);
    below(config, "/api/counterparty/orders", |config| {
        cart::routes(config);
        orders::routes(config);
    });
    below(config, "/api/counterparty/subscriptions", subscriptions::routes);
    below(config, "/api/counterparty/payment-methods", payment_methods::routes);
    contact_form::routes(config);
    heartbeat::routes(config);
    session::routes(config);
    callback_auth::routes(config);
    profile::routes(config);
    phone_change::routes(config);
    verification::routes(config);
    notifications::routes(config);
    settings::routes(config);
    showcase::routes(config);
    payment_types::routes(config);
    plans::routes(config);
    content::routes(config);
    searches::routes(config);
    dictionaries::routes(config);
    search_address::routes(config);
    below(config, "/api/counterparty/miniapps", miniapps::routes);
    below(config, "/api/counterparty/delivery_types", delivery::routes);
    below(config, "/api/counterparty/shops", shops::routes);
}
