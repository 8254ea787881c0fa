//! One order at a time.

use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::Kind;
use kontor_kernel::{
    ApplicationId, CategoryId, CounterpartyId, CustomerScope, DeliverySubtypeId, DeliveryTypeId, PageRequest,
};
use kontor_orders::model::{Cart, CartLine, DeliveryRequest, OrderStatus, PromoProblem, ReservationState};
use kontor_orders::ports::{CartQuery, CartReader, OrderReader, SalesPoint};
use kontor_orders::{ItemKind, Missing, PlacedOutcome, PlacementError};

use super::contacts::with_courier;
use super::shop::ShopFixture;
use crate::stock_fixture::Item;

database_tests! {
    async fn an_order_is_stored_whole_and_reads_back(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let vase = shop.goods("Vase", 10, 26_550).await;
        let advice = shop.stock_fixture.item(Item { kind: 1, price: 10_000, category: None, ..Item::goods("Advice", 0) }).await;
        shop.promo("SPRING", "NULL", "NULL").await;
        shop.stock_fixture.run(format!(
            "INSERT INTO nomenclature_photos (project_id, nomenclature_id, position, url) \
             VALUES ({}, {vase}, 0, 'https://img.example/1')",
            shop.stock_fixture.project
        )).await;
        let order = shop.placed(&shop.with_promo(&[(vase, 3), (advice, 1)], "SPRING")).await;
        assert_eq!((order.status, order.status_name.as_str()), (OrderStatus::Created, "Created"));
        assert_eq!(order.original_price.to_string(), "896.50");
        assert_eq!(order.total_discount().to_string(), "89.65");
        assert_eq!(order.final_price.to_string(), "806.85");
        assert_eq!((order.promo_code.as_deref(), order.address.as_deref()), (Some("SPRING"), Some("Square 1")));
        assert_eq!((order.customer.name.as_str(), order.customer.phone.as_deref()), ("K Anna", Some("79001234567")));
        let [goods, service] = &order.lines[..] else { panic!("{:?}", order.lines) };
        assert_eq!((goods.photos.len(), goods.warehouse.is_some(), goods.state), (1, true, ReservationState::Held));
        assert_eq!((service.item.name.as_str(), service.warehouse.is_some()), ("Advice", false));
        assert_eq!(shop.stock(vase).await, (10, 3));
        let used = shop.stock_fixture.number("SELECT used_count AS number FROM discounts".to_owned()).await;
        assert_eq!((used, shop.count("discount_usages").await, shop.count("order_events").await), (1, 1, 1));
        assert_eq!(shop.order(order.id).await, order);
    }

    async fn a_refusal_leaves_nothing_in_storage(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let (vase, cup) = (shop.goods("Vase", 5, 100).await, shop.goods("Cup", 1, 100).await);
        let refused = shop.place(&shop.command(&[(vase, 5), (cup, 2)])).await;
        let Err(PlacementError::Refused(refused)) = refused else { panic!("{refused:?}") };
        assert_eq!(refused.violations().fields().keys().collect::<Vec<_>>(), ["products.1.quantity"]);
        let refused = shop.place(&shop.with_promo(&[(vase, 1)], "NOPE")).await;
        let Err(PlacementError::Refused(refused)) = refused else { panic!("{refused:?}") };
        assert_eq!(refused.promo, Some(PromoProblem::Unknown));
        assert_eq!((shop.count("orders").await, shop.stock(vase).await), (0, (5, 0)));
    }

    async fn only_what_the_application_sells_can_be_ordered(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let vase = shop.goods("Vase", 5, 100).await;
        let loose = shop.stock_fixture.item(Item { category: None, ..Item::goods("Loose", 1) }).await;
        shop.stock_fixture.stock(shop.stock_fixture.near, loose, 5, 100).await;
        let elsewhere = CustomerScope { app: shop.stock_fixture.second, ..shop.customer };
        let refused = shop.placement.place(elsewhere, &shop.command(&[(vase, 1), (loose, 1), (9_999, 1)])).await;
        let Err(PlacementError::Refused(refused)) = refused else { panic!("{refused:?}") };
        assert_eq!(
            refused.violations().fields().keys().collect::<Vec<_>>(),
            ["products.0.id", "products.1.id", "products.2.id"]
        );
    }

    async fn the_last_piece_takes_its_offer_along(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let vase = shop.goods("Vase", 3, 100).await;
        shop.placed(&shop.command(&[(vase, 2)])).await;
        assert_eq!(shop.stock_fixture.offers().await.len(), 1);
        shop.placed(&shop.command(&[(vase, 1)])).await;
        assert_eq!(shop.stock_fixture.offers().await, []);
    }

    async fn a_category_discount_reaches_below(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let deep = shop.stock_fixture.category("Deep", Some(shop.category)).await;
        let item = shop.stock_fixture.item(Item::goods("Lamp", deep)).await;
        shop.stock_fixture.stock(shop.stock_fixture.near, item, 5, 10_000).await;
        let p = shop.stock_fixture.project;
        let category = shop.category;
        shop.stock_fixture.run(format!(
            "INSERT INTO discounts (project_id, name, kind, value, target, target_id, minimum_sum, used_count, status, \
             created_at, updated_at) VALUES ({p}, 'Sale', 'percent', 2500, 'category', {category}, 0, 0, 'active', \
             '2026-01-01 00:00:00', '2026-01-01 00:00:00')"
        )).await;
        let order = shop.placed(&shop.command(&[(item, 2)])).await;
        assert_eq!((order.product_discount.minor(), order.final_price.minor()), (5_000, 15_000));
        let query = CartQuery {
            point: shop.stock_fixture.first.into(),
            customer: None,
            items: order.lines.iter().map(|line| line.item.id).collect(),
            promo: None,
            delivery: None,
            by_staff: false,
        };
        let snapshot = CartReader::snapshot(&db.database, query).await.unwrap();
        let mut categories: Vec<_> = snapshot.items[0].categories.iter().copied().map(CategoryId::get).collect();
        categories.sort_unstable();
        assert_eq!(categories, [category, deep]);
    }

    async fn a_cart_with_everything_is_read_by_one_statement(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let cash = with_courier(&shop).await;
        let deep = shop.stock_fixture.category("Deep", Some(shop.category)).await;
        let vase = shop.goods("Vase", 9, 100).await;
        let lamp = shop.stock_fixture.item(Item::goods("Lamp", deep)).await;
        shop.stock_fixture.stock(shop.stock_fixture.near, lamp, 5, 10_000).await;
        shop.promo("SPRING", "NULL", "NULL").await;
        let command = shop.with_promo(&[(vase, 1), (lamp, 2)], "SPRING");
        shop.placed(&command).await;
        let (p, category) = (shop.stock_fixture.project, shop.category);
        shop.stock_fixture.run(format!(
            "INSERT INTO discounts (project_id, name, kind, value, target, target_id, minimum_sum, used_count, status, \
             created_at, updated_at) VALUES ({p}, 'Sale', 'percent', 2500, 'category', {category}, 0, 0, 'active', \
             '2026-01-01 00:00:00', '2026-01-01 00:00:00')"
        )).await;
        let query = CartQuery {
            point: shop.stock_fixture.first.into(),
            customer: Some(shop.customer.counterparty_id),
            items: command.cart.items(),
            promo: command.promo_code,
            delivery: Some(DeliveryRequest {
                type_id: DeliveryTypeId::new(2).unwrap(),
                subtype_id: DeliverySubtypeId::new(2).ok(),
                payment_type_id: Some(cash),
                ..command.delivery
            }),
            by_staff: true,
        };
        let foreign = CartQuery {
            point: SalesPoint { application_id: ApplicationId::new(999_999).ok(), ..query.point },
            customer: CounterpartyId::new(999_999).ok(),
            promo: None,
            delivery: None,
            ..query.clone()
        };
        let before = db.statements();
        let found = CartReader::snapshot(&db.database, query).await.unwrap();
        assert_eq!(db.statements() - before, 1, "neither a second statement nor a transaction");
        let lamp = found.items.iter().find(|item| item.id.get() == lamp).unwrap();
        let mut categories: Vec<_> = lamp.categories.iter().copied().map(CategoryId::get).collect();
        categories.sort_unstable();
        assert_eq!((found.items.len(), categories), (2, vec![category, deep]));
        let ItemKind::Goods { places } = &lamp.kind else { panic!("{lamp:?}") };
        assert_eq!(places.iter().map(|place| (place.price.minor(), place.available)).collect::<Vec<_>>(), [(10_000, 3)]);
        assert_eq!(found.automatic.iter().map(|discount| discount.name.as_str()).collect::<Vec<_>>(), ["Sale"]);
        let promo = found.promo.unwrap();
        assert_eq!((promo.discount.unwrap().code.as_deref(), promo.used_by_customer), (Some("SPRING"), 1));
        let references = found.references;
        assert_eq!(references.delivery_type.unwrap().price.minor(), 30_000);
        assert_eq!(references.subtype.unwrap().price.minor(), 30_000);
        assert_eq!(references.shop.unwrap().address, "Square 1");
        assert_eq!((references.payment_type, found.missing), (Some(false), Missing::default()));
        assert_eq!(found.phone.unwrap().as_str(), "79001234567");
        let before = db.statements();
        let found = CartReader::snapshot(&db.database, foreign).await.unwrap();
        assert_eq!(db.statements() - before, 1);
        assert_eq!(found.missing, Missing { application: true, customer: true });
        assert!(found.items.iter().all(|item| item.kind == ItemKind::Goods { places: Vec::new() }), "nothing is sold there");
    }

    async fn statements_do_not_grow_with_the_cart_or_the_list(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let mut items = Vec::new();
        for _ in 0..30 {
            items.push(shop.goods("Vase", 9, 100).await);
        }
        let lines: Vec<_> = items.iter().map(|item| (*item, 1)).collect();
        let mut counts = Vec::new();
        for size in [1, 30] {
            let command = shop.command(&lines[..size]);
            let lines = command.cart.lines().iter().map(|line| CartLine { ..*line }).collect();
            let before = db.statements();
            shop.placement.precalculate(shop.stock_fixture.first.into(), &Cart::new(lines).unwrap(), None, None).await.unwrap();
            counts.push(db.statements() - before);
            assert!(matches!(shop.place(&command).await, Ok(PlacedOutcome::Ready(_))));
            let before = db.statements();
            db.database.of_customer(shop.customer, PageRequest::new(1, 500, 500).unwrap()).await.unwrap();
            counts.push(db.statements() - before);
        }
        assert_eq!((counts[0], counts[1]), (counts[2], counts[3]));
        assert_eq!(counts[0], 1, "a cart is read by one statement");
        // Besides the beginning and the end of the snapshot.
        assert_eq!(counts[1] - 2, 3);
    }

    async fn an_order_of_three_lines_takes_eight_messages_to_a_server(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let mut lines = Vec::new();
        for _ in 0..3 {
            lines.push((shop.goods("Vase", 9, 100).await, 2));
        }
        let command = shop.command(&lines);
        let before = db.statements();
        assert_eq!(shop.placed(&command).await.lines.len(), 3);
        let spent = db.statements() - before;
        // The cart; begin, locks, the order with its stock, the cache version, commit; the order, its lines.
        // The embedded database has no round trips, and stores an order in several statements.
        assert!(db.kind == Kind::Sqlite || spent <= 8, "{spent} statements");
    }
}
