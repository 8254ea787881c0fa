//! Every fault, on every service it concerns.

use std::time::{Duration, Instant};

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::support::{Outside, assert_refused, order, outside, read};

async fn payments(outside: &Outside) -> usize {
    outside.get("/control/payments").await.1["payments"].as_array().unwrap().len()
}

#[tokio::test]
async fn an_internal_error_comes_before_or_after_the_work() {
    let outside = outside().await;
    for (fault, done) in [("http_500", 0), ("http_500_after_commit", 1)] {
        outside.fault("acquirer", fault, 1, 0).await;
        let answer = outside.acquire("/payments", fault, Some(order(json!({})))).await;
        let text = "Internal server error";
        assert_refused(&answer, StatusCode::INTERNAL_SERVER_ERROR, "internal_server_error", text);
        assert_eq!(payments(&outside).await, done, "{fault}");
    }
    // The same key finds the payment of the lost response.
    let again = outside.payment("http_500_after_commit", json!({})).await;
    assert_eq!((again["status"].as_str(), payments(&outside).await), (Some("pending"), 1));
}

#[tokio::test]
async fn a_read_leaves_the_fault_of_a_commit_alone() {
    let outside = outside().await;
    outside.fault("acquirer", "http_500_after_commit", 1, 0).await;
    assert_eq!(outside.look("/me").await.0, 200);
    assert_eq!(outside.acquire("/payments", "a", Some(order(json!({})))).await.0, 500);
}

#[tokio::test]
async fn a_time_out_does_the_work_and_holds_the_answer() {
    let outside = outside().await;
    outside.fault("acquirer", "timeout", 1, 20_000).await;
    let call = outside.write("/payments", "a", Some(&order(json!({})))).timeout(Duration::from_secs(2));
    assert!(call.send().await.unwrap_err().is_timeout());
    assert_eq!(payments(&outside).await, 1);
    outside.payment("a", json!({})).await;
    assert_eq!(payments(&outside).await, 1);
}

#[tokio::test]
async fn a_delayed_call_goes_on() {
    let outside = outside().await;
    outside.fault("acquirer", "delay", 1, 150).await;
    let started = Instant::now();
    outside.payment("a", json!({})).await;
    assert!(started.elapsed() >= Duration::from_millis(150));
}

#[tokio::test]
async fn a_dropped_call_gets_no_answer_and_does_nothing() {
    let outside = outside().await;
    for (service, path) in [("acquirer", "/v3/payments"), ("telephony", "/code/call"), ("webhook", "/hooks/x")] {
        outside.fault(service, "drop", 1, 0).await;
        let error = outside.http.post(outside.at(path)).json(&json!({})).send().await.unwrap_err();
        assert!(error.is_request(), "{service}: {error:?}");
    }
    assert_eq!(payments(&outside).await, 0);
}

#[tokio::test]
async fn an_answer_may_be_lost_after_the_work() {
    let outside = outside().await;
    outside.fault("acquirer", "drop_after_commit", 1, 0).await;
    let lost = outside.write("/payments", "a", Some(&order(json!({})))).send().await.unwrap_err();
    assert!(lost.is_request(), "{lost:?}");
    assert_eq!(payments(&outside).await, 1);
    outside.payment("a", json!({})).await;
    assert_eq!(payments(&outside).await, 1);
    let (hook, url) = outside.hook(json!({})).await;
    outside.fault("webhook", "drop_after_commit", 1, 0).await;
    assert!(outside.http.post(&url).body("x").send().await.is_err());
    assert_eq!(outside.deliveries(&hook, 1).await[0]["answered"], Value::Null);
}

#[tokio::test]
async fn the_acquirer_refuses() {
    let outside = outside().await;
    outside.fault("acquirer", "refuse", 2, 0).await;
    for key in ["a", "b"] {
        let answer = outside.acquire("/payments", key, Some(order(json!({})))).await;
        let text = "The shop is not allowed to perform this operation";
        assert_refused(&answer, StatusCode::FORBIDDEN, "forbidden", text);
    }
    outside.payment("b", json!({})).await;
}

#[tokio::test]
async fn telephony_fails_and_refuses() {
    let outside = outside().await;
    let path = "/code/call?phone=79990000001&ip=-1&api_id=sandbox-api-id";
    outside.fault("telephony", "refuse", 1, 0).await;
    let (status, answer) = outside.get(path).await;
    assert_eq!((status, &answer["status"], &answer["status_code"]), (200, &json!("ERROR"), &json!(220)));
    outside.fault("telephony", "http_500", 1, 0).await;
    assert_eq!(outside.get(path).await.0, 500);
    assert_eq!(outside.messages("79990000001").await.len(), 0);
    outside.fault("telephony", "http_500_after_commit", 1, 0).await;
    assert_eq!(outside.get(path).await.0, 500);
    assert_eq!(outside.messages("79990000001").await.len(), 1);
    outside.fault("telephony", "timeout", 1, 20_000).await;
    let call = outside.http.get(outside.at(path)).timeout(Duration::from_secs(2));
    assert!(call.send().await.unwrap_err().is_timeout());
    assert_eq!(outside.messages("79990000001").await.len(), 2);
}

#[tokio::test]
async fn the_webhook_receiver_fails_too() {
    let outside = outside().await;
    let (hook, url) = outside.hook(json!({})).await;
    let deliver = async || read(outside.http.post(&url).body("x").send().await.unwrap()).await.0;
    for (fault, status) in [("refuse", 403), ("http_500", 500), ("http_500_after_commit", 500)] {
        outside.fault("webhook", fault, 1, 0).await;
        assert_eq!(deliver().await, status);
    }
    assert_eq!(deliver().await, 200);
    let answered: Vec<_> =
        outside.deliveries(&hook, 2).await.iter().map(|delivery| delivery["answered"].clone()).collect();
    assert_eq!(answered, [500, 200]);
}

#[tokio::test]
async fn planned_faults_are_listed_and_cleared() {
    let outside = outside().await;
    outside.fault("mail", "refuse", 3, 5).await;
    let plan = json!({ "service": "mail", "fault": "refuse", "times": 3, "delay_ms": 5 });
    assert_eq!(outside.get("/control/faults").await.1, json!({ "faults": [plan] }));
    let forgotten = read(outside.http.delete(outside.at("/control/faults")).send().await.unwrap()).await;
    assert_eq!(forgotten, (200, json!({ "faults": Value::Array(Vec::new()) })));
}
