use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};
use kontor_kernel::{
    Clock, CounterpartyId, CustomerScope, Line, NomenclatureId, Page, PageRequest, ProjectId, SearchRequestId,
    StoreError, Visitor,
};

use super::ports::{FavouriteOutcome, Favourites, SearchLog};
use super::{Product, ProductCard, StorefrontError, StorefrontService};

/// Maximum number of searches kept per customer.
pub const MAX_SEARCHES: u32 = 50;

/// Maximum number of searches waiting to be stored. Further searches are dropped until these are stored.
const MAX_PENDING: usize = 10_000;

/// Search to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    /// Project of the customer.
    pub project_id: ProjectId,
    /// Customer.
    pub counterparty_id: CounterpartyId,
    /// Search text.
    pub value: Line<255>,
    /// Time of the search.
    pub at: DateTime<Utc>,
}

/// Stored search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchRequest {
    /// Identifier; it stays the same when the search is repeated.
    pub id: SearchRequestId,
    /// Search text, as last entered.
    pub value: Line<255>,
    /// Time of the last search.
    pub created_at: DateTime<Utc>,
}

/// Customer, and the search text in the form in which texts are compared.
type Key = (CounterpartyId, String);

/// Search history of customers. Searching writes nothing: searches wait in memory and are stored in batches.
pub struct SearchHistory {
    log: Arc<dyn SearchLog>,
    clock: Arc<dyn Clock>,
    pending: Mutex<BTreeMap<Key, Search>>,
}

impl SearchHistory {
    /// Creates the service from its ports.
    pub fn new(log: Arc<dyn SearchLog>, clock: Arc<dyn Clock>) -> Self {
        Self { log, clock, pending: Mutex::default() }
    }

    /// Records a search of a signed-in customer; searches of other visitors are not recorded.
    pub fn record(&self, visitor: Visitor, value: &Line<255>) {
        let Some(counterparty_id) = visitor.counterparty_id else { return };
        let key = (counterparty_id, value.key());
        let mut pending = self.pending();
        if pending.len() < MAX_PENDING || pending.contains_key(&key) {
            let at = self.clock.now();
            let search = Search { project_id: visitor.app.project_id, counterparty_id, value: value.clone(), at };
            pending.insert(key, search);
        }
    }

    /// Returns the searches of the visitor, newest first, including those this process has not stored yet. Empty for a
    /// visitor who is not signed in.
    pub async fn of(&self, visitor: Visitor) -> Result<Vec<SearchRequest>, StoreError> {
        let Some(customer) = visitor.counterparty_id else { return Ok(Vec::new()) };
        self.store_those(|(of, _)| *of == customer).await?;
        self.log.searches(visitor).await
    }

    /// Stores the waiting searches. They keep waiting if the storage fails. Returns their number.
    pub async fn store(&self) -> Result<usize, StoreError> {
        self.store_those(|_| true).await
    }

    async fn store_those(&self, chosen: impl Fn(&Key) -> bool) -> Result<usize, StoreError> {
        let taken = self.take(chosen);
        if taken.is_empty() {
            return Ok(0);
        }
        let count = taken.len();
        let outcome = self.log.store(taken.values().cloned().collect(), MAX_SEARCHES).await;
        if outcome.is_err() {
            let mut pending = self.pending();
            for (key, search) in taken {
                pending.entry(key).or_insert(search);
            }
        }
        outcome.map(|()| count)
    }

    /// Removes the waiting searches with these keys and returns them.
    fn take(&self, chosen: impl Fn(&Key) -> bool) -> BTreeMap<Key, Search> {
        let mut pending = self.pending();
        let (taken, waiting) = std::mem::take(&mut *pending).into_iter().partition(|(key, _)| chosen(key));
        *pending = waiting;
        taken
    }

    /// A poisoned lock is ignored: every operation leaves the map consistent.
    fn pending(&self) -> MutexGuard<'_, BTreeMap<Key, Search>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Error of a use case of favourites.
#[derive(Debug, thiserror::Error)]
pub enum FavouriteError {
    /// The application sells no such product, or it is not a favourite.
    #[error("there is no such product")]
    NotFound,
    /// The application does not sell the product to add.
    #[error("the application does not sell this product")]
    UnknownProduct,
    /// The customer was deleted in the meantime.
    #[error("the customer account is deleted")]
    CustomerDeleted,
    /// Storage failure.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<StorefrontError> for FavouriteError {
    fn from(error: StorefrontError) -> Self {
        match error {
            StorefrontError::NotFound => Self::NotFound,
            StorefrontError::Store(error) => Self::Store(error),
        }
    }
}

/// Maximum number of favourites in the record of a customer.
const MAX_LISTED: u32 = 100;

/// Use cases of favourites.
pub struct FavouriteService {
    /// Storage of favourites.
    pub favourites: Arc<dyn Favourites>,
    /// Products of the application.
    pub storefront: Arc<StorefrontService>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

impl FavouriteService {
    /// Returns one page of the customer's favourites that the application shows, last added first.
    pub async fn list(&self, customer: CustomerScope, page: PageRequest) -> Result<Page<Product>, FavouriteError> {
        Ok(self.favourites.page(customer, page, self.clock.now()).await?)
    }

    /// Returns the favourites for the customer's own record: the first of the list, at most 100.
    pub async fn products(&self, customer: CustomerScope) -> Result<Vec<Product>, FavouriteError> {
        Ok(self.favourites.latest(customer, MAX_LISTED, self.clock.now()).await?)
    }

    /// Returns a product that the application shows or has sold out, a favourite or not. The view is not counted.
    pub async fn read(&self, customer: CustomerScope, id: NomenclatureId) -> Result<ProductCard, FavouriteError> {
        Ok(self.storefront.card(customer.into(), id).await?)
    }

    /// Adds a product to the favourites. Returns the product and `true` if it was added just now.
    pub async fn add(
        &self,
        customer: CustomerScope,
        id: NomenclatureId,
    ) -> Result<(ProductCard, bool), FavouriteError> {
        let added = match self.favourites.add(customer, id, self.clock.now()).await? {
            FavouriteOutcome::Added => true,
            FavouriteOutcome::AlreadyPresent => false,
            FavouriteOutcome::ProductNotShown => return Err(FavouriteError::UnknownProduct),
            FavouriteOutcome::CustomerDeleted => return Err(FavouriteError::CustomerDeleted),
        };
        match self.storefront.card(customer.into(), id).await {
            Ok(card) => Ok((card, added)),
            // The application stopped showing it between the two calls.
            Err(StorefrontError::NotFound) => Err(FavouriteError::UnknownProduct),
            Err(StorefrontError::Store(error)) => Err(error.into()),
        }
    }

    /// Removes a product from the favourites.
    pub async fn remove(&self, customer: CustomerScope, id: NomenclatureId) -> Result<(), FavouriteError> {
        if self.favourites.remove(customer, id).await? { Ok(()) } else { Err(FavouriteError::NotFound) }
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use kontor_kernel::FixedClock;
    use kontor_kernel::testing::app_scope;

    use super::*;
    use crate::storefront::ports::MockSearchLog;

    fn visitor(customer: Option<i64>) -> Visitor {
        Visitor { app: app_scope(1, 1), counterparty_id: customer.map(|id| CounterpartyId::new(id).unwrap()) }
    }

    fn line(text: &str) -> Line<255> {
        Line::parse(text).unwrap()
    }

    fn history(log: MockSearchLog) -> (SearchHistory, Arc<FixedClock>) {
        let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
        (SearchHistory::new(Arc::new(log), clock.clone()), clock)
    }

    #[tokio::test]
    async fn a_search_is_stored_once_however_it_is_written_and_survives_a_failing_storage() {
        let mut log = MockSearchLog::new();
        log.expect_store().once().returning(|_, _| Err(StoreError::Failed("full".to_owned())));
        log.expect_store()
            .once()
            .withf(|searches, kept| {
                let [search] = searches.as_slice() else { return false };
                (search.value.as_str(), search.at, *kept)
                    == ("КРУЖКА", DateTime::UNIX_EPOCH + TimeDelta::seconds(2), 50)
            })
            .returning(|_, _| Ok(()));
        let (history, clock) = history(log);
        history.record(visitor(None), &line("tea"));
        history.record(visitor(Some(7)), &line("кружка"));
        clock.advance(TimeDelta::seconds(1));
        history.record(visitor(Some(7)), &line("Кружка"));
        assert!(history.store().await.is_err());
        clock.advance(TimeDelta::seconds(1));
        history.record(visitor(Some(7)), &line("КРУЖКА"));
        assert_eq!(history.store().await.unwrap(), 1);
        assert_eq!(history.store().await.unwrap(), 0);
    }

    #[tokio::test]
    async fn a_customer_sees_their_unstored_searches() {
        let mut log = MockSearchLog::new();
        log.expect_store()
            .once()
            .withf(|searches, _| matches!(searches.as_slice(), [search] if search.counterparty_id.get() == 7))
            .returning(|_, _| Ok(()));
        log.expect_searches().once().returning(|_| Ok(Vec::new()));
        log.expect_store()
            .once()
            .withf(|searches, _| matches!(searches.as_slice(), [search] if search.counterparty_id.get() == 8))
            .returning(|_, _| Ok(()));
        let (history, _) = history(log);
        history.record(visitor(Some(7)), &line("mug"));
        history.record(visitor(Some(8)), &line("mug"));
        assert!(history.of(visitor(None)).await.unwrap().is_empty());
        history.of(visitor(Some(7))).await.unwrap();
        assert_eq!(history.store().await.unwrap(), 1);
    }

    #[tokio::test]
    async fn memory_is_bounded() {
        let mut log = MockSearchLog::new();
        log.expect_store().withf(|searches, _| searches.len() == MAX_PENDING).returning(|_, _| Ok(()));
        let (history, _) = history(log);
        for number in 0..11_000 {
            history.record(visitor(Some(7)), &line(&format!("mug {number}")));
        }
        history.record(visitor(Some(7)), &line("mug 0"));
        assert_eq!(history.store().await.unwrap(), MAX_PENDING);
    }
}
