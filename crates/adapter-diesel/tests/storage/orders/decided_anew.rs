//! Changes by staff to services and automatic discounts between the pricing of a cart and the commit of its order.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use kontor_adapter_diesel::{Abort, Database, database_tests};
use kontor_kernel::StoreError;
use kontor_orders::ports::{CartQuery, CartReader};
use kontor_orders::{CartSnapshot, ItemKind, PlacedOutcome, PlacementError, PlacementService};

use super::races::race;
use super::shop::ShopFixture;
use crate::stock_fixture::Item;

/// Runs a statement after the first read of a cart, or after every one.
struct InterleavedWrite {
    database: Database,
    statement: Mutex<Option<String>>,
    always: bool,
}

#[async_trait]
impl CartReader for InterleavedWrite {
    async fn snapshot(&self, query: CartQuery) -> Result<CartSnapshot, StoreError> {
        let seen = CartReader::snapshot(&self.database, query).await?;
        let statement = {
            let mut next = self.statement.lock().unwrap();
            if self.always { next.clone() } else { next.take() }
        };
        if let Some(statement) = statement {
            execute(&self.database, statement).await;
        }
        Ok(seen)
    }
}

async fn execute(database: &Database, statement: String) {
    let step = move |connection: &mut kontor_adapter_diesel::AnyConnection| {
        diesel::connection::SimpleConnection::batch_execute(connection, &statement)?;
        Ok::<_, Abort<StoreError>>(())
    };
    database.write_and_invalidate_all(step).await.unwrap();
}

impl ShopFixture<'_> {
    fn interleaved(&self, statement: String, always: bool) -> PlacementService {
        let database = self.stock_fixture.db.database.clone();
        let carts = InterleavedWrite { database, statement: Mutex::new(Some(statement)), always };
        PlacementService { carts: Arc::new(carts), ..PlacementService::clone(&self.placement) }
    }

    async fn service(&self, name: &'static str, price: i64) -> i64 {
        self.stock_fixture.item(Item { kind: 1, price, category: None, ..Item::goods(name, self.category) }).await
    }

    /// An automatic discount of ten percent.
    async fn discount(&self, target: &str) -> i64 {
        let project = self.stock_fixture.project;
        let insert = new_discount(project.get(), target);
        self.stock_fixture.number(format!("{insert} RETURNING id AS number")).await
    }
}

fn new_discount(project: i64, target: &str) -> String {
    format!(
        "INSERT INTO discounts (project_id, name, kind, value, target, target_id, minimum_sum, used_count, status, \
         created_at, updated_at) VALUES ({project}, 'Sale', 'percent', 1000, {target}, 0, 0, 'active', \
         '2026-01-01 00:00:00', '2026-01-01 00:00:00')"
    )
}

/// `(before discounts, to be paid)` of the placed order.
fn prices(outcome: Result<PlacedOutcome, PlacementError>) -> (i64, i64) {
    match outcome.unwrap() {
        PlacedOutcome::Ready(order) | PlacedOutcome::PaymentOutcomeUnknown(order) => {
            (order.original_price.minor(), order.final_price.minor())
        }
    }
}

database_tests! {
    async fn a_service_is_sold_at_the_price_of_the_moment(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let repair = shop.service("Repair", 1_000).await;
        let command = shop.command(&[(repair, 2)]);
        let pricier = format!("UPDATE nomenclatures SET price = 1500, version = version + 1 WHERE id = {repair}");
        let placed = shop.interleaved(pricier, false).place(shop.customer, &command).await;
        assert_eq!(prices(placed), (3_000, 3_000));
        let rising = format!("UPDATE nomenclatures SET price = price + 1, version = version + 1 WHERE id = {repair}");
        let refused = shop.interleaved(rising, true).place(shop.customer, &command).await;
        assert!(matches!(refused, Err(PlacementError::Busy)), "{refused:?}");
        let gone = format!("UPDATE nomenclatures SET is_subscription = TRUE WHERE id = {repair}");
        let refused = shop.interleaved(gone, false).place(shop.customer, &command).await;
        assert!(matches!(refused, Err(PlacementError::Refused(_))), "{refused:?}");
        assert_eq!(shop.count("orders").await, 1);
    }

    async fn automatic_discounts_are_those_of_the_moment(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let vase = shop.goods("Vase", 50, 10_000).await;
        let command = shop.command(&[(vase, 1)]);
        let id = shop.discount("'cart', NULL").await;
        let steps = [
            (format!("UPDATE discounts SET value = 2000, version = version + 1 WHERE id = {id}"), 8_000),
            (format!("UPDATE discounts SET status = 'paused', version = version + 1 WHERE id = {id}"), 10_000),
            (new_discount(shop.stock_fixture.project.get(), &format!("'product', {vase}")), 9_000),
        ];
        for (statement, price) in steps {
            let placed = shop.interleaved(statement.clone(), false).place(shop.customer, &command).await;
            assert_eq!(prices(placed), (10_000, price), "{statement}");
        }
        assert_eq!((shop.count("orders").await, shop.stock(vase).await), (3, (50, 3)));
    }

    async fn no_order_uses_a_discount_after_its_pause(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let vase = shop.goods("Vase", 500, 10_000).await;
        let id = shop.discount("'cart', NULL").await;
        let wishes = vec![(shop.customer, shop.command(&[(vase, 1)])); 60];
        let reduced = || shop.count("orders WHERE final_price = 9000");
        let pause = async {
            tokio::task::yield_now().await;
            let pause = format!("UPDATE discounts SET status = 'paused', version = version + 1 WHERE id = {id}");
            execute(&db.database, pause).await;
            reduced().await
        };
        let (won, at_pause) = tokio::join!(race(&shop.placement, wishes), pause);
        assert_eq!((won, shop.count("orders").await), (60, 60));
        assert_eq!(reduced().await, at_pause, "nobody had it cheaper after the pause");
        assert_eq!(shop.count("orders WHERE final_price = 10000").await, 60 - at_pause);
    }

    async fn a_changed_service_price_is_not_sold_at_the_old_price(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let repair = shop.service("Repair", 1_000).await;
        let wishes = vec![(shop.customer, shop.command(&[(repair, 1)])); 60];
        let cheap = || shop.count("orders WHERE final_price = 1000");
        let raise = async {
            tokio::task::yield_now().await;
            execute(&db.database, format!("UPDATE nomenclatures SET price = 2000 WHERE id = {repair}")).await;
            cheap().await
        };
        let (won, at_raise) = tokio::join!(race(&shop.placement, wishes), raise);
        assert_eq!(won, 60);
        assert_eq!(cheap().await, at_raise);
        assert_eq!(shop.count("orders WHERE final_price = 2000").await, 60 - at_raise);
    }

    async fn a_cart_is_read_at_one_moment(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let (vase, repair) = (shop.goods("Vase", 5, 1).await, shop.service("Repair", 1).await);
        let (database, ended) = (db.database.clone(), Arc::new(std::sync::atomic::AtomicBool::new(false)));
        let end = Arc::clone(&ended);
        // Item and stock always change together.
        let writing = tokio::spawn(async move {
            let mut price = 1;
            while !end.load(std::sync::atomic::Ordering::SeqCst) {
                price += 1;
                execute(&database, format!(
                    "UPDATE nomenclatures SET price = {price} WHERE id = {repair}; \
                     UPDATE inventories SET price = {price} WHERE nomenclature_id = {vase};"
                )).await;
            }
            price
        });
        let mut seen = std::collections::BTreeSet::new();
        let started = std::time::Instant::now();
        for read in 0.. {
            if read >= 400 && (seen.len() > 2 || started.elapsed() > std::time::Duration::from_mins(1)) {
                break;
            }
            let items = shop.command(&[(vase, 1), (repair, 1)]).cart.items();
            let query = CartQuery { point: shop.customer.app.into(), customer: None, items, promo: None, delivery: None, by_staff: false };
            let snapshot = CartReader::snapshot(&db.database, query).await.unwrap();
            let price = |item: &kontor_orders::OfferedItem| match &item.kind {
                ItemKind::Service { price } => price.minor(),
                ItemKind::Goods { places } => places[0].price.minor(),
            };
            let prices: Vec<i64> = snapshot.items.iter().map(price).collect();
            assert_eq!(prices[0], prices[1]);
            seen.insert(prices[0]);
        }
        ended.store(true, std::sync::atomic::Ordering::SeqCst);
        assert!(writing.await.unwrap() > 2 && seen.len() > 2, "something changed meanwhile");
    }
}
