//! Items without a price are not sold, regardless of their source.

use diesel::Connection;
use diesel::connection::SimpleConnection;
use diesel::{PgConnection, SqliteConnection};
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_adapter_diesel::{DatabaseUrl, database_tests};
use kontor_catalog::model::{CardChange, Edit, StockChange};
use kontor_catalog::ports::{InventoryRepository, NomenclatureRepository};
use kontor_catalog::spreadsheet::ImportMode;
use kontor_catalog::storefront::ports::StorefrontPlans;
use kontor_kernel::history::HistoryAction;
use kontor_kernel::listing::Sort;
use kontor_kernel::*;

use crate::catalog::records::{clerk, page, sorted, system};
use crate::import::{counts, import, reasons, refused, upload};
use crate::orders::counter::Counter;
use crate::stock::books::differences;
use crate::storehouse::StockFixture;

fn item(id: i64) -> NomenclatureId {
    NomenclatureId::new(id).unwrap()
}

/// Migration that distinguishes a price of 0 from none.
const PRICES: &str = "0040";

/// Items 1 to 5 are goods, 6 to 10 services, 11 and 12 plans. Stock ids equal those of their goods.
const BEFORE: &str = "
INSERT INTO projects (name, currency, created_at) VALUES ('P', 'RUB', '2026-01-01 00:00:00');
INSERT INTO branches (project_id, name, created_at, updated_at) VALUES (1, 'B', '2026-01-01 00:00:00', '2026-01-01 00:00:00');
INSERT INTO applications (project_id, branch_id, name, token_fingerprint, is_active, wholesale, created_at, updated_at) VALUES
    (1, 1, 'A', 'old', TRUE, FALSE, '2026-01-01 00:00:00', '2026-01-01 00:00:00');
INSERT INTO warehouses (project_id, branch_id, name, created_at, updated_at) VALUES
    (1, 1, 'W1', '2026-01-01 00:00:00', '2026-01-01 00:00:00'), (1, 1, 'W2', '2026-01-01 00:00:00', '2026-01-01 00:00:00');
INSERT INTO warehouse_applications (warehouse_id, application_id) VALUES (1, 1), (2, 1);
INSERT INTO categories (project_id, name, name_key, code, created_at, updated_at) VALUES
    (1, 'C', 'c', 1, '2026-01-01 00:00:00', '2026-01-01 00:00:00');
INSERT INTO nomenclatures (project_id, name, name_key, kind_id, category_id, price, is_subscription, billing_period_months, wholesale,
    pieces_per_pack, quantity_pack, views_count, version, created_at, updated_at)
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12)
SELECT 1, 'N', 'n', CASE WHEN i <= 5 THEN 2 ELSE 1 END, 1, CASE WHEN i IN (5, 10) THEN 700 ELSE 0 END, i > 10,
    CASE WHEN i > 10 THEN 1 END, FALSE, 1, 1, 0, 1, '2026-01-01 00:00:00', '2026-01-01 00:00:00' FROM n ORDER BY i;
INSERT INTO inventories (project_id, warehouse_id, nomenclature_id, quantity, reserved, price, created_at, updated_at)
SELECT 1, 1, id, 5, 0, CASE WHEN id = 5 THEN 700 ELSE 0 END, '2026-01-01 00:00:00', '2026-01-01 00:00:00'
FROM nomenclatures WHERE id <= 5 ORDER BY id;
INSERT INTO inventories (project_id, warehouse_id, nomenclature_id, quantity, reserved, price, created_at, updated_at) VALUES
    (1, 2, 4, 5, 0, 300, '2026-01-01 00:00:00', '2026-01-01 00:00:00');
INSERT INTO stock_movements (project_id, inventory_id, nomenclature_id, warehouse_id, quantity, reserved, quantity_after, reserved_after,
    price_before, price_after, reason, actor, created_at)
SELECT 1, id, nomenclature_id, warehouse_id, 5, 0, 5, 0, NULL, CASE WHEN id = 3 THEN 900 ELSE price END,
    CASE WHEN id = 2 THEN 'creation' ELSE 'upload' END, 'system', created_at FROM inventories ORDER BY id;
INSERT INTO stock_movements (project_id, inventory_id, nomenclature_id, warehouse_id, quantity, reserved, quantity_after, reserved_after,
    price_before, price_after, reason, actor, created_at) VALUES
    (1, 3, 3, 1, 0, 0, 5, 0, 900, 0, 'upload', 'system', '2026-01-01 00:00:00');
INSERT INTO histories (project_id, resource, resource_id, deed, changes, created_at) VALUES
    (1, 'nomenclatures', 1, 'created', '[{\"field\":\"kind_id\",\"old\":null,\"new\":\"2\"},{\"field\":\"price\",\"old\":null,\"new\":\"0.00\"}]', '2026-01-01 00:00:00'),
    (1, 'nomenclatures', 2, 'changed', '[{\"field\":\"price\",\"old\":\"1.00\",\"new\":\"0.00\"}]', '2026-01-01 00:00:00'),
    (1, 'nomenclatures', 6, 'created', '[]', '2026-01-01 00:00:00'),
    (1, 'nomenclatures', 7, 'created', '[{\"field\":\"kind_id\",\"old\":null,\"new\":\"1\"},{\"field\":\"price\",\"old\":null,\"new\":\"0.00\"}]', '2026-01-01 00:00:00'),
    (1, 'nomenclatures', 8, 'created', '[{\"field\":\"kind_id\",\"old\":null,\"new\":\"2\"},{\"field\":\"price\",\"old\":null,\"new\":\"0.00\"}]', '2026-01-01 00:00:00'),
    (1, 'nomenclatures', 9, 'created', '[]', '2026-01-01 00:00:00'),
    (1, 'nomenclatures', 9, 'changed', '[{\"field\":\"price\",\"old\":\"5.00\",\"new\":\"0.00\"}]', '2026-01-01 00:00:00'),
    (1, 'nomenclatures', 11, 'created', '[]', '2026-01-01 00:00:00'),
    (1, 'nomenclatures', 12, 'created', '[{\"field\":\"price\",\"old\":null,\"new\":\"0.00\"},{\"field\":\"is_subscription\",\"old\":null,\"new\":\"true\"}]', '2026-01-01 00:00:00');
INSERT INTO subscription_nomenclatures (application_id, nomenclature_id, plan_slug, position, is_active, created_at, updated_at) VALUES
    (1, 11, 'p-11', 1, TRUE, '2026-01-01 00:00:00', '2026-01-01 00:00:00'),
    (1, 12, 'p-12', 2, TRUE, '2026-01-01 00:00:00', '2026-01-01 00:00:00');
INSERT INTO storefront_offers (application_id, nomenclature_id, category_id, name_key, price, popularity, kind_id, name)
SELECT 1, id, 1, 'n', price, 0, kind_id, 'N' FROM nomenclatures WHERE id <= 10;
INSERT INTO offer_counts (application_id, category_id, slot, total) VALUES (1, 0, 0, 10), (1, 1, 0, 10);
";

/// Without the pools: the tables that they write at a commit do not exist yet.
fn fill(db: &TestDatabase) {
    match db.url() {
        DatabaseUrl::Sqlite(path) => {
            SqliteConnection::establish(&path.to_string_lossy()).unwrap().batch_execute(BEFORE).unwrap();
        }
        DatabaseUrl::Postgres(url) => PgConnection::establish(&url).unwrap().batch_execute(BEFORE).unwrap(),
    }
}

database_tests! {
    async fn a_sheet_makes_no_service_and_no_plan_without_a_price(db: TestDatabase) {
        let house = StockFixture::open(&db).await;
        let text = "article;name;kind;is_subscription;billing_period_months;price\n\
            S;Service;service;;;\nP;Plan;goods;1;1;\nG;Goods;goods;;;\nF;Free;service;;;0\n";
        let problems = refused(import(&house, text, ImportMode::AllOrNothing).await);
        assert_eq!(reasons(&problems), [(2, "price"), (3, "price")]);
        assert_eq!(counts(&import(&house, text, ImportMode::Partial).await.unwrap()), [2, 0, 0, 2]);
        let prices: Vec<i64> = house.offers().await.into_iter().map(|offer| offer.2).collect();
        assert_eq!(prices, [0, 0], "the service whose price of 0 was written, in both applications");
        let problems = refused(import(&house, "article;kind\nG;service\n", ImportMode::AllOrNothing).await);
        assert_eq!(reasons(&problems), [(2, "price")]);
    }

    async fn stock_without_a_price_gives_nothing_away(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let house = &counter.house;
        let cards = "article;name;category;price\nNONE;Mug;All;\nZERO;Cup;All;0\nFIVE;Jug;All;5\n";
        import(house, cards, ImportMode::AllOrNothing).await.unwrap();
        let stock = "article;warehouse;quantity\nNONE;W1;5\nZERO;W1;5\nFIVE;W1;5\n";
        let problems = refused(upload(house, stock, ImportMode::AllOrNothing).await);
        assert_eq!(reasons(&problems), [(2, "price"), (3, "price")]);
        assert_eq!(counts(&upload(house, stock, ImportMode::Partial).await.unwrap()), [1, 0, 0, 2]);
        assert_eq!(house.offers().await.into_iter().map(|offer| offer.2).collect::<Vec<_>>(), [500]);
        let free = "article;warehouse;quantity;price\nNONE;W1;5;0\n";
        assert_eq!(counts(&upload(house, free, ImportMode::AllOrNothing).await.unwrap()), [1, 0, 0, 0]);
        let id = house.number("SELECT id AS number FROM nomenclatures WHERE article = 'NONE'".to_owned()).await;
        assert_eq!(counter.placed(&counter.command(&[(id, 5)])).await.final_price, Money::ZERO, "0 was written");
    }

    async fn what_lacks_a_price_is_not_sold_until_it_gets_one(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let house = &counter.house;
        let (mug, dear) = (counter.goods("Mug", 5, 0).await, counter.goods("Vase", 5, 900).await);
        let service = house.item(crate::storehouse::Item { kind: 1, category: None, ..crate::storehouse::Item::goods("Engraving", 0) }).await;
        house.run(format!("UPDATE inventories SET price = NULL WHERE nomenclature_id = {mug}; UPDATE nomenclatures SET price = NULL WHERE id = {service}")).await;
        db.database.rebuild_offers().await.unwrap();
        let shown = async || house.offers().await.into_iter().map(|(_, item, price)| (item, price)).collect::<Vec<_>>();
        assert_eq!(shown().await, [(dear, 900)]);
        for item in [mug, service] {
            assert!(counter.place(&counter.command(&[(item, 5)])).await.is_err(), "{item}");
        }

        let id = InventoryId::new(house.number(format!("SELECT id AS number FROM inventories WHERE nomenclature_id = {mug}")).await).unwrap();
        let other = InventoryId::new(house.number(format!("SELECT id AS number FROM inventories WHERE nomenclature_id = {dear}")).await).unwrap();
        let none = InventoryRepository::find(&db.database, id).await.unwrap().unwrap().within(house.project).unwrap();
        assert_eq!(none.price, None);
        for (sort, expected) in [(Sort::ascending("price"), [id, other]), (Sort::descending("price"), [other, id])] {
            let listed = InventoryRepository::list(&db.database, house.project, sorted(sort)).await.unwrap();
            assert_eq!(listed.items.iter().map(|stock| stock.id).collect::<Vec<_>>(), expected, "no price comes before all prices");
        }
        let pieces = StockChange { quantity: Edit::Set(StockLevel::new(7).unwrap()), price: Edit::Keep };
        assert_eq!(db.database.set_stock(clerk(house.project), id, pieces).await.unwrap().price, None);
        let price = StockChange { quantity: Edit::Keep, price: Edit::Set(Money::ZERO) };
        assert_eq!(db.database.set_stock(clerk(house.project), id, price).await.unwrap().price, Some(Money::ZERO));
        let lines = InventoryRepository::history(&db.database, house.project, id, page(1, 1)).await.unwrap().items;
        assert_eq!((lines[0].line.changes.len(), lines[0].line.changes[0].new.as_deref()), (1, Some("0.00")));

        let card = NomenclatureRepository::find(&db.database, item(service)).await.unwrap().unwrap().within(house.project).unwrap();
        let change = CardChange { price: Edit::Set(Money::ZERO), ..CardChange::default() };
        let priced = change.apply(card.card.clone()).unwrap();
        NomenclatureRepository::replace(&db.database, system(house.project), card, priced).await.unwrap();
        let free = shown().await;
        assert_eq!(free.iter().filter(|(_, price)| *price == 0).count(), 3, "the mug in one application, the service in both: {free:?}");
        assert_eq!(counter.placed(&counter.command(&[(mug, 5), (service, 1)])).await.final_price, Money::ZERO);
        assert_eq!(differences(&db).await, []);
    }

    async fn a_price_that_comes_with_a_sheet_is_a_change_of_old_stock(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let house = &counter.house;
        let mug = counter.goods("Mug", 0, 0).await;
        house.run(format!("UPDATE nomenclatures SET article = 'M' WHERE id = {mug}; UPDATE inventories SET price = NULL")).await;
        let stamp = "article;warehouse;quantity;price\nM;W1;;\n";
        assert_eq!(counts(&upload(house, stamp, ImportMode::AllOrNothing).await.unwrap()), [0, 0, 1, 0], "goes on without a price");
        let id = InventoryId::new(house.number("SELECT id AS number FROM inventories".to_owned()).await).unwrap();
        house.run(format!("INSERT INTO stock_movements (project_id, inventory_id, nomenclature_id, warehouse_id, quantity, reserved, \
            quantity_after, reserved_after, reason, actor, created_at) SELECT project_id, id, nomenclature_id, warehouse_id, 0, 0, 0, 0, \
            'opening', 'system', created_at FROM inventories WHERE id = {id}")).await;
        let report = upload(house, "article;warehouse;price\nM;W1;5\n", ImportMode::AllOrNothing).await.unwrap();
        assert_eq!(counts(&report), [0, 1, 0, 0]);
        let lines = InventoryRepository::history(&db.database, house.project, id, page(1, 1)).await.unwrap().items;
        assert_eq!(lines[0].line.action, HistoryAction::Changed);
        assert_eq!(lines[0].line.changes.iter().map(|change| change.field.as_str()).collect::<Vec<_>>(), ["price"]);
    }

    async fn an_upgrade_takes_no_unwritten_price_for_0(db: TestDatabase) {
        while db.database.revert(1).unwrap()[0] != PRICES {}
        fill(&db);
        db.database.migrate().unwrap();
        let written = |ids: Vec<i64>| ids.into_iter().map(|id| (id, Some(0))).collect::<Vec<_>>();
        let first = ProjectId::new(1).unwrap();
        let mut kept = Vec::new();
        for id in 1..=12 {
            let card = NomenclatureRepository::find(&db.database, item(id)).await.unwrap().unwrap().within(first).unwrap().card;
            kept.push((id, card.price.map(Money::minor)));
        }
        assert_eq!(kept.iter().copied().filter(|(_, price)| *price == Some(0)).collect::<Vec<_>>(), written(vec![2, 7, 9, 12]));
        assert_eq!(kept.iter().copied().filter(|(_, price)| *price == Some(700)).count(), 2);
        let mut stock = Vec::new();
        for id in 1..=6 {
            let record = InventoryRepository::find(&db.database, InventoryId::new(id).unwrap()).await.unwrap().unwrap().within(first).unwrap();
            stock.push(record.price.map(Money::minor));
        }
        assert_eq!(stock, [None, Some(0), Some(0), None, Some(700), Some(300)]);
        let app = AppScope {
            project_id: first,
            application_id: ApplicationId::new(1).unwrap(),
            wholesale: false,
        };
        let plans = db.database.plans(app).await.unwrap();
        // One plan has no price, and a free plan cannot be sold by a checkout.
        assert!(plans.is_empty(), "{plans:?}");
        let shown = crate::storehouse::offers(&db).await;
        assert_eq!(shown, [(1, 2, 0), (1, 3, 0), (1, 4, 300), (1, 5, 700), (1, 7, 0), (1, 9, 0), (1, 10, 700)]);
        assert_eq!(differences(&db).await, []);
    }
}
