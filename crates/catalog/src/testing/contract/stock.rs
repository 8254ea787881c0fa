//! Contract of items, warehouses and their stock.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a broken promise fails the test that runs it"
)]

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::join_all;
use kontor_kernel::{BranchId, InventoryId, Line, Money, NomenclatureId, PageRequest, ProjectId, WarehouseId};

use super::{counted, fresh, is_refused, nothing, stamp};
use crate::model::{
    Card, Edit, Inventory, InventoryDraft, Nomenclature, NomenclatureKind, StockChange, StockLevel, StockReason,
    WarehouseDraft,
};
use crate::ports::{InventoryRepository, NomenclatureRepository, WarehouseRepository};
use crate::{
    InventoryError, InventoryReference, InventoryRefusal, NomenclatureRefusal, WarehouseError, WarehouseRefusal,
};

/// Storage under test.
#[async_trait]
pub trait Fixture: Send + Sync {
    /// Type of the storage.
    type Store: InventoryRepository + NomenclatureRepository + WarehouseRepository + 'static;

    /// Returns the storage under test.
    fn store(&self) -> Arc<Self::Store>;

    /// Returns a new project with a branch.
    async fn project(&self) -> (ProjectId, BranchId);

    /// Reserves units of a stock level, as an order does.
    async fn reserve(&self, stock: InventoryId, units: u32);
}

pub(super) fn level(units: i64) -> StockLevel {
    StockLevel::new(units).unwrap()
}

fn quantity(units: i64) -> StockChange {
    StockChange { quantity: Edit::Set(level(units)), ..StockChange::default() }
}

fn goods() -> Card {
    Card::new(fresh("Goods"), NomenclatureKind::Goods)
}

pub(super) async fn item<F: Fixture>(fixture: &F, project: ProjectId, card: Card) -> Nomenclature {
    NomenclatureRepository::insert(&*fixture.store(), stamp(project), card).await.unwrap()
}

pub(super) async fn warehouse<F: Fixture>(fixture: &F, (project, branch_id): (ProjectId, BranchId)) -> WarehouseId {
    let draft = WarehouseDraft { name: fresh("Warehouse"), address: None, branch_id, application_ids: None };
    WarehouseRepository::insert(&*fixture.store(), stamp(project), draft).await.unwrap().id
}

fn draft(warehouse_id: WarehouseId, nomenclature_id: NomenclatureId, units: i64) -> InventoryDraft {
    InventoryDraft { warehouse_id, nomenclature_id, quantity: level(units), price: Money::ZERO }
}

async fn stocked<F: Fixture>(
    fixture: &F,
    project: ProjectId,
    draft: InventoryDraft,
) -> Result<Inventory, InventoryError> {
    InventoryRepository::insert(&*fixture.store(), stamp(project), draft).await
}

/// Stock of a new item in a new warehouse.
async fn stock<F: Fixture>(fixture: &F, place: (ProjectId, BranchId), units: i64) -> Inventory {
    let item = item(fixture, place.0, goods()).await.id;
    let draft = draft(warehouse(fixture, place).await, item, units);
    stocked(fixture, place.0, draft).await.unwrap()
}

/// A stock level never falls below the units that orders reserve.
pub async fn stock_stays_above_reservations<F: Fixture>(fixture: &F) {
    let (store, place) = (fixture.store(), fixture.project().await);
    let stock = stock(fixture, place, 5).await;
    fixture.reserve(stock.id, 3).await;
    let refused = store.set_stock(stamp(place.0), stock.id, quantity(2)).await;
    let reserved = level(3);
    let expected = InventoryRefusal::BelowReserved { reserved };
    assert!(is_refused(&refused, &expected), "{refused:?}");
    let lowest = store.set_stock(stamp(place.0), stock.id, quantity(3)).await.unwrap();
    assert_eq!((lowest.quantity, lowest.reserved, lowest.available()), (level(3), reserved, 0));
    assert!(lowest.version > stock.version, "the version grows");
}

/// Under concurrent calls, an item has one stock level in a warehouse.
pub async fn an_item_is_stocked_once_in_a_warehouse<F: Fixture>(fixture: &F) {
    let (store, place) = (fixture.store(), fixture.project().await);
    let (near, far) = (warehouse(fixture, place).await, warehouse(fixture, place).await);
    let item = item(fixture, place.0, goods()).await.id;
    let outcomes = join_all((1..=8).map(|units| stocked(fixture, place.0, draft(near, item, units)))).await;
    assert_eq!(counted(&outcomes, &InventoryRefusal::AlreadyStocked), (1, 7), "{outcomes:?}");
    let first = outcomes.into_iter().find_map(Result::ok).unwrap();
    let found = InventoryRepository::find(&*store, first.id).await.unwrap().unwrap();
    assert_eq!(found.within(place.0), Some(first));
    stocked(fixture, place.0, draft(far, item, 1)).await.unwrap();
}

/// Every change of a stock level is a movement, newest first, with its comment.
pub async fn changes_of_stock_are_movements<F: Fixture>(fixture: &F) {
    let (store, place) = (fixture.store(), fixture.project().await);
    let stock = stock(fixture, place, 5).await;
    store.set_stock(stamp(place.0), stock.id, quantity(8)).await.unwrap();
    let comment = Line::parse("Counted").ok();
    let recount = StockChange { price: Edit::Set("265.00".parse().unwrap()), comment: comment.clone(), ..quantity(7) };
    let changed = store.set_stock(stamp(place.0), stock.id, recount).await.unwrap();
    assert_eq!((changed.quantity, changed.price.map(Money::minor)), (level(7), Some(26_500)));
    let page = PageRequest::new(1, 10, 10).unwrap();
    let entries = store.history(place.0, stock.id, page).await.unwrap();
    let reasons: Vec<_> = entries.items.iter().map(|entry| entry.reason).collect();
    assert_eq!(reasons, [StockReason::Edit, StockReason::Edit, StockReason::Creation]);
    assert_eq!(entries.items.first().and_then(|entry| entry.comment.clone()), comment);
}

/// Stock refers to goods and warehouses of its project alone. Other projects neither stock nor change it.
pub async fn stock_stays_in_its_project<F: Fixture>(fixture: &F) {
    let (store, ours, theirs) = (fixture.store(), fixture.project().await, fixture.project().await);
    let stock = stock(fixture, ours, 5).await;
    let (near, abroad) = (stock.warehouse.id, warehouse(fixture, theirs).await);
    let foreign = item(fixture, theirs.0, goods()).await.id;
    for (draft, unknown) in [
        (draft(abroad, stock.nomenclature.id, 1), vec![InventoryReference::Warehouse]),
        (draft(near, foreign, 1), vec![InventoryReference::Nomenclature]),
        (draft(nothing(), nothing(), 1), vec![InventoryReference::Warehouse, InventoryReference::Nomenclature]),
    ] {
        let refused = stocked(fixture, ours.0, draft).await;
        let expected = InventoryRefusal::UnknownReferences(unknown);
        assert!(is_refused(&refused, &expected), "{refused:?}");
    }
    let refused = store.set_stock(stamp(theirs.0), stock.id, quantity(9)).await;
    assert!(matches!(refused, Err(InventoryError::NotFound)), "{refused:?}");
    let found = InventoryRepository::find(&*store, stock.id).await.unwrap().unwrap();
    assert_eq!(found.clone().within(theirs.0), None);
    assert_eq!(found.within(ours.0), Some(stock));
}

/// Services have no stock, and goods with stock stay goods.
pub async fn only_goods_have_stock<F: Fixture>(fixture: &F) {
    let (store, place) = (fixture.store(), fixture.project().await);
    let near = warehouse(fixture, place).await;
    let service = Card { price: Some(Money::ZERO), ..Card::new(fresh("Service"), NomenclatureKind::Service) };
    let consultation = item(fixture, place.0, service.clone()).await;
    let refused = stocked(fixture, place.0, draft(near, consultation.id, 1)).await;
    assert!(is_refused(&refused, &InventoryRefusal::NotStocked), "{refused:?}");
    let vase = item(fixture, place.0, goods()).await;
    stocked(fixture, place.0, draft(near, vase.id, 1)).await.unwrap();
    let refused = store.replace(stamp(place.0), vase.clone(), service).await;
    assert!(is_refused(&refused, &NomenclatureRefusal::Stocked), "{refused:?}");
    let found = NomenclatureRepository::find(&*store, vase.id).await.unwrap().unwrap();
    assert_eq!(found.within(place.0), Some(vase));
}

/// Under concurrent calls, an item is changed once per version.
pub async fn a_stale_item_is_not_replaced<F: Fixture>(fixture: &F) {
    let (store, place) = (fixture.store(), fixture.project().await);
    let seen = item(fixture, place.0, goods()).await;
    let renamed = || store.replace(stamp(place.0), seen.clone(), goods());
    let outcomes = join_all((0..8).map(|_| renamed())).await;
    assert_eq!(counted(&outcomes, &NomenclatureRefusal::Stale), (1, 7), "{outcomes:?}");
    let written = outcomes.into_iter().find_map(Result::ok).unwrap();
    assert!(written.version > seen.version, "the version grows");
    let found = NomenclatureRepository::find(&*store, seen.id).await.unwrap().unwrap();
    assert_eq!(found.within(place.0), Some(written));
}

/// Under concurrent calls, an article belongs to one item of a project.
pub async fn an_article_is_unique_in_its_project<F: Fixture>(fixture: &F) {
    let (store, place) = (fixture.store(), fixture.project().await);
    let labelled = || Card { article: Line::parse("VASE-1").ok(), ..goods() };
    let insert = |project| NomenclatureRepository::insert(&*store, stamp(project), labelled());
    let outcomes = join_all((0..8).map(|_| insert(place.0))).await;
    assert_eq!(counted(&outcomes, &NomenclatureRefusal::ArticleTaken), (1, 7), "{outcomes:?}");
    let other = item(fixture, place.0, goods()).await;
    let refused = store.replace(stamp(place.0), other, labelled()).await;
    assert!(is_refused(&refused, &NomenclatureRefusal::ArticleTaken), "{refused:?}");
    insert(fixture.project().await.0).await.unwrap();
}

/// A warehouse is deleted only while it is empty; its stock levels are deleted with it.
pub async fn a_warehouse_with_stock_stays<F: Fixture>(fixture: &F) {
    let (store, place) = (fixture.store(), fixture.project().await);
    let stock = stock(fixture, place, 1).await;
    let id = stock.warehouse.id;
    let refused = WarehouseRepository::delete(&*store, stamp(place.0), id).await;
    assert!(is_refused(&refused, &WarehouseRefusal::Stocked), "{refused:?}");
    let outsider = fixture.project().await.0;
    let refused = WarehouseRepository::delete(&*store, stamp(outsider), id).await;
    assert!(matches!(refused, Err(WarehouseError::NotFound)), "{refused:?}");
    store.set_stock(stamp(place.0), stock.id, quantity(0)).await.unwrap();
    let outcomes = join_all((0..4).map(|_| WarehouseRepository::delete(&*store, stamp(place.0), id))).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
    assert!(WarehouseRepository::find(&*store, id).await.unwrap().is_none());
    assert!(InventoryRepository::find(&*store, stock.id).await.unwrap().is_none());
    let refused = store.set_stock(stamp(place.0), stock.id, quantity(1)).await;
    assert!(matches!(refused, Err(InventoryError::NotFound)), "{refused:?}");
}

/// Stock that arrives while its warehouse is deleted is not lost: one of both is refused.
pub async fn no_stock_is_lost_with_a_warehouse<F: Fixture>(fixture: &F) {
    let (store, place) = (fixture.store(), fixture.project().await);
    for _ in 0..4 {
        let near = warehouse(fixture, place).await;
        let item = item(fixture, place.0, goods()).await.id;
        let arriving = stocked(fixture, place.0, draft(near, item, 1));
        let (arrived, deleted) =
            futures_util::join!(arriving, WarehouseRepository::delete(&*store, stamp(place.0), near));
        match (arrived, deleted) {
            (Ok(stock), Err(WarehouseError::Refused(WarehouseRefusal::Stocked))) => {
                assert!(InventoryRepository::find(&*store, stock.id).await.unwrap().is_some());
            }
            (Err(InventoryError::Refused(InventoryRefusal::UnknownReferences(_))), Ok(())) => {}
            other => panic!("{other:?}"),
        }
    }
}
