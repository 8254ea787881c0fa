//! Stock of goods in warehouses.

use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_catalog::model::*;
use kontor_catalog::ports::*;
use kontor_catalog::{InventoryError, InventoryReference, InventoryRefusal};
use kontor_kernel::listing::Sort;
use kontor_kernel::*;

use super::records::*;
use crate::fixtures;

fn draft(warehouse_id: WarehouseId, nomenclature_id: NomenclatureId) -> InventoryDraft {
    let quantity = StockLevel::new(5).unwrap();
    InventoryDraft { warehouse_id, nomenclature_id, quantity, price: "265.00".parse().unwrap() }
}

async fn insert(db: &TestDatabase, project: ProjectId, draft: InventoryDraft) -> Result<Inventory, InventoryError> {
    InventoryRepository::insert(&db.database, seller(project), draft).await
}

async fn set_quantity(
    db: &TestDatabase,
    project: ProjectId,
    stock: &Inventory,
    pieces: i64,
) -> Result<Inventory, InventoryError> {
    let quantity = Edit::Set(StockLevel::new(pieces).unwrap());
    let change = StockChange { quantity, ..StockChange::default() };
    db.database.set_stock(seller(project), stock.id, change).await
}

async fn listed(db: &TestDatabase, project: ProjectId, listing: Listing) -> Vec<i64> {
    let page = InventoryRepository::list(&db.database, project, listing).await.unwrap();
    assert_eq!(usize::try_from(page.total).unwrap(), page.items.len());
    page.items.into_iter().map(|stock| stock.id.get()).collect()
}

database_tests! {
    async fn goods_lie_in_a_warehouse_once(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let card = Card { article: Some(Line::parse("A-1").unwrap()), ..goods("Чай") };
        let (tea, place) = (item(&db, project, card).await.id, warehouse(&db, project).await);
        let stored = insert(&db, project, draft(place, tea)).await.unwrap();
        assert_eq!((stored.warehouse.id, stored.warehouse.name.as_str()), (place, "Warehouse"));
        assert_eq!((stored.nomenclature.name.as_str(), stored.nomenclature.article.as_deref()), ("Чай", Some("A-1")));
        assert_eq!((stored.quantity.get(), stored.reserved.get(), stored.available()), (5, 0, 5));
        assert_eq!(stored.price, Some("265.00".parse().unwrap()));
        assert_eq!(InventoryRepository::find(&db.database, stored.id).await.unwrap(), Some(ProjectScoped::new(project, stored)));
        let refused = insert(&db, project, draft(place, tea)).await;
        assert!(matches!(refused, Err(InventoryError::Refused(InventoryRefusal::AlreadyStocked))));
        insert(&db, project, draft(warehouse(&db, project).await, tea)).await.unwrap();
    }

    async fn services_plans_and_foreign_records_are_refused(db: TestDatabase) {
        let (mine, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let place = warehouse(&db, mine).await;
        let service = item(&db, mine, Card::new(name("Repair"), NomenclatureKind::Service)).await.id;
        let plan = Card { subscription: Some(BillingPeriod::months(1).unwrap()), ..goods("Box") };
        for id in [service, item(&db, mine, plan).await.id] {
            assert!(matches!(insert(&db, mine, draft(place, id)).await, Err(InventoryError::Refused(InventoryRefusal::NotStocked))));
        }
        let foreign = draft(warehouse(&db, other).await, item(&db, other, goods("Foreign")).await.id);
        let refused = insert(&db, mine, foreign).await.unwrap_err();
        let expected = [InventoryReference::Warehouse, InventoryReference::Nomenclature];
        assert!(matches!(refused, InventoryError::Refused(InventoryRefusal::UnknownReferences(all)) if all == expected));
    }

    async fn stock_never_falls_below_what_is_reserved(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let stored = stock(&db, project, item(&db, project, goods("A")).await.id, 5).await;
        execute(&db, format!("UPDATE inventories SET reserved = 3 WHERE id = {}", stored.id)).await;
        let refused = set_quantity(&db, project, &stored, 2).await.unwrap_err();
        assert!(matches!(refused, InventoryError::Refused(InventoryRefusal::BelowReserved { reserved }) if reserved.get() == 3));
        let lowered = set_quantity(&db, project, &stored, 3).await.unwrap();
        assert_eq!((lowered.quantity.get(), lowered.available(), lowered.price), (3, 0, stored.price));
        let change = StockChange { quantity: Edit::Keep, price: Edit::Set(Money::MAX), comment: None };
        let repriced = db.database.set_stock(seller(project), stored.id, change.clone()).await.unwrap();
        assert_eq!((repriced.quantity.get(), repriced.price), (3, Some(Money::MAX)));
        let other = fixtures::project(&db).await;
        let refused = db.database.set_stock(seller(other), stored.id, change).await;
        assert!(matches!(refused, Err(InventoryError::NotFound)));
    }

    async fn a_list_is_filtered_and_sorted(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let (tea, mug) = (item(&db, project, goods("Чай")).await.id, item(&db, project, goods("Кружка")).await.id);
        let (few, many) = (stock(&db, project, tea, 2).await, stock(&db, project, mug, 9).await);
        let (first, second) = (few.id.get(), many.id.get());
        let all = everything();
        for (listing, expected) in [
            (all.clone(), vec![first, second]),
            (Listing { text: Some(Line::parse("КРУЖ").unwrap()), ..all.clone() }, vec![second]),
            (all.clone().among("warehouse_id", [few.warehouse.id.get()]), vec![first]),
            (all.clone().among("nomenclature_id", [mug.get(), tea.get()]), vec![first, second]),
            (since(NOON + chrono::TimeDelta::days(1)), vec![]),
            (before(NOON + chrono::TimeDelta::days(1)), vec![first, second]),
            (sorted(Sort::descending("id")), vec![second, first]),
            (sorted(Sort::descending("quantity")), vec![second, first]),
            (sorted(Sort::ascending("quantity")), vec![first, second]),
            (sorted(Sort::descending("reserved")), vec![second, first]),
            (sorted(Sort::ascending("price")), vec![first, second]),
            (sorted(Sort::descending("created_at")), vec![second, first]),
            (sorted(Sort::descending("updated_at")), vec![second, first]),
        ] {
            assert_eq!(listed(&db, project, listing.clone()).await, expected, "{listing:?}");
        }
        assert!(listed(&db, fixtures::project(&db).await, all).await.is_empty());
    }
}
