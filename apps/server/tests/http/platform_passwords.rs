//! Temporary passwords of employees.

use std::time::{Duration, Instant};

use kontor::instance::Roles;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_adapter_diesel::{database_tests, retry_until};
use reqwest::Method;
use serde_json::json;

use crate::outside::{Outside, bearer};
use crate::support::{Answer, send};

const PASSWORD: &str = "correct horse battery";
const MAILBOX: &str = "boss@example.com";

/// A service with a worker and an owner `Boss`.
async fn start(db: TestDatabase) -> Outside {
    let outside = Outside::start_as(db, Roles::Both, |_| {}).await;
    let project = outside.server.project().await;
    outside.server.admin(&project, PASSWORD).await;
    outside
}

async fn ask(outside: &Outside, login: &str) -> Answer {
    send(outside.server.request(Method::POST, "/api/send_password").json(&json!({ "login": login }))).await
}

/// Returns `true` if the password is accepted. The clock advances, so that no limit is reached.
async fn opens(outside: &Outside, password: &str) -> bool {
    outside.server.clock.advance(60);
    let body = json!({ "login": "boss", "password": password });
    let answer = send(outside.server.request(Method::POST, "/api/login").json(&body)).await;
    assert!([200, 401].contains(&answer.status.as_u16()), "{}", answer.text);
    answer.status == 200
}

/// Waits until a condition is met.
async fn until(mut so: impl AsyncFnMut() -> bool) {
    let patience = Instant::now() + Duration::from_mins(1);
    while !so().await {
        retry_until!(patience, "it never was");
    }
}

/// Returns the password of the newest mail, once this many have been received.
async fn mailed(outside: &Outside, count: usize) -> String {
    until(async || outside.count(MAILBOX).await == count).await;
    let text = outside.newest(MAILBOX).await.unwrap();
    text.lines().next().unwrap().trim().to_owned()
}

/// Waits until the worker has no open requests left.
async fn answered(outside: &Outside) {
    let count = "SELECT COUNT(*) AS id FROM password_requests";
    until(async || outside.server.insert(count.to_owned()).await == 0).await;
}

database_tests! {
    async fn it_arrives_by_mail_and_becomes_the_password(db: TestDatabase) {
        let outside = start(db).await;
        let sent = ask(&outside, " BOSS ").await.expect(200);
        assert_eq!(sent.as_object().unwrap().keys().collect::<Vec<_>>(), ["message"]);
        let first = mailed(&outside, 1).await;
        assert_eq!(first.len(), 16, "{first}");
        assert!(opens(&outside, PASSWORD).await, "asking takes nothing away");
        ask(&outside, "boss").await.expect(200);
        let second = mailed(&outside, 2).await;
        assert!(!opens(&outside, &first).await, "it was replaced");
        assert!(opens(&outside, &second).await);
        assert!(opens(&outside, &second).await, "it is the password now");
        assert!(!opens(&outside, PASSWORD).await);
    }

    async fn a_new_employee_gets_one_by_mail(db: TestDatabase) {
        let outside = start(db).await;
        let sign_in = async |login: &str, password: &str| {
            let body = json!({ "login": login, "password": password });
            send(outside.server.request(Method::POST, "/api/login").json(&body)).await
        };
        let admin = sign_in("boss", PASSWORD).await.expect(200)["user"].clone();
        let body = json!({
            "login": "anna", "email": MAILBOX, "first_name": "Anna", "last_name": "Kern", "role_id": admin["role"]["id"],
        });
        let request = outside.server.as_staff(&bearer(&admin), Method::POST, "/api/users").json(&body);
        send(request).await.expect(201);
        let password = mailed(&outside, 1).await;
        sign_in("anna", "wrong").await.expect(401);
        sign_in("anna", &password).await.expect(200);
        sign_in("anna", &password).await.expect(200);
    }

    async fn taking_it_on_signs_every_other_device_out(db: TestDatabase) {
        let outside = start(db).await;
        let sign_in = async |password: &str| {
            let body = json!({ "login": "boss", "password": password });
            let signed = send(outside.server.request(Method::POST, "/api/login").json(&body)).await.expect(200);
            bearer(&signed["user"])
        };
        let user = async |token: &str| {
            send(outside.server.as_staff(token, Method::GET, "/api/user")).await.status.as_u16()
        };
        let (first, second) = (sign_in(PASSWORD).await, sign_in(PASSWORD).await);
        ask(&outside, "boss").await.expect(200);
        let temporary = mailed(&outside, 1).await;
        assert_eq!((user(&first).await, user(&second).await), (200, 200), "asking ends nothing");
        let third = sign_in(&temporary).await;
        assert_eq!((user(&first).await, user(&second).await, user(&third).await), (401, 401, 200));
        let fourth = sign_in(&temporary).await;
        assert_eq!((user(&third).await, user(&fourth).await), (200, 200), "it is an ordinary password now");
    }

    async fn it_lapses_after_an_hour(db: TestDatabase) {
        let outside = start(db).await;
        ask(&outside, "boss").await.expect(200);
        let temporary = mailed(&outside, 1).await;
        outside.server.clock.advance(3600);
        assert!(!opens(&outside, &temporary).await);
        assert!(opens(&outside, PASSWORD).await);
    }

    async fn the_response_does_not_reveal_the_login(db: TestDatabase) {
        let outside = start(db).await;
        let known = ask(&outside, "boss").await;
        mailed(&outside, 1).await;
        let unknown = ask(&outside, "nobody").await;
        outside.server.execute("UPDATE users SET is_banned = TRUE").await;
        let banned = ask(&outside, "boss").await;
        for answer in [&unknown, &banned] {
            assert_eq!((answer.status, &answer.text), (known.status, &known.text));
        }
        answered(&outside).await;
        assert_eq!(outside.count(MAILBOX).await, 1);
        let post = async |body| send(outside.server.request(Method::POST, "/api/send_password").json(&body)).await;
        for body in [json!({}), json!({ "login": null }), json!({ "login": "" }), json!({ "login": ["boss"] })] {
            post(body).await.expect_invalid(&["login"]);
        }
    }

    async fn it_is_sent_again_when_the_mail_server_was_away(db: TestDatabase) {
        let outside = start(db).await;
        outside.fault("mail", "http_500").await;
        ask(&outside, "boss").await.expect(200);
        let tried = "SELECT CAST(COALESCE(MAX(attempts), 0) AS BIGINT) AS id FROM password_requests";
        until(async || outside.server.insert(tried.to_owned()).await == 1).await;
        assert!(opens(&outside, PASSWORD).await);
        assert!(opens(&outside, &mailed(&outside, 1).await).await);
        answered(&outside).await;
    }

    async fn requests_are_limited_by_login_and_by_address(db: TestDatabase) {
        let outside = start(db).await;
        for remaining in ["2", "1", "0"] {
            let answer = ask(&outside, "boss").await;
            answer.expect(200);
            assert_eq!(answer.headers["x-ratelimit-remaining"], remaining);
        }
        let refused = ask(&outside, "Boss").await;
        assert_eq!(refused.expect(429), json!({ "message": "Too Many Attempts." }));
        assert!(refused.headers.contains_key("retry-after"));
        for number in 0..16 {
            ask(&outside, &format!("user-{number}")).await.expect(200);
        }
        ask(&outside, "another").await.expect(429);
        let elsewhere = outside.server.request(Method::POST, "/api/send_password").json(&json!({ "login": "another" }));
        send(elsewhere.header("X-Forwarded-For", "203.0.113.7")).await.expect(200);
        outside.server.clock.advance(3600);
        ask(&outside, "boss").await.expect(200);
        assert!(opens(&outside, PASSWORD).await, "nobody is locked out by another's requests");
    }
}
