//! The doctor finds the planted differences only.

use chrono::{DateTime, TimeDelta, Utc};
use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::doctor::{Corrected, Difference, ExaminedCounts};

use super::books::{changes, differences, movements};
use crate::orders::shop::ShopFixture;
use crate::stock_fixture::StockFixture;

fn at() -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::days(20_000)
}

fn reported(found: &[Difference]) -> Vec<(&'static str, &'static str, Option<i64>, Option<i64>)> {
    found.iter().map(|one| (one.figure, one.source, one.stored, one.derived)).collect()
}

database_tests! {
    async fn every_planted_difference_is_found(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let (vase, cup) = (shop.goods("Vase", 9, 100).await, shop.goods("Cup", 9, 100).await);
        shop.promo("SPRING", "NULL", "NULL").await;
        shop.placed(&shop.with_promo(&[(vase, 2)], "SPRING")).await;
        assert_eq!(differences(&db).await, []);
        let inventory = shop.stock_fixture.number(format!("SELECT id AS number FROM inventories WHERE nomenclature_id = {vase}")).await;
        let app = shop.stock_fixture.first.application_id.get();
        let off = shop.stock_fixture.number("SELECT used_amount AS number FROM discounts".to_owned()).await;
        for (plant, mend, expected) in [
            (
                format!("UPDATE inventories SET quantity = 10 WHERE id = {inventory}"),
                format!("UPDATE inventories SET quantity = 9 WHERE id = {inventory}"),
                vec![
                    ("inventories.quantity", "stock_movements", Some(10), Some(9)),
                    ("stock_movements.quantity_after", "inventories", Some(9), Some(10)),
                ],
            ),
            (
                format!("UPDATE inventories SET reserved = 1 WHERE id = {inventory}"),
                format!("UPDATE inventories SET reserved = 2 WHERE id = {inventory}"),
                vec![
                    ("inventories.reserved", "stock_movements", Some(1), Some(2)),
                    ("stock_movements.reserved_after", "inventories", Some(2), Some(1)),
                    ("inventories.reserved", "reservations", Some(1), Some(2)),
                ],
            ),
            (
                "UPDATE reservations SET state = 'released'".to_owned(),
                "UPDATE reservations SET state = 'held'".to_owned(),
                vec![("inventories.reserved", "reservations", Some(2), Some(0))],
            ),
            (
                format!("UPDATE stock_movements SET quantity = 4 WHERE inventory_id = {inventory} AND reason = 'correction'"),
                format!("UPDATE stock_movements SET quantity = 9 WHERE inventory_id = {inventory} AND reason = 'correction'"),
                vec![("inventories.quantity", "stock_movements", Some(9), Some(4))],
            ),
            (
                "UPDATE discounts SET used_count = 3".to_owned(),
                "UPDATE discounts SET used_count = 1".to_owned(),
                vec![("discounts.used_count", "discount_usages", Some(3), Some(1))],
            ),
            (
                "UPDATE discounts SET used_amount = used_amount + 5".to_owned(),
                "UPDATE discounts SET used_amount = used_amount - 5".to_owned(),
                vec![("discounts.used_amount", "orders", Some(off + 5), Some(off))],
            ),
            (
                format!("UPDATE nomenclatures SET search_text = ' jug' WHERE id = {cup}"),
                format!("UPDATE nomenclatures SET search_text = ' cup' WHERE id = {cup}"),
                vec![("nomenclatures.search_text", "nomenclatures.name", None, None)],
            ),
            (
                format!("UPDATE offer_counts SET total = total + 2 WHERE application_id = {app} AND category_id <> 0"),
                format!("UPDATE offer_counts SET total = total - 2 WHERE application_id = {app} AND category_id <> 0"),
                vec![("offer_counts.total", "storefront_offers", Some(4), Some(2))],
            ),
            (
                format!("UPDATE storefront_offers SET price = 99 WHERE nomenclature_id = {cup}"),
                format!("UPDATE storefront_offers SET price = 100 WHERE nomenclature_id = {cup}"),
                vec![("storefront_offers.price", "inventories", Some(99), Some(100))],
            ),
            (
                format!("UPDATE warehouse_applications SET application_id = {} WHERE warehouse_id = {} AND application_id = {app}", shop.stock_fixture.second.application_id, shop.stock_fixture.near),
                format!("UPDATE warehouse_applications SET application_id = {app} WHERE warehouse_id = {} ", shop.stock_fixture.near),
                vec![
                    ("storefront_offers.price", "inventories", Some(100), None),
                    ("storefront_offers.price", "inventories", None, Some(100)),
                    ("storefront_offers.price", "inventories", Some(100), None),
                    ("storefront_offers.price", "inventories", None, Some(100)),
                ],
            ),
        ] {
            shop.stock_fixture.run(plant.clone()).await;
            assert_eq!(reported(&differences(&db).await), expected, "{plant}");
            shop.stock_fixture.run(mend).await;
            assert_eq!(differences(&db).await, [], "{plant}");
        }
    }

    async fn one_project_is_examined_without_the_others(db: TestDatabase) {
        let (sound, broken) = (StockFixture::open(&db).await, StockFixture::open(&db).await);
        for stock_fixture in [&sound, &broken] {
            let category = stock_fixture.category("All", None).await;
            let item = stock_fixture.item(crate::stock_fixture::Item::goods("Mug", category)).await;
            stock_fixture.stock(stock_fixture.near, item, 3, 500).await;
        }
        db.database.rebuild_offers().await.unwrap();
        broken.run(format!("UPDATE inventories SET quantity = 4 WHERE project_id = {}", broken.project)).await;
        let mut found = Vec::new();
        let examined = db.database.examine(Some(sound.project), |one| found.push(one)).await.unwrap();
        assert_eq!((examined, found.len()), (ExaminedCounts { inventories: 1, discounts: 0, items: 1, applications: 2, orders: 0, differences: 0 }, 0));
        let examined = db.database.examine(Some(broken.project), |one| found.push(one)).await.unwrap();
        assert_eq!((examined.differences, found[0].project_id), (2, broken.project.get()));
    }

    async fn many_records_are_examined_to_the_last(db: TestDatabase) {
        let stock_fixture = StockFixture::open(&db).await;
        let category = stock_fixture.category("All", None).await;
        let last = "SELECT max(id) AS number FROM";
        for _ in 0..3 {
            stock_fixture.item(crate::stock_fixture::Item::goods("Mug", category)).await;
        }
        for _ in 0..8 {
            stock_fixture.run("INSERT INTO nomenclatures (project_id, name, name_key, kind_id, category_id, price, is_subscription, \
                wholesale, pieces_per_pack, quantity_pack, views_count, version, created_at, updated_at) \
                SELECT project_id, name, name_key, kind_id, category_id, price, is_subscription, wholesale, pieces_per_pack, \
                quantity_pack, views_count, version, created_at, updated_at FROM nomenclatures".to_owned()).await;
        }
        stock_fixture.run(format!("INSERT INTO inventories (project_id, warehouse_id, nomenclature_id, quantity, reserved, price, \
            created_at, updated_at) SELECT project_id, {}, id, 5, 0, 100, created_at, updated_at FROM nomenclatures", stock_fixture.near)).await;
        assert_eq!(db.database.correct_ledger(None, at()).await.unwrap(), 768);
        assert_eq!(db.database.correct_ledger(None, at()).await.unwrap(), 0);
        db.database.rebuild_offers().await.unwrap();
        assert_eq!(differences(&db).await, []);
        stock_fixture.run(format!("UPDATE inventories SET quantity = 6 WHERE id = ({last} inventories)").replace(" AS number", "")).await;
        let item = stock_fixture.number(format!("{last} nomenclatures")).await;
        stock_fixture.run(format!("DELETE FROM storefront_offers WHERE nomenclature_id = {item}")).await;
        let found = differences(&db).await;
        assert_eq!(reported(&found)[2..], [
            ("storefront_offers.price", "inventories", None, Some(100)),
            ("offer_counts.total", "storefront_offers", Some(768), Some(767)),
            ("offer_counts.total", "storefront_offers", Some(768), Some(767)),
        ]);
        assert_eq!(found.len(), 5);
    }

    async fn differences_are_corrected_by_movements_and_by_recomputing(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let (vase, cup) = (shop.goods("Vase", 9, 100).await, shop.goods("Cup", 9, 100).await);
        shop.promo("SPRING", "NULL", "NULL").await;
        shop.placed(&shop.with_promo(&[(vase, 2)], "SPRING")).await;
        let before = movements(&db, vase).await.len();
        for plant in [
            format!("UPDATE inventories SET quantity = 12, reserved = 5 WHERE nomenclature_id = {vase}"),
            format!("UPDATE inventories SET quantity = 0 WHERE nomenclature_id = {cup}"),
            "UPDATE discounts SET used_count = 3, used_amount = 7".to_owned(),
            format!("UPDATE nomenclatures SET search_text = NULL WHERE id = {cup}"),
            "UPDATE offer_counts SET total = total + 3".to_owned(),
            "DELETE FROM offer_counts WHERE category_id = 0".to_owned(),
        ] {
            shop.stock_fixture.run(plant).await;
        }
        assert!(differences(&db).await.len() > 8);
        let corrected = db.database.correct(None, at()).await.unwrap();
        let Corrected { inventories, discounts, words, items, counts } = corrected;
        assert_eq!((inventories, discounts, words, items), (2, 1, 1, 1));
        assert!(counts >= 2, "{counts}");
        assert_eq!(differences(&db).await, []);
        assert_eq!(db.database.correct(None, at()).await.unwrap(), Corrected::default(), "nothing is left to do");

        let all = movements(&db, vase).await;
        assert_eq!(all.len(), before + 1);
        let last = all.last().unwrap();
        assert_eq!((last.reason.as_str(), last.actor.as_str(), last.actor_id, last.source_id), ("correction", "system", None, None));
        assert_eq!((last.quantity, last.reserved, last.quantity_after, last.reserved_after), (3, 0, 12, 2));
        assert_eq!(changes(&db, cup).await.last(), Some(&("correction".to_owned(), -9, 0)));
        let shown = format!("SELECT count(*) AS number FROM storefront_offers WHERE nomenclature_id = {cup}");
        assert_eq!(shop.stock_fixture.number(shown).await, 0, "what is gone is sold no more");
    }

    async fn uncorrectable_differences_stay_and_are_reported(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let vase = shop.goods("Vase", 9, 100).await;
        shop.placed(&shop.command(&[(vase, 2)])).await;
        shop.stock_fixture.run(format!("UPDATE inventories SET quantity = 1, reserved = 0 WHERE nomenclature_id = {vase}")).await;
        db.database.correct(None, at()).await.unwrap();
        let expected = [("inventories.reserved", "reservations", Some(0), Some(2))];
        assert_eq!(reported(&differences(&db).await), expected, "two pieces are claimed of the one that is there");
        shop.stock_fixture.run(format!("UPDATE inventories SET quantity = 4 WHERE nomenclature_id = {vase}")).await;
        db.database.correct(None, at()).await.unwrap();
        assert_eq!(differences(&db).await, []);
    }

    async fn one_project_is_put_right_without_the_others(db: TestDatabase) {
        let (one, other) = (StockFixture::open(&db).await, StockFixture::open(&db).await);
        for stock_fixture in [&one, &other] {
            let category = stock_fixture.category("All", None).await;
            let item = stock_fixture.item(crate::stock_fixture::Item::goods("Mug", category)).await;
            stock_fixture.stock(stock_fixture.near, item, 3, 500).await;
        }
        db.database.rebuild_offers().await.unwrap();
        one.run("UPDATE inventories SET quantity = 4".to_owned()).await;
        one.run("UPDATE offer_counts SET total = 9".to_owned()).await;
        let corrected = db.database.correct(Some(one.project), at()).await.unwrap();
        assert_eq!(corrected.inventories, 1);
        let found = differences(&db).await;
        assert!(!found.is_empty() && found.iter().all(|one| one.project_id == other.project.get()), "{found:?}");
    }

    async fn orders_and_corrections_do_not_disturb_each_other(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let vase = shop.goods("Vase", 500, 100).await;
        shop.stock_fixture.run(format!("UPDATE inventories SET quantity = 600 WHERE nomenclature_id = {vase}")).await;
        let doctors = async {
            for _ in 0..10 {
                db.database.correct(None, at()).await.unwrap();
            }
        };
        let orders = async {
            for _ in 0..10 {
                shop.placed(&shop.command(&[(vase, 3)])).await;
            }
        };
        tokio::join!(doctors, orders);
        assert_eq!(differences(&db).await, []);
        assert_eq!(shop.stock_fixture.number("SELECT quantity AS number FROM inventories".to_owned()).await, 600);
        assert_eq!(shop.stock_fixture.number("SELECT reserved AS number FROM inventories".to_owned()).await, 30);
    }
}
