//! The lines of all orders.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::shop_fixture::ShopFixture;
use crate::support::send;

const TABLE: &str = "/api/tables/reservations";

database_tests! {
    async fn every_order_line_is_in_the_table(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let (vase, cup) = (shop.goods(10, 1_000).await, shop.goods(10, 2_000).await);
        let first = shop.order(&shop.pickup(vase, 2)).await.expect(201)["order"]["id"].as_i64().unwrap();
        let second = shop.order(&shop.pickup(cup, 1)).await.expect(201)["order"]["id"].as_i64().unwrap();
        let owner = shop.server.owner(&shop.project).await;
        let get = async |query: &str| send(shop.server.as_staff(&owner, Method::GET, &format!("{TABLE}?{query}"))).await;
        let orders = async |query: &str| -> Vec<i64> {
            let table = get(query).await.expect(200);
            table["reservations"].as_array().unwrap().iter().map(|row| row["order"]["value"].as_i64().unwrap()).collect()
        };
        let cancel = json!({ "status_id": 6 });
        send(shop.server.as_staff(&owner, Method::PUT, &format!("/api/orders/{first}")).json(&cancel)).await.expect(200);

        let table = get("").await.expect(200);
        assert_eq!(table["pagination"], json!({
            "total": 2, "per_page": 15, "current_page": 1, "last_page": 1, "from": 1, "to": 2,
        }));
        for column in table["columns"].as_array().unwrap() {
            let cell = &table["reservations"][0][column["key"].as_str().unwrap()];
            assert_eq!(cell.is_object(), column["has_icon"] == true, "{column}");
        }
        let row: &Value = &table["reservations"][1];
        assert_eq!(row["order"], json!({ "icon": null, "value": first, "link": format!("/api/orders/{first}") }));
        assert_eq!((&row["state"], &row["quantity"], &row["price"], &row["total"]),
            (&json!("released"), &json!(2), &json!("10.00"), &json!("20.00")));
        assert_eq!((&row["warehouse"]["value"], &row["order_status_id"]), (&json!("W"), &json!(6)));
        for (query, expected) in [
            ("", vec![second, first]), ("state=held", vec![second]), ("state=released", vec![first]), ("state=sold", vec![]),
            (&format!("order_id={first}"), vec![first]), (&format!("nomenclature_id={cup}"), vec![second]),
            (&format!("warehouse_id[]={}", shop.warehouse), vec![second, first]), ("warehouse_id=999999", vec![]),
            ("per_page=1&page=2", vec![first]), ("date_from=2199-01-01", vec![]), ("date_to=2199-01-01", vec![second, first]),
        ] {
            assert_eq!(orders(query).await, expected, "{query}");
        }
        get("page=0&per_page=101&state=gone&order_id=x&date_from=1&colour=red").await
            .expect_invalid(&["page", "per_page", "state", "order_id", "date_from", "colour"]);
    }

    async fn it_is_the_only_way_to_read_them(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let vase = shop.goods(10, 1_000).await;
        let line = shop.order(&shop.pickup(vase, 2)).await.expect(201);
        assert!(line["order"]["id"].is_i64());
        let owner = shop.server.owner(&shop.project).await;
        for (method, path) in [
            (Method::GET, "/api/reservations"), (Method::GET, "/api/reservations/1"), (Method::DELETE, "/api/reservations/1"),
        ] {
            send(shop.server.as_staff(&owner, method, path)).await.expect(404);
        }
        let outsider = shop.server.owner(&shop.server.project().await).await;
        let table = send(shop.server.as_staff(&outsider, Method::GET, TABLE)).await.expect(200);
        assert_eq!(table["pagination"]["total"], 0);
        let seller = shop.server.staff_with(&shop.project, &["view-orders"]).await;
        send(shop.server.as_staff(&seller, Method::GET, TABLE)).await.expect(403);
        let cipher = shop.server.staff_with(&shop.project, &["view-reservations"]).await;
        send(shop.server.as_staff(&cipher, Method::GET, TABLE)).await.expect(200);
    }

    async fn a_page_costs_the_same_statements_with_any_content(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let vase = shop.goods(100, 1_000).await;
        let owner = shop.server.owner(&shop.project).await;
        let mut costs = Vec::new();
        for orders in [1, 12] {
            for _ in 0..orders {
                shop.order(&shop.pickup(vase, 1)).await.expect(201);
            }
            let table = async || send(shop.server.as_staff(&owner, Method::GET, TABLE)).await.expect(200);
            costs.push(shop.server.fewest_statements(table).await);
        }
        assert_eq!(costs[0], costs[1]);
    }
}
