//! Notifications to the shop and their redeliveries.

use serde_json::{Value, json};

use crate::support::{Outside, id, moment, outside};

/// Sends the acquirer's notifications to a hook of the same sandbox.
async fn listening(outside: &Outside, hook: Value) -> String {
    let (hook, url) = outside.hook(hook).await;
    outside.handle.set_notification_url(url);
    hook
}

fn reported(delivery: &Value) -> (String, String) {
    let body: Value = serde_json::from_str(delivery["body"].as_str().unwrap()).unwrap();
    assert_eq!(body["type"], "notification");
    (body["event"].as_str().unwrap().to_owned(), body["object"]["status"].as_str().unwrap().to_owned())
}

fn pair(event: &str, status: &str) -> (String, String) {
    (event.to_owned(), status.to_owned())
}

#[tokio::test]
async fn every_notification_has_the_object_at_that_time() {
    let outside = outside().await;
    let hook = listening(&outside, json!({})).await;
    let held = outside.paid("a", json!({ "capture": false })).await;
    outside.deliveries(&hook, 1).await;
    outside.acquire(&format!("/payments/{}/capture", id(&held)), "b", None).await;
    outside.deliveries(&hook, 2).await;
    let refund = json!({ "payment_id": held["id"], "amount": { "value": "1.00", "currency": "RUB" } });
    outside.acquire("/refunds", "c", Some(refund)).await;
    outside.deliveries(&hook, 3).await;
    let forgotten = outside.payment("d", json!({})).await;
    outside.clock.advance(3_600);
    let deliveries = outside.deliveries(&hook, 4).await;
    let events: Vec<_> = deliveries.iter().map(reported).collect();
    assert_eq!(
        events,
        [
            pair("payment.waiting_for_capture", "waiting_for_capture"),
            pair("payment.succeeded", "succeeded"),
            pair("refund.succeeded", "succeeded"),
            pair("payment.canceled", "canceled"),
        ]
    );
    assert!(deliveries[3]["body"].as_str().unwrap().contains(id(&forgotten)));
    assert_eq!(deliveries[0]["headers"]["content-type"], "application/json");
}

#[tokio::test]
async fn anything_but_200_is_not_delivered_and_comes_again_by_the_clock() {
    let outside = outside().await;
    let hook = listening(&outside, json!({ "status": 202, "times": 2 })).await;
    outside.paid("a", json!({})).await;
    assert_eq!(outside.deliveries(&hook, 1).await.len(), 1);
    let sent = async |count: usize| {
        for _ in 0..3_000 {
            let (_, answer) = outside.get("/control/notifications").await;
            if answer["notifications"].as_array().unwrap().len() >= count {
                return answer["notifications"][0].clone();
            }
            moment().await;
        }
        panic!("fewer than {count} notifications were sent");
    };
    assert_eq!(sent(1).await["status"], 202);
    outside.post("/control/clock", json!({ "advance_seconds": 9 })).await;
    for _ in 0..13 {
        moment().await;
        assert_eq!(outside.deliveries(&hook, 1).await.len(), 1);
    }
    outside.post("/control/clock", json!({ "advance_seconds": 1 })).await;
    assert_eq!(sent(2).await["attempt"], 2);
    outside.post("/control/clock", json!({ "advance_seconds": 42 })).await;
    assert_eq!(sent(3).await["status"], 200);
    outside.post("/control/clock", json!({ "advance_seconds": 200_000 })).await;
    for _ in 0..13 {
        moment().await;
        assert_eq!(outside.deliveries(&hook, 3).await.len(), 3);
    }
}

#[tokio::test]
async fn a_shop_that_cannot_be_reached_is_tried_again() {
    let outside = outside().await;
    outside.post("/control/acquirer", json!({ "notification_url": "http://127.0.0.1:1/" })).await;
    outside.paid("a", json!({})).await;
    for _ in 0..3_000 {
        let (_, answer) = outside.get("/control/notifications").await;
        if let Some(attempt) = answer["notifications"].get(0) {
            assert_eq!(attempt["status"], Value::Null);
            assert!(attempt["error"].is_string());
            return;
        }
        moment().await;
    }
    panic!("nothing was sent");
}

#[tokio::test]
async fn a_duplicate_comes_twice_and_the_next_one_once() {
    let outside = outside().await;
    let hook = listening(&outside, json!({})).await;
    outside.fault("acquirer", "duplicate", 1, 0).await;
    outside.paid("a", json!({})).await;
    let deliveries = outside.deliveries(&hook, 2).await;
    assert_eq!(deliveries[0]["body"], deliveries[1]["body"]);
    outside.paid("b", json!({})).await;
    assert_eq!(outside.deliveries(&hook, 3).await.len(), 3);
}

#[tokio::test]
async fn a_reordered_notification_is_followed_by_an_older_one() {
    let outside = outside().await;
    let held = outside.paid("a", json!({ "capture": false })).await;
    let hook = listening(&outside, json!({})).await;
    outside.fault("acquirer", "reorder", 1, 0).await;
    outside.acquire(&format!("/payments/{}/capture", id(&held)), "b", None).await;
    let events: Vec<_> = outside.deliveries(&hook, 2).await.iter().map(reported).collect();
    assert_eq!(
        events,
        [pair("payment.succeeded", "succeeded"), pair("payment.waiting_for_capture", "waiting_for_capture"),]
    );
}

#[tokio::test]
async fn a_notification_reports_a_bound_card() {
    let outside = outside().await;
    let hook = listening(&outside, json!({})).await;
    let body =
        json!({ "type": "bank_card", "confirmation": { "type": "redirect", "return_url": "https://shop.test" } });
    let (_, binding) = outside.acquire("/payment_methods", "a", Some(body)).await;
    outside.post(&format!("/control/payment_methods/{}", id(&binding)), json!({ "outcome": "succeed" })).await;
    assert_eq!(reported(&outside.deliveries(&hook, 1).await[0]), pair("payment_method.active", "active"));
}
