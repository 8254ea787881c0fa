//! Offers of each application.

use kontor_adapter_diesel::database_tests;

use crate::stock_fixture::{Item, StockFixture};

database_tests! {
    async fn goods_need_a_category_and_stock_in_a_warehouse_of_the_application(db: TestDatabase) {
        let stock_fixture = StockFixture::open(&db).await;
        let category = stock_fixture.category("Mugs", None).await;
        let complete = stock_fixture.item(Item::goods("Mug", category)).await;
        let without_stock = stock_fixture.item(Item::goods("Cup", category)).await;
        let without_category = stock_fixture.item(Item { category: None, ..Item::goods("Jug", category) }).await;
        stock_fixture.stock(stock_fixture.near, complete, 3, 500).await;
        stock_fixture.stock(stock_fixture.near, without_stock, 0, 500).await;
        stock_fixture.stock(stock_fixture.near, without_category, 3, 500).await;
        db.database.rebuild_offers().await.unwrap();
        assert_eq!(stock_fixture.offers().await, vec![(stock_fixture.first.application_id.get(), complete, 500)]);
    }

    async fn the_lowest_price_among_warehouses_with_unreserved_stock_counts(db: TestDatabase) {
        let stock_fixture = StockFixture::open(&db).await;
        let category = stock_fixture.category("Mugs", None).await;
        let mug = stock_fixture.item(Item::goods("Mug", category)).await;
        stock_fixture.stock(stock_fixture.near, mug, 3, 500).await;
        stock_fixture.stock(stock_fixture.far, mug, 3, 700).await;
        db.database.rebuild_offers().await.unwrap();
        let (one, two) = (stock_fixture.first.application_id.get(), stock_fixture.second.application_id.get());
        assert_eq!(stock_fixture.offers().await, vec![(one, mug, 500), (two, mug, 700)]);

        stock_fixture.run(format!("UPDATE inventories SET reserved = quantity WHERE warehouse_id = {}", stock_fixture.near)).await;
        assert_eq!(db.database.reconcile_offers().await.unwrap(), 1);
        assert_eq!(stock_fixture.offers().await, vec![(one, mug, 700), (two, mug, 700)]);

        stock_fixture.run("UPDATE inventories SET reserved = quantity".to_owned()).await;
        assert_eq!(db.database.reconcile_offers().await.unwrap(), 1);
        assert!(stock_fixture.offers().await.is_empty());

        stock_fixture.run(format!("UPDATE inventories SET reserved = 0 WHERE warehouse_id = {}", stock_fixture.far)).await;
        assert_eq!(db.database.reconcile_offers().await.unwrap(), 1);
        assert_eq!(stock_fixture.offers().await, vec![(one, mug, 700), (two, mug, 700)]);
    }

    async fn a_plain_change_of_stock_leaves_the_offer_alone(db: TestDatabase) {
        let stock_fixture = StockFixture::open(&db).await;
        let category = stock_fixture.category("Mugs", None).await;
        let mug = stock_fixture.item(Item::goods("Mug", category)).await;
        stock_fixture.stock(stock_fixture.near, mug, 3, 500).await;
        db.database.rebuild_offers().await.unwrap();
        stock_fixture.run("UPDATE inventories SET reserved = 2".to_owned()).await;
        assert_eq!(db.database.reconcile_offers().await.unwrap(), 0);
    }

    async fn services_are_shown_everywhere_at_the_price_of_the_card_and_plans_nowhere(db: TestDatabase) {
        let stock_fixture = StockFixture::open(&db).await;
        let other = StockFixture::open(&db).await;
        let service = Item { kind: 1, category: None, price: 900, views: 7, ..Item::goods("Engraving", 1) };
        let engraving = stock_fixture.item(service).await;
        let plan = stock_fixture.item(service).await;
        stock_fixture.run(format!("UPDATE nomenclatures SET is_subscription = TRUE WHERE id = {plan}")).await;
        db.database.rebuild_offers().await.unwrap();
        let (one, two) = (stock_fixture.first.application_id.get(), stock_fixture.second.application_id.get());
        assert_eq!(stock_fixture.offers().await, vec![(one, engraving, 900), (two, engraving, 900)]);
        assert_eq!(stock_fixture.number("SELECT max(popularity) AS number FROM storefront_offers".to_owned()).await, 7);
        assert_ne!(other.project, stock_fixture.project);
    }

    async fn more_items_than_one_statement_takes(db: TestDatabase) {
        let stock_fixture = StockFixture::open(&db).await;
        let category = stock_fixture.category("Mugs", None).await;
        stock_fixture.item(Item::goods("Mug", category)).await;
        let p = stock_fixture.project;
        stock_fixture.run(format!(
            "INSERT INTO nomenclatures (project_id, name, name_key, kind_id, category_id, price, is_subscription, wholesale, \
             pieces_per_pack, quantity_pack, views_count, version, created_at, updated_at) \
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200) \
             SELECT {p}, 'M', 'm', 2, {category}, 0, FALSE, FALSE, 1, 1, 0, 1, created_at, created_at FROM n, projects \
             WHERE id = {p}"
        )).await;
        stock_fixture.run(format!(
            "INSERT INTO inventories (project_id, warehouse_id, nomenclature_id, quantity, reserved, price, created_at, \
             updated_at) SELECT {p}, {}, id, 1, 0, 10, created_at, created_at FROM nomenclatures",
            stock_fixture.near
        )).await;
        assert_eq!(db.database.rebuild_offers().await.unwrap(), 1201);
        assert_eq!(stock_fixture.offers().await.len(), 1201);
        assert_eq!(db.database.reconcile_offers().await.unwrap(), 0);
    }
}
