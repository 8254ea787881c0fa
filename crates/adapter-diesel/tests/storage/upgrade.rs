//! Upgrade of a database with data of an older version.

use diesel::Connection;
use diesel::connection::SimpleConnection;
use diesel::{PgConnection, SqliteConnection};
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_adapter_diesel::{DatabaseUrl, database_tests};
use kontor_catalog::model::DiscountFilter;
use kontor_catalog::ports::{DiscountRepository, InventoryRepository, NomenclatureRepository};
use kontor_catalog::storefront::ports::StorefrontReader;
use kontor_catalog::storefront::{ProductFilter, ProductOrder};
use kontor_kernel::*;
use kontor_orders::OrderService;
use kontor_orders::model::{OrderStatus, ReservationState};
use kontor_orders::ports::OrderReader;

use crate::catalog::records::{NOON, everything, page};
use crate::fixtures;
use crate::orders::counter::Counter;
use crate::orders::office::Office;
use crate::stock::books::{changes, differences};

/// First migration that the older version lacks.
const NEXT: &str = "0014";

/// Rows of the older database. Ids start with 1 in every table.
const FILLED: &str = "
INSERT INTO projects (name, currency, created_at) VALUES ('P', 'RUB', '2026-01-01 00:00:00');
INSERT INTO branches (project_id, name, created_at, updated_at) VALUES (1, 'B', '2026-01-01 00:00:00', '2026-01-01 00:00:00');
INSERT INTO applications (project_id, branch_id, name, token_fingerprint, is_active, wholesale, created_at, updated_at) VALUES
    (1, 1, 'A1', 'old-1', TRUE, FALSE, '2026-01-01 00:00:00', '2026-01-01 00:00:00'),
    (1, 1, 'A2', 'old-2', TRUE, FALSE, '2026-01-01 00:00:00', '2026-01-01 00:00:00');
INSERT INTO warehouses (project_id, branch_id, name, created_at, updated_at) VALUES
    (1, 1, 'W1', '2026-01-01 00:00:00', '2026-01-01 00:00:00'), (1, 1, 'W2', '2026-01-01 00:00:00', '2026-01-01 00:00:00');
INSERT INTO warehouse_applications (warehouse_id, application_id) VALUES (1, 1), (2, 1), (2, 2);
INSERT INTO counterparties (project_id, is_company, first_name, last_name, phone_1, created_at, updated_at) VALUES
    (1, FALSE, 'Анна', 'К', '79001234567', '2026-01-01 00:00:00', '2026-01-01 00:00:00');
INSERT INTO delivery_types (project_id, id, name, price, is_active) VALUES (1, 1, 'Pickup', 0, TRUE);
INSERT INTO categories (project_id, parent_id, name, name_key, code, created_at, updated_at) VALUES
    (1, NULL, 'Кухня', 'кухня', 1, '2026-01-01 00:00:00', '2026-01-01 00:00:00'),
    (1, 1, 'Посуда', 'посуда', 2, '2026-01-01 00:00:00', '2026-01-01 00:00:00'),
    (1, 2, 'Кружки', 'кружки', 3, '2026-01-01 00:00:00', '2026-01-01 00:00:00');
INSERT INTO brands (project_id, name, name_key, created_at, updated_at) VALUES
    (1, 'Ёлка', 'ёлка', '2026-01-01 00:00:00', '2026-01-01 00:00:00');
INSERT INTO nomenclatures (project_id, article, article_key, name, name_key, kind_id, category_id, brand_id, price, is_subscription,
    wholesale, pieces_per_pack, quantity_pack, views_count, version, created_at, updated_at) VALUES
    (1, 'КР-01', 'кр-01', 'Кружка Ёжик', 'кружка ёжик', 2, 3, 1, 0, FALSE, FALSE, 1, 1, 5, 2, '2026-01-01 00:00:00', '2026-01-01 00:00:00'),
    (1, NULL, NULL, 'Тарелка', 'тарелка', 2, 2, NULL, 0, FALSE, FALSE, 1, 1, 0, 1, '2026-01-01 00:00:00', '2026-01-01 00:00:00'),
    (1, NULL, NULL, 'Ваза', 'ваза', 2, 1, NULL, 0, FALSE, FALSE, 1, 1, 0, 1, '2026-01-01 00:00:00', '2026-01-01 00:00:00'),
    (1, 'ГР', 'гр', 'Гравировка', 'гравировка', 1, NULL, NULL, 90000, FALSE, FALSE, 1, 1, 0, 1, '2026-01-01 00:00:00', '2026-01-01 00:00:00');
INSERT INTO nomenclature_photos (nomenclature_id, position, url) VALUES (1, 0, 'https://img.example/1'), (1, 1, 'https://img.example/2');
INSERT INTO inventories (project_id, warehouse_id, nomenclature_id, quantity, reserved, price, created_at, updated_at) VALUES
    (1, 1, 1, 10, 3, 50000, '2026-01-01 00:00:00', '2026-02-01 00:00:00'),
    (1, 2, 1, 4, 0, 60000, '2026-01-01 00:00:00', '2026-01-01 00:00:00'),
    (1, 2, 2, 7, 0, 40000, '2026-01-01 00:00:00', '2026-01-01 00:00:00'),
    (1, 1, 3, 0, 0, 10000, '2026-01-01 00:00:00', '2026-01-01 00:00:00');
INSERT INTO storefront_offers (application_id, nomenclature_id, category_id, brand_id, name_key, price, popularity, kind_id, name,
    article, photos) VALUES
    (1, 1, 3, 1, 'кружка ёжик', 50000, 5, 2, 'Кружка Ёжик', 'КР-01', 'https://img.example/1\nhttps://img.example/2'),
    (2, 1, 3, 1, 'кружка ёжик', 60000, 5, 2, 'Кружка Ёжик', 'КР-01', 'https://img.example/1\nhttps://img.example/2'),
    (1, 2, 2, NULL, 'тарелка', 40000, 0, 2, 'Тарелка', NULL, NULL), (2, 2, 2, NULL, 'тарелка', 40000, 0, 2, 'Тарелка', NULL, NULL),
    (1, 4, NULL, NULL, 'гравировка', 90000, 0, 1, 'Гравировка', 'ГР', NULL),
    (2, 4, NULL, NULL, 'гравировка', 90000, 0, 1, 'Гравировка', 'ГР', NULL);
INSERT INTO discounts (project_id, name, code, kind, value, target, target_id, minimum_sum, used_count, status, created_at, updated_at) VALUES
    (1, 'Скидка «Весна»', 'SPRING', 'percent', 1000, 'cart', NULL, 0, 1, 'active', '2026-01-01 00:00:00', '2026-01-01 00:00:00'),
    (1, 'КУХНЯ дешевле', NULL, 'percent', 2000, 'category', 1, 0, 0, 'active', '2026-01-01 00:00:00', '2026-01-01 00:00:00'),
    (1, 'Old sale', NULL, 'fixed', 100, 'product', 3, 0, 0, 'archived', '2026-01-01 00:00:00', '2026-01-01 00:00:00');
INSERT INTO orders (project_id, application_id, counterparty_id, status_id, original_price, product_discount, promo_discount, final_price,
    discount_id, promo_code, delivery_type_id, phone, version, created_at, updated_at) VALUES
    (1, 1, 1, 1, 150000, 30000, 12000, 108000, 1, 'SPRING', 1, '79001234567', 1, '2026-02-01 00:00:00', '2026-02-01 00:00:00');
INSERT INTO reservations (project_id, order_id, nomenclature_id, inventory_id, name, quantity, unit_price, product_discount,
    promo_discount, total, state, created_at, updated_at) VALUES
    (1, 1, 1, 1, 'Кружка Ёжик', 3, 50000, 30000, 12000, 108000, 'held', '2026-02-01 00:00:00', '2026-02-01 00:00:00');
INSERT INTO discount_usages (order_id, project_id, discount_id, counterparty_id, created_at) VALUES (1, 1, 1, 1, '2026-02-01 00:00:00');
INSERT INTO order_events (project_id, order_id, actor, actor_id, event, status_id, created_at) VALUES
    (1, 1, 'customer', 1, 'created', 1, '2026-02-01 00:00:00');
";

/// Without the pools: the tables that they write at a commit do not exist yet.
fn fill(db: &TestDatabase) {
    match db.url() {
        DatabaseUrl::Sqlite(path) => {
            let mut connection = SqliteConnection::establish(&path.to_string_lossy()).unwrap();
            connection.batch_execute(FILLED).unwrap();
        }
        DatabaseUrl::Postgres(url) => PgConnection::establish(&url).unwrap().batch_execute(FILLED).unwrap(),
    }
}

fn line(text: &str) -> Line<255> {
    Line::parse(text).unwrap()
}

database_tests! {
    async fn what_an_older_binary_left_is_found_and_adds_up(db: TestDatabase) {
        let mut newer = 1;
        while db.database.revert(1).unwrap()[0] != NEXT {
            newer += 1;
        }
        fill(&db);
        assert_eq!(db.database.migrate().unwrap().len(), newer);
        assert_eq!(differences(&db).await, []);
        let project = ProjectId::new(1).unwrap();

        for (text, expected) in [("ЁЖИК", vec![1]), ("кр01", vec![1]), ("тарел", vec![2]), ("ваза", vec![3]), ("гравировка", vec![4])] {
            let listing = Listing { text: Some(line(text)), ..everything() };
            let found = NomenclatureRepository::list(&db.database, project, listing).await.unwrap();
            assert_eq!(found.items.iter().map(|item| item.id.get()).collect::<Vec<_>>(), expected, "{text}");
        }
        for (text, expected) in [("скидка", vec![1]), ("Скидка", vec![1]), ("ВЕСНА", vec![1]), ("кухня", vec![2]), ("old", vec![3])] {
            let filter = DiscountFilter { query: Some(line(text)), ..DiscountFilter::default() };
            let found = DiscountRepository::list(&db.database, project, filter, page(1, 100), NOON).await.unwrap();
            assert_eq!(found.items.iter().map(|one| one.id.get()).collect::<Vec<_>>(), expected, "{text}");
        }
        let code = DiscountId::new(1).unwrap();
        let used = DiscountRepository::find(&db.database, code).await.unwrap().unwrap().within(project).unwrap();
        assert_eq!((used.used_count, used.used_amount.minor(), used.version), (1, 12_000, 1));

        let app = |id| AppScope { project_id: project, application_id: ApplicationId::new(id).unwrap(), wholesale: false };
        for (application, prices) in [(1, [32_000, 40_000, 90_000]), (2, [32_000, 48_000, 90_000])] {
            let order = Some(ProductOrder::PriceAscending);
            let shown = db.database.products(app(application).into(), ProductFilter::default(), order, page(1, 2), NOON).await.unwrap();
            assert_eq!(shown.total, 3);
            assert_eq!(shown.items.iter().map(|product| product.price.minor()).collect::<Vec<_>>(), prices[..2]);
            for (category, total) in [(1, 0), (2, 1), (3, 1)] {
                let filter = ProductFilter { category_ids: vec![CategoryId::new(category).unwrap()], ..ProductFilter::default() };
                // After the last page the total comes from the counts.
                let found = db.database.products(app(application).into(), filter, None, page(9, 1), NOON).await.unwrap();
                assert_eq!(found.total, total, "{category}");
            }
            let filter = ProductFilter { query: Some(line("кружка")), ..ProductFilter::default() };
            let found = db.database.products(app(application).into(), filter, None, page(1, 9), NOON).await.unwrap();
            assert_eq!((found.total, found.items[0].photos.len()), (1, 2));
        }
        assert_eq!(fixtures::number(&db, "SELECT CAST(sum(total) AS BIGINT) AS value FROM offer_counts WHERE category_id = 0").await, 6);

        let entry = |quantity, reserved| ("opening".to_owned(), quantity, reserved);
        assert_eq!(changes(&db, 1).await, [entry(10, 3), entry(4, 0)]);
        let first = InventoryId::new(1).unwrap();
        let stock = InventoryRepository::find(&db.database, first).await.unwrap().unwrap().within(project).unwrap();
        assert_eq!((stock.quantity.get(), stock.reserved.get()), (10, 3));

        // The order can be continued.
        let order = OrderReader::find(&db.database, OrderId::new(1).unwrap()).await.unwrap().unwrap().within(project).unwrap();
        assert_eq!((order.status, order.lines[0].state), (OrderStatus::Created, ReservationState::Held));
        let counter = Counter::open(&db).await;
        let office = Office::open(&counter).await;
        let store = std::sync::Arc::new(db.database.clone());
        let (clock, random) = (counter.clock.clone(), counter.random.clone());
        let orders = OrderService { orders: store.clone(), store, clock, random };
        let staff = Staff { project_id: project, ..office.staff };
        Office { orders, staff }.move_to(&order, OrderStatus::Canceled).await.unwrap();
        let stock = InventoryRepository::find(&db.database, first).await.unwrap().unwrap().within(project).unwrap();
        assert_eq!((stock.quantity.get(), stock.reserved.get()), (10, 0));
        let used = DiscountRepository::find(&db.database, code).await.unwrap().unwrap().within(project).unwrap();
        assert_eq!((used.used_count, used.used_amount.minor()), (0, 0));
        assert_eq!(differences(&db).await, []);
    }
}
