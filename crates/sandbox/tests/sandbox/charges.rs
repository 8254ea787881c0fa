//! Charges of saved methods follow their scripts.

use std::time::Duration;

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::support::{Answer, Outside, assert_refused, id, moment, order, outside};

/// A saved card, with helpers to charge it.
struct Saved {
    outside: Outside,
    id: String,
}

async fn saved() -> Saved {
    let outside = outside().await;
    let paid = outside.paid("first", json!({ "save_payment_method": true })).await;
    Saved { id: id(&paid).to_owned(), outside }
}

impl Saved {
    fn order(&self) -> Value {
        order(json!({ "payment_method_id": self.id, "confirmation": null, "metadata": { "period": "2" } }))
    }

    async fn charge(&self, key: &str) -> Value {
        let (status, payment) = self.outside.acquire("/payments", key, Some(self.order())).await;
        assert_eq!(status, 200, "{payment}");
        payment
    }

    async fn control(&self, act: Value) -> Answer {
        self.outside.post(&format!("/control/payment_methods/{}", self.id), act).await
    }

    async fn direct(&self, steps: Value) -> Answer {
        let path = format!("/control/payment_methods/{}/script", self.id);
        self.outside.post(&path, json!({ "steps": steps })).await
    }

    async fn payments(&self) -> usize {
        self.outside.get("/control/payments").await.1["payments"].as_array().unwrap().len()
    }

    /// Returns the requests to charge the card, newest first.
    async fn charges(&self) -> Vec<Value> {
        let (_, answer) = self.outside.get(&format!("/control/charges?payment_method_id={}", self.id)).await;
        answer["charges"].as_array().unwrap().clone()
    }

    /// Sends the acquirer's notifications to a hook of the same sandbox.
    async fn listening(&self) -> String {
        let (hook, url) = self.outside.hook(json!({})).await;
        self.outside.handle.set_notification_url(url);
        hook
    }

    /// Returns the payments the hook was notified of, with their statuses.
    async fn reported(&self, hook: &str) -> Vec<(String, String)> {
        let reported = |delivery: &Value| {
            let body: Value = serde_json::from_str(delivery["body"].as_str().unwrap()).unwrap();
            (id(&body["object"]).to_owned(), body["object"]["status"].as_str().unwrap().to_owned())
        };
        self.outside.deliveries(hook, 0).await.iter().map(reported).collect()
    }

    async fn now(&self, payment: &Value) -> Value {
        self.outside.look(&format!("/payments/{}", id(payment))).await.1
    }
}

fn ending(payment: &Value) -> (&str, Option<&str>) {
    (payment["status"].as_str().unwrap(), payment["cancellation_details"]["reason"].as_str())
}

#[tokio::test]
async fn charges_follow_the_script_and_then_succeed() {
    let saved = saved().await;
    let steps = json!([
        { "outcome": "succeed" },
        { "outcome": "decline", "reason": "insufficient_funds", "times": 2 },
        { "outcome": "decline", "reason": "fraud_suspected", "party": "yoo_money" },
    ]);
    assert_eq!(saved.direct(steps).await.0, 200);
    let (status, declined) = (("succeeded", None), ("canceled", Some("insufficient_funds")));
    assert_eq!(ending(&saved.charge("a").await), status);
    for key in ["b", "b", "c"] {
        assert_eq!(ending(&saved.charge(key).await), declined);
    }
    let suspected = saved.charge("d").await;
    assert_eq!(suspected["cancellation_details"], json!({ "party": "yoo_money", "reason": "fraud_suspected" }));
    for key in ["e", "f"] {
        assert_eq!(ending(&saved.charge(key).await), status);
    }
}

#[tokio::test]
async fn a_script_is_shown_as_far_as_it_is_to_come() {
    let saved = saved().await;
    let (_, script) = saved.direct(json!([{ "outcome": "succeed" }, { "outcome": "pending" }])).await;
    assert_eq!(script["steps"].as_array().unwrap().len(), 2);
    saved.charge("a").await;
    let path = format!("/control/payment_methods/{}/script", saved.id);
    let (status, left) = saved.outside.get(&path).await;
    let step = json!({
        "outcome": "pending", "reason": null, "party": null, "then": null, "after_seconds": null, "fault": null,
        "delay_ms": null, "notifications": null, "notifies_first": false, "times": 1,
    });
    assert_eq!((status, &left), (200, &json!({ "payment_method_id": saved.id, "steps": [step] })));
    let full = json!([{
        "outcome": "pending", "reason": "card_expired", "party": "merchant", "then": "decline", "after_seconds": 5,
        "fault": "timeout", "delay_ms": 7, "notifications": "duplicate", "notifies_first": true, "times": null,
    }]);
    assert_eq!(saved.direct(full.clone()).await.1["steps"], full);
    assert_eq!(saved.outside.get("/control/payment_methods/x/script").await.0, 404);
}

#[tokio::test]
async fn declining_and_revoking_are_scripts_of_one_step() {
    let saved = saved().await;
    assert_eq!(saved.control(json!({ "outcome": "decline", "reason": "card_expired", "times": 1 })).await.0, 200);
    assert_eq!(ending(&saved.charge("a").await), ("canceled", Some("card_expired")));
    assert_eq!(ending(&saved.charge("b").await), ("succeeded", None));
    let (status, method) = saved.control(json!({ "outcome": "revoke" })).await;
    assert_eq!((status, &method["saved"], &method["status"]), (200, &json!(true), &json!("active")));
    for key in ["c", "d"] {
        let revoked = saved.charge(key).await;
        let details = json!({ "party": "payment_network", "reason": "permission_revoked" });
        assert_eq!((&revoked["status"], &revoked["cancellation_details"]), (&json!("canceled"), &details));
    }
    assert_eq!(saved.control(json!({ "outcome": "succeed" })).await.0, 200);
    assert_eq!(ending(&saved.charge("e").await), ("succeeded", None));
    assert_eq!(saved.outside.post("/control/payment_methods/x", json!({ "outcome": "revoke" })).await.0, 404);
}

#[tokio::test]
async fn a_pending_charge_waits_until_its_end_is_requested() {
    let saved = saved().await;
    saved.direct(json!([{ "outcome": "pending", "times": 3 }])).await;
    let (paid, declined, held) = (saved.charge("a").await, saved.charge("b").await, saved.charge("c").await);
    assert_eq!((ending(&paid), paid.get("confirmation")), (("pending", None), None));
    assert_eq!(paid["payment_method"]["id"], saved.id.as_str());
    let (_, page) = saved.outside.get(&format!("/pay/{}", id(&paid))).await;
    assert!(!page.as_str().unwrap().contains("<form"));
    // The payer has an hour. The bank has no deadline.
    saved.outside.clock.advance(30 * 24 * 3_600);
    let (_, paid) = saved.outside.act(&paid, json!({ "outcome": "succeed" })).await;
    assert_eq!((ending(&paid), &paid["payment_method"]["id"]), (("succeeded", None), &json!(saved.id)));
    let end = json!({ "outcome": "decline", "reason": "insufficient_funds", "party": "yoo_money" });
    let (_, declined) = saved.outside.act(&declined, end).await;
    assert_eq!(declined["cancellation_details"], json!({ "party": "yoo_money", "reason": "insufficient_funds" }));
    assert_eq!(ending(&saved.now(&held).await), ("pending", None));
    assert_eq!(ending(&saved.charge("d").await), ("succeeded", None));
    // A charge creates no method of its own.
    let own = order(json!({ "payment_method_id": paid["id"], "confirmation": null }));
    let refused = saved.outside.acquire("/payments", "e", Some(own)).await;
    assert_refused(&refused, StatusCode::BAD_REQUEST, "invalid_request", "Payment method is not saved");
}

#[tokio::test]
async fn a_pending_charge_ends_by_the_clock() {
    let saved = saved().await;
    let steps = json!([
        { "outcome": "pending", "after_seconds": 86_400 },
        { "outcome": "pending", "after_seconds": 60, "then": "decline", "reason": "issuer_unavailable" },
    ]);
    saved.direct(steps).await;
    let (slow, quick) = (saved.charge("a").await, saved.charge("b").await);
    saved.outside.clock.advance(59);
    assert_eq!(ending(&saved.now(&quick).await), ("pending", None));
    saved.outside.clock.advance(1);
    assert_eq!(ending(&saved.now(&quick).await), ("canceled", Some("issuer_unavailable")));
    assert_eq!(ending(&saved.now(&slow).await), ("pending", None));
    saved.outside.clock.advance(86_340);
    assert_eq!(ending(&saved.now(&slow).await), ("succeeded", None));
    assert_eq!(ending(&saved.charge("a").await), ("succeeded", None));
}

#[tokio::test]
async fn an_answer_is_lost_after_the_payment_was_made() {
    let saved = saved().await;
    let steps = json!([
        { "outcome": "succeed", "fault": "timeout", "delay_ms": 20_000 },
        { "outcome": "decline", "fault": "drop_after_commit" },
        { "outcome": "pending", "fault": "http_500_after_commit" },
    ]);
    saved.direct(steps).await;
    for (key, status, made) in [("a", "succeeded", 2), ("b", "canceled", 3)] {
        let call = saved.outside.write("/payments", key, Some(&saved.order())).timeout(Duration::from_secs(2));
        assert!(call.send().await.is_err(), "{key}");
        assert_eq!((ending(&saved.charge(key).await).0, saved.payments().await), (status, made));
    }
    assert_eq!(saved.outside.acquire("/payments", "c", Some(saved.order())).await.0, 500);
    assert_eq!((ending(&saved.charge("c").await), saved.payments().await), (("pending", None), 4));
}

#[tokio::test]
async fn an_answer_is_lost_before_the_payment_was_made() {
    let saved = saved().await;
    saved
        .direct(json!([
            { "outcome": "succeed", "fault": "drop" },
            { "outcome": "succeed", "fault": "http_500" },
            { "outcome": "succeed", "fault": "refuse" },
            { "outcome": "decline", "reason": "call_issuer" },
        ]))
        .await;
    assert!(saved.outside.write("/payments", "a", Some(&saved.order())).send().await.is_err());
    for status in [500, 403] {
        assert_eq!(saved.outside.acquire("/payments", "a", Some(saved.order())).await.0, status);
    }
    assert_eq!(saved.payments().await, 1);
    assert_eq!(ending(&saved.charge("a").await), ("canceled", Some("call_issuer")));
}

#[tokio::test]
async fn a_notification_may_precede_the_response() {
    let saved = saved().await;
    let hook = saved.listening().await;
    let (status, settings) = saved.outside.post("/control/acquirer", json!({ "notifies_first": true })).await;
    assert_eq!((status, &settings["notifies_first"]), (200, &json!(true)));
    saved.direct(json!([{ "outcome": "decline" }, { "outcome": "succeed", "notifications": "duplicate" }])).await;
    for (key, reported) in [("a", 1), ("b", 3), ("c", 4), ("c", 4)] {
        saved.charge(key).await;
        assert_eq!(saved.reported(&hook).await.len(), reported, "{key}");
    }
    saved.outside.post("/control/acquirer", json!({ "notifies_first": false })).await;
    saved.outside.fault("webhook", "delay", 1, 2_000).await;
    saved.charge("d").await;
    assert_eq!(saved.reported(&hook).await.len(), 4);
    saved.outside.deliveries(&hook, 5).await;
}

#[tokio::test]
async fn one_charge_may_be_notified_before_its_response() {
    let saved = saved().await;
    let hook = saved.listening().await;
    let steps = json!([
        { "outcome": "succeed", "notifies_first": true },
        { "outcome": "succeed", "notifies_first": true, "fault": "drop_after_commit" },
        { "outcome": "pending", "after_seconds": 0, "notifies_first": true },
        { "outcome": "pending", "notifies_first": true, "notifications": "duplicate" },
    ]);
    saved.direct(steps).await;
    // The response waits even for a shop that is slow to accept the notification.
    saved.outside.fault("webhook", "delay", 1, 300).await;
    let charged = saved.charge("a").await;
    assert_eq!(saved.reported(&hook).await, [(id(&charged).to_owned(), "succeeded".to_owned())]);
    assert!(saved.outside.write("/payments", "b", Some(&saved.order())).send().await.is_err());
    assert_eq!(saved.reported(&hook).await.len(), 2);
    // The response may be older than the notification.
    let overtaken = saved.charge("c").await;
    assert_eq!(ending(&overtaken), ("pending", None));
    assert_eq!(saved.reported(&hook).await[2], (id(&overtaken).to_owned(), "succeeded".to_owned()));
    let pending = saved.charge("d").await;
    assert_eq!(saved.reported(&hook).await.len(), 3);
    saved.outside.act(&pending, json!({ "outcome": "succeed" })).await;
    assert_eq!(saved.outside.deliveries(&hook, 5).await.len(), 5);
}

#[tokio::test]
async fn a_shop_that_takes_no_notification_is_answered_all_the_same() {
    let saved = saved().await;
    saved.direct(json!([{ "outcome": "succeed", "notifies_first": true, "times": null }])).await;
    assert_eq!(ending(&saved.charge("a").await), ("succeeded", None));
    saved.outside.post("/control/acquirer", json!({ "notification_url": "http://127.0.0.1:1/" })).await;
    assert_eq!(ending(&saved.charge("b").await), ("succeeded", None));
    let (_, sent) = saved.outside.get("/control/notifications").await;
    assert_eq!(
        (sent["notifications"][0]["attempt"].as_u64(), &sent["notifications"][0]["status"]),
        (Some(1), &Value::Null)
    );
}

#[tokio::test]
async fn every_request_to_charge_a_method_is_logged() {
    let saved = saved().await;
    assert_eq!(saved.charges().await, Vec::<Value>::new());
    saved.charge("a").await;
    saved.outside.clock.advance(60);
    saved.control(json!({ "outcome": "revoke" })).await;
    let revoked = saved.charge("b").await;
    saved.charge("b").await;
    let noted = saved.charges().await;
    let entry = json!({
        "at": "2031-05-06T07:09:09.000Z", "payment_method_id": saved.id, "idempotence_key": "b",
        "amount": { "value": "100.00", "currency": "RUB" }, "metadata": { "period": "2" }, "outcome": "canceled",
        "reason": "permission_revoked", "payment_id": revoked["id"], "repeated": false, "fault": null,
    });
    assert_eq!((&noted[1], &noted[0]["repeated"], &noted[0]["payment_id"]), (&entry, &json!(true), &revoked["id"]));
    assert_eq!((&noted[2]["at"], &noted[2]["outcome"]), (&json!("2031-05-06T07:08:09.000Z"), &json!("succeeded")));
    saved.outside.payment("c", json!({})).await;
    assert_eq!(saved.charges().await.len(), 3);
    let (_, none) = saved.outside.get("/control/charges?payment_method_id=x").await;
    assert_eq!(none, json!({ "charges": [] }));
}

#[tokio::test]
async fn refused_and_unanswered_requests_are_logged_too() {
    let saved = saved().await;
    saved
        .direct(
            json!([{ "outcome": "succeed", "fault": "drop" }, { "outcome": "pending", "fault": "drop_after_commit" }]),
        )
        .await;
    for key in ["a", "b"] {
        assert!(saved.outside.write("/payments", key, Some(&saved.order())).send().await.is_err());
    }
    for fault in ["drop", "http_500_after_commit"] {
        saved.outside.fault("acquirer", fault, 1, 0).await;
        let _ = saved.outside.write("/payments", fault, Some(&saved.order())).send().await;
    }
    let other = order(json!({ "payment_method_id": saved.id, "confirmation": null }));
    assert_eq!(saved.outside.acquire("/payments", "b", Some(other)).await.0, 400);
    let outsider = saved.outside.http.post(saved.outside.at("/v3/payments")).json(&saved.order());
    assert_eq!(outsider.send().await.unwrap().status(), 401);
    let noted: Vec<_> = saved
        .charges()
        .await
        .into_iter()
        .rev()
        .map(|entry| {
            let text = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
            (text("idempotence_key"), text("outcome"), text("fault"), text("reason"))
        })
        .collect();
    let expected = [
        ("a", "none", "drop", ""),
        ("b", "pending", "drop_after_commit", ""),
        ("drop", "none", "drop", ""),
        ("http_500_after_commit", "succeeded", "http_500_after_commit", ""),
        ("b", "refused", "", "Duplicate idempotence key"),
        ("", "refused", "", "Authorization header not found"),
    ];
    let expected = expected
        .map(|(key, outcome, fault, reason)| (key.to_owned(), outcome.to_owned(), fault.to_owned(), reason.to_owned()));
    assert_eq!(noted, expected);
}

#[tokio::test]
async fn a_charge_with_a_delayed_response_is_logged_at_once() {
    let saved = saved().await;
    saved.direct(json!([{ "outcome": "succeed", "fault": "timeout", "delay_ms": 20_000 }])).await;
    let call = saved.outside.write("/payments", "a", Some(&saved.order())).timeout(Duration::from_secs(2));
    let (lost, noted) = tokio::join!(call.send(), async {
        for _ in 0..50 {
            if let [charge] = saved.charges().await.as_slice() {
                return Some(charge.clone());
            }
            moment().await;
        }
        None
    });
    assert!(lost.is_err());
    assert_eq!(noted.unwrap()["fault"], "timeout");
}

#[tokio::test]
async fn a_wrong_step_is_named() {
    let saved = saved().await;
    let cases = [
        (json!([{ "outcome": "succeed" }, { "outcome": "perhaps" }]), "steps[1].outcome: must be"),
        (json!([{}]), "steps[0].outcome: is required"),
        (json!([{ "outcome": "decline", "reason": "bad mood" }]), "steps[0].reason: must be"),
        (json!([{ "outcome": "decline", "party": "bank" }]), "steps[0].party: must be"),
        (json!([{ "outcome": "pending", "then": "decline" }]), "steps[0].after_seconds: is required"),
        (json!([{ "outcome": "succeed", "fault": "delay" }]), "steps[0].fault: must be"),
        (json!([{ "outcome": "succeed", "notifications": "drop" }]), "steps[0].notifications: must be"),
        (json!([{ "outcome": "succeed", "times": 0 }]), "steps[0].times: must be"),
        (json!([{ "outcome": "succeed", "time": 1 }]), "steps[0].time: unknown field"),
        (json!(["succeed"]), "steps: must be"),
        (json!(null), "steps: is required"),
    ];
    for (steps, complaint) in cases {
        let (status, answer) = saved.direct(steps).await;
        assert!(status == 422 && answer["message"].as_str().unwrap().starts_with(complaint), "{answer}");
    }
}
