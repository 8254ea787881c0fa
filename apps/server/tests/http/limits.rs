//! Rate limits: the table, the headers, and shared counting in Redis.

mod redis_server;

use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::time::Instant;

use kontor::config::Config;
use kontor::openapi::{description, pinned_text};
use kontor_adapter_diesel::{database_tests, retry_until};
use kontor_kernel::RateRule;
use kontor_web::limits::{CODE_RULES, LimitSettings, TABLE};
use reqwest::Method;
use serde_json::{Value, json};

use crate::outside::Outside;
use crate::process::PATIENCE;
use crate::support::{Answer, Project, TestServer, send, sources};

#[test]
fn every_rule_has_a_name_of_its_own() {
    let rules: HashSet<_> = TABLE.iter().map(|limit| limit.rule).collect();
    let names: BTreeSet<_> = rules.iter().map(|rule| rule.name).collect();
    assert_eq!(names.len(), rules.len());
}

#[test]
fn settings_change_the_limits_that_name_them_and_no_others() {
    let defaults = Config::default().limits();
    let settings = LimitSettings { code_factor: 7, phone_codes: 8, customer_writes: 9 };
    for limit in TABLE {
        let (rule, name) = (limit.rule, limit.rule.name);
        assert_eq!(defaults.configured(rule), rule, "{name}: the table shows the defaults");
        let expected = match limit.setting() {
            "multiplies" => rule.limit * 7,
            "`phone_codes_per_hour`" => 8,
            "`customer_writes_per_minute`" => 9,
            other => {
                assert_eq!(other, "", "{name}");
                rule.limit
            }
        };
        assert_eq!(settings.configured(rule), RateRule { limit: expected, ..rule }, "{name}");
    }
    assert!(CODE_RULES.iter().all(|rule| TABLE.iter().any(|limit| limit.rule == *rule)));
}

#[test]
fn every_limited_operation_names_429() {
    let api: Value = serde_json::from_str(&pinned_text(&description()).unwrap()).unwrap();
    for limit in TABLE {
        let (method, path) = limit.operation.split_once(' ').unwrap();
        let operation = &api["paths"][path][method.to_lowercase()];
        assert!(operation.is_null() || operation["responses"]["429"].is_object(), "{}", limit.operation);
    }
}

#[test]
fn no_rule_is_outside_the_table() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let files = ["crates", "apps"].into_iter().flat_map(|folder| sources(&root.join(folder)));
    let files = files.filter(|file| !file.components().any(|part| part.as_os_str() == "tests"));
    // The port, its adapters, the table, and the view counters, which refuse no request.
    let home = ["kernel/src/limits.rs", "adapter-limits/src", "web/src/limits.rs"];
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let program = text.split("#[cfg(test)]").next().unwrap();
        let known = home.iter().any(|home| file.to_string_lossy().contains(home));
        assert!(
            known || !program.contains("RateRule {"),
            "{}: rate rules belong in crates/web/src/limits.rs",
            file.display()
        );
    }
}

fn header<'a>(answer: &'a Answer, name: &str) -> Option<&'a str> {
    answer.headers.get(name).map(|value| value.to_str().unwrap())
}

/// Returns `X-RateLimit-Limit` and `X-RateLimit-Remaining`.
fn quota(answer: &Answer) -> (Option<&str>, Option<&str>) {
    (header(answer, "x-ratelimit-limit"), header(answer, "x-ratelimit-remaining"))
}

async fn log_in_from(outside: &Outside, project: &Project, address: &str, contact: &str) -> Answer {
    let body = json!({ "phone": contact, "password": "1" });
    let request = outside.server.as_app(project, Method::POST, "/api/counterparty/login");
    send(request.header("X-Forwarded-For", address).json(&body)).await
}

async fn staff_log_in(server: &TestServer, login: &str) -> Answer {
    let body = json!({ "login": login, "password": "wrong" });
    send(server.request(Method::POST, "/api/login").json(&body)).await
}

/// Returns where limits are counted, from `/readyz`.
async fn counted_in(server: &TestServer) -> String {
    let answer = send(server.request(Method::GET, "/readyz")).await.json();
    answer["rate_limits"].as_str().unwrap().to_owned()
}

/// Waits for an effect of background work.
async fn until(mut happened: impl AsyncFnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !happened().await {
        retry_until!(until, "it never happened");
    }
}

database_tests! {
    async fn the_headers_show_the_counter_with_the_fewest_hits_left(db: TestDatabase) {
        let outside = Outside::start(db).await;
        let project = outside.server.project().await;
        let first = outside.log_in(&project, "buyer@example.com", "1").await;
        first.expect(422);
        assert_eq!(quota(&first), (Some("5"), Some("4")));
        assert_eq!((header(&first, "retry-after"), header(&first, "x-ratelimit-reset")), (None, None));
        for contact in 0..27 {
            outside.log_in(&project, &format!("buyer{contact}@example.com"), "1").await.expect(422);
        }
        let next = outside.log_in(&project, "buyer27@example.com", "1").await;
        assert_eq!(quota(&next), (Some("30"), Some("1")), "28 hits of the address before, none of the contact");
    }

    async fn a_refusal_says_when_to_come_back(db: TestDatabase) {
        let server = TestServer::start(db).await;
        for _ in 0..5 {
            staff_log_in(&server, "boss").await.expect(401);
        }
        let refused = staff_log_in(&server, "boss").await;
        assert_eq!(refused.expect(429), json!({ "message": "Too Many Attempts." }));
        assert_eq!(quota(&refused), (Some("5"), Some("0")));
        let number = |name| header(&refused, name).unwrap().parse::<i64>().unwrap();
        let now = kontor_kernel::Clock::now(&*server.clock).timestamp();
        let wait = number("retry-after");
        assert!((1..=60).contains(&wait), "{wait}");
        assert!((number("x-ratelimit-reset") - wait - now).abs() <= 5);
        server.clock.advance(wait);
        staff_log_in(&server, "boss").await.expect(401);
    }

    async fn a_refusal_by_contact_counts_on_the_address_and_not_the_other_way_round(db: TestDatabase) {
        let outside = Outside::start(db).await;
        let project = outside.server.project().await;
        for status in [422, 422, 422, 422, 422, 429, 429] {
            log_in_from(&outside, &project, "203.0.113.7", "a@example.com").await.expect(status);
        }
        log_in_from(&outside, &project, "203.0.113.8", "b@example.com").await.expect(422);
        for contact in 0..23 {
            log_in_from(&outside, &project, "203.0.113.7", &format!("c{contact}@example.com")).await.expect(422);
        }
        for _ in 0..6 {
            log_in_from(&outside, &project, "203.0.113.7", "d@example.com").await.expect(429);
        }
        let elsewhere = log_in_from(&outside, &project, "203.0.113.8", "d@example.com").await;
        elsewhere.expect(422);
        assert_eq!(quota(&elsewhere), (Some("5"), Some("4")), "refused addresses use up no contact");
    }

    async fn an_ipv6_network_is_one_address(db: TestDatabase) {
        let outside = Outside::start(db).await;
        let project = outside.server.project().await;
        for number in 0..30 {
            let (address, contact) = (format!("2001:db8:0:1:{number:x}::1"), format!("a{number}@example.com"));
            log_in_from(&outside, &project, &address, &contact).await.expect(422);
        }
        log_in_from(&outside, &project, "2001:db8:0:1:ffff::9", "last@example.com").await.expect(429);
        log_in_from(&outside, &project, "2001:db8:0:2::1", "last@example.com").await.expect(422);
    }

    async fn requests_without_a_rule_are_not_limited(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let project = server.project().await;
        for _ in 0..100 {
            let answer = send(server.as_app(&project, Method::GET, "/api/counterparty/brands")).await;
            answer.expect(200);
            assert_eq!(quota(&answer), (None, None));
        }
        assert_eq!(counted_in(&server).await, "memory");
    }
}
