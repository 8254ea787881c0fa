//! Favourites and search history of customers, and storefront content besides the products.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use kontor_adapter_diesel::database_tests;
use kontor_catalog::storefront::ports::{FavouriteOutcome, Favourites, SearchLog, Showcase, StorefrontReader};
use kontor_catalog::storefront::{ProductFilter, Search};
use kontor_customers::ports::CustomerRepository;
use kontor_kernel::{
    AppScope, CounterpartyId, CustomerScope, Line, NomenclatureId, Page, PageRequest, TokenId, Visitor,
};

use crate::stock_fixture::{Item, StockFixture};

fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::days(20_000) + TimeDelta::seconds(seconds)
}

fn page(page: i64, per_page: i64) -> PageRequest {
    PageRequest::new(page, per_page, 100).unwrap()
}

fn item(id: i64) -> NomenclatureId {
    NomenclatureId::new(id).unwrap()
}

async fn customer(stock_fixture: &StockFixture<'_>, app: AppScope) -> CustomerScope {
    let id = stock_fixture
        .number(format!(
            "INSERT INTO counterparties (project_id, is_company, created_at, updated_at) \
             VALUES ({}, FALSE, '2026-01-01 00:00:00', '2026-01-01 00:00:00') RETURNING id AS number",
            stock_fixture.project
        ))
        .await;
    CustomerScope { app, counterparty_id: CounterpartyId::new(id).unwrap(), token_id: TokenId::new(1).unwrap() }
}

/// Four mugs in stock.
async fn mugs(stock_fixture: &StockFixture<'_>) -> Vec<i64> {
    let category = stock_fixture.category("Mugs", None).await;
    let mut ids = Vec::new();
    for name in ["A", "B", "C", "D"] {
        let mug = stock_fixture.item(Item::goods(name, category)).await;
        stock_fixture.stock(stock_fixture.near, mug, 3, 500).await;
        ids.push(mug);
    }
    stock_fixture.db.database.rebuild_offers().await.unwrap();
    ids
}

fn listed(page: &Page<kontor_catalog::storefront::Product>) -> Vec<i64> {
    assert!(page.items.iter().all(|product| product.is_favourite));
    page.items.iter().map(|product| product.id.get()).collect()
}

fn search(customer: CustomerScope, text: &str, second: i64) -> Search {
    Search {
        project_id: customer.app.project_id,
        counterparty_id: customer.counterparty_id,
        value: Line::parse(text).unwrap(),
        at: at(second),
    }
}

database_tests! {
    async fn favourites_are_kept_once_per_customer_and_listed_last_first(db: TestDatabase) {
        let stock_fixture = StockFixture::open(&db).await;
        let ids = mugs(&stock_fixture).await;
        let (anna, boris) = (customer(&stock_fixture, stock_fixture.first).await, customer(&stock_fixture, stock_fixture.first).await);
        let database = &db.database;
        for id in [ids[0], ids[2], ids[1]] {
            assert_eq!(database.add(anna, item(id), at(0)).await.unwrap(), FavouriteOutcome::Added);
            assert_eq!(database.add(anna, item(id), at(1)).await.unwrap(), FavouriteOutcome::AlreadyPresent);
        }
        assert_eq!(database.add(boris, item(ids[0]), at(0)).await.unwrap(), FavouriteOutcome::Added);
        let before = database.statements();
        let first = database.page(anna, page(1, 2), at(0)).await.unwrap();
        assert_eq!(database.statements() - before, 2);
        assert_eq!((listed(&first), first.total), (vec![ids[1], ids[2]], 3));
        assert_eq!(listed(&database.page(anna, page(2, 2), at(0)).await.unwrap()), [ids[0]]);
        assert_eq!(listed(&database.page(boris, page(1, 2), at(0)).await.unwrap()), [ids[0]]);
        let before = database.statements();
        let latest = database.latest(anna, 2, at(0)).await.unwrap();
        assert_eq!((latest, database.statements() - before), (first.items, 1));

        assert!(database.remove(anna, item(ids[2])).await.unwrap());
        assert!(!database.remove(anna, item(ids[2])).await.unwrap());
        assert_eq!(listed(&database.page(anna, page(1, 10), at(0)).await.unwrap()), [ids[1], ids[0]]);
        assert_eq!(listed(&database.page(boris, page(1, 10), at(0)).await.unwrap()), [ids[0]]);
    }

    async fn only_what_the_application_shows_can_be_kept_and_is_listed(db: TestDatabase) {
        let stock_fixture = StockFixture::open(&db).await;
        let ids = mugs(&stock_fixture).await;
        let (here, there) = (customer(&stock_fixture, stock_fixture.first).await, customer(&stock_fixture, stock_fixture.second).await);
        let database = &db.database;
        for id in [ids[0], 999_999] {
            assert_eq!(database.add(there, item(id), at(0)).await.unwrap(), FavouriteOutcome::ProductNotShown);
        }
        assert_eq!(database.add(here, item(ids[0]), at(0)).await.unwrap(), FavouriteOutcome::Added);
        stock_fixture.run(format!("UPDATE inventories SET reserved = quantity WHERE nomenclature_id = {}", ids[0])).await;
        database.reconcile_offers().await.unwrap();
        assert_eq!(database.page(here, page(1, 10), at(0)).await.unwrap().total, 0);
        stock_fixture.run("UPDATE inventories SET reserved = 0".to_owned()).await;
        database.reconcile_offers().await.unwrap();
        assert_eq!(listed(&database.page(here, page(1, 10), at(0)).await.unwrap()), [ids[0]]);
    }

    async fn racing_requests_keep_a_favourite_once(db: TestDatabase) {
        let stock_fixture = StockFixture::open(&db).await;
        let ids = mugs(&stock_fixture).await;
        let anna = customer(&stock_fixture, stock_fixture.first).await;
        let wishes: Vec<_> = (0..6)
            .map(|_| {
                let (database, id) = (db.database.clone(), item(ids[0]));
                tokio::spawn(async move { database.add(anna, id, at(0)).await.unwrap() })
            })
            .collect();
        let mut added = 0;
        for wish in wishes {
            added += usize::from(wish.await.unwrap() == FavouriteOutcome::Added);
        }
        assert_eq!(added, 1);
        assert_eq!(stock_fixture.number("SELECT count(*) AS number FROM favourites".to_owned()).await, 1);
    }

    async fn a_visitor_sees_their_own_favourites_without_another_statement(db: TestDatabase) {
        let stock_fixture = StockFixture::open(&db).await;
        let ids = mugs(&stock_fixture).await;
        let (anna, boris) = (customer(&stock_fixture, stock_fixture.first).await, customer(&stock_fixture, stock_fixture.first).await);
        let database = &db.database;
        database.add(anna, item(ids[1]), at(0)).await.unwrap();
        let seen = async |visitor: Visitor| {
            let before = database.statements();
            let products = database.products(visitor, ProductFilter::default(), None, page(1, 3), at(0)).await.unwrap();
            let spent = database.statements() - before;
            let kept: Vec<i64> =
                products.items.iter().filter(|product| product.is_favourite).map(|product| product.id.get()).collect();
            let card = database.product(visitor, item(ids[1]), at(0)).await.unwrap().unwrap();
            assert_eq!(card.product.is_favourite, !kept.is_empty());
            (kept, spent)
        };
        assert_eq!(seen(anna.into()).await, (vec![ids[1]], 2));
        assert_eq!(seen(boris.into()).await, (Vec::new(), 2));
        assert_eq!(seen(stock_fixture.first.into()).await, (Vec::new(), 2));
    }

    async fn searches_are_kept_once_in_any_case_the_last_ones_of_each_customer(db: TestDatabase) {
        let stock_fixture = StockFixture::open(&db).await;
        let (anna, boris) = (customer(&stock_fixture, stock_fixture.first).await, customer(&stock_fixture, stock_fixture.first).await);
        let database = &db.database;
        database.store(vec![search(anna, "кружка", 1), search(boris, "cup", 1), search(anna, "plate", 2)], 3).await.unwrap();
        database.store(vec![search(anna, "КРУЖКА", 3)], 3).await.unwrap();
        // A late write of another process does not undo a newer one.
        database.store(vec![search(anna, "Кружка", 2)], 3).await.unwrap();
        let reported = async |customer: CustomerScope| -> Vec<(String, i64)> {
            let searches = database.searches(customer.into()).await.unwrap();
            searches.into_iter().map(|search| (search.value.into(), (search.created_at - at(0)).num_seconds())).collect()
        };
        assert_eq!(reported(anna).await, [("КРУЖКА".to_owned(), 3), ("plate".to_owned(), 2)]);
        assert_eq!(reported(boris).await, [("cup".to_owned(), 1)]);
        let more: Vec<_> = (0..1_200).map(|n| search(anna, &format!("mug {n}"), 10 + n)).collect();
        database.store(more, 3).await.unwrap();
        let values: Vec<String> = reported(anna).await.into_iter().map(|(value, _)| value).collect();
        assert_eq!(values, ["mug 1199", "mug 1198", "mug 1197"]);
        assert_eq!(reported(boris).await.len(), 1);
        assert!(database.searches(stock_fixture.first.into()).await.unwrap().is_empty());
    }

    async fn racing_processes_store_the_same_searches(db: TestDatabase) {
        let stock_fixture = StockFixture::open(&db).await;
        let (anna, boris) = (customer(&stock_fixture, stock_fixture.first).await, customer(&stock_fixture, stock_fixture.first).await);
        let mut tasks = Vec::new();
        for round in 0..6_i64 {
            let database = db.database.clone();
            let mut searches: Vec<_> =
                (0..40).flat_map(|n| [search(boris, &format!("b{n}"), round), search(anna, &format!("a{n}"), round)]).collect();
            if round % 2 == 0 {
                searches.reverse();
            }
            tasks.push(tokio::spawn(async move { database.store(searches, 50).await.unwrap() }));
        }
        for task in tasks {
            task.await.unwrap();
        }
        for customer in [anna, boris] {
            let searches = db.database.searches(customer.into()).await.unwrap();
            assert_eq!(searches.len(), 40);
            assert!(searches.iter().all(|search| search.created_at == at(5)));
        }
    }

    async fn a_deleted_customer_is_anonymized(db: TestDatabase) {
        let stock_fixture = StockFixture::open(&db).await;
        let ids = mugs(&stock_fixture).await;
        let (anna, boris) = (customer(&stock_fixture, stock_fixture.first).await, customer(&stock_fixture, stock_fixture.first).await);
        let database = &db.database;
        for customer in [anna, boris] {
            database.add(customer, item(ids[0]), at(0)).await.unwrap();
            database.store(vec![search(customer, "mug", 1)], 50).await.unwrap();
        }
        database.delete_account(stock_fixture.project, anna.counterparty_id, at(9)).await.unwrap();
        assert_eq!(database.add(anna, item(ids[1]), at(0)).await.unwrap(), FavouriteOutcome::CustomerDeleted);
        database.store(vec![search(anna, "cup", 1), search(boris, "cup", 1)], 50).await.unwrap();
        for table in ["favourites", "search_requests"] {
            let left = format!("SELECT count(*) AS number FROM {table} WHERE counterparty_id = {}", anna.counterparty_id);
            assert_eq!(stock_fixture.number(left).await, 0, "{table}");
        }
        assert_eq!(database.page(boris, page(1, 10), at(0)).await.unwrap().total, 1);
        assert_eq!(database.searches(boris.into()).await.unwrap().len(), 2);
    }

    async fn an_application_shows_its_slides_in_their_time(db: TestDatabase) {
        let stock_fixture = StockFixture::open(&db).await;
        let (project, one, two) = (stock_fixture.project, stock_fixture.first.application_id, stock_fixture.second.application_id);
        let moment = |seconds: i64| at(seconds).format("'%Y-%m-%d %H:%M:%S'").to_string();
        let (past, future) = (moment(-10), moment(10));
        stock_fixture.run(format!(
            "INSERT INTO slides (project_id, application_id, title, link, position, is_active, starts_at, ends_at, created_at, updated_at) VALUES \
             ({project}, {one}, 'second', '/sale', 2, TRUE, NULL, {future}, {past}, {past}), \
             ({project}, {one}, 'first', 'https://shop.example', 1, TRUE, {past}, NULL, {past}, {past}), \
             ({project}, {one}, 'off', NULL, 1, FALSE, NULL, NULL, {past}, {past}), \
             ({project}, {one}, 'over', NULL, 1, TRUE, NULL, {past}, {past}, {past}), \
             ({project}, {one}, 'to come', NULL, 1, TRUE, {future}, NULL, {past}, {past}), \
             ({project}, {two}, 'elsewhere', NULL, 1, TRUE, NULL, NULL, {past}, {past})"
        )).await;
        let slides = db.database.slides(stock_fixture.first, at(0)).await.unwrap();
        let titles: Vec<&str> = slides.iter().map(|slide| slide.title.as_str()).collect();
        assert_eq!(titles, ["first", "second"]);
        assert_eq!(db.database.slides(stock_fixture.first, at(10)).await.unwrap().len(), 2, "one ended, one began");
        assert_eq!(db.database.slides(stock_fixture.second, at(0)).await.unwrap().len(), 1);
    }

    async fn countries_are_global_and_tags_belong_to_projects(db: TestDatabase) {
        let (stock_fixture, other) = (StockFixture::open(&db).await, StockFixture::open(&db).await);
        stock_fixture.run(format!(
            "INSERT INTO tags (project_id, name, created_at) VALUES ({}, 'New', '2026-01-01 00:00:00'), ({}, 'Gift', '2026-01-01 00:00:00')",
            stock_fixture.project, other.project
        )).await;
        let names = async |app: AppScope| -> Vec<String> {
            db.database.tags(app).await.unwrap().into_iter().map(|tag| tag.name.into()).collect()
        };
        assert_eq!((names(stock_fixture.first).await, names(stock_fixture.second).await), (vec!["New".to_owned()], vec!["New".to_owned()]));
        assert_eq!(names(other.first).await, ["Gift"]);
        let countries = db.database.countries().await.unwrap();
        let numbers: BTreeSet<i64> = countries.iter().map(|country| country.id.get()).collect();
        assert_eq!((countries.len(), numbers.len(), countries[0].name.as_str()), (10, 10, "Russia"));
    }
}
