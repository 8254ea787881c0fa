//! History of an order, as staff see it.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::shop_fixture::ShopFixture;
use crate::support::{Answer, send};

impl ShopFixture {
    async fn history_of(&self, order: i64, query: &str) -> Answer {
        self.employee(Method::GET, &format!("/api/orders/{order}/history{query}"), &json!({})).await
    }

    async fn edited(&self, order: i64, body: Value) -> Value {
        self.employee(Method::PUT, &format!("/api/orders/{order}"), &body).await.expect(200)["order"].clone()
    }
}

database_tests! {
    async fn it_says_who_changed_what_from_what_to_what(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(5, 1_000).await;
        let order = shop.order(&shop.pickup(item, 2)).await.expect(201)["order"]["id"].as_i64().unwrap();
        shop.edited(order, json!({ "comment": "fragile", "address": "Lenina 1" })).await;
        let before = shop.edited(order, json!({ "comment": null, "status_id": 3 })).await;
        // Writing the same values is no change: no history entry and no new version.
        let same = shop.edited(order, json!({ "comment": null, "address": "Lenina 1", "status_id": 3 })).await;
        assert_eq!(same, before);
        let reported = shop.history_of(order, "").await.expect(200);
        assert_eq!((&reported["historiesCount"], reported["histories"].as_array().unwrap().len()), (&json!(3), 3));
        let [moved, changed, created] = [0, 1, 2].map(|line| &reported["histories"][line]);
        assert_eq!((&moved["event"], &moved["action"], &moved["status_id"]), (&json!("status_changed"), &json!("changed"), &json!(3)));
        let changes = json!([{ "field": "status_id", "old": "1", "new": "3" }, { "field": "comment", "old": "fragile", "new": null }]);
        assert_eq!(moved["changes"], changes);
        let changes = json!([{ "field": "comment", "old": null, "new": "fragile" }, { "field": "address", "old": "Square 1", "new": "Lenina 1" }]);
        assert_eq!((&changed["event"], &changed["changes"]), (&json!("changed"), &changes));
        assert!(changed["user"]["id"].is_i64() && changed["dateTime"].is_string(), "{changed}");
        let changes = json!([{ "field": "status_id", "old": null, "new": "1" }, { "field": "final_price", "old": null, "new": "20.00" }]);
        assert_eq!((&created["action"], &created["changes"]), (&json!("created"), &changes));
        assert_eq!((&created["counterparty"]["id"], &created["user"]), (&json!(shop.customer), &json!(null)));

        let cost = async |query: &str| {
            let once = async || shop.history_of(order, query).await.expect(200);
            shop.server.fewest_statements(once).await
        };
        let page = shop.history_of(order, "?per_page=1&page=2").await.expect(200);
        assert_eq!((&page["histories"][0]["event"], &page["pagination"]["last_page"]), (&json!("changed"), &json!(3)));
        assert_eq!(cost("").await, cost("?per_page=1&page=2").await, "a line costs no statement of its own");
        let wrong = shop.history_of(order, "?per_page=0&page=x").await.expect(422);
        assert_eq!(wrong["errors"].as_object().unwrap().keys().collect::<Vec<_>>(), ["page", "per_page"]);
    }

    async fn outsiders_and_staff_without_permission_see_no_order(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(5, 1_000).await;
        let order = shop.order(&shop.pickup(item, 2)).await.expect(201)["order"]["id"].as_i64().unwrap();
        let path = format!("/api/orders/{order}/history");
        let outsider = shop.server.owner(&shop.server.project().await).await;
        let employee = shop.server.staff_with(&shop.project, &["edit-orders"]).await;
        for bearer in [outsider, employee] {
            send(shop.server.as_staff(&bearer, Method::GET, &path)).await.expect(403);
        }
        shop.history_of(99_999, "").await.expect(404);
    }
}
