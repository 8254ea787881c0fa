//! One order at a time.

use kontor_adapter_diesel::database_tests;
use kontor_kernel::{CategoryId, CustomerScope, PageRequest};
use kontor_orders::model::{Cart, CartLine, OrderStatus, PromoProblem, ReservationState};
use kontor_orders::ports::{CartQuery, CartReader, OrderReader};
use kontor_orders::{PlacedOutcome, PlacementError};

use super::counter::Counter;
use crate::storehouse::Item;

database_tests! {
    async fn an_order_is_stored_whole_and_reads_back(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let vase = counter.goods("Vase", 10, 26_550).await;
        let advice = counter.house.item(Item { kind: 1, price: 10_000, category: None, ..Item::goods("Advice", 0) }).await;
        counter.promo("SPRING", "NULL", "NULL").await;
        counter.house.run(format!(
            "INSERT INTO nomenclature_photos (nomenclature_id, position, url) VALUES ({vase}, 0, 'https://img.example/1')"
        )).await;
        let order = counter.placed(&counter.with_promo(&[(vase, 3), (advice, 1)], "SPRING")).await;
        assert_eq!((order.status, order.status_name.as_str()), (OrderStatus::Created, "Created"));
        assert_eq!(order.original_price.to_string(), "896.50");
        assert_eq!(order.total_discount().to_string(), "89.65");
        assert_eq!(order.final_price.to_string(), "806.85");
        assert_eq!((order.promo_code.as_deref(), order.address.as_deref()), (Some("SPRING"), Some("Square 1")));
        assert_eq!((order.customer.name.as_str(), order.customer.phone.as_deref()), ("K Anna", Some("79001234567")));
        let [goods, service] = &order.lines[..] else { panic!("{:?}", order.lines) };
        assert_eq!((goods.photos.len(), goods.warehouse.is_some(), goods.state), (1, true, ReservationState::Held));
        assert_eq!((service.item.name.as_str(), service.warehouse.is_some()), ("Advice", false));
        assert_eq!(counter.stock(vase).await, (10, 3));
        let used = counter.house.number("SELECT used_count AS number FROM discounts".to_owned()).await;
        assert_eq!((used, counter.count("discount_usages").await, counter.count("order_events").await), (1, 1, 1));
        assert_eq!(counter.order(order.id).await, order);
    }

    async fn what_is_refused_leaves_nothing(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let (vase, cup) = (counter.goods("Vase", 5, 100).await, counter.goods("Cup", 1, 100).await);
        let refused = counter.place(&counter.command(&[(vase, 5), (cup, 2)])).await;
        let Err(PlacementError::Refused(refused)) = refused else { panic!("{refused:?}") };
        assert_eq!(refused.violations().fields().keys().collect::<Vec<_>>(), ["products.1.quantity"]);
        let refused = counter.place(&counter.with_promo(&[(vase, 1)], "NOPE")).await;
        let Err(PlacementError::Refused(refused)) = refused else { panic!("{refused:?}") };
        assert_eq!(refused.promo, Some(PromoProblem::Unknown));
        assert_eq!((counter.count("orders").await, counter.stock(vase).await), (0, (5, 0)));
    }

    async fn only_what_the_application_sells_can_be_ordered(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let vase = counter.goods("Vase", 5, 100).await;
        let loose = counter.house.item(Item { category: None, ..Item::goods("Loose", 1) }).await;
        counter.house.stock(counter.house.near, loose, 5, 100).await;
        let elsewhere = CustomerScope { app: counter.house.second, ..counter.customer };
        let refused = counter.placement.place(elsewhere, &counter.command(&[(vase, 1), (loose, 1), (9_999, 1)])).await;
        let Err(PlacementError::Refused(refused)) = refused else { panic!("{refused:?}") };
        assert_eq!(
            refused.violations().fields().keys().collect::<Vec<_>>(),
            ["products.0.id", "products.1.id", "products.2.id"]
        );
    }

    async fn the_last_piece_takes_its_offer_along(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let vase = counter.goods("Vase", 3, 100).await;
        counter.placed(&counter.command(&[(vase, 2)])).await;
        assert_eq!(counter.house.offers().await.len(), 1);
        counter.placed(&counter.command(&[(vase, 1)])).await;
        assert_eq!(counter.house.offers().await, []);
    }

    async fn a_category_discount_reaches_below(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let deep = counter.house.category("Deep", Some(counter.category)).await;
        let item = counter.house.item(Item::goods("Lamp", deep)).await;
        counter.house.stock(counter.house.near, item, 5, 10_000).await;
        let p = counter.house.project;
        let category = counter.category;
        counter.house.run(format!(
            "INSERT INTO discounts (project_id, name, kind, value, target, target_id, minimum_sum, used_count, status, \
             created_at, updated_at) VALUES ({p}, 'Sale', 'percent', 2500, 'category', {category}, 0, 0, 'active', \
             '2026-01-01 00:00:00', '2026-01-01 00:00:00')"
        )).await;
        let order = counter.placed(&counter.command(&[(item, 2)])).await;
        assert_eq!((order.product_discount.minor(), order.final_price.minor()), (5_000, 15_000));
        let query = CartQuery {
            point: counter.house.first.into(),
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

    async fn statements_do_not_grow_with_the_cart_or_the_list(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let mut items = Vec::new();
        for _ in 0..30 {
            items.push(counter.goods("Vase", 9, 100).await);
        }
        let lines: Vec<_> = items.iter().map(|item| (*item, 1)).collect();
        let mut counts = Vec::new();
        for size in [1, 30] {
            let command = counter.command(&lines[..size]);
            let lines = command.cart.lines().iter().map(|line| CartLine { ..*line }).collect();
            let before = db.statements();
            counter.placement.precalculate(counter.house.first.into(), &Cart::new(lines).unwrap(), None, None).await.unwrap();
            counts.push(db.statements() - before);
            assert!(matches!(counter.place(&command).await, Ok(PlacedOutcome::Ready(_))));
            let before = db.statements();
            db.database.of_customer(counter.customer, PageRequest::new(1, 500, 500).unwrap()).await.unwrap();
            counts.push(db.statements() - before);
        }
        assert_eq!((counts[0], counts[1]), (counts[2], counts[3]));
        // Besides the beginning and the end of the snapshot.
        assert_eq!(counts[1] - 2, 4);
    }
}
