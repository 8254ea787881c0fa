//! What the storefront needs from the outside.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{
    AppScope, CategoryId, CustomerScope, NomenclatureId, Page, PageRequest, Prose, StoreError, Visitor,
};

use super::{
    Country, Facets, Plan, PlanCard, PriceRange, Product, ProductCard, ProductFilter, ProductOrder, Search,
    SearchRequest, Slide, StorefrontBrand, StorefrontCategory, Tag,
};

/// What an application shows. `at` decides which discounts are in force.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait StorefrontReader: Send + Sync {
    /// One page of the products; without an order by number, or what fits a query best first. A search counts and pages
    /// through 10,000 products at most. Whether they are favourites of the visitor costs no statement of its own.
    async fn products(
        &self,
        visitor: Visitor,
        filter: ProductFilter,
        order: Option<ProductOrder>,
        page: PageRequest,
        at: DateTime<Utc>,
    ) -> Result<Page<Product>, StoreError>;

    /// One product, when the application shows it.
    async fn product(
        &self,
        visitor: Visitor,
        id: NomenclatureId,
        at: DateTime<Utc>,
    ) -> Result<Option<ProductCard<Prose>>, StoreError>;

    /// Goods that the application would show if its warehouses had free pieces of them.
    async fn sold_out(
        &self,
        visitor: Visitor,
        id: NomenclatureId,
        at: DateTime<Utc>,
    ) -> Result<Option<ProductCard<Prose>>, StoreError>;

    /// The cheapest and the dearest price, when anything matches.
    async fn price_range(
        &self,
        app: AppScope,
        filter: ProductFilter,
        at: DateTime<Utc>,
    ) -> Result<Option<PriceRange>, StoreError>;

    /// The values of the filters, with the products that [`Facet::counted`](super::Facet::counted) names.
    async fn facets(&self, app: AppScope, filter: ProductFilter, at: DateTime<Utc>) -> Result<Facets, StoreError>;

    /// The first `limit` root categories of the application by position, or those right below `parent` by name when
    /// the root above it is one of the application's.
    async fn categories(
        &self,
        app: AppScope,
        parent: Option<CategoryId>,
        limit: Option<u32>,
    ) -> Result<Vec<StorefrontCategory>, StoreError>;

    /// The first `limit` brands of the application, highest priority first.
    async fn brands(&self, app: AppScope, limit: Option<u32>) -> Result<Vec<StorefrontBrand>, StoreError>;
}

/// Where views are kept.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ViewCounter: Send + Sync {
    /// Adds to the views of these products; a product that is gone is passed over.
    async fn add_views(&self, views: Vec<(NomenclatureId, u64)>) -> Result<(), StoreError>;
}

/// What became of a wish to keep a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeping {
    /// It is a favourite now.
    Added,
    /// It was one already.
    Kept,
    /// The application shows no such product.
    NotShown,
    /// The customer has left meanwhile.
    CustomerLeft,
}

/// Products that customers keep.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait Favourites: Send + Sync {
    /// One page of what the customer keeps and the application shows, kept last first.
    async fn page(
        &self,
        customer: CustomerScope,
        page: PageRequest,
        at: DateTime<Utc>,
    ) -> Result<Page<Product>, StoreError>;

    /// The first products of that list, at most so many, in one statement.
    async fn latest(&self, customer: CustomerScope, most: u32, at: DateTime<Utc>) -> Result<Vec<Product>, StoreError>;

    /// Keeps a product that the application shows, or would show if it were not sold out; of racing wishes one adds it.
    async fn add(&self, customer: CustomerScope, id: NomenclatureId, at: DateTime<Utc>) -> Result<Keeping, StoreError>;

    /// Keeps it no longer, whether it is shown or not. `false` when the customer did not keep it.
    async fn remove(&self, customer: CustomerScope, id: NomenclatureId) -> Result<bool, StoreError>;
}

/// What customers searched for.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait SearchLog: Send + Sync {
    /// Stores searches and forgets all but the last `kept` of each customer. A text that the customer searched for
    /// before, in any case, takes the place of that search; who has left is passed over.
    async fn store(&self, searches: Vec<Search>, kept: u32) -> Result<(), StoreError>;

    /// The searches of a customer, newest first.
    async fn searches(&self, customer: Visitor) -> Result<Vec<SearchRequest>, StoreError>;
}

/// What a storefront shows beside its products.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait Showcase: Send + Sync {
    /// Every country of the system by number.
    async fn countries(&self) -> Result<Vec<Country>, StoreError>;

    /// Every tag of the project by number.
    async fn tags(&self, app: AppScope) -> Result<Vec<Tag>, StoreError>;

    /// The slides of the application that are shown at this moment, by position.
    async fn slides(&self, app: AppScope, at: DateTime<Utc>) -> Result<Vec<Slide<Prose>>, StoreError>;
}

/// The subscription plans that an application offers: assigned to it, active, and still plans of its project. The first
/// position comes first, plans of one position by the number of the assignment.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait StorefrontPlans: Send + Sync {
    /// What a price list tells about them.
    async fn plans(&self, app: AppScope) -> Result<Vec<Plan>, StoreError>;

    /// Everything about them, in one statement.
    async fn plan_cards(&self, app: AppScope) -> Result<Vec<PlanCard<Prose>>, StoreError>;
}
