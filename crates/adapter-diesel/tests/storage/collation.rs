//! Names are sorted by the collation, everywhere and equally on both databases.

use chrono::{DateTime, Utc};
use kontor_adapter_diesel::database_tests;
use kontor_catalog::model::{Card, CategoryDraft, NomenclatureKind, WarehouseDraft};
use kontor_catalog::ports::{CategoryRepository, NomenclatureRepository, WarehouseRepository};
use kontor_catalog::storefront::ports::StorefrontReader;
use kontor_catalog::storefront::{ProductFilter, ProductOrder};
use kontor_kernel::listing::Sort;
use kontor_kernel::{BranchId, Listing, Name, PageRequest, Stamp};

use crate::stock_fixture::StockFixture;

/// Names in their order.
const NAMES: [&str; 19] = [
    "100% хлопок",
    "Älg",
    "Brot",
    "café",
    "Cafe 2",
    "naive",
    "Naive",
    "naïve",
    "strasse",
    "Straße",
    "Zorvek 601",
    "ёлка",
    "Ёлка",
    "Елочка",
    "Ель",
    "Ион",
    "Йод",
    "Кот",
    "椅子",
];

fn page() -> PageRequest {
    PageRequest::new(1, 100, 100).unwrap()
}

fn by_name() -> Listing {
    Listing::unfiltered(Sort::ascending("name"), page())
}

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

async fn products(stock_fixture: &StockFixture<'_>, order: ProductOrder) -> Vec<String> {
    let noon = DateTime::<Utc>::UNIX_EPOCH;
    let found = stock_fixture.db.database.products(
        stock_fixture.first.into(),
        ProductFilter::default(),
        Some(order),
        page(),
        noon,
    );
    found.await.unwrap().items.into_iter().map(|product| product.name.to_string()).collect()
}

/// Every list sorted by name, in its order.
async fn sorted(stock_fixture: &StockFixture<'_>) -> Vec<Vec<String>> {
    let (database, project) = (&stock_fixture.db.database, stock_fixture.project);
    let items = NomenclatureRepository::list(database, project, by_name()).await.unwrap();
    let categories = CategoryRepository::page(database, project, None, by_name()).await.unwrap();
    let warehouses = WarehouseRepository::list(database, project, by_name()).await.unwrap();
    let mut descending = products(stock_fixture, ProductOrder::NameDescending).await;
    descending.reverse();
    vec![
        items.items.into_iter().map(|item| item.card.name.to_string()).collect(),
        categories.items.into_iter().map(|category| category.name.to_string()).collect(),
        warehouses
            .items
            .into_iter()
            .map(|warehouse| warehouse.name.to_string())
            .filter(|name| !name.starts_with('W'))
            .collect(),
        products(stock_fixture, ProductOrder::NameAscending).await,
        descending,
    ]
}

database_tests! {
    async fn names_are_sorted_as_people_expect(db: TestDatabase) {
        let stock_fixture = StockFixture::open(&db).await;
        let stamp = Stamp::of_system(stock_fixture.project, DateTime::UNIX_EPOCH);
        let branch = stock_fixture.number(format!("SELECT max(id) AS number FROM branches WHERE project_id = {}", stock_fixture.project)).await;
        // Seven and the number of names are coprime: every name is inserted once, and none next to its neighbour.
        for place in 0..NAMES.len() {
            let text = NAMES[place * 7 % NAMES.len()];
            let card = Card { price: Some("1.00".parse().unwrap()), ..Card::new(name(text), NomenclatureKind::Service) };
            NomenclatureRepository::insert(&db.database, stamp, card).await.unwrap();
            let category = CategoryDraft { name: name(text), photo: None, parent_id: None, code: None, description: None };
            CategoryRepository::insert(&db.database, stamp, category).await.unwrap();
            let branch_id = BranchId::new(branch).unwrap();
            let warehouse = WarehouseDraft { name: name(text), address: None, branch_id, application_ids: None };
            WarehouseRepository::insert(&db.database, stamp, warehouse).await.unwrap();
        }
        for (place, found) in sorted(&stock_fixture).await.into_iter().enumerate() {
            assert_eq!(found, NAMES, "list {place}");
        }

        // `migrate` fills in keys that a migration cleared.
        for table in ["nomenclatures", "storefront_offers", "categories", "brands", "warehouses"] {
            stock_fixture.run(format!("UPDATE {table} SET sort_key = NULL")).await;
        }
        stock_fixture.run("UPDATE nomenclatures SET search_text = NULL".to_owned()).await;
        assert_ne!(sorted(&stock_fixture).await[0], NAMES);
        let database = db.database.clone();
        tokio::task::spawn_blocking(move || database.migrate().unwrap()).await.unwrap();
        for (place, found) in sorted(&stock_fixture).await.into_iter().enumerate() {
            assert_eq!(found, NAMES, "list {place} of before");
        }
    }
}
