//! Buyers, staff and spreadsheets change the same stock concurrently.

use std::sync::Arc;

use kontor_adapter_diesel::database_tests;
use kontor_catalog::model::{Edit, InventoryDraft, StockChange, StockLevel};
use kontor_catalog::ports::{InventoryRepository, WarehouseRepository};
use kontor_catalog::spreadsheet::ImportMode;
use kontor_catalog::spreadsheet::ports::StockSheetRepository;
use kontor_catalog::{InventoryError, InventoryRefusal, WarehouseError, WarehouseRefusal};
use kontor_kernel::{InventoryId, Money, Stamp};
use kontor_orders::model::OrderStatus;
use kontor_orders::{PlacedOutcome, PlacementError};

use super::books::{differences, movements};
use super::movements::sheet;
use crate::catalog::records::{self, NOON, seller};
use crate::fixtures;
use crate::orders::shop::ShopFixture;
use crate::orders::staff_fixture::StaffFixture;

const BUYERS: usize = 200;

database_tests! {
    async fn the_ledger_is_correct_after_any_race(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = Arc::new(StaffFixture::open(&shop).await);
        let vase = shop.goods("Vase", 60, 100).await;
        shop.stock_fixture.run(format!("UPDATE nomenclatures SET article = 'VASE', article_key = 'vase' WHERE id = {vase}")).await;
        db.database.rebuild_offers().await.unwrap();
        let id = shop.stock_fixture.number(format!("SELECT id AS number FROM inventories WHERE nomenclature_id = {vase}")).await;
        let (id, project) = (InventoryId::new(id).unwrap(), shop.stock_fixture.project);
        let start = Arc::new(tokio::sync::Barrier::new(BUYERS + 2));

        let buyers: Vec<_> = (0..BUYERS).map(|number| {
            let (placement, start, staff_fixture) = (shop.placement.clone(), start.clone(), staff_fixture.clone());
            let (customer, command) = (shop.customer, shop.command(&[(vase, 1)]));
            tokio::spawn(async move {
                start.wait().await;
                let order = match placement.place(customer, &command).await {
                    Ok(PlacedOutcome::Ready(order) | PlacedOutcome::PaymentOutcomeUnknown(order)) => order,
                    Err(PlacementError::Refused(_)) => return (0, 0),
                    Err(other) => panic!("{other:?}"),
                };
                // A third of the orders is canceled, a third issued.
                let (status, sold) = match number % 3 {
                    0 => (OrderStatus::Canceled, 0),
                    1 => (OrderStatus::Issued, 1),
                    _ => return (1, 0),
                };
                staff_fixture.move_to(&order, status).await.unwrap();
                (1, sold)
            })
        }).collect();
        let (database, begin) = (db.database.clone(), start.clone());
        let staff = tokio::spawn(async move {
            begin.wait().await;
            let mut done = 0;
            for round in 0..30_i64 {
                let pieces = StockLevel::new([40, 55, 48, 90][usize::try_from(round % 4).unwrap()]).unwrap();
                let change = StockChange { quantity: Edit::Set(pieces), price: Edit::Keep, comment: None };
                match database.set_stock(seller(project), id, change).await {
                    Ok(_) => done += 1,
                    Err(InventoryError::Refused(InventoryRefusal::BelowReserved { .. })) => {}
                    Err(other) => panic!("{other:?}"),
                }
            }
            done
        });
        let (database, begin) = (db.database.clone(), start.clone());
        let uploads = tokio::spawn(async move {
            begin.wait().await;
            let mut done = 0;
            for round in 0..15 {
                let rows = sheet(&format!("VASE;W1;{};1", 70 + round));
                let mode = ImportMode::Partial;
                done += database.upload(seller(project), rows, mode).await.unwrap().updated;
            }
            done
        });
        let (mut placed, mut sold) = (0, 0);
        for buyer in buyers {
            let (one, gone) = buyer.await.unwrap();
            placed += one;
            sold += gone;
        }
        let (edits, uploads) = (staff.await.unwrap(), uploads.await.unwrap());
        assert!(placed >= 40, "{placed} orders");
        assert!(edits > 0 && uploads > 0, "{edits} edits, {uploads} uploads");

        let all = movements(&db, vase).await;
        let (mut quantity, mut reserved) = (0, 0);
        for movement in &all {
            quantity += movement.quantity;
            reserved += movement.reserved;
            assert_eq!((movement.quantity_after, movement.reserved_after), (quantity, reserved), "{movement:?}");
            assert!(reserved >= 0 && quantity >= reserved, "{movement:?}");
        }
        let of = |reason: &str| all.iter().filter(|movement| movement.reason == reason).count();
        assert_eq!(shop.stock(vase).await, (quantity, reserved));
        assert_eq!((of("reservation"), of("sale"), of("upload")), (placed, sold, uploads));
        assert!(of("edit") <= edits, "an edit that changes nothing is no movement");
        assert_eq!(differences(&db).await, []);
    }

    async fn nothing_is_left_in_a_warehouse_that_goes(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        for round in 0..12 {
            let place = records::warehouse(&db, project).await;
            let item = records::item(&db, project, records::goods("Tea")).await.id;
            let draft = InventoryDraft {
                warehouse_id: place,
                nomenclature_id: item,
                quantity: StockLevel::new(i64::from(round % 2)).unwrap(),
                price: Money::ZERO,
            };
            let (one, two) = (db.database.clone(), db.database.clone());
            let adding = tokio::spawn(async move { InventoryRepository::insert(&one, seller(project), draft).await });
            let going = tokio::spawn(async move { WarehouseRepository::delete(&two, Stamp::of_system(project, NOON), place).await });
            let (added, gone) = (adding.await.unwrap(), going.await.unwrap());
            match (&added, &gone) {
                // The stock came first: empty stock is deleted with the warehouse, a unit prevents the deletion.
                (Ok(stock), Ok(())) => {
                    assert_eq!(stock.quantity, StockLevel::EMPTY);
                    assert_eq!(InventoryRepository::find(&db.database, stock.id).await.unwrap(), None);
                }
                (Ok(stock), Err(WarehouseError::Refused(WarehouseRefusal::Stocked))) => assert_eq!(stock.quantity.get(), 1),
                (Err(InventoryError::Refused(InventoryRefusal::UnknownReferences(_))), Ok(())) => {}
                other => panic!("{other:?}"),
            }
            let left = "SELECT count(*) AS value FROM inventories i JOIN warehouses w ON w.id = i.warehouse_id \
                WHERE w.deleted_at IS NOT NULL AND (i.deleted_at IS NULL OR i.quantity > 0)";
            assert_eq!(fixtures::number(&db, left).await, 0);
        }
        assert_eq!(differences(&db).await, []);
    }
}
