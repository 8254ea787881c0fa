//! Favourites and search histories of customers in memory.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{
    AppScope, CounterpartyId, CustomerScope, NomenclatureId, Page, PageRequest, SearchRequestId, StoreError, Visitor,
};

use super::{Guard, InMemoryStock, State};
use crate::storefront::ports::{FavouriteOutcome, Favourites, SearchLog};
use crate::storefront::{Product, Search, SearchRequest};

impl InMemoryStock {
    /// Adds a customer, signed in to the application.
    pub fn add_customer(&self, app: AppScope) -> CustomerScope {
        self.state.with(|state| {
            let (counterparty_id, token_id) = (state.ids.id(), state.ids.id());
            state.customers.insert(counterparty_id);
            CustomerScope { app, counterparty_id, token_id }
        })
    }

    /// Deletes a customer with favourites and searches.
    pub fn delete_customer(&self, customer: CounterpartyId) {
        self.state.with(|state| {
            state.customers.remove(&customer);
            state.favourites.retain(|(owner, _)| *owner != customer);
            state.searches.retain(|_, (owner, _)| *owner != customer);
        });
    }
}

impl State {
    pub(super) fn is_favourite(&self, customer: CounterpartyId, id: NomenclatureId) -> bool {
        self.favourites.contains(&(customer, id))
    }

    /// Returns `true` unless the customer is deleted.
    fn is_present(&self, customer: CounterpartyId) -> bool {
        self.customers.contains(&customer) || !self.guards.has(Guard::Deleted)
    }

    /// Favourites of a customer that the application shows, last added first.
    fn favourites_of(&self, customer: CustomerScope, at: DateTime<Utc>) -> Vec<Product> {
        let own = self.favourites.iter().rev().filter(|(owner, _)| *owner == customer.counterparty_id);
        own.filter_map(|(_, id)| self.shown(customer.into(), *id, at)).collect()
    }

    fn add_favourite(&mut self, customer: CustomerScope, id: NomenclatureId, at: DateTime<Utc>) -> FavouriteOutcome {
        if !self.is_present(customer.counterparty_id) {
            return FavouriteOutcome::CustomerDeleted;
        }
        let visitor = customer.into();
        if self.shown(visitor, id, at).or_else(|| self.sold_out(visitor, id, at)).is_none() {
            return FavouriteOutcome::ProductNotShown;
        }
        if self.guards.has(Guard::Once) && self.is_favourite(customer.counterparty_id, id) {
            return FavouriteOutcome::AlreadyPresent;
        }
        self.favourites.push((customer.counterparty_id, id));
        FavouriteOutcome::Added
    }

    /// Searches of a customer, newest first.
    fn searches_of(&self, customer: CounterpartyId) -> Vec<SearchRequest> {
        let own = self.searches.values().filter(|(owner, _)| *owner == customer);
        let mut own: Vec<SearchRequest> = own.map(|(_, request)| request.clone()).collect();
        own.sort_by_key(|request| (request.created_at, request.id));
        own.reverse();
        own
    }

    /// Stores a search and removes all but the last `most` of its customer.
    fn store_search(&mut self, search: Search, most: usize) {
        let customer = search.counterparty_id;
        if !self.is_present(customer) {
            return;
        }
        let known = self.searches_of(customer).into_iter().find(|known| known.value.key() == search.value.key());
        if known.as_ref().is_none_or(|known| known.created_at < search.at) {
            let id: SearchRequestId = known.map_or_else(|| self.ids.id(), |known| known.id);
            let request = SearchRequest { id, value: search.value, created_at: search.at };
            self.searches.insert(id, (customer, request));
        }
        for old in self.searches_of(customer).into_iter().skip(most) {
            self.searches.remove(&old.id);
        }
    }
}

#[async_trait]
impl Favourites for InMemoryStock {
    async fn page(
        &self,
        customer: CustomerScope,
        page: PageRequest,
        at: DateTime<Utc>,
    ) -> Result<Page<Product>, StoreError> {
        Ok(Page::of(self.state.with(|state| state.favourites_of(customer, at)), page))
    }

    async fn latest(&self, customer: CustomerScope, most: u32, at: DateTime<Utc>) -> Result<Vec<Product>, StoreError> {
        let mut products = self.state.with(|state| state.favourites_of(customer, at));
        products.truncate(usize::try_from(most).unwrap_or(usize::MAX));
        Ok(products)
    }

    async fn add(
        &self,
        customer: CustomerScope,
        id: NomenclatureId,
        at: DateTime<Utc>,
    ) -> Result<FavouriteOutcome, StoreError> {
        Ok(self.state.with(|state| state.add_favourite(customer, id, at)))
    }

    async fn remove(&self, customer: CustomerScope, id: NomenclatureId) -> Result<bool, StoreError> {
        Ok(self.state.with(|state| {
            let before = state.favourites.len();
            state.favourites.retain(|favourite| *favourite != (customer.counterparty_id, id));
            state.favourites.len() < before
        }))
    }
}

#[async_trait]
impl SearchLog for InMemoryStock {
    async fn store(&self, searches: Vec<Search>, kept: u32) -> Result<(), StoreError> {
        let most = usize::try_from(kept).unwrap_or(usize::MAX);
        self.state.with(|state| {
            let most = if state.guards.has(Guard::Kept) { most } else { usize::MAX };
            for search in searches {
                state.store_search(search, most);
            }
        });
        Ok(())
    }

    async fn searches(&self, customer: Visitor) -> Result<Vec<SearchRequest>, StoreError> {
        let Some(id) = customer.counterparty_id else { return Ok(Vec::new()) };
        Ok(self.state.with(|state| state.searches_of(id)))
    }
}
