//! Orders paid online, from the request to the acquirer and back.

use std::time::{Duration, Instant};

use kontor::instance::Roles;
use kontor_adapter_diesel::testing::moment;
use kontor_adapter_diesel::{database_tests, retry_until};
use reqwest::Method;
use serde_json::json;

use crate::process::PATIENCE;
use crate::shop_fixture::ShopFixture;
use crate::support::send;

database_tests! {
    async fn a_payment_confirmed_by_the_acquirer_makes_the_order_paid(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(5, 26_550).await;
        let order = shop.order(&shop.online(item)).await.expect(201)["order"].clone();
        assert_eq!((&order["status"]["id"], &order["acquirer_payment_method_type"]), (&json!(2), &json!("bank_card")));
        assert!(order["payment_link"].as_str().is_some_and(|link| link.starts_with("http")));
        let id = order["id"].as_i64().unwrap();
        let payments = shop.payments().await;
        assert_eq!((payments.len(), &payments[0]["amount"]["value"]), (1, &json!("265.50")));
        shop.fault("duplicate", 1).await;
        shop.pays("succeed").await;
        shop.until(id, 22).await;
        assert_eq!((shop.count("outbox_events").await, shop.reserved(item).await), (1, 1));
    }

    async fn notifications_in_the_wrong_order_change_nothing(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(5, 100).await;
        let order = shop.order(&shop.online(item)).await.expect(201)["order"].clone();
        shop.fault("reorder", 1).await;
        shop.pays("succeed").await;
        shop.until(order["id"].as_i64().unwrap(), 22).await;
        // A forged notification of a cancellation.
        let payment = shop.payments().await[0]["id"].clone();
        let forged = json!({ "type": "notification", "event": "payment.canceled", "object": { "id": payment, "status": "canceled" } });
        send(shop.server.request(Method::POST, "/callbacks/acquirer").json(&forged)).await.expect(200);
        assert_eq!((shop.state(order["id"].as_i64().unwrap()).await.0, shop.count("outbox_events").await), (22, 1));
    }

    async fn a_failed_payment_cancels_the_order(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(5, 100).await;
        let order = shop.order(&shop.online(item)).await.expect(201)["order"].clone();
        shop.pays("decline").await;
        shop.until(order["id"].as_i64().unwrap(), 6).await;
        assert_eq!((shop.reserved(item).await, shop.count("outbox_events").await), (0, 0));
    }

    async fn a_refused_payment_answers_502_and_leaves_a_canceled_order(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(5, 100).await;
        shop.fault("refuse", 1).await;
        assert!(shop.order(&shop.online(item)).await.expect(502)["message"].is_string());
        let list = shop.own("").await.expect(200);
        assert_eq!((&list["ordersCount"], &list["orders"][0]["status"]["id"]), (&json!(1), &json!(6)));
        assert_eq!((shop.reserved(item).await, shop.payments().await.len()), (0, 0));
    }

    async fn a_slow_answer_about_one_payment_holds_up_no_other(db: TestDatabase) {
        let shop = ShopFixture::open_as(db, Roles::Both).await;
        let item = shop.goods(9, 100).await;
        shop.fault("http_500", 2).await;
        let mut orders = Vec::new();
        for _ in 0..2 {
            let order = shop.order(&shop.online(item)).await.expect(202)["order"].clone();
            orders.push(order["id"].as_i64().unwrap());
        }
        // The first payment that is read has to wait for its response.
        shop.control("/faults", json!({ "service": "acquirer", "fault": "timeout", "delay_ms": 30_000 })).await;
        shop.server.clock.advance(3);
        let until = Instant::now() + Duration::from_secs(25);
        loop {
            let links = [shop.state(orders[0]).await.1, shop.state(orders[1]).await.1];
            assert!(Instant::now() < until, "the second payment waits for the first");
            if links.iter().any(Option::is_some) {
                assert!(links.iter().any(Option::is_none), "the fault met nobody");
                break;
            }
            moment().await;
        }
        // No request waits for that response any longer.
        shop.sandbox.stop().await;
    }

    async fn unknown_outcomes_are_cleared_up_by_the_worker(db: TestDatabase) {
        let shop = ShopFixture::open_as(db, Roles::Both).await;
        let item = shop.goods(9, 100).await;
        for (n, fault) in ["http_500", "http_500_after_commit", "drop"].into_iter().enumerate() {
            shop.fault(fault, 1).await;
            let order = shop.order(&shop.online(item)).await.expect(202)["order"].clone();
            assert_eq!(order["payment_link"], serde_json::Value::Null, "{fault}");
            let id = order["id"].as_i64().unwrap();
            shop.server.clock.advance(3);
            let until = Instant::now() + PATIENCE;
            while shop.state(id).await.1.is_none() {
                retry_until!(until, "{fault}: no payment");
            }
            let (status, link) = shop.state(id).await;
            assert!(status == 2 && link.is_some(), "{fault}: {status} {link:?}");
            assert_eq!(shop.payments().await.len(), n + 1, "{fault}: one payment per order");
        }
        shop.pays("succeed").await;
    }

    async fn notifications_prove_nothing(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(5, 100).await;
        let order = shop.order(&shop.online(item)).await.expect(201)["order"].clone();
        let payment = shop.payments().await[0]["id"].clone();
        let notify = |body: serde_json::Value| send(shop.server.request(Method::POST, "/callbacks/acquirer").json(&body));
        let forged = json!({ "type": "notification", "event": "payment.succeeded", "object": { "id": payment, "status": "succeeded" } });
        notify(forged.clone()).await.expect(200);
        assert_eq!(shop.state(order["id"].as_i64().unwrap()).await.0, 2, "not paid");
        notify(json!({ "event": "payment.succeeded", "object": { "id": "unknown" } })).await.expect(200);
        notify(json!({ "event": "payment.succeeded", "object": { "id": "../refunds" } })).await.expect(200);
        notify(json!({ "event": "refund.succeeded", "object": { "id": "r" } })).await.expect(200);
        notify(json!({})).await.expect(400);
        notify(json!({ "event": "payment.x", "object": { "id": "x".repeat(70_000) } })).await.expect(413);
        shop.fault("http_500", 1).await;
        notify(forged).await.expect(503);
    }
}
