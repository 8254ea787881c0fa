//! Suggestions: refusals of the provider, and planned faults.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Outside, outside, read};

const ADDRESS: &str = "/suggestions/api/4_1/rs/suggest/address";

async fn ask(outside: &Outside, path: &str, authorization: &str, body: &str) -> Answer {
    let call = outside.http.post(outside.at(path)).header("Content-Type", "application/json");
    let call = if authorization.is_empty() { call } else { call.header("Authorization", authorization) };
    read(call.body(body.to_owned()).send().await.unwrap()).await
}

async fn asked(outside: &Outside, body: Value) -> Answer {
    ask(outside, ADDRESS, "Token sandbox-suggest-key", &body.to_string()).await
}

#[tokio::test]
async fn refusals_are_those_of_the_provider() {
    let outside = outside().await;
    let body = r#"{"query":"москва"}"#;
    for (path, authorization, body, status) in [
        (ADDRESS, "", body, 401),
        (ADDRESS, "Bearer sandbox-suggest-key", body, 401),
        (ADDRESS, "Token wrong", body, 403),
        (ADDRESS, "Token sandbox-suggest-key", "nonsense", 400),
        (ADDRESS, "Token sandbox-suggest-key", "{}", 400),
        ("/suggestions/api/4_1/rs/suggest/phone", "Token sandbox-suggest-key", body, 404),
        ("/suggestions/api/4_1/rs/guess/address", "Token sandbox-suggest-key", body, 404),
    ] {
        let (answered, refusal) = ask(&outside, path, authorization, body).await;
        assert_eq!(answered, status, "{path} {authorization} {body}");
        assert_eq!(refusal["family"], "CLIENT_ERROR");
    }
    assert_eq!(asked(&outside, json!({ "query": "я".repeat(301) })).await.0, 413);
    let wrong = outside.http.request(Method::GET, outside.at(ADDRESS)).send().await.unwrap();
    assert_eq!(read(wrong).await.0, 405);
}

#[tokio::test]
async fn the_requested_number_of_suggestions_is_returned() {
    let outside = outside().await;
    let count = async |body: Value| asked(&outside, body).await.1["suggestions"].as_array().unwrap().len();
    assert_eq!(count(json!({ "query": "россия" })).await, 0);
    assert_eq!(count(json!({ "query": "Г МОСКВА" })).await, 4);
    assert_eq!(count(json!({ "query": "москва", "count": 2 })).await, 2);
    assert_eq!(count(json!({ "query": " - " })).await, 0);
}

#[tokio::test]
async fn faults_hit_one_call() {
    let outside = outside().await;
    let query = || json!({ "query": "москва" });
    for (fault, status) in [("http_500", 500), ("refuse", 403)] {
        outside.fault("suggest", fault, 1, 0).await;
        assert_eq!(asked(&outside, query()).await.0, status);
        assert_eq!(asked(&outside, query()).await.0, 200);
    }
}
