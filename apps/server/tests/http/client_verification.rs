//! Customers verify themselves by a payment that is refunded.

use std::time::{Duration, Instant};

use kontor::instance::Roles;
use kontor_adapter_diesel::testing::stays;
use kontor_adapter_diesel::{database_tests, retry_until};
use reqwest::Method;
use serde_json::{Value, json};

use crate::process::PATIENCE;
use crate::shop_fixture::ShopFixture;
use crate::support::{Answer, send};

const PATH: &str = "/api/counterparty/verifications/sbp-payment";

async fn verify(shop: &ShopFixture) -> Answer {
    send(shop.server.as_customer(&shop.project, &shop.bearer, Method::POST, PATH)).await
}

/// Returns the refunds at the acquirer.
async fn refunds(shop: &ShopFixture) -> Vec<Value> {
    let url = format!("{}/v3/refunds?limit=100", shop.sandbox.url());
    let request = shop.server.http.get(url).basic_auth("100500", Some("test_sandbox_secret_key"));
    send(request).await.expect(200)["items"].as_array().unwrap().clone()
}

/// Waits for an effect of background work.
async fn until(what: &str, mut happened: impl AsyncFnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !happened().await {
        retry_until!(until, "{what} never happened");
    }
}

async fn until_refunded(shop: &ShopFixture) {
    until("the refund", async || shop.count("refunds WHERE state = 'succeeded'").await == 1).await;
}

async fn until_status(shop: &ShopFixture, status: &str) -> Value {
    until(status, async || verify(shop).await.expect(200)["verification"]["status"] == status).await;
    verify(shop).await.expect(200)["verification"].clone()
}

database_tests! {
    async fn a_verification_is_paid_and_refunded(db: TestDatabase) {
        let shop = ShopFixture::open_as(db, Roles::Both).await;
        let opened = verify(&shop).await.expect(201)["verification"].clone();
        assert_eq!(opened.as_object().unwrap().keys().collect::<Vec<_>>(), ["expires_at", "id", "payment_link", "status"]);
        assert_eq!(opened["status"], "pending");
        assert!(opened["payment_link"].as_str().is_some_and(|link| link.starts_with(shop.sandbox.url())));
        assert_eq!(verify(&shop).await.expect(200)["verification"], opened, "the same one while it is open");
        let payments = shop.payments().await;
        assert_eq!((payments.len(), &payments[0]["amount"]), (1, &json!({ "value": "1.00", "currency": "RUB" })));
        assert_eq!(payments[0]["metadata"]["verification_id"], opened["id"].to_string());

        // The notification comes twice, and the refund is made although its response is an error.
        shop.fault("duplicate", 1).await;
        shop.fault("http_500_after_commit", 1).await;
        shop.pays("succeed").await;
        let shown = until_status(&shop, "succeeded").await;
        assert_eq!((&shown["id"], &shown["payment_link"]), (&opened["id"], &Value::Null));
        until("a refund", async || !refunds(&shop).await.is_empty()).await;
        shop.server.clock.advance(60);
        until_refunded(&shop).await;
        shop.server.clock.advance(3_600);
        stays(Duration::from_secs(1), "one refund", async || refunds(&shop).await.len() == 1).await;
        let back = refunds(&shop).await;
        assert_eq!((back.len(), &back[0]["amount"]["value"], &back[0]["payment_id"]), (1, &json!("1.00"), &payments[0]["id"]));
        assert_eq!(shop.count("counterparties WHERE verified_at IS NOT NULL").await, 1);
        verify(&shop).await.expect(200);
        shop.server.clock.advance(24 * 3_600);
        assert_ne!(verify(&shop).await.expect(201)["verification"]["id"], opened["id"]);
    }

    async fn a_failed_payment_verifies_nothing_and_another_may_follow(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let first = verify(&shop).await.expect(201)["verification"]["id"].clone();
        shop.pays("decline").await;
        let canceled = "charges WHERE purpose = 'verification' AND state = 'canceled'";
        until("the end", async || shop.count(canceled).await == 1).await;
        let second = verify(&shop).await.expect(201)["verification"].clone();
        assert_ne!(second["id"], first);
        // The second payment expires without a notification. The service finds out by reading the status.
        shop.sandbox.set_notification_url("http://127.0.0.1:9/nobody".to_owned());
        shop.pays("expire").await;
        assert_eq!(verify(&shop).await.expect(200)["verification"], second);
        shop.server.clock.advance(3_600);
        let third = verify(&shop).await.expect(201)["verification"]["id"].clone();
        assert_eq!(shop.count("charges WHERE purpose = 'verification' AND state = 'expired'").await, 1);
        assert!(third != second["id"] && refunds(&shop).await.is_empty());
        assert_eq!(shop.count("counterparties WHERE verified_at IS NOT NULL").await, 0);
    }

    async fn refused_is_502_and_unknown_is_202(db: TestDatabase) {
        let shop = ShopFixture::open_as(db, Roles::Both).await;
        shop.fault("refuse", 1).await;
        assert!(verify(&shop).await.expect(502)["message"].is_string());
        shop.fault("http_500_after_commit", 1).await;
        let unclear = verify(&shop).await.expect(202)["verification"].clone();
        assert_eq!((&unclear["status"], &unclear["payment_link"]), (&json!("pending"), &Value::Null));
        shop.server.clock.advance(3);
        until("the link", async || {
            shop.server.clock.advance(1);
            verify(&shop).await.expect(200)["verification"]["payment_link"].is_string()
        })
        .await;
        let known = verify(&shop).await.expect(200)["verification"].clone();
        assert!(known["id"] == unclear["id"] && known["payment_link"].is_string(), "{known}");
        assert_eq!(shop.payments().await.len(), 1, "one payment");
        // A forged notification says it was paid.
        let forged = json!({ "event": "payment.succeeded", "object": { "id": shop.payments().await[0]["id"] } });
        send(shop.server.request(Method::POST, "/callbacks/acquirer").json(&forged)).await.expect(200);
        assert_eq!(verify(&shop).await.expect(200)["verification"]["status"], "pending");
    }

    async fn an_open_verification_keeps_its_customer(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        send(shop.server.as_app(&shop.project, Method::POST, PATH)).await.expect(401);
        verify(&shop).await.expect(201);
        let leave = || shop.server.as_customer(&shop.project, &shop.bearer, Method::DELETE, "/api/counterparty");
        send(leave()).await.expect(409);
        shop.pays("succeed").await;
        until_status(&shop, "succeeded").await;
        send(leave()).await.expect(200);
        verify(&shop).await.expect(401);
    }
}
