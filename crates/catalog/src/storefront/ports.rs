//! What the storefront needs from the outside.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{AppScope, CategoryId, NomenclatureId, Page, PageRequest, StoreError};

use super::{PriceRange, Product, ProductCard, ProductFilter, ProductOrder, ShelfBrand, ShelfCategory};

/// What an application shows. `at` decides which discounts are in force.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait Shelves: Send + Sync {
    /// One page of the products; without an order by number.
    async fn products(
        &self,
        app: AppScope,
        filter: ProductFilter,
        order: Option<ProductOrder>,
        page: PageRequest,
        at: DateTime<Utc>,
    ) -> Result<Page<Product>, StoreError>;

    /// One product, when the application shows it.
    async fn product(
        &self,
        app: AppScope,
        id: NomenclatureId,
        at: DateTime<Utc>,
    ) -> Result<Option<ProductCard>, StoreError>;

    /// The cheapest and the dearest price, when anything matches.
    async fn price_range(
        &self,
        app: AppScope,
        filter: ProductFilter,
        at: DateTime<Utc>,
    ) -> Result<Option<PriceRange>, StoreError>;

    /// The first `limit` root categories of the application by position, or those right below `parent` by name when
    /// the root above it is one of the application's.
    async fn categories(
        &self,
        app: AppScope,
        parent: Option<CategoryId>,
        limit: Option<u32>,
    ) -> Result<Vec<ShelfCategory>, StoreError>;

    /// The first `limit` brands of the application, highest priority first.
    async fn brands(&self, app: AppScope, limit: Option<u32>) -> Result<Vec<ShelfBrand>, StoreError>;
}

/// Where views are kept.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ViewCounter: Send + Sync {
    /// Adds to the views of these products; a product that is gone is passed over.
    async fn add_views(&self, views: Vec<(NomenclatureId, u64)>) -> Result<(), StoreError>;
}
