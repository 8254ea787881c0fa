//! Login by a call when the provider fails, is slow or repeats itself, or when its messages are forged.

use std::time::{Duration, Instant};

use kontor_adapter_diesel::{database_tests, retry_until};
use reqwest::Method;
use reqwest::multipart::Form;
use serde_json::{Value, json};

use crate::caller::{Caller, PHONE, customers, init, nonce, refused};
use crate::outside::Outside;
use crate::process::PATIENCE;
use crate::support::{Answer, send, sha256};

const UNVERIFIABLE: &str = "callback_auth_verification_unavailable";

/// Delays the next call of the provider by this time.
async fn slow(outside: &Outside, fault: &str, millis: u64) {
    let plan = json!({ "service": "telephony", "fault": fault, "delay_ms": millis });
    outside.control("/faults", plan).await;
}

/// Sends a message in the provider's name.
async fn notify(outside: &Outside, entries: &[String], key: &str) -> Answer {
    let mut form = Form::new();
    for (index, entry) in entries.iter().enumerate() {
        form = form.text(format!("data[{index}]"), entry.clone());
    }
    let form = form.text("hash", sha256(&format!("{key}{}", entries.concat())));
    send(outside.server.request(Method::POST, "/callbacks/telephony").multipart(form)).await
}

fn entry(check: &Value, status: u16) -> String {
    format!("callcheck_status\n{}\n{status}\n1700000000", check.as_str().unwrap())
}

/// Returns the provider's identifier of the newest check of a phone.
async fn check_of(outside: &Outside, phone: &str) -> Value {
    outside.ask_control(&format!("/callchecks?phone={phone}")).await["callchecks"][0]["check_id"].clone()
}

/// Returns the status of an attempt while the provider cannot be reached.
async fn unasked(outside: &Outside, caller: &Caller<'_>) -> Value {
    outside.server.clock.advance(1);
    outside.fault("telephony", "drop").await;
    let shown = caller.status().await.expect(200);
    send(outside.server.http.delete(outside.control_url("/faults"))).await.expect(200);
    shown
}

database_tests! {
    async fn a_provider_that_fails_begins_nothing_and_frees_the_phone(db: TestDatabase) {
        let outside = Outside::start(db).await;
        let project = outside.server.project().await;
        for fault in ["refuse", "http_500", "http_500_after_commit", "drop"] {
            outside.fault("telephony", fault).await;
            let failed = init(&outside, &project, PHONE, &nonce(fault)).await;
            refused(&failed, 503, "callback_auth_provider_unavailable", "wait");
            // The nonce stays used.
            let again = init(&outside, &project, PHONE, &nonce(fault)).await;
            refused(&again, 409, "callback_auth_session_already_started", "restart");
        }
        for (code, status, name, action) in [
            (230, 429, "callback_auth_rate_limited", "wait"),
            (202, 422, "invalid_input", "fix_input"),
            (300, 503, "callback_auth_provider_unavailable", "wait"),
        ] {
            outside.server.clock.advance(3_600);
            outside.control("/telephony", json!({ "refuse_phone": PHONE, "refuse_code": code })).await;
            let failed = init(&outside, &project, PHONE, &nonce(&code.to_string())).await;
            refused(&failed, status, name, action);
            if status == 422 {
                failed.expect_invalid(&["phone"]);
            }
        }
        outside.control("/telephony", json!({ "refuse_phone": PHONE, "refuse_code": null })).await;
        slow(&outside, "delay", 1_200).await;
        init(&outside, &project, PHONE, &nonce("slow")).await.expect(200);
        assert_eq!(customers(&outside).await, 0);
    }

    async fn a_provider_that_cannot_be_asked_leaves_the_attempt_as_it_is(db: TestDatabase) {
        let outside = Outside::start(db).await;
        let project = outside.server.project().await;
        let caller = Caller::begin(&outside, &project, PHONE).await;
        caller.call().await;
        for fault in ["refuse", "http_500", "drop", "http_500_after_commit"] {
            outside.server.clock.advance(1);
            outside.fault("telephony", fault).await;
            let look = caller.status().await.expect(200);
            assert_eq!(look["status"], "pending", "{fault}");
            assert_eq!((&look["warning"]["code"], &look["warning"]["retry_after_seconds"]), (&json!(UNVERIFIABLE), &json!(5)));
            assert!(look["warning"]["message"].is_string() && look["remaining_seconds"].as_i64().unwrap() > 250, "{look}");
            // The status was just requested; the exchange sends a request of its own.
            outside.fault("telephony", fault).await;
            refused(&caller.exchange().await, 503, UNVERIFIABLE, "poll");
        }
        outside.server.clock.advance(1);
        slow(&outside, "delay", 1_200).await;
        let look = caller.status().await.expect(200);
        assert_eq!((&look["status"], look.get("warning")), (&json!("verified"), None));
        // A verified attempt needs no provider.
        outside.fault("telephony", "drop").await;
        caller.exchange().await.expect(200);
        assert_eq!(customers(&outside).await, 1);
    }

    async fn a_silent_provider_delays_no_caller_for_long(db: TestDatabase) {
        let outside = Outside::start(db).await;
        let project = outside.server.project().await;
        let (looking, taking) = (
            Caller::begin(&outside, &project, PHONE).await,
            Caller::begin(&outside, &project, "79007654321").await,
        );
        for _ in 0..3 {
            slow(&outside, "timeout", 40_000).await;
        }
        let started = Instant::now();
        let new = nonce("new");
        let (look, take, begin) =
            tokio::join!(looking.status(), taking.exchange(), init(&outside, &project, "79001110000", &new));
        assert!(started.elapsed() < Duration::from_secs(35), "{:?}", started.elapsed());
        assert_eq!(look.expect(200)["warning"]["code"], UNVERIFIABLE);
        refused(&take, 503, UNVERIFIABLE, "poll");
        refused(&begin, 503, "callback_auth_provider_unavailable", "wait");
        // The provider has confirmed in the meantime; the next attempt is a new one.
        init(&outside, &project, "79001110000", &nonce("next")).await.expect(200);
    }

    async fn many_looks_ask_once(db: TestDatabase) {
        let outside = Outside::start(db).await;
        let project = outside.server.project().await;
        let caller = Caller::begin(&outside, &project, PHONE).await;
        // Every request uses up one fault.
        outside.control("/faults", json!({ "service": "telephony", "fault": "refuse", "times": 100 })).await;
        let looks = futures_util::future::join_all((0..20).map(|_| caller.status())).await;
        let warned = looks.iter().filter(|look| look.expect(200).get("warning").is_some()).count();
        let left = outside.ask_control("/faults").await["faults"][0]["times"].as_i64().unwrap();
        assert!((1..=3).contains(&warned), "{warned}");
        assert_eq!(100 - left, i64::try_from(warned).unwrap());
    }

    async fn the_provider_notifies_without_a_request(db: TestDatabase) {
        let outside = Outside::start(db).await;
        let project = outside.server.project().await;
        let url = format!("{}/callbacks/telephony", outside.server.url);
        outside.control("/telephony", json!({ "callback_url": url })).await;
        // Sent twice, before the first status request.
        outside.fault("telephony", "duplicate").await;
        let caller = Caller::begin(&outside, &project, PHONE).await;
        caller.call().await;
        let until = Instant::now() + PATIENCE;
        let reported = loop {
            let pushes = outside.ask_control("/telephony").await["pushes"].as_array().unwrap().clone();
            if pushes.len() >= 2 {
                break pushes;
            }
            retry_until!(until, "{pushes:?}");
        };
        assert!(reported.iter().all(|push| push["answer"] == "100" && push["status"] == 200), "{reported:?}");
        assert_eq!(unasked(&outside, &caller).await["status"], "verified");
        caller.exchange().await.expect(200);
        // Sent again after the end.
        let check = check_of(&outside, PHONE).await;
        for status in [401, 402] {
            assert_eq!(notify(&outside, &[entry(&check, status)], "sandbox-api-id").await.text, "100");
        }
        assert_eq!(caller.status().await.expect(200)["status"], "expired");
        assert_eq!(customers(&outside).await, 1);
    }

    async fn only_the_providers_word_counts(db: TestDatabase) {
        let outside = Outside::start(db).await;
        let project = outside.server.project().await;
        let caller = Caller::begin(&outside, &project, PHONE).await;
        let check = check_of(&outside, PHONE).await;
        let confirmed = [entry(&check, 401)];
        for key in ["", "another key"] {
            let forged = notify(&outside, &confirmed, key).await;
            assert!(forged.expect(403)["message"].is_string());
        }
        let bare = || outside.server.request(Method::POST, "/callbacks/telephony");
        for body in [String::new(), "hash=".to_owned(), format!("data[0]=x&hash={}", "0".repeat(64)), "\u{0}".to_owned()] {
            send(bare().body(body)).await.expect(403);
        }
        send(bare().header("Content-Type", "multipart/form-data; boundary=X").body("--X\r\nno")).await.expect(400);
        send(bare().body("x".repeat(65 * 1024))).await.expect(413);
        assert_eq!(unasked(&outside, &caller).await["status"], "pending");

        let many: Vec<String> = (0..99).map(|id| entry(&json!(format!("9-{id}")), 401)).chain(confirmed).collect();
        let taken = notify(&outside, &many, "sandbox-api-id").await;
        assert_eq!((taken.status.as_u16(), taken.text.as_str()), (200, "100"));
        assert!(taken.headers["content-type"].to_str().unwrap().starts_with("text/plain"));
        assert_eq!(unasked(&outside, &caller).await["status"], "verified");
        let more: Vec<String> = many.into_iter().chain(["sms_status\n1\n103\n1".to_owned()]).collect();
        notify(&outside, &more, "sandbox-api-id").await.expect(413);

        // Given up, sent in another form encoding. A later confirmation changes nothing.
        let other = Caller::begin(&outside, &project, "79007654321").await;
        let check = check_of(&outside, "79007654321").await;
        let over = entry(&check, 402);
        let hash = sha256(&format!("sandbox-api-id{over}")).to_uppercase();
        let form = send(bare().form(&[("data[0]", over.as_str()), ("hash", &hash)])).await;
        assert_eq!((form.status.as_u16(), form.text.as_str()), (200, "100"));
        notify(&outside, &[entry(&check, 401)], "sandbox-api-id").await;
        let shown = unasked(&outside, &other).await;
        assert_eq!((&shown["status"], shown.get("warning")), (&json!("expired"), None));
        refused(&other.exchange().await, 409, "callback_auth_expired", "restart");
        // The phone is free.
        Caller::begin(&outside, &project, "79007654321").await;
    }

    async fn without_an_account_no_attempt_begins_and_no_notification_is_trusted(db: TestDatabase) {
        let server = crate::support::TestServer::start(db).await;
        let project = server.project().await;
        let body = json!({ "phone": PHONE, "client_nonce": nonce("n") });
        let begun = send(server.as_app(&project, Method::POST, "/api/counterparty/callback_auth/init").json(&body)).await;
        refused(&begun, 503, "callback_auth_provider_unavailable", "wait");
        let hash = sha256("data");
        let forged = server.request(Method::POST, "/callbacks/telephony").form(&[("data[0]", "data"), ("hash", &hash)]);
        send(forged).await.expect(403);
    }
}
