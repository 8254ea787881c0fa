//! Lines of orders, changed by staff before and after the customer pays.

use kontor::instance::Roles;
use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::shop_fixture::ShopFixture;
use crate::support::{Answer, fields};

impl ShopFixture {
    /// Sends a request about a line of an order, or about the order when `of` is empty.
    async fn change(&self, method: Method, order: i64, of: &str, body: Value) -> Answer {
        self.employee(method, &format!("/api/orders/{order}{of}"), &body).await
    }

    async fn seen(&self, order: i64) -> Value {
        self.change(Method::GET, order, "", json!({})).await.expect(200)["order"].clone()
    }

    async fn line(&self, order: i64) -> i64 {
        self.seen(order).await["reservations"][0]["id"].as_i64().unwrap()
    }

    async fn ordered(&self, body: &Value) -> i64 {
        self.order(body).await.expect(201)["order"]["id"].as_i64().unwrap()
    }

    /// Returns counts that a preview must not change.
    async fn written(&self) -> [i64; 4] {
        let tables = ["stock_movements", "order_events", "notifications", "charges"];
        [
            self.count(tables[0]).await,
            self.count(tables[1]).await,
            self.count(tables[2]).await,
            self.count(tables[3]).await,
        ]
    }
}

database_tests! {
    async fn an_employee_previews_and_changes_an_unpaid_order(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let (item, other) = (shop.goods(5, 1_000).await, shop.goods(3, 250).await);
        let order = shop.ordered(&shop.pickup(item, 2)).await;
        let line = shop.line(order).await;
        let new = json!({ "nomenclature_id": other, "quantity": 3 });
        let before = shop.written().await;
        let looked = shop.change(Method::POST, order, "/nomenclatures?dry_run=1", new.clone()).await.expect(200);
        assert_eq!((shop.written().await, shop.reserved(other).await), (before, 0));
        let preview = &looked["preview"];
        assert_eq!((&preview["final_price"], &preview["difference"]), (&json!("27.50"), &json!("7.50")));
        assert_eq!((&preview["lines"][1]["id"], &preview["lines"][1]["total"]), (&json!(null), &json!("7.50")));
        assert_eq!((&preview["stock"][0]["reserved"], &preview["refund"], &preview["status_id"]), (&json!(3), &json!(null), &json!(1)));
        assert_eq!(looked["order"]["reservations"].as_array().unwrap().len(), 1);

        let added = shop.change(Method::POST, order, "/nomenclatures", new).await.expect(201);
        assert_eq!((&added["order"]["final_price"], added.get("preview")), (&json!(27.5), None));
        assert_eq!((shop.reserved(item).await, shop.reserved(other).await), (2, 3));
        let second = added["order"]["reservations"][1]["id"].as_i64().unwrap();
        let path = format!("/nomenclatures/{line}");
        let edited = shop.change(Method::PUT, order, &path, json!({ "quantity": 1, "price": "9.00" })).await.expect(200);
        assert_eq!((&edited["order"]["price"], &edited["order"]["reservations"][0]["price"]), (&json!("16.50"), &json!("9.00")));
        let path = format!("/nomenclatures/{second}");
        let looked = shop.change(Method::DELETE, order, &format!("{path}?dry_run=1"), json!({})).await.expect(200);
        assert_eq!((&looked["preview"]["difference"], shop.reserved(other).await), (&json!("-7.50"), 3));
        let removed = shop.change(Method::DELETE, order, &path, json!({})).await.expect(200);
        assert_eq!((&removed["order"]["price"], shop.reserved(other).await), (&json!("9.00"), 0));
        let last = shop.change(Method::DELETE, order, &format!("/nomenclatures/{line}"), json!({})).await.expect(409);
        assert_eq!(last["error"]["code"], "order_last_line");
        let reported = shop.own(&format!("/{order}")).await.expect(200);
        assert_eq!(reported["order"]["price"], "9.00");
    }

    async fn wrong_changes_are_named_and_change_nothing(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        // More items than lines are created first, so the item's number is not that of a line.
        let (_, _, item) = (shop.goods(5, 1_000).await, shop.goods(5, 1_000).await, shop.goods(5, 1_000).await);
        let (order, another) = (shop.ordered(&shop.pickup(item, 2)).await, shop.ordered(&shop.pickup(item, 1)).await);
        let (line, foreign) = (shop.line(order).await, shop.line(another).await);
        assert!(item != line && item != foreign);
        let before = shop.written().await;
        for wrong in [json!(0), json!(-1), json!(1_000_000_000_000_i64), json!("many"), json!(1.5)] {
            for query in ["", "?dry_run=1"] {
                let new = json!({ "nomenclature_id": "x", "quantity": wrong, "price": "-1" });
                let refused = shop.change(Method::POST, order, &format!("/nomenclatures{query}"), new).await.expect(422);
                assert_eq!(fields(&refused), ["nomenclature_id", "price", "quantity"]);
                let edit = json!({ "quantity": wrong, "price": "free", "restock": "maybe", "reason": "" });
                let refused = shop.change(Method::PUT, order, &format!("/nomenclatures/{line}{query}"), edit).await.expect(422);
                assert_eq!(fields(&refused), ["price", "quantity", "reason", "restock"]);
            }
        }
        assert_eq!(fields(&shop.change(Method::POST, order, "/nomenclatures", json!({})).await.expect(422)), ["nomenclature_id", "quantity"]);
        for (new, named) in [
            (json!({ "nomenclature_id": item, "quantity": 1 }), "nomenclature_id"),
            (json!({ "nomenclature_id": 99_999, "quantity": 1 }), "nomenclature_id"),
        ] {
            assert_eq!(fields(&shop.change(Method::POST, order, "/nomenclatures", new).await.expect(422)), [named]);
        }
        let path = format!("/nomenclatures/{line}");
        let refused = shop.change(Method::PUT, order, &path, json!({ "quantity": 5 })).await.expect(422);
        assert_eq!(refused["errors"]["quantity"], json!(["only 4 pieces are available"]));
        assert_eq!(fields(&shop.change(Method::PUT, order, &path, json!({ "restock": false })).await.expect(422)), ["restock"]);
        let query = format!("{path}?dry_run=perhaps&restock=maybe&what=1");
        assert_eq!(fields(&shop.change(Method::DELETE, order, &query, json!({})).await.expect(422)), ["dry_run", "restock", "what"]);
        // The line of another order, and the number of the item.
        for (order, line) in [(order, foreign), (order, item), (order, 99_999), (99_999, line)] {
            for query in ["", "?dry_run=1"] {
                let path = format!("/nomenclatures/{line}{query}");
                shop.change(Method::PUT, order, &path, json!({ "quantity": 1 })).await.expect(404);
                shop.change(Method::DELETE, order, &path, json!({})).await.expect(404);
            }
        }
        let theirs = shop.server.project().await;
        let outsider = shop.server.owner(&theirs).await;
        let request = shop.server.as_staff(&outsider, Method::PUT, &format!("/api/orders/{order}{path}")).json(&json!({ "quantity": 1 }));
        crate::support::send(request).await.expect(403);
        assert_eq!((shop.written().await, shop.reserved(item).await), (before, 3));
        shop.change(Method::PUT, order, "", json!({ "status_id": 6 })).await.expect(200);
        let canceled = shop.change(Method::PUT, order, &path, json!({ "quantity": 1 })).await.expect(409);
        assert_eq!(canceled["error"]["code"], "order_final");
    }

    async fn an_order_that_waits_for_its_payment_is_paid_by_its_new_sum(db: TestDatabase) {
        let shop = ShopFixture::open_as(db, Roles::Both).await;
        let item = shop.goods(5, 1_000).await;
        let mut wish = shop.online(item);
        wish["products"][0]["quantity"] = json!(3);
        let order = shop.ordered(&wish).await;
        let (line, before) = (shop.line(order).await, shop.seen(order).await);
        let path = format!("/nomenclatures/{line}");
        // The acquirer does not cancel a payment that waits for the payer, as with YooKassa.
        let kept = shop.change(Method::PUT, order, &path, json!({ "quantity": 2 })).await.expect(409);
        assert_eq!(kept["error"]["code"], "order_payment_open");
        assert_eq!(shop.seen(order).await, before);
        shop.fault("http_500", 1).await;
        let unclear = shop.change(Method::PUT, order, &path, json!({ "quantity": 2 })).await.expect(409);
        assert_eq!(unclear["error"]["code"], "order_payment_unclear");
        shop.control("/acquirer", json!({ "cancels_unpaid": true })).await;
        let looked = shop.change(Method::PUT, order, &format!("{path}?dry_run=1"), json!({ "quantity": 2 })).await.expect(200);
        assert_eq!((&looked["preview"]["new_payment"], &looked["preview"]["final_price"]), (&json!(true), &json!("20.00")));
        let after = shop.change(Method::PUT, order, &path, json!({ "quantity": 2 })).await.expect(200)["order"].clone();
        assert_eq!((&after["price"], &after["payment_state"], &after["status"]["id"]), (&json!("20.00"), &json!("pending"), &json!(2)));
        let payments = shop.payments().await;
        assert_eq!((payments.len(), &payments[0]["amount"]["value"], &payments[1]["status"]), (2, &json!("20.00"), &json!("canceled")));
        shop.pays("succeed").await;
        shop.until(order, 22).await;
        let paid = shop.seen(order).await;
        assert_eq!((&paid["captured_amount"], shop.reserved(item).await), (&json!("20.00"), 2));
    }

    async fn less_of_a_paid_order_is_refunded_and_more_is_another_order(db: TestDatabase) {
        let shop = ShopFixture::open_as(db, Roles::Both).await;
        let item = shop.goods(5, 1_000).await;
        let mut wish = shop.online(item);
        wish["products"][0]["quantity"] = json!(3);
        let order = shop.ordered(&wish).await;
        shop.pays("succeed").await;
        shop.until(order, 22).await;
        let line = shop.line(order).await;
        let path = format!("/nomenclatures/{line}");
        let more = shop.change(Method::PUT, order, &path, json!({ "quantity": 4, "price": "11.00" })).await.expect(422);
        assert_eq!(fields(&more), ["price", "quantity"]);
        assert!(more["errors"]["quantity"][0].as_str().unwrap().contains("place another order"));
        let more = json!({ "nomenclature_id": item, "quantity": 1 });
        assert_eq!(fields(&shop.change(Method::POST, order, "/nomenclatures", more).await.expect(422)), ["nomenclature_id"]);
        let edit = json!({ "quantity": 2, "restock": true, "reason": "one too many" });
        let before = shop.written().await;
        let looked = shop.change(Method::PUT, order, &format!("{path}?dry_run=1"), edit.clone()).await.expect(200);
        assert_eq!((shop.written().await, shop.count("refunds").await), (before, 0));
        let lines = json!([{ "id": line, "quantity": 1, "amount": "10.00", "stock": "release" }]);
        assert_eq!(looked["preview"]["refund"], json!({ "amount": "10.00", "delivery_amount": "0.00", "left": "20.00", "lines": lines }));
        // Refunds stay pending for the rest of this test.
        shop.fault("http_500", 1_000).await;
        let after = shop.change(Method::PUT, order, &path, edit).await.expect(200)["order"].clone();
        assert_eq!((&after["refunding_amount"], shop.reserved(item).await), (&json!("10.00"), 2));
        assert_eq!(after["refunds"][0]["reason"], "one too many");
        let waits = shop.change(Method::PUT, order, &path, json!({ "quantity": 1 })).await.expect(409);
        assert_eq!(waits["error"]["code"], "order_refund_pending");
    }

    async fn a_move_can_be_tried_out(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(5, 1_000).await;
        let order = shop.ordered(&shop.pickup(item, 2)).await;
        let (before, seen) = (shop.written().await, shop.seen(order).await);
        for (to, quantity, reserved) in [(5, -2, -2), (6, 0, -2)] {
            let looked = shop.change(Method::PUT, order, "?dry_run=1", json!({ "status_id": to })).await.expect(200);
            let stock = &looked["preview"]["stock"][0];
            assert_eq!((&looked["preview"]["status_id"], &stock["quantity"], &stock["reserved"]), (&json!(to), &json!(quantity), &json!(reserved)));
        }
        for (wrong, named) in [(json!({ "status_id": 2 }), "status_id"), (json!({ "manager_id": 99_999 }), "manager_id")] {
            for query in ["", "?dry_run=1"] {
                assert_eq!(fields(&shop.change(Method::PUT, order, query, wrong.clone()).await.expect(422)), [named]);
            }
        }
        assert_eq!((shop.written().await, shop.seen(order).await), (before, seen));
    }

    async fn a_change_that_is_sent_again_is_made_once(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let (item, other) = (shop.goods(5, 1_000).await, shop.goods(3, 250).await);
        let order = shop.ordered(&shop.pickup(item, 2)).await;
        let owner = shop.server.owner(&shop.project).await;
        let path = format!("/api/orders/{order}/nomenclatures");
        let add = || {
            let request = shop.server.as_staff(&owner, Method::POST, &path).header("Idempotency-Key", "one");
            crate::support::send(request.json(&json!({ "nomenclature_id": other, "quantity": 1 })))
        };
        let (first, second) = (add().await.expect(201), add().await.expect(201));
        assert_eq!((first, shop.reserved(other).await), (second, 1));
    }
}
