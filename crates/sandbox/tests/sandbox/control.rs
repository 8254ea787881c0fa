//! The control interface: hooks, payments, the clock, bad input.

use serde_json::json;

use crate::support::{id, outside, outside_with, read, start_of_time};

#[tokio::test]
async fn a_hook_answers_as_configured_and_keeps_the_exact_text() {
    let outside = outside().await;
    let (hook, url) = outside.hook(json!({ "status": 503, "times": 1 })).await;
    assert_eq!(url, outside.at(&format!("/hooks/{hook}")));
    for status in [503, 200] {
        let call = outside.http.post(&url).header("X-Signature", "sha256=AB").body("{ \"a\":1 }\n");
        assert_eq!(call.send().await.unwrap().status(), status);
    }
    let deliveries = outside.deliveries(&hook, 2).await;
    assert_eq!(deliveries[0]["headers"]["x-signature"], "sha256=AB");
    assert_eq!(deliveries[0]["body"], "{ \"a\":1 }\n");
    assert_eq!((&deliveries[0]["answered"], &deliveries[1]["answered"]), (&json!(503), &json!(200)));
    assert_eq!(deliveries[0]["received_at"], "2031-05-06T07:08:09.000Z");
    assert_eq!(outside.get("/control/hooks/unknown").await.0, 404);
    assert_eq!(outside.post("/hooks/unknown", json!({})).await.0, 404);
    let (_, always) = outside.hook(json!({ "status": 500 })).await;
    for _ in 0..3 {
        assert_eq!(outside.http.post(&always).send().await.unwrap().status(), 500);
    }
}

#[tokio::test]
async fn a_contact_is_signed_now_and_complaints_name_the_field() {
    let outside = outside().await;
    let (status, contact) = outside.post("/control/contacts", json!({ "token": "1:x", "phone": "+79001234567" })).await;
    assert_eq!((status, &contact["phone"]), (200, &json!("+79001234567")));
    assert_eq!(contact["auth_date"], start_of_time().timestamp());
    assert_eq!(contact["hash"].as_str().unwrap().len(), 64);
    assert!(contact["init_data"].as_str().unwrap().contains("&user=%7B"), "{contact}");
    for (body, field) in [(json!({ "token": "1:x" }), "phone"), (json!({ "phone": "7" }), "token")] {
        let (status, answer) = outside.post("/control/contacts", body).await;
        assert!(status == 422 && answer["message"].as_str().unwrap().starts_with(field), "{answer}");
    }
}

#[tokio::test]
async fn payments_are_listed_newest_first_and_ended_once() {
    let outside = outside().await;
    let first = outside.payment("a", json!({ "metadata": { "order_id": "1" } })).await;
    let second = outside.payment("b", json!({})).await;
    let (_, list) = outside.get("/control/payments").await;
    assert_eq!(list["payments"][0]["id"], second["id"]);
    assert_eq!(
        list["payments"][1],
        json!({
            "id": first["id"], "status": "pending", "amount": { "value": "100.00", "currency": "RUB" },
            "description": "Order 1", "metadata": { "order_id": "1" },
            "refunded_amount": { "value": "0.00", "currency": "RUB" },
        })
    );
    assert_eq!(outside.get("/control/payments?limit=1").await.1["payments"].as_array().unwrap().len(), 1);

    let (_, declined) = outside.act(&first, json!({ "outcome": "decline", "reason": "insufficient_funds" })).await;
    assert_eq!(declined["cancellation_details"]["reason"], "insufficient_funds");
    let (status, answer) = outside.act(&first, json!({ "outcome": "succeed" })).await;
    assert_eq!((status, answer["message"].as_str()), (409, Some("the payment is canceled and not pending")));
    let (_, by_card) = outside.act(&second, json!({ "outcome": "succeed", "card": "5555555555554543" })).await;
    assert_eq!(by_card["cancellation_details"]["reason"], "card_expired");
    let third = outside.payment("c", json!({})).await;
    let (_, expired) = outside.act(&third, json!({ "outcome": "expire" })).await;
    assert_eq!(expired["cancellation_details"]["reason"], "expired_on_confirmation");
    assert_eq!(outside.act(&json!({ "id": "x" }), json!({ "outcome": "expire" })).await.0, 404);
}

#[tokio::test]
async fn the_clock_moves_when_it_can() {
    let outside = outside().await;
    assert_eq!(
        outside.get("/control/clock").await.1,
        json!({ "now": "2031-05-06T07:08:09.000Z", "offset_seconds": 0 })
    );
    let (status, moved) = outside.post("/control/clock", json!({ "advance_seconds": 86_400 })).await;
    assert_eq!((status, moved), (200, json!({ "now": "2031-05-07T07:08:09.000Z", "offset_seconds": 86_400 })));

    let to = json!({ "advance_to": "2031-05-08T07:08:09.5Z" });
    assert_eq!(outside.post("/control/clock", to.clone()).await.1["now"], "2031-05-08T07:08:09.500Z");
    assert_eq!(outside.post("/control/clock", to.clone()).await.0, 200, "it is there already");
    assert_eq!(outside.post("/control/clock", json!({ "advance_to": "2031-05-08T07:08:09Z" })).await.0, 422);
    let (status, answer) = outside.post("/control/clock", json!({ "advance_seconds": 1, "dry_run": true })).await;
    assert_eq!((status, answer["message"].as_str().unwrap().contains("kontor demo")), (409, true), "{answer}");
    assert_eq!(outside.get("/control/clock").await.1["now"], "2031-05-08T07:08:09.500Z", "nothing moved");

    let fixed = outside_with(|config| kontor_sandbox::SandboxConfig { adjustable_clock: None, ..config }).await;
    let (status, answer) = fixed.post("/control/clock", json!({ "advance_seconds": 1 })).await;
    assert_eq!(status, 409);
    assert!(answer["message"].as_str().unwrap().contains("cannot be moved"));
}

#[tokio::test]
async fn bad_input_is_answered_with_the_field() {
    let outside = outside().await;
    let payment = outside.payment("a", json!({})).await;
    let act = format!("/control/payments/{}", id(&payment));
    let cases = [
        ("/control/clock", json!({}), "advance_seconds"),
        ("/control/clock", json!({ "advance_seconds": -1 }), "advance_seconds"),
        ("/control/clock", json!({ "advance_to": "1999-01-01T00:00:00Z" }), "advance_to"),
        ("/control/clock", json!({ "advance_seconds": 1, "dry_run": "no" }), "dry_run"),
        ("/control/faults", json!({ "service": "x", "fault": "drop" }), "service"),
        ("/control/faults", json!({ "service": "mail", "fault": "x" }), "fault"),
        ("/control/faults", json!({ "service": "mail", "fault": "reorder" }), "fault"),
        ("/control/faults", json!({ "service": "mail", "fault": "drop", "times": "1" }), "times"),
        ("/control/faults", json!({ "service": "mail", "fault": "drop", "delay_ms": 40_001 }), "delay_ms"),
        ("/control/hooks", json!({ "status": 99 }), "status"),
        ("/control/hooks", json!({ "statuses": 200 }), "statuses"),
        ("/control/acquirer", json!({ "notification_url": "ftp://x" }), "notification_url"),
        ("/control/acquirer", json!({ "notification_urls": "http://x" }), "notification_urls"),
        ("/control/acquirer", json!({ "notifies_first": 1 }), "notifies_first"),
        ("/control/payment_methods/x", json!({ "outcome": "forget" }), "outcome"),
        (&act, json!({}), "outcome"),
        (&act, json!({ "outcome": "succeed", "card": "4111" }), "card"),
        (&act, json!({ "outcome": "decline", "reason": "bad mood" }), "reason"),
        (&act, json!({ "outcome": "decline", "party": "bank" }), "party"),
    ];
    for (path, body, field) in cases {
        let (status, answer) = outside.post(path, body.clone()).await;
        assert_eq!(status, 422, "{path} {body}");
        assert!(answer["message"].as_str().unwrap().starts_with(&format!("{field}: ")), "{answer}");
    }
    for body in ["{", "[]", "\"x\""] {
        let (status, answer) =
            read(outside.http.post(outside.at("/control/hooks")).body(body).send().await.unwrap()).await;
        assert_eq!((status, answer["message"].is_string()), (400, true), "{body}");
    }
    for path in ["/nothing", "/control/nothing"] {
        let (status, answer) = outside.get(path).await;
        assert_eq!((status, answer["message"].is_string()), (404, true));
    }
    let (status, answer) = outside.get("/control/hooks").await;
    assert_eq!((status, answer["message"].is_string()), (405, true));
}

#[tokio::test]
async fn pages_show_controls_and_messages() {
    let outside = outside().await;
    let (_, index) = outside.get("/").await;
    assert!(index.as_str().unwrap().contains("/control/faults"));
    outside.get("/code/call?phone=79990000001&api_id=sandbox-api-id").await;
    let (_, mailbox) = outside.get("/mailbox").await;
    assert!(mailbox.as_str().unwrap().contains("79990000001"));
}
