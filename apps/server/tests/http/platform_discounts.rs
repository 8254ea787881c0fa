//! Discounts and promo codes: staff create them, and carts and the storefront apply them.

use kontor::instance::Roles;
use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_kernel::Clock;
use reqwest::Method;
use serde_json::{Value, json};

use crate::project_fixture::ProjectFixture;
use crate::shop_fixture::ShopFixture;
use crate::support::{Answer, send};

const PATH: &str = "/api/discounts";

/// A shop and its owner.
struct Sale {
    shop: ShopFixture,
    owner: String,
}

impl Sale {
    async fn open(db: TestDatabase) -> Self {
        let shop = ShopFixture::open_as(db, Roles::Api).await;
        let owner = shop.server.owner(&shop.project).await;
        Self { shop, owner }
    }

    async fn ask(&self, method: Method, path: &str, body: Value) -> Answer {
        send(self.shop.server.as_staff(&self.owner, method, path).json(&body)).await
    }

    async fn discount(&self, body: Value) -> i64 {
        self.ask(Method::POST, PATH, body).await.expect(201)["discount"]["id"].as_i64().unwrap()
    }

    async fn act(&self, id: i64, action: &str) -> Answer {
        self.ask(Method::POST, &format!("{PATH}/{id}/{action}"), json!({})).await
    }

    async fn goods(&self, price: i64) -> i64 {
        let item = self.shop.goods(100, price).await;
        self.shop.server.db.database.rebuild_offers().await.unwrap();
        item
    }

    /// Returns the discounts of a cart: the automatic ones, and that of the promo code.
    async fn cart(&self, item: i64, code: Option<&str>) -> Value {
        let mut body = json!({ "products": [{ "id": item, "quantity": 1 }] });
        if let Some(code) = code {
            body["promo_code"] = json!(code);
        }
        self.shop.precalculate(body).await.expect(200)
    }

    /// Returns the price of a product in the storefront, and its old price.
    async fn shelf(&self, item: i64) -> (Value, Value) {
        let path = format!("/api/counterparty/products/{item}");
        let card = send(self.shop.server.as_app(&self.shop.project, Method::GET, &path)).await.expect(200);
        (card["product"]["price"].clone(), card["product"]["old_price"].clone())
    }

    async fn on_sale(&self) -> usize {
        let path = "/api/counterparty/products?sale=1";
        let list = send(self.shop.server.as_app(&self.shop.project, Method::GET, path)).await.expect(200);
        list["products"]["data"].as_array().unwrap().len()
    }

    fn in_seconds(&self, seconds: i64) -> String {
        let moment = self.shop.server.clock.now() + chrono::TimeDelta::seconds(seconds);
        moment.to_rfc3339()
    }
}

database_tests! {
    async fn a_discount_is_made_changed_and_listed(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let shelf = fixture.create("/api/categories", json!({ "name": "Kitchen" })).await;
        let body = json!({
            "name": "Весна", "type": "percent", "value": "12.50", "category_id": shelf, "code": "SPRING-10",
            "minimum_sum": 100, "usage_limit": 5, "customer_limit": 1, "starts_at": "2026-01-01T03:00:00+03:00",
            "ends_at": "2100-01-01T00:00:00Z", "description": "All of spring",
        });
        let made = fixture.post(PATH, body).await.expect(201);
        let discount = &made["discount"];
        assert_eq!((&discount["type"], &discount["value"]), (&json!("percent"), &json!("12.50")));
        assert_eq!(discount["category"], json!({ "id": shelf, "name": "Kitchen" }));
        assert_eq!((&discount["target"], &discount["nomenclature"]), (&json!("category"), &Value::Null));
        assert_eq!((&discount["minimum_sum"], &discount["starts_at"]), (&json!("100.00"), &json!("2026-01-01T00:00:00Z")));
        assert_eq!((&discount["used_count"], &discount["used_amount"]), (&json!(0), &json!("0.00")));
        assert_eq!(discount["status"], "active");
        let path = format!("{PATH}/{}", discount["id"]);
        assert_eq!(fixture.get(&path).await.expect(200), made);
        // The record may be sent back as it was read.
        assert_eq!(fixture.put(&path, discount.clone()).await.expect(200), made);
        let change = json!({ "type": "fixed", "value": "70", "target": "cart", "category_id": null, "minimum_sum": "0.00", "ends_at": null });
        let changed = fixture.put(&path, change).await.expect(200)["discount"].clone();
        assert_eq!((&changed["value"], &changed["target"], &changed["category"]), (&json!("70.00"), &json!("cart"), &Value::Null));
        assert_eq!((&changed["minimum_sum"], &changed["ends_at"], &changed["code"]), (&json!("0.00"), &Value::Null, &json!("SPRING-10")));

        let list = fixture.get(&format!("{PATH}?per_page=1&query=ВЕС&has_code=1")).await.expect(200);
        assert_eq!(list["data"]["discounts"], json!([changed]));
        assert_eq!((&list["data"]["discountsCount"], &list["data"]["pagination"]["last_page"]), (&json!(1), &json!(1)));
        assert_eq!(list["meta"]["total"], 1);
        let first = list["links"]["first"].as_str().unwrap();
        assert!(first.starts_with("http://") && first.contains("/api/discounts?per_page=1&query=") && first.ends_with("&page=1"), "{first}");
        assert_eq!((&list["links"]["prev"], &list["links"]["next"]), (&Value::Null, &Value::Null));
    }

    async fn a_list_knows_its_neighbours_and_its_filters(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let draft = |more: Value| {
            let mut body = json!({ "name": "D", "type": "percent", "value": 5 });
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            body
        };
        for more in [
            json!({}), json!({ "status": "paused" }), json!({ "starts_at": "2100-01-01T00:00:00Z", "code": "LATER" }),
            json!({ "ends_at": "2020-01-01T00:00:00Z" }), json!({}),
        ] {
            fixture.post(PATH, draft(more)).await.expect(201);
        }
        let archived = fixture.create(PATH, draft(json!({}))).await;
        fixture.post(&format!("{PATH}/{archived}/archive"), json!({})).await.expect(200);
        for (status, count) in [("active", 2), ("paused", 1), ("scheduled", 1), ("expired", 1), ("archived", 1)] {
            let list = fixture.get(&format!("{PATH}?status={status}")).await.expect(200);
            assert_eq!(list["data"]["discountsCount"], count, "{status}");
            let all = list["data"]["discounts"].as_array().unwrap();
            assert!(all.iter().all(|discount| discount["status"] == status), "{list}");
        }
        let stats = fixture.get(&format!("{PATH}/stats")).await.expect(200);
        assert_eq!(stats, json!({ "stats": {
            "total": 6, "active": 2, "scheduled": 1, "expired": 1, "paused": 1, "archived": 1, "promo_codes": 1,
            "usages": 0, "discount_amount": "0.00",
        } }));
        let middle = fixture.get(&format!("{PATH}?per_page=2&page=2")).await.expect(200);
        let page = |number: u64| json!(middle["meta"]["path"].as_str().unwrap().to_owned() + &format!("?per_page=2&page={number}"));
        assert_eq!(middle["links"], json!({ "first": page(1), "last": page(3), "prev": page(1), "next": page(3) }));
        let meta = &middle["meta"];
        assert_eq!((&meta["current_page"], &meta["from"], &meta["to"], &meta["last_page"]), (&json!(2), &json!(3), &json!(4), &json!(3)));
        let ids: Vec<_> = middle["data"]["discounts"].as_array().unwrap().iter().map(|one| one["id"].as_i64().unwrap()).collect();
        assert!(ids[0] > ids[1], "newest first");
        assert_eq!(fixture.get(&format!("{PATH}?has_code=false")).await.expect(200)["data"]["discountsCount"], 5);
        assert_eq!(fixture.get(&format!("{PATH}?query=later")).await.expect(200)["data"]["discountsCount"], 1);
        for (query, count) in [
            ("", 6), ("status=active", 2), ("status[]=paused&status[]=archived", 2), ("has_code=1", 1), ("has_code=0", 5),
            ("query=later", 1), ("target=cart", 6), ("target[]=category&target[]=product", 0),
            ("status=scheduled&has_code=0", 0), ("status=scheduled&query=LATER&has_code=1", 1),
        ] {
            let table = fixture.get(&format!("/api/tables/discounts?{query}")).await.expect(200);
            assert_eq!(table["pagination"]["total"], count, "{query}");
        }
        let table = fixture.get("/api/tables/discounts?order_by=id_asc&per_page=3").await.expect(200);
        let rows = table["discounts"].as_array().unwrap();
        let reported: Vec<_> = rows.iter().map(|row| (row["status"].as_str().unwrap(), row["used_amount"].as_str().unwrap())).collect();
        assert_eq!(reported, [("active", "0.00"), ("paused", "0.00"), ("scheduled", "0.00")]);
        assert_eq!((&rows[2]["code"], &rows[2]["name"]["value"], &rows[2]["version"]), (&json!("LATER"), &json!("D"), &json!(1)));
        fixture.get("/api/tables/discounts?status=new&has_code=x&target=moon&colour=red").await
            .expect_invalid(&["status", "has_code", "target", "colour"]);
        let (one, many) = (fixture.cost("/api/tables/discounts?per_page=1").await, fixture.cost("/api/tables/discounts").await);
        assert_eq!(one, many, "the length of a table costs no statements");
        let past = fixture.get(&format!("{PATH}?per_page=2&page=9")).await.expect(200);
        assert_eq!((&past["data"]["discounts"], &past["meta"]["from"]), (&json!([]), &Value::Null));
        let (one, many) = (fixture.cost(&format!("{PATH}?per_page=1")).await, fixture.cost(&format!("{PATH}?per_page=6")).await);
        assert_eq!(one, many, "the length of a list costs no statements");
        fixture.get(&format!("{PATH}?status=new&per_page=101&page=0&has_code=x&sort=id")).await
            .expect_invalid(&["status", "per_page", "page", "has_code", "sort"]);
    }

    async fn every_wrong_field_of_a_discount_is_named(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        fixture.post(PATH, json!({})).await.expect_invalid(&["name", "type", "value"]);
        fixture.post(PATH, json!({
            "name": "", "type": "gift", "value": -1, "target": "moon", "category_id": 0, "nomenclature_id": "x",
            "code": "a b", "minimum_sum": "x", "starts_at": "2026-02-30", "ends_at": 5, "usage_limit": 0,
            "customer_limit": 1.5, "status": "archived", "description": [],
        })).await.expect_invalid(&[
            "name", "type", "value", "target", "category_id", "nomenclature_id", "code", "minimum_sum", "starts_at",
            "ends_at", "usage_limit", "customer_limit", "status", "description",
        ]);
        let sound = |more: Value| {
            let mut body = json!({ "name": "D", "type": "percent", "value": 5 });
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            body
        };
        fixture.post(PATH, sound(json!({
            "value": 101, "category_id": 1, "nomenclature_id": 1, "starts_at": "2026-01-02T00:00:00Z",
            "ends_at": "2026-01-02T00:00:00Z", "usage_limit": 1, "customer_limit": 1,
        }))).await.expect_invalid(&["value", "nomenclature_id", "ends_at", "usage_limit", "customer_limit"]);
        fixture.post(PATH, sound(json!({ "type": "fixed", "value": "0.00" }))).await.expect_invalid(&["value"]);
        fixture.post(PATH, sound(json!({ "target": "product" }))).await.expect_invalid(&["nomenclature_id"]);
        let foreign = fixture.create_elsewhere("/api/categories", json!({ "name": "Theirs" })).await;
        fixture.post(PATH, sound(json!({ "category_id": foreign }))).await.expect_invalid(&["category_id"]);
        fixture.post(PATH, sound(json!({ "nomenclature_id": 999_999 }))).await.expect_invalid(&["nomenclature_id"]);
        fixture.post(PATH, sound(json!({ "code": "ONE" }))).await.expect(201);
        fixture.post(PATH, sound(json!({ "code": "ONE" }))).await.expect_invalid(&["code"]);

        let path = format!("{PATH}/{}", fixture.create(PATH, sound(json!({}))).await);
        fixture.put(&path, json!({ "name": null, "type": null, "value": null, "target": null, "code": "\u{0}" })).await
            .expect_invalid(&["name", "type", "value", "target", "code"]);
        fixture.put(&path, json!({ "type": "fixed", "usage_limit": 3 })).await.expect_invalid(&["value", "usage_limit"]);
        fixture.put(&path, json!({ "category_id": foreign })).await.expect_invalid(&["category_id"]);
        fixture.put(&path, json!({ "code": "ONE" })).await.expect_invalid(&["code"]);
        for (method, absent) in [
            (Method::GET, ""), (Method::PUT, ""), (Method::DELETE, ""), (Method::POST, "/pause"), (Method::POST, "/activate"),
            (Method::POST, "/archive"), (Method::GET, "/usages"),
        ] {
            for id in ["999999", "x"] {
                let path = format!("{PATH}/{id}{absent}");
                send(fixture.server.as_staff(&fixture.owner, method.clone(), &path).json(&json!({}))).await.expect(404);
            }
            let own = format!("{path}{absent}");
            fixture.as_outsider(method, &own, json!({})).await.expect(403);
        }
        fixture.get(&format!("{path}/usages?page=0&per_page=0&x=1")).await.expect_invalid(&["page", "per_page", "x"]);
    }

    async fn carts_follow_what_staff_do(db: TestDatabase) {
        let sale = Sale::open(db).await;
        let item = sale.goods(10_000).await;
        let off = async || sale.cart(item, None).await["product_discount_amount"].clone();
        let id = sale.discount(json!({ "name": "Ten", "type": "percent", "value": 10, "nomenclature_id": item })).await;
        assert_eq!(off().await, json!(10.0));
        assert_eq!(sale.shelf(item).await, (json!("90.00"), json!("100.00")));
        assert_eq!(sale.act(id, "activate").await.expect(200)["discount"]["status"], "active");
        for (action, status, left) in [("pause", "paused", 0.0), ("pause", "paused", 0.0), ("activate", "active", 10.0), ("archive", "archived", 0.0)] {
            assert_eq!(sale.act(id, action).await.expect(200)["discount"]["status"], status);
            assert_eq!(off().await, json!(left), "{action}");
            assert_eq!(sale.on_sale().await, usize::from(left > 0.0), "{action}");
        }
        sale.act(id, "activate").await.expect(409);
        sale.act(id, "pause").await.expect(409);
        sale.ask(Method::PUT, &format!("{PATH}/{id}"), json!({ "name": "X" })).await.expect(409);
        assert_eq!(sale.act(id, "archive").await.expect(200)["discount"]["status"], "archived");
    }

    async fn a_discount_begins_and_ends_with_the_clock(db: TestDatabase) {
        let sale = Sale::open(db).await;
        let item = sale.goods(10_000).await;
        let period = json!({
            "name": "An hour", "type": "fixed", "value": "25.00", "nomenclature_id": item,
            "starts_at": sale.in_seconds(3_600), "ends_at": sale.in_seconds(7_200),
        });
        let id = sale.discount(period).await;
        let status = async || sale.ask(Method::GET, &format!("{PATH}/{id}"), json!({})).await.expect(200)["discount"]["status"].clone();
        let full = (json!("100.00"), Value::Null);
        let reduced = (json!("75.00"), json!("100.00"));
        for (wait, expected, name, sold) in [(0, &full, "scheduled", 0), (3_600, &reduced, "active", 1), (3_600, &full, "expired", 0)] {
            sale.shop.server.clock.advance(wait);
            assert_eq!(sale.shelf(item).await, *expected, "{name}");
            assert_eq!((status().await, sale.on_sale().await), (json!(name), sold));
        }
        sale.act(id, "pause").await.expect(200);
        sale.act(id, "activate").await.expect(409);
        let longer = json!({ "ends_at": sale.in_seconds(60) });
        sale.ask(Method::PUT, &format!("{PATH}/{id}"), longer).await.expect(200);
        assert_eq!(sale.act(id, "activate").await.expect(200)["discount"]["status"], "active");
        assert_eq!(sale.shelf(item).await, reduced);
    }

    async fn orders_count_the_uses_of_a_code(db: TestDatabase) {
        let sale = Sale::open(db).await;
        let item = sale.goods(10_000).await;
        let body = json!({ "name": "Code", "type": "percent", "value": 20, "code": "TWENTY", "usage_limit": 2 });
        let id = sale.discount(body).await;
        let path = format!("{PATH}/{id}");
        let mut order = sale.shop.pickup(item, 1);
        order["promo_code"] = json!("TWENTY");
        let first = sale.shop.order(&order).await.expect(201)["order"]["id"].as_i64().unwrap();
        let second = sale.shop.order(&order).await.expect(201)["order"]["id"].as_i64().unwrap();
        sale.shop.order(&order).await.expect_invalid(&["promo_code"]);
        let used = async || {
            let one = sale.ask(Method::GET, &path, json!({})).await.expect(200)["discount"].clone();
            let usages = sale.ask(Method::GET, &format!("{path}/usages?per_page=1"), json!({})).await.expect(200);
            assert_eq!(usages["usagesCount"], one["used_count"]);
            (one["used_count"].clone(), one["used_amount"].clone(), usages["usages"][0].clone())
        };
        let (count, amount, latest) = used().await;
        assert_eq!((count, amount), (json!(2), json!("40.00")));
        assert_eq!((&latest["order_id"], &latest["counterparty_id"]), (&json!(second), &json!(sale.shop.customer)));
        assert_eq!((&latest["discount_amount"], &latest["final_price"]), (&json!("20.00"), &json!("80.00")));
        // The code that orders used cannot change.
        for body in [json!({ "code": "OTHER" }), json!({ "code": null })] {
            sale.ask(Method::PUT, &path, body).await.expect_invalid(&["code"]);
        }
        // Nor can a promo code without orders become an automatic discount.
        let fresh = sale.discount(json!({ "name": "Fresh", "type": "percent", "value": 1, "code": "FRESH" })).await;
        for path in [&path, &format!("{PATH}/{fresh}")] {
            let before = sale.ask(Method::GET, path, json!({})).await.expect(200);
            let refused = sale.ask(Method::PUT, path, json!({ "code": null, "usage_limit": null, "value": 90 })).await;
            refused.expect_invalid(&["code"]);
            assert_eq!(sale.ask(Method::GET, path, json!({})).await.expect(200), before);
        }
        assert_eq!(sale.cart(item, None).await["product_discount_amount"], json!(0.0));
        sale.ask(Method::PUT, &path, json!({ "usage_limit": 1 })).await.expect_invalid(&["usage_limit"]);
        sale.ask(Method::DELETE, &path, json!({})).await.expect_invalid(&["id"]);
        let canceled = json!({ "status_id": 6 });
        sale.ask(Method::PUT, &format!("/api/orders/{second}"), canceled).await.expect(200);
        let (count, amount, latest) = used().await;
        assert_eq!((count, amount, &latest["order_id"]), (json!(1), json!("20.00"), &json!(first)));
        let stats = sale.ask(Method::GET, "/api/discounts/stats", json!({})).await.expect(200);
        assert_eq!((&stats["stats"]["usages"], &stats["stats"]["discount_amount"]), (&json!(1), &json!("20.00")));
        // A new value applies from now on; orders keep theirs.
        sale.ask(Method::PUT, &path, json!({ "value": 50, "usage_limit": 1 })).await.expect(200);
        sale.ask(Method::PUT, &path, json!({ "usage_limit": null })).await.expect(200);
        assert_eq!(sale.cart(item, Some("TWENTY")).await["promo_discount_amount"], json!(50.0));
        assert_eq!(used().await.1, json!("20.00"));
        sale.ask(Method::DELETE, &path, json!({})).await.expect_invalid(&["id"]);
        let unused = sale.discount(json!({ "name": "Never", "type": "percent", "value": 1, "code": "NEVER" })).await;
        let gone = format!("{PATH}/{unused}");
        sale.ask(Method::DELETE, &gone, json!({})).await.expect(200);
        sale.ask(Method::GET, &gone, json!({})).await.expect(404);
    }

    async fn only_staff_with_the_permission_come_in(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let body = json!({ "name": "D", "type": "percent", "value": 5 });
        let path = format!("{PATH}/{}", fixture.create(PATH, body.clone()).await);
        for (permission, method, path, status) in [
            ("view-discounts", Method::GET, path.as_str(), 200),
            ("view-discounts", Method::POST, PATH, 403),
            ("create-discounts", Method::POST, PATH, 201),
            ("create-discounts", Method::PUT, path.as_str(), 403),
            ("edit-discounts", Method::PUT, path.as_str(), 200),
            ("edit-discounts", Method::GET, path.as_str(), 403),
        ] {
            fixture.as_one_who_may(&[permission], method, path, body.clone()).await.expect(status);
        }
    }
}
