//! `kontor demo` started again: what is missing is recreated, changes are kept. Also the login limits.

use std::time::Instant;

use diesel::RunQueryDsl;
use diesel::connection::SimpleConnection as _;
use kontor::cli::demo::{Demo, DemoArguments, DemoFile};
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_adapter_diesel::{Abort, DatabaseUrl, database_tests, retry_until};
use kontor_kernel::StoreError;
use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};

use crate::customer_client::ApplicationClient;
use crate::process::{PATIENCE, ProcessEnvironment};
use crate::support::{Answer, TestServer, send};

/// Tables that make up the demo, and others it writes to when it creates something.
const BOOKS: [&str; 20] = [
    "projects",
    "branches",
    "applications",
    "users",
    "warehouses",
    "warehouse_applications",
    "categories",
    "brands",
    "nomenclatures",
    "subscription_nomenclatures",
    "nomenclature_photos",
    "inventories",
    "application_categories",
    "application_brands",
    "discounts",
    "webhooks",
    "shops",
    "delivery_subtype_params",
    "stock_movements",
    "histories",
];

/// A place where a demo is started repeatedly.
struct Place {
    db: TestDatabase,
    folder: tempfile::TempDir,
}

#[derive(diesel::QueryableByName)]
struct Number {
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    value: i64,
}

impl Place {
    fn new(db: TestDatabase) -> Self {
        TestServer::prepare();
        Self { db, folder: tempfile::tempdir().unwrap() }
    }

    fn arguments(&self) -> DemoArguments {
        let database = match self.db.url() {
            DatabaseUrl::Postgres(url) => url,
            file @ DatabaseUrl::Sqlite(_) => file.to_string(),
        };
        let free = "127.0.0.1:0".parse().unwrap();
        DemoArguments {
            bind: Some(free),
            sandbox_bind: free,
            data: self.folder.path().join("shop"),
            database: Some(database),
        }
    }

    async fn start(&self) -> Demo {
        Demo::start(&self.arguments(), None).await.unwrap()
    }

    /// Starts the demo and ends it.
    async fn visit(&self) -> DemoFile {
        let demo = self.start().await;
        let file = demo.file.clone();
        demo.stop().await;
        file
    }

    async fn run(&self, statements: String) {
        let done = self.db.database.write_and_invalidate_all(move |connection| {
            connection.batch_execute(&statements)?;
            Ok::<_, Abort<StoreError>>(())
        });
        done.await.unwrap();
    }

    async fn number(&self, statement: &str) -> i64 {
        let statement = statement.to_owned();
        let row = self.db.database.read(move |connection| {
            let row: Number = diesel::sql_query(&statement).get_result(connection)?;
            Ok::<_, Abort<StoreError>>(row.value)
        });
        row.await.unwrap()
    }

    async fn books(&self) -> Vec<(&'static str, i64)> {
        let mut books = Vec::new();
        for table in BOOKS {
            books.push((table, self.number(&format!("SELECT count(*) AS value FROM {table}")).await));
        }
        books
    }

    /// Returns the records that stock, links and sales refer to, without what is written on every start.
    async fn goods(&self) -> Vec<(&'static str, i64)> {
        let books = self.books().await;
        books.into_iter().filter(|(table, _)| !["users", "histories", "stock_movements"].contains(table)).collect()
    }
}

/// The employee of a running demo.
struct Staff<'a> {
    file: &'a DemoFile,
    http: Client,
    bearer: String,
}

impl<'a> Staff<'a> {
    async fn of(file: &'a DemoFile) -> Self {
        let http = Client::builder().no_proxy().build().unwrap();
        let login = json!({ "login": file.staff.login, "password": file.staff.password });
        let signed_in = send(http.post(format!("{}/api/login", file.base_url)).json(&login)).await.expect(200);
        let bearer = signed_in["user"]["access_token"]["value"].as_str().unwrap().to_owned();
        Self { file, http, bearer }
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.file.base_url)).bearer_auth(&self.bearer)
    }

    async fn put(&self, path: &str, body: Value) {
        send(self.request(Method::PUT, path).json(&body)).await.expect(200);
    }
}

/// The steps of the tour, without a shell: browse, price with the promo code, log in, order, pay, get notified, be
/// seen by staff, get a refund. Returns what the storefront counts.
async fn walk(file: &DemoFile) -> Value {
    let front = ApplicationClient::of_demo(file);
    let products = front.request(Method::GET, "/api/counterparty/products");
    let listed = send(products.query(&[("query", "mug")])).await.expect(200);
    let mug = listed["products"]["data"][0]["id"].as_i64().unwrap();
    let cart = json!({ "products": [{ "id": mug, "quantity": 2 }], "promo_code": "HANSE10" });
    let priced =
        send(front.request(Method::POST, "/api/counterparty/orders/precalculate").json(&cart)).await.expect(200);
    assert_eq!(priced["promo_discount_amount"], json!(3.2), "{priced}");
    let anna = front.sign_in(&file.customer.phone).await;
    let order = anna.order(mug, 1, true).await.expect(201)["order"]["id"].as_i64().unwrap();
    front.pay(order).await;
    anna.wait_for_status(order, 22).await;
    let staff = Staff::of(file).await;
    send(staff.request(Method::GET, &format!("/api/orders/{order}"))).await.expect(200);
    let refund = json!({ "amount": "1.00", "reason": "a chip in the glaze", "restock": true });
    send(staff.request(Method::POST, &format!("/api/orders/{order}/request-refund")).json(&refund)).await.expect(200);
    let received = format!("{}/control/hooks/{}", file.sandbox_url, file.webhook.hook_id);
    let until = Instant::now() + PATIENCE;
    while send(front.http.get(&received)).await.expect(200)["deliveries"] == json!([]) {
        retry_until!(until, "nothing was delivered");
    }
    let seen = async || send(staff.request(Method::GET, &format!("/api/orders/{order}"))).await.expect(200);
    while seen().await["order"]["refunds"][0]["state"] != "succeeded" {
        retry_until!(until, "the money does not go back");
    }
    let all = front.request(Method::GET, "/api/counterparty/products");
    let mut total = send(all).await.expect(200)["products"]["total"].take();
    let shops = send(front.request(Method::GET, "/api/counterparty/shops")).await.expect(200);
    assert_eq!(shops["shops"].as_array().unwrap().len(), 1, "{shops}");
    total.take()
}

fn demo_webhook(path: &str) -> i64 {
    path.rsplit('/').next().unwrap().parse().unwrap()
}

database_tests! {
    async fn a_demo_starts_again_and_changes_nothing(db: TestDatabase) {
        let place = Place::new(db);
        let first = place.visit().await;
        let books = place.books().await;
        for table in ["discounts", "shops"] {
            let old = format!("SELECT count(*) AS value FROM {table} WHERE created_at < '2020-01-01 00:00:00'");
            assert_eq!(place.number(&old).await, 0, "{table}");
        }
        let second = place.visit().await;
        assert_eq!(place.books().await, books);
        assert_eq!((&second.app_token, &second.staff.password), (&first.app_token, &first.staff.password));
        assert_eq!((second.webhook.id, second.project_id), (first.webhook.id, first.project_id));

        // A folder from before the seed file existed, or of a run killed before writing it.
        std::fs::remove_file(place.arguments().data.join("seed.json")).unwrap();
        place.visit().await;
        assert_eq!(place.books().await, books);
    }

    async fn deleted_demo_records_are_recreated(db: TestDatabase) {
        let place = Place::new(db);
        let file = place.visit().await;
        let goods = place.goods().await;
        let project = file.project_id;
        for table in ["storefront_offers", "offer_counts", "nomenclature_photos", "application_categories",
            "application_brands", "warehouse_applications", "subscription_nomenclatures"] {
            place.run(format!("DELETE FROM {table}")).await;
        }
        for table in ["stock_movements", "inventories", "nomenclatures", "brands", "warehouses", "discounts",
            "webhooks", "shops", "delivery_subtype_params", "delivery_subtypes", "delivery_types", "payment_types"] {
            place.run(format!("DELETE FROM {table} WHERE project_id = {project}")).await;
        }
        place.run("DELETE FROM categories WHERE parent_id IS NOT NULL; DELETE FROM categories".to_owned()).await;

        let demo = place.start().await;
        assert_eq!(place.goods().await, goods);
        assert_eq!((demo.file.project_id, &demo.file.app_token), (project, &file.app_token));
        assert_eq!(walk(&demo.file).await, 30);
        demo.stop().await;
        let books = place.books().await;
        place.visit().await;
        assert_eq!(place.books().await, books);
    }

    async fn a_category_that_was_deleted_gets_its_cards_back(db: TestDatabase) {
        let place = Place::new(db);
        place.visit().await;
        let spices = "SELECT count(*) AS value FROM nomenclatures JOIN categories ON categories.id = category_id \
            WHERE categories.name = 'Spices'";
        assert_eq!(place.number(spices).await, 6);
        let it = "(SELECT id FROM categories WHERE name = 'Spices')";
        place.run(format!("DELETE FROM application_categories WHERE category_id = {it}")).await;
        place.run(format!("UPDATE nomenclatures SET category_id = NULL WHERE category_id = {it}")).await;
        place.run("DELETE FROM categories WHERE name = 'Spices'".to_owned()).await;
        place.visit().await;
        assert_eq!(place.number(spices).await, 6);
    }

    async fn changed_records_stay(db: TestDatabase) {
        let place = Place::new(db);
        let demo = place.start().await;
        let staff = Staff::of(&demo.file).await;
        let id = async |table: &str, what: &str| {
            place.number(&format!("SELECT id AS value FROM {table} WHERE {what}")).await
        };
        let warehouse = id("warehouses", "name = 'Main warehouse'").await;
        let discount = id("discounts", "code = 'HANSE10'").await;
        let (tea, spices) = (id("categories", "name = 'Tea'").await, id("categories", "name = 'Spices'").await);
        let brand = id("brands", "name = 'Tonwerk'").await;
        let card = id("nomenclatures", "article = 'TEA-001'").await;
        let stock = id("inventories", &format!("nomenclature_id = {card}")).await;
        staff.put(&format!("/api/warehouses/{warehouse}"), json!({ "name": "Shed" })).await;
        staff.put(&format!("/api/discounts/{discount}"), json!({ "code": "MINE", "value": "20.00" })).await;
        staff.put(&format!("/api/categories/{tea}"), json!({ "name": "Leaves, \"dried\"" })).await;
        staff.put(&format!("/api/brands/{brand}"), json!({ "name": "Clay & Sons" })).await;
        staff.put(&format!("/api/nomenclatures/{card}"), json!({ "name": "My tea", "article": "MINE-1" })).await;
        staff.put(&format!("/api/inventories/{stock}"), json!({ "quantity": 7 })).await;
        let hook = format!("/api/applications/{}/webhooks/{}", demo.file.application_id, demo.file.webhook.id);
        let own = json!({ "url": "http://127.0.0.1:9/mine" });
        send(staff.request(Method::PATCH, &hook).json(&own)).await.expect(200);
        // A deleted record is recreated with today's names.
        let shown = format!("/api/applications/{}/categories/{spices}", demo.file.application_id);
        send(staff.request(Method::DELETE, &shown)).await.expect(200);
        demo.stop().await;
        let it = "(SELECT id FROM nomenclatures WHERE article = 'TEA-003')";
        for table in ["storefront_offers", "stock_movements", "inventories", "nomenclature_photos"] {
            place.run(format!("DELETE FROM {table} WHERE nomenclature_id = {it}")).await;
        }
        place.run("DELETE FROM nomenclatures WHERE article = 'TEA-003'".to_owned()).await;

        let first = place.visit().await;
        let books = place.books().await;
        assert_ne!(first.webhook.id, demo_webhook(&hook), "the webhook that leads elsewhere is somebody's own");
        for (expected, statement) in [
            (1, "warehouses"),
            (1, "warehouses WHERE name = 'Shed'"),
            (1, "discounts"),
            (1, "discounts WHERE code = 'MINE' AND value = 2000"),
            (1, "categories WHERE name = 'Leaves, \"dried\"'"),
            (0, "categories WHERE name = 'Tea'"),
            (1, "brands WHERE name = 'Clay & Sons'"),
            (0, "brands WHERE name = 'Tonwerk'"),
            (31, "nomenclatures"),
            (1, "nomenclatures WHERE article = 'MINE-1' AND name = 'My tea'"),
            (26, "inventories"),
            (1, "inventories WHERE quantity = 7"),
            (1, "webhooks WHERE url = 'http://127.0.0.1:9/mine'"),
            (2, "webhooks"),
            (1, "nomenclatures JOIN categories ON categories.id = category_id \
                WHERE article = 'TEA-003' AND categories.name LIKE 'Leaves%'"),
            (1, "application_categories JOIN categories ON categories.id = category_id WHERE name = 'Spices'"),
        ] {
            let found = place.number(&format!("SELECT count(*) AS value FROM {statement}")).await;
            assert_eq!(found, expected, "{statement}");
        }
        let second = place.visit().await;
        assert_eq!((place.books().await, second.webhook.id), (books, first.webhook.id));
    }

    async fn secrets_that_open_nothing_are_replaced(db: TestDatabase) {
        let place = Place::new(db);
        let first = place.visit().await;
        place.run(format!("UPDATE users SET is_banned = true WHERE login = '{}'", first.staff.login)).await;
        let second = place.visit().await;
        assert_eq!((&second.app_token, second.project_id), (&first.app_token, first.project_id));
        assert_ne!(second.staff.login, first.staff.login);
        let banned = place.number("SELECT count(*) AS value FROM users WHERE is_banned").await;
        assert_eq!(banned, 1, "who is shut out stays so");

        place.run(format!("UPDATE users SET password_hash = 'another' WHERE login = '{}'", second.staff.login)).await;
        place.run("UPDATE applications SET is_active = false".to_owned()).await;
        let demo = place.start().await;
        assert_eq!(demo.file.project_id, first.project_id);
        assert_ne!(demo.file.application_id, first.application_id);
        assert_eq!(place.number("SELECT count(*) AS value FROM applications WHERE is_active").await, 1);
        assert_eq!(walk(&demo.file).await, 30);
        demo.stop().await;
        let third = place.visit().await;
        assert_eq!(place.number("SELECT count(*) AS value FROM users").await, 3, "{}", third.staff.login);
    }

    async fn a_project_of_another_database_is_left_alone(db: TestDatabase) {
        let other = TestDatabase::fresh(db.kind);
        let mut place = Place::new(db);
        let first = place.visit().await;
        place.db = other;
        place.run("INSERT INTO projects (id, name, currency, created_at) \
            VALUES (1, 'Somebody''s', 'RUB', '2026-01-01 00:00:00')".to_owned()).await;
        place.run(if place.db.url().to_string().starts_with("postgres") {
            "SELECT setval(pg_get_serial_sequence('projects', 'id'), 1)".to_owned()
        } else {
            String::new()
        }).await;
        let second = place.visit().await;
        assert_eq!((first.project_id, second.project_id), (1, 2));
        assert_eq!(place.number("SELECT count(*) AS value FROM nomenclatures WHERE project_id = 1").await, 0);
        let kept = std::fs::read_to_string(place.arguments().data.join("demo.json.old")).unwrap();
        assert!(kept.contains(&first.app_token));
    }

    async fn a_demo_allows_more_logins_than_a_service(db: TestDatabase) {
        let place = Place::new(db);
        let demo = place.start().await;
        let shop = ApplicationClient::of_demo(&demo.file);
        for number in 0..25 {
            shop.sign_in(&format!("790055500{number:02}")).await;
        }
        for _ in 0..6 {
            shop.sign_in("79005550099").await;
        }
        demo.stop().await;

        let settings = place.folder.path().join("kontor.toml");
        std::fs::write(&settings, "code_limit_factor = 1").unwrap();
        let demo = Demo::start(&place.arguments(), Some(settings)).await.unwrap();
        let shop = ApplicationClient::of_demo(&demo.file);
        let ask = async |phone: String| -> Answer {
            let request = shop.request(Method::POST, "/api/counterparty/send_password");
            send(request.json(&json!({ "phone": phone }))).await
        };
        for number in 0..20 {
            ask(format!("790055500{number:02}")).await.expect(200);
        }
        ask("79005550020".to_owned()).await.expect(429);
        demo.stop().await;
    }

    async fn a_demo_takes_the_settings_of_every_command(db: TestDatabase) {
        let environment = ProcessEnvironment::open(db, 1.0).await;
        let folder = tempfile::tempdir().unwrap();
        let (config, data) = (folder.path().join("demo.toml"), folder.path().join("shop"));
        std::fs::write(&config, "trusted_proxies = [\"127.0.0.1\"]\ncode_limit_factor = 3").unwrap();
        let (config, place) = (config.to_str().unwrap(), data.to_str().unwrap());
        let arguments = ["--config", config, "demo", "--data", place, "--sandbox-bind", "127.0.0.1:0"];
        let mut process = environment.spawn_with(&arguments, &[("KONTOR_CODE_LIMIT_FACTOR", "2".to_owned())]);
        let until = Instant::now() + PATIENCE;
        let file = loop {
            if let Ok(text) = std::fs::read_to_string(data.join("demo.json")) {
                break serde_json::from_str::<DemoFile>(&text).unwrap();
            }
            process.must_run();
            retry_until!(until, "the demo does not start:\n{}", environment.log());
        };
        // The address, the database and outside services come from the environment, not from the demo.
        assert_eq!(file.base_url, environment.url());
        assert_eq!(environment.number("SELECT count(*) AS id FROM nomenclatures").await, 31);
        assert!(!data.join("kontor.db").exists());
        let front = environment.front(&json!(file.app_token));
        let asked = front.request(Method::POST, "/api/counterparty/send_password");
        let asked = send(asked.json(&json!({ "phone": "79005550031" }))).await;
        asked.expect(200);
        assert_eq!(asked.headers["x-ratelimit-limit"], "6", "the environment stands above the file");
        assert_eq!(environment.control("/messages?to=79005550031").await["messages"].as_array().unwrap().len(), 1);

        let log_in_from = async |address: &str| -> Answer {
            let body = json!({ "login": "nobody", "password": "wrong" });
            let request = environment.http.post(format!("{}/api/login", environment.url()));
            send(request.header("X-Forwarded-For", address).json(&body)).await
        };
        for _ in 0..5 {
            log_in_from("203.0.113.7").await.expect(401);
        }
        log_in_from("203.0.113.7").await.expect(429);
        log_in_from("203.0.113.8").await.expect(401);
        process.terminate();
        assert!(process.ended().await.success());
    }
}
