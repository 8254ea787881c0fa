//! Notifications of customers, as they read them.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::json;

use crate::process::ProcessEnvironment;
use crate::shop_fixture::ShopFixture;
use crate::support::{Answer, fields, send};

const PATH: &str = "/api/counterparty/notifications";

impl ShopFixture {
    async fn reported(&self, query: &str) -> Answer {
        let path = format!("{PATH}{query}");
        send(self.server.as_customer(&self.project, &self.bearer, Method::GET, &path)).await
    }

    /// Creates an order that staff have canceled.
    async fn canceled(&self, item: i64) -> i64 {
        let id = self.order(&self.pickup(item, 1)).await.expect(201)["order"]["id"].as_i64().unwrap();
        let owner = self.server.owner(&self.project).await;
        let path = format!("/api/orders/{id}");
        send(self.server.as_staff(&owner, Method::PUT, &path).json(&json!({ "status_id": 6 }))).await.expect(200);
        id
    }
}

database_tests! {
    async fn a_customer_reads_what_became_of_their_orders(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let pages = json!({ "total": 0, "per_page": 10, "current_page": 1, "last_page": 1, "from": null, "to": null });
        assert_eq!(shop.reported("").await.expect(200), json!({ "notifications": [], "pagination": pages }));
        let item = shop.goods(99, 26_550).await;
        let order = shop.canceled(item).await;
        let reported = shop.reported("").await.expect(200);
        let first = reported["notifications"][0].clone();
        assert!(first["id"].is_i64() && first["created_at"].as_str().unwrap().parse::<chrono::DateTime<chrono::Utc>>().is_ok());
        assert_eq!(first, json!({
            "id": first["id"], "icon": null, "title": format!("Заказ № {order} отменён"), "status": "order_canceled",
            "body": null, "action_url": null, "created_at": first["created_at"],
        }));
        let pages = json!({ "total": 1, "per_page": 10, "current_page": 1, "last_page": 1, "from": 1, "to": 1 });
        assert_eq!(reported["pagination"], pages);

        let online = shop.order(&shop.online(item)).await.expect(201)["order"]["id"].as_i64().unwrap();
        shop.fault("duplicate", 1).await;
        shop.pays("succeed").await;
        shop.until(online, 22).await;
        let newest = shop.reported("?per_page=1").await.expect(200);
        let paid = &newest["notifications"][0];
        assert_eq!((&paid["status"], &paid["body"]), (&json!("order_paid"), &json!("Мы получили 265,50 ₽.")));
        let pages = json!({ "total": 2, "per_page": 1, "current_page": 1, "last_page": 2, "from": 1, "to": 1 });
        assert_eq!(newest["pagination"], pages);
        let past = shop.reported("?page=3&per_page=1").await.expect(200);
        assert_eq!((&past["notifications"], &past["pagination"]["total"]), (&json!([]), &json!(2)));
    }

    async fn only_the_customer_reads_them_in_the_application(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(99, 100).await;
        shop.canceled(item).await;
        let (_, other) = shop.server.customer(&shop.project).await;
        let foreign = send(shop.server.as_customer(&shop.project, &other, Method::GET, PATH)).await.expect(200);
        assert_eq!(foreign["pagination"]["total"], 0);
        send(shop.server.as_app(&shop.project, Method::GET, PATH)).await.expect(401);
        let elsewhere = shop.server.project().await;
        send(shop.server.as_customer(&elsewhere, &shop.bearer, Method::GET, PATH)).await.expect(404);
    }

    async fn wrong_pages_are_named_at_once(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        assert_eq!(shop.reported("?per_page=50").await.expect(200)["pagination"]["per_page"], 50);
        for (query, wrong) in [
            ("?page=0&per_page=51", vec!["page", "per_page"]),
            ("?page=x&per_page=0", vec!["page", "per_page"]),
            ("?per_page=-1", vec!["per_page"]),
            ("?pages=1", vec!["pages"]),
        ] {
            assert_eq!(fields(&shop.reported(query).await.expect(422)), wrong, "{query}");
        }
    }

    async fn a_list_costs_the_same_statements_however_long(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(99, 100).await;
        let mut costs = Vec::new();
        for orders in [1, 9] {
            for _ in 0..orders {
                shop.canceled(item).await;
            }
            let list = async || shop.reported("").await.expect(200);
            costs.push(shop.server.fewest_statements(list).await);
        }
        assert_eq!(costs[0], costs[1]);
    }

    async fn reading_is_limited_by_customer(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        for _ in 0..60 {
            shop.reported("").await.expect(200);
        }
        let refused = shop.reported("").await;
        refused.expect(429);
        assert!(refused.headers.contains_key("retry-after"));
        let (_, other) = shop.server.customer(&shop.project).await;
        send(shop.server.as_customer(&shop.project, &other, Method::GET, PATH)).await.expect(200);
    }

    async fn an_operator_sets_the_language(db: TestDatabase) {
        let environment = ProcessEnvironment::open(db, 1.0).await;
        let project = environment.create_project("owner")["project_id"].to_string();
        let set = |language: &'static str| {
            environment.command(&["project", "language", "--project", &project, "--language", language]).output().unwrap()
        };
        let done = set("en");
        assert!(done.status.success() && String::from_utf8(done.stdout).unwrap().contains("language    en"));
        let refused = set("de");
        assert!(!refused.status.success());
        assert!(String::from_utf8(refused.stderr).unwrap().contains("--language must be ru or en"));
        let unknown = environment.command(&["project", "language", "--project", "999", "--language", "en"]).output().unwrap();
        assert!(!unknown.status.success() && String::from_utf8(unknown.stderr).unwrap().contains("project 999 not found"));
    }
}
