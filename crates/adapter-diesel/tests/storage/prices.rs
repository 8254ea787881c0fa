//! Items without a price are not sold, regardless of their source.

use kontor_adapter_diesel::database_tests;
use kontor_catalog::model::{CardChange, Edit, StockChange, StockLevel};
use kontor_catalog::ports::{InventoryRepository, NomenclatureRepository};
use kontor_catalog::spreadsheet::ImportMode;
use kontor_kernel::history::HistoryAction;
use kontor_kernel::listing::Sort;
use kontor_kernel::*;

use crate::catalog::records::{page, seller, sorted, system};
use crate::import::{counts, import, reasons, refused, upload};
use crate::orders::shop::ShopFixture;
use crate::stock::books::differences;
use crate::stock_fixture::StockFixture;

fn item(id: i64) -> NomenclatureId {
    NomenclatureId::new(id).unwrap()
}

database_tests! {
    async fn a_sheet_makes_no_service_and_no_plan_without_a_price(db: TestDatabase) {
        let stock_fixture = StockFixture::open(&db).await;
        let text = "article;name;kind;is_subscription;billing_period_months;price\n\
            S;Service;service;;;\nP;Plan;goods;1;1;\nG;Goods;goods;;;\nF;Free;service;;;0\n";
        let problems = refused(import(&stock_fixture, text, ImportMode::AllOrNothing).await);
        assert_eq!(reasons(&problems), [(2, "price"), (3, "price")]);
        assert_eq!(counts(&import(&stock_fixture, text, ImportMode::Partial).await.unwrap()), [2, 0, 0, 2]);
        let prices: Vec<i64> = stock_fixture.offers().await.into_iter().map(|offer| offer.2).collect();
        assert_eq!(prices, [0, 0], "the service whose price of 0 was written, in both applications");
        let problems = refused(import(&stock_fixture, "article;kind\nG;service\n", ImportMode::AllOrNothing).await);
        assert_eq!(reasons(&problems), [(2, "price")]);
    }

    async fn stock_without_a_price_gives_nothing_away(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let stock_fixture = &shop.stock_fixture;
        let cards = "article;name;category;price\nNONE;Mug;All;\nZERO;Cup;All;0\nFIVE;Jug;All;5\n";
        import(stock_fixture, cards, ImportMode::AllOrNothing).await.unwrap();
        let stock = "article;warehouse;quantity\nNONE;W1;5\nZERO;W1;5\nFIVE;W1;5\n";
        let problems = refused(upload(stock_fixture, stock, ImportMode::AllOrNothing).await);
        assert_eq!(reasons(&problems), [(2, "price"), (3, "price")]);
        assert_eq!(counts(&upload(stock_fixture, stock, ImportMode::Partial).await.unwrap()), [1, 0, 0, 2]);
        assert_eq!(stock_fixture.offers().await.into_iter().map(|offer| offer.2).collect::<Vec<_>>(), [500]);
        let free = "article;warehouse;quantity;price\nNONE;W1;5;0\n";
        assert_eq!(counts(&upload(stock_fixture, free, ImportMode::AllOrNothing).await.unwrap()), [1, 0, 0, 0]);
        let id = stock_fixture.number("SELECT id AS number FROM nomenclatures WHERE article = 'NONE'".to_owned()).await;
        assert_eq!(shop.placed(&shop.command(&[(id, 5)])).await.final_price, Money::ZERO, "0 was written");
    }

    async fn items_without_a_price_are_not_sold_until_they_get_one(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let stock_fixture = &shop.stock_fixture;
        let (mug, dear) = (shop.goods("Mug", 5, 0).await, shop.goods("Vase", 5, 900).await);
        let service = stock_fixture.item(crate::stock_fixture::Item { kind: 1, category: None, ..crate::stock_fixture::Item::goods("Engraving", 0) }).await;
        stock_fixture.run(format!("UPDATE inventories SET price = NULL WHERE nomenclature_id = {mug}; UPDATE nomenclatures SET price = NULL WHERE id = {service}")).await;
        db.database.rebuild_offers().await.unwrap();
        let shown = async || stock_fixture.offers().await.into_iter().map(|(_, item, price)| (item, price)).collect::<Vec<_>>();
        assert_eq!(shown().await, [(dear, 900)]);
        for item in [mug, service] {
            assert!(shop.place(&shop.command(&[(item, 5)])).await.is_err(), "{item}");
        }

        let id = InventoryId::new(stock_fixture.number(format!("SELECT id AS number FROM inventories WHERE nomenclature_id = {mug}")).await).unwrap();
        let other = InventoryId::new(stock_fixture.number(format!("SELECT id AS number FROM inventories WHERE nomenclature_id = {dear}")).await).unwrap();
        let none = InventoryRepository::find(&db.database, id).await.unwrap().unwrap().within(stock_fixture.project).unwrap();
        assert_eq!(none.price, None);
        for (sort, expected) in [(Sort::ascending("price"), [id, other]), (Sort::descending("price"), [other, id])] {
            let listed = InventoryRepository::list(&db.database, stock_fixture.project, sorted(sort)).await.unwrap();
            assert_eq!(listed.items.iter().map(|stock| stock.id).collect::<Vec<_>>(), expected, "no price comes before all prices");
        }
        let pieces = StockChange { quantity: Edit::Set(StockLevel::new(7).unwrap()), price: Edit::Keep, comment: None };
        assert_eq!(db.database.set_stock(seller(stock_fixture.project), id, pieces).await.unwrap().price, None);
        let price = StockChange { quantity: Edit::Keep, price: Edit::Set(Money::ZERO), comment: None };
        assert_eq!(db.database.set_stock(seller(stock_fixture.project), id, price).await.unwrap().price, Some(Money::ZERO));
        let lines = InventoryRepository::history(&db.database, stock_fixture.project, id, page(1, 1)).await.unwrap().items;
        assert_eq!((lines[0].line.changes.len(), lines[0].line.changes[0].new.as_deref()), (1, Some("0.00")));

        let card = NomenclatureRepository::find(&db.database, item(service)).await.unwrap().unwrap().within(stock_fixture.project).unwrap();
        let change = CardChange { price: Edit::Set(Money::ZERO), ..CardChange::default() };
        let priced = change.apply(card.card.clone()).unwrap();
        NomenclatureRepository::replace(&db.database, system(stock_fixture.project), card, priced).await.unwrap();
        let free = shown().await;
        assert_eq!(free.iter().filter(|(_, price)| *price == 0).count(), 3, "the mug in one application, the service in both: {free:?}");
        assert_eq!(shop.placed(&shop.command(&[(mug, 5), (service, 1)])).await.final_price, Money::ZERO);
        assert_eq!(differences(&db).await, []);
    }

    async fn a_price_that_comes_with_a_sheet_is_a_change_of_old_stock(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let stock_fixture = &shop.stock_fixture;
        let mug = shop.goods("Mug", 0, 0).await;
        stock_fixture.run(format!("UPDATE nomenclatures SET article = 'M' WHERE id = {mug}; UPDATE inventories SET price = NULL")).await;
        let stamp = "article;warehouse;quantity;price\nM;W1;;\n";
        assert_eq!(counts(&upload(stock_fixture, stamp, ImportMode::AllOrNothing).await.unwrap()), [0, 0, 1, 0], "goes on without a price");
        let id = InventoryId::new(stock_fixture.number("SELECT id AS number FROM inventories".to_owned()).await).unwrap();
        stock_fixture.run(format!("INSERT INTO stock_movements (project_id, inventory_id, nomenclature_id, warehouse_id, quantity, reserved, \
            quantity_after, reserved_after, reason, actor, created_at) SELECT project_id, id, nomenclature_id, warehouse_id, 0, 0, 0, 0, \
            'opening', 'system', created_at FROM inventories WHERE id = {id}")).await;
        let report = upload(stock_fixture, "article;warehouse;price\nM;W1;5\n", ImportMode::AllOrNothing).await.unwrap();
        assert_eq!(counts(&report), [0, 1, 0, 0]);
        let lines = InventoryRepository::history(&db.database, stock_fixture.project, id, page(1, 1)).await.unwrap().items;
        assert_eq!(lines[0].line.action, HistoryAction::Changed);
        assert_eq!(lines[0].line.changes.iter().map(|change| change.field.as_str()).collect::<Vec<_>>(), ["price"]);
    }
}
