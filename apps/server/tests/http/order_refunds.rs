//! Refunds of orders, from the request of an employee to the acquirer.

use kontor::instance::Roles;
use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::shop_fixture::ShopFixture;
use crate::support::{Answer, send};

impl ShopFixture {
    async fn staff(&self, method: Method, path: &str, body: Value) -> Answer {
        let owner = self.server.owner(&self.project).await;
        send(self.server.as_staff(&owner, method, path).json(&body)).await
    }

    async fn refund(&self, order: i64, query: &str, body: Value) -> Answer {
        self.staff(Method::POST, &format!("/api/orders/{order}/request-refund{query}"), body).await
    }

    /// Refunds in the acquirer's own console: a request that the service does not know.
    async fn refund_in_the_console(&self, amount: &str) {
        let payment = self.payments().await[0]["id"].clone();
        let body = json!({ "payment_id": payment, "amount": { "value": amount, "currency": "RUB" } });
        let console = self.server.http.post(format!("{}/v3/refunds", self.sandbox.url()));
        let console = console.basic_auth("100500", Some("test_sandbox_secret_key"));
        send(console.header("Idempotence-Key", format!("console {amount}")).json(&body)).await.expect(200);
    }

    async fn paid_for(&self, item: i64, pieces: i64) -> i64 {
        let body = json!({ "products": [{ "id": item, "quantity": pieces }] });
        let mut order = self.online(item);
        order["products"] = body["products"].clone();
        let id = self.order(&order).await.expect(201)["order"]["id"].as_i64().unwrap();
        self.pays("succeed").await;
        self.until(id, 22).await;
        id
    }
}

database_tests! {
    async fn an_employee_previews_and_makes_a_refund(db: TestDatabase) {
        let shop = ShopFixture::open_as(db, Roles::Both).await;
        let item = shop.goods(5, 33_333).await;
        let order = shop.paid_for(item, 3).await;
        let line = shop.staff(Method::GET, &format!("/api/orders/{order}"), json!({})).await.expect(200)["order"].clone();
        assert_eq!((&line["payment_state"], &line["captured_amount"]), (&json!("paid"), &json!("999.99")));
        let line = line["reservations"][0]["id"].clone();
        let body = json!({ "lines": [{ "id": line, "quantity": 1 }], "reason": "broken", "restock": true });
        let looked = shop.refund(order, "?dry_run=1", body.clone()).await.expect(200);
        let lines = json!([{ "id": line, "quantity": 1, "amount": "333.33", "stock": "release" }]);
        let refund = json!({ "amount": "333.33", "delivery_amount": "0.00", "left": "666.66", "lines": lines });
        let preview = &looked["preview"];
        assert_eq!((&preview["refund"], &preview["status_id"], &preview["difference"]), (&refund, &json!(22), &json!("-333.33")));
        assert_eq!((&preview["stock"][0]["reserved"], &preview["stock"][0]["quantity"]), (&json!(-1), &json!(0)));
        assert_eq!((&preview["final_price"], &preview["lines"][0]["refunded_amount"]), (&json!("999.99"), &json!("333.33")));
        assert_eq!(looked["order"]["refunds"], json!([]));
        assert_eq!((shop.reserved(item).await, shop.count("refunds").await), (3, 0));

        let given = shop.refund(order, "", body).await.expect(200);
        assert_eq!((&given["order"]["payment_state"], given.get("preview")), (&json!("paid"), None));
        assert_eq!(given["order"]["refunding_amount"], "333.33");
        assert_eq!((&given["order"]["refunds"][0]["state"], shop.reserved(item).await), (&json!("pending"), 2));
        let whole = shop.refund(order, "", json!({ "everything": true, "reason": "late", "restock": true })).await.expect(200);
        assert_eq!(whole["order"]["status"]["id"], 6);
        assert_ne!(whole["order"]["payment_state"], "refunded", "it is on its way");
        shop.server.clock.advance(3);
        shop.until_refunded(order, "999.99").await;
        assert_eq!((shop.reserved(item).await, shop.count("order_refunds").await), (0, 2));
        let reported = shop.own(&format!("/{order}")).await.expect(200);
        assert_eq!(reported["order"]["status"]["id"], 6);
        let back = shop.staff(Method::GET, &format!("/api/orders/{order}"), json!({})).await.expect(200);
        assert_eq!(back["order"]["payment_state"], "refunded");
    }

    async fn wrong_refunds_are_named_and_give_nothing_back(db: TestDatabase) {
        let shop = ShopFixture::open_as(db, Roles::Both).await;
        let item = shop.goods(5, 1_000).await;
        let (order, other) = (shop.paid_for(item, 2).await, shop.paid_for(item, 1).await);
        let line = async |order: i64| {
            let shown = shop.staff(Method::GET, &format!("/api/orders/{order}"), json!({})).await.expect(200);
            shown["order"]["reservations"][0]["id"].clone()
        };
        let (own, foreign) = (line(order).await, line(other).await);
        let fields = |answer: &Value| answer["errors"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        let wrong = json!({ "lines": [{ "id": "x", "quantity": 0 }, { "id": -1, "quantity": -1 }, { "quantity": 1_000_000_000_000_i64 }],
            "amount": "-1", "reason": "\u{0}", "restock": "maybe" });
        let refused = shop.refund(order, "", wrong).await.expect(422);
        assert_eq!(fields(&refused), ["amount", "lines.0.id", "lines.0.quantity", "lines.1.id", "lines.1.quantity", "lines.2.id",
            "lines.2.quantity", "reason", "restock"]);
        let piece = json!({ "id": own, "quantity": 1 });
        for (asked, named) in [
            (json!({ "lines": [{ "id": own, "quantity": 3 }] }), "lines.0.quantity"),
            (json!({ "lines": [{ "id": foreign, "quantity": 1 }] }), "lines.0.id"),
            (json!({ "lines": [piece, piece] }), "lines.1.id"),
            (json!({ "lines": [piece], "amount": "10.01" }), "amount"),
            (json!({ "amount": "20.01" }), "amount"),
            (json!({ "amount": "0" }), "amount"),
            // An absent or empty field must not mean a full refund.
            (json!({}), "everything"),
            (json!({ "everything": false }), "everything"),
            (json!({ "everything": null }), "everything"),
            (json!({ "everything": true, "lines": [piece] }), "everything"),
            (json!({ "everything": true, "amount": "20.00" }), "everything"),
            (json!({ "lines": [] }), "lines"),
            (json!({ "lines": null }), "lines"),
            (json!({ "lines": [], "amount": "1.00" }), "lines"),
            (json!({ "amount": null }), "amount"),
            (json!({ "lines": [piece], "amount": null }), "amount"),
            (json!({ "everything": true, "ends_period": null }), "ends_period"),
        ] {
            for query in ["", "?dry_run=1"] {
                let mut body = asked.clone();
                body["reason"] = json!("x");
                body["restock"] = json!(true);
                assert_eq!(fields(&shop.refund(order, query, body).await.expect(422)), [named], "{asked}");
            }
        }
        let sound = json!({ "everything": true, "reason": "x", "restock": true });
        assert_eq!(fields(&shop.refund(order, "?dry_run=perhaps", sound.clone()).await.expect(422)), ["dry_run"]);
        assert_eq!(fields(&shop.refund(order, "?dryrun=1", sound.clone()).await.expect(422)), ["dryrun"]);
        shop.refund(99_999, "", sound.clone()).await.expect(404);
        let unpaid = shop.order(&shop.pickup(item, 1)).await.expect(201)["order"]["id"].as_i64().unwrap();
        let refused = shop.refund(unpaid, "", sound).await.expect(422);
        assert_eq!(refused["errors"]["amount"], json!(["the order is not paid"]));
        assert_eq!((shop.count("refunds").await, shop.reserved(item).await), (0, 4));
    }

    async fn money_that_is_taken_at_hand_over_is_recorded_once_and_can_be_given_back(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(5, 1_000).await;
        let order = shop.order(&shop.pickup(item, 2)).await.expect(201)["order"]["id"].as_i64().unwrap();
        let path = format!("/api/orders/{order}");
        shop.staff(Method::PUT, &path, json!({ "status_id": 5 })).await.expect(200);
        let pay = async |body: Value| shop.staff(Method::POST, &format!("{path}/record-payment"), body).await;
        let wrong = pay(json!({ "method": "barter", "receipt": "\u{0}" })).await.expect(422);
        assert_eq!(wrong["errors"].as_object().unwrap().keys().collect::<Vec<_>>(), ["method", "receipt"]);
        assert!(pay(json!({})).await.expect(422)["errors"]["method"].is_array());
        let paid = pay(json!({ "method": "terminal", "receipt": "FD 17" })).await.expect(200)["order"].clone();
        let reported = (&paid["status"]["id"], &paid["payment_state"], &paid["captured_amount"]);
        assert_eq!(reported, (&json!(5), &json!("paid"), &json!("20.00")));
        assert_eq!(pay(json!({ "method": "cash" })).await.expect(409)["error"]["code"], "order_already_paid");
        let history = shop.staff(Method::GET, &format!("{path}/history"), json!({})).await.expect(200);
        assert!(history.to_string().contains("terminal, receipt FD 17"), "{history}");
        let back = shop.refund(order, "", json!({ "everything": true, "reason": "broken", "restock": true })).await.expect(200)["order"].clone();
        assert_eq!((&back["status"]["id"], &back["payment_state"]), (&json!(5), &json!("refunded")));

        // An unpaid order is returned unchanged.
        let other = shop.order(&shop.pickup(item, 1)).await.expect(201)["order"]["id"].as_i64().unwrap();
        shop.staff(Method::PUT, &format!("/api/orders/{other}"), json!({ "status_id": 5 })).await.expect(200);
        let body = json!({ "everything": true, "reason": "not wanted", "restock": true });
        let looked = shop.refund(other, "?dry_run=1", body.clone()).await.expect(200);
        assert_eq!(looked["preview"]["status_id"], 6);
        let returned = shop.refund(other, "", body).await.expect(200)["order"].clone();
        assert_eq!((&returned["status"]["id"], &returned["payment_state"]), (&json!(6), &json!("unpaid")));
        let late = shop.staff(Method::POST, &format!("/api/orders/{other}/record-payment"), json!({ "method": "cash" })).await;
        assert_eq!(late.expect(409)["error"]["code"], "order_final");
        let online = shop.order(&shop.online(item)).await.expect(201)["order"]["id"].as_i64().unwrap();
        let online = shop.staff(Method::POST, &format!("/api/orders/{online}/record-payment"), json!({ "method": "cash" })).await;
        assert_eq!(online.expect(409)["error"]["code"], "order_paid_online");
    }

    async fn a_refund_in_the_acquirers_console_reaches_the_order_and_its_history(db: TestDatabase) {
        let shop = ShopFixture::open_as(db, Roles::Both).await;
        let item = shop.goods(5, 1_000).await;
        let order = shop.paid_for(item, 2).await;
        shop.refund_in_the_console("7.50").await;
        shop.until_refunded(order, "7.50").await;
        let path = format!("/api/orders/{order}");
        let seen = shop.staff(Method::GET, &path, json!({})).await.expect(200)["order"].clone();
        assert_eq!((&seen["payment_state"], &seen["refunds"][0]["state"]), (&json!("partially_refunded"), &json!("succeeded")));
        let history = shop.staff(Method::GET, &format!("{path}/history"), json!({})).await.expect(200);
        assert!(history.to_string().contains("7.50, made at the acquirer"), "{history}");
        // The list of refunds replaces lost notifications.
        shop.control("/acquirer", json!({ "notification_urls": [] })).await;
        shop.refund_in_the_console("12.50").await;
        shop.server.clock.advance(3_700);
        shop.until_refunded(order, "20.00").await;
        assert_eq!(shop.count("order_refunds").await, 2);
    }

    async fn an_order_may_take_more_than_one_warehouse_has(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(5, 1_000).await;
        shop.another_warehouse(item, 2, 1_100).await;
        let cart = shop.precalculate(json!({ "products": [{ "id": item, "quantity": 7 }] })).await.expect(200);
        assert_eq!((cart["products"].as_array().unwrap().len(), &cart["total"]), (2, &json!("72.00")));
        let order = shop.order(&shop.pickup(item, 7)).await.expect(201)["order"].clone();
        assert_eq!((&order["price"], order["products"].as_array().unwrap().len()), (&json!("72.00"), 2));
        let id = order["id"].as_i64().unwrap();
        let shown = shop.staff(Method::GET, &format!("/api/orders/{id}"), json!({})).await.expect(200);
        let reserved = shown["order"]["reservations"].as_array().unwrap();
        let pieces: Vec<_> = reserved.iter().map(|line| (&line["quantity"], &line["price"])).collect();
        assert_eq!(pieces, [(&json!(5), &json!("10.00")), (&json!(2), &json!("11.00"))]);
        assert!(reserved[0]["warehouse"]["id"] != reserved[1]["warehouse"]["id"]);
        let refused = shop.order(&shop.pickup(item, 1)).await.expect(422);
        assert_eq!(refused["errors"]["products.0.quantity"], json!(["only 0 pieces are available"]));
    }
}
