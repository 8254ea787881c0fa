//! Searches with thousands of matches, and the stored counts of offers.

use chrono::{DateTime, Utc};
use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_catalog::storefront::ports::StorefrontReader;
use kontor_catalog::storefront::{ProductFilter, ProductOrder};
use kontor_kernel::{CategoryId, Line, PageRequest};

use crate::stock_fixture::{Item, StockFixture};

const COUNT: i64 = 10_050;

fn at() -> DateTime<Utc> {
    DateTime::UNIX_EPOCH
}

fn about(query: &str) -> ProductFilter {
    ProductFilter { query: Some(Line::parse(query).unwrap()), ..ProductFilter::default() }
}

/// Adds items `<name> 1`, `<name> 2` and so on.
async fn crowd(stock_fixture: &StockFixture<'_>, name: &str) -> i64 {
    let key = name.to_lowercase();
    let category = stock_fixture.category("Mugs", None).await;
    let (p, near) = (stock_fixture.project, stock_fixture.near);
    stock_fixture.run(format!(
        "INSERT INTO nomenclatures (project_id, name, name_key, kind_id, category_id, price, is_subscription, wholesale, \
         pieces_per_pack, quantity_pack, views_count, version, created_at, updated_at) \
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {COUNT}) \
         SELECT {p}, '{name} ' || i, '{key} ' || i, 2, {category}, 0, FALSE, FALSE, 1, 1, 0, 1, created_at, created_at \
         FROM n, projects WHERE id = {p} ORDER BY i"
    )).await;
    stock_fixture.run(format!(
        "INSERT INTO inventories (project_id, warehouse_id, nomenclature_id, quantity, reserved, price, created_at, updated_at) \
         SELECT {p}, {near}, id, 1, 0, (id * 7919) % 100003, created_at, created_at FROM nomenclatures WHERE project_id = {p}"
    )).await;
    category
}

struct LargeCatalog<'a> {
    db: &'a TestDatabase,
    stock_fixture: StockFixture<'a>,
}

impl LargeCatalog<'_> {
    async fn page(
        &self,
        filter: ProductFilter,
        order: Option<ProductOrder>,
        page: i64,
        size: i64,
    ) -> (Vec<i64>, Vec<i64>, u64) {
        let page = PageRequest::new(page, size, 100).unwrap();
        let found =
            self.db.database.products(self.stock_fixture.first.into(), filter, order, page, at()).await.unwrap();
        let prices = found.items.iter().map(|product| product.price.minor()).collect();
        (found.items.iter().map(|product| product.id.get()).collect(), prices, found.total)
    }

    /// `(application, category, kept, real)` of the differing counts.
    async fn wrong_counts(&self) -> i64 {
        self.stock_fixture
            .number(
                "SELECT count(*) AS number FROM (SELECT application_id, category_id, sum(total) AS total FROM (\
             SELECT application_id, category_id, total FROM offer_counts \
             UNION ALL SELECT application_id, category_id, -1 FROM storefront_offers WHERE category_id IS NOT NULL \
             UNION ALL SELECT application_id, 0, -1 FROM storefront_offers) AS x \
             GROUP BY application_id, category_id HAVING sum(total) <> 0) AS y"
                    .to_owned(),
            )
            .await
    }
}

database_tests! {
    async fn a_search_counts_a_thousand_and_pages_fit_together(db: TestDatabase) {
        let catalog = LargeCatalog { db: &db, stock_fixture: StockFixture::open(&db).await };
        let category = crowd(&catalog.stock_fixture, "Red mug").await;
        db.database.rebuild_offers().await.unwrap();
        let first = catalog.stock_fixture.number(format!("SELECT min(id) AS number FROM nomenclatures WHERE project_id = {}", catalog.stock_fixture.project)).await;
        assert_eq!(catalog.page(about("mug"), None, 1, 3).await.0, [first, first + 1, first + 2]);
        assert_eq!(catalog.page(about("mug red"), None, 4, 5).await, (
            (first + 15..first + 20).collect(),
            (first + 15..first + 20).map(|id| (id * 7919) % 100_003).collect(),
            1_000,
        ));
        assert_eq!(catalog.page(about("mug"), None, 10, 100).await.0.len(), 100);
        assert_eq!(catalog.page(about("mug"), None, 11, 100).await, (vec![], vec![], 1_000));
        let all: Vec<i64> = (first..first + COUNT).map(|id| (id * 7919) % 100_003).collect();
        let mut prices = all.clone();
        prices.sort_unstable();
        for (page, order) in [(1, ProductOrder::PriceAscending), (3, ProductOrder::PriceAscending), (2, ProductOrder::PriceDescending)] {
            if order == ProductOrder::PriceDescending {
                prices.reverse();
            }
            let start = usize::try_from((page - 1) * 10).unwrap();
            let (_, found, total) = catalog.page(about("mug"), Some(order), page, 10).await;
            assert_eq!((found, total), (prices[start..start + 10].to_vec(), 1_000), "{page} {order:?}");
        }
        let range = db.database.price_range(catalog.stock_fixture.first, about("mug"), at()).await.unwrap().unwrap();
        assert_eq!((range.lowest.minor(), range.highest.minor()), (*all.iter().min().unwrap(), *all.iter().max().unwrap()));
        // Names that start with it by name, and no others.
        let (ids, _, total) = catalog.page(about("red mug 77"), None, 1, 100).await;
        let beginning = (first + 76..=first + 76).chain(first + 769..=first + 778).chain(first + 7699..=first + 7798);
        let mut expected: Vec<i64> = beginning.collect();
        expected.sort_by_key(|id| format!("red mug {}", id - first + 1));
        expected.truncate(100);
        assert_eq!((ids, total), (expected, 111));
        // Lists without a search are counted exactly.
        let total = u64::try_from(COUNT).unwrap();
        assert_eq!(catalog.page(ProductFilter::default(), None, 1, 10).await.2, total);
        // Distant pages are reached inside the index, from the front or from the end.
        let by_number: Vec<i64> = (first..first + COUNT).collect();
        let (mut by_name, mut by_price) = (by_number.clone(), by_number.clone());
        by_name.sort_by_key(|id| format!("red mug {}", id - first + 1));
        by_price.sort_by_key(|id| ((id * 7919) % 100_003, *id));
        let of_category = ProductFilter { category_ids: vec![CategoryId::new(category).unwrap()], ..ProductFilter::default() };
        for (order, expected, descends) in [
            (None, &by_number, false),
            (Some(ProductOrder::PopularityAscending), &by_number, false),
            (Some(ProductOrder::PopularityDescending), &by_number, true),
            (Some(ProductOrder::NameAscending), &by_name, false),
            (Some(ProductOrder::NameDescending), &by_name, true),
            (Some(ProductOrder::PriceAscending), &by_price, false),
            (Some(ProductOrder::PriceDescending), &by_price, true),
        ] {
            let mut expected = expected.clone();
            if descends {
                expected.reverse();
            }
            for (page, rows) in expected.chunks(97).enumerate().chain([(104, &[][..]), (10_000_000, &[][..])]) {
                if ![0, 5, 6, 51, 52, 102, 103, 104, 10_000_000].contains(&page) {
                    continue;
                }
                let filter = if page % 2 == 0 { of_category.clone() } else { ProductFilter::default() };
                let (ids, _, count) = catalog.page(filter, order, i64::try_from(page).unwrap() + 1, 97).await;
                assert_eq!((ids.as_slice(), count), (rows, total), "{page} {order:?}");
            }
        }
        assert_eq!(catalog.page(of_category, None, 1, 10).await.2, total);
        assert_eq!(catalog.wrong_counts().await, 0);
    }

    async fn misspelt_words_find_thousands_in_any_order(db: TestDatabase) {
        let catalog = LargeCatalog { db: &db, stock_fixture: StockFixture::open(&db).await };
        crowd(&catalog.stock_fixture, "Black keyboard").await;
        db.database.rebuild_offers().await.unwrap();
        let first = catalog.stock_fixture.number(format!("SELECT min(id) AS number FROM nomenclatures WHERE project_id = {}", catalog.stock_fixture.project)).await;
        let (ids, _, total) = catalog.page(about("blakc kyeboard"), None, 2, 10).await;
        assert_eq!((ids, total), ((first + 10..first + 20).collect(), 1_000));
        let mut prices: Vec<i64> = (first..first + COUNT).map(|id| (id * 7919) % 100_003).collect();
        prices.sort_unstable();
        let (_, found, total) = catalog.page(about("blakc kyeboard"), Some(ProductOrder::PriceAscending), 2, 10).await;
        assert_eq!((found, total), (prices[10..20].to_vec(), 1_000));
        assert_eq!(catalog.page(about("kyeboard 77"), None, 1, 100).await.2, 111);
        assert_eq!(catalog.page(about("kyeboard 7"), None, 1, 100).await.2, 1_000);
        assert_eq!(catalog.page(about("blakc kxxbxard"), None, 1, 10).await, (vec![], vec![], 0));
    }

    async fn the_matches_of_a_frequent_word_are_kept_for_a_while(db: TestDatabase) {
        let catalog = LargeCatalog { db: &db, stock_fixture: StockFixture::open(&db).await };
        crowd(&catalog.stock_fixture, "Red mug").await;
        db.database.rebuild_offers().await.unwrap();
        let first = catalog.stock_fixture.number(format!("SELECT min(id) AS number FROM nomenclatures WHERE project_id = {}", catalog.stock_fixture.project)).await;
        let page = async |query: &str| {
            let (ids, _, total) = catalog.page(about(query), None, 1, 3).await;
            (ids.into_iter().map(|id| id - first).collect::<Vec<_>>(), total)
        };
        assert_eq!(page("mug").await, (vec![0, 1, 2], 1_000));
        assert_eq!(page("mug 10001").await, (vec![10_000], 1));
        for gone in [first, first + 10_000] {
            catalog.stock_fixture.run(format!("DELETE FROM storefront_offers WHERE nomenclature_id = {gone}")).await;
        }
        // A product that is gone is not shown. Few matches are read each time.
        assert_eq!(page("mug").await, (vec![1, 2], 1_000));
        assert_eq!(page("mug 10001").await, (vec![], 0));
        assert_eq!(page("mug red").await, (vec![1, 2, 3], 1_000));
    }

    async fn a_frequent_word_corrects_a_query_only_if_many_items_have_it(db: TestDatabase) {
        let catalog = LargeCatalog { db: &db, stock_fixture: StockFixture::open(&db).await };
        let category = crowd(&catalog.stock_fixture, "Black keyboard").await;
        let mut few = Vec::new();
        for name in ["Black keybords", "White keyboard"] {
            let item = catalog.stock_fixture.item(Item::goods(name, category)).await;
            catalog.stock_fixture.stock(catalog.stock_fixture.near, item, 1, 100).await;
            few.push(item);
        }
        db.database.rebuild_offers().await.unwrap();
        // Two typos are not looked for beside thousands of items with one.
        assert_eq!(catalog.page(about("black kyeboard"), None, 1, 1).await.2, 1_000);
        // Few items: all that can be meant, those with the fewest typos first.
        let (ids, _, total) = catalog.page(about("white kyeboard"), None, 1, 10).await;
        assert_eq!((ids, total), (vec![few[1]], 1));
        let facets = |query: &str| db.database.facets(catalog.stock_fixture.first, about(query), at());
        assert!(!facets("black kyeboard").await.unwrap().is_complete);
        assert_eq!(facets("white kyeboard").await.unwrap().categories[0].count, 1);
        assert_eq!(facets("white keyboard").await.unwrap().categories[0].count, 1);
    }

    async fn a_wrong_count_shows_nothing_of_others(db: TestDatabase) {
        let before = StockFixture::open(&db).await;
        crowd(&before, "Red mug").await;
        let catalog = LargeCatalog { db: &db, stock_fixture: StockFixture::open(&db).await };
        let after = StockFixture::open(&db).await;
        crowd(&after, "Red mug").await;
        let mugs = catalog.stock_fixture.category("Mugs", None).await;
        let mine = catalog.stock_fixture.item(Item::goods("Mug", mugs)).await;
        catalog.stock_fixture.stock(catalog.stock_fixture.near, mine, 1, 100).await;
        db.database.rebuild_offers().await.unwrap();
        catalog.stock_fixture.run("UPDATE offer_counts SET total = 10000".to_owned()).await;
        let orders = [None, Some(ProductOrder::NameDescending), Some(ProductOrder::PopularityAscending), Some(ProductOrder::PriceDescending)];
        for (order, page) in orders.into_iter().flat_map(|order| [6, 40, 60, 100].map(|page| (order, page))) {
            let (ids, _, _) = catalog.page(ProductFilter::default(), order, page, 100).await;
            assert!(ids.iter().all(|id| *id == mine), "{order:?} {page}: {ids:?}");
        }
    }

    async fn stored_counts_are_exact_after_any_race(db: TestDatabase) {
        let catalog = LargeCatalog { db: &db, stock_fixture: StockFixture::open(&db).await };
        let stock_fixture = &catalog.stock_fixture;
        let (mugs, cups) = (stock_fixture.category("Mugs", None).await, stock_fixture.category("Cups", None).await);
        let mut items = Vec::new();
        for place in 0..24 {
            let item = stock_fixture.item(Item::goods("Mug", if place % 2 == 0 { mugs } else { cups })).await;
            stock_fixture.stock(stock_fixture.near, item, 1, 100).await;
            stock_fixture.stock(stock_fixture.far, item, 1, 100).await;
            items.push(item);
        }
        stock_fixture.item(Item { kind: 1, category: None, ..Item::goods("Engraving", mugs) }).await;
        db.database.rebuild_offers().await.unwrap();
        assert_eq!(catalog.wrong_counts().await, 0);
        let mut running = Vec::new();
        for (place, item) in items.iter().copied().enumerate() {
            let database = db.database.clone();
            let stock = stock_fixture.number(format!("SELECT id AS number FROM inventories WHERE nomenclature_id = {item} AND warehouse_id = {}", stock_fixture.near)).await;
            let project = stock_fixture.project;
            running.push(tokio::spawn(async move {
                use kontor_catalog::model::{Edit, StockChange};
                use kontor_catalog::ports::InventoryRepository;
                for round in 0..4 {
                    let pieces = u32::from((round + place) % 2 == 0);
                    let quantity = Edit::Set(kontor_catalog::model::StockLevel::new(pieces.into()).unwrap());
                    let change = StockChange { quantity, price: Edit::Keep, comment: None };
                    let id = kontor_kernel::InventoryId::new(stock).unwrap();
                    InventoryRepository::set_stock(&database, kontor_kernel::Stamp::of_system(project, at()), id, change).await.unwrap();
                }
            }));
        }
        for task in running {
            task.await.unwrap();
        }
        assert_eq!(catalog.wrong_counts().await, 0);
        // The first application sells from both warehouses, the second from the far one alone.
        assert_eq!(catalog.page(ProductFilter::default(), None, 1, 10).await.2, 25);
        stock_fixture.run("UPDATE inventories SET reserved = quantity".to_owned()).await;
        db.database.reconcile_offers().await.unwrap();
        assert_eq!(catalog.wrong_counts().await, 0);
        assert_eq!(catalog.page(ProductFilter::default(), None, 1, 1).await.2, 1);
    }
}
