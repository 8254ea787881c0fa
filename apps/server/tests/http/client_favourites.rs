//! Favourites and searches of customers, and the check of a Bearer sent along.

use kontor::instance::Roles;
use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::TestDatabase;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::shop_fixture::ShopFixture;
use crate::support::{Answer, send};

const FAVOURITES: &str = "/api/counterparty/products/favourites";
const HISTORY: &str = "/api/counterparty/search/history";
const POPULAR: &str = "/api/counterparty/search/popular";

/// A shop with three vases in stock, for an anonymous visitor or a customer.
struct FavouritesFixture {
    shop: ShopFixture,
    vases: Vec<i64>,
}

impl FavouritesFixture {
    async fn open(db: TestDatabase) -> Self {
        let shop = ShopFixture::open_as(db, Roles::Api).await;
        let mut vases = Vec::new();
        for price in [1_000, 2_000, 3_000] {
            vases.push(shop.goods(5, price).await);
        }
        shop.server.db.database.rebuild_offers().await.unwrap();
        Self { shop, vases }
    }

    fn by(&self, bearer: &str, method: Method, path: &str) -> RequestBuilder {
        self.shop.server.as_customer(&self.shop.project, bearer, method, path)
    }

    async fn own(&self, method: Method, path: &str) -> Answer {
        send(self.by(&self.shop.bearer, method, path)).await
    }

    async fn anonymous(&self, path: &str) -> Answer {
        send(self.shop.server.as_app(&self.shop.project, Method::GET, path)).await
    }

    async fn keep(&self, body: Value) -> Answer {
        send(self.by(&self.shop.bearer, Method::POST, FAVOURITES).json(&body)).await
    }

    /// Returns the favourites in a list, and its counts.
    async fn kept(&self, path: &str) -> (Vec<i64>, i64) {
        let list = self.own(Method::GET, path).await.expect(200);
        let products = list["products"]["data"].as_array().unwrap();
        assert!(products.iter().all(|product| product["is_favourite"] == true));
        let ids = products.iter().map(|product| product["id"].as_i64().unwrap()).collect();
        (ids, list["products"]["total"].as_i64().unwrap())
    }

    async fn values(&self, path: &str) -> Vec<String> {
        let list = self.own(Method::GET, path).await.expect(200);
        let found = list["searchRequests"].as_array().unwrap();
        assert_eq!(list["searchRequestsCount"], found.len());
        found.iter().map(|request| request["value"].as_str().unwrap().to_owned()).collect()
    }
}

fn marked(list: &Value) -> Vec<i64> {
    let products = list["products"]["data"].as_array().unwrap().iter();
    products.filter(|product| product["is_favourite"] == true).map(|product| product["id"].as_i64().unwrap()).collect()
}

database_tests! {
    async fn favourites_are_added_and_removed(db: TestDatabase) {
        let fixture = FavouritesFixture::open(db).await;
        let (first, second) = (fixture.vases[0], fixture.vases[1]);
        let empty = fixture.own(Method::GET, FAVOURITES).await.expect(200);
        assert_eq!(empty, json!({ "products": { "current_page": 1, "data": [], "per_page": 10, "total": 0, "last_page": 1 } }));
        let added = fixture.keep(json!({ "product_id": first })).await.expect(201);
        assert_eq!((&added["product"]["id"], &added["product"]["is_favourite"]), (&json!(first), &json!(true)));
        assert!(added["product"]["characteristics"].is_string() && added["product"]["tags"].is_array());
        let again = fixture.keep(json!({ "product_id": first })).await.expect(200);
        assert_eq!(again, added);
        fixture.keep(json!({ "product_id": second.to_string() })).await.expect(201);
        assert_eq!(fixture.kept(FAVOURITES).await, (vec![second, first], 2));
        assert_eq!(fixture.kept(&format!("{FAVOURITES}?page=2&per_page=1")).await, (vec![first], 2));
        assert_eq!(fixture.kept(&format!("{FAVOURITES}?page=9")).await, (Vec::new(), 2));

        let path = format!("{FAVOURITES}/{}", fixture.vases[2]);
        let product = fixture.own(Method::GET, &path).await.expect(200)["product"].clone();
        assert_eq!((&product["is_favourite"], &product["views_count"]), (&json!(false), &json!(0)), "read, not looked at");
        for absent in ["999999999", "0", "x"] {
            fixture.own(Method::GET, &format!("{FAVOURITES}/{absent}")).await.expect(404);
            fixture.own(Method::DELETE, &format!("{FAVOURITES}/{absent}")).await.expect(404);
        }
        let path = format!("{FAVOURITES}/{first}");
        let gone = fixture.own(Method::DELETE, &path).await.expect(200);
        assert!(gone["message"].is_string());
        fixture.own(Method::DELETE, &path).await.expect(404);
        assert_eq!(fixture.own(Method::GET, &path).await.expect(200)["product"]["is_favourite"], false);
        assert_eq!(fixture.kept(FAVOURITES).await, (vec![second], 1));

        let (_, other) = fixture.shop.server.customer(&fixture.shop.project).await;
        let theirs = send(fixture.by(&other, Method::GET, FAVOURITES)).await.expect(200);
        assert_eq!(theirs["products"]["total"], 0);
        let remove = async |id: i64| send(fixture.by(&other, Method::DELETE, &format!("{FAVOURITES}/{id}"))).await;
        let (hidden, absent) = (remove(second).await, remove(999_999).await);
        hidden.expect(404);
        assert_eq!((hidden.status, hidden.text), (absent.status, absent.text), "kept by somebody else");
        fixture.anonymous(FAVOURITES).await.expect(401);
    }

    async fn a_product_of_another_project_is_answered_as_one_that_does_not_exist(db: TestDatabase) {
        let fixture = FavouritesFixture::open(db).await;
        let server = &fixture.shop.server;
        let elsewhere = server.project().await;
        let owner = server.owner(&elsewhere).await;
        let card = json!({ "name": "Engraving", "kind_id": 1, "price": "100.00" });
        let made = send(server.as_staff(&owner, Method::POST, "/api/nomenclatures").json(&card)).await.expect(201);
        let id = made["nomenclature"]["id"].as_i64().unwrap();
        let products = "/api/counterparty/products";
        send(server.as_app(&elsewhere, Method::GET, &format!("{products}/{id}"))).await.expect(200);
        for (method, root) in [(Method::GET, products), (Method::GET, FAVOURITES), (Method::DELETE, FAVOURITES)] {
            let hidden = fixture.own(method.clone(), &format!("{root}/{id}")).await;
            let absent = fixture.own(method, &format!("{root}/999999")).await;
            hidden.expect(404);
            assert_eq!((hidden.status, hidden.text), (absent.status, absent.text), "{root}");
        }
    }

    async fn the_record_of_a_customer_lists_favourites(db: TestDatabase) {
        let fixture = FavouritesFixture::open(db).await;
        let (server, project) = (&fixture.shop.server, &fixture.shop.project);
        let reported = async || {
            let record = async || fixture.own(Method::GET, "/api/counterparty").await.expect(200)["counterparty"].clone();
            (record().await["favourite_products"].clone(), server.fewest_statements(record).await)
        };
        let (nothing, cost) = reported().await;
        assert_eq!(nothing, json!([]));
        for vase in &fixture.vases[..2] {
            fixture.keep(json!({ "product_id": vase })).await.expect(201);
        }
        let list = fixture.own(Method::GET, FAVOURITES).await.expect(200)["products"]["data"].clone();
        assert_eq!(list.as_array().unwrap().len(), 2);
        let (kept, spent) = reported().await;
        assert_eq!(kept, list, "as the list tells them, kept last first");
        assert!(spent <= cost + 1, "{spent} statements instead of {cost}");
        let changed = fixture.by(&fixture.shop.bearer, Method::PUT, "/api/counterparty").json(&json!({}));
        assert_eq!(send(changed).await.expect(200)["counterparty"]["favourite_products"], list);

        let phone = "79001234567";
        let post = |path: &str| server.as_app(project, Method::POST, &format!("/api/counterparty/{path}"));
        send(post("send_password").json(&json!({ "phone": phone }))).await.expect(200);
        let messages = format!("{}/control/messages?to={phone}", fixture.shop.sandbox.url());
        let code = send(server.http.get(messages)).await.expect(200)["messages"][0]["code"].clone();
        let signed = send(post("login").json(&json!({ "phone": phone, "password": code }))).await.expect(200);
        assert_eq!(signed["counterparty"]["id"], fixture.shop.customer);
        assert_eq!(signed["counterparty"]["favourite_products"], list);

        server.execute(&format!("UPDATE inventories SET quantity = 0 WHERE nomenclature_id = {}", fixture.vases[1])).await;
        server.db.database.rebuild_offers().await.unwrap();
        let shown = reported().await.0;
        assert_eq!((shown.as_array().unwrap().len(), &shown[0]), (1, &list[1]), "what the application shows");
        let (_, other) = server.customer(project).await;
        let theirs = send(fixture.by(&other, Method::GET, "/api/counterparty")).await.expect(200);
        assert_eq!(theirs["counterparty"]["favourite_products"], json!([]));
    }

    async fn only_products_of_the_application_can_be_kept(db: TestDatabase) {
        let fixture = FavouritesFixture::open(db).await;
        let elsewhere = fixture.shop.server.project().await;
        let (nowhere, far, plan) = (fixture.shop.goods(1, 100).await, fixture.shop.goods(1, 100).await, fixture.shop.goods(1, 100).await);
        let bare = fixture.shop.goods(0, 100).await;
        let (p, warehouse) = (fixture.shop.project.id, fixture.shop.warehouse);
        for statement in [
            format!("DELETE FROM stock_movements WHERE nomenclature_id = {nowhere}"),
            format!("DELETE FROM inventories WHERE nomenclature_id = {nowhere}"),
            format!("INSERT INTO warehouses (project_id, branch_id, name, created_at, updated_at) \
                SELECT project_id, branch_id, 'Far', created_at, updated_at FROM warehouses WHERE id = {warehouse}"),
            format!("UPDATE inventories SET warehouse_id = (SELECT max(id) FROM warehouses WHERE project_id = {p}) WHERE nomenclature_id = {far}"),
            format!("UPDATE nomenclatures SET is_subscription = TRUE, billing_period_months = 1 WHERE id = {plan}"),
            format!("UPDATE nomenclatures SET category_id = NULL WHERE id = {bare}"),
        ] {
            fixture.shop.server.execute(&statement).await;
        }
        let hidden = [nowhere, far, plan, bare];
        for wrong in [
            json!({}), json!({ "product_id": null }), json!({ "product_id": "x" }), json!({ "product_id": 0 }),
            json!({ "product_id": [1] }), json!({ "product_id": 999_999_999 }), json!({ "product_id": nowhere }),
            json!({ "product_id": far }), json!({ "product_id": plan }), json!({ "product_id": bare }),
        ] {
            fixture.keep(wrong).await.expect_invalid(&["product_id"]);
        }
        for hidden in hidden {
            fixture.own(Method::GET, &format!("{FAVOURITES}/{hidden}")).await.expect(404);
        }
        fixture.own(Method::GET, &format!("{FAVOURITES}?page=0&per_page=101")).await.expect_invalid(&["page", "per_page"]);
        fixture.own(Method::GET, &format!("{FAVOURITES}?colour=red")).await.expect_invalid(&["colour"]);
        let (_, outsider) = fixture.shop.server.customer(&elsewhere).await;
        let body = json!({ "product_id": fixture.vases[0] });
        let request = fixture.shop.server.as_customer(&elsewhere, &outsider, Method::POST, FAVOURITES).json(&body);
        send(request).await.expect_invalid(&["product_id"]);
        assert_eq!(fixture.shop.count("favourites").await, 0);
    }

    async fn sold_out_products_can_be_read_and_kept_and_come_back(db: TestDatabase) {
        let fixture = FavouritesFixture::open(db).await;
        let (vase, gone) = (fixture.vases[0], fixture.shop.goods(0, 500).await);
        let path = |id: i64| format!("{FAVOURITES}/{id}");
        let before = fixture.own(Method::GET, &path(vase)).await.expect(200)["product"].clone();
        let sell = async |id: i64, left: i64| {
            fixture.shop.server.execute(&format!("UPDATE inventories SET quantity = {left} WHERE nomenclature_id = {id}")).await;
            fixture.shop.server.db.database.correct_ledger(None, chrono::DateTime::UNIX_EPOCH).await.unwrap();
            fixture.shop.server.db.database.rebuild_offers().await.unwrap();
        };
        fixture.keep(json!({ "product_id": vase })).await.expect(201);
        sell(vase, 0).await;
        fixture.anonymous(&format!("/api/counterparty/products/{vase}")).await.expect(404);
        let mut expected = before.clone();
        (expected["quantity"], expected["is_favourite"]) = (json!(0), json!(true));
        assert_eq!(fixture.own(Method::GET, &path(vase)).await.expect(200)["product"], expected);
        let kept = fixture.keep(json!({ "product_id": gone })).await.expect(201)["product"].clone();
        assert_eq!((&kept["quantity"], &kept["price"], &kept["is_favourite"]), (&json!(0), &json!("5.00"), &json!(true)));
        fixture.keep(json!({ "product_id": gone })).await.expect(200);
        assert_eq!(fixture.kept(FAVOURITES).await, (Vec::new(), 0));
        sell(gone, 3).await;
        assert_eq!(fixture.kept(FAVOURITES).await, (vec![gone], 1));
        fixture.own(Method::DELETE, &path(vase)).await.expect(200);
        expected["is_favourite"] = json!(false);
        assert_eq!(fixture.own(Method::GET, &path(vase)).await.expect(200)["product"], expected);
    }

    async fn a_bearer_that_comes_along_is_believed_or_passed_over(db: TestDatabase) {
        let fixture = FavouritesFixture::open(db).await;
        let server = &fixture.shop.server;
        let vase = fixture.vases[1];
        fixture.keep(json!({ "product_id": vase })).await.expect(201);
        let list = "/api/counterparty/products";
        let card = format!("{list}/{vase}");
        assert_eq!(marked(&fixture.own(Method::GET, list).await.expect(200)), [vase]);
        assert_eq!(fixture.own(Method::GET, &card).await.expect(200)["product"]["is_favourite"], true);

        let elsewhere = server.project().await;
        let other_application = server.insert(format!(
            "INSERT INTO applications (project_id, branch_id, name, token_fingerprint, is_active, wholesale, created_at, updated_at) \
             SELECT project_id, branch_id, 'Twin', 'twin', TRUE, FALSE, created_at, updated_at FROM applications WHERE id = {} \
             RETURNING id", fixture.shop.project.application_id
        )).await;
        let customer = server.customer(&fixture.shop.project).await.0;
        let others = [
            server.token(&fixture.shop.project, "counterparty", customer, Some(other_application)).await,
            server.customer(&fixture.shop.project).await.1,
            server.customer(&elsewhere).await.1,
            server.owner(&fixture.shop.project).await,
            "1|wrong".to_owned(),
            "nonsense".to_owned(),
        ];
        for bearer in &others {
            let seen = send(fixture.by(bearer, Method::GET, list)).await.expect(200);
            assert_eq!((marked(&seen), &seen["products"]["total"]), (Vec::new(), &json!(3)), "{bearer}");
            assert_eq!(send(fixture.by(bearer, Method::GET, &card)).await.expect(200)["product"]["is_favourite"], false);
        }
        assert!(marked(&fixture.anonymous(list).await.expect(200)).is_empty());
        send(server.as_staff(&fixture.shop.bearer, Method::GET, list)).await.expect(401);
    }

    async fn a_bearer_costs_one_statement_and_remembering_a_search_none(db: TestDatabase) {
        let fixture = FavouritesFixture::open(db).await;
        fixture.keep(json!({ "product_id": fixture.vases[0] })).await.expect(201);
        let cost = async |bearer: Option<&str>, query: &str| {
            let mut page = 0;
            let once = async || {
                // A new page each time, because responses without a Bearer are cached.
                page += 1;
                let path = format!("/api/counterparty/products?per_page={page}{query}");
                let mut request = fixture.shop.server.as_app(&fixture.shop.project, Method::GET, &path);
                if let Some(bearer) = bearer {
                    request = request.bearer_auth(bearer);
                }
                send(request).await.expect(200);
            };
            fixture.shop.server.fewest_statements(once).await
        };
        let alone = cost(None, "").await;
        assert!(alone > 0);
        assert_eq!(cost(Some(&fixture.shop.bearer), "").await, alone + 1);
        let searching = cost(None, "&query=vase").await;
        assert!(searching > 0);
        assert_eq!(cost(Some(&fixture.shop.bearer), "&query=vase").await, searching + 1);
    }

    async fn searches_of_a_customer_are_stored(db: TestDatabase) {
        let fixture = FavouritesFixture::open(db).await;
        let clock = &fixture.shop.server.clock;
        for query in ["vase", "%D0%B2%D0%B0%D0%B7%D0%B0", "VASE", "nothing"] {
            fixture.own(Method::GET, &format!("/api/counterparty/products?query={query}")).await.expect(200);
            clock.advance(1);
        }
        fixture.own(Method::GET, "/api/counterparty/prices?query=price").await.expect(200);
        fixture.own(Method::GET, "/api/counterparty/products").await.expect(200);
        fixture.own(Method::GET, "/api/counterparty/products?query=").await.expect(422);
        fixture.anonymous("/api/counterparty/products?query=secret").await.expect(200);
        assert_eq!(fixture.values(HISTORY).await, ["nothing", "VASE", "ваза"]);
        assert_eq!(fixture.values(POPULAR).await, ["nothing", "VASE", "ваза"]);
        let whole = fixture.own(Method::GET, HISTORY).await.expect(200);
        let paged = fixture.own(Method::GET, &format!("{HISTORY}?page=2&per_page=1&query=vase")).await.expect(200);
        assert_eq!(paged, whole, "a list without pages");
        let first = whole["searchRequests"][0].clone();
        let keys: Vec<&str> = first.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, ["created_at", "id", "value"]);
        assert_eq!(fixture.anonymous(POPULAR).await.expect(200), json!({ "searchRequests": [], "searchRequestsCount": 0 }));
        fixture.anonymous(HISTORY).await.expect(401);
        let (_, other) = fixture.shop.server.customer(&fixture.shop.project).await;
        for path in [HISTORY, POPULAR] {
            let theirs = send(fixture.by(&other, Method::GET, path)).await.expect(200);
            assert_eq!(theirs["searchRequestsCount"], 0);
        }
    }

    async fn the_last_fifty_searches_are_kept_and_none_is_lost_at_the_end(db: TestDatabase) {
        let fixture = FavouritesFixture::open(db).await;
        for number in 0..55 {
            fixture.own(Method::GET, &format!("/api/counterparty/products?query=vase{number}")).await.expect(200);
            fixture.shop.server.clock.advance(1);
        }
        let values = fixture.values(HISTORY).await;
        assert_eq!((values.len(), values[0].as_str(), values[49].as_str()), (50, "vase54", "vase5"));
        fixture.own(Method::GET, "/api/counterparty/products?query=last").await.expect(200);
        let db = fixture.shop.server.stop().await;
        let kept = db.database.read(|connection| {
            use diesel::prelude::*;
            #[derive(diesel::QueryableByName)]
            struct Kept {
                #[diesel(sql_type = diesel::sql_types::Text)]
                value: String,
            }
            let newest = "SELECT value FROM search_requests ORDER BY created_at DESC LIMIT 1";
            let row: Kept = diesel::sql_query(newest).get_result(connection)?;
            Ok::<_, kontor_adapter_diesel::Abort<kontor_kernel::StoreError>>(row.value)
        });
        assert_eq!(kept.await.unwrap(), "last");
    }
}
