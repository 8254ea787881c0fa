// Written by generate.py from docs/openapi.json.

use super::*;
use crate::{Call, ClientSurface, Method, Pages};

impl ClientSurface {
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
}
