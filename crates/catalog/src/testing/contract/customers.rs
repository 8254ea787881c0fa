//! Contract of the data of customers in a storefront: favourites and the search history.
#![expect(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a broken promise fails the test that runs it")]

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::join_all;
use kontor_kernel::{CustomerScope, Line, NomenclatureId, PageRequest, Visitor};

use super::{noon, nothing};
use crate::storefront::Search;
use crate::storefront::ports::{FavouriteOutcome, Favourites, SearchLog};

/// Storage under test, with one application that sells.
#[async_trait]
pub trait Fixture: Send + Sync {
    /// Type of the storage.
    type Store: Favourites + SearchLog + 'static;

    /// Returns the storage under test.
    fn store(&self) -> Arc<Self::Store>;

    /// Returns a new customer, signed in to the application.
    async fn customer(&self) -> CustomerScope;

    /// Deletes a customer.
    async fn delete_customer(&self, customer: CustomerScope);

    /// Returns a new product that the application shows.
    async fn product(&self) -> NomenclatureId;
}

fn after(seconds: i64) -> DateTime<Utc> {
    noon() + TimeDelta::seconds(seconds)
}

fn visitor(customer: CustomerScope) -> Visitor {
    Visitor { app: customer.app, counterparty_id: Some(customer.counterparty_id) }
}

/// Under concurrent calls, a product is added once. Favourites belong to one customer, the last added first.
pub async fn a_favourite_is_added_once<F: Fixture>(fixture: &F) {
    let (store, anna, boris) = (fixture.store(), fixture.customer().await, fixture.customer().await);
    let (vase, cup) = (fixture.product().await, fixture.product().await);
    let outcomes = join_all((0..8).map(|_| store.add(anna, vase, noon()))).await;
    let outcomes: Vec<_> = outcomes.into_iter().map(Result::unwrap).collect();
    let count = |outcome| outcomes.iter().filter(|known| **known == outcome).count();
    assert_eq!((count(FavouriteOutcome::Added), count(FavouriteOutcome::AlreadyPresent)), (1, 7), "{outcomes:?}");
    assert_eq!(store.add(anna, cup, after(1)).await.unwrap(), FavouriteOutcome::Added);
    assert_eq!(store.add(anna, nothing(), after(1)).await.unwrap(), FavouriteOutcome::ProductNotShown);
    for (number, id) in [(1, cup), (2, vase)] {
        let page = store.page(anna, PageRequest::new(number, 1, 1).unwrap(), after(2)).await.unwrap();
        let listed: Vec<_> = page.items.iter().map(|product| (product.id, product.is_favourite)).collect();
        assert_eq!((page.total, listed), (2, vec![(id, true)]));
    }
    let latest = store.latest(anna, 1, after(2)).await.unwrap();
    assert_eq!(latest.iter().map(|product| product.id).collect::<Vec<_>>(), [cup]);
    assert!(store.latest(boris, 9, after(2)).await.unwrap().is_empty());
    assert!(!store.remove(boris, cup).await.unwrap(), "another customer has it");
    assert!(store.remove(anna, cup).await.unwrap());
    assert!(!store.remove(anna, cup).await.unwrap());
    assert_eq!(store.latest(anna, 9, after(2)).await.unwrap().len(), 1);
}

fn search(customer: CustomerScope, text: &str, seconds: i64) -> Search {
    Search {
        project_id: customer.app.project_id,
        counterparty_id: customer.counterparty_id,
        value: Line::parse(text).unwrap(),
        at: after(seconds),
    }
}

async fn searches<F: Fixture>(fixture: &F, customer: CustomerScope) -> Vec<String> {
    let found = fixture.store().searches(visitor(customer)).await.unwrap();
    found.into_iter().map(|search| search.value.to_string()).collect()
}

/// The last searches of each customer are kept, each text once. A late batch replaces no newer search.
pub async fn the_last_searches_are_kept<F: Fixture>(fixture: &F) {
    let (store, anna, boris) = (fixture.store(), fixture.customer().await, fixture.customer().await);
    let first = [search(anna, "vase", 1), search(anna, "cup", 2), search(boris, "lamp", 1)];
    store.store(first.to_vec(), 3).await.unwrap();
    let before = store.searches(visitor(anna)).await.unwrap();
    store.store(vec![search(anna, "VASE", 3), search(anna, "bowl", 4)], 3).await.unwrap();
    assert_eq!(searches(fixture, anna).await, ["bowl", "VASE", "cup"], "newest first, as last entered");
    let again = store.searches(visitor(anna)).await.unwrap();
    assert_eq!(again.get(1).map(|one| one.id), before.get(1).map(|one| one.id), "a repeated search stays the same");
    store.store(vec![search(anna, "vase", 2), search(anna, "plate", 5)], 3).await.unwrap();
    assert_eq!(searches(fixture, anna).await, ["plate", "bowl", "VASE"]);
    assert_eq!(searches(fixture, boris).await, ["lamp"]);
    let unknown = Visitor { counterparty_id: None, ..visitor(anna) };
    assert!(store.searches(unknown).await.unwrap().is_empty());
}

/// Nothing is stored for a deleted customer, while the searches of the same batch are.
pub async fn a_deleted_customer_leaves_nothing<F: Fixture>(fixture: &F) {
    let (store, anna, boris) = (fixture.store(), fixture.customer().await, fixture.customer().await);
    let vase = fixture.product().await;
    store.add(anna, vase, noon()).await.unwrap();
    store.store(vec![search(anna, "vase", 1)], 9).await.unwrap();
    fixture.delete_customer(anna).await;
    assert_eq!(store.add(anna, vase, noon()).await.unwrap(), FavouriteOutcome::CustomerDeleted);
    store.store(vec![search(anna, "cup", 2), search(boris, "lamp", 2)], 9).await.unwrap();
    assert!(searches(fixture, anna).await.is_empty());
    assert_eq!(searches(fixture, boris).await, ["lamp"]);
    assert!(store.latest(anna, 9, noon()).await.unwrap().is_empty());
}
