//! Sales figures for charts.

use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_kernel::{Clock as _, Zone};
use reqwest::Method;
use serde_json::{Value, json};

use crate::shop_fixture::ShopFixture;
use crate::support::{Answer, send};

/// A shop with its owner and an item that costs 10.00.
struct Market {
    shop: ShopFixture,
    owner: String,
    item: i64,
}

impl Market {
    async fn open(db: TestDatabase) -> Self {
        let shop = ShopFixture::open(db).await;
        let owner = shop.server.owner(&shop.project).await;
        let item = shop.goods(20, 1_000).await;
        Self { shop, owner, item }
    }

    async fn ask(&self, method: Method, path: &str, body: Value) -> Answer {
        send(self.shop.server.as_staff(&self.owner, method, path).json(&body)).await
    }

    async fn get(&self, path: &str) -> Answer {
        send(self.shop.server.as_staff(&self.owner, Method::GET, &format!("/api/reports/{path}"))).await
    }

    /// Sells units, paid at this time. Returns the order.
    async fn sell(&self, quantity: i64, paid_at: &str) -> i64 {
        let placed = self.shop.order(&self.shop.pickup(self.item, quantity)).await.expect(201);
        let order = placed["order"]["id"].as_i64().unwrap();
        self.ask(Method::PUT, &format!("/api/orders/{order}"), json!({ "status_id": 22 })).await.expect(200);
        self.shop.server.execute(&format!("UPDATE orders SET paid_at = '{paid_at}' WHERE id = {order}")).await;
        order
    }

    /// Takes everything back, at this time.
    async fn take_back(&self, order: i64, at: &str) {
        let body = json!({ "everything": true, "reason": "broken", "restock": true });
        self.ask(Method::POST, &format!("/api/orders/{order}/request-refund"), body).await.expect(200);
        let settled = format!("UPDATE order_refunds SET settled_at = '{at}' WHERE order_id = {order}");
        self.shop.server.execute(&settled).await;
    }

    /// Three orders. Moscow is three hours ahead of UTC: the second is paid on 2 March.
    async fn trade(&self) {
        self.sell(2, "2026-03-01 20:59:59").await;
        self.sell(3, "2026-03-01 21:00:00").await;
        let last = self.sell(1, "2026-03-02 12:00:00").await;
        self.take_back(last, "2026-03-02 13:00:00").await;
    }
}

fn row(date: Option<&str>, hour: Option<u32>, orders: u64, revenue: &str, average: Option<&str>) -> Value {
    json!({
        "date": date, "hour": hour, "orders": orders, "revenue": revenue, "average": average,
        "refunds": 0, "refunded": "0.00",
    })
}

database_tests! {
    async fn sales_are_summed_up_by_day_and_by_hour_of_the_project(db: TestDatabase) {
        let market = Market::open(db).await;
        market.trade().await;
        let report = market.get("orders?from=2026-03-01&to=2026-03-03").await.expect(200)["report"].clone();
        let reported = (&report["from"], &report["to"], &report["by"], &report["time_zone"]);
        assert_eq!(reported, (&json!("2026-03-01"), &json!("2026-03-03"), &json!("day"), &json!("Europe/Moscow")));
        let mut second = row(Some("2026-03-02"), None, 2, "40.00", Some("20.00"));
        second["refunds"] = json!(1);
        second["refunded"] = json!("10.00");
        let first = row(Some("2026-03-01"), None, 1, "20.00", Some("20.00"));
        assert_eq!(report["rows"], json!([first, second, row(Some("2026-03-03"), None, 0, "0.00", None)]));
        let total = json!({ "orders": 3, "revenue": "60.00", "average": "20.00", "refunds": 1, "refunded": "10.00" });
        assert_eq!(report["total"], total);

        let report = market.get("orders?from=2026-03-01&to=2026-03-02&by=hour").await.expect(200)["report"].clone();
        assert_eq!((report["rows"].as_array().unwrap().len(), &report["total"]), (24, &total));
        assert_eq!(report["rows"][0], row(None, Some(0), 1, "30.00", Some("30.00")));
        assert_eq!(report["rows"][23], row(None, Some(23), 1, "20.00", Some("20.00")));
        assert_eq!((&report["rows"][15]["orders"], &report["rows"][16]["refunds"]), (&json!(1), &json!(1)));

        let outsider = market.shop.server.owner(&market.shop.server.project().await).await;
        let path = "/api/reports/orders?from=2026-03-01&to=2026-03-03";
        let foreign = send(market.shop.server.as_staff(&outsider, Method::GET, path)).await.expect(200);
        assert_eq!(foreign["report"]["total"]["orders"], 0);
    }

    async fn best_sellers_are_listed_with_their_stock(db: TestDatabase) {
        let market = Market::open(db).await;
        market.trade().await;
        for query in ["", "&order_by=revenue", "&order_by=quantity"] {
            let report = market.get(&format!("items?from=2026-03-01&to=2026-03-02{query}")).await.expect(200);
            assert_eq!(report["report"], json!({
                "from": "2026-03-01", "to": "2026-03-02", "time_zone": "Europe/Moscow", "items": [{
                    "id": market.item, "name": "Vase", "article": null, "quantity": 6, "revenue": "60.00", "returned": 1,
                    "refunded": "10.00", "sold_per_day": "2.50", "available": 15, "days_of_stock": 6,
                }],
            }));
        }
        let earlier = market.get("items?from=2026-02-01&to=2026-02-28").await.expect(200);
        assert_eq!(earlier["report"]["items"], json!([]));
    }

    async fn every_wrong_part_of_a_question_is_named(db: TestDatabase) {
        let market = Market::open(db).await;
        for (query, fields) in [
            ("orders?from=1.3.2026&to=2026-02-30&by=week&colour=red", vec!["from", "to", "by", "colour"]),
            ("orders?from=2026-03-02&to=2026-03-01", vec!["to"]),
            ("orders?from=2026-01-01&to=2027-01-02", vec!["to"]),
            ("orders?from=2026-03-01&to=2026-04-01&by=hour", vec!["to"]),
            ("items?from=2026-01-01&to=2027-01-02&order_by=name", vec!["order_by"]),
            ("items?from=2026-01-01&to=2027-01-02", vec!["to"]),
        ] {
            market.get(query).await.expect_invalid(&fields);
        }
        // By default the last 30 days, with today.
        let report = market.get("orders").await.expect(200)["report"].clone();
        let today = Zone::default().local(market.shop.server.clock.now()).date();
        assert_eq!((report["rows"].as_array().unwrap().len(), &report["to"]), (30, &json!(today)));
        let items = market.get("items?to=2026-01-30").await.expect(200);
        assert_eq!(items["report"]["from"], "2026-01-01");
        market.get("orders?from=2026-01-01&to=2027-01-01").await.expect(200);
        market.get("orders?from=9999-12-31&to=9999-12-31").await.expect(200);
        market.get("orders?from=0001-01-01&to=0001-01-01").await.expect(200);
        market.get("orders?from=2026-03-01&to=2026-03-31&by=hour").await.expect(200);
    }

    async fn figures_have_their_own_permission(db: TestDatabase) {
        let market = Market::open(db).await;
        let server = &market.shop.server;
        let seller = server.staff_with(&market.shop.project, &["view-orders", "edit-orders"]).await;
        let viewer = server.staff_with(&market.shop.project, &["view-statistics"]).await;
        for report in ["orders", "items"] {
            let path = format!("/api/reports/{report}?from=2026-03-01&to=2026-03-01");
            send(server.as_staff(&seller, Method::GET, &path)).await.expect(403);
            send(server.as_staff(&viewer, Method::GET, &path)).await.expect(200);
        }
    }
}
