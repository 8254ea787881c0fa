//! Ports of the storefront.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{
    AppScope, CategoryId, CustomerScope, NomenclatureId, Page, PageRequest, Prose, StoreError, Visitor,
};

use super::{
    Country, Facets, Plan, PlanCard, PriceRange, Product, ProductCard, ProductFilter, ProductOrder, Search,
    SearchRequest, Slide, StorefrontBrand, StorefrontCategory, Tag,
};

/// Reads the products of an application. `at` determines which discounts are in force.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait StorefrontReader: Send + Sync {
    /// Returns one page of the products that the application shows. The default order is by identifier, or by relevance
    /// for a query. A search covers at most 1,000 products. `is_favourite` needs no extra statement.
    async fn products(
        &self,
        visitor: Visitor,
        filter: ProductFilter,
        order: Option<ProductOrder>,
        page: PageRequest,
        at: DateTime<Utc>,
    ) -> Result<Page<Product>, StoreError>;

    /// Returns one product if the application shows it.
    async fn product(
        &self,
        visitor: Visitor,
        id: NomenclatureId,
        at: DateTime<Utc>,
    ) -> Result<Option<ProductCard<Prose>>, StoreError>;

    /// Returns goods that the application would show if its warehouses had unreserved units of them.
    async fn sold_out(
        &self,
        visitor: Visitor,
        id: NomenclatureId,
        at: DateTime<Utc>,
    ) -> Result<Option<ProductCard<Prose>>, StoreError>;

    /// Returns the lowest and the highest price; `None` if nothing matches.
    async fn price_range(
        &self,
        app: AppScope,
        filter: ProductFilter,
        at: DateTime<Utc>,
    ) -> Result<Option<PriceRange>, StoreError>;

    /// Returns the values of the filters, counted for the products of [`Facet::counted`](super::Facet::counted).
    async fn facets(&self, app: AppScope, filter: ProductFilter, at: DateTime<Utc>) -> Result<Facets, StoreError>;

    /// Returns the first `limit` root categories of the application by position. With `parent` it returns the direct
    /// subcategories by name, if the parent or one of its ancestors belongs to the application.
    async fn categories(
        &self,
        app: AppScope,
        parent: Option<CategoryId>,
        limit: Option<u32>,
    ) -> Result<Vec<StorefrontCategory>, StoreError>;

    /// Returns the first `limit` brands of the application, highest priority first.
    async fn brands(&self, app: AppScope, limit: Option<u32>) -> Result<Vec<StorefrontBrand>, StoreError>;
}

/// Storage of view counts.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ViewCounter: Send + Sync {
    /// Adds to the views of these products, or to none of them; deleted products are skipped. Concurrent calls add up.
    /// After [`StoreError::OutcomeUnknown`] the views may be counted already, so a caller drops them.
    async fn add_views(&self, views: Vec<(NomenclatureId, u64)>) -> Result<(), StoreError>;
}

/// Outcome of adding a favourite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FavouriteOutcome {
    /// The favourite was added.
    Added,
    /// It was already a favourite.
    AlreadyPresent,
    /// The application shows no such product.
    ProductNotShown,
    /// The customer was deleted in the meantime.
    CustomerDeleted,
}

/// Storage of favourites.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait Favourites: Send + Sync {
    /// Returns one page of the customer's favourites that the application shows, last added first.
    async fn page(
        &self,
        customer: CustomerScope,
        page: PageRequest,
        at: DateTime<Utc>,
    ) -> Result<Page<Product>, StoreError>;

    /// Returns the first products of that list, at most `most`, in one statement.
    async fn latest(&self, customer: CustomerScope, most: u32, at: DateTime<Utc>) -> Result<Vec<Product>, StoreError>;

    /// Adds a product that the application shows, or would show if it were not sold out. Of concurrent calls one adds
    /// it. The commit checks that the customer is not deleted. After [`StoreError::OutcomeUnknown`] the call can be
    /// repeated: the second one finds the favourite.
    async fn add(
        &self,
        customer: CustomerScope,
        id: NomenclatureId,
        at: DateTime<Utc>,
    ) -> Result<FavouriteOutcome, StoreError>;

    /// Removes a favourite, even if the application does not show the product. Returns `false` if it was not a
    /// favourite.
    async fn remove(&self, customer: CustomerScope, id: NomenclatureId) -> Result<bool, StoreError>;
}

/// Storage of the search history of customers.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait SearchLog: Send + Sync {
    /// Stores searches and keeps only the last `kept` of each customer. A text that the customer already searched for,
    /// in any case, replaces the earlier search, unless that is newer. Searches of deleted customers are skipped. After
    /// [`StoreError::OutcomeUnknown`] the call can be repeated.
    async fn store(&self, searches: Vec<Search>, kept: u32) -> Result<(), StoreError>;

    /// Returns the searches of a customer, newest first.
    async fn searches(&self, customer: Visitor) -> Result<Vec<SearchRequest>, StoreError>;
}

/// Reads storefront content other than products.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait Showcase: Send + Sync {
    /// Returns every country of the system, by identifier.
    async fn countries(&self) -> Result<Vec<Country>, StoreError>;

    /// Returns every tag of the project, by identifier.
    async fn tags(&self, app: AppScope) -> Result<Vec<Tag>, StoreError>;

    /// Returns the slides of the application that are shown at this time, by position.
    async fn slides(&self, app: AppScope, at: DateTime<Utc>) -> Result<Vec<Slide<Prose>>, StoreError>;
}

/// Reads the subscription plans that an application offers: assigned to it, active, still plans of its project, with a
/// price above zero and a billing period that subscriptions accept. They are ordered by position, then by identifier of
/// the assignment.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait StorefrontPlans: Send + Sync {
    /// Returns the fields of the price list.
    async fn plans(&self, app: AppScope) -> Result<Vec<Plan>, StoreError>;

    /// Returns all details, in one statement.
    async fn plan_cards(&self, app: AppScope) -> Result<Vec<PlanCard<Prose>>, StoreError>;
}
