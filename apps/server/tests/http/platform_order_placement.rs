//! Orders placed by staff for customers.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::shop_fixture::ShopFixture;
use crate::support::{Answer, fields, send};

impl ShopFixture {
    pub async fn employee(&self, method: Method, path: &str, body: &Value) -> Answer {
        let owner = self.server.owner(&self.project).await;
        send(self.server.as_staff(&owner, method, path).json(body)).await
    }

    async fn customer_id(&self) -> i64 {
        self.server.insert("SELECT max(id) AS id FROM counterparties".to_owned()).await
    }
}

database_tests! {
    async fn staff_order_in_an_application_or_for_the_project(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(5, 1_000).await;
        let customer = shop.customer_id().await;
        let mut body = shop.pickup(item, 2);
        body["counterparty_id"] = json!(customer);
        body["application_id"] = json!(shop.project.application_id);
        body["comment"] = json!("rings twice");
        let made = shop.employee(Method::POST, "/api/orders", &body).await.expect(201)["order"].clone();
        assert_eq!((&made["status"]["id"], &made["price"], &made["comment"]), (&json!(1), &json!("20.00"), &json!("rings twice")));
        assert_eq!((&made["application"]["id"], &made["counterparty"]["id"]), (&body["application_id"], &json!(customer)));
        assert_eq!(shop.own("").await.expect(200)["ordersCount"], 1);

        // For the project: from all its warehouses, although no application shows the item.
        shop.server.execute("DELETE FROM warehouse_applications").await;
        assert_eq!(fields(&shop.employee(Method::POST, "/api/orders", &body).await.expect(422)), ["products.0.id"]);
        body["application_id"] = json!(null);
        let made = shop.employee(Method::POST, "/api/orders", &body).await.expect(201)["order"].clone();
        assert_eq!((&made["application"], shop.reserved(item).await), (&json!(null), 4));
        assert_eq!(shop.own("").await.expect(200)["ordersCount"], 1);
        shop.own(&format!("/{}", made["id"])).await.expect(404);
        let table = shop.employee(Method::GET, "/api/tables/orders", &json!({})).await.expect(200);
        assert_eq!(table["orders"].as_array().unwrap().len(), 2);
        let paid = shop.employee(Method::PUT, &format!("/api/orders/{}", made["id"]), &json!({ "status_id": 22 })).await.expect(200);
        assert_eq!((&paid["order"]["payment_state"], shop.count("outbox_events").await), (&json!("paid"), 0));
    }

    async fn everything_wrong_with_a_staff_order_is_named(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(5, 1_000).await;
        let other = shop.server.project().await;
        let (_, _) = shop.server.customer(&other).await;
        let outsider = shop.customer_id().await;
        let refused = shop.employee(Method::POST, "/api/orders", &json!({ "counterparty_id": "x", "application_id": 0,
            "manager_id": -1, "delivery_type_id": "y", "products": [{ "id": 0, "quantity": 0 }], "comment": 5 })).await.expect(422);
        assert_eq!(fields(&refused), ["application_id", "comment", "counterparty_id", "delivery_type_id", "manager_id",
            "products.0.id", "products.0.quantity"]);
        let mut body = shop.pickup(item, 9);
        body["counterparty_id"] = json!(outsider);
        body["application_id"] = json!(other.application_id);
        let refused = shop.employee(Method::POST, "/api/orders", &body).await.expect(422);
        assert_eq!(fields(&refused), ["application_id", "counterparty_id", "products.0.id"]);
        let mut body = shop.pickup(item, 1);
        body["counterparty_id"] = json!(shop.server.insert(format!("SELECT min(id) AS id FROM counterparties WHERE project_id = {}", shop.project.id)).await);
        body["manager_id"] = json!(99_999);
        assert_eq!(fields(&shop.employee(Method::POST, "/api/orders", &body).await.expect(422)), ["manager_id"]);
        assert_eq!((shop.count("orders").await, shop.reserved(item).await), (0, 0));
    }

    async fn the_calculator_says_what_the_order_costs_and_writes_nothing(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(5, 26_550).await;
        shop.promo("SPRING").await;
        let application = shop.project.application_id;
        let body = json!({ "application_id": application, "products": [{ "id": item, "quantity": 2 }], "promo_code": "SPRING" });
        let staff = shop.employee(Method::POST, "/api/orders/calculator", &body).await.expect(200);
        let cart = json!({ "products": [{ "id": item, "quantity": 2 }], "promo_code": "SPRING" });
        assert_eq!(staff, shop.precalculate(cart).await.expect(200));
        let mut order = shop.pickup(item, 2);
        order["promo_code"] = json!("SPRING");
        order["counterparty_id"] = json!(shop.customer_id().await);
        let made = shop.employee(Method::POST, "/api/orders", &order).await.expect(201)["order"].clone();
        for figure in ["original_price", "product_discount_amount", "promo_discount_amount", "total_discount_amount", "final_price"] {
            assert_eq!(made[figure], staff[figure], "{figure}");
        }
        let wrong = json!({ "application_id": 99_999, "counterparty_id": 99_999, "products": [{ "id": item, "quantity": 1 }] });
        let refused = shop.employee(Method::POST, "/api/orders/calculator", &wrong).await.expect(422);
        assert_eq!(fields(&refused), ["application_id", "counterparty_id"]);
        let many = json!({ "products": [{ "id": item, "quantity": 1_000_000_000_000_i64 }, { "id": 99_999, "quantity": 1 }] });
        shop.employee(Method::POST, "/api/orders/calculator", &many).await.expect(422);
        assert_eq!(shop.count("orders").await, 1);
    }

    async fn the_lines_of_an_order_are_a_table_and_deleting_it_cancels_it(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(5, 1_000).await;
        let order = shop.order(&shop.pickup(item, 2)).await.expect(201)["order"]["id"].as_i64().unwrap();
        let other = shop.order(&shop.pickup(item, 1)).await.expect(201)["order"]["id"].as_i64().unwrap();
        let lines = async |query: &str| {
            shop.employee(Method::GET, &format!("/api/tables/orders/{order}/nomenclatures{query}"), &json!({})).await.expect(200)
        };
        let table = lines("").await;
        let rows = table["nomenclatures"].as_array().unwrap();
        assert_eq!((rows.len(), &rows[0]["quantity"], &rows[0]["state"]), (1, &json!(2), &json!("held")));
        assert_eq!(rows[0]["nomenclature"]["link"], json!(format!("/api/nomenclatures/{item}")));
        assert_eq!(lines("?state=sold").await["pagination"]["total"], 0);
        shop.employee(Method::GET, "/api/tables/orders/99999/nomenclatures", &json!({})).await.expect(404);

        let gone = shop.employee(Method::DELETE, &format!("/api/orders/{order}"), &json!({})).await.expect(200);
        assert_eq!(gone, json!({ "message": "The order was canceled." }));
        assert_eq!((shop.state(order).await.0, shop.reserved(item).await), (6, 1));
        shop.employee(Method::DELETE, &format!("/api/orders/{order}"), &json!({})).await.expect(200);
        assert_eq!(shop.reserved(item).await, 1);
        shop.employee(Method::PUT, &format!("/api/orders/{other}"), &json!({ "status_id": 22 })).await.expect(200);
        let paid = shop.employee(Method::DELETE, &format!("/api/orders/{other}"), &json!({})).await.expect(422);
        assert_eq!((fields(&paid), shop.reserved(item).await), (vec!["status_id"], 1));
    }
}
