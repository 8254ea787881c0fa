//! Subscriptions as staff see and change them.

use chrono::{DateTime, Datelike as _, TimeDelta, Utc};
use kontor::instance::Roles;
use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::subscription_fixture::SubscriptionFixture;
use crate::support::{Answer, send};

const DAY: i64 = 24 * 3_600;

async fn staff(subscription_fixture: &SubscriptionFixture, method: Method, path: &str, body: Option<Value>) -> Answer {
    let request = subscription_fixture.shop.server.as_staff(&subscription_fixture.owner, method, path);
    send(match body {
        Some(body) => request.json(&body),
        None => request,
    })
    .await
}

async fn see(subscription_fixture: &SubscriptionFixture, path: &str) -> Value {
    staff(subscription_fixture, Method::GET, path, None).await.expect(200)
}

async fn tell(subscription_fixture: &SubscriptionFixture, path: &str, body: Value) -> Answer {
    staff(subscription_fixture, Method::POST, path, Some(body)).await
}

database_tests! {
    async fn staff_find_a_subscription_and_all_about_it(db: TestDatabase) {
        let subscription_fixture = SubscriptionFixture::open(db).await;
        let joined = subscription_fixture.join().await;
        let id = &joined["id"];
        for path in ["/api/subscriptions", "/api/tables/subscriptions"] {
            let all = see(&subscription_fixture, path).await;
            assert_eq!(all["pagination"]["total"], 1);
            for (filter, found) in [
                ("status=active".to_owned(), 1),
                ("status=past_due".to_owned(), 0),
                ("status[]=active&status[]=canceled".to_owned(), 1),
                ("parked=paid_today".to_owned(), 0),
                (format!("nomenclature_id={}", subscription_fixture.gold), 1),
                (format!("nomenclature_id={}", subscription_fixture.silver), 0),
                ("order_by=next_charge_at_asc".to_owned(), 1),
                ("date_from=2020-01-01&date_to=2020-01-02".to_owned(), 0),
            ] {
                let page = see(&subscription_fixture, &format!("{path}?{filter}")).await;
                assert_eq!(page["subscriptions"].as_array().unwrap().len(), found, "{path}?{filter}");
            }
            staff(&subscription_fixture, Method::GET, &format!("{path}?status=gone&parked=1&page=0"), None)
                .await
                .expect_invalid(&["status", "parked", "page"]);
        }
        let one = see(&subscription_fixture, &format!("/api/subscriptions/{id}")).await["subscription"].clone();
        for (key, value) in joined.as_object().unwrap() {
            assert_eq!(&one[key], value, "{key} is what the customer sees");
        }
        assert_eq!((&one["nomenclature"]["id"], &one["nomenclature"]["name"]), (&json!(subscription_fixture.gold), &json!("gold")));
        assert_eq!((&one["parked"], &one["missed_periods"], &one["period"]), (&Value::Null, &json!([]), &json!(1)));
        assert!(one["counterparty"]["phone"].is_string() && one["saved_payment_method_id"].is_i64());

        let payments = see(&subscription_fixture, &format!("/api/subscriptions/{id}/payments")).await;
        assert_eq!((&payments["paymentsCount"], &payments["payments"][0]["origin"]), (&json!(1), &json!("first")));
        assert_eq!(payments["payments"][0]["id"], joined["latest_payment"]["id"]);
        let consents = see(&subscription_fixture, &format!("/api/subscriptions/{id}/consents")).await;
        assert_eq!((&consents["consents"][0]["amount"], &consents["consentsCount"]), (&json!("990.00"), &json!(1)));
        assert_eq!(consents["consents"][0]["address"], "127.0.0.1");
        let history = see(&subscription_fixture, &format!("/api/subscriptions/{id}/history")).await;
        assert_eq!(history["histories"][0]["event"], "charge_succeeded");
        let upcoming = see(&subscription_fixture, "/api/subscriptions/upcoming?until=2999-01-01T00:00:00Z").await;
        let charge = &upcoming["charges"][0];
        assert_eq!((&charge["subscription_id"], &charge["amount"]), (id, &json!("990.00")));
        assert_eq!((&charge["charge_at"], &charge["past_due"]), (&joined["next_charge_at"], &json!(false)));
        assert_eq!(see(&subscription_fixture, "/api/subscriptions/upcoming?until=2020-01-01T00:00:00Z").await["chargesCount"], 0);
    }

    async fn staff_cancel_pause_skip_and_move(db: TestDatabase) {
        let subscription_fixture = SubscriptionFixture::open_as(db, Roles::Both).await;
        let joined = subscription_fixture.join().await;
        let at = |what: &str| format!("/api/subscriptions/{}/{what}", joined["id"]);
        let paid_until = joined["current_period_end"].clone();
        let skipped = tell(&subscription_fixture, &at("skip"), json!({})).await.expect(200)["subscription"].clone();
        assert_eq!(skipped["current_period_end"], paid_until, "what is paid ends as it does");
        assert!(skipped["next_charge_at"].as_str() > paid_until.as_str());
        let moved = tell(&subscription_fixture, &at("billing-day"), json!({ "day": 28 })).await.expect(200)["subscription"].clone();
        let next: DateTime<Utc> = moved["next_charge_at"].as_str().unwrap().parse().unwrap();
        assert_eq!((next + TimeDelta::hours(3)).day(), 28, "in the zone of the project");
        tell(&subscription_fixture, &at("billing-day"), json!({ "day": 32 })).await.expect_invalid(&["day"]);
        tell(&subscription_fixture, &at("billing-day"), json!({})).await.expect_invalid(&["day"]);
        tell(&subscription_fixture, &at("pause"), json!({ "until": "yesterday" })).await.expect_invalid(&["until"]);
        tell(&subscription_fixture, &at("pause"), json!({ "until": "2020-01-01T00:00:00Z" })).await.expect_invalid(&["until"]);
        tell(&subscription_fixture, &at("pause"), json!({ "until": "9000-01-01T00:00:00Z" })).await.expect_invalid(&["until"]);
        tell(&subscription_fixture, &at("charge"), json!({})).await.expect_invalid(&["id"]);
        tell(&subscription_fixture, &at("release"), json!({})).await.expect_invalid(&["id"]);
        let canceled = tell(&subscription_fixture, &at("cancel"), json!({})).await.expect(200)["subscription"].clone();
        assert_eq!((&canceled["status"], &canceled["next_charge_at"]), (&json!("canceled"), &Value::Null));
        tell(&subscription_fixture, &at("cancel"), json!({})).await.expect_invalid(&["id"]);
        tell(&subscription_fixture, &at("skip"), json!({})).await.expect_invalid(&["id"]);
        let history = see(&subscription_fixture, &at("history")).await;
        let events: Vec<_> = history["histories"].as_array().unwrap().iter().map(|entry| entry["event"].clone()).collect();
        assert_eq!(events[..3], [json!("cancel"), json!("move_day"), json!("skip")]);
        assert!(history["histories"][0]["user"]["name"].is_string());
    }

    async fn the_lines_of_its_orders_stay_as_they_are(db: TestDatabase) {
        let subscription_fixture = SubscriptionFixture::open_as(db, Roles::Both).await;
        let other = subscription_fixture.shop.goods(5, 1_000).await;
        // Without the refusal the payment would be canceled for the edit.
        subscription_fixture.shop.control("/acquirer", json!({ "cancels_unpaid": true })).await;
        subscription_fixture.check_out(subscription_fixture.gold).await.expect(201);
        let order = subscription_fixture.shop.server.insert("SELECT max(id) AS id FROM orders".to_owned()).await;
        let path = format!("/api/orders/{order}");
        let stays = async || {
            let before = (see(&subscription_fixture, &path).await, subscription_fixture.shop.payments().await);
            let line = format!("{path}/nomenclatures/{}", before.0["order"]["reservations"][0]["id"]);
            for query in ["?dry_run=1", ""] {
                for (method, line, body) in [
                    (Method::DELETE, &line, json!({})),
                    (Method::PUT, &line, json!({ "quantity": 2 })),
                    (Method::PUT, &line, json!({ "price": "1.00" })),
                    (Method::POST, &format!("{path}/nomenclatures"), json!({ "nomenclature_id": other, "quantity": 1 })),
                ] {
                    let refused = staff(&subscription_fixture, method.clone(), &format!("{line}{query}"), Some(body)).await;
                    assert_eq!(refused.expect(409)["error"]["code"], "order_final", "{method} {line}{query}");
                }
            }
            assert_eq!((see(&subscription_fixture, &path).await, subscription_fixture.shop.payments().await), before);
        };
        stays().await;
        subscription_fixture.shop.pays("succeed").await;
        subscription_fixture.until(&subscription_fixture.all().await[0]["id"].clone(), "active").await;
        stays().await;
    }

    async fn staff_charge_what_is_past_due(db: TestDatabase) {
        let subscription_fixture = SubscriptionFixture::open_as(db, Roles::Both).await;
        let joined = subscription_fixture.join().await;
        let (_, card) = subscription_fixture.saved().await;
        subscription_fixture.direct(&card, json!([{ "outcome": "decline", "reason": "insufficient_funds" }])).await;
        subscription_fixture.shop.server.clock.advance(32 * DAY);
        subscription_fixture.until(&joined["id"], "past_due").await;
        let path = format!("/api/subscriptions/{}", joined["id"]);
        assert_eq!(see(&subscription_fixture, "/api/subscriptions?status=past_due").await["subscriptionsCount"], 1);
        tell(&subscription_fixture, &format!("{path}/charge"), json!({})).await.expect(200);
        subscription_fixture.until(&joined["id"], "active").await;
        let payments = see(&subscription_fixture, &format!("{path}/payments")).await;
        assert_eq!((&payments["payments"][0]["planned"], &payments["payments"][0]["attempt"]), (&json!(false), &json!(2)));
    }

    async fn a_project_sets_how_it_charges(db: TestDatabase) {
        let subscription_fixture = SubscriptionFixture::open(db).await;
        let path = "/api/subscriptions/settings";
        let default = see(&subscription_fixture, path).await["settings"].clone();
        assert_eq!((&default["after_days"], &default["notice_days"]), (&json!([1, 3, 5, 7]), &json!(3)));
        let set = json!({ "after_days": [2, 4], "salary_days": [], "missed_periods": "collect", "notice_days": 7 });
        let answered = staff(&subscription_fixture, Method::PUT, path, Some(set)).await.expect(200);
        assert_eq!(see(&subscription_fixture, path).await, answered);
        assert_eq!((&answered["settings"]["after_days"], &answered["settings"]["hour"]), (&json!([2, 4]), &json!(12)));
        let wrong = json!({
            "after_days": [3, 1], "salary_days": [32], "hour": 24, "tries_per_period": 9, "tries_per_method": 16,
            "payments_per_customer_and_day": 0, "notice_days": 15,
        });
        staff(&subscription_fixture, Method::PUT, path, Some(wrong)).await.expect_invalid(&[
            "after_days", "salary_days", "hour", "tries_per_period", "tries_per_method",
            "payments_per_customer_and_day", "notice_days",
        ]);
        let wrong = json!({ "missed_periods": "take", "withdrawn_plans_renew": "maybe", "hour": "noon" });
        staff(&subscription_fixture, Method::PUT, path, Some(wrong)).await.expect_invalid(&["missed_periods", "withdrawn_plans_renew", "hour"]);
        assert_eq!(see(&subscription_fixture, path).await, answered, "nothing of it was written");
    }

    async fn subscriptions_of_another_project_are_out_of_reach(db: TestDatabase) {
        let subscription_fixture = SubscriptionFixture::open(db).await;
        let joined = subscription_fixture.join().await;
        let other = subscription_fixture.shop.server.project().await;
        let outsider = subscription_fixture.shop.server.owner(&other).await;
        let ask = |method, path: String| {
            send(subscription_fixture.shop.server.as_staff(&outsider, method, &path).json(&json!({ "until": "2999-01-01T00:00:00Z", "day": 3 })))
        };
        for what in ["", "/payments", "/history", "/consents"] {
            ask(Method::GET, format!("/api/subscriptions/{}{what}", joined["id"])).await.expect(403);
            ask(Method::GET, format!("/api/subscriptions/999999{what}")).await.expect(404);
        }
        for what in ["cancel", "pause", "skip", "billing-day", "charge", "release"] {
            ask(Method::POST, format!("/api/subscriptions/{}/{what}", joined["id"])).await.expect(403);
            ask(Method::POST, format!("/api/subscriptions/999999/{what}")).await.expect(404);
        }
        assert_eq!(subscription_fixture.one(&joined["id"]).await["status"], "active");
    }
}
