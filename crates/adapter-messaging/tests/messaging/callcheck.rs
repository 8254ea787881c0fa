//! Checks by an incoming call.

use std::time::Duration;

use kontor_adapter_messaging::{CallChecks, CallSettings};
use kontor_auth::model::{CallState, CheckId};
use kontor_auth::ports::{CallCheckError, CallNotification, CallNotificationParser, CallVerifier, ExpectedCall};
use kontor_kernel::Phone;
use serde_json::json;

use crate::support::{Outside, outside};

const KEY: &str = "sandbox-api-id";

fn checks(outside: &Outside, api_id: &str) -> CallChecks {
    let settings = CallSettings { base_url: format!("{}/", outside.sandbox.url()), api_id: api_id.into() };
    CallChecks::new(settings).unwrap().with_timeout(Duration::from_secs(3))
}

fn phone() -> Phone {
    Phone::parse("79001234567").unwrap()
}

async fn call(outside: &Outside, from: &str, expected: &ExpectedCall) {
    outside.post("/control/calls", json!({ "from": from, "to": expected.number.to_string() })).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_from_the_phone_is_seen() {
    let outside = outside().await;
    let provider = checks(&outside, KEY);
    let expected = provider.expect_call(&phone()).await.unwrap();
    assert_eq!(provider.call_state(&expected.check).await, Ok(CallState::Waiting));
    call(&outside, "79007654321", &expected).await;
    assert_eq!(provider.call_state(&expected.check).await, Ok(CallState::Waiting));
    call(&outside, &phone(), &expected).await;
    assert_eq!(provider.call_state(&expected.check).await, Ok(CallState::Confirmed));
    assert_eq!(provider.call_state(&CheckId::parse("1-1").unwrap()).await, Ok(CallState::Ended));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failures_are_distinguished_and_not_retried() {
    let outside = outside().await;
    let provider = checks(&outside, KEY);
    let known = provider.expect_call(&phone()).await.unwrap();
    let wrong_key = checks(&outside, "another account").expect_call(&phone()).await;
    assert!(matches!(wrong_key, Err(CallCheckError::Unavailable(text)) if text.starts_with("200: ")));
    for fault in ["refuse", "http_500", "drop", "timeout"] {
        outside.fault("telephony", fault).await;
        let begun = provider.expect_call(&phone()).await.unwrap_err();
        outside.fault("telephony", fault).await;
        let looked = provider.call_state(&known.check).await.unwrap_err();
        for error in [begun, looked] {
            assert!(matches!(error, CallCheckError::Unavailable(_)), "{fault}: {error}");
            assert!(!error.to_string().contains(KEY));
        }
    }
    // The one before, and the one whose response was too late.
    assert_eq!(outside.get("/control/callchecks").await["callchecks"].as_array().unwrap().len(), 2);
    for (code, limited) in [(231, true), (207, false)] {
        outside.post("/control/telephony", json!({ "refuse_phone": "79001234567", "refuse_code": code })).await;
        let refused = provider.expect_call(&phone()).await.unwrap_err();
        let (rate, bad) =
            (matches!(refused, CallCheckError::RateLimited(_)), matches!(refused, CallCheckError::BadPhone(_)));
        assert_eq!((rate, bad), (limited, !limited), "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_providers_own_messages_are_read_and_proved() {
    let outside = outside().await;
    let provider = checks(&outside, KEY);
    let (hook, url) = outside.hook(200).await;
    outside.post("/control/telephony", json!({ "callback_url": url })).await;
    let expected = provider.expect_call(&phone()).await.unwrap();
    call(&outside, &phone(), &expected).await;
    let body = loop {
        if let Some(delivery) = outside.deliveries(&hook).await.first() {
            break delivery["body"].as_str().unwrap().to_owned();
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    let entry = format!("callcheck_status\n{}\n401\n0", expected.check);
    assert!(body.contains(&entry), "{body}");
    assert!(body.contains(&provider.signature(std::slice::from_ref(&entry)).unwrap()), "{body}");
    assert_eq!(provider.read(&entry), Some(CallNotification { check: expected.check, state: CallState::Confirmed }));
}
