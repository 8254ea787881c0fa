//! Subscriptions of customers, from the first payment to the last.

use std::time::Instant;

use kontor::instance::Roles;
use kontor_adapter_diesel::{database_tests, retry_until};
use reqwest::Method;
use serde_json::{Value, json};

use crate::keyed::{assert_replays, is_replayed, keyed};
use crate::process::PATIENCE;
use crate::subscription_fixture::{METHODS, ROOT, SubscriptionFixture};
use crate::support::{Project, keys, send};

const DAY: i64 = 24 * 3_600;

const SUBSCRIPTION: [&str; 16] = [
    "amount",
    "application_id",
    "billing_period_months",
    "can_retry_payment",
    "canceled_at",
    "currency",
    "current_period_end",
    "current_period_start",
    "id",
    "latest_payment",
    "next_charge_at",
    "next_terms",
    "nomenclature_id",
    "plan_slug",
    "retry_payment_reason",
    "status",
];
const CHECKOUT: [&str; 8] = [
    "amount",
    "billing_period_months",
    "currency",
    "nomenclature_id",
    "nomenclature_ids",
    "order_id",
    "payment_link",
    "payment_method_type",
];
const PAYMENT: [&str; 9] =
    ["amount", "attempt", "created_at", "currency", "id", "order_id", "period", "reason", "status"];

fn at(subscription: &Value, what: &str) -> String {
    format!("{ROOT}/{}/{what}", subscription["id"])
}

database_tests! {
    async fn a_plan_is_bought_on_the_page_of_the_acquirer(db: TestDatabase) {
        let subscription_fixture = SubscriptionFixture::open(db).await;
        let opened = subscription_fixture.check_out(subscription_fixture.gold).await.expect(201);
        assert_eq!(keys(&opened), CHECKOUT);
        assert_eq!((&opened["nomenclature_id"], &opened["nomenclature_ids"]), (&json!(subscription_fixture.gold), &json!([subscription_fixture.gold])));
        assert_eq!((&opened["amount"], &opened["currency"]), (&json!("990.00"), &json!("RUB")));
        assert_eq!((&opened["billing_period_months"], &opened["payment_method_type"]), (&json!(1), &json!("bank_card")));
        assert!(opened["payment_link"].as_str().is_some_and(|link| link.starts_with(subscription_fixture.shop.sandbox.url())));
        assert_eq!(subscription_fixture.check_out(subscription_fixture.gold).await.expect(200), opened, "the same one while it is open");
        assert!(subscription_fixture.check_out(subscription_fixture.silver).await.expect(409)["message"].is_string());
        let waiting = subscription_fixture.all().await;
        assert_eq!((waiting.len(), &waiting[0]["status"]), (1, &json!("charging")));
        assert_eq!(waiting[0]["current_period_end"], Value::Null);

        subscription_fixture.shop.pays("succeed").await;
        let active = subscription_fixture.until(&waiting[0]["id"], "active").await;
        assert_eq!(keys(&active), SUBSCRIPTION);
        assert_eq!((&active["plan_slug"], &active["nomenclature_id"]), (&json!("gold"), &json!(subscription_fixture.gold)));
        assert_eq!((&active["amount"], &active["billing_period_months"]), (&json!("990.00"), &json!(1)));
        assert_eq!(active["application_id"], subscription_fixture.shop.project.application_id);
        assert_eq!((&active["canceled_at"], &active["next_terms"]), (&Value::Null, &Value::Null));
        assert!(active["current_period_start"].is_string() && active["next_charge_at"] == active["current_period_end"]);
        let payment = &active["latest_payment"];
        assert_eq!(keys(payment), PAYMENT);
        assert_eq!((&payment["status"], &payment["order_id"]), (&json!("succeeded"), &opened["order_id"]));
        assert_eq!((&active["can_retry_payment"], &active["retry_payment_reason"]), (&json!(false), &json!("already_paid")));
        subscription_fixture.check_out(subscription_fixture.gold).await.expect_invalid(&["nomenclature_id"]);
        assert_eq!(subscription_fixture.shop.payments().await.len(), 1, "one payment");
    }

    async fn several_plans_are_one_payment_and_a_subscription_each(db: TestDatabase) {
        let subscription_fixture = SubscriptionFixture::open(db).await;
        let both = json!({ "nomenclature_ids": [subscription_fixture.silver, subscription_fixture.gold], "autopay_consent": true, "payment_method_type": "sbp" });
        let opened = subscription_fixture.post(&format!("{ROOT}/checkout"), both).await.expect(201);
        assert_eq!((&opened["nomenclature_ids"], &opened["amount"]), (&json!([subscription_fixture.silver, subscription_fixture.gold]), &json!("1480.00")));
        assert_eq!((&opened["nomenclature_id"], &opened["payment_method_type"]), (&json!(subscription_fixture.silver), &json!("sbp")));
        subscription_fixture.shop.pays("succeed").await;
        for subscription in subscription_fixture.all().await {
            subscription_fixture.until(&subscription["id"], "active").await;
        }
        let amounts: Vec<Value> = subscription_fixture.all().await.iter().map(|subscription| subscription["amount"].clone()).collect();
        assert!(amounts.len() == 2 && amounts.contains(&json!("990.00")) && amounts.contains(&json!("490.00")));
        assert_eq!(subscription_fixture.shop.payments().await.len(), 1);
    }

    async fn every_wrong_part_is_named(db: TestDatabase) {
        let subscription_fixture = SubscriptionFixture::open(db).await;
        for (slug, price, months) in [("free", "0.00", 1), ("long", "4900.00", 25)] {
            let plan = subscription_fixture.plan(slug, price, months).await;
            subscription_fixture.check_out(plan).await.expect_invalid(&["nomenclature_id"]);
        }
        let listed = subscription_fixture.get("/api/counterparty/subscription-plans").await.expect(200);
        let listed: Vec<&Value> = listed["data"].as_array().unwrap().iter().map(|plan| &plan["plan_slug"]).collect();
        assert_eq!(listed, ["gold", "silver"], "what cannot be bought is not listed");
        let (yearly, secret) = (subscription_fixture.plan("yearly", "4900.00", 12).await, subscription_fixture.card("secret", "1.00", 1).await);
        let buy = |body: Value| subscription_fixture.post("/api/counterparty/subscriptions/checkout", body);
        let several = |numbers: Value| buy(json!({ "nomenclature_ids": numbers, "autopay_consent": true }));
        for consent in [Value::Null, json!(false), json!("true"), json!(1)] {
            let body = json!({ "nomenclature_ids": [], "autopay_consent": consent, "payment_method_type": "barter" });
            buy(body).await.expect_invalid(&["autopay_consent", "nomenclature_ids", "payment_method_type"]);
        }
        buy(json!({ "nomenclature_id": subscription_fixture.gold })).await.expect_invalid(&["autopay_consent"]);
        buy(json!({ "autopay_consent": true })).await.expect_invalid(&["nomenclature_id"]);
        let both = json!({ "nomenclature_id": subscription_fixture.gold, "nomenclature_ids": [subscription_fixture.gold], "autopay_consent": true });
        buy(both).await.expect_invalid(&["nomenclature_ids"]);
        for numbers in [json!([]), json!((1..=21).collect::<Vec<_>>()), json!([1, 1]), json!([secret]), json!([subscription_fixture.gold, yearly])] {
            several(numbers).await.expect_invalid(&["nomenclature_ids"]);
        }
        several(json!([0, "x"])).await.expect_invalid(&["nomenclature_ids.0", "nomenclature_ids.1"]);
        for plan in [secret, 999_999] {
            buy(json!({ "nomenclature_id": plan, "autopay_consent": true })).await.expect_invalid(&["nomenclature_id"]);
        }
        subscription_fixture.post(ROOT, json!({})).await.expect_invalid(&["autopay_consent", "saved_payment_method_id"]);
        let named = |plan: Value| {
            let mut body = json!({ "saved_payment_method_id": 999_999, "autopay_consent": true });
            body.as_object_mut().unwrap().extend(plan.as_object().unwrap().clone());
            subscription_fixture.post(ROOT, body)
        };
        named(json!({})).await.expect_invalid(&["nomenclature_id"]);
        named(json!({ "nomenclature_id": subscription_fixture.gold, "plan_slug": "gold" })).await.expect_invalid(&["plan_slug"]);
        named(json!({ "plan_slug": "bronze" })).await.expect_invalid(&["plan_slug"]);
        named(json!({ "plan_slug": "gold" })).await.expect_invalid(&["saved_payment_method_id"]);
        assert_eq!((subscription_fixture.shop.count("orders").await, subscription_fixture.shop.payments().await.len()), (0, 0));
    }

    async fn a_payment_that_is_unclear_is_clarified(db: TestDatabase) {
        let subscription_fixture = SubscriptionFixture::open_as(db, Roles::Both).await;
        subscription_fixture.shop.fault("refuse", 1).await;
        subscription_fixture.check_out(subscription_fixture.silver).await.expect_invalid(&["payment_method_type"]);
        subscription_fixture.shop.fault("http_500_after_commit", 1).await;
        let body = json!({ "nomenclature_id": subscription_fixture.gold, "autopay_consent": true });
        let ask = || send(keyed(subscription_fixture.request(Method::POST, "/api/counterparty/subscriptions/checkout"), "k").json(&body));
        let unclear = ask().await.expect(202);
        assert_eq!(unclear["payment_link"], Value::Null);
        let again = ask().await;
        assert!(again.status.is_success() && is_replayed(&again), "{}", again.text);
        let until = Instant::now() + PATIENCE;
        let known = loop {
            subscription_fixture.shop.server.clock.advance(2);
            let known = subscription_fixture.check_out(subscription_fixture.gold).await;
            if known.status == 200 {
                break known.json();
            }
            retry_until!(until, "it stays unclear: {}", known.text);
        };
        assert!(known["payment_link"].is_string() && known["order_id"] == unclear["order_id"], "{known}");
        assert_eq!(subscription_fixture.shop.payments().await.len(), 1, "one payment");
    }

    async fn a_saved_method_is_charged_at_once(db: TestDatabase) {
        let subscription_fixture = SubscriptionFixture::open(db).await;
        assert_eq!(subscription_fixture.get(METHODS).await.expect(200), json!({ "data": [] }));
        subscription_fixture.join().await;
        let methods = subscription_fixture.get(METHODS).await.expect(200)["data"].clone();
        let shown = ["card_last_4", "card_type", "created_at", "id", "is_active", "payment_method_type", "title"];
        assert_eq!((methods.as_array().unwrap().len(), keys(&methods[0])), (1, shown.to_vec()));
        assert_eq!((&methods[0]["payment_method_type"], &methods[0]["is_active"]), (&json!("bank_card"), &json!(true)));
        let (method, card) = subscription_fixture.saved().await;

        // Declined, then pending, then paid.
        subscription_fixture.direct(&card, json!([{ "outcome": "decline", "reason": "insufficient_funds" }, { "outcome": "pending" }])).await;
        let declined = subscription_fixture.subscribe(subscription_fixture.silver, method).await;
        declined.expect_invalid(&["saved_payment_method_id"]);
        assert!(declined.json()["message"].as_str().unwrap().contains("insufficient_funds"), "{}", declined.text);
        let body = json!({ "plan_slug": "silver", "saved_payment_method_id": method, "autopay_consent": true });
        let ask = || send(keyed(subscription_fixture.request(Method::POST, ROOT), "k").json(&body));
        let running = ask().await.expect(202)["data"].clone();
        assert_eq!((&running["status"], &running["latest_payment"]["status"]), (&json!("charging"), &json!("processing")));
        let again = ask().await;
        assert!(is_replayed(&again), "{}", again.text);
        assert_eq!(again.expect(201)["data"], running, "as it stands now");
        subscription_fixture.check_out(subscription_fixture.silver).await.expect(409);
        assert_eq!(subscription_fixture.subscribe(subscription_fixture.silver, method).await.expect(202)["data"]["id"], running["id"], "the same wish");
        subscription_fixture.post(&at(&running, "cancel"), json!({})).await.expect_invalid(&["id"]);
        let retry = format!("payments/{}/retry", running["latest_payment"]["id"]);
        assert!(subscription_fixture.post(&at(&running, &retry), json!({})).await.expect(409)["message"].is_string());
        subscription_fixture.shop.pays("succeed").await;
        let active = subscription_fixture.until(&running["id"], "active").await;
        assert_eq!(ask().await.expect(201)["data"], active, "as it stands now");

        let bronze = subscription_fixture.plan("bronze", "90.00", 3).await;
        let body = json!({ "nomenclature_id": bronze, "saved_payment_method_id": method, "autopay_consent": true });
        let ask = || send(keyed(subscription_fixture.request(Method::POST, ROOT), "other").json(&body));
        let paid = ask().await;
        let data = paid.expect(201)["data"].clone();
        assert_eq!((keys(&data), &data["status"], &data["amount"]), (SUBSCRIPTION.to_vec(), &json!("active"), &json!("90.00")));
        assert_replays(&paid, &ask().await);
        subscription_fixture.subscribe(bronze, method).await.expect_invalid(&["nomenclature_id"]);
        assert_eq!(subscription_fixture.shop.payments().await.len(), 4, "gold, silver twice, bronze once");
    }

    async fn while_a_checkout_is_open_nothing_else_is_charged(db: TestDatabase) {
        let subscription_fixture = SubscriptionFixture::open(db).await;
        subscription_fixture.join().await;
        let (method, _) = subscription_fixture.saved().await;
        let opened = subscription_fixture.check_out(subscription_fixture.silver).await.expect(201);
        let made = subscription_fixture.shop.payments().await.len();
        let bronze = subscription_fixture.plan("bronze", "90.00", 1).await;
        for plan in [subscription_fixture.silver, bronze] {
            assert!(subscription_fixture.subscribe(plan, method).await.expect(409)["message"].is_string());
        }
        assert_eq!(subscription_fixture.check_out(subscription_fixture.silver).await.expect(200), opened);
        assert_eq!(subscription_fixture.shop.payments().await.len(), made);
    }

    async fn a_customer_reads_one_subscription_and_their_consents(db: TestDatabase) {
        let subscription_fixture = SubscriptionFixture::open(db).await;
        let joined = subscription_fixture.join().await;
        let path = format!("{ROOT}/{}", joined["id"]);
        assert_eq!(subscription_fixture.get(&path).await.expect(200), json!({ "data": joined }));
        let change = json!({ "plan_slug": "silver", "autopay_consent": true });
        send(subscription_fixture.request(Method::PATCH, &path).json(&change)).await.expect(200);
        let consents = subscription_fixture.get(&format!("{path}/consents")).await.expect(200);
        assert_eq!(keys(&consents), ["current_page", "data", "last_page", "per_page", "total"]);
        let amounts: Vec<&Value> = consents["data"].as_array().unwrap().iter().map(|one| &one["amount"]).collect();
        assert_eq!(amounts, ["490.00", "990.00"]);
        let first = &consents["data"][1];
        assert_eq!((&first["plan_slug"], &first["billing_period_months"]), (&json!("gold"), &json!(1)));
        assert!(first["text_version"].is_string() && first["created_at"].is_string() && first["address"] == "127.0.0.1");
        let second = subscription_fixture.get(&format!("{path}/consents?per_page=1&page=2")).await.expect(200);
        assert_eq!((&second["data"], &second["total"]), (&json!([first]), &json!(2)));
        subscription_fixture.get(&format!("{path}/consents?per_page=101")).await.expect_invalid(&["per_page"]);
    }

    async fn a_notice_names_the_plan_and_leads_to_the_application(db: TestDatabase) {
        let subscription_fixture = SubscriptionFixture::open(db).await;
        subscription_fixture.check_out(subscription_fixture.gold).await.expect(201);
        let unsaved = subscription_fixture.shop.payments().await[0]["id"].as_str().unwrap().to_owned();
        subscription_fixture.shop.control(&format!("/payments/{unsaved}"), json!({ "outcome": "succeed", "save": false })).await;
        subscription_fixture.until(&subscription_fixture.all().await[0]["id"], "active").await;
        let reported = async || subscription_fixture.get("/api/counterparty/notifications").await.expect(200)["notifications"].clone();
        let notices = reported().await;
        let codes: Vec<&Value> = notices.as_array().unwrap().iter().map(|notice| &notice["status"]).collect();
        assert_eq!(codes, ["subscription_method_needed", "subscription_activated"], "told at once");
        for notice in notices.as_array().unwrap() {
            assert!(notice["body"].as_str().unwrap().starts_with("gold: ") && notice["action_url"].is_null(), "{notice}");
        }
        for (url, shown) in [("https://club.example/app", json!("https://club.example/app")), ("javascript:alert(1)", Value::Null)] {
            subscription_fixture.shop.server.execute(&format!("UPDATE applications SET url = '{url}'")).await;
            assert_eq!(reported().await[0]["action_url"], shown);
        }
    }

    async fn a_subscription_is_canceled_and_resumed(db: TestDatabase) {
        let subscription_fixture = SubscriptionFixture::open(db).await;
        let joined = subscription_fixture.join().await;
        let (cancel, resume) = (at(&joined, "cancel"), at(&joined, "resume"));
        let consent = json!({ "autopay_consent": true });
        subscription_fixture.post(&resume, consent.clone()).await.expect_invalid(&["id"]);
        let canceled = send(subscription_fixture.request(Method::POST, &cancel)).await.expect(200)["data"].clone();
        assert_eq!((&canceled["status"], &canceled["next_charge_at"]), (&json!("canceled"), &Value::Null));
        assert!(canceled["canceled_at"].is_string() && canceled["current_period_end"] == joined["current_period_end"]);
        send(subscription_fixture.request(Method::POST, &cancel)).await.expect_invalid(&["id"]);
        assert_eq!(subscription_fixture.one(&joined["id"]).await, canceled, "nothing changed");
        for wrong in [json!({}), json!({ "autopay_consent": false })] {
            subscription_fixture.post(&resume, wrong).await.expect_invalid(&["autopay_consent"]);
        }
        let resumed = subscription_fixture.post(&resume, consent.clone()).await.expect(200)["data"].clone();
        assert_eq!((&resumed["status"], &resumed["canceled_at"]), (&json!("active"), &Value::Null));
        assert_eq!(resumed["next_charge_at"], joined["next_charge_at"]);

        send(subscription_fixture.request(Method::POST, &cancel)).await.expect(200);
        subscription_fixture.shop.server.clock.advance(40 * DAY);
        let late = subscription_fixture.post(&resume, consent.clone()).await.expect(200)["data"].clone();
        assert_eq!((&late["status"], &late["canceled_at"]), (&json!("past_due"), &Value::Null));
        send(subscription_fixture.request(Method::POST, &cancel)).await.expect(200);
        subscription_fixture.shop.server.execute("UPDATE saved_payment_methods SET is_active = FALSE").await;
        subscription_fixture.post(&resume, consent).await.expect_invalid(&["id"]);
        assert_eq!(subscription_fixture.shop.payments().await.len(), 1);
    }

    async fn other_terms_need_a_consent_and_never_a_card(db: TestDatabase) {
        let subscription_fixture = SubscriptionFixture::open(db).await;
        let joined = subscription_fixture.join().await;
        let path = format!("{ROOT}/{}", joined["id"]);
        let change = |body: Value| send(subscription_fixture.request(Method::PATCH, &path).json(&body));
        let mut card = json!({ "card_number": "4111111111111111", "cvc": "737", "autopay_consent": true });
        assert_eq!(change(card.clone()).await.expect(200)["data"], joined);
        change(json!({ "nomenclature_id": subscription_fixture.silver })).await.expect_invalid(&["autopay_consent"]);
        change(json!({ "plan_slug": "silver", "autopay_consent": false })).await.expect_invalid(&["autopay_consent"]);
        change(json!({ "nomenclature_id": subscription_fixture.silver, "plan_slug": "silver" })).await.expect_invalid(&["plan_slug"]);
        let wrong = json!({ "nomenclature_id": null, "saved_payment_method_id": "x", "autopay_consent": "yes" });
        change(wrong).await.expect_invalid(&["autopay_consent", "nomenclature_id", "saved_payment_method_id"]);
        change(json!({ "plan_slug": "bronze", "autopay_consent": true })).await.expect_invalid(&["plan_slug"]);
        let unknown = json!({ "saved_payment_method_id": 999_999, "autopay_consent": true });
        change(unknown).await.expect_invalid(&["saved_payment_method_id"]);
        assert_eq!(subscription_fixture.one(&joined["id"]).await, joined, "nothing changed");
        change(json!({ "plan_slug": "gold" })).await.expect(200);

        card["plan_slug"] = json!("silver");
        let changed = change(card).await.expect(200)["data"].clone();
        let next = json!({
            "plan_slug": "silver", "nomenclature_id": subscription_fixture.silver, "billing_period_months": 1, "amount": "490.00",
            "currency": "RUB",
        });
        assert_eq!((&changed["next_terms"], &changed["amount"]), (&next, &json!("990.00")));
        change(json!({ "nomenclature_id": subscription_fixture.silver })).await.expect(200);
    }

    async fn a_plan_is_subscribed_to_once_by_any_request(db: TestDatabase) {
        let subscription_fixture = SubscriptionFixture::open(db).await;
        let former = subscription_fixture.join().await;
        subscription_fixture.post(&at(&former, "cancel"), json!({})).await.expect(200);
        let joined = subscription_fixture.join().await;
        let consent = json!({ "autopay_consent": true });
        subscription_fixture.post(&at(&former, "resume"), consent.clone()).await.expect_invalid(&["id"]);
        assert_eq!((&subscription_fixture.one(&former["id"]).await["status"], &joined["status"]), (&json!("canceled"), &json!("active")));
        let (method, _) = subscription_fixture.saved().await;
        let silver = subscription_fixture.subscribe(subscription_fixture.silver, method).await.expect(201)["data"].clone();
        let change = |one: &Value, plan: Value| {
            let mut body = consent.clone();
            body.as_object_mut().unwrap().extend(plan.as_object().unwrap().clone());
            send(subscription_fixture.request(Method::PATCH, &format!("{ROOT}/{}", one["id"])).json(&body))
        };
        change(&silver, json!({ "nomenclature_id": subscription_fixture.gold })).await.expect_invalid(&["nomenclature_id"]);
        change(&silver, json!({ "plan_slug": "gold" })).await.expect_invalid(&["plan_slug"]);
        let bronze = subscription_fixture.plan("bronze", "90.00", 1).await;
        change(&silver, json!({ "nomenclature_id": bronze })).await.expect(200);
        subscription_fixture.subscribe(bronze, method).await.expect_invalid(&["nomenclature_id"]);
        subscription_fixture.check_out(subscription_fixture.silver).await.expect_invalid(&["nomenclature_id"]);
        change(&joined, json!({ "plan_slug": "bronze" })).await.expect_invalid(&["plan_slug"]);
    }

    async fn periods_are_charged_and_tried_again(db: TestDatabase) {
        let subscription_fixture = SubscriptionFixture::open_as(db, Roles::Both).await;
        let joined = subscription_fixture.join().await;
        let (_, card) = subscription_fixture.saved().await;
        let first = joined["latest_payment"]["id"].clone();
        let retry = |payment: &Value| at(&joined, &format!("payments/{payment}/retry"));
        subscription_fixture.post(&retry(&first), json!({})).await.expect_invalid(&["payment_id"]);
        subscription_fixture.post(&retry(&json!(999_999)), json!({})).await.expect(404);

        subscription_fixture.direct(&card, json!([{ "outcome": "decline", "reason": "insufficient_funds" }])).await;
        subscription_fixture.shop.server.clock.advance(31 * DAY);
        let owing = subscription_fixture.until(&joined["id"], "past_due").await;
        let failed = owing["latest_payment"].clone();
        assert_eq!((&failed["status"], &failed["reason"]), (&json!("failed"), &json!("insufficient_funds")));
        assert_eq!((&owing["can_retry_payment"], &owing["retry_payment_reason"]), (&json!(true), &json!("available")));
        subscription_fixture.post(&retry(&first), json!({})).await.expect_invalid(&["payment_id"]);
        let paid = send(subscription_fixture.request(Method::POST, &retry(&failed["id"]))).await.expect(200)["data"].clone();
        assert_eq!((&paid["status"], &paid["latest_payment"]["status"]), (&json!("active"), &json!("succeeded")));
        assert_eq!((&paid["latest_payment"]["period"], &paid["latest_payment"]["attempt"]), (&json!(2), &json!(2)));

        let list = subscription_fixture.get(&at(&joined, "payments")).await.expect(200);
        assert_eq!(keys(&list), ["current_page", "data", "last_page", "per_page", "total"]);
        assert_eq!((&list["per_page"], &list["total"], &list["last_page"]), (&json!(20), &json!(3), &json!(1)));
        let payments = list["data"].as_array().unwrap();
        assert!(payments.iter().all(|payment| keys(payment) == PAYMENT));
        let states: Vec<&Value> = payments.iter().map(|payment| &payment["status"]).collect();
        assert_eq!(states, ["succeeded", "failed", "succeeded"]);
        assert_eq!((&payments[1], &payments[2]["id"]), (&failed, &first));
        let second = subscription_fixture.get(&at(&joined, "payments?per_page=1&page=2")).await.expect(200);
        assert_eq!((&second["data"], &second["last_page"]), (&json!([failed]), &json!(3)));
        for (query, field) in [("per_page=0", "per_page"), ("per_page=101", "per_page"), ("page=0", "page"), ("colour=1", "colour")] {
            subscription_fixture.get(&at(&joined, &format!("payments?{query}"))).await.expect_invalid(&[field]);
        }
        subscription_fixture.get(&at(&joined, "payments?per_page=100")).await.expect(200);
    }

    async fn a_deleted_method_is_never_charged(db: TestDatabase) {
        let subscription_fixture = SubscriptionFixture::open_as(db, Roles::Both).await;
        let joined = subscription_fixture.join().await;
        let (method, _) = subscription_fixture.saved().await;
        let path = format!("{METHODS}/{method}");
        let (_, outsider) = subscription_fixture.shop.server.customer(&subscription_fixture.shop.project).await;
        send(subscription_fixture.shop.server.as_customer(&subscription_fixture.shop.project, &outsider, Method::DELETE, &path)).await.expect(404);
        send(subscription_fixture.request(Method::DELETE, &format!("{METHODS}/999999"))).await.expect(404);
        let deleted = send(subscription_fixture.request(Method::DELETE, &path)).await;
        assert!(deleted.expect(200)["message"].is_string());
        assert_eq!(send(subscription_fixture.request(Method::DELETE, &path)).await.expect(200), deleted.json(), "the same again");
        assert_eq!(subscription_fixture.shop.count("notifications WHERE code = 'subscription_method_needed'").await, 1);
        assert_eq!(subscription_fixture.get(METHODS).await.expect(200), json!({ "data": [] }));
        let left = subscription_fixture.one(&joined["id"]).await;
        assert_eq!((&left["status"], &left["next_charge_at"]), (&json!("active"), &Value::Null), "what is paid stays paid");
        subscription_fixture.subscribe(subscription_fixture.silver, method).await.expect_invalid(&["saved_payment_method_id"]);
        let back = json!({ "saved_payment_method_id": method, "autopay_consent": true });
        let back = subscription_fixture.request(Method::PATCH, &format!("{ROOT}/{}", joined["id"])).json(&back);
        send(back).await.expect_invalid(&["saved_payment_method_id"]);
        subscription_fixture.shop.server.clock.advance(31 * DAY);
        subscription_fixture.until(&joined["id"], "past_due").await;
        assert_eq!(subscription_fixture.shop.payments().await.len(), 1, "nothing was charged");
    }

    async fn another_card_is_entered_on_the_page_of_the_acquirer(db: TestDatabase) {
        let subscription_fixture = SubscriptionFixture::open(db).await;
        let joined = subscription_fixture.join().await;
        let (old, _) = subscription_fixture.saved().await;
        let (change, syncs) = (at(&joined, "payment-method-change"), at(&joined, "payment-method-changes"));
        let refused = json!({
            "autopay_consent": "true", "card": null, "card_number": "4111", "cvc": "1", "payment_method_data": {},
            "return_url": "https://evil.example",
        });
        let every = ["autopay_consent", "card", "card_number", "cvc", "payment_method_data", "return_url"];
        subscription_fixture.post(&change, refused).await.expect_invalid(&every);
        subscription_fixture.post(&change, json!({})).await.expect_invalid(&["autopay_consent"]);
        let consent = json!({ "autopay_consent": true });
        let pending = subscription_fixture.post(&change, consent.clone()).await.expect(200);
        assert_eq!(keys(&pending), ["confirmation_url", "expires_at", "id", "saved_payment_method_id", "status", "subscription_id"]);
        assert_eq!((&pending["status"], &pending["saved_payment_method_id"]), (&json!("pending"), &Value::Null));
        assert!(pending["confirmation_url"].is_string() && pending["subscription_id"] == joined["id"]);
        assert_eq!(subscription_fixture.post(&change, consent.clone()).await.expect(200), pending, "the one that there is");
        let sync = format!("{syncs}/{}/sync", pending["id"]);
        assert_eq!(subscription_fixture.post(&sync, Value::Null).await.expect(200), pending);
        subscription_fixture.shop.pays("succeed").await;
        let completed = subscription_fixture.post(&sync, Value::Null).await.expect(200);
        let new = completed["saved_payment_method_id"].as_i64().unwrap();
        assert!(completed["status"] == "completed" && completed["confirmation_url"].is_null() && new != old);
        assert_eq!(subscription_fixture.get(METHODS).await.expect(200)["data"].as_array().unwrap().len(), 2);
        let stored = format!("subscriptions WHERE saved_method_id = {new} AND status = 'active'");
        assert_eq!(subscription_fixture.shop.count(&stored).await, 1);
        assert_eq!(subscription_fixture.shop.count("subscription_consents").await, 2);
        assert_eq!(subscription_fixture.shop.count("refunds").await, 1, "the little that was paid goes back");
        let next = subscription_fixture.post(&change, consent).await.expect(200);
        assert_ne!(next["id"], pending["id"]);
        subscription_fixture.shop.pays("decline").await;
        let failed = subscription_fixture.post(&format!("{syncs}/{}/sync", next["id"]), Value::Null).await.expect(200);
        assert_eq!((&failed["status"], &failed["saved_payment_method_id"]), (&json!("failed"), &Value::Null));
        assert_eq!(subscription_fixture.shop.count(&stored).await, 1);
    }

    async fn foreign_subscriptions_are_not_found(db: TestDatabase) {
        let subscription_fixture = SubscriptionFixture::open(db).await;
        let joined = subscription_fixture.join().await;
        let (method, _) = subscription_fixture.saved().await;
        let (_, outsider) = subscription_fixture.shop.server.customer(&subscription_fixture.shop.project).await;
        let by = |method: Method, path: &str| subscription_fixture.shop.server.as_customer(&subscription_fixture.shop.project, &outsider, method, path);
        let (one, payment) = (format!("{ROOT}/{}", joined["id"]), &joined["latest_payment"]["id"]);
        let consent = json!({ "autopay_consent": true, "nomenclature_id": subscription_fixture.silver });
        for (verb, path) in [
            (Method::PATCH, one.clone()),
            (Method::POST, format!("{one}/cancel")),
            (Method::POST, format!("{one}/resume")),
            (Method::GET, one.clone()),
            (Method::GET, format!("{one}/consents")),
            (Method::GET, format!("{one}/payments")),
            (Method::POST, format!("{one}/payments/{payment}/retry")),
            (Method::POST, format!("{one}/payment-method-changes/1/sync")),
            (Method::DELETE, format!("{METHODS}/{method}")),
        ] {
            let hidden = send(by(verb.clone(), &path).json(&consent)).await;
            hidden.expect(404);
            for absent in ["x", "999999"] {
                let absent = send(by(verb.clone(), &path.replace(char::is_numeric, absent)).json(&consent)).await;
                assert_eq!((absent.status, &absent.text), (hidden.status, &hidden.text), "{verb} {path}");
            }
        }
        let change = format!("{one}/payment-method-change");
        send(by(Method::POST, &change).json(&json!({ "autopay_consent": true }))).await.expect(404);
        let body = json!({ "nomenclature_id": subscription_fixture.silver, "saved_payment_method_id": method, "autopay_consent": true });
        send(by(Method::POST, ROOT).json(&body)).await.expect_invalid(&["saved_payment_method_id"]);
        assert_eq!(send(by(Method::GET, ROOT)).await.expect(200), json!({ "data": [] }));
        assert_eq!(send(by(Method::GET, METHODS)).await.expect(200), json!({ "data": [] }));
        assert_eq!(subscription_fixture.one(&joined["id"]).await, joined);
    }

    async fn without_a_warehouse_nothing_can_be_paid(db: TestDatabase) {
        let subscription_fixture = SubscriptionFixture::open(db).await;
        subscription_fixture.join().await;
        let (method, _) = subscription_fixture.saved().await;
        subscription_fixture.shop.server.execute("DELETE FROM warehouse_applications").await;
        for refused in [subscription_fixture.check_out(subscription_fixture.silver).await, subscription_fixture.subscribe(subscription_fixture.silver, method).await] {
            refused.expect_invalid(&["nomenclature_id"]);
            let message = "payments are not available in this application: it has no warehouse";
            assert_eq!(refused.json()["errors"]["nomenclature_id"], json!([message]));
        }
        assert_eq!((subscription_fixture.all().await.len(), subscription_fixture.shop.count("orders").await), (1, 1));
        assert_eq!(subscription_fixture.shop.payments().await.len(), 1, "nothing was asked of the acquirer");
    }

    async fn a_method_belongs_to_the_application_it_was_saved_in(db: TestDatabase) {
        let mut subscription_fixture = SubscriptionFixture::open(db).await;
        subscription_fixture.join().await;
        let (method, _) = subscription_fixture.saved().await;
        let (home, bearer, silver) = (subscription_fixture.shop.project.clone(), subscription_fixture.shop.bearer.clone(), subscription_fixture.silver);
        // The same customer in another application of the project, where they save another method.
        let other_application = json!({ "name": "Twin", "branch_id": home.branch_id });
        let other_application = subscription_fixture.shop.employee(Method::POST, "/api/applications", &other_application).await.expect(201)["application"].clone();
        let (application_id, app_token) = (other_application["id"].as_i64().unwrap(), other_application["token"].as_str().unwrap().to_owned());
        subscription_fixture.shop.project = Project { application_id, app_token, ..home.clone() };
        let (project, customer) = (subscription_fixture.shop.project.clone(), subscription_fixture.shop.customer);
        subscription_fixture.shop.bearer = subscription_fixture.shop.server.token(&project, "counterparty", customer, Some(application_id)).await;
        let link = "INSERT INTO warehouse_applications (project_id, warehouse_id, application_id) VALUES";
        subscription_fixture.shop.server.execute(&format!("{link} ({}, {}, {application_id})", project.id, subscription_fixture.shop.warehouse)).await;
        subscription_fixture.gold = subscription_fixture.plan("platinum", "1990.00", 1).await;
        subscription_fixture.silver = subscription_fixture.plan("bronze", "90.00", 1).await;

        assert_eq!(subscription_fixture.get(METHODS).await.expect(200), json!({ "data": [] }));
        subscription_fixture.subscribe(subscription_fixture.silver, method).await.expect_invalid(&["saved_payment_method_id"]);
        let joined = subscription_fixture.join().await;
        let change = json!({ "saved_payment_method_id": method, "autopay_consent": true });
        let change = subscription_fixture.request(Method::PATCH, &format!("{ROOT}/{}", joined["id"])).json(&change);
        send(change).await.expect_invalid(&["saved_payment_method_id"]);
        send(subscription_fixture.request(Method::DELETE, &format!("{METHODS}/{method}"))).await.expect(404);
        assert_eq!(subscription_fixture.shop.payments().await.len(), 2, "one of each application");

        (subscription_fixture.shop.project, subscription_fixture.shop.bearer) = (home, bearer);
        let kept = subscription_fixture.get(METHODS).await.expect(200)["data"].clone();
        assert_eq!((&kept[0]["id"], &kept[0]["is_active"], &kept[1]), (&json!(method), &json!(true), &Value::Null));
        subscription_fixture.subscribe(silver, method).await.expect(201);
    }

    async fn one_of_the_project_as_a_whole_is_shown_in_every_application(db: TestDatabase) {
        let subscription_fixture = SubscriptionFixture::open(db).await;
        let joined = subscription_fixture.join().await;
        subscription_fixture.shop.server.execute("UPDATE subscriptions SET application_id = NULL").await;
        let shown = subscription_fixture.one(&joined["id"]).await;
        assert_eq!((&shown["application_id"], &shown["status"]), (&Value::Null, &json!("active")));
        subscription_fixture.get(&at(&joined, "payments")).await.expect(200);
        // It is not a subscription of this application only, but the customer is charged for the plan once.
        subscription_fixture.check_out(subscription_fixture.gold).await.expect_invalid(&["nomenclature_id"]);
        let canceled = subscription_fixture.post(&at(&joined, "cancel"), json!({})).await.expect(200);
        assert_eq!((&canceled["data"]["status"], &canceled["data"]["application_id"]), (&json!("canceled"), &Value::Null));
        subscription_fixture.check_out(subscription_fixture.gold).await.expect(201);
    }

    async fn both_credentials_are_needed(db: TestDatabase) {
        let subscription_fixture = SubscriptionFixture::open(db).await;
        let server = &subscription_fixture.shop.server;
        for (method, path) in [
            (Method::POST, format!("{ROOT}/checkout")),
            (Method::GET, ROOT.to_owned()),
            (Method::GET, format!("{ROOT}/1")),
            (Method::GET, format!("{ROOT}/1/consents")),
            (Method::POST, ROOT.to_owned()),
            (Method::PATCH, format!("{ROOT}/1")),
            (Method::POST, format!("{ROOT}/1/cancel")),
            (Method::POST, format!("{ROOT}/1/resume")),
            (Method::GET, format!("{ROOT}/1/payments")),
            (Method::POST, format!("{ROOT}/1/payments/1/retry")),
            (Method::POST, format!("{ROOT}/1/payment-method-change")),
            (Method::POST, format!("{ROOT}/1/payment-method-changes/1/sync")),
            (Method::GET, METHODS.to_owned()),
            (Method::DELETE, format!("{METHODS}/1")),
        ] {
            let alone = server.request(method.clone(), &path).bearer_auth(&subscription_fixture.shop.bearer);
            for request in [server.as_app(&subscription_fixture.shop.project, method, &path), alone] {
                assert!(send(request).await.expect(401)["message"].is_string(), "{path}");
            }
        }
    }

    async fn a_list_costs_the_same_however_long_it_is(db: TestDatabase) {
        let subscription_fixture = SubscriptionFixture::open(db).await;
        subscription_fixture.join().await;
        let (method, _) = subscription_fixture.saved().await;
        let list = async || subscription_fixture.get(ROOT).await.expect(200);
        let one = subscription_fixture.shop.server.fewest_statements(list).await;
        subscription_fixture.subscribe(subscription_fixture.silver, method).await.expect(201);
        assert_eq!((subscription_fixture.shop.server.fewest_statements(list).await, subscription_fixture.all().await.len()), (one, 2));
        let oldest = subscription_fixture.get(&format!("{ROOT}?page=2&per_page=1")).await.expect(200);
        assert_eq!(oldest["data"], json!([subscription_fixture.all().await[1]]));
        subscription_fixture.get(&format!("{ROOT}?per_page=501")).await.expect_invalid(&["per_page"]);
    }
}
