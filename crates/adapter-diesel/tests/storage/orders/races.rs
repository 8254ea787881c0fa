//! Concurrent orders.

use std::sync::Arc;

use kontor_adapter_diesel::testing::pool_options;
use kontor_adapter_diesel::{Database, database_tests};
use kontor_kernel::CustomerScope;
use kontor_orders::{OrderCommand, PlacementError, PlacementService};

use super::shop::ShopFixture;

/// Runs the same order for many customers at the same time. Returns the number of successful orders.
pub async fn race(placement: &Arc<PlacementService>, wishes: Vec<(CustomerScope, OrderCommand)>) -> usize {
    let orders = wishes.into_iter().map(|(customer, command)| {
        let placement = Arc::clone(placement);
        async move { placement.place(customer, &command).await }
    });
    at_once(orders.collect()).await
}

/// Runs orders at the same time. Returns the number of successful ones.
pub async fn at_once<T: Send + 'static>(
    orders: Vec<impl Future<Output = Result<T, PlacementError>> + Send + 'static>,
) -> usize {
    let start = Arc::new(tokio::sync::Barrier::new(orders.len()));
    let racers = orders.into_iter().map(|order| {
        let start = Arc::clone(&start);
        tokio::spawn(async move {
            start.wait().await;
            order.await
        })
    });
    let mut won = 0;
    for racer in racers.collect::<Vec<_>>() {
        match racer.await.unwrap() {
            Ok(_) => won += 1,
            Err(PlacementError::Refused(_)) => {}
            Err(other) => panic!("{other:?}"),
        }
    }
    won
}

database_tests! {
    async fn two_hundred_orders_race_for_the_last_unit(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let vase = shop.goods("Vase", 1, 100).await;
        let wishes = vec![(shop.customer, shop.command(&[(vase, 1)])); 200];
        assert_eq!(race(&shop.placement, wishes).await, 1);
        assert_eq!((shop.count("orders").await, shop.stock(vase).await), (1, (1, 1)));
        assert_eq!(shop.stock_fixture.offers().await, []);
    }

    /// Each order takes two units, and three of them need two warehouses.
    async fn the_last_pieces_of_three_warehouses(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let (stock_fixture, vase) = (&shop.stock_fixture, shop.goods("Vase", 3, 100).await);
        let third = stock_fixture.another_warehouse(stock_fixture.first).await;
        stock_fixture.stock(stock_fixture.far, vase, 1, 100).await;
        stock_fixture.stock(third, vase, 3, 120).await;
        stock_fixture.db.database.rebuild_offers().await.unwrap();
        let wishes = vec![(shop.customer, shop.command(&[(vase, 2)])); 40];
        assert_eq!(race(&shop.placement, wishes).await, 3);
        let figures = |column: &str| format!("SELECT CAST(sum({column}) AS BIGINT) AS number FROM inventories WHERE nomenclature_id = {vase}");
        let (pieces, reserved) = (stock_fixture.number(figures("quantity")).await, stock_fixture.number(figures("reserved")).await);
        let lines = "SELECT CAST(sum(quantity) AS BIGINT) AS number FROM reservations WHERE state = 'held'".to_owned();
        assert_eq!((pieces, reserved, stock_fixture.number(lines).await), (7, 6, 6));
        let wrong = "SELECT count(*) AS number FROM inventories i WHERE i.reserved <> (SELECT coalesce(sum(r.quantity), 0) \
                     FROM reservations r WHERE r.inventory_id = i.id)";
        assert_eq!(stock_fixture.number(wrong.to_owned()).await, 0, "each piece is reserved where it lies");
    }

    async fn carts_that_overlap_neither_oversell_nor_block_each_other(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let (vase, cup) = (shop.goods("Vase", 20, 100).await, shop.goods("Cup", 20, 100).await);
        let command = |n: usize| {
            // Half of the carts list the items in reverse order.
            let lines = if n.is_multiple_of(2) { [(vase, 1), (cup, 1)] } else { [(cup, 1), (vase, 1)] };
            (shop.customer, shop.command(&lines))
        };
        assert_eq!(race(&shop.placement, (0..60).map(command).collect()).await, 20);
        assert_eq!((shop.stock(vase).await, shop.stock(cup).await), ((20, 20), (20, 20)));
    }

    async fn the_last_use_of_a_promo_code(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let vase = shop.goods("Vase", 500, 100).await;
        shop.promo("LAST", "1", "NULL").await;
        let wishes = vec![(shop.customer, shop.with_promo(&[(vase, 1)], "LAST")); 50];
        assert_eq!(race(&shop.placement, wishes).await, 1);
        let used = shop.stock_fixture.number("SELECT used_count AS number FROM discounts".to_owned()).await;
        assert_eq!((used, shop.stock(vase).await), (1, (500, 1)), "those who lost claimed nothing");
    }

    async fn each_customer_uses_a_promo_code_once(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let vase = shop.goods("Vase", 500, 100).await;
        shop.promo("ONCE", "NULL", "1").await;
        let other = shop.another_customer().await;
        let wish = |n: usize| {
            let customer = if n.is_multiple_of(2) { shop.customer } else { other };
            (customer, shop.with_promo(&[(vase, 1)], "ONCE"))
        };
        assert_eq!(race(&shop.placement, (0..40).map(wish).collect()).await, 2);
        assert_eq!(shop.count("discount_usages").await, 2);
    }

    async fn two_machines_share_one_stock(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let vase = shop.goods("Vase", 10, 100).await;
        let second = Database::open(db.url(), pool_options()).unwrap();
        let store = Arc::new(second);
        let usual = PlacementService::clone(&shop.placement);
        let elsewhere = Arc::new(PlacementService { carts: store.clone(), orders: store.clone(), store, ..usual });
        let wishes = || vec![(shop.customer, shop.command(&[(vase, 1)])); 30];
        let (here, there) = tokio::join!(race(&shop.placement, wishes()), race(&elsewhere, wishes()));
        assert_eq!((here + there, shop.stock(vase).await), (10, (10, 10)));
    }
}
