//! Items, stock and offers.

use kontor_catalog::model::*;
use kontor_catalog::ports::*;
use kontor_catalog::spreadsheet::ImportMode;
use kontor_catalog::storefront::ports::Favourites;
use kontor_kernel::*;

use super::scenarios;
use crate::catalog::records::*;
use crate::fixtures;
use crate::import::{import, upload};
use crate::orders::shop::ShopFixture;
use crate::stock_fixture::StockFixture;

scenarios! {
    async fn card_written(db, run) {
        let project = fixtures::project(db).await;
        let category_id = Some(category(db, project, "Tea").await.id);
        run.begin(db);
        let cards: &dyn NomenclatureRepository = &db.database;
        let card = run.step("insert", async || cards.insert(system(project), goods("Tea")).await).await;
        let changed = Card { category_id, ..card.card.clone() };
        run.step("replace", async || cards.replace(system(project), card.clone(), changed.clone()).await).await;
    }

    async fn category_moved(db, run) {
        let project = fixtures::project(db).await;
        let (tea, green) = (category(db, project, "Tea").await, category(db, project, "Green").await);
        let card = Card { category_id: Some(green.id), ..goods("Sencha") };
        let sold = item(db, project, card).await;
        stock(db, project, sold.id, 5).await;
        run.begin(db);
        let change = CategoryChange { parent_id: Edit::Set(Some(tea.id)), ..CategoryChange::default() };
        run.step("move", async || CategoryRepository::update(&db.database, system(project), green.id, change.clone()).await).await;
    }

    async fn shown_in_another_order(db, run) {
        let project = fixtures::project(db).await;
        let branch = branch(db, project).await;
        let site = application(db, project, branch, "Site").await;
        let mut last = None;
        for title in ["A", "B"] {
            let one = category(db, project, title).await.id;
            AssortmentRepository::<Category>::assign(&db.database, system(project), site, one).await.unwrap();
            last = Some(one);
        }
        run.begin(db);
        let shown: &dyn AssortmentRepository<Category> = &db.database;
        run.step("shift", async || shown.shift(system(project), site, last.unwrap(), MoveDirection::Up).await).await;
        run.step("withdraw", async || shown.withdraw(system(project), site, last.unwrap()).await).await;
    }

    async fn stock_corrected(db, run) {
        let shop = ShopFixture::open(db).await;
        let vase = shop.goods("Vase", 5, 100).await;
        let id = shop.stock_fixture.number(format!("SELECT id AS number FROM inventories WHERE nomenclature_id = {vase}")).await;
        let id = InventoryId::new(id).unwrap();
        run.begin(db);
        let change = StockChange { quantity: Edit::Set(StockLevel::new(0).unwrap()), price: Edit::Set("1.50".parse().unwrap()), comment: None };
        run.step("set", async || db.database.set_stock(seller(shop.stock_fixture.project), id, change.clone()).await).await;
    }

    async fn discount_made(db, run) {
        let project = fixtures::project(db).await;
        run.begin(db);
        let draft = DiscountDraft {
            name: name("Spring"),
            kind: DiscountKind::Percent,
            number: "10".parse().unwrap(),
            status: DiscountStatus::Active,
            rest: DiscountChange::default(),
        };
        let terms = draft.terms().unwrap();
        let discounts: &dyn DiscountRepository = &db.database;
        run.step("insert", async || discounts.insert(system(project), terms.clone(), DiscountStatus::Active).await).await;
    }

    async fn warehouse_deleted(db, run) {
        let shop = ShopFixture::open(db).await;
        shop.goods("Vase", 5, 100).await;
        let (project, far) = (shop.stock_fixture.project, WarehouseId::new(shop.stock_fixture.far).unwrap());
        run.begin(db);
        run.step("delete", async || WarehouseRepository::delete(&db.database, system(project), far).await).await;
    }

    async fn cards_and_stock_imported(db, run) {
        let stock_fixture = StockFixture::open(db).await;
        let (mut cards, mut stock) = ("article;name;kind;category".to_owned(), "article;warehouse;quantity;price".to_owned());
        for number in 0..10 {
            cards.extend(["\nM-", &number.to_string(), ";Mug ", &number.to_string(), ";goods;Kitchen / Mugs"]);
            stock.extend(["\nM-", &number.to_string(), ";W1;", &number.to_string(), ";5.00"]);
        }
        run.begin(db);
        run.step("cards", async || import(&stock_fixture, &cards, ImportMode::AllOrNothing).await).await;
        run.step("stock", async || upload(&stock_fixture, &stock, ImportMode::AllOrNothing).await).await;
    }

    async fn kept_by_a_customer(db, run) {
        let shop = ShopFixture::open(db).await;
        let vase = NomenclatureId::new(shop.goods("Vase", 5, 100).await).unwrap();
        run.begin(db);
        run.step("add", async || db.database.add(shop.customer, vase, NOON).await).await;
        run.step("remove", async || Favourites::remove(&db.database, shop.customer, vase).await).await;
    }

    async fn corrected_by_the_doctor(db, run) {
        let shop = ShopFixture::open(db).await;
        let (vase, cup) = (shop.goods("Vase", 9, 100).await, shop.goods("Cup", 9, 100).await);
        shop.stock_fixture.run(format!("UPDATE inventories SET quantity = 10 WHERE nomenclature_id = {vase}")).await;
        shop.stock_fixture.run(format!("UPDATE storefront_offers SET price = 99 WHERE nomenclature_id = {cup}")).await;
        shop.stock_fixture.run("UPDATE offer_counts SET total = total + 1".to_owned()).await;
        run.begin_mending(db);
        run.steps_of(12, "correct", async || db.database.correct(None, NOON).await).await;
    }

    async fn migrated_from_an_earlier_version(db, run) {
        let shop = ShopFixture::open(db).await;
        let vase = shop.goods("Vase", 9, 100).await;
        shop.placed(&shop.command(&[(vase, 1)])).await;
        db.database.revert(1).unwrap();
        run.begin_mending(db);
        run.steps_of(40, "migrate", async || db.database.migrate()).await;
    }
}
