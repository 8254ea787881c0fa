//! Delivery charged by a project: in the cart, in the order, its payment and its refunds.

use kontor::instance::Roles;
use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::process::ProcessEnvironment;
use crate::shop_fixture::ShopFixture;

impl ShopFixture {
    async fn charging_delivery(db: kontor_adapter_diesel::testing::TestDatabase) -> Self {
        let shop = Self::open_as(db, Roles::Both).await;
        shop.charges_delivery(true).await;
        shop
    }

    async fn charges_delivery(&self, charges: bool) {
        let set = format!("UPDATE projects SET charges_delivery = {charges} WHERE id = {}", self.project.id);
        self.server.execute(&set).await;
    }

    fn by_courier(item: i64, quantity: i64) -> Value {
        json!({
            "delivery_type_id": 2, "delivery_subtype_id": 2, "address": "Lenina 1",
            "products": [{ "id": item, "quantity": quantity }], "payment_method_type": "bank_card",
        })
    }
}

fn sums(record: &Value) -> Value {
    json!([record["final_price"], record["delivery_price"], record["amount_due"]])
}

database_tests! {
    async fn the_sums_stay_as_they_are_until_the_project_charges_delivery(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(9, 10_000).await;
        let cart = json!({ "products": [{ "id": item, "quantity": 2 }], "delivery_type_id": 2, "delivery_subtype_id": 2 });
        let free = shop.precalculate(cart.clone()).await.expect(200);
        assert_eq!((sums(&free), &free["total"]), (json!([200.0, 0.0, 200.0]), &json!("200.00")));
        let order = shop.order(&ShopFixture::by_courier(item, 2)).await.expect(201)["order"].clone();
        assert_eq!((sums(&order), &order["price"]), (json!([200.0, 0.0, 200.0]), &json!("200.00")));
        assert_eq!(shop.payments().await[0]["amount"]["value"], json!("200.00"));

        shop.charges_delivery(true).await;
        let charged = shop.precalculate(cart).await.expect(200);
        assert_eq!((sums(&charged), &charged["total"]), (json!([200.0, 600.0, 800.0]), &json!("200.00")));
        let order = shop.order(&ShopFixture::by_courier(item, 2)).await.expect(201)["order"].clone();
        assert_eq!((sums(&order), &order["price"]), (json!([200.0, 600.0, 800.0]), &json!("200.00")));
        assert_eq!(shop.payments().await[0]["amount"]["value"], json!("800.00"));
        let free = shop.order(&shop.pickup(item, 1)).await.expect(201)["order"].clone();
        assert_eq!(sums(&free), json!([100.0, 0.0, 100.0]));
    }

    async fn a_calculation_says_what_is_wrong_with_the_delivery(db: TestDatabase) {
        let shop = ShopFixture::charging_delivery(db).await;
        let item = shop.goods(9, 10_000).await;
        let cart = |extra: Value| {
            let mut cart = json!({ "products": [{ "id": item, "quantity": 1 }] });
            cart.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            cart
        };
        let open = shop.precalculate(cart(json!({ "delivery_type_id": 2 }))).await.expect(200);
        assert_eq!(sums(&open), json!([100.0, 300.0, 400.0]));
        let dropped = shop.precalculate(cart(json!({ "delivery_type_id": 1, "delivery_subtype_id": 2 }))).await.expect(200);
        assert_eq!(sums(&dropped), json!([100.0, 0.0, 100.0]));
        for (wrong, fields) in [
            (json!({ "delivery_type_id": 9 }), vec!["delivery_type_id"]),
            (json!({ "delivery_type_id": 2, "delivery_subtype_id": 9 }), vec!["delivery_subtype_id"]),
            (json!({ "delivery_subtype_id": 2 }), vec!["delivery_type_id"]),
            (json!({ "delivery_type_id": "x", "delivery_subtype_id": 1.5 }), vec!["delivery_subtype_id", "delivery_type_id"]),
        ] {
            shop.precalculate(cart(wrong.clone())).await.expect_invalid(&fields);
            shop.employee(Method::POST, "/api/orders/calculator", &cart(wrong)).await.expect_invalid(&fields);
        }
        let own = cart(json!({ "delivery_type_id": 2, "delivery_subtype_id": 2 }));
        let staff = shop.employee(Method::POST, "/api/orders/calculator", &own).await.expect(200);
        assert_eq!(staff, shop.precalculate(own).await.expect(200));
    }

    async fn the_delivery_goes_back_where_it_is_asked_for(db: TestDatabase) {
        let shop = ShopFixture::charging_delivery(db).await;
        let item = shop.goods(9, 10_000).await;
        let order = shop.order(&ShopFixture::by_courier(item, 2)).await.expect(201)["order"]["id"].as_i64().unwrap();
        shop.pays("succeed").await;
        shop.until(order, 22).await;
        let path = format!("/api/orders/{order}");
        let paid = shop.employee(Method::GET, &path, &json!({})).await.expect(200)["order"].clone();
        assert_eq!((&paid["captured_amount"], sums(&paid)), (&json!("800.00"), json!([200.0, 600.0, 800.0])));
        let line = paid["reservations"][0]["id"].clone();
        let refund = |body: Value, query: &'static str| {
            let mut asked = json!({ "reason": "late", "restock": true });
            asked.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
            let path = format!("{path}/request-refund{query}");
            let shop = &shop;
            async move { shop.employee(Method::POST, &path, &asked).await }
        };
        for (wrong, field) in [
            (json!({ "delivery": true, "amount": "1.00" }), "delivery"),
            (json!({ "delivery": true, "everything": true }), "everything"),
            (json!({ "delivery": false }), "everything"),
            (json!({ "delivery": null }), "delivery"),
            (json!({ "delivery": true, "lines": [] }), "lines"),
        ] {
            refund(wrong, "").await.expect_invalid(&[field]);
        }
        let both = json!({ "delivery": true, "lines": [{ "id": line, "quantity": 1 }] });
        let looked = refund(both.clone(), "?dry_run=1").await.expect(200)["preview"].clone();
        assert_eq!((&looked["refund"]["amount"], &looked["refund"]["delivery_amount"]), (&json!("700.00"), &json!("600.00")));
        assert_eq!((&looked["refund"]["left"], &looked["amount_due"]), (&json!("100.00"), &json!("800.00")));
        let given = refund(both, "").await.expect(200)["order"].clone();
        assert_eq!((&given["refunds"][0]["amount"], &given["refunds"][0]["delivery_amount"]), (&json!("700.00"), &json!("600.00")));
        refund(json!({ "delivery": true }), "").await.expect_invalid(&["delivery"]);
        shop.until_refunded(order, "700.00").await;
        let rest = refund(json!({ "everything": true }), "").await.expect(200)["order"].clone();
        assert_eq!((&rest["status"]["id"], &rest["refunds"][1]["delivery_amount"]), (&json!(6), &json!("0.00")));
        shop.until_refunded(order, "800.00").await;
        assert_eq!(shop.reserved(item).await, 0);
    }

    async fn lines_that_change_leave_the_delivery(db: TestDatabase) {
        let shop = ShopFixture::charging_delivery(db).await;
        let item = shop.goods(9, 10_000).await;
        let order = shop.order(&ShopFixture::by_courier(item, 2)).await.expect(201)["order"]["id"].as_i64().unwrap();
        shop.control("/acquirer", json!({ "cancels_unpaid": true })).await;
        let path = format!("/api/orders/{order}");
        let line = shop.employee(Method::GET, &path, &json!({})).await.expect(200)["order"]["reservations"][0]["id"].clone();
        let edit = format!("{path}/nomenclatures/{line}");
        let looked = shop.employee(Method::PUT, &format!("{edit}?dry_run=1"), &json!({ "quantity": 3 })).await.expect(200);
        assert_eq!((&looked["preview"]["amount_due"], &looked["preview"]["difference"]), (&json!("900.00"), &json!("100.00")));
        let changed = shop.employee(Method::PUT, &edit, &json!({ "quantity": 3 })).await.expect(200)["order"].clone();
        assert_eq!(sums(&changed), json!([300.0, 600.0, 900.0]));
        assert_eq!(shop.payments().await[0]["amount"]["value"], json!("900.00"));
    }

    async fn an_operator_decides_whether_delivery_is_charged(db: TestDatabase) {
        let environment = ProcessEnvironment::open(db, 1.0).await;
        let project = environment.create_project("owner")["project_id"].to_string();
        let run = |project: &str, settings: &[&str]| {
            let command = ["project", "delivery-charge", "--json", "--project", project];
            environment.command(&[&command[..], settings].concat()).output().unwrap()
        };
        let shown = |settings: &[&str]| -> Value { serde_json::from_slice(&run(&project, settings).stdout).unwrap() };
        let before = shown(&[]);
        assert_eq!(before["charges_delivery"], json!(false));
        assert!(before["ways"].as_array().unwrap().iter().all(|way| way["price"].is_string() && way["type"].is_string()));
        assert!(!before["ways"].as_array().unwrap().is_empty());
        assert_eq!(shown(&["--enabled", "true"])["charges_delivery"], json!(true));
        assert_eq!(shown(&[]), shown(&["--enabled", "true"]));
        assert_eq!(shown(&["--enabled", "false"]), before);
        let priced = shown(&["--type", "2", "--subtype", "2", "--price", "300"]);
        let courier = priced["ways"].as_array().unwrap().iter().find(|way| way["subtype_id"] == json!(2)).unwrap();
        assert_eq!((&courier["price"], &courier["type_price"]), (&json!("300.00"), &json!("0.00")));
        for (wrong, why) in [
            (vec!["--type", "9", "--price", "1"], "delivery type or subtype not found"),
            (vec!["--type", "2", "--price", "1.234"], "--price must"),
            (vec!["--type", "2"], "--price"),
            (vec!["--price", "1"], "--type"),
        ] {
            let refused = run(&project, &wrong);
            assert!(!refused.status.success() && String::from_utf8(refused.stderr).unwrap().contains(why), "{wrong:?}");
        }
        let refused = run("999", &["--enabled", "true"]);
        assert!(!refused.status.success() && String::from_utf8(refused.stderr).unwrap().contains("project 999 not found"));
        assert!(!run(&project, &["--enabled", "yes"]).status.success());
    }
}
