// Written by generate.py from docs/openapi.json.

use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::*;
use crate::{Call, ClientSurface, Method, Money, Numbered, Page, Pages, Patch, Secret, segment};

impl ClientSurface {
    /// Delete the customer's account.
    ///
    /// Clears personal data and revokes all tokens. Orders are kept. A later login with the same contact creates a new
    /// customer.
    ///
    /// `DELETE /api/counterparty`
    pub fn delete_account(&self) -> Call<Message> {
        self.call(Method::DELETE, "/api/counterparty")
    }

    /// Get the customer's profile.
    ///
    /// The header `Token` is optional. If sent, it must be the token of the application that the customer logged in
    /// to.
    ///
    /// `GET /api/counterparty`
    pub fn show_profile(&self) -> Call<CustomerResponse> {
        self.call(Method::GET, "/api/counterparty")
    }

    /// Update the customer's profile.
    ///
    /// Absent fields keep their values; `null` clears a field.
    ///
    /// `PUT /api/counterparty`
    pub fn update_profile(&self, body: &ProfilePatch) -> Call<CustomerResponse> {
        self.call(Method::PUT, "/api/counterparty").json(body)
    }

    /// Introspect a customer token.
    ///
    /// For backends: returns the state of a customer token of the client's application. The client authenticates with
    /// its own credentials. The response is `{"active": false}` if the token is invalid for any reason.
    ///
    /// `POST /api/counterparty/auth/introspect`
    pub fn introspect(&self, body: &IntrospectionRequest) -> Call<TokenIntrospection> {
        self.call(Method::POST, "/api/counterparty/auth/introspect").form(body).reads().by_backend()
    }

    /// Get a content block by identifier.
    ///
    /// Returns a block of the calling application with its children.
    ///
    /// `GET /api/counterparty/blocks/id/{identifier}`
    pub fn show_block_by_identifier(&self, identifier: &str) -> Call<ClientBlockResponse> {
        self.call(Method::GET, &format!("/api/counterparty/blocks/id/{}", segment(identifier)))
    }

    /// Get a content block by code.
    ///
    /// Returns a block of the calling application with its children.
    ///
    /// `GET /api/counterparty/blocks/{code}`
    pub fn show_block_by_code(&self, code: i64) -> Call<ClientBlockResponse> {
        self.call(Method::GET, &format!("/api/counterparty/blocks/{code}"))
    }

    /// List the application's brands.
    ///
    /// Brands are ordered by priority, highest first.
    ///
    /// `GET /api/counterparty/brands`
    pub fn list_brands(&self, query: &ListBrandsQuery) -> Call<StorefrontBrandList> {
        self.call(Method::GET, "/api/counterparty/brands").query(query)
    }

    /// Exchange a verified callback attempt for an access token.
    ///
    /// The customer is found by their phone, or created. A verified attempt can be exchanged once, for at least two
    /// minutes.
    ///
    /// `POST /api/counterparty/callback_auth/exchange`
    pub fn exchange_callback_attempt(&self, body: &CallbackExchange) -> Call<CallbackExchanged> {
        self.call(Method::POST, "/api/counterparty/callback_auth/exchange").json(body)
    }

    /// Start a login by callback.
    ///
    /// Returns the number that the customer must call from their phone. Then poll `status` and finish with `exchange`.
    ///
    /// While an attempt for the phone waits for its call, another one is accepted after 60 seconds. That rejection
    /// does not use the nonce; an attempt that fails at the provider does.
    ///
    /// Rate limits: 10 an hour per phone, 60 a minute per IP address.
    ///
    /// `POST /api/counterparty/callback_auth/init`
    pub fn start_callback_login(&self, body: &CallbackStart) -> Call<CallbackStarted> {
        self.call(Method::POST, "/api/counterparty/callback_auth/init").json(body)
    }

    /// Check a login by callback.
    ///
    /// Returns `verified` once the call has arrived, and `expired` after the exchange.
    ///
    /// `POST /api/counterparty/callback_auth/status`
    pub fn check_callback_login(&self, body: &CallbackStatusRequest) -> Call<CallbackStatusRecord> {
        self.call(Method::POST, "/api/counterparty/callback_auth/status").json(body).reads()
    }

    /// List the application's categories.
    ///
    /// Without `parent_id`, returns the root categories, ordered by position. With it, returns the direct children of
    /// that category, ordered by name.
    ///
    /// `GET /api/counterparty/categories`
    pub fn list_categories(&self, query: &ListCategoriesQuery) -> Call<StorefrontCategoryList> {
        self.call(Method::GET, "/api/counterparty/categories").query(query)
    }

    /// Place an order without login.
    ///
    /// The order is delivered by courier. The customer is found by the phone, or created with the order; the response
    /// does not reveal which. The data of an existing customer is not changed.
    ///
    /// The unconfirmed orders of one phone are limited in units and in total price. Above a limit the response is 422
    /// on `products`. An order that no employee confirms is canceled after a limited time.
    ///
    /// `POST /api/counterparty/contact_form`
    pub fn place_order_by_contact_form(&self, body: &ContactForm) -> Call<OwnOrderResponse> {
        self.call(Method::POST, "/api/counterparty/contact_form").json(body)
    }

    /// List countries.
    ///
    /// `GET /api/counterparty/countries`
    pub fn list_countries(&self) -> Call<CountryList> {
        self.call(Method::GET, "/api/counterparty/countries")
    }

    /// List delivery types.
    ///
    /// Includes inactive types. Show only those with `is_active` = `1`.
    ///
    /// `GET /api/counterparty/delivery_types`
    pub fn list_delivery_types(&self) -> Call<DeliveryTypeList> {
        self.call(Method::GET, "/api/counterparty/delivery_types")
    }

    /// Get a delivery type.
    ///
    /// `GET /api/counterparty/delivery_types/{type_id}`
    pub fn show_delivery_type(&self, type_id: i64) -> Call<DeliveryTypeResponse> {
        self.call(Method::GET, &format!("/api/counterparty/delivery_types/{type_id}"))
    }

    /// List the subtypes of a delivery type.
    ///
    /// `GET /api/counterparty/delivery_types/{type_id}/subtypes`
    pub fn list_delivery_subtypes(&self, type_id: i64) -> Call<DeliverySubtypeList> {
        self.call(Method::GET, &format!("/api/counterparty/delivery_types/{type_id}/subtypes"))
    }

    /// Get a delivery subtype.
    ///
    /// The subtype is not checked against the type in the path. Use ids from the subtype list.
    ///
    /// `GET /api/counterparty/delivery_types/{type_id}/subtypes/{subtype_id}`
    pub fn show_delivery_subtype(&self, type_id: i64, subtype_id: i64) -> Call<DeliverySubtypeResponse> {
        self.call(Method::GET, &format!("/api/counterparty/delivery_types/{type_id}/subtypes/{subtype_id}"))
    }

    /// List the options of a delivery subtype.
    ///
    /// Options are, for example, pickup points.
    ///
    /// `GET /api/counterparty/delivery_types/{type_id}/subtypes/{subtype_id}/params`
    pub fn list_delivery_subtype_params(&self, type_id: i64, subtype_id: i64) -> Call<DeliveryParamList> {
        self.call(Method::GET, &format!("/api/counterparty/delivery_types/{type_id}/subtypes/{subtype_id}/params"))
    }

    /// List all storefront dictionaries.
    ///
    /// Returns in one response every storefront dictionary that takes no parameters.
    ///
    /// `GET /api/counterparty/dictionaries`
    pub fn list_dictionaries(&self) -> Call<Dictionaries> {
        self.call(Method::GET, "/api/counterparty/dictionaries")
    }

    /// Log in with a one-time code.
    ///
    /// After five wrong attempts the code is invalid. If several customers have the contact, the oldest logs in.
    ///
    /// `POST /api/counterparty/login`
    pub fn log_in(&self, body: &CodeLogin) -> Call<SignedInCounterparty> {
        self.call(Method::POST, "/api/counterparty/login").json(body)
    }

    /// Log out the customer.
    ///
    /// Ends the login on this device, or on all devices with `from_all_devices`.
    ///
    /// `POST /api/counterparty/logout`
    pub fn log_out(&self, body: &Logout) -> Call<Message> {
        self.call(Method::POST, "/api/counterparty/logout").json(body)
    }

    /// Get the default menu.
    ///
    /// Returns the menu `navpanel` of the calling application.
    ///
    /// `GET /api/counterparty/menus`
    pub fn show_default_menu(&self) -> Call<Menu> {
        self.call(Method::GET, "/api/counterparty/menus")
    }

    /// List the items of the project's menu.
    ///
    /// The name must match exactly.
    ///
    /// `GET /api/counterparty/menus/{name}/items`
    pub fn list_project_menu(&self, name: &str) -> Call<ProjectMenu> {
        self.call(Method::GET, &format!("/api/counterparty/menus/{}/items", segment(name)))
    }

    /// Get a menu by slug.
    ///
    /// Returns the root item with this slug and its children.
    ///
    /// `GET /api/counterparty/menus/{slug}`
    pub fn show_menu(&self, slug: &str) -> Call<Menu> {
        self.call(Method::GET, &format!("/api/counterparty/menus/{}", segment(slug)))
    }

    /// Log in with a contact shared in a mini-app.
    ///
    /// Both signatures of the messenger must be recent, by default at most one hour old. The customer is found by the
    /// phone, or created.
    ///
    /// `POST /api/counterparty/miniapps/{provider}/contact_auth`
    pub fn log_in_with_contact(&self, provider: &str, body: &ContactLogin) -> Call<SignedInCounterparty> {
        self.call(Method::POST, &format!("/api/counterparty/miniapps/{}/contact_auth", segment(provider))).json(body)
    }

    /// List the customer's notifications.
    ///
    /// Notifications are about the customer's orders in the calling application, newest first.
    ///
    /// `GET /api/counterparty/notifications`
    pub fn list_notifications(&self, query: &PageQuery) -> Call<NotificationList> {
        self.call(Method::GET, "/api/counterparty/notifications").query(query)
    }

    /// Reads [`list_notifications`](Self::list_notifications) page by page, from the first page.
    pub fn list_notifications_pages(&self, query: PageQuery) -> Pages<PageQuery, NotificationList> {
        let surface = self.clone();
        Pages::new(query, move |query| surface.list_notifications(query))
    }

    /// List the customer's orders.
    ///
    /// Returns orders of the calling application, newest first. Without `page` and `per_page` these are the newest
    /// 500; `ordersCount` counts all.
    ///
    /// `GET /api/counterparty/orders`
    pub fn list_own_orders(&self, query: &PageQuery) -> Call<OwnOrderList> {
        self.call(Method::GET, "/api/counterparty/orders").query(query)
    }

    /// Reads [`list_own_orders`](Self::list_own_orders) page by page, from the first page.
    pub fn list_own_orders_pages(&self, query: PageQuery) -> Pages<PageQuery, OwnOrderList> {
        let surface = self.clone();
        Pages::new(query, move |query| surface.list_own_orders(query))
    }

    /// Place an order.
    ///
    /// With `payment_method_type`, an online payment is requested after the order is stored:
    ///
    /// - If the acquirer rejects the payment, the order is canceled and the response is 502.
    /// - If the outcome is unknown, the response is 202 and `payment_link` appears in the order later.
    ///
    /// Orders with a promo code count toward the rate limit of cart calculations.
    ///
    /// `POST /api/counterparty/orders`
    pub fn place_order(&self, body: &NewOrder) -> Call<OwnOrderResponse> {
        self.call(Method::POST, "/api/counterparty/orders").json(body)
    }

    /// Calculate a cart.
    ///
    /// Nothing is stored. With a customer token, the per-customer limit of the promo code is checked. A promo code
    /// that cannot be used is not an error: `discount_error` contains the reason.
    ///
    /// `POST /api/counterparty/orders/precalculate`
    pub fn calculate_cart(&self, body: &CartInput) -> Call<CartRecord> {
        self.call(Method::POST, "/api/counterparty/orders/precalculate").json(body).reads()
    }

    /// Get an order of the customer.
    ///
    /// `GET /api/counterparty/orders/{id}`
    pub fn show_own_order(&self, id: i64) -> Call<OwnOrderResponse> {
        self.call(Method::GET, &format!("/api/counterparty/orders/{id}"))
    }

    /// List content page types.
    ///
    /// `GET /api/counterparty/page_types`
    pub fn list_page_types(&self) -> Call<ClientPageTypeList> {
        self.call(Method::GET, "/api/counterparty/page_types")
    }

    /// List content pages.
    ///
    /// Returns the visible content pages of the project.
    ///
    /// `GET /api/counterparty/pages`
    pub fn list_pages(&self, query: &ListPagesQuery) -> Call<ClientPages> {
        self.call(Method::GET, "/api/counterparty/pages").query(query)
    }

    /// Reads [`list_pages`](Self::list_pages) page by page, from the first page.
    pub fn list_pages_pages(&self, query: ListPagesQuery) -> Pages<ListPagesQuery, ClientPages> {
        let surface = self.clone();
        Pages::new(query, move |query| surface.list_pages(query))
    }

    /// Get a content page.
    ///
    /// Counts a view, at most once in 10 minutes per IP address. A project can define a fallback page, which is
    /// returned instead of pages that do not exist. To detect it, compare `slug`.
    ///
    /// `GET /api/counterparty/pages/{slug}`
    pub fn show_page(&self, slug: &str) -> Call<ClientPageResponse> {
        self.call(Method::GET, &format!("/api/counterparty/pages/{}", segment(slug)))
    }

    /// List saved payment methods.
    ///
    /// Returns methods that the customer saved in this application and that can be charged, newest first.
    ///
    /// `GET /api/counterparty/payment-methods`
    pub fn list_payment_methods(&self) -> Call<PaymentMethodList> {
        self.call(Method::GET, "/api/counterparty/payment-methods")
    }

    /// Delete a saved payment method.
    ///
    /// The method is not charged any more, even if subscriptions use it. Paid subscriptions stay active until the end
    /// of their period. To continue after that, they need another method.
    ///
    /// `DELETE /api/counterparty/payment-methods/{id}`
    pub fn delete_payment_method(&self, id: i64) -> Call<Message> {
        self.call(Method::DELETE, &format!("/api/counterparty/payment-methods/{id}"))
    }

    /// List payment types.
    ///
    /// Returns the payment types that the application accepts.
    ///
    /// `GET /api/counterparty/payment_types`
    pub fn list_payment_types(&self) -> Call<PaymentTypeList> {
        self.call(Method::GET, "/api/counterparty/payment_types")
    }

    /// Request a phone change.
    ///
    /// Calls the new phone with a one-time code. The code can only be used for the phone change, not for login.
    ///
    /// `POST /api/counterparty/phone/request_change`
    pub fn request_phone_change(&self, body: &PhoneChangeRequest) -> Call<Message> {
        self.call(Method::POST, "/api/counterparty/phone/request_change").json(body)
    }

    /// Confirm a phone change.
    ///
    /// Sets the new phone with the one-time code that was sent to it. From then on the customer logs in with the new
    /// phone, and no longer with the old one.
    ///
    /// `POST /api/counterparty/phone/verify_change`
    pub fn confirm_phone_change(&self, body: &PhoneChangeProof) -> Call<CustomerResponse> {
        self.call(Method::POST, "/api/counterparty/phone/verify_change").json(body)
    }

    /// Get the price range of products.
    ///
    /// Takes the same filters as the product list. `page` and `per_page` have no effect.
    ///
    /// `GET /api/counterparty/prices`
    pub fn show_prices(&self, query: &ShowPricesQuery) -> Call<Prices> {
        self.call(Method::GET, "/api/counterparty/prices").query(query)
    }

    /// List the application's products.
    ///
    /// With a customer token, `is_favourite` is filled in and the search is saved to the customer's history.
    ///
    /// `GET /api/counterparty/products`
    pub fn list_products(&self, query: &ListProductsQuery) -> Call<FilteredProducts> {
        self.call(Method::GET, "/api/counterparty/products").query(query)
    }

    /// Reads [`list_products`](Self::list_products) page by page, from the first page.
    pub fn list_products_pages(&self, query: ListProductsQuery) -> Pages<ListProductsQuery, FilteredProducts> {
        let surface = self.clone();
        Pages::new(query, move |query| surface.list_products(query))
    }

    /// List favourite products.
    ///
    /// Returns favourites that the application sells now, last added first.
    ///
    /// `GET /api/counterparty/products/favourites`
    pub fn list_favourites(&self, query: &PageQuery) -> Call<ProductList> {
        self.call(Method::GET, "/api/counterparty/products/favourites").query(query)
    }

    /// Reads [`list_favourites`](Self::list_favourites) page by page, from the first page.
    pub fn list_favourites_pages(&self, query: PageQuery) -> Pages<PageQuery, ProductList> {
        let surface = self.clone();
        Pages::new(query, move |query| surface.list_favourites(query))
    }

    /// Add a product to favourites.
    ///
    /// The product may be sold out. A product that is a favourite already keeps its position.
    ///
    /// `POST /api/counterparty/products/favourites`
    pub fn add_favourite(&self, body: &NewFavourite) -> Call<ProductResponse> {
        self.call(Method::POST, "/api/counterparty/products/favourites").json(body)
    }

    /// Remove a product from favourites.
    ///
    /// `product_id` is the id of the product.
    ///
    /// `DELETE /api/counterparty/products/favourites/{product_id}`
    pub fn remove_favourite(&self, product_id: i64) -> Call<Message> {
        self.call(Method::DELETE, &format!("/api/counterparty/products/favourites/{product_id}"))
    }

    /// Get a favourite product.
    ///
    /// Works for every product that the application sells, sold out or not, and for products that are not favourites.
    ///
    /// `GET /api/counterparty/products/favourites/{product_id}`
    pub fn show_favourite(&self, product_id: i64) -> Call<ProductResponse> {
        self.call(Method::GET, &format!("/api/counterparty/products/favourites/{product_id}"))
    }

    /// Get a product.
    ///
    /// Counts a view, at most once in 10 minutes per IP address.
    ///
    /// `GET /api/counterparty/products/{id}`
    pub fn show_product(&self, id: i64) -> Call<ProductResponse> {
        self.call(Method::GET, &format!("/api/counterparty/products/{id}"))
    }

    /// List the customer's recent searches.
    ///
    /// Returns the last 50 product searches, newest first. Equal texts are listed once.
    ///
    /// `GET /api/counterparty/search/history`
    pub fn list_searches(&self) -> Call<SearchRequestList> {
        self.call(Method::GET, "/api/counterparty/search/history")
    }

    /// List popular searches.
    ///
    /// Returns the same list as `history`. Without a customer token the list is empty.
    ///
    /// `GET /api/counterparty/search/popular`
    pub fn list_popular_searches(&self) -> Call<SearchRequestList> {
        self.call(Method::GET, "/api/counterparty/search/popular")
    }

    /// Search addresses.
    ///
    /// Returns suggestions only. Customers may enter any other address.
    ///
    /// `POST /api/counterparty/search_address`
    pub fn search_address(&self, body: &SuggestionInput) -> Call<AddressList> {
        self.call(Method::POST, "/api/counterparty/search_address").json(body).reads()
    }

    /// Send a login code.
    ///
    /// Sends a one-time code by call or e-mail. The customer is created if they do not exist.
    ///
    /// `POST /api/counterparty/send_password`
    pub fn send_password(&self, body: &CodeRequest) -> Call<Message> {
        self.call(Method::POST, "/api/counterparty/send_password").json(body)
    }

    /// Send a session heartbeat.
    ///
    /// Call it while the customer uses the application. After 300 seconds without a heartbeat, the next one starts a
    /// new session.
    ///
    /// `POST /api/counterparty/session/heartbeat`
    pub fn send_heartbeat(&self) -> Call<HeartbeatRecord> {
        self.call(Method::POST, "/api/counterparty/session/heartbeat")
    }

    /// Get the application's settings.
    ///
    /// Use it to check an App Token.
    ///
    /// `GET /api/counterparty/settings`
    pub fn show_settings(&self) -> Call<ClientSettings> {
        self.call(Method::GET, "/api/counterparty/settings")
    }

    /// List open shops.
    ///
    /// Returns the open shops of the project.
    ///
    /// `GET /api/counterparty/shops`
    pub fn list_shops(&self) -> Call<ShopList> {
        self.call(Method::GET, "/api/counterparty/shops")
    }

    /// Get an open shop.
    ///
    /// `GET /api/counterparty/shops/{id}`
    pub fn show_shop(&self, id: i64) -> Call<ShopResponse> {
        self.call(Method::GET, &format!("/api/counterparty/shops/{id}"))
    }

    /// List current slides.
    ///
    /// Returns the slides that the application shows now, ordered by position.
    ///
    /// `GET /api/counterparty/slides`
    pub fn list_slides(&self) -> Call<SlideList> {
        self.call(Method::GET, "/api/counterparty/slides")
    }

    /// Get the subscription catalog.
    ///
    /// Returns the plans of the application with all details, ordered by position.
    ///
    /// `GET /api/counterparty/subscription-catalog`
    pub fn show_plan_catalog(&self) -> Call<PlanCatalog> {
        self.call(Method::GET, "/api/counterparty/subscription-catalog")
    }

    /// Get the subscription catalog by category.
    ///
    /// Returns plans with all details. Categories are ordered by their first plan.
    ///
    /// `GET /api/counterparty/subscription-catalog/grouped`
    pub fn show_grouped_plans(&self) -> Call<GroupedPlans> {
        self.call(Method::GET, "/api/counterparty/subscription-catalog/grouped")
    }

    /// List subscription plans.
    ///
    /// Returns the plans of the application in short form, ordered by position.
    ///
    /// `GET /api/counterparty/subscription-plans`
    pub fn list_plans(&self) -> Call<PlanList> {
        self.call(Method::GET, "/api/counterparty/subscription-plans")
    }

    /// List the customer's subscriptions.
    ///
    /// Returns subscriptions of this application and those that belong to the whole project, newest first. Without
    /// `page` and `per_page` these are the newest 500.
    ///
    /// `GET /api/counterparty/subscriptions`
    pub fn list_subscriptions(&self, query: &PageQuery) -> Call<SubscriptionList> {
        self.call(Method::GET, "/api/counterparty/subscriptions").query(query)
    }

    /// Create a subscription with a saved payment method.
    ///
    /// The first period is charged at once. Never send card data to this endpoint.
    ///
    /// `POST /api/counterparty/subscriptions`
    pub fn create_subscription(&self, body: &NewSubscription) -> Call<SubscriptionResponse> {
        self.call(Method::POST, "/api/counterparty/subscriptions").json(body)
    }

    /// Check out subscriptions.
    ///
    /// Creates a payment on the acquirer's page for one or several plans. The payment method is saved for later
    /// charges. The subscriptions become active when the payment succeeds. While the payment is open, the same request
    /// returns the same payment.
    ///
    /// `POST /api/counterparty/subscriptions/checkout`
    pub fn check_out_subscriptions(&self, body: &NewCheckout) -> Call<CheckoutRecord> {
        self.call(Method::POST, "/api/counterparty/subscriptions/checkout").json(body)
    }

    /// Get a subscription of the customer.
    ///
    /// `GET /api/counterparty/subscriptions/{id}`
    pub fn show_subscription(&self, id: i64) -> Call<SubscriptionResponse> {
        self.call(Method::GET, &format!("/api/counterparty/subscriptions/{id}"))
    }

    /// Update the plan or payment method of a subscription.
    ///
    /// A new plan applies from the next period, a new saved method from the next charge. Never send card data to this
    /// endpoint.
    ///
    /// `PATCH /api/counterparty/subscriptions/{id}`
    pub fn update_subscription(&self, id: i64, body: &ChangedSubscription) -> Call<SubscriptionResponse> {
        self.call(Method::PATCH, &format!("/api/counterparty/subscriptions/{id}")).json(body)
    }

    /// Cancel a subscription.
    ///
    /// Nothing is charged any more.
    ///
    /// `POST /api/counterparty/subscriptions/{id}/cancel`
    pub fn cancel_subscription(&self, id: i64) -> Call<SubscriptionResponse> {
        self.call(Method::POST, &format!("/api/counterparty/subscriptions/{id}/cancel"))
    }

    /// List the consents of a subscription.
    ///
    /// Newest first.
    ///
    /// `GET /api/counterparty/subscriptions/{id}/consents`
    pub fn list_subscription_consents(&self, id: i64, query: &PageQuery) -> Call<SubscriptionConsentPage> {
        self.call(Method::GET, &format!("/api/counterparty/subscriptions/{id}/consents")).query(query)
    }

    /// Reads [`list_subscription_consents`](Self::list_subscription_consents) page by page, from the first page.
    pub fn list_subscription_consents_pages(
        &self,
        id: i64,
        query: PageQuery,
    ) -> Pages<PageQuery, SubscriptionConsentPage> {
        let surface = self.clone();
        Pages::new(query, move |query| surface.list_subscription_consents(id, query))
    }

    /// Change the payment method of a subscription.
    ///
    /// The customer enters the new method at `confirmation_url`. The small amount paid there is refunded at once.
    /// Never send card data to this endpoint.
    ///
    /// `POST /api/counterparty/subscriptions/{id}/payment-method-change`
    pub fn change_payment_method(&self, id: i64, body: &NewMethodChange) -> Call<MethodChangeRecord> {
        self.call(Method::POST, &format!("/api/counterparty/subscriptions/{id}/payment-method-change")).json(body)
    }

    /// Check a payment method change.
    ///
    /// Returns the state of the change. While it is unknown, the acquirer is queried.
    ///
    /// `POST /api/counterparty/subscriptions/{id}/payment-method-changes/{change_id}/sync`
    pub fn sync_payment_method_change(&self, id: i64, change_id: i64) -> Call<MethodChangeRecord> {
        self.call(
            Method::POST,
            &format!("/api/counterparty/subscriptions/{id}/payment-method-changes/{change_id}/sync"),
        )
    }

    /// List the payments of a subscription.
    ///
    /// Newest first.
    ///
    /// `GET /api/counterparty/subscriptions/{id}/payments`
    pub fn list_subscription_payments(&self, id: i64, query: &PageQuery) -> Call<SubscriptionPaymentPage> {
        self.call(Method::GET, &format!("/api/counterparty/subscriptions/{id}/payments")).query(query)
    }

    /// Reads [`list_subscription_payments`](Self::list_subscription_payments) page by page, from the first page.
    pub fn list_subscription_payments_pages(
        &self,
        id: i64,
        query: PageQuery,
    ) -> Pages<PageQuery, SubscriptionPaymentPage> {
        let surface = self.clone();
        Pages::new(query, move |query| surface.list_subscription_payments(id, query))
    }

    /// Retry the last payment of a subscription.
    ///
    /// The payment must have failed, and the terms must be unchanged. `can_retry_payment` and `retry_payment_reason`
    /// of the subscription show if it is possible.
    ///
    /// `POST /api/counterparty/subscriptions/{id}/payments/{payment_id}/retry`
    pub fn retry_subscription_payment(&self, id: i64, payment_id: i64) -> Call<SubscriptionResponse> {
        self.call(Method::POST, &format!("/api/counterparty/subscriptions/{id}/payments/{payment_id}/retry"))
    }

    /// Resume a canceled subscription.
    ///
    /// The subscription becomes `active` while its paid period lasts; otherwise it is `past_due` until it is paid.
    ///
    /// `POST /api/counterparty/subscriptions/{id}/resume`
    pub fn resume_subscription(&self, id: i64, body: &ResumedSubscription) -> Call<SubscriptionResponse> {
        self.call(Method::POST, &format!("/api/counterparty/subscriptions/{id}/resume")).json(body)
    }

    /// List tags.
    ///
    /// Returns every tag of the project, including tags without products in the application.
    ///
    /// `GET /api/counterparty/tags`
    pub fn list_tags(&self) -> Call<TagList> {
        self.call(Method::GET, "/api/counterparty/tags")
    }

    /// Verify the customer by a small payment.
    ///
    /// Requests a payment through the fast payment system; it is refunded afterwards. While a verification is open,
    /// and for a day after it succeeds, the same verification is returned.
    ///
    /// `POST /api/counterparty/verifications/sbp-payment`
    pub fn verify_by_payment(&self) -> Call<VerificationResponse> {
        self.call(Method::POST, "/api/counterparty/verifications/sbp-payment")
    }
}

/// Suggested addresses, the most likely first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AddressList {
    pub addresses: Vec<AddressRecord>,
    #[serde(rename = "addressesCount")]
    pub addresses_count: i64,
}

/// Suggested address.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AddressRecord {
    pub city: Option<String>,
    pub country: Option<String>,
    pub fias_id: Option<String>,
    pub flat: Option<String>,
    pub house: Option<String>,
    /// Degrees, as a decimal string.
    pub latitude: Option<String>,
    /// Degrees, as a decimal string.
    pub longitude: Option<String>,
    pub postal_code: Option<String>,
    pub region: Option<String>,
    pub settlement: Option<String>,
    pub street: Option<String>,
    pub unrestricted_value: String,
    pub value: String,
}

/// Callback exchange.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct CallbackExchange {
    /// Same value as sent to `init`.
    pub client_nonce: Secret,
    /// Description of the device, set by the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Token returned by `init`.
    pub session_token: Secret,
}

/// Callback exchanged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallbackExchanged {
    pub access_token: AccessTokenRecord,
}

/// Callback start.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct CallbackStart {
    /// Secret of this attempt, created by the client. Send the same value in all three calls.
    pub client_nonce: Secret,
    /// Phone from which the customer will call.
    pub phone: String,
}

/// Callback started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallbackStarted {
    /// Number the customer must call, digits only.
    pub callback_number: String,
    /// Time when the attempt expires.
    pub expires_at: Option<DateTime<Utc>>,
    /// Opaque token of the attempt. Send it to `status` and `exchange`.
    pub session_token: Secret,
}

words! {
    /// State of a login attempt.
    pub enum CallbackState {
        Pending = "pending",
        Verified = "verified",
        Expired = "expired",
    }
}

/// Callback status record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallbackStatusRecord {
    /// Time when the attempt expires. It can change after the call arrives.
    pub expires_at: Option<DateTime<Utc>>,
    /// Time until the attempt expires, in seconds.
    pub remaining_seconds: Option<i64>,
    /// Current time of the server.
    pub server_time: Option<DateTime<Utc>>,
    /// State of the attempt: `pending`, `verified` or `expired`.
    pub status: CallbackState,
    /// Present if the call could not be checked this time. Keep polling with the given delay.
    pub warning: Option<CallbackWarning>,
}

/// Callback status request.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct CallbackStatusRequest {
    /// Same value as sent to `init`.
    pub client_nonce: Secret,
    /// Token returned by `init`.
    pub session_token: Secret,
}

/// Reason why the attempt could not be checked this time. The attempt stays open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallbackWarning {
    pub code: String,
    pub message: String,
    /// Time to wait before the next status check, in seconds.
    pub retry_after_seconds: i64,
}

/// Cart input.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct CartInput {
    /// Delivery subtype. Without it, the delivery price is that of the type alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery_subtype_id: Option<i64>,
    /// Delivery type that the cart is calculated with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery_type_id: Option<i64>,
    /// Products and quantities of the cart.
    pub products: Vec<ProductLine>,
    /// Promo code of the customer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub promo_code: Option<String>,
}

/// New terms of a subscription. Send at most one of `nomenclature_id` and `plan_slug`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ChangedSubscription {
    /// Must be `true` if plan, price, period or payment method change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub autopay_consent: Option<bool>,
    /// Id of the new plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nomenclature_id: Option<i64>,
    /// Slug of the new plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_slug: Option<String>,
    /// Saved payment method for the next charges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saved_payment_method_id: Option<i64>,
}

/// First payment of subscriptions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CheckoutRecord {
    /// Total amount of all plans.
    pub amount: Money,
    /// Length of a period, in months.
    pub billing_period_months: i64,
    /// ISO 4217 code.
    pub currency: String,
    /// Id of the first plan.
    pub nomenclature_id: i64,
    /// Ids of all plans.
    pub nomenclature_ids: Vec<i64>,
    /// Id of the order that the payment belongs to.
    pub order_id: i64,
    /// Payment page while the payment is open. `null` also while the payment outcome is unknown.
    pub payment_link: Option<String>,
    pub payment_method_type: String,
}

/// Block with its child blocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ClientBlockRecord {
    pub avatar: Option<PhotoRecord>,
    pub block_type: NamedRecord,
    /// Child blocks, ordered by code.
    pub children: Vec<ClientBlockRecord>,
    /// Code of the block, unique in the application.
    pub code: i64,
    pub created_at: DateTime<Utc>,
    pub file: Option<PhotoRecord>,
    pub id: i64,
    /// Text identifier of the block, unique in the application.
    pub identifier: String,
    pub link: Option<String>,
    pub name: String,
    /// Parent block. `null` for a root block.
    pub parent: Option<NamedRecord>,
    /// HTML, sanitized like the content of pages.
    pub text: Option<String>,
}

/// Content block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ClientBlockResponse {
    pub block: ClientBlockRecord,
}

/// Content page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ClientPageRecord {
    pub author: Option<NamedRecord>,
    /// HTML without scripts, styles and frames of other sites.
    pub content: String,
    pub created_at: DateTime<Utc>,
    pub description: Option<String>,
    pub id: i64,
    pub preview: Option<PhotoRecord>,
    pub slug: String,
    pub tags: Vec<PageTagRecord>,
    pub title: String,
    pub views_count: i64,
}

/// Content page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ClientPageResponse {
    pub page: ClientPageRecord,
}

/// Content page types.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ClientPageTypeList {
    pub items: Vec<PageTypeRecord>,
    #[serde(rename = "itemsCount")]
    pub items_count: i64,
}

/// Client pages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ClientPages {
    pub pages: PagesRecord,
}

impl Page for ClientPages {
    type Item = ClientPageRecord;

    fn total(&self) -> i64 {
        self.pages.total
    }

    fn into_items(self) -> Vec<ClientPageRecord> {
        self.pages.data
    }
}

/// Client settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ClientSettings {
    /// `true` if the application sells wholesale.
    pub wholesale: bool,
}

/// Code login.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct CodeLogin {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// One-time code.
    pub password: Secret,
    /// Phone or e-mail address.
    pub phone: String,
}

/// Code request.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct CodeRequest {
    /// Phone or e-mail address.
    pub phone: String,
}

/// Terms that a customer consented to, and the circumstances of the consent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ConsentRecord {
    /// Price of one period.
    pub amount: Money,
    pub billing_period_months: i64,
    pub currency: String,
    pub nomenclature_id: i64,
    pub plan_slug: String,
    /// Network address of the customer; `null` if it is unknown or the customer was deleted.
    pub address: Option<String>,
    pub application_id: Option<i64>,
    pub created_at: DateTime<Utc>,
    pub saved_payment_method_id: Option<i64>,
    /// Version of the text shown to the customer.
    pub text_version: String,
}

/// Contact form.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ContactForm {
    /// Delivery address for the courier.
    pub address: String,
    pub first_name: String,
    pub last_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub middle_name: Option<String>,
    /// Payment type used on receipt of the order.
    pub payment_type_id: i64,
    /// Phone of the customer.
    pub phone: String,
    /// Products and quantities of the order.
    pub products: Vec<ProductLine>,
}

/// Contact login.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ContactLogin {
    /// Time when the messenger signed the contact: Unix time in seconds, milliseconds or microseconds.
    pub auth_date: i64,
    /// Description of the device, set by the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Signature of the contact by the messenger.
    pub hash: Secret,
    /// Launch data of the mini-app, unchanged.
    pub init_data: Secret,
    /// Phone as received from the messenger.
    pub phone: String,
}

/// Country list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CountryList {
    pub countries: Vec<CountryRecord>,
    #[serde(rename = "countriesCount")]
    pub countries_count: i64,
}

/// Country record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CountryRecord {
    pub created_at: DateTime<Utc>,
    pub id: i64,
    pub name: String,
    pub photo: Option<PhotoRecord>,
}

/// Profile of the customer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CustomerRecord {
    pub address: Option<String>,
    pub avatar: Option<Picture>,
    pub birthday: Option<NaiveDate>,
    pub created_at: DateTime<Utc>,
    pub email: Option<String>,
    /// Favourite products that the application sells now, last added first. At most 100.
    pub favourite_products: Vec<ProductRecord>,
    pub first_name: Option<String>,
    pub id: i64,
    pub last_name: Option<String>,
    /// Employee responsible for the customer.
    pub manager: Option<ManagerRecord>,
    pub middle_name: Option<String>,
    /// Phone for login, 11 digits.
    pub phone_1: Option<String>,
    /// Additional phone, 11 digits. Not used for login.
    pub phone_2: Option<String>,
    pub r#type: CustomerType,
    pub updated_at: DateTime<Utc>,
}

/// Customer response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CustomerResponse {
    pub counterparty: CustomerRecord,
}

/// Customer type: person or company.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CustomerType {
    pub created_at: DateTime<Utc>,
    pub id: i64,
    pub name: String,
}

/// Customer with token.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CustomerWithToken {
    pub address: Option<String>,
    pub avatar: Option<Picture>,
    pub birthday: Option<NaiveDate>,
    pub created_at: DateTime<Utc>,
    pub email: Option<String>,
    /// Favourite products that the application sells now, last added first. At most 100.
    pub favourite_products: Vec<ProductRecord>,
    pub first_name: Option<String>,
    pub id: i64,
    pub last_name: Option<String>,
    /// Employee responsible for the customer.
    pub manager: Option<ManagerRecord>,
    pub middle_name: Option<String>,
    /// Phone for login, 11 digits.
    pub phone_1: Option<String>,
    /// Additional phone, 11 digits. Not used for login.
    pub phone_2: Option<String>,
    pub r#type: CustomerType,
    pub updated_at: DateTime<Utc>,
    pub access_token: AccessTokenRecord,
}

/// Delivery type or subtype.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeliveryOptionRecord {
    pub id: i64,
    /// `1` or `0`.
    pub is_active: i64,
    pub name: String,
    /// Decimal string.
    pub price: Money,
}

/// Delivery param list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeliveryParamList {
    #[serde(rename = "deliverySubtypeParams")]
    pub delivery_subtype_params: Vec<DeliveryParamRecord>,
}

/// Delivery param record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeliveryParamRecord {
    pub address: Option<String>,
    pub id: i64,
    /// `1` if active, otherwise `0`.
    pub is_active: i64,
    pub name: String,
}

/// Delivery subtype list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeliverySubtypeList {
    #[serde(rename = "deliverySubtypes")]
    pub delivery_subtypes: Vec<DeliveryOptionRecord>,
    #[serde(rename = "deliverySubtypesCount")]
    pub delivery_subtypes_count: i64,
}

/// Delivery subtype response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeliverySubtypeResponse {
    #[serde(rename = "deliverySubtype")]
    pub delivery_subtype: DeliveryOptionRecord,
}

/// Delivery type list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeliveryTypeList {
    #[serde(rename = "deliveryTypes")]
    pub delivery_types: Vec<DeliveryOptionRecord>,
    #[serde(rename = "deliveryTypesCount")]
    pub delivery_types_count: i64,
}

/// Delivery type response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeliveryTypeResponse {
    #[serde(rename = "deliveryType")]
    pub delivery_type: DeliveryOptionRecord,
}

/// Dictionaries of the storefront. Each has the same key and records as in the response of its own endpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Dictionaries {
    pub brands: Vec<StorefrontBrandRecord>,
    #[serde(rename = "brandsCount")]
    pub brands_count: i64,
    /// Root categories only.
    pub categories: Vec<StorefrontCategoryRecord>,
    #[serde(rename = "categoriesCount")]
    pub categories_count: i64,
    pub countries: Vec<CountryRecord>,
    #[serde(rename = "countriesCount")]
    pub countries_count: i64,
    #[serde(rename = "deliveryTypes")]
    pub delivery_types: Vec<DeliveryOptionRecord>,
    #[serde(rename = "deliveryTypesCount")]
    pub delivery_types_count: i64,
    #[serde(rename = "paymentTypes")]
    pub payment_types: Vec<PaymentTypeRecord>,
    #[serde(rename = "paymentTypesCount")]
    pub payment_types_count: i64,
    pub shops: Vec<ShopRecord>,
    #[serde(rename = "shopsCount")]
    pub shops_count: i64,
    pub tags: Vec<TagRecord>,
    #[serde(rename = "tagsCount")]
    pub tags_count: i64,
}

/// Value of a filter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FacetValueRecord {
    /// Number of products in the list with this value.
    pub count: i64,
    /// Id to filter by.
    pub id: i64,
    pub name: String,
}

/// Values of the filters with their product counts, most frequent first, at most 100 for each filter. The counts of a
/// filter ignore the filter itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FacetsRecord {
    pub brands: Vec<FacetValueRecord>,
    pub categories: Vec<FacetValueRecord>,
    pub countries: Vec<FacetValueRecord>,
    /// `false` if the list has more than 10,000 products. In that case only 10,000 are counted.
    pub is_complete: bool,
    /// `null` if there are no products.
    pub price: Option<PriceFacet>,
    pub tags: Vec<FacetValueRecord>,
}

/// One page of products, with the values of the filters if requested.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FilteredProducts {
    /// Present if requested with `facets`.
    pub facets: Option<FacetsRecord>,
    pub products: ProductPage,
}

impl Page for FilteredProducts {
    type Item = ProductRecord;

    fn total(&self) -> i64 {
        self.products.total
    }

    fn into_items(self) -> Vec<ProductRecord> {
        self.products.data
    }
}

/// Grouped plans.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GroupedPlans {
    pub data: Vec<PlanGroupRecord>,
}

/// Heartbeat record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HeartbeatRecord {
    /// Time to wait before the next heartbeat, in seconds.
    pub next_heartbeat_in_seconds: i64,
    /// Current time of the server.
    pub server_time: DateTime<Utc>,
    pub session: SessionRecord,
}

/// Introspected application.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct IntrospectedApplication {
    pub id: i64,
    pub name: String,
}

/// Introspected project.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct IntrospectedProject {
    pub id: i64,
}

/// Introspection request.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct IntrospectionRequest {
    /// Audience that the client credentials were issued for.
    pub audience: String,
    /// Complete Bearer token, `<id>|<secret>`.
    pub token: Secret,
}

/// Query of `list_brands`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ListBrandsQuery {
    /// Maximum number of records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<i64>,
}

/// Query of `list_categories`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ListCategoriesQuery {
    /// Maximum number of records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<i64>,
    /// Without it, the root categories of the application are returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<i64>,
}

words! {
    /// List pages order by.
    pub enum ListPagesOrderBy {
        DateAsc = "date_asc",
        DateDesc = "date_desc",
        PopularityAsc = "popularity_asc",
        PopularityDesc = "popularity_desc",
    }
}

/// Query of `list_pages`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ListPagesQuery {
    /// Filter by page type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_type_id: Option<i64>,
    /// Words to search in title, description and content. Each word must match a part of a word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// `date_asc`, `date_desc`, `popularity_asc` or `popularity_desc`. Newest first by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_by: Option<ListPagesOrderBy>,
    /// Ignored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub application_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<i64>,
    /// At most 100, 10 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_page: Option<i64>,
}

impl Numbered for ListPagesQuery {
    fn set_page(&mut self, page: i64) {
        self.page = Some(page);
    }
}

words! {
    /// List products order by.
    pub enum ListProductsOrderBy {
        NameAsc = "name_asc",
        NameDesc = "name_desc",
        PopularityAsc = "popularity_asc",
        PopularityDesc = "popularity_desc",
        PriceAsc = "price_asc",
        PriceDesc = "price_desc",
    }
}

/// Query of `list_products`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ListProductsQuery {
    /// Words of the name and the article, or parts of them, in any order and case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// Products of any of these categories, not of their subcategories. At most 200 ids.
    #[serde(rename = "category_id[]", skip_serializing_if = "Vec::is_empty")]
    pub category_id: Vec<i64>,
    /// Products of any of these brands, at most 200 ids.
    #[serde(rename = "brand_id[]", skip_serializing_if = "Vec::is_empty")]
    pub brand_id: Vec<i64>,
    /// Products from any of these countries, at most 200 ids.
    #[serde(rename = "country_id[]", skip_serializing_if = "Vec::is_empty")]
    pub country_id: Vec<i64>,
    /// Products with any of these tags, at most 200 ids.
    #[serde(rename = "tag_id[]", skip_serializing_if = "Vec::is_empty")]
    pub tag_id: Vec<i64>,
    /// `name_asc`, `name_desc`, `popularity_asc`, `popularity_desc`, `price_asc` or `price_desc`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_by: Option<ListProductsOrderBy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_from: Option<Money>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_to: Option<Money>,
    /// `1` returns only products with a current discount.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sale: Option<bool>,
    /// `1` adds `facets` to the response: the values of the filters with their product counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facets: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<i64>,
    /// At most 100, 10 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_page: Option<i64>,
}

impl Numbered for ListProductsQuery {
    fn set_page(&mut self, page: i64) {
        self.page = Some(page);
    }
}

/// Employee responsible for a customer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ManagerRecord {
    pub first_name: String,
    pub id: i64,
    pub last_name: String,
    pub middle_name: Option<String>,
    pub name: String,
}

/// Menu.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Menu {
    #[serde(rename = "menuItems")]
    pub menu_items: MenuNode,
}

/// Menu item with its child items.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MenuNode {
    pub avatar: Option<PhotoRecord>,
    /// Child items, in menu order.
    pub children: Vec<MenuNode>,
    /// Code of the item, unique in the application.
    pub code: i64,
    pub name: String,
    /// URL of the picture, or of a placeholder if the item has none.
    pub preview: String,
    /// URL of the application followed by the slug. If the application has no URL: `/` and the slug.
    pub url: String,
}

/// Change of the payment method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MethodChangeRecord {
    /// Page where the customer enters the method while the change is `pending`. `null` also while the outcome is
    /// unknown.
    pub confirmation_url: Option<String>,
    /// End of the time to enter the method.
    pub expires_at: DateTime<Utc>,
    pub id: i64,
    /// Id of the new method, once `completed`.
    pub saved_payment_method_id: Option<i64>,
    /// `pending`, `completed`, `failed` or `expired`.
    pub status: MethodChangeStatus,
    pub subscription_id: i64,
}

words! {
    /// Method change status.
    pub enum MethodChangeStatus {
        Pending = "pending",
        Completed = "completed",
        Failed = "failed",
        Expired = "expired",
    }
}

/// Purchase that the customer pays on the acquirer's page. Send exactly one of `nomenclature_id` and
/// `nomenclature_ids`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct NewCheckout {
    pub autopay_consent: bool,
    /// Id of the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nomenclature_id: Option<i64>,
    /// Plans with the same currency and billing period. Each becomes a separate subscription.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nomenclature_ids: Option<Vec<i64>>,
    /// `bank_card` by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment_method_type: Option<PaymentMethodType>,
}

/// New favourite.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct NewFavourite {
    /// Id of the product.
    pub product_id: i64,
}

/// Request for another payment method. `card`, `card_number`, `cvc`, `payment_method_data` and `return_url` are
/// rejected.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct NewMethodChange {
    pub autopay_consent: bool,
}

/// New order.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct NewOrder {
    /// Required if `delivery_subtype_id` is 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Required if `delivery_type_id` is 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery_subtype_id: Option<i64>,
    /// Required if `delivery_subtype_id` is 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery_subtype_param_id: Option<i64>,
    pub delivery_type_id: i64,
    /// Payment method for online payment. Without it, no online payment is created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment_method_type: Option<PaymentMethodType>,
    /// Payment type of the order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment_type_id: Option<i64>,
    /// Products and quantities of the order.
    pub products: Vec<ProductLine>,
    /// Promo code of the customer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub promo_code: Option<String>,
    /// Required if `delivery_type_id` is 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shop_id: Option<i64>,
}

/// Purchase that is charged to a saved payment method at once. Send exactly one of `nomenclature_id` and `plan_slug`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct NewSubscription {
    pub autopay_consent: bool,
    /// Id of the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nomenclature_id: Option<i64>,
    /// Slug of the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_slug: Option<String>,
    /// Saved payment method to charge.
    pub saved_payment_method_id: i64,
}

/// Notification list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NotificationList {
    pub notifications: Vec<NotificationRecord>,
    pub pagination: Pagination,
}

impl Page for NotificationList {
    type Item = NotificationRecord;

    fn total(&self) -> i64 {
        self.pagination.total
    }

    fn into_items(self) -> Vec<NotificationRecord> {
        self.notifications
    }
}

/// Notification record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NotificationRecord {
    /// URL of the application, if it has one.
    pub action_url: Option<String>,
    pub body: Option<String>,
    pub created_at: DateTime<Utc>,
    /// Always `null`.
    pub icon: Option<String>,
    pub id: i64,
    /// Code of the event: `order_paid`, `order_payment_failed`, `order_in_processing`, `order_ready`, `order_issued`,
    /// `order_canceled`, `order_expired`, `order_changed`, `order_refund_requested`, `order_refunded`,
    /// `subscription_activated`, `subscription_renewed`, `subscription_missed_paid` (a period missed during an
    /// outage), `subscription_payment_failed`, `subscription_method_needed`, `subscription_method_changed`,
    /// `subscription_terms_changed`, `subscription_canceled`, `subscription_resumed`, `subscription_charge_ahead`,
    /// `subscription_rescheduled`, `subscription_on_hold` (nothing is charged until staff release it),
    /// `subscription_ending`, `subscription_ended` (not requested by the customer) or `subscription_refunded`.
    pub status: String,
    pub title: String,
}

/// Order as shown to its customer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OwnOrder {
    pub acquirer_payment_method_type: Option<String>,
    /// Address of the handover.
    pub address: String,
    /// Amount to pay: `final_price` plus `delivery_price`.
    pub amount_due: Money,
    pub created_at: DateTime<Utc>,
    /// Delivery price; 0 unless the project charges for delivery.
    pub delivery_price: Money,
    pub delivery_subtype: Option<OrderDeliveryRecord>,
    pub delivery_subtype_param: Option<OrderPlaceRecord>,
    pub delivery_type: OrderDeliveryRecord,
    /// Price of the products.
    pub final_price: Money,
    pub id: i64,
    pub last_redeemed_at: Option<DateTime<Utc>>,
    pub original_price: Money,
    /// URL of the payment page, while the order can be paid.
    pub payment_link: Option<String>,
    pub payment_type: Option<OrderPaymentTypeRecord>,
    /// Decimal string, equal to `final_price`.
    pub price: Money,
    pub product_discount_amount: Money,
    pub products: Vec<OrderProductRecord>,
    pub promo_code: Option<String>,
    pub promo_discount_amount: Money,
    /// Number of redeemed tickets.
    pub redeemed_count: i64,
    pub shop: Option<OrderPlaceRecord>,
    pub status: NamedRecord,
    pub total_discount_amount: Money,
    /// Number of tickets, without those that were returned.
    pub total_tickets: i64,
    /// Content of the ticket code, for orders with tickets. `null` unless the order is paid and its tickets are not
    /// refunded.
    pub redeem_token: Option<Secret>,
}

/// Own order list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OwnOrderList {
    pub orders: Vec<OwnOrder>,
    #[serde(rename = "ordersCount")]
    pub orders_count: i64,
}

impl Page for OwnOrderList {
    type Item = OwnOrder;

    fn total(&self) -> i64 {
        self.orders_count
    }

    fn into_items(self) -> Vec<OwnOrder> {
        self.orders
    }
}

/// Own order response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OwnOrderResponse {
    pub order: OwnOrder,
}

/// Tag of a content page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PageTagRecord {
    pub id: i64,
    pub name: String,
}

/// Page type record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PageTypeRecord {
    pub created_at: DateTime<Utc>,
    pub id: i64,
    pub name: String,
    pub photo: Option<Picture>,
}

/// One page of the list of content pages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PagesRecord {
    pub current_page: i64,
    pub data: Vec<ClientPageRecord>,
    pub last_page: i64,
    pub per_page: i64,
    pub total: i64,
}

/// Payment method list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PaymentMethodList {
    pub data: Vec<PaymentMethodRecord>,
}

/// Payment method record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PaymentMethodRecord {
    /// Last four digits of the card.
    pub card_last_4: Option<String>,
    /// Payment system of the card.
    pub card_type: Option<String>,
    pub created_at: DateTime<Utc>,
    pub id: i64,
    pub is_active: bool,
    pub payment_method_type: String,
    /// Display name from the acquirer.
    pub title: Option<String>,
}

/// Payment type list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PaymentTypeList {
    #[serde(rename = "paymentTypes")]
    pub payment_types: Vec<PaymentTypeRecord>,
    #[serde(rename = "paymentTypesCount")]
    pub payment_types_count: i64,
}

/// Payment type record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PaymentTypeRecord {
    pub description: Option<String>,
    pub id: i64,
    /// `true` if the order is paid online. Orders with this type require `payment_method_type`; the contact form does
    /// not accept it.
    pub is_online: bool,
    pub name: String,
    pub photo: Option<Picture>,
}

/// Phone change proof.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct PhoneChangeProof {
    /// One-time code.
    pub password: Secret,
    /// New phone.
    pub phone: String,
}

/// Phone change request.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct PhoneChangeRequest {
    /// New phone.
    pub phone: String,
}

/// Plan card record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PlanCardRecord {
    /// Price of one period.
    pub amount: Money,
    /// Length of a period, in months.
    pub billing_period_months: i64,
    /// ISO 4217 code.
    pub currency: String,
    /// Id of the assignment of the plan to the application.
    pub id: i64,
    pub name: String,
    /// Id of the item that is the plan.
    pub nomenclature_id: i64,
    /// Identifier of the plan for programs, unique in the application.
    pub plan_slug: String,
    pub article: Option<String>,
    pub category: Option<NamedRecord>,
    /// HTML without scripts, event handlers and styles. Empty if there are none.
    pub characteristics: String,
    /// HTML without scripts, event handlers and styles.
    pub description: Option<String>,
    pub photos: Vec<PhotoRecord>,
}

/// Plan catalog.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PlanCatalog {
    pub data: Vec<PlanCardRecord>,
}

/// Plan group record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PlanGroupRecord {
    /// `null` for plans without a category.
    pub category: Option<NamedRecord>,
    pub plans: Vec<PlanCardRecord>,
}

/// Plan list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PlanList {
    pub data: Vec<PlanRecord>,
}

/// Plan record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PlanRecord {
    /// Price of one period.
    pub amount: Money,
    /// Length of a period, in months.
    pub billing_period_months: i64,
    /// ISO 4217 code.
    pub currency: String,
    /// Id of the assignment of the plan to the application.
    pub id: i64,
    pub name: String,
    /// Id of the item that is the plan.
    pub nomenclature_id: i64,
    /// Identifier of the plan for programs, unique in the application.
    pub plan_slug: String,
}

/// Range of prices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PriceFacet {
    /// Highest price, decimal string.
    pub max: Money,
    /// Lowest price, decimal string.
    pub min: Money,
}

/// Prices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Prices {
    /// Highest price.
    pub max_price: Money,
    /// Lowest price.
    pub min_price: Money,
}

/// Product card record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProductCardRecord {
    pub article: Option<String>,
    pub brand: Option<NamedRecord>,
    pub category: Option<NamedRecord>,
    pub id: i64,
    /// `true` if the product is a favourite of the customer. Requires a customer token.
    pub is_favourite: bool,
    /// `1` service, `2` goods.
    pub kind_id: i64,
    pub name: String,
    /// Price without discount, decimal string. `null` if there is no discount.
    pub old_price: Option<Money>,
    pub parameters: Parameters,
    pub photos: Vec<PhotoRecord>,
    /// Current price with discount, decimal string.
    pub price: Money,
    /// Units that can be ordered. `0` for a service, which needs no stock.
    pub quantity: i64,
    /// HTML without scripts, event handlers and styles. Empty if there are none.
    pub characteristics: String,
    pub country: Option<NamedRecord>,
    /// HTML without scripts, event handlers and styles.
    pub description: Option<String>,
    /// Link by which customers share the product.
    pub share_link: Option<String>,
    pub storage_unit: Option<StorageUnitRecord>,
    pub tags: Vec<TagRecord>,
    /// Number of views.
    pub views_count: i64,
}

/// Product list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProductList {
    pub products: ProductPage,
}

impl Page for ProductList {
    type Item = ProductRecord;

    fn total(&self) -> i64 {
        self.products.total
    }

    fn into_items(self) -> Vec<ProductRecord> {
        self.products.data
    }
}

/// One page of products.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProductPage {
    pub current_page: i64,
    pub data: Vec<ProductRecord>,
    pub last_page: i64,
    pub per_page: i64,
    pub total: i64,
}

/// Product record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProductRecord {
    pub article: Option<String>,
    pub brand: Option<NamedRecord>,
    pub category: Option<NamedRecord>,
    pub id: i64,
    /// `true` if the product is a favourite of the customer. Requires a customer token.
    pub is_favourite: bool,
    /// `1` service, `2` goods.
    pub kind_id: i64,
    pub name: String,
    /// Price without discount, decimal string. `null` if there is no discount.
    pub old_price: Option<Money>,
    pub parameters: Parameters,
    pub photos: Vec<PhotoRecord>,
    /// Current price with discount, decimal string.
    pub price: Money,
    /// Units that can be ordered. `0` for a service, which needs no stock.
    pub quantity: i64,
}

/// Product response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProductResponse {
    pub product: ProductCardRecord,
}

/// Profile patch.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ProfilePatch {
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub address: Patch<String>,
    /// Not in the future and not before 1900.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub birthday: Patch<NaiveDate>,
    /// Must not be the login address of another customer. It cannot be used for login until it is verified.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub email: Patch<String>,
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub first_name: Patch<String>,
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub last_name: Patch<String>,
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub middle_name: Patch<String>,
    /// Only the current phone is accepted. To change it, use `phone/request_change` and `phone/verify_change`.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub phone_1: Patch<String>,
    /// Additional phone. Not used for login.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub phone_2: Patch<String>,
}

/// Project menu.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProjectMenu {
    #[serde(rename = "menuItems")]
    pub menu_items: Vec<MenuNode>,
    #[serde(rename = "menuItemsCount")]
    pub menu_items_count: i64,
}

/// Resumed subscription.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ResumedSubscription {
    pub autopay_consent: bool,
}

/// Search request list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SearchRequestList {
    #[serde(rename = "searchRequests")]
    pub search_requests: Vec<SearchRequestRecord>,
    #[serde(rename = "searchRequestsCount")]
    pub search_requests_count: i64,
}

/// Search request record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SearchRequestRecord {
    pub created_at: DateTime<Utc>,
    pub id: i64,
    pub value: String,
}

/// Session record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SessionRecord {
    /// Counted duration of the session, in seconds. A gap between two heartbeats counts as at most 180 seconds.
    pub duration_seconds: i64,
    pub id: i64,
    /// Time of the last heartbeat.
    pub last_seen_at: DateTime<Utc>,
    pub started_at: DateTime<Utc>,
    /// Always `active`.
    pub status: String,
}

/// Shop list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ShopList {
    pub shops: Vec<ShopRecord>,
    #[serde(rename = "shopsCount")]
    pub shops_count: i64,
}

/// Shop record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ShopRecord {
    pub address: String,
    pub created_at: DateTime<Utc>,
    pub id: i64,
    /// Degrees north, decimal string.
    pub latitude: Option<String>,
    /// Degrees east, decimal string.
    pub longitude: Option<String>,
    pub name: String,
    pub phone: Option<String>,
    pub photo: Option<Picture>,
}

/// Shop response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ShopResponse {
    pub shop: ShopRecord,
}

words! {
    /// Show prices order by.
    pub enum ShowPricesOrderBy {
        NameAsc = "name_asc",
        NameDesc = "name_desc",
        PopularityAsc = "popularity_asc",
        PopularityDesc = "popularity_desc",
        PriceAsc = "price_asc",
        PriceDesc = "price_desc",
    }
}

/// Query of `show_prices`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ShowPricesQuery {
    /// Words of the name and the article, or parts of them, in any order and case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// Products of any of these categories, not of their subcategories. At most 200 ids.
    #[serde(rename = "category_id[]", skip_serializing_if = "Vec::is_empty")]
    pub category_id: Vec<i64>,
    /// Products of any of these brands, at most 200 ids.
    #[serde(rename = "brand_id[]", skip_serializing_if = "Vec::is_empty")]
    pub brand_id: Vec<i64>,
    /// Products from any of these countries, at most 200 ids.
    #[serde(rename = "country_id[]", skip_serializing_if = "Vec::is_empty")]
    pub country_id: Vec<i64>,
    /// Products with any of these tags, at most 200 ids.
    #[serde(rename = "tag_id[]", skip_serializing_if = "Vec::is_empty")]
    pub tag_id: Vec<i64>,
    /// `name_asc`, `name_desc`, `popularity_asc`, `popularity_desc`, `price_asc` or `price_desc`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_by: Option<ShowPricesOrderBy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_from: Option<Money>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_to: Option<Money>,
    /// `1` returns only products with a current discount.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sale: Option<bool>,
    /// `1` adds `facets` to the response: the values of the filters with their product counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facets: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<i64>,
    /// At most 100, 10 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_page: Option<i64>,
}

/// Response of all login operations that return the customer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SignedInCounterparty {
    pub counterparty: CustomerWithToken,
}

/// Slide list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SlideList {
    pub slides: Vec<SlideRecord>,
    #[serde(rename = "slidesCount")]
    pub slides_count: i64,
}

/// Slide record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SlideRecord {
    pub created_at: DateTime<Utc>,
    /// HTML without scripts, event handlers and styles.
    pub description: Option<String>,
    pub id: i64,
    /// URL or a path of the site.
    pub link: Option<String>,
    pub photo: Option<PhotoRecord>,
    pub position: i64,
    pub title: String,
}

/// Storefront brand list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StorefrontBrandList {
    pub brands: Vec<StorefrontBrandRecord>,
    #[serde(rename = "brandsCount")]
    pub brands_count: i64,
}

/// Storefront brand record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StorefrontBrandRecord {
    pub created_at: DateTime<Utc>,
    pub id: i64,
    pub name: String,
    pub photo: Option<PhotoRecord>,
}

/// Storefront category list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StorefrontCategoryList {
    pub categories: Vec<StorefrontCategoryRecord>,
    #[serde(rename = "categoriesCount")]
    pub categories_count: i64,
}

/// Storefront category record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StorefrontCategoryRecord {
    pub id: i64,
    pub name: String,
    /// Parent category. `null` for a root category.
    pub parent: Option<NamedRecord>,
    pub photo: Option<PhotoRecord>,
}

/// One page of consents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SubscriptionConsentPage {
    pub current_page: i64,
    pub data: Vec<ConsentRecord>,
    pub last_page: i64,
    pub per_page: i64,
    pub total: i64,
}

impl Page for SubscriptionConsentPage {
    type Item = ConsentRecord;

    fn total(&self) -> i64 {
        self.total
    }

    fn into_items(self) -> Vec<ConsentRecord> {
        self.data
    }
}

/// Subscription list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SubscriptionList {
    pub data: Vec<SubscriptionRecord>,
}

/// One page of payments of a subscription.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SubscriptionPaymentPage {
    pub current_page: i64,
    pub data: Vec<SubscriptionPaymentRecord>,
    pub last_page: i64,
    pub per_page: i64,
    pub total: i64,
}

impl Page for SubscriptionPaymentPage {
    type Item = SubscriptionPaymentRecord;

    fn total(&self) -> i64 {
        self.total
    }

    fn into_items(self) -> Vec<SubscriptionPaymentRecord> {
        self.data
    }
}

/// Attempt to charge a period.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SubscriptionPaymentRecord {
    pub amount: Money,
    /// Number of the attempt within the period, from 1.
    pub attempt: i64,
    pub created_at: DateTime<Utc>,
    pub currency: String,
    pub id: i64,
    /// Order that the attempt pays for.
    pub order_id: i64,
    /// Number of the period, from 1.
    pub period: i64,
    /// Acquirer's reason of a failed attempt.
    pub reason: Option<String>,
    /// `processing`, `needs_reconciliation` (unknown outcome, being resolved), `succeeded` or `failed`.
    pub status: String,
}

/// Subscription as shown to its customer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SubscriptionRecord {
    /// Price of one period.
    pub amount: Money,
    pub billing_period_months: i64,
    pub currency: String,
    pub nomenclature_id: i64,
    pub plan_slug: String,
    /// `null` if the subscription belongs to the whole project.
    pub application_id: Option<i64>,
    /// `true` if the latest payment may be retried.
    pub can_retry_payment: bool,
    pub canceled_at: Option<DateTime<Utc>>,
    pub current_period_end: Option<DateTime<Utc>>,
    /// `null` until the first payment.
    pub current_period_start: Option<DateTime<Utc>>,
    pub id: i64,
    pub latest_payment: Option<SubscriptionPaymentRecord>,
    /// Earliest time of the next charge; `null` if none is planned.
    pub next_charge_at: Option<DateTime<Utc>>,
    /// Terms from the next period on, if they differ.
    pub next_terms: Option<TermsRecord>,
    /// `available`, or the reason why not: `canceled`, `processing`, `needs_reconciliation`, `already_paid`,
    /// `charge_planned`, `daily_limit`, `no_payment`, `not_last`, `not_failed`, `terms_changed`, `plan_unavailable`,
    /// `method_inactive`, `parked` or `too_many_tries`.
    pub retry_payment_reason: String,
    /// `active`, `charging`, `past_due` or `canceled`. The subscription gives access only while it is `active` and
    /// `current_period_end` is in the future.
    pub status: SubscriptionStatus,
}

/// Subscription response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SubscriptionResponse {
    pub data: SubscriptionRecord,
}

words! {
    /// Subscription status.
    pub enum SubscriptionStatus {
        Active = "active",
        Charging = "charging",
        PastDue = "past_due",
        Canceled = "canceled",
    }
}

/// Search input of a suggestion.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct SuggestionInput {
    /// 1 to 300 characters in one line.
    pub query: String,
}

/// Tag list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TagList {
    pub tags: Vec<TagRecord>,
    #[serde(rename = "tagsCount")]
    pub tags_count: i64,
}

/// Tag record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TagRecord {
    pub created_at: DateTime<Utc>,
    pub id: i64,
    pub name: String,
    pub photo: Option<PhotoRecord>,
}

/// Plan of a subscription as the customer agreed to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TermsRecord {
    /// Price of one period.
    pub amount: Money,
    pub billing_period_months: i64,
    pub currency: String,
    pub nomenclature_id: i64,
    pub plan_slug: String,
}

/// State of a token. An inactive token has only `active`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TokenIntrospection {
    /// `true` if the token is valid for the client's application.
    pub active: bool,
    /// Application that the customer logged in to.
    pub application: Option<IntrospectedApplication>,
    /// Time when the token expires.
    pub expires_at: Option<DateTime<Utc>>,
    /// UUID of the customer. It never changes.
    pub principal_handle: Option<Uuid>,
    /// Project of the token.
    pub project: Option<IntrospectedProject>,
    /// `counterparty`: access to the client surface of the application.
    pub scopes: Option<Vec<String>>,
}

/// Verification record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct VerificationRecord {
    /// End of the time to pay.
    pub expires_at: DateTime<Utc>,
    pub id: i64,
    /// Payment page. `null` unless the payment is open.
    pub payment_link: Option<String>,
    pub status: VerificationStatus,
}

/// Verification response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct VerificationResponse {
    pub verification: VerificationRecord,
}

words! {
    /// Verification status.
    pub enum VerificationStatus {
        Pending = "pending",
        Succeeded = "succeeded",
        Canceled = "canceled",
        Expired = "expired",
    }
}
