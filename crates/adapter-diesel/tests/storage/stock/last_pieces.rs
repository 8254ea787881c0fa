//! Every change of stock locks its rows in one order, so there is no deadlock.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use kontor_adapter_diesel::database_tests;
use kontor_catalog::model::{Edit, StockChange, StockLevel};
use kontor_catalog::ports::InventoryRepository;
use kontor_catalog::spreadsheet::ImportMode;
use kontor_catalog::spreadsheet::ports::StockSheetRepository;
use kontor_catalog::{InventoryError, InventoryRefusal};
use kontor_kernel::InventoryId;
use kontor_orders::model::OrderStatus;
use kontor_orders::{PlacedOutcome, PlacementError};

use super::books::differences;
use super::movements::sheet;
use crate::catalog::records::seller;
use crate::orders::shop::ShopFixture;
use crate::orders::staff_fixture::StaffFixture;

/// Minimum changes of stock.
const ROUNDS: usize = 40;
const BUYERS: usize = 3;
/// Minimum orders placed in the meantime. Buyers, who are refused quickly, retry while stock changes, and stock changes
/// until this many orders are placed.
const ORDERS: usize = 12;
/// Timeout of the test.
const PATIENCE: Duration = Duration::from_mins(2);

/// Number of suppliers still at work, and number of placed orders.
struct Market {
    opened: Instant,
    suppliers: AtomicUsize,
    orders: AtomicUsize,
}

impl Market {
    fn open() -> Arc<Self> {
        Arc::new(Self { opened: Instant::now(), suppliers: AtomicUsize::new(2), orders: AtomicUsize::new(0) })
    }

    fn orders(&self) -> usize {
        self.orders.load(Ordering::SeqCst)
    }

    /// Rounds of a supplier.
    fn supplies(&self) -> impl Iterator<Item = usize> {
        let goes_on = |round: &usize| {
            let on = *round < ROUNDS || self.orders() < ORDERS && self.opened.elapsed() < PATIENCE;
            if !on {
                self.suppliers.fetch_sub(1, Ordering::SeqCst);
            }
            on
        };
        (0..).take_while(goes_on)
    }

    /// Rounds of a buyer.
    fn visits(&self) -> impl Iterator<Item = usize> {
        (0..).take_while(|_| self.suppliers.load(Ordering::SeqCst) > 0)
    }
}

database_tests! {
    async fn uploads_staff_and_orders_for_the_last_pieces_never_block_each_other(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = Arc::new(StaffFixture::open(&shop).await);
        shop.promo("SPRING", "NULL", "NULL").await;
        let items = [shop.goods("Vase", 1, 100).await, shop.goods("Cup", 1, 100).await, shop.goods("Jug", 1, 100).await];
        for (item, article) in items.iter().zip(["VASE", "CUP", "JUG"]) {
            shop.stock_fixture.run(format!("UPDATE nomenclatures SET article = '{article}' WHERE id = {item}")).await;
        }
        // Items written by SQL lack their search texts.
        db.database.rebuild_offers().await.unwrap();
        let stock = shop.stock_fixture.number(format!("SELECT id AS number FROM inventories WHERE nomenclature_id = {}", items[0])).await;
        let (stock, project) = (InventoryId::new(stock).unwrap(), shop.stock_fixture.project);
        let market = Market::open();
        let buyers: Vec<_> = (0..BUYERS).map(|buyer| {
            let (placement, staff_fixture, customer) = (shop.placement.clone(), staff_fixture.clone(), shop.customer);
            let market = market.clone();
            let mut wanted = items.map(|item| (item, 1));
            wanted.rotate_left(buyer);
            let commands = [shop.with_promo(&wanted, "SPRING"), shop.command(&wanted[..2]), shop.command(&wanted)];
            tokio::spawn(async move {
                for round in market.visits() {
                    let order = match placement.place(customer, &commands[round % 3]).await {
                        Ok(PlacedOutcome::Ready(order) | PlacedOutcome::PaymentOutcomeUnknown(order)) => order,
                        Err(PlacementError::Refused(_)) => continue,
                        Err(other) => panic!("{other:?}"),
                    };
                    market.orders.fetch_add(1, Ordering::SeqCst);
                    let status = if round % 4 == 0 { OrderStatus::Issued } else { OrderStatus::Canceled };
                    // A remaining order would keep its units from the others.
                    staff_fixture.move_to(&order, status).await.unwrap();
                }
            })
        }).collect();
        let (database, open) = (db.database.clone(), market.clone());
        let uploads = tokio::spawn(async move {
            for round in open.supplies() {
                let mut rows = ["VASE;W1;{};1", "CUP;W1;{};1", "JUG;W1;{};1"].map(|row| row.replace("{}", &(1 + round % 3).to_string()));
                rows.rotate_left(round % 3);
                database.upload(seller(project), sheet(&rows.join("\n")), ImportMode::Partial).await.unwrap();
            }
        });
        let (database, open) = (db.database.clone(), market.clone());
        let staff = tokio::spawn(async move {
            for round in open.supplies() {
                let pieces = StockLevel::new(i64::try_from(1 + round % 2).unwrap()).unwrap();
                let change = StockChange { quantity: Edit::Set(pieces), price: Edit::Keep, comment: None };
                match database.set_stock(seller(project), stock, change).await {
                    Ok(_) | Err(InventoryError::Refused(InventoryRefusal::BelowReserved { .. })) => {}
                    Err(other) => panic!("{other:?}"),
                }
            }
        });
        uploads.await.unwrap();
        staff.await.unwrap();
        for buyer in buyers {
            buyer.await.unwrap();
        }
        assert!(market.orders() >= ORDERS, "{} orders", market.orders());
        assert_eq!(differences(&db).await, []);
        assert!(db.repeats_steps() || db.database.repeated() == 0, "steps that had to run again");
    }
}
