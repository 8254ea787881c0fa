use std::sync::Arc;

use kontor_kernel::{
    AppScope, CategoryId, Clock, HtmlCleaner, Money, NomenclatureId, Page, PageRequest, PendingViews, RateLimiter,
    ReadError, StoreError, Visitor,
};

use super::ports::{StorefrontReader, ViewCounter};
use super::{
    Facets, PriceRange, Product, ProductCard, ProductFilter, ProductOrder, SearchHistory, StorefrontBrand,
    StorefrontCategory,
};

/// Error of a storefront read.
pub type StorefrontError = ReadError;

/// Use cases of the storefront.
pub struct StorefrontService {
    shelves: Arc<dyn StorefrontReader>,
    counter: Arc<dyn ViewCounter>,
    limiter: Arc<dyn RateLimiter>,
    cleaner: Arc<dyn HtmlCleaner>,
    searches: Arc<SearchHistory>,
    clock: Arc<dyn Clock>,
    pending: PendingViews<NomenclatureId>,
}

impl StorefrontService {
    /// Creates the service from its ports.
    pub fn new(
        shelves: Arc<dyn StorefrontReader>,
        counter: Arc<dyn ViewCounter>,
        limiter: Arc<dyn RateLimiter>,
        cleaner: Arc<dyn HtmlCleaner>,
        searches: Arc<SearchHistory>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { shelves, counter, limiter, cleaner, searches, clock, pending: PendingViews::default() }
    }

    /// Returns one page of the products of the application; the default order is by identifier. The query of a customer
    /// is recorded in their search history.
    pub async fn products(
        &self,
        visitor: Visitor,
        filter: ProductFilter,
        order: Option<ProductOrder>,
        page: PageRequest,
    ) -> Result<Page<Product>, StorefrontError> {
        if let Some(query) = &filter.query {
            self.searches.record(visitor, query);
        }
        Ok(self.shelves.products(visitor, filter, order, page, self.clock.now()).await?)
    }

    /// Returns one product and counts a view from this address. `viewer` is the address in the form in which addresses
    /// are counted.
    pub async fn product(
        &self,
        visitor: Visitor,
        id: NomenclatureId,
        viewer: &str,
    ) -> Result<ProductCard, StorefrontError> {
        let mut card = self.stored_card(visitor, id).await?;
        card.unstored_views = self.count_view(id, viewer).await;
        card.views_count += card.unstored_views;
        Ok(card)
    }

    /// Counts a view of a shown product from this address. Returns its views that are not stored yet.
    pub async fn count_view(&self, id: NomenclatureId, viewer: &str) -> u64 {
        self.pending.count_view(&*self.limiter, "product-view", id, viewer).await
    }

    /// Returns one product without counting a view; it may be sold out.
    pub(super) async fn card(&self, visitor: Visitor, id: NomenclatureId) -> Result<ProductCard, StorefrontError> {
        let mut card = match self.stored_card(visitor, id).await {
            Err(StorefrontError::NotFound) => {
                let sold_out = self.shelves.sold_out(visitor, id, self.clock.now()).await?;
                sold_out.ok_or(StorefrontError::NotFound)?.cleaned(&*self.cleaner)
            }
            shown => shown?,
        };
        card.views_count += self.pending.of(id);
        Ok(card)
    }

    async fn stored_card(&self, visitor: Visitor, id: NomenclatureId) -> Result<ProductCard, StorefrontError> {
        let card = self.shelves.product(visitor, id, self.clock.now()).await?.ok_or(StorefrontError::NotFound)?;
        Ok(card.cleaned(&*self.cleaner))
    }

    /// Returns the lowest and the highest price of the products; both are zero if there are none.
    pub async fn price_range(&self, app: AppScope, filter: ProductFilter) -> Result<PriceRange, StorefrontError> {
        let range = self.shelves.price_range(app, filter, self.clock.now()).await?;
        Ok(range.unwrap_or(PriceRange { lowest: Money::ZERO, highest: Money::ZERO }))
    }

    /// Returns the values of the filters of a list, and the number of products of each.
    pub async fn facets(&self, app: AppScope, filter: ProductFilter) -> Result<Facets, StorefrontError> {
        Ok(self.shelves.facets(app, filter, self.clock.now()).await?)
    }

    /// Returns categories of the application: its roots, or the direct subcategories of `parent`.
    pub async fn categories(
        &self,
        app: AppScope,
        parent: Option<CategoryId>,
        limit: Option<u32>,
    ) -> Result<Vec<StorefrontCategory>, StorefrontError> {
        Ok(self.shelves.categories(app, parent, limit).await?)
    }

    /// Returns brands of the application, highest priority first.
    pub async fn brands(&self, app: AppScope, limit: Option<u32>) -> Result<Vec<StorefrontBrand>, StorefrontError> {
        Ok(self.shelves.brands(app, limit).await?)
    }

    /// Stores the views counted since the last time. They stay counted if the storage fails, but are never added twice.
    /// Returns the number of viewed products. Must not be called concurrently.
    pub async fn store_views(&self) -> Result<usize, StoreError> {
        self.pending.store(async |views| self.counter.add_views(views).await).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{NomenclatureKind, Packaging};
    use crate::storefront::ports::{MockSearchLog, MockStorefrontReader, MockViewCounter};
    use chrono::DateTime;
    use kontor_kernel::testing::app_scope;
    use kontor_kernel::{FixedClock, MockRateLimiter, Name, Prose, Quota};

    fn id() -> NomenclatureId {
        NomenclatureId::new(7).unwrap()
    }

    struct Upper;

    impl HtmlCleaner for Upper {
        fn clean(&self, html: &str) -> String {
            html.to_uppercase()
        }
    }

    fn card() -> ProductCard<Prose> {
        let product = Product {
            id: id(),
            kind: NomenclatureKind::Goods,
            name: Name::parse("Mug").unwrap(),
            article: None,
            price: Money::ZERO,
            old_price: None,
            quantity: 1,
            photos: Vec::new(),
            category: None,
            brand: None,
            packaging: Packaging::default(),
            is_favourite: false,
        };
        ProductCard {
            product,
            country: None,
            storage_unit: None,
            share_link: None,
            description: Some(Prose::parse("<p>x</p>").unwrap()),
            characteristics: None,
            tags: Vec::new(),
            views_count: 40,
            unstored_views: 0,
        }
    }

    fn service(shelves: MockStorefrontReader, counter: MockViewCounter) -> StorefrontService {
        let mut limiter = MockRateLimiter::new();
        let mut seen = std::collections::BTreeSet::new();
        limiter.expect_hit().returning(move |rule, subject| Quota {
            allowed: seen.insert(subject.to_owned()),
            limit: rule.limit,
            remaining: 0,
            resets_in: rule.window,
        });
        let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
        let searches = Arc::new(SearchHistory::new(Arc::new(MockSearchLog::new()), clock.clone()));
        let (shelves, counter, limiter) = (Arc::new(shelves), Arc::new(counter), Arc::new(limiter));
        StorefrontService::new(shelves, counter, limiter, Arc::new(Upper), searches, clock)
    }

    #[tokio::test]
    async fn a_view_counts_once_per_address_and_survives_a_failing_storage() {
        let mut shelves = MockStorefrontReader::new();
        shelves.expect_product().returning(|_, _, _| Ok(Some(card())));
        let mut counter = MockViewCounter::new();
        counter.expect_add_views().once().returning(|_| Err(StoreError::Failed("full".to_owned())));
        counter.expect_add_views().once().withf(|views| views == &[(id(), 2)]).returning(|_| Ok(()));
        let service = service(shelves, counter);
        let (first, second) = ("10.0.0.1", "10.0.0.2");
        let mut shown = Vec::new();
        for viewer in [first, first, second] {
            let card = service.product(app_scope(1, 1).into(), id(), viewer).await.unwrap();
            assert_eq!(card.description.unwrap().as_str(), "<P>X</P>");
            shown.push(card.views_count);
        }
        assert_eq!(shown, [41, 41, 42]);
        assert!(service.store_views().await.is_err());
        assert_eq!(service.store_views().await.unwrap(), 1);
        assert_eq!(service.store_views().await.unwrap(), 0);
    }

    #[tokio::test]
    async fn views_that_may_be_stored_are_not_added_again() {
        let mut shelves = MockStorefrontReader::new();
        shelves.expect_product().returning(|_, _, _| Ok(Some(card())));
        let mut counter = MockViewCounter::new();
        counter.expect_add_views().once().returning(|_| Err(StoreError::OutcomeUnknown("lost".to_owned())));
        let service = service(shelves, counter);
        service.product(app_scope(1, 1).into(), id(), "10.0.0.1").await.unwrap();
        assert!(service.store_views().await.is_err());
        assert_eq!(service.store_views().await.unwrap(), 0);
    }

    #[tokio::test]
    async fn views_of_hidden_products_are_not_counted() {
        let mut shelves = MockStorefrontReader::new();
        shelves.expect_product().returning(|_, _, _| Ok(None));
        let service = service(shelves, MockViewCounter::new());
        let refused = service.product(app_scope(1, 1).into(), id(), "10.0.0.1").await;
        assert!(matches!(refused, Err(StorefrontError::NotFound)));
        assert_eq!(service.store_views().await.unwrap(), 0);
    }

    #[tokio::test]
    async fn nothing_costs_nothing() {
        let mut shelves = MockStorefrontReader::new();
        shelves.expect_price_range().returning(|_, _, _| Ok(None));
        let range = service(shelves, MockViewCounter::new())
            .price_range(app_scope(1, 1), ProductFilter::default())
            .await
            .unwrap();
        assert_eq!((range.lowest, range.highest), (Money::ZERO, Money::ZERO));
    }
}
