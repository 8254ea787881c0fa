// Written by generate.py from docs/openapi.json.

use super::*;
use crate::{Call, ClientSurface, Method};

impl ClientSurface {
    /// List the application's brands.
    ///
    /// Brands are ordered by priority, highest first.
    ///
    /// `GET /api/counterparty/brands`
    pub fn list_brands(&self, query: &ListBrandsQuery) -> Call<StorefrontBrandList> {
        self.call(Method::GET, "/api/counterparty/brands").query(query)
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

    /// List payment types.
    ///
    /// Returns the payment types that the application accepts.
    ///
    /// `GET /api/counterparty/payment_types`
    pub fn list_payment_types(&self) -> Call<PaymentTypeList> {
        self.call(Method::GET, "/api/counterparty/payment_types")
    }

    /// Search addresses.
    ///
    /// Returns suggestions only. Customers may enter any other address.
    ///
    /// `POST /api/counterparty/search_address`
    pub fn search_address(&self, body: &SuggestionInput) -> Call<AddressList> {
        self.call(Method::POST, "/api/counterparty/search_address").json(body).reads()
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

    /// List tags.
    ///
    /// Returns every tag of the project, including tags without products in the application.
    ///
    /// `GET /api/counterparty/tags`
    pub fn list_tags(&self) -> Call<TagList> {
        self.call(Method::GET, "/api/counterparty/tags")
    }
}
