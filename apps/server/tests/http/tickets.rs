//! Tickets, from the customer's order to the door.

use kontor::instance::Roles;
use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::shop_fixture::ShopFixture;
use crate::support::{Answer, send};

impl ShopFixture {
    /// Creates tickets with this stock and price.
    async fn tickets(&self, pieces: i64, price: i64) -> i64 {
        let item = self.goods(pieces, price).await;
        self.server.execute(&format!("UPDATE nomenclatures SET type_id = 6 WHERE id = {item}")).await;
        item
    }

    /// Returns a paid order of tickets, and its ticket token.
    async fn with_tickets(&self, pieces: i64) -> (i64, String) {
        let item = self.tickets(9, 33_300).await;
        let mut body = self.online(item);
        body["products"] = json!([{ "id": item, "quantity": pieces }]);
        let order = self.order(&body).await.expect(201)["order"].clone();
        assert_eq!((&order["redeem_token"], &order["total_tickets"]), (&json!(null), &json!(pieces)));
        let id = order["id"].as_i64().unwrap();
        self.pays("succeed").await;
        self.until(id, 22).await;
        let order = self.own(&format!("/{id}")).await.expect(200)["order"].clone();
        (id, order["redeem_token"].as_str().unwrap().to_owned())
    }

    /// Returns an employee who may only scan tickets.
    async fn doorkeeper(&self) -> String {
        self.server.staff_with(&self.project, &["edit-reservations"]).await
    }

    async fn as_staff(&self, bearer: &str, method: Method, path: &str, body: &Value) -> Answer {
        send(self.server.as_staff(bearer, method, path).json(body)).await
    }

    async fn redeem(&self, bearer: &str, body: &Value) -> Answer {
        self.as_staff(bearer, Method::POST, "/api/orders/redeem", body).await
    }

    async fn upload(&self, bearer: &str, scans: Value) -> Answer {
        self.as_staff(bearer, Method::POST, "/api/orders/redeem/batch", &json!({ "scans": scans })).await
    }
}

fn scan(name: &str, token: &str, quantity: i64) -> Value {
    json!({ "redeem_token": token, "quantity": quantity, "scan_id": name })
}

fn fields(answer: &Value) -> Vec<String> {
    answer["errors"].as_object().unwrap().keys().cloned().collect()
}

/// Returns `(code, next_action, outcome of the kept scan)`.
fn reported(answer: &Value) -> (String, String, String) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    assert_eq!(answer["message"], answer["error"]["code"]);
    (text(&answer["error"]["code"]), text(&answer["error"]["next_action"]), text(&answer["scan"]["outcome"]))
}

fn three(code: &str, next_action: &str, outcome: &str) -> (String, String, String) {
    (code.to_owned(), next_action.to_owned(), outcome.to_owned())
}

database_tests! {
    async fn the_owner_alone_sees_what_opens_the_door(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let (order, token) = shop.with_tickets(2).await;
        assert!(token.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'), "{token}");
        let listed = shop.own("").await.expect(200);
        assert_eq!((&listed["orders"][0]["redeem_token"], &listed["orders"][0]["last_redeemed_at"]), (&json!(token), &json!(null)));
        assert_eq!((&listed["orders"][0]["redeemed_count"], &listed["orders"][0]["total_tickets"]), (&json!(0), &json!(2)));
        // Half of the token is in no table, and the other half is useless without it.
        let (_, mark) = token.split_once('-').unwrap();
        let owner = shop.server.owner(&shop.project).await;
        shop.redeem(&owner, &scan("1", &token, 1)).await.expect(200);
        let (_, other) = shop.server.customer(&shop.project).await;
        let path = format!("/api/counterparty/orders/{order}");
        send(shop.server.as_customer(&shop.project, &other, Method::GET, &path)).await.expect(404);
        for path in [
            format!("/api/orders/{order}"), "/api/orders".to_owned(), "/api/tables/orders".to_owned(),
            format!("/api/orders/{order}/scans"), "/api/tables/reservations".to_owned(),
            format!("/api/counterparties/{}", shop.customer),
        ] {
            let shown = send(shop.server.as_staff(&owner, Method::GET, &path)).await;
            assert!(shown.status.is_success(), "{path}: {}", shown.text);
            assert!(!shown.text.contains("redeem_token") && !shown.text.contains(mark), "{path}: {}", shown.text);
        }
        let shown = shop.as_staff(&owner, Method::GET, &format!("/api/orders/{order}"), &json!({})).await.expect(200);
        assert_eq!((&shown["order"]["redeemed_count"], &shown["order"]["total_tickets"]), (&json!(1), &json!(2)));
        let wholly = format!("SELECT count(*) AS id FROM order_tickets WHERE reference LIKE '%{mark}%'");
        assert_eq!(shop.server.insert(wholly).await, 0);
        let scanned = format!("SELECT count(*) AS id FROM ticket_scans WHERE token_fingerprint LIKE '%{mark}%'");
        assert_eq!(shop.server.insert(scanned).await, 0);
    }

    async fn a_ticket_lets_one_in_and_says_when_and_where(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let ((order, token), door) = (shop.with_tickets(2).await, shop.doorkeeper().await);
        let mut first = scan("0b7ee2a4", &token, 2);
        first["shop_id"] = json!(shop.shop);
        let came = shop.redeem(&door, &first).await.expect(200);
        let record = &came["scan"];
        assert_eq!((&record["outcome"], &record["order_id"], &record["scan_id"]), (&json!("admitted"), &json!(order), &json!("0b7ee2a4")));
        assert_eq!((&record["redeemed_count"], &record["total_tickets"], &record["quantity"]), (&json!(2), &json!(2), &json!(2)));
        assert_eq!((&record["shop"]["id"], &record["redeemed_at"], &record["at"]), (&json!(shop.shop), &json!(null), &record["received_at"]));
        assert_eq!(shop.redeem(&door, &first).await.expect(200), came);

        shop.server.clock.advance(60);
        let late = shop.redeem(&door, &scan("late", &token, 1)).await.expect(409);
        assert_eq!(reported(&late), three("already_redeemed", "contact_support", "already_redeemed"));
        assert_eq!((&late["scan"]["redeemed_at"], &late["scan"]["redeemed_shop"]["id"]), (&record["at"], &json!(shop.shop)));
        assert!(late["error"]["request_id"].is_string());
        let again = shop.redeem(&door, &scan("late", &token, 1)).await.expect(409);
        assert_eq!(again["scan"], late["scan"]);
        let reused = shop.redeem(&door, &scan("late", &token, 2)).await.expect(409);
        assert_eq!((reported(&reused), reused.get("scan")), (three("scan_id_reused", "fix_input", ""), None));
        let owner = shop.server.owner(&shop.project).await;
        let own = shop.own(&format!("/{order}")).await.expect(200)["order"].clone();
        assert_eq!((&own["redeemed_count"], &own["last_redeemed_at"]), (&json!(2), &record["at"]));

        let path = format!("/api/orders/{order}/scans");
        let scans = shop.as_staff(&owner, Method::GET, &path, &json!({})).await.expect(200);
        assert_eq!((&scans["scansCount"], &scans["scans"][0], &scans["scans"][1]), (&json!(2), &late["scan"], record));
        assert_eq!(scans["pagination"]["last_page"], 1);
        let cost = async |query: &str| {
            let once = async || shop.as_staff(&owner, Method::GET, &format!("{path}{query}"), &json!({})).await.expect(200);
            shop.server.fewest_statements(once).await
        };
        assert_eq!(cost("").await, cost("?per_page=1").await, "a scan costs no statement of its own");
        assert_eq!(fields(&shop.as_staff(&owner, Method::GET, &format!("{path}?per_page=0"), &json!({})).await.expect(422)), ["per_page"]);
    }

    async fn a_secret_that_opens_nothing_is_named(db: TestDatabase) {
        let shop = ShopFixture::open_as(db, Roles::Both).await;
        let ((order, token), door) = (shop.with_tickets(3).await, shop.doorkeeper().await);
        let owner = shop.server.owner(&shop.project).await;
        let torn = ["x", "\0", &token[1..], &token[..30], "\u{202e}🎟", &"9".repeat(200_000)];
        for (number, torn) in torn.into_iter().enumerate() {
            let refused = shop.redeem(&door, &scan(&format!("torn{number}"), torn, 1)).await.expect(404);
            assert_eq!((reported(&refused), &refused["scan"]["order_id"]), (three("unknown", "fix_input", "unknown"), &json!(null)));
        }
        let outsider = shop.server.owner(&shop.server.project().await).await;
        let refused = shop.redeem(&outsider, &scan("torn0", &token, 1)).await.expect(404);
        assert_eq!(reported(&refused), three("unknown", "fix_input", "unknown"));
        let path = format!("/api/orders/{order}/scans");
        shop.as_staff(&outsider, Method::GET, &path, &json!({})).await.expect(403);
        shop.as_staff(&owner, Method::GET, "/api/orders/99999/scans", &json!({})).await.expect(404);
        shop.as_staff(&door, Method::GET, &path, &json!({})).await.expect(403);
        let employee = shop.server.staff_with(&shop.project, &["view-orders", "edit-orders"]).await;
        shop.redeem(&employee, &scan("1", &token, 1)).await.expect(403);

        assert_eq!(reported(&shop.redeem(&door, &scan("2", &token, 4)).await.expect(409)), three("too_many", "fix_input", "too_many"));
        let mut elsewhere = scan("3", &token, 1);
        elsewhere["shop_id"] = json!(99_999);
        assert_eq!(fields(&shop.redeem(&door, &elsewhere).await.expect(422)), ["shop_id"]);
        elsewhere["shop_id"] = shop.server.insert(format!(
            "INSERT INTO shops (project_id, branch_id, name, address, is_active, created_at, updated_at) VALUES ({}, {}, 'Annex', 'X', \
             TRUE, '2026-01-01 00:00:00', '2026-01-01 00:00:00') RETURNING id", shop.project.id, shop.project.branch_id
        )).await.into();
        assert_eq!(reported(&shop.redeem(&door, &elsewhere).await.expect(409)).0, "other_shop");
        for (name, at, code) in [
            ("4", "2999-01-01T00:00:00Z", "not_yet"), ("5", "9999-12-31T23:59:59Z", "not_yet"), ("6", "1970-01-01T00:00:00+14:00", "not_yet"),
        ] {
            let mut dated = scan(name, &token, 1);
            dated["at"] = json!(at);
            assert_eq!(reported(&shop.redeem(&door, &dated).await.expect(409)).0, code, "{at}");
        }
        let item = shop.tickets(9, 100).await;
        let unpaid = shop.order(&shop.pickup(item, 1)).await.expect(201)["order"].clone();
        assert_eq!((&unpaid["redeem_token"], &unpaid["total_tickets"]), (&json!(null), &json!(1)));
        let back = json!({ "everything": true, "reason": "late", "restock": true });
        let refund = format!("/api/orders/{order}/request-refund");
        shop.redeem(&door, &scan("7", &token, 1)).await.expect(200);
        let kept = shop.as_staff(&owner, Method::POST, &refund, &back).await.expect(422);
        assert_eq!(fields(&kept), ["lines"]);
        let line = shop.as_staff(&owner, Method::GET, &format!("/api/orders/{order}"), &json!({})).await.expect(200);
        let line = json!({ "id": line["order"]["reservations"][0]["id"], "quantity": 2 });
        let part = json!({ "reason": "late", "restock": true, "lines": [line] });
        let after = shop.as_staff(&owner, Method::POST, &refund, &part).await.expect(200);
        assert_eq!((&after["order"]["total_tickets"], &after["order"]["redeemed_count"]), (&json!(1), &json!(1)));
        assert_eq!(reported(&shop.redeem(&door, &scan("8", &token, 1)).await.expect(409)).0, "already_redeemed");
        let (gone, open) = shop.with_tickets(1).await;
        shop.as_staff(&owner, Method::POST, &format!("/api/orders/{gone}/request-refund"), &back).await.expect(200);
        assert_eq!(reported(&shop.redeem(&door, &scan("9", &open, 1)).await.expect(409)).0, "canceled");
        assert_eq!(shop.own(&format!("/{gone}")).await.expect(200)["order"]["redeem_token"], json!(null));
    }

    async fn wrong_scans_are_named_at_once_and_leave_nothing(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let ((order, token), door) = (shop.with_tickets(3).await, shop.doorkeeper().await);
        let all = ["quantity", "redeem_token", "scan_id"];
        assert_eq!(fields(&shop.redeem(&door, &json!({})).await.expect(422)), all);
        let wrong = json!({ "redeem_token": "", "quantity": 0, "scan_id": "a b", "shop_id": "x", "at": "yesterday" });
        assert_eq!(fields(&shop.redeem(&door, &wrong).await.expect(422)), ["at", "quantity", "redeem_token", "scan_id", "shop_id"]);
        for wrong in [json!([]), json!({}), json!(1), json!("x"), json!(true)] {
            let body = json!({ "redeem_token": wrong, "quantity": wrong, "scan_id": wrong, "shop_id": wrong, "at": wrong });
            let refused = shop.redeem(&door, &body).await.expect(422);
            assert!(fields(&refused).contains(&"at".to_owned()), "{wrong}");
        }
        let huge = json!({ "redeem_token": "x", "quantity": 1e30, "scan_id": "x".repeat(65), "at": "+99999-01-01T00:00:00Z" });
        assert_eq!(fields(&shop.redeem(&door, &huge).await.expect(422)), ["at", "quantity", "scan_id"]);
        let batch = json!([scan("1", &token, 1), wrong, { "scan_id": "3" }]);
        let named = ["scans.1.at", "scans.1.quantity", "scans.1.redeem_token", "scans.1.scan_id", "scans.1.shop_id",
            "scans.2.quantity", "scans.2.redeem_token"];
        assert_eq!(fields(&shop.upload(&door, batch).await.expect(422)), named);
        for wrong in [json!([]), json!({}), json!(null), json!(vec![scan("1", &token, 1); 501])] {
            assert_eq!(fields(&shop.upload(&door, wrong).await.expect(422)), ["scans"]);
        }
        assert_eq!((shop.count("ticket_scans").await, shop.own(&format!("/{order}")).await.expect(200)["order"]["redeemed_count"].clone()), (0, json!(0)));
    }

    async fn scans_of_a_batch_are_answered_one_by_one(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let ((order, token), door) = (shop.with_tickets(1).await, shop.doorkeeper().await);
        shop.server.clock.advance(3_600);
        let now = shop.own(&format!("/{order}")).await.expect(200)["order"]["created_at"].as_str().unwrap().to_owned();
        let now = now.parse::<chrono::DateTime<chrono::Utc>>().unwrap();
        let at = |name: &str, token: &str, minutes: i64| {
            let mut dated = scan(name, token, 1);
            dated["at"] = json!((now + chrono::TimeDelta::minutes(minutes)).to_rfc3339());
            dated
        };
        let mut nowhere = at("nowhere", &token, 5);
        nowhere["shop_id"] = json!(99_999);
        let scans = json!([at("late", &token, 30), at("torn", "torn", 1), nowhere, at("first", &token, 20), at("first", "torn", 40)]);
        let answer = shop.upload(&door, scans.clone()).await.expect(200);
        let seen: Vec<_> = answer["scans"].as_array().unwrap().iter().map(|one| {
            (one["scan_id"].as_str().unwrap(), one["error"]["code"].as_str(), one["scan"]["outcome"].as_str())
        }).collect();
        assert_eq!(seen, [
            ("late", Some("already_redeemed"), Some("already_redeemed")), ("torn", Some("unknown"), Some("unknown")),
            ("nowhere", Some("unknown_shop"), None), ("first", None, Some("admitted")), ("first", Some("scan_id_reused"), None),
        ]);
        assert_eq!((&answer["scansCount"], &answer["scans"][0]["scan"]["redeemed_at"]), (&json!(5), &answer["scans"][3]["scan"]["at"]));
        assert_eq!(shop.upload(&door, scans).await.expect(200), answer);
        assert_eq!(shop.count("ticket_scans").await, 3);
        let full: Vec<Value> = (0..500).map(|number| at(&format!("n{number}"), &token, 10)).collect();
        assert_eq!(shop.upload(&door, json!(full)).await.expect(200)["scansCount"], 500);
        assert_eq!(shop.count("ticket_scans").await, 503);
    }

    async fn a_scan_with_a_key_is_answered_again(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let ((_, token), door) = (shop.with_tickets(1).await, shop.doorkeeper().await);
        for (key, name, status) in [("k1", "1", 200), ("k2", "2", 409)] {
            let ask = || send(shop.server.as_staff(&door, Method::POST, "/api/orders/redeem").header("Idempotency-Key", key).json(&scan(name, &token, 1)));
            let first = ask().await.expect(status);
            assert_eq!(ask().await.expect(status), first);
        }
        assert_eq!(shop.count("ticket_scans").await, 2);
    }

    async fn repeated_scans_are_limited(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let (door, other) = (shop.doorkeeper().await, shop.doorkeeper().await);
        for number in 0..30 {
            shop.upload(&door, json!([scan(&format!("{number}"), "torn", 1)])).await.expect(200);
        }
        assert_eq!(shop.upload(&door, json!([scan("31", "torn", 1)])).await.expect(429)["message"], "Too Many Attempts.");
        shop.upload(&other, json!([scan("31", "torn", 1)])).await.expect(200);
        shop.redeem(&door, &scan("32", "torn", 1)).await.expect(404);
    }
}
