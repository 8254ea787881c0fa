//! Whoever changes stock takes its rows in one order, so nobody waits in a circle.

use std::sync::Arc;

use kontor_adapter_diesel::database_tests;
use kontor_catalog::InventoryError;
use kontor_catalog::model::{Edit, StockChange};
use kontor_catalog::ports::InventoryRepository;
use kontor_catalog::spreadsheet::ImportMode;
use kontor_catalog::spreadsheet::ports::StockBook;
use kontor_kernel::{InventoryId, StockLevel};
use kontor_orders::model::OrderStatus;
use kontor_orders::{OrderError, PlacedOutcome, PlacementError};

use super::books::differences;
use super::movements::sheet;
use crate::catalog::records::clerk;
use crate::orders::counter::Counter;
use crate::orders::office::Office;

const ROUNDS: usize = 40;
const BUYERS: usize = 3;

database_tests! {
    async fn uploads_staff_and_orders_for_the_last_pieces_never_block_each_other(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let office = Arc::new(Office::open(&counter).await);
        counter.promo("SPRING", "NULL", "NULL").await;
        let items = [counter.goods("Vase", 1, 100).await, counter.goods("Cup", 1, 100).await, counter.goods("Jug", 1, 100).await];
        for (item, article) in items.iter().zip(["VASE", "CUP", "JUG"]) {
            counter.house.run(format!("UPDATE nomenclatures SET article = '{article}' WHERE id = {item}")).await;
        }
        // Cards that are written by hand lack what they are found by.
        db.database.rebuild_offers().await.unwrap();
        let stock = counter.house.number(format!("SELECT id AS number FROM inventories WHERE nomenclature_id = {}", items[0])).await;
        let (stock, project) = (InventoryId::new(stock).unwrap(), counter.house.project);
        let buyers: Vec<_> = (0..BUYERS).map(|buyer| {
            let (placement, office, customer) = (counter.placement.clone(), office.clone(), counter.customer);
            let mut wanted = items.map(|item| (item, 1));
            wanted.rotate_left(buyer);
            let commands = [counter.with_promo(&wanted, "SPRING"), counter.command(&wanted[..2]), counter.command(&wanted)];
            tokio::spawn(async move {
                let mut placed = 0;
                for round in 0..ROUNDS {
                    let order = match placement.place(customer, &commands[round % 3]).await {
                        Ok(PlacedOutcome::Ready(order) | PlacedOutcome::PaymentUnclear(order)) => order,
                        Err(PlacementError::Refused(_)) => continue,
                        Err(other) => panic!("{other:?}"),
                    };
                    placed += 1;
                    let status = if round % 4 == 0 { OrderStatus::Issued } else { OrderStatus::Canceled };
                    match office.move_to(&order, status).await {
                        Ok(_) | Err(OrderError::Busy) => {}
                        Err(other) => panic!("{other:?}"),
                    }
                }
                placed
            })
        }).collect();
        let database = db.database.clone();
        let uploads = tokio::spawn(async move {
            for round in 0..ROUNDS {
                let mut rows = ["VASE;W1;{};1", "CUP;W1;{};1", "JUG;W1;{};1"].map(|row| row.replace("{}", &(1 + round % 3).to_string()));
                rows.rotate_left(round % 3);
                database.upload(clerk(project), sheet(&rows.join("\n")), ImportMode::Partial).await.unwrap();
            }
        });
        let database = db.database.clone();
        let staff = tokio::spawn(async move {
            for round in 0..ROUNDS {
                let pieces = StockLevel::new(i64::try_from(1 + round % 2).unwrap()).unwrap();
                let change = StockChange { quantity: Edit::Set(pieces), price: Edit::Keep };
                match database.set_stock(clerk(project), stock, change).await {
                    Ok(_) | Err(InventoryError::BelowReserved { .. }) => {}
                    Err(other) => panic!("{other:?}"),
                }
            }
        });
        let mut placed = 0;
        for buyer in buyers {
            placed += buyer.await.unwrap();
        }
        uploads.await.unwrap();
        staff.await.unwrap();
        assert!(placed >= BUYERS, "{placed} orders");
        assert_eq!(differences(&db).await, []);
        assert_eq!(db.database.repeated(), 0, "steps that had to run again");
    }
}
