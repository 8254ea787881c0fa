//! Storefront for customers.

use chrono::{DateTime, TimeDelta, Utc};
use kontor_adapter_diesel::database_tests;
use kontor_catalog::model::PhotoUrl;
use kontor_catalog::storefront::ports::{StorefrontReader, ViewCounter};
use kontor_catalog::storefront::{PriceRange, ProductFilter, ProductOrder};
use kontor_kernel::{AppScope, BrandId, CategoryId, CountryId, Line, Money, NomenclatureId, PageRequest, TagId};

use crate::stock_fixture::{Item, StockFixture};

fn at() -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::days(20_000)
}

fn page(page: i64, per_page: i64) -> PageRequest {
    PageRequest::new(page, per_page, 100).unwrap()
}

fn money(minor: i64) -> Money {
    Money::from_minor(minor).unwrap()
}

fn about(query: &str) -> ProductFilter {
    ProductFilter { query: Some(Line::parse(query).unwrap()), ..ProductFilter::default() }
}

/// Five products: mugs at 500, 300 and 700, a plate at 400, engraving at 900.
struct Shop<'a> {
    stock_fixture: StockFixture<'a>,
    mugs: i64,
    plates: i64,
    brand: i64,
    items: [i64; 5],
}

impl<'a> Shop<'a> {
    async fn open(db: &'a TestDatabase) -> Self {
        let stock_fixture = StockFixture::open(db).await;
        let kitchen = stock_fixture.category("Kitchen", None).await;
        let mugs = stock_fixture.category("Mugs", Some(kitchen)).await;
        let plates = stock_fixture.category("Plates", Some(kitchen)).await;
        let brand = stock_fixture.brand("Nord").await;
        let goods = |name, category| Item::goods(name, category);
        let items = [
            stock_fixture.item(Item { article: Some("MUG-01"), views: 3, ..goods("Кружка Ёлка", mugs) }).await,
            stock_fixture
                .item(Item { article: Some("КР_2"), brand: Some(brand), views: 9, ..goods("кружка", mugs) })
                .await,
            stock_fixture.item(Item { views: 1, ..goods("Mug 100%", mugs) }).await,
            stock_fixture.item(Item { brand: Some(brand), ..goods("Plate", plates) }).await,
            stock_fixture
                .item(Item { kind: 1, category: None, price: 900, views: 5, ..goods("Engraving", mugs) })
                .await,
        ];
        for (item, price) in items.iter().zip([500, 300, 700, 400]) {
            stock_fixture.stock(stock_fixture.near, *item, 2, price).await;
        }
        db.database.rebuild_offers().await.unwrap();
        Self { stock_fixture, mugs, plates, brand, items }
    }

    fn app(&self) -> AppScope {
        self.stock_fixture.first
    }

    async fn ids(&self, filter: ProductFilter, order: Option<ProductOrder>) -> Vec<usize> {
        let found = self
            .stock_fixture
            .db
            .database
            .products(self.app().into(), filter, order, page(1, 100), at())
            .await
            .unwrap();
        assert_eq!(found.total, u64::try_from(found.items.len()).unwrap());
        found.items.iter().map(|product| self.items.iter().position(|id| *id == product.id.get()).unwrap()).collect()
    }

    async fn range(&self, filter: ProductFilter) -> Option<(i64, i64)> {
        let range: Option<PriceRange> =
            self.stock_fixture.db.database.price_range(self.app(), filter, at()).await.unwrap();
        range.map(|range| (range.lowest.minor(), range.highest.minor()))
    }

    async fn discount(&self, kind: &str, value: i64, target: &str, target_id: i64, rest: &str) {
        self.stock_fixture
            .run(format!(
                "INSERT INTO discounts (project_id, name, kind, value, target, target_id, minimum_sum, used_count, status, \
                 created_at, updated_at) VALUES ({}, 'Sale', '{kind}', {value}, '{target}', {target_id}, 0, 0, 'active', \
                 '2026-01-01 00:00:00', '2026-01-01 00:00:00'); {rest}",
                self.stock_fixture.project
            ))
            .await;
    }
}

fn category(id: i64) -> ProductFilter {
    ProductFilter { category_ids: vec![CategoryId::new(id).unwrap()], ..ProductFilter::default() }
}

use kontor_adapter_diesel::testing::TestDatabase;

database_tests! {
    async fn every_order_sorts(db: TestDatabase) {
        let shop = Shop::open(&db).await;
        let expected: [(ProductOrder, [usize; 5]); 6] = [
            (ProductOrder::NameAscending, [4, 2, 3, 1, 0]),
            (ProductOrder::NameDescending, [0, 1, 3, 2, 4]),
            (ProductOrder::PopularityAscending, [3, 2, 0, 4, 1]),
            (ProductOrder::PopularityDescending, [1, 4, 0, 2, 3]),
            (ProductOrder::PriceAscending, [1, 3, 0, 2, 4]),
            (ProductOrder::PriceDescending, [4, 2, 0, 3, 1]),
        ];
        for (order, items) in expected {
            assert_eq!(shop.ids(ProductFilter::default(), Some(order)).await, items, "{order:?}");
        }
        assert_eq!(shop.ids(ProductFilter::default(), None).await, [0, 1, 2, 3, 4]);
    }

    async fn a_search_finds_parts_of_names_and_articles_in_any_case(db: TestDatabase) {
        let shop = Shop::open(&db).await;
        let cases: [(&str, &[usize]); 9] = [
            ("КРУЖ", &[1, 0]), ("ёлк", &[0]), ("mug", &[2, 0]), ("mUg-01", &[0]), ("кр_2", &[1]), ("100%", &[2]), ("0%", &[0]), ("%", &[]),
            ("\\", &[]),
        ];
        for (query, items) in cases {
            assert_eq!(shop.ids(about(query), None).await, items, "{query}");
        }
    }

    async fn filters_narrow_the_list_together(db: TestDatabase) {
        let shop = Shop::open(&db).await;
        shop.stock_fixture.run(format!(
            "INSERT INTO countries (id, name, created_at) VALUES (9001, 'Norway', '2026-01-01 00:00:00'); \
             INSERT INTO tags (id, project_id, name, created_at) VALUES (1, {}, 'New', '2026-01-01 00:00:00'); \
             INSERT INTO nomenclature_tags (project_id, nomenclature_id, tag_id) VALUES ({}, {}, 1); \
             UPDATE nomenclatures SET country_id = 9001 WHERE id = {}",
            shop.stock_fixture.project, shop.stock_fixture.project, shop.items[2], shop.items[3]
        )).await;
        db.database.rebuild_offers().await.unwrap();
        assert_eq!(shop.ids(category(shop.mugs), None).await, [0, 1, 2]);
        let both = vec![CategoryId::new(shop.mugs).unwrap(), CategoryId::new(shop.plates).unwrap()];
        assert_eq!(shop.ids(ProductFilter { category_ids: both, ..ProductFilter::default() }, None).await, [0, 1, 2, 3]);
        let brand_ids = vec![BrandId::new(shop.brand).unwrap()];
        assert_eq!(shop.ids(ProductFilter { brand_ids: brand_ids.clone(), ..ProductFilter::default() }, None).await, [1, 3]);
        assert_eq!(shop.ids(ProductFilter { brand_ids, ..category(shop.mugs) }, None).await, [1]);
        let tag_ids = vec![TagId::new(1).unwrap()];
        assert_eq!(shop.ids(ProductFilter { tag_ids, ..ProductFilter::default() }, None).await, [2]);
        let country_ids = vec![CountryId::new(9001).unwrap()];
        assert_eq!(shop.ids(ProductFilter { country_ids, ..ProductFilter::default() }, None).await, [3]);
        let between = ProductFilter { price_from: Some(money(400)), price_to: Some(money(500)), ..ProductFilter::default() };
        assert_eq!(shop.ids(between.clone(), None).await, [0, 3]);
        assert_eq!(shop.range(between).await, Some((400, 500)));
        assert_eq!(shop.range(ProductFilter::default()).await, Some((300, 900)));
        assert_eq!(shop.range(about("nothing")).await, None);
    }

    async fn pages_know_the_whole_and_applications_see_their_own(db: TestDatabase) {
        let shop = Shop::open(&db).await;
        let order = Some(ProductOrder::PriceAscending);
        let second = db.database.products(shop.app().into(), ProductFilter::default(), order, page(2, 2), at()).await.unwrap();
        assert_eq!((second.total, second.last_page()), (5, 3));
        assert_eq!(second.items.iter().map(|p| p.price.minor()).collect::<Vec<_>>(), [500, 700]);
        let past = db.database.products(shop.app().into(), ProductFilter::default(), order, page(9, 2), at()).await.unwrap();
        assert_eq!((past.total, past.items.len()), (5, 0));
        let other = db.database.products(shop.stock_fixture.second.into(), ProductFilter::default(), order, page(1, 2), at()).await.unwrap();
        assert_eq!(other.total, 1, "the service alone");
    }

    async fn a_discount_in_force_lowers_the_price_everywhere(db: TestDatabase) {
        let shop = Shop::open(&db).await;
        let kitchen = shop.stock_fixture.number("SELECT min(id) AS number FROM categories".to_owned()).await;
        shop.discount("percent", 1_000, "category", kitchen, "").await;
        shop.discount("fixed", 450, "product", shop.items[2], "").await;
        let sale = ProductFilter { on_sale: true, ..ProductFilter::default() };
        assert_eq!(shop.ids(sale.clone(), None).await, [0, 1, 2, 3]);
        assert_eq!(shop.range(sale.clone()).await, Some((250, 450)));
        assert_eq!(shop.ids(ProductFilter::default(), Some(ProductOrder::PriceAscending)).await, [2, 1, 3, 0, 4]);
        let cheap = ProductFilter { price_to: Some(money(270)), ..ProductFilter::default() };
        assert_eq!(shop.ids(cheap, None).await, [1, 2]);
        let card = db.database.product(shop.app().into(), NomenclatureId::new(shop.items[2]).unwrap(), at()).await.unwrap().unwrap();
        assert_eq!((card.product.price, card.product.old_price), (money(250), Some(money(700))));
        for change in ["status = 'paused'", "status = 'active', starts_at = '2100-01-01 00:00:00'", "starts_at = NULL, ends_at = '2000-01-01 00:00:00'", "ends_at = NULL, minimum_sum = 100000", "minimum_sum = 0, code = 'SALE' || id"] {
            shop.stock_fixture.run(format!("UPDATE discounts SET {change}")).await;
            assert!(shop.ids(sale.clone(), None).await.is_empty(), "{change}");
            assert_eq!(shop.range(ProductFilter::default()).await, Some((300, 900)), "{change}");
        }
    }

    async fn a_card_has_all_fields(db: TestDatabase) {
        let shop = Shop::open(&db).await;
        let (p, id) = (shop.stock_fixture.project, NomenclatureId::new(shop.items[1]).unwrap());
        shop.stock_fixture.run(format!(
            "INSERT INTO nomenclature_photos (project_id, nomenclature_id, position, url) \
             VALUES ({p}, {id}, 2, 'https://a/2'), ({p}, {id}, 1, 'https://a/1'); \
             INSERT INTO tags (id, project_id, name, photo, created_at) VALUES (1, {p}, 'New', 'https://a/t', '2026-01-01 00:00:00'); \
             INSERT INTO nomenclature_tags (project_id, nomenclature_id, tag_id) VALUES ({p}, {id}, 1); \
             UPDATE nomenclatures SET characteristics = '<b>x</b>', share_link = 'https://a/s' WHERE id = {id}"
        )).await;
        db.database.rebuild_offers().await.unwrap();
        shop.stock_fixture.stock(shop.stock_fixture.far, id.get(), 40, 999).await;
        let card = db.database.product(shop.app().into(), id, at()).await.unwrap().unwrap();
        let photos: Vec<&str> = card.product.photos.iter().map(PhotoUrl::as_str).collect();
        assert_eq!(photos, ["https://a/1", "https://a/2"]);
        assert_eq!((card.product.quantity, card.product.price, card.views_count), (42, money(300), 9));
        assert_eq!(card.product.category.unwrap().name.as_str(), "Mugs");
        assert_eq!(card.product.brand.unwrap().name.as_str(), "Nord");
        assert_eq!((card.tags[0].name.as_str(), card.tags.len()), ("New", 1));
        assert_eq!(card.characteristics.unwrap().as_str(), "<b>x</b>");
        assert_eq!(card.share_link.as_deref(), Some("https://a/s"));
        assert_eq!(db.database.product(shop.stock_fixture.second.into(), id, at()).await.unwrap(), None);
    }

    async fn a_list_has_the_fields_of_the_cards(db: TestDatabase) {
        let shop = Shop::open(&db).await;
        let (p, id) = (shop.stock_fixture.project, shop.items[1]);
        shop.stock_fixture.run(format!(
            "INSERT INTO nomenclature_photos (project_id, nomenclature_id, position, url) \
             VALUES ({p}, {id}, 2, 'https://a/2'), ({p}, {id}, 1, 'https://a/1'); \
             UPDATE nomenclatures SET name = 'Other', article = 'O-1', wholesale = TRUE, pieces_per_pack = 6, quantity_pack = 3 WHERE id = {id}"
        )).await;
        db.database.rebuild_offers().await.unwrap();
        shop.stock_fixture.run(format!(
            "UPDATE categories SET name = 'Cups' WHERE id = {}; UPDATE brands SET name = 'West' WHERE id = {}; \
             UPDATE inventories SET reserved = 1 WHERE nomenclature_id = {id}",
            shop.mugs, shop.brand
        )).await;
        let listed = db.database.products(shop.app().into(), ProductFilter::default(), None, page(1, 100), at()).await.unwrap().items;
        for product in &listed {
            let card = db.database.product(shop.app().into(), product.id, at()).await.unwrap().unwrap();
            assert_eq!(card.product, *product);
        }
        let reported = &listed[1];
        assert_eq!((reported.name.as_str(), reported.article.as_ref().unwrap().as_str(), reported.quantity), ("Other", "O-1", 1));
        assert_eq!(reported.photos.iter().map(PhotoUrl::as_str).collect::<Vec<_>>(), ["https://a/1", "https://a/2"]);
        let packaging = (reported.packaging.wholesale, reported.packaging.pieces_per_pack.get(), reported.packaging.quantity_pack.get());
        assert_eq!(packaging, (true, 6, 3));
        let (category, brand) = (reported.category.as_ref().unwrap(), reported.brand.as_ref().unwrap());
        assert_eq!((category.name.as_str(), brand.name.as_str()), ("Cups", "West"));
    }

    async fn reads_cost_few_statements(db: TestDatabase) {
        let shop = Shop::open(&db).await;
        let database = &db.database;
        let mut before = database.statements();
        let mut spent = || { let now = database.statements(); let spent = now - before; before = now; spent };
        database.products(shop.app().into(), category(shop.mugs), None, page(1, 2), at()).await.unwrap();
        assert_eq!(spent(), 2, "a full page and the count");
        database.products(shop.app().into(), category(shop.mugs), Some(ProductOrder::NameAscending), page(1, 10), at()).await.unwrap();
        assert_eq!(spent(), 1, "a page that is not full");
        database.products(shop.app().into(), category(shop.mugs), Some(ProductOrder::PriceAscending), page(1, 2), at()).await.unwrap();
        assert_eq!(spent(), 3, "by price");
        database.product(shop.app().into(), NomenclatureId::new(shop.items[0]).unwrap(), at()).await.unwrap();
        assert_eq!(spent(), 2, "a card");
        database.price_range(shop.app(), category(shop.mugs), at()).await.unwrap();
        assert_eq!(spent(), 2, "the price range");
    }

    async fn views_add_up_and_move_products(db: TestDatabase) {
        let shop = Shop::open(&db).await;
        let view = |index: usize, count| (NomenclatureId::new(shop.items[index]).unwrap(), count);
        let gone = (NomenclatureId::new(999_999).unwrap(), 1);
        db.database.add_views(vec![view(3, 100), gone, view(0, 1)]).await.unwrap();
        let order = Some(ProductOrder::PopularityDescending);
        assert_eq!(shop.ids(ProductFilter::default(), order).await, [3, 1, 4, 0, 2]);
        let card = db.database.product(shop.app().into(), view(0, 0).0, at()).await.unwrap().unwrap();
        assert_eq!(card.views_count, 4);
    }

    async fn an_application_shows_its_roots_their_children_and_its_brands(db: TestDatabase) {
        let stock_fixture = StockFixture::open(&db).await;
        let (garden, kitchen) = (stock_fixture.category("Garden", None).await, stock_fixture.category("Kitchen", None).await);
        let plates = stock_fixture.category("Plates", Some(kitchen)).await;
        let mugs = stock_fixture.category("Mugs", Some(kitchen)).await;
        let tall = stock_fixture.category("Tall", Some(mugs)).await;
        let (nord, sud) = (stock_fixture.brand("Nord").await, stock_fixture.brand("Sud").await);
        let (p, one) = (stock_fixture.project, stock_fixture.first.application_id);
        stock_fixture.run(format!(
            "INSERT INTO application_categories (project_id, application_id, category_id, position) \
             VALUES ({p}, {one}, {kitchen}, 1), ({p}, {one}, {garden}, 2); \
             INSERT INTO application_brands (project_id, application_id, brand_id, priority) \
             VALUES ({p}, {one}, {nord}, 1), ({p}, {one}, {sud}, 2)"
        )).await;
        db.database.rebuild_offers().await.unwrap();
        let list = async |app, parent: Option<i64>, limit| -> Vec<i64> {
            let parent = parent.map(|id| CategoryId::new(id).unwrap());
            db.database.categories(app, parent, limit).await.unwrap().iter().map(|category| category.id.get()).collect()
        };
        assert_eq!(list(stock_fixture.first, None, None).await, [kitchen, garden]);
        assert_eq!(list(stock_fixture.first, None, Some(1)).await, [kitchen]);
        assert_eq!(list(stock_fixture.first, Some(kitchen), None).await, [mugs, plates]);
        assert_eq!(list(stock_fixture.first, Some(mugs), None).await, [tall]);
        assert!(list(stock_fixture.second, None, None).await.is_empty());
        assert!(list(stock_fixture.second, Some(kitchen), None).await.is_empty());
        let children = db.database.categories(stock_fixture.first, Some(CategoryId::new(kitchen).unwrap()), None).await.unwrap();
        assert_eq!(children[0].parent.as_ref().unwrap().name.as_str(), "Kitchen");
        let brands = db.database.brands(stock_fixture.first, None).await.unwrap();
        assert_eq!(brands.iter().map(|brand| brand.id.get()).collect::<Vec<_>>(), [sud, nord]);
        assert_eq!(db.database.brands(stock_fixture.first, Some(1)).await.unwrap().len(), 1);
        assert!(db.database.brands(stock_fixture.second, None).await.unwrap().is_empty());
    }
}
