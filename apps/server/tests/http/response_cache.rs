//! Cached responses equal the database.

mod actions;
mod by_the_clock;
mod uncached;

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kontor::config::Config;
use kontor::instance::{Instance, Roles};
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_adapter_diesel::{Database, PoolOptions, database_tests, retry_until};
use kontor_catalog::storefront::ports::ViewCounter as _;
use kontor_kernel::{AdjustableClock, Clock as _, NomenclatureId};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use reqwest::multipart::{Form, Part};
use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};

use self::actions::{Action, Range};
use crate::process::PATIENCE;
use crate::shop_fixture::ShopFixture;
use crate::support::{Answer, send};

/// Another process on the same database, with the clock of the first.
struct Elsewhere {
    url: String,
    http: Client,
    database: Database,
    instance: Instance,
}

impl Elsewhere {
    fn start(db: &TestDatabase, clock: Arc<AdjustableClock>, answers_memory_mb: u32) -> Self {
        let options = PoolOptions { connections: 2, wait: PATIENCE, ..PoolOptions::default() };
        let database = Database::open(db.url(), options).unwrap();
        let config = Config {
            http_workers: 1,
            answers_memory_mb,
            acquirer_url: "http://127.0.0.1:9/v3".into(),
            ..Config::default()
        };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let instance = Instance::start(&config, &database, clock, Some(listener), Roles::Api).unwrap();
        let url = format!("http://{}", instance.address().unwrap());
        Self { url, http: Client::new(), database, instance }
    }

    fn place(&self) -> Place {
        Place { url: self.url.clone(), http: self.http.clone() }
    }
}

/// Target of requests.
struct Place {
    url: String,
    http: Client,
}

impl Place {
    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.url)).header("Accept", "application/json")
    }
}

pub async fn watched(database: &Database) {
    let until = Instant::now() + PATIENCE;
    while !database.cache_versions().are_watched() {
        retry_until!(until, "nobody looks");
    }
}

/// Items with articles, shown in a storefront, and an employee with all permissions.
struct Store {
    front: ShopFixture,
    owner: String,
    items: Vec<i64>,
    categories: Vec<i64>,
    orders: Vec<i64>,
    discounts: u32,
    plan: i64,
    assignment: i64,
    range: Range,
}

const ITEMS: usize = 3;

impl Store {
    async fn open(db: TestDatabase) -> Self {
        let front = ShopFixture::open(db).await;
        let owner = front.server.owner(&front.project).await;
        let mut items = Vec::new();
        for number in 0..ITEMS {
            items.push(front.goods(20, 1_000 + 100 * i64::try_from(number).unwrap()).await);
        }
        front.server.execute("UPDATE nomenclatures SET article = 'A-' || id, article_key = 'a-' || id").await;
        let (project, application) = (front.project.id, front.project.application_id);
        let second = front
            .server
            .insert(format!(
                "INSERT INTO categories (project_id, parent_id, name, name_key, code, created_at, updated_at) VALUES \
                 ({project}, {}, 'Some', 'some', 2, '2026-01-01 00:00:00', '2026-01-01 00:00:00') RETURNING id",
                front.category
            ))
            .await;
        front
            .server
            .execute(&format!(
                "INSERT INTO application_categories (project_id, application_id, category_id, position) \
                 VALUES ({project}, {application}, {}, 1)",
                front.category
            ))
            .await;
        front.server.db.database.rebuild_offers().await.unwrap();
        let categories = vec![front.category, second];
        let plan = json!({
            "name": "Club", "kind_id": 1, "price": "5.00", "is_subscription": true, "billing_period_months": 1,
            "category_id": second,
        });
        let request = front.server.as_staff(&owner, Method::POST, "/api/nomenclatures").json(&plan);
        let plan = send(request).await.expect(201)["nomenclature"]["id"].as_i64().unwrap();
        let range = Range::of(&front, &owner).await;
        watched(&front.server.db.database).await;
        let mut store =
            Self { front, owner, items, categories, orders: Vec::new(), discounts: 0, plan, assignment: 0, range };
        store.offer(&store.here()).await;
        store
    }

    fn plans(&self) -> String {
        format!("/api/applications/{}/subscription-nomenclatures", self.front.project.application_id)
    }

    /// Assigns the plan to the application.
    async fn offer(&mut self, place: &Place) {
        let request = place.request(Method::POST, &self.plans()).bearer_auth(&self.owner);
        let offered = send(request.json(&json!({ "nomenclature_id": self.plan }))).await.expect(201);
        self.assignment = offered["assignment"]["id"].as_i64().unwrap();
    }

    fn here(&self) -> Place {
        Place { url: self.front.server.url.clone(), http: self.front.server.http.clone() }
    }

    fn paths(&self) -> Vec<String> {
        let item = |id: &i64| format!("products/{id}");
        let fixed = [
            "products?order_by=price_asc",
            "products?order_by=name_asc&per_page=2",
            "products?sale=1",
            "prices",
            "categories",
            "brands",
            "subscription-plans",
            "subscription-catalog",
            "subscription-catalog/grouped",
        ];
        let in_category = |id: &i64| format!("products?category_id[]={id}");
        let fixed = fixed.into_iter().map(str::to_owned);
        let below = self.categories.iter().map(|id| format!("categories?parent_id={id}"));
        let cards = self.items.iter().map(item);
        let shelves = self.categories.iter().map(in_category).chain(below);
        fixed.chain(cards).chain(shelves).chain(self.range.paths()).collect()
    }

    /// Returns the response, without what each process counts separately.
    async fn read(&self, place: &Place, path: &str) -> (u16, Value) {
        let request = place.request(Method::GET, &format!("/api/counterparty/{path}"));
        let answer = send(request.header("Token", &self.front.project.app_token)).await;
        let mut body = answer.json();
        if let Some(card) = body.get_mut("product").and_then(Value::as_object_mut) {
            card.remove("views_count");
        }
        (answer.status.as_u16(), body)
    }

    /// The most viewed products come first. Views are stored with a delay, so lists may differ for a short time only.
    async fn agree_on_popularity(&self, place: &Place, plain: &Place, after: &str) {
        let path = "products?order_by=popularity_desc&per_page=100";
        let until = Instant::now() + Duration::from_millis(2_500);
        loop {
            let truth = self.read(plain, path).await;
            let reported = (self.read(place, path).await, self.read(place, path).await);
            if reported == (truth.clone(), truth.clone()) {
                return;
            }
            retry_until!(until, "{path} after {after}: {reported:?} instead of {truth:?}");
        }
    }

    /// Every read equals the uncached one, twice: once when it is stored in the cache, once from the cache.
    async fn agree(&self, place: &Place, plain: &Place, after: &str) {
        self.agree_on_popularity(place, plain, after).await;
        for path in self.paths() {
            let truth = self.read(plain, &path).await;
            for time in ["first", "second"] {
                let reported = self.read(place, &path).await;
                assert_eq!(reported, truth, "{path}, asked the {time} time after {after}");
            }
        }
    }

    async fn put(&self, place: &Place, path: &str, body: Value) -> Answer {
        send(place.request(Method::PUT, path).bearer_auth(&self.owner).json(&body)).await
    }

    async fn upload(&self, place: &Place, path: &str, text: String) {
        let form = Form::new().part("file", Part::text(text).file_name("sheet.csv"));
        let answer = send(place.request(Method::POST, path).bearer_auth(&self.owner).multipart(form)).await;
        answer.expect(200);
    }

    async fn take(&mut self, place: &Place, step: &Step) {
        let item = |number: usize| self.items[number % self.items.len()];
        match *step {
            Step::Rename { which, name } => {
                let body = json!({ "name": format!("Vase {name}") });
                self.put(place, &format!("/api/nomenclatures/{}", item(which)), body).await.expect(200);
            }
            Step::Stock { which, pieces, price } => {
                let line = format!("A-{};{};{pieces};{price}", item(which), self.front.warehouse);
                let path = "/api/inventories/upload";
                let form = format!("article;warehouse;quantity;price\n{line}\n");
                let form = Form::new().part("file", Part::text(form).file_name("sheet.csv"));
                let sent = send(place.request(Method::POST, path).bearer_auth(&self.owner).multipart(form)).await;
                // A quantity below the reservations is refused, and nothing changes.
                assert!([200, 422].contains(&sent.status.as_u16()), "{}", sent.text);
            }
            Step::Order { which } => {
                let body = self.front.pickup(item(which), 1);
                let request = place.request(Method::POST, "/api/counterparty/orders");
                let request = request.header("Token", &self.front.project.app_token).bearer_auth(&self.front.bearer);
                let placed = send(request.json(&body)).await;
                match placed.status.as_u16() {
                    201 => self.orders.push(placed.json()["order"]["id"].as_i64().unwrap()),
                    status => assert!([401, 422].contains(&status), "{}", placed.text),
                }
            }
            Step::Cancel => {
                if let Some(order) = self.orders.pop() {
                    let canceled = self.put(place, &format!("/api/orders/{order}"), json!({ "status_id": 6 })).await;
                    canceled.expect(200);
                }
            }
            Step::Move { inside } => {
                let parent = if inside { self.categories[0] } else { 0 };
                let path = format!("/api/categories/{}", self.categories[1]);
                self.put(place, &path, json!({ "parent_id": parent })).await.expect(200);
            }
            Step::Refile { which, category } => {
                let body = json!({ "category_id": self.categories[category % 2] });
                self.put(place, &format!("/api/nomenclatures/{}", item(which)), body).await.expect(200);
            }
            Step::Import { number } => {
                let text = format!("article,name,category,brand\nNew-{number},Cup {number},All,Nord\n");
                self.upload(place, "/api/nomenclatures/import", text).await;
            }
            Step::Show { which } => {
                let application = self.front.project.application_id;
                let path = format!("/api/applications/{application}/categories");
                let body = json!({ "category_id": self.categories[which % 2] });
                let shown = send(place.request(Method::POST, &path).bearer_auth(&self.owner).json(&body)).await;
                assert!(shown.status.is_success(), "{}", shown.text);
            }
            Step::Plan { price, shown, renewed } => {
                let body = json!({ "price": format!("{price}.00") });
                self.put(place, &format!("/api/nomenclatures/{}", self.plan), body).await.expect(200);
                let one = format!("{}/{}", self.plans(), self.assignment);
                let change = place.request(Method::PATCH, &one).bearer_auth(&self.owner);
                send(change.json(&json!({ "is_active": shown }))).await.expect(200);
                if renewed {
                    send(place.request(Method::DELETE, &one).bearer_auth(&self.owner)).await.expect(200);
                    self.offer(place).await;
                }
            }
            Step::Discount { which, percent } => {
                self.discounts += 1;
                let at = self.front.server.clock.now() + chrono::TimeDelta::seconds(100);
                let (start, end) = (at.naive_utc(), (at + chrono::TimeDelta::seconds(100)).naive_utc());
                let (project, item) = (self.front.project.id, item(which));
                self.front
                    .server
                    .execute(&format!(
                        "INSERT INTO discounts (project_id, name, kind, value, target, target_id, minimum_sum, starts_at, \
                         ends_at, used_count, status, created_at, updated_at) VALUES ({project}, 'D', 'percent', \
                         {percent}, 'product', {item}, 0, '{start}', '{end}', 0, 'active', '2026-01-01 00:00:00', \
                         '2026-01-01 00:00:00')"
                    ))
                    .await;
            }
            Step::Wait { seconds } => {
                self.front.server.clock.advance(seconds);
            }
            Step::Action(ref action) => self.act(place, action).await,
        }
    }
}

#[derive(Debug, Clone)]
enum Step {
    Rename { which: usize, name: u16 },
    Stock { which: usize, pieces: u8, price: u16 },
    Order { which: usize },
    Cancel,
    Move { inside: bool },
    Refile { which: usize, category: usize },
    Import { number: u8 },
    Show { which: usize },
    Plan { price: u16, shown: bool, renewed: bool },
    Discount { which: usize, percent: u16 },
    Wait { seconds: i64 },
    Action(Action),
}

impl Step {
    /// Returns `true` if records are written without the service, or always by the first process: the other has to
    /// detect the change.
    fn is_apart(&self) -> bool {
        match self {
            Self::Action(action) => action.is_apart(),
            step => matches!(step, Self::Discount { .. }),
        }
    }
}

/// Returns some of these steps, and every action, in any order.
fn steps(most: usize) -> impl Strategy<Value = Vec<(bool, Step)>> {
    let which = 0..ITEMS;
    let step = prop_oneof![
        3 => (which.clone(), any::<u16>()).prop_map(|(which, name)| Step::Rename { which, name }),
        3 => (which.clone(), 0..6_u8, 1..3_000_u16).prop_map(|(which, pieces, price)| Step::Stock { which, pieces, price }),
        4 => which.clone().prop_map(|which| Step::Order { which }),
        3 => Just(Step::Cancel),
        2 => any::<bool>().prop_map(|inside| Step::Move { inside }),
        2 => (which.clone(), 0..2_usize).prop_map(|(which, category)| Step::Refile { which, category }),
        1 => any::<u8>().prop_map(|number| Step::Import { number }),
        1 => (0..2_usize).prop_map(|which| Step::Show { which }),
        2 => (1..900_u16, any::<bool>(), any::<bool>()).prop_map(|(price, shown, renewed)| Step::Plan { price, shown, renewed }),
        2 => (which, 1..9_000_u16).prop_map(|(which, percent)| Step::Discount { which, percent }),
        3 => (30..120_i64).prop_map(|seconds| Step::Wait { seconds }),
    ];
    let actions = actions::every_action().prop_map(|actions| actions.into_iter().map(Step::Action).collect::<Vec<_>>());
    let all = (prop::collection::vec(step, most), actions).prop_map(|(steps, actions)| [steps, actions].concat());
    let all = all.prop_shuffle();
    all.prop_flat_map(|steps| {
        let through = prop::collection::vec(prop::bool::weighted(0.3), steps.len());
        through.prop_map(move |through| through.into_iter().zip(steps.clone()).collect())
    })
}

fn drawn(most: usize) -> Vec<(bool, Step)> {
    steps(most).new_tree(&mut TestRunner::default()).unwrap().current()
}

/// Returns the number of cache hits so far, in all servers of this test process.
async fn hits(place: &Place) -> f64 {
    let text = send(place.request(Method::GET, "/metrics")).await.text;
    let line = text.lines().find(|line| line.starts_with("kontor_answers_remembered_total{outcome=\"hit\"}"));
    line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or(0.0)
}

database_tests! {
    /// Writes and reads in any order, through two processes. The writing process returns no stale response, the other
    /// none older than a second.
    async fn cache_and_database_agree(db: TestDatabase) {
        let mut store = Store::open(db).await;
        let clock = store.front.server.clock.clone();
        let other = Elsewhere::start(&store.front.server.db, clock.clone(), 64);
        let plain = Elsewhere::start(&store.front.server.db, clock, 0);
        watched(&other.database).await;
        let (one, two, reference) = (store.here(), other.place(), plain.place());
        let drawn = drawn(12);
        eprintln!("{drawn:?}");
        for (number, (through_other, step)) in drawn.iter().enumerate() {
            let (writer, reader) = if *through_other { (&two, &one) } else { (&one, &two) };
            store.take(writer, step).await;
            let done = Instant::now();
            let reported = format!("step {number}, {step:?}");
            if !(step.is_apart() && *through_other) {
                store.agree(writer, &reference, &reported).await;
            }
            tokio::time::sleep(Duration::from_secs(1).saturating_sub(done.elapsed())).await;
            store.agree(reader, &reference, &reported).await;
        }
        assert!(hits(&one).await > 0.0);
        other.instance.stop().await;
        plain.instance.stop().await;
    }

    /// A response that is computed while a commit changes its data is not found in the cache afterwards.
    async fn readers_racing_commits_cache_nothing_stale(db: TestDatabase) {
        let store = Arc::new(Store::open(db).await);
        let done = Arc::new(AtomicBool::new(false));
        let card = format!("products/{}", store.items[0]);
        let readers: Vec<_> = (0..4)
            .map(|_| {
                let (store, done, card) = (store.clone(), done.clone(), card.clone());
                tokio::spawn(async move {
                    let here = store.here();
                    while !done.load(Ordering::Relaxed) {
                        store.read(&here, &card).await;
                        store.read(&here, "products").await;
                    }
                })
            })
            .collect();
        let here = store.here();
        for number in 0..60 {
            let name = format!("Vase of try {number}");
            let path = format!("/api/nomenclatures/{}", store.items[0]);
            store.put(&here, &path, json!({ "name": name })).await.expect(200);
            assert_eq!(store.read(&here, &card).await.1["product"]["name"], json!(name));
            let list = store.read(&here, "products").await.1;
            assert!(list["products"]["data"].as_array().unwrap().iter().any(|item| item["name"] == json!(name)), "{list}");
        }
        done.store(true, Ordering::Relaxed);
        for reader in readers {
            reader.await.unwrap();
        }
    }

    async fn a_discount_starts_and_ends_by_the_clock(db: TestDatabase) {
        let mut store = Store::open(db).await;
        let here = store.here();
        let path = format!("products/{}", store.items[0]);
        store.take(&here, &Step::Discount { which: 0, percent: 1_000 }).await;
        let mut prices = Vec::new();
        for seconds in [0, 101, 100] {
            store.take(&here, &Step::Wait { seconds }).await;
            let first = store.read(&here, &path).await;
            assert_eq!(store.read(&here, &path).await, first);
            prices.push(first.1["product"]["price"].as_str().unwrap().to_owned());
        }
        assert_eq!(prices, ["10.00", "9.00", "10.00"]);
    }

    async fn a_second_answer_asks_the_database_nothing(db: TestDatabase) {
        let store = Store::open(db).await;
        let here = store.here();
        for path in store.paths() {
            // Background data of requests is stored every few seconds, which also runs statements.
            let mut asked = Vec::new();
            while asked.last() != Some(&0) {
                assert!(asked.len() < 50, "{path} asked {asked:?}");
                let first = store.read(&here, &path).await;
                let before = store.front.server.db.database.statements();
                assert_eq!(store.read(&here, &path).await, first);
                asked.push(store.front.server.db.database.statements() - before);
            }
        }
    }

    async fn looks_are_counted_on_every_way(db: TestDatabase) {
        let store = Store::open(db).await;
        let path = format!("/api/counterparty/products/{}", store.items[0]);
        let look = async || {
            let card = send(store.front.server.as_app(&store.front.project, Method::GET, &path)).await.expect(200);
            card["product"]["views_count"].as_i64().unwrap()
        };
        assert_eq!((look().await, look().await), (1, 1), "one address counts once");
        let mut looks = 1;
        let mut asked = Vec::new();
        while asked.last() != Some(&0) {
            assert!(asked.len() < 50, "asked {asked:?}");
            store.front.server.clock.advance(601);
            looks += 1;
            let before = store.front.server.db.database.statements();
            assert_eq!((look().await, look().await), (looks, looks), "and again after ten minutes");
            asked.push(store.front.server.db.database.statements() - before);
        }
        let item = store.items[0];
        let db = store.front.server.stop().await;
        let stored = db.database.read(move |connection| {
            #[derive(diesel::QueryableByName)]
            struct Row { #[diesel(sql_type = diesel::sql_types::BigInt)] views_count: i64 }
            let statement = format!("SELECT views_count FROM nomenclatures WHERE id = {item}");
            let row: Row = diesel::RunQueryDsl::get_result(diesel::sql_query(statement), connection)?;
            Ok::<_, kontor_adapter_diesel::Abort<kontor_kernel::StoreError>>(row.views_count)
        });
        assert_eq!(stored.await.unwrap(), looks);
    }

    async fn stored_looks_end_what_depends_on_them_and_nothing_else(db: TestDatabase) {
        let store = Store::open(db).await;
        let (here, server) = (store.here(), &store.front.server);
        let first = |answer: &(u16, Value)| answer.1["products"]["data"][0].clone();
        let (plain, ranked) = ("products", "products?order_by=popularity_desc");
        let before = store.read(&here, plain).await;
        let leader = first(&store.read(&here, ranked).await)["id"].as_i64().unwrap();
        let other = *store.items.iter().find(|id| **id != leader).unwrap();
        let card = format!("products/{other}");
        store.read(&here, &card).await;
        // A change without a change note shows which responses come from the cache. The lower-case statement is not
        // seen by the detection of such changes.
        let unnoted = server.db.database.write(|connection| {
            diesel::RunQueryDsl::execute(diesel::sql_query("update storefront_offers set name = 'Renamed'"), connection)?;
            Ok::<_, kontor_adapter_diesel::Abort<kontor_kernel::StoreError>>(())
        });
        unnoted.await.unwrap();
        assert_eq!(store.read(&here, plain).await, before);
        let looks = vec![(NomenclatureId::new(other).unwrap(), 1_000)];
        server.db.database.add_views(looks).await.unwrap();
        assert_eq!(store.read(&here, plain).await, before, "looks are no part of it");
        let now = first(&store.read(&here, ranked).await);
        assert_eq!((now["id"].as_i64(), now["name"].as_str()), (Some(other), Some("Renamed")));
        let looked = send(server.as_app(&store.front.project, Method::GET, &format!("/api/counterparty/{card}"))).await;
        assert!(looked.expect(200)["product"]["views_count"].as_i64().unwrap() >= 1_000);
    }
}
