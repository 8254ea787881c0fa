//! Customers: codes, login and logout.

use chrono::{DateTime, TimeDelta, Utc};
use kontor::config::PhoneCodes;
use kontor::instance::Roles;
use kontor_adapter_diesel::database_tests;
use kontor_kernel::Clock as _;
use reqwest::Method;
use serde_json::json;

use crate::outside::{Outside, another, bearer};
use crate::support::send;

const PHONE: &str = "79001234567";

database_tests! {
    async fn a_customer_signs_in_by_call(db: TestDatabase) {
        let outside = Outside::start(db).await;
        let project = outside.server.project().await;
        let sent = outside.request_code(&project, "+7 (900) 123-45-67").await.expect(200);
        assert_eq!(sent.as_object().unwrap().keys().collect::<Vec<_>>(), ["message"]);
        let code = outside.code(PHONE).await;
        assert_eq!(code.len(), 4);

        let body = json!({ "phone": "8 900 123-45-67", "password": code, "device": "Mi9" });
        let login = outside.server.as_app(&project, Method::POST, "/api/counterparty/login").json(&body);
        let customer = send(login).await.expect(200)["counterparty"].clone();
        assert_eq!((&customer["phone_1"], &customer["type"]["id"]), (&json!(PHONE), &json!(1)));
        let token = bearer(&customer);
        let (id, secret) = token.split_once('|').unwrap();
        assert!(id.bytes().all(|byte| byte.is_ascii_digit()) && secret.len() >= 40);
        let expires_at: DateTime<Utc> = customer["access_token"]["expires_at"].as_str().unwrap().parse().unwrap();
        let lifetime = expires_at - outside.server.clock.now();
        assert!((TimeDelta::days(364)..=TimeDelta::days(365)).contains(&lifetime), "{lifetime}");

        let again = outside.signed_in(&project, PHONE).await;
        assert_eq!(again["id"], customer["id"]);
    }

    async fn a_customer_signs_in_by_mail(db: TestDatabase) {
        let outside = Outside::start(db).await;
        let project = outside.server.project().await;
        let customer = outside.signed_in(&project, "Anna@Example.com").await;
        assert_eq!((&customer["email"], &customer["phone_1"]), (&json!("anna@example.com"), &json!(null)));
        assert_eq!(outside.code("anna@example.com").await.len(), 6);
    }

    async fn a_customer_signs_in_by_sms(db: TestDatabase) {
        let outside = Outside::start_as(db, Roles::Api, |config| config.phone_codes = PhoneCodes::Sms).await;
        let project = outside.server.project().await;
        let customer = outside.signed_in(&project, PHONE).await;
        assert_eq!((&customer["phone_1"], outside.code(PHONE).await.len()), (&json!(PHONE), 6));
        outside.fault("telephony", "refuse").await;
        outside.request_code(&project, PHONE).await.expect(500);
        assert_eq!(outside.signed_in(&project, PHONE).await["id"], customer["id"]);
    }

    async fn every_spelling_of_a_phone_is_one_customer(db: TestDatabase) {
        let outside = Outside::start(db).await;
        let project = outside.server.project().await;
        let first = outside.signed_in(&project, PHONE).await;
        let spellings = [
            "+79001234567", "89001234567", "9001234567", "+7 (900) 123-45-67", "8 900 123-45-67", "8(900)1234567",
            "7-900-123-45-67", " 7.900.123.45.67 ", "(900) 123 45 67", "+7\u{a0}900\u{202f}123\u{2011}45\u{2013}67",
        ];
        for spelling in spellings {
            // An hour later the limit of codes is reset.
            outside.server.clock.advance(3600);
            outside.request_code(&project, spelling).await.expect(200);
            let code = outside.code(PHONE).await;
            let signed = outside.log_in(&project, spelling, &code).await.expect(200);
            assert_eq!(signed["counterparty"]["id"], first["id"], "{spelling}");
        }
        outside.server.clock.advance(3600);
        let number = outside.server.as_app(&project, Method::POST, "/api/counterparty/send_password");
        send(number.json(&json!({ "phone": 79_001_234_567_i64 }))).await.expect(200);
        for spelling in ["７９００１２３４５６７", "tel:79001234567", "+89001234567", "7900\n1234567"] {
            outside.request_code(&project, spelling).await.expect_invalid(&["phone"]);
        }
    }

    async fn addresses_ignore_case_and_may_be_in_national_letters(db: TestDatabase) {
        let outside = Outside::start(db).await;
        let project = outside.server.project().await;
        outside.request_code(&project, "Ivan@Пример.РФ").await.expect(200);
        let code = outside.code("ivan@xn--e1afmkfd.xn--p1ai").await;
        let signed = outside.log_in(&project, "IVAN@пример.рф", &code).await.expect(200);
        assert_eq!(signed["counterparty"]["email"], "ivan@пример.рф");
        for address in ["a@x.ru\nBcc: b@x.ru", "a\r\nBcc: b@x.ru", "a@x.ru\r\n.", "Anna <a@x.ru>", "a..b@x.ru", "a@x.ru,b@x.ru"] {
            outside.request_code(&project, address).await.expect_invalid(&["phone"]);
        }
        assert_eq!(outside.count("b@x.ru").await, 0);
    }

    async fn visitors_and_customers_get_the_same_response(db: TestDatabase) {
        let outside = Outside::start(db).await;
        let project = outside.server.project().await;
        outside.server.customer(&project).await;
        let known = outside.request_code(&project, PHONE).await.expect(200);
        assert_eq!(known, outside.request_code(&project, "79007654321").await.expect(200));
        assert_eq!(known, outside.request_code(&project, "anna@example.com").await.expect(200));
    }

    async fn provider_failures_duplicate_no_customer_and_lose_no_code(db: TestDatabase) {
        let outside = Outside::start(db).await;
        let project = outside.server.project().await;
        for (service, contact) in [("telephony", PHONE), ("mail", "anna@example.com")] {
            let first = outside.signed_in(&project, contact).await;
            for (fault, answer) in [
                ("refuse", 500), ("http_500", 500), ("drop", 500), ("http_500_after_commit", 500), ("delay", 200), ("timeout", 200),
            ] {
                outside.server.clock.advance(3600);
                outside.request_code(&project, contact).await.expect(200);
                let code = outside.code(contact).await;
                outside.fault(service, fault).await;
                outside.request_code(&project, contact).await.expect(answer);
                let newest = outside.code(contact).await;
                let good = if answer == 200 { newest } else { code };
                let signed = outside.log_in(&project, contact, &good).await.expect(200);
                assert_eq!(signed["counterparty"]["id"], first["id"], "{service} {fault}");
            }
        }
        // Two concurrent requests create one customer, and the valid code has reached them.
        let contact = "79007654321";
        let (one, two) = tokio::join!(outside.request_code(&project, contact), outside.request_code(&project, contact));
        assert_eq!((one.status.as_u16(), two.status.as_u16(), outside.count(contact).await), (200, 200, 2));
        let mut signed = 0;
        for code in outside.codes(contact).await {
            signed += u32::from(outside.log_in(&project, contact, &code).await.status.as_u16() == 200);
        }
        assert_eq!(signed, 1);
    }

    async fn a_send_that_failed_counts_against_the_limits(db: TestDatabase) {
        let outside = Outside::start(db).await;
        let project = outside.server.project().await;
        for _ in 0..3 {
            outside.fault("telephony", "drop").await;
            outside.request_code(&project, PHONE).await.expect(500);
        }
        outside.request_code(&project, PHONE).await.expect(429);
    }

    async fn a_code_works_once_and_for_five_minutes(db: TestDatabase) {
        let outside = Outside::start(db).await;
        let project = outside.server.project().await;
        outside.log_in(&project, PHONE, "1234").await.expect_invalid(&["phone"]);
        outside.request_code(&project, PHONE).await.expect(200);
        let code = outside.code(PHONE).await;
        outside.log_in(&project, PHONE, &another(&code)).await.expect(401);
        outside.log_in(&project, PHONE, &code).await.expect(200);
        outside.log_in(&project, PHONE, &code).await.expect(400);
        outside.request_code(&project, PHONE).await.expect(200);
        let late = outside.code(PHONE).await;
        outside.server.clock.advance(300);
        assert!(outside.log_in(&project, PHONE, &late).await.expect(400)["message"].is_string());
    }

    async fn a_code_is_worth_nothing_elsewhere(db: TestDatabase) {
        let outside = Outside::start(db).await;
        let (project, other) = (outside.server.project().await, outside.server.project().await);
        outside.request_code(&project, PHONE).await.expect(200);
        let code = outside.code(PHONE).await;
        outside.log_in(&other, PHONE, &code).await.expect_invalid(&["phone"]);
        outside.request_code(&project, "79007654321").await.expect(200);
        let foreign = outside.code("79007654321").await;
        if foreign != code {
            outside.log_in(&project, PHONE, &foreign).await.expect(401);
        }
        outside.log_in(&project, PHONE, &code).await.expect(200);
    }

    async fn a_customer_known_to_staff_needs_a_code_and_is_kept(db: TestDatabase) {
        let outside = Outside::start(db).await;
        let project = outside.server.project().await;
        let (id, _) = outside.server.customer(&project).await;
        outside.log_in(&project, PHONE, "1234").await.expect(400);
        assert_eq!(outside.signed_in(&project, PHONE).await["id"], id);
    }

    async fn racing_logins_get_one_token(db: TestDatabase) {
        let outside = Outside::start(db).await;
        let project = outside.server.project().await;
        outside.request_code(&project, PHONE).await.expect(200);
        let code = outside.code(PHONE).await;
        let (a, b, c, d) = tokio::join!(
            outside.log_in(&project, PHONE, &code),
            outside.log_in(&project, PHONE, &code),
            outside.log_in(&project, PHONE, &code),
            outside.log_in(&project, PHONE, &code),
        );
        let mut statuses = [a, b, c, d].map(|answer| answer.status.as_u16());
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 400, 400, 400]);
    }

    async fn a_code_that_was_not_sent_counts_as_not_requested(db: TestDatabase) {
        let outside = Outside::start(db).await;
        let project = outside.server.project().await;
        outside.fault("telephony", "refuse").await;
        assert!(outside.request_code(&project, PHONE).await.expect(500)["message"].is_string());
        outside.log_in(&project, PHONE, "1234").await.expect(400);
        outside.fault("mail", "refuse").await;
        outside.request_code(&project, "anna@example.com").await.expect(500);
        assert_eq!(outside.count("anna@example.com").await, 0);
        outside.request_code(&project, PHONE).await.expect(200);
    }

    async fn every_wrong_field_is_named(db: TestDatabase) {
        let outside = Outside::start(db).await;
        let project = outside.server.project().await;
        for phone in ["abc", "", "a@b", "7900"] {
            outside.request_code(&project, phone).await.expect_invalid(&["phone"]);
        }
        let post = |path: &str| outside.server.as_app(&project, Method::POST, path);
        send(post("/api/counterparty/send_password").json(&json!({}))).await.expect_invalid(&["phone"]);
        let login = async |body| send(post("/api/counterparty/login").json(&body)).await;
        login(json!({})).await.expect_invalid(&["phone", "password"]);
        for (device, known) in [("Mi".to_owned(), false), ("x".repeat(51), false), ("Mi9".to_owned(), true), ("x".repeat(50), true)] {
            let body = json!({ "phone": PHONE, "password": "1", "device": device });
            login(body).await.expect_invalid(&[if known { "phone" } else { "device" }]);
        }
        for path in ["/api/counterparty/send_password", "/api/counterparty/login"] {
            let body = json!({ "phone": PHONE, "password": "1" });
            let answer = send(outside.server.request(Method::POST, path).json(&body)).await;
            assert_eq!(answer.expect(401)["message"], "Application token is missing");
            let answer = send(outside.server.request(Method::POST, path).header("Token", "x").json(&body)).await;
            assert_eq!(answer.expect(401)["message"], "Application token is invalid");
        }
    }

    async fn codes_are_limited_by_contact_and_by_address(db: TestDatabase) {
        let outside = Outside::start(db).await;
        let (project, other) = (outside.server.project().await, outside.server.project().await);
        for remaining in ["2", "1", "0"] {
            let answer = outside.request_code(&project, PHONE).await;
            answer.expect(200);
            assert_eq!((&answer.headers["x-ratelimit-limit"], &answer.headers["x-ratelimit-remaining"]),
                (&"3".parse().unwrap(), &remaining.parse().unwrap()));
        }
        let refused = outside.request_code(&project, "8 (900) 123-45-67").await;
        assert_eq!(refused.expect(429), json!({ "message": "Too Many Attempts." }));
        let wait: u64 = refused.headers["retry-after"].to_str().unwrap().parse().unwrap();
        assert!((3590..=3600).contains(&wait), "{wait}");
        assert_eq!(refused.headers["x-ratelimit-remaining"], "0");
        assert!(refused.headers.contains_key("x-ratelimit-reset"));
        outside.request_code(&other, PHONE).await.expect(200);
        for contact in 0..15 {
            outside.request_code(&project, &format!("buyer{contact}@example.com")).await.expect(200);
        }
        outside.request_code(&project, "last@example.com").await.expect(429);
        let elsewhere = outside.server.as_app(&project, Method::POST, "/api/counterparty/send_password");
        let elsewhere = elsewhere.header("X-Forwarded-For", "203.0.113.7").json(&json!({ "phone": "last@example.com" }));
        send(elsewhere).await.expect(200);
        outside.server.clock.advance(3600);
        outside.request_code(&project, PHONE).await.expect(200);
    }

    async fn logins_are_limited_by_contact_and_by_address(db: TestDatabase) {
        let outside = Outside::start(db).await;
        let project = outside.server.project().await;
        outside.request_code(&project, PHONE).await.expect(200);
        let code = outside.code(PHONE).await;
        for _ in 0..5 {
            outside.log_in(&project, PHONE, &another(&code)).await.expect(401);
        }
        outside.log_in(&project, PHONE, &code).await.expect(429);
        outside.server.clock.advance(60);
        outside.log_in(&project, PHONE, &code).await.expect(400);
        for contact in 0..29 {
            outside.log_in(&project, &format!("buyer{contact}@example.com"), "1").await.expect(422);
        }
        outside.log_in(&project, "last@example.com", "1").await.expect(429);
    }

    async fn signing_out_ends_one_token_or_all(db: TestDatabase) {
        let outside = Outside::start(db).await;
        let project = outside.server.project().await;
        let (first, second) = (outside.signed_in(&project, PHONE).await, outside.signed_in(&project, PHONE).await);
        let (first, second) = (bearer(&first), bearer(&second));
        let profile = async |token: &str| {
            send(outside.server.as_customer(&project, token, Method::GET, "/api/counterparty")).await.status.as_u16()
        };
        let out = async |token: &str, body| {
            let request = outside.server.as_customer(&project, token, Method::POST, "/api/counterparty/logout");
            send(request.json(&body)).await
        };
        out(&first, json!({ "from_all_devices": "maybe" })).await.expect_invalid(&["from_all_devices"]);
        assert!(out(&first, json!({ "from_all_devices": false })).await.expect(200)["message"].is_string());
        assert_eq!((profile(&first).await, profile(&second).await), (401, 200));
        out(&first, json!({})).await.expect(401);
        let third = bearer(&outside.signed_in(&project, PHONE).await);
        out(&third, json!({ "from_all_devices": true })).await.expect(200);
        assert_eq!((profile(&second).await, profile(&third).await), (401, 401));
        let app_only = outside.server.as_app(&project, Method::POST, "/api/counterparty/logout");
        send(app_only.json(&json!({}))).await.expect(401);
    }
}
