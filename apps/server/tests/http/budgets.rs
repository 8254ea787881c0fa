//! Limits of paid actions, guesses and floods: calls and SMS, promo codes, writes, notifications.

use kontor::instance::Roles;
use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::outside::Outside;
use crate::shop_fixture::ShopFixture;
use crate::support::{Answer, TestServer, send};

/// Returns the limit that refused.
fn refused(answer: &Answer) -> &str {
    answer.expect(429);
    answer.headers["x-ratelimit-limit"].to_str().unwrap()
}

async fn notify(server: &TestServer, address: &str, payment: &str) -> Answer {
    let body = json!({ "type": "notification", "event": "payment.succeeded", "object": { "id": payment } });
    send(server.request(Method::POST, "/callbacks/acquirer").header("X-Forwarded-For", address).json(&body)).await
}

database_tests! {
    async fn calls_and_messages_have_a_budget_per_project(db: TestDatabase) {
        let outside = Outside::start_as(db, Roles::Api, |config| config.phone_codes_per_hour = 2).await;
        let (project, other) = (outside.server.project().await, outside.server.project().await);
        outside.request_code(&project, "79005550001").await.expect(200);
        outside.request_code(&project, "79005550002").await.expect(200);
        assert_eq!(refused(&outside.request_code(&project, "79005550003").await), "2");
        assert_eq!(outside.count("79005550003").await, 0);
        let begin = json!({ "phone": "79005550004", "client_nonce": "n".repeat(40) });
        let path = "/api/counterparty/callback_auth/init";
        let begun = send(outside.server.as_app(&project, Method::POST, path).json(&begin)).await;
        assert_eq!(begun.expect(429)["error"]["code"], "callback_auth_rate_limited");
        let (_, customer) = outside.server.customer(&project).await;
        let path = "/api/counterparty/phone/request_change";
        let change = outside.server.as_customer(&project, &customer, Method::POST, path);
        assert_eq!(refused(&send(change.json(&json!({ "phone": "79005550005" }))).await), "2");
        outside.request_code(&project, "anna@example.com").await.expect(200);
        outside.request_code(&other, "79005550006").await.expect(200);
        outside.server.clock.advance(3_600);
        outside.request_code(&project, "79005550003").await.expect(200);
    }

    async fn guesses_of_promo_codes_count_together(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(50, 100).await;
        let guess = |number: usize| {
            let mut order = shop.pickup(item, 1);
            order["promo_code"] = json!(format!("GUESS-{number}"));
            order
        };
        for number in 0..15 {
            shop.order(&guess(number)).await.expect_invalid(&["promo_code"]);
            let cart = json!({ "products": [{ "id": item, "quantity": 1 }], "promo_code": format!("MORE-{number}") });
            shop.precalculate(cart).await.expect(200);
        }
        assert_eq!(refused(&shop.order(&guess(99)).await), "30");
        shop.order(&shop.pickup(item, 1)).await.expect(201);
        shop.server.clock.advance(60);
        shop.order(&guess(99)).await.expect_invalid(&["promo_code"]);
    }

    async fn a_customer_writes_so_often_and_no_more(db: TestDatabase) {
        let server = TestServer::start_with(db, |config| config.customer_writes_per_minute = 3).await;
        let project = server.project().await;
        let ((_, anna), (_, boris)) = (server.customer(&project).await, server.customer(&project).await);
        let send_to = async |bearer: &str, method: Method, path: &str| {
            let path = format!("/api/counterparty/{path}");
            send(server.as_customer(&project, bearer, method, &path).json(&json!({}))).await
        };
        send_to(&anna, Method::POST, "orders").await.expect(422);
        // A replayed response counts, too.
        for _ in 0..2 {
            let path = "/api/counterparty/orders";
            let keyed = server.as_customer(&project, &anna, Method::POST, path).header("Idempotency-Key", "k");
            send(keyed.json(&json!({}))).await.expect(422);
        }
        for path in ["orders", "logout", "session/heartbeat"] {
            assert_eq!(refused(&send_to(&anna, Method::POST, path).await), "3", "{path}");
        }
        send_to(&anna, Method::GET, "orders").await.expect(200);
        send_to(&boris, Method::POST, "orders").await.expect(422);
        server.clock.advance(60);
        send_to(&anna, Method::POST, "orders").await.expect(422);
    }

    async fn unauthenticated_notifications_cause_few_reads_at_the_acquirer(db: TestDatabase) {
        // The acquirer is unreachable: a notification that causes a read is answered 503.
        let server = TestServer::start_with(db, |config| {
            config.trusted_proxies = vec!["127.0.0.1".into()];
            config.acquirer_addresses = vec!["198.51.100.0/24".into()];
        }).await;
        let payment = "22d6d597-000f-5000-9000-145f6df21d6f";
        for host in 1..=5 {
            for _ in 0..60 {
                notify(&server, &format!("203.0.113.{host}"), payment).await.expect(503);
            }
        }
        assert_eq!(refused(&notify(&server, "203.0.113.1", payment).await), "60");
        assert_eq!(refused(&notify(&server, "203.0.113.9", payment).await), "300");
        for _ in 0..70 {
            notify(&server, "198.51.100.7", payment).await.expect(503);
        }
        let unreadable: Value = send(server.request(Method::POST, "/callbacks/acquirer").body("x")).await.expect(429);
        assert_eq!(unreadable["message"], "Too Many Attempts.");
        server.clock.advance(60);
        notify(&server, "203.0.113.1", payment).await.expect(503);
    }
}
