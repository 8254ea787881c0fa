use kontor_adapter_diesel::VersionedRecord;

use kontor_web::limits::INTROSPECT_IP;
use kontor_web::policy::Access::{App, Backend, Customer, CustomerOnly, Visitor};
use kontor_web::policy::{Policy, delete, get, patch, post, put};

/// Access rules of the client surface.
pub const POLICIES: &[Policy] = &[
    // Session and login
    post("/api/counterparty/send_password", App),
    post("/api/counterparty/login", App),
    post("/api/counterparty/miniapps/{provider}/contact_auth", App).structured(),
    post("/api/counterparty/logout", Customer),
    post("/api/counterparty/session/heartbeat", Customer),
    post("/api/counterparty/auth/introspect", Backend).limited(INTROSPECT_IP),
    post("/api/counterparty/callback_auth/init", App),
    post("/api/counterparty/callback_auth/status", App),
    post("/api/counterparty/callback_auth/exchange", App),
    // Profile
    get("/api/counterparty", CustomerOnly).versioned(VersionedRecord::Customer),
    put("/api/counterparty", CustomerOnly).versioned(VersionedRecord::Customer),
    delete("/api/counterparty", CustomerOnly).versioned(VersionedRecord::Customer),
    post("/api/counterparty/phone/request_change", CustomerOnly),
    post("/api/counterparty/phone/verify_change", CustomerOnly),
    post("/api/counterparty/verifications/sbp-payment", CustomerOnly),
    // Notifications
    get("/api/counterparty/notifications", Customer),
    // Catalog
    get("/api/counterparty/products", Visitor).server_cached(),
    get("/api/counterparty/products/{id}", Visitor).server_cached(),
    get("/api/counterparty/products/favourites", Customer),
    post("/api/counterparty/products/favourites", Customer),
    get("/api/counterparty/products/favourites/{product_id}", Customer),
    delete("/api/counterparty/products/favourites/{product_id}", Customer),
    get("/api/counterparty/prices", App).server_cached(),
    get("/api/counterparty/categories", App).server_cached(),
    get("/api/counterparty/brands", App).server_cached(),
    get("/api/counterparty/countries", App).server_cached(),
    get("/api/counterparty/tags", App).server_cached(),
    get("/api/counterparty/slides", App).server_cached(),
    get("/api/counterparty/subscription-plans", App).server_cached(),
    get("/api/counterparty/subscription-catalog", App).server_cached(),
    get("/api/counterparty/subscription-catalog/grouped", App).server_cached(),
    get("/api/counterparty/dictionaries", App),
    get("/api/counterparty/search/history", Customer),
    get("/api/counterparty/search/popular", Visitor),
    post("/api/counterparty/search_address", App),
    // Content
    get("/api/counterparty/blocks/{code}", App).server_cached(),
    get("/api/counterparty/blocks/id/{identifier}", App).server_cached(),
    get("/api/counterparty/page_types", App).server_cached(),
    get("/api/counterparty/pages", App).server_cached(),
    get("/api/counterparty/pages/{slug}", App).server_cached(),
    get("/api/counterparty/menus", App).server_cached(),
    get("/api/counterparty/menus/{slug}", App).server_cached(),
    get("/api/counterparty/menus/{name}/items", App).server_cached(),
    // Checkout
    get("/api/counterparty/delivery_types", App),
    get("/api/counterparty/delivery_types/{type_id}", App),
    get("/api/counterparty/delivery_types/{type_id}/subtypes", App),
    get("/api/counterparty/delivery_types/{type_id}/subtypes/{subtype_id}", App),
    get("/api/counterparty/delivery_types/{type_id}/subtypes/{subtype_id}/params", App),
    get("/api/counterparty/payment_types", App),
    get("/api/counterparty/shops", App).server_cached(),
    get("/api/counterparty/shops/{id}", App).server_cached(),
    get("/api/counterparty/settings", App),
    // Orders
    post("/api/counterparty/orders/precalculate", Visitor),
    post("/api/counterparty/contact_form", App),
    get("/api/counterparty/orders", Customer),
    post("/api/counterparty/orders", Customer).commits_first(),
    get("/api/counterparty/orders/{id}", Customer),
    // Subscriptions
    post("/api/counterparty/subscriptions/checkout", Customer).repeats(),
    get("/api/counterparty/subscriptions", Customer),
    get("/api/counterparty/subscriptions/{id}", Customer),
    get("/api/counterparty/subscriptions/{id}/consents", Customer),
    post("/api/counterparty/subscriptions", Customer),
    patch("/api/counterparty/subscriptions/{id}", Customer),
    post("/api/counterparty/subscriptions/{id}/cancel", Customer),
    post("/api/counterparty/subscriptions/{id}/resume", Customer),
    get("/api/counterparty/subscriptions/{id}/payments", Customer),
    post("/api/counterparty/subscriptions/{id}/payments/{payment_id}/retry", Customer)
        .result_from("/api/counterparty/subscriptions/{id}"),
    post("/api/counterparty/subscriptions/{id}/payment-method-change", Customer).repeats(),
    post("/api/counterparty/subscriptions/{id}/payment-method-changes/{change_id}/sync", Customer).repeats(),
    get("/api/counterparty/payment-methods", Customer),
    delete("/api/counterparty/payment-methods/{id}", Customer),
];
