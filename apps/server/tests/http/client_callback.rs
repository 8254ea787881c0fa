//! Customers log in by calling a number.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use kontor_adapter_diesel::database_tests;
use kontor_kernel::Clock as _;
use reqwest::Method;
use serde_json::{Value, json};

use crate::caller::{Caller, PHONE, attempts, customers, init, nonce, refused, step};
use crate::outside::Outside;
use crate::process::ProcessEnvironment;
use crate::support::{Project, keys, send, sha256};

fn moment(value: &Value) -> DateTime<Utc> {
    value.as_str().unwrap().parse().unwrap()
}

/// Creates another application of the project.
async fn sibling(outside: &Outside, project: &Project) -> Project {
    let app_token = format!("second-app-token-of-project-{}", project.id);
    let application_id = outside
        .server
        .insert(format!(
            "INSERT INTO applications (project_id, branch_id, name, token_fingerprint, is_active, wholesale, created_at, \
             updated_at) VALUES ({}, {}, 'Second', '{}', true, false, '2026-01-01 00:00:00', '2026-01-01 00:00:00') \
             RETURNING id",
            project.id,
            project.branch_id,
            sha256(&app_token)
        ))
        .await;
    Project { application_id, app_token, ..project.clone() }
}

database_tests! {
    async fn a_customer_signs_in_by_calling(db: TestDatabase) {
        let outside = Outside::start(db).await;
        let project = outside.server.project().await;
        let begun = init(&outside, &project, "+7 (900) 123-45-67", &nonce("first")).await;
        assert!(begun.headers.contains_key("x-request-id") && !begun.text.contains("request_id"));
        let begun = begun.expect(200);
        assert_eq!(keys(&begun), ["callback_number", "expires_at", "session_token"]);
        assert!(begun["callback_number"].as_str().unwrap().bytes().all(|byte| byte.is_ascii_digit()));
        assert!((1..=128).contains(&begun["session_token"].as_str().unwrap().len()));
        let lifetime = (moment(&begun["expires_at"]) - outside.server.clock.now()).num_seconds();
        assert!((295..=300).contains(&lifetime), "{lifetime}");
        assert_eq!(customers(&outside).await, 0);

        outside.server.clock.advance(60);
        let caller = Caller::begin(&outside, &project, PHONE).await;
        let pending = caller.status().await.expect(200);
        assert_eq!(keys(&pending), ["expires_at", "remaining_seconds", "server_time", "status"]);
        assert_eq!(pending["status"], "pending");
        let left = pending["remaining_seconds"].as_i64().unwrap();
        assert_eq!(left, (moment(&pending["expires_at"]) - moment(&pending["server_time"])).num_seconds());
        assert!((295..=300).contains(&left), "{left}");

        assert_eq!(caller.call_from("79007654321").await, 0);
        outside.server.clock.advance(1);
        assert_eq!(caller.status().await.expect(200)["status"], "pending");
        refused(&caller.exchange().await, 409, "callback_auth_not_verified", "poll");
        caller.call().await;
        outside.server.clock.advance(1);
        for _ in 0..2 {
            let verified = caller.status().await;
            assert_eq!(verified.expect(200)["status"], "verified");
            assert!(!verified.text.contains("token"), "{}", verified.text);
        }
        assert_eq!(customers(&outside).await, 0);

        let done = caller.exchange().await;
        assert!(!done.text.contains("request_id"));
        let done = done.expect(200);
        assert_eq!((keys(&done), keys(&done["access_token"])), (vec!["access_token"], vec!["expires_at", "value"]));
        let bearer = done["access_token"]["value"].as_str().unwrap();
        let profile = send(outside.server.as_customer(&project, bearer, Method::GET, "/api/counterparty")).await.expect(200);
        assert_eq!(profile["counterparty"]["phone_1"], PHONE);
        assert_eq!(outside.signed_in(&project, PHONE).await["id"], profile["counterparty"]["id"]);

        // An attempt can be exchanged for one token only.
        refused(&caller.exchange().await, 409, "callback_auth_expired", "restart");
        let over = caller.status().await.expect(200);
        assert_eq!((&over["status"], &over["remaining_seconds"]), (&json!("expired"), &json!(0)));
        assert_eq!(customers(&outside).await, 1);
        // The phone is free again as soon as the call was received.
        let again = Caller::begin(&outside, &project, PHONE).await;
        again.call().await;
        again.exchange().await.expect(200);
        assert_eq!(customers(&outside).await, 1);
    }

    async fn an_attempt_ends_after_five_minutes_and_a_late_call_gives_time(db: TestDatabase) {
        let outside = Outside::start(db).await;
        let project = outside.server.project().await;
        let expired = async |caller: &Caller<'_>| {
            let over = caller.status().await.expect(200);
            assert_eq!((&over["status"], &over["remaining_seconds"]), (&json!("expired"), &json!(0)));
            refused(&caller.exchange().await, 409, "callback_auth_expired", "restart");
        };
        let (silent, verified) = (
            Caller::begin(&outside, &project, PHONE).await,
            Caller::begin(&outside, &project, "79007654321").await,
        );
        verified.call().await;
        assert_eq!(verified.status().await.expect(200)["status"], "verified");
        outside.server.clock.advance(240);
        assert_eq!(silent.status().await.expect(200)["status"], "pending");
        outside.server.clock.advance(60);
        silent.call().await;
        expired(&silent).await;
        expired(&verified).await;

        let last = Caller::begin(&outside, &project, PHONE).await;
        let before = last.status().await.expect(200);
        outside.server.clock.advance(280);
        last.call().await;
        let after = last.status().await.expect(200);
        assert_eq!(after["status"], "verified");
        assert!(moment(&after["expires_at"]) > moment(&before["expires_at"]));
        assert!((115..=120).contains(&after["remaining_seconds"].as_i64().unwrap()), "{after}");
        outside.server.clock.advance(100);
        last.exchange().await.expect(200);
    }

    async fn every_wrong_field_is_named(db: TestDatabase) {
        let outside = Outside::start(db).await;
        let project = outside.server.project().await;
        let invalid = async |name: &str, body: Value, fields: &[&str]| {
            let answer = step(&outside, &project, name, body).await;
            answer.expect_invalid(fields);
            refused(&answer, 422, "invalid_input", "fix_input");
        };
        let (good, token) = (nonce("n"), "s".repeat(128));
        invalid("init", json!({}), &["phone", "client_nonce"]).await;
        for wrong in [json!("n".repeat(31)), json!("n".repeat(129)), json!(good.replace('_', "+")), json!(null), json!(7), json!("")] {
            invalid("init", json!({ "phone": PHONE, "client_nonce": wrong }), &["client_nonce"]).await;
            for name in ["status", "exchange"] {
                invalid(name, json!({ "session_token": token, "client_nonce": wrong }), &["client_nonce"]).await;
            }
        }
        for wrong in [json!("abc"), json!("7900"), json!("anna@x.ru"), json!(""), json!(null), json!([PHONE])] {
            invalid("init", json!({ "phone": wrong, "client_nonce": good }), &["phone"]).await;
        }
        for name in ["status", "exchange"] {
            invalid(name, json!({}), &["session_token", "client_nonce"]).await;
            for wrong in [json!("s".repeat(129)), json!(""), json!(null), json!(7), json!({})] {
                invalid(name, json!({ "session_token": wrong, "client_nonce": good }), &["session_token"]).await;
            }
            // Well formed, but unknown.
            let unknown = json!({ "session_token": token, "client_nonce": good });
            refused(&step(&outside, &project, name, unknown).await, 404, "callback_auth_not_found", "restart");
        }
        for wrong in [json!("d".repeat(256)), json!(7), json!("a\nb")] {
            let body = json!({ "session_token": token, "client_nonce": good, "device": wrong });
            invalid("exchange", body, &["device"]).await;
        }
        for fine in ["n".repeat(32), "n".repeat(128)] {
            outside.server.clock.advance(60);
            init(&outside, &project, PHONE, &fine).await.expect(200);
        }
        assert_eq!(attempts(&outside).await, 2);
        for (phone, device) in [(70, json!("d".repeat(255))), (71, json!(null)), (72, json!("")), (73, json!("ё"))] {
            let caller = Caller::begin(&outside, &project, &format!("790011100{phone}")).await;
            caller.call().await;
            let mut body = caller.secrets();
            body["device"] = device;
            step(&outside, &project, "exchange", body).await.expect(200);
        }
        for name in ["init", "status", "exchange"] {
            let path = format!("/api/counterparty/callback_auth/{name}");
            let body = json!({ "phone": PHONE, "client_nonce": nonce("x"), "session_token": "s" });
            let bare = send(outside.server.request(Method::POST, &path).json(&body)).await;
            assert_eq!(bare.expect(401), json!({ "message": "Application token is missing" }));
            let wrong = send(outside.server.request(Method::POST, &path).header("Token", "x").json(&body)).await;
            assert_eq!(wrong.expect(401), json!({ "message": "Application token is invalid" }));
            let form = outside.server.as_app(&project, Method::POST, &path).form(&[("phone", PHONE)]);
            send(form).await.expect(415);
        }
    }

    async fn a_nonce_and_a_phone_are_taken_by_one_attempt(db: TestDatabase) {
        let outside = Outside::start(db).await;
        let (project, other) = (outside.server.project().await, outside.server.project().await);
        init(&outside, &project, PHONE, &nonce("a")).await.expect(200);
        let started = "callback_auth_session_already_started";
        refused(&init(&outside, &project, PHONE, &nonce("a")).await, 409, started, "restart");
        refused(&init(&outside, &project, "79007654321", &nonce("a")).await, 409, started, "restart");
        let active = init(&outside, &project, "8 900 123 45 67", &nonce("b")).await;
        let active = refused(&active, 409, "callback_auth_challenge_already_active", "wait");
        let wait = active["error"]["retry_after_seconds"].as_i64().unwrap();
        assert!((1..=60).contains(&wait), "{wait}");
        init(&outside, &other, PHONE, &nonce("a")).await.expect(200);
        outside.server.clock.advance(wait);
        init(&outside, &project, PHONE, &nonce("b")).await.expect(200);
        assert_eq!(customers(&outside).await, 0);
    }

    async fn beginnings_are_limited_by_phone_and_by_address(db: TestDatabase) {
        let outside = Outside::start(db).await;
        let project = outside.server.project().await;
        let limited = "callback_auth_rate_limited";
        for number in 0..10 {
            init(&outside, &project, PHONE, &nonce(&number.to_string())).await.expect(if number == 0 { 200 } else { 409 });
        }
        let refusal = init(&outside, &project, PHONE, &nonce("x")).await;
        let wait = refused(&refusal, 429, limited, "wait")["error"]["retry_after_seconds"].as_i64().unwrap();
        assert!((3_590..=3_600).contains(&wait), "{wait}");
        assert_eq!((&refusal.headers["x-ratelimit-limit"], &refusal.headers["x-ratelimit-remaining"]),
            (&"10".parse().unwrap(), &"0".parse().unwrap()));
        for number in 0..49 {
            init(&outside, &project, &format!("790011100{number:02}"), &nonce(&format!("n{number}"))).await.expect(200);
        }
        refused(&init(&outside, &project, "79002220000", &nonce("y")).await, 429, limited, "wait");
        let elsewhere = outside.server.as_app(&project, Method::POST, "/api/counterparty/callback_auth/init");
        let body = json!({ "phone": "79002220000", "client_nonce": nonce("y") });
        send(elsewhere.header("X-Forwarded-For", "203.0.113.7").json(&body)).await.expect(200);
        outside.server.clock.advance(3_600);
        init(&outside, &project, PHONE, &nonce("z")).await.expect(200);
    }

    async fn an_attempt_is_seen_with_both_secrets_in_its_application_only(db: TestDatabase) {
        let outside = Outside::start(db).await;
        let (project, other) = (outside.server.project().await, outside.server.project().await);
        let second = sibling(&outside, &project).await;
        let caller = Caller::begin(&outside, &project, PHONE).await;
        caller.call().await;
        let with = |name: &str, value: &str| {
            let mut body = caller.secrets();
            body[name] = json!(value);
            body
        };
        for name in ["status", "exchange"] {
            let mut bodies = BTreeSet::new();
            for (who, body) in [
                (&project, with("client_nonce", &nonce("wrong"))),
                (&project, with("session_token", "unknown")),
                (&project, with("session_token", &caller.nonce)),
                (&second, caller.secrets()),
                (&other, caller.secrets()),
            ] {
                let answer = step(&outside, who, name, body).await;
                let mut body = refused(&answer, 404, "callback_auth_not_found", "restart");
                body["error"].as_object_mut().unwrap().remove("request_id");
                bodies.insert(body.to_string());
            }
            assert_eq!(bodies.len(), 1, "{bodies:?}");
        }
        // The exchange depends neither on the address nor on an identifier of the client.
        let exchange = outside.server.as_app(&project, Method::POST, "/api/counterparty/callback_auth/exchange");
        let exchange = exchange.header("X-Forwarded-For", "203.0.113.7").header("X-Request-ID", "mine");
        let done = send(exchange.json(&caller.secrets())).await;
        done.expect(200);
        assert_ne!(done.headers["x-request-id"], "mine");
    }

    async fn several_customers_of_the_phone_are_sent_to_the_support(db: TestDatabase) {
        let outside = Outside::start(db).await;
        let project = outside.server.project().await;
        outside.server.customer(&project).await;
        outside.server.customer(&project).await;
        let caller = Caller::begin(&outside, &project, PHONE).await;
        caller.call().await;
        for _ in 0..2 {
            let conflict = caller.exchange().await;
            refused(&conflict, 409, "counterparty_phone_identity_conflict", "contact_support");
        }
        assert_eq!(customers(&outside).await, 2);
        assert_eq!(caller.status().await.expect(200)["status"], "verified");
        let known = outside.server.project().await;
        let (id, _) = outside.server.customer(&known).await;
        let caller = Caller::begin(&outside, &known, PHONE).await;
        caller.call().await;
        let done = caller.exchange().await.expect(200);
        let bearer = done["access_token"]["value"].as_str().unwrap();
        let profile = send(outside.server.as_customer(&known, bearer, Method::GET, "/api/counterparty")).await.expect(200);
        assert_eq!(profile["counterparty"]["id"], id);
    }

    async fn racing_steps_have_one_winner(db: TestDatabase) {
        let outside = Outside::start(db).await;
        let project = outside.server.project().await;
        let begin = |_| init(&outside, &project, PHONE, "one-nonce-for-all-of-them-0123456789");
        let begun = futures_util::future::join_all((0..8).map(begin)).await;
        let won: Vec<_> = begun.iter().filter(|answer| answer.status == 200).collect();
        assert_eq!((won.len(), begun.iter().filter(|answer| answer.status == 409).count()), (1, 7));
        assert_eq!(outside.ask_control("/callchecks").await["callchecks"].as_array().unwrap().len(), 1);

        let caller = Caller::begin(&outside, &project, "79007654321").await;
        caller.call().await;
        let done = futures_util::future::join_all((0..8).map(|_| caller.exchange())).await;
        let won = done.iter().filter(|answer| answer.status == 200).count();
        let lost: Vec<_> = done.iter().filter(|answer| answer.status == 409).map(|answer| answer.json()["message"].clone()).collect();
        assert_eq!((won, lost.len()), (1, 7));
        // Requests before the call was known must check again. Requests after the winner are too late.
        assert!(lost.iter().all(|code| code == "callback_auth_expired" || code == "callback_auth_not_verified"), "{lost:?}");
        assert_eq!(customers(&outside).await, 1);
    }

    async fn an_attempt_outlives_the_process(db: TestDatabase) {
        let environment = ProcessEnvironment::open(db, 1.0).await;
        let process = environment.serve().await;
        let project = environment.create_project("owner");
        let post = async |step: &str, body: Value| {
            let url = format!("{}/api/counterparty/callback_auth/{step}", environment.url());
            send(environment.http.post(url).header("Token", project["app_token"].as_str().unwrap()).json(&body)).await
        };
        let begun = post("init", json!({ "phone": PHONE, "client_nonce": nonce("a") })).await.expect(200);
        process.kill();
        let process = environment.serve().await;
        let call = json!({ "from": PHONE, "to": begun["callback_number"] });
        send(environment.http.post(format!("{}/control/calls", environment.sandbox.url())).json(&call)).await.expect(200);
        let secrets = json!({ "session_token": begun["session_token"], "client_nonce": nonce("a") });
        post("exchange", secrets.clone()).await.expect(200);
        refused(&post("exchange", secrets).await, 409, "callback_auth_expired", "restart");
        assert_eq!(environment.number("SELECT COUNT(*) AS id FROM counterparties").await, 1);

        // The process is killed during the request to the provider. The client got no response, and the phone is held
        // for the cooldown only.
        environment.fault("telephony", "delay", 1, std::time::Duration::from_secs(20)).await;
        let asked = json!({ "phone": PHONE, "client_nonce": nonce("b") });
        let url = format!("{}/api/counterparty/callback_auth/init", environment.url());
        let lost = environment.http.post(url).header("Token", project["app_token"].as_str().unwrap()).json(&asked).send();
        let lost = tokio::spawn(lost);
        // Wait for that request, so that the next one does not meet the delay.
        environment.faults_are_met().await;
        assert_eq!(environment.number("SELECT COUNT(*) AS id FROM callback_attempts WHERE state = 'preparing'").await, 1);
        process.kill();
        assert!(lost.await.unwrap().is_err());
        let process = environment.serve().await;
        refused(&post("init", asked).await, 409, "callback_auth_session_already_started", "restart");
        let again = json!({ "phone": PHONE, "client_nonce": nonce("c") });
        let held = refused(&post("init", again.clone()).await, 409, "callback_auth_challenge_already_active", "wait");
        assert!(held["error"]["retry_after_seconds"].as_i64().unwrap() <= 60, "{held}");
        environment.execute(&["UPDATE callback_phones SET held_until = '2000-01-01 00:00:00'"]).await;
        post("init", again).await.expect(200);
        process.terminate();
        assert!(process.ended().await.success());
    }
}
