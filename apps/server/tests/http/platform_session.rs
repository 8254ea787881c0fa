//! Employees: login, the current user, logout.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use kontor_adapter_diesel::database_tests;
use kontor_kernel::Clock as _;
use reqwest::Method;
use serde_json::{Value, json};

use crate::outside::bearer;
use crate::support::{Answer, Project, TestServer, send};

const PASSWORD: &str = "correct horse battery";

/// A service with an owner `Boss`.
async fn start(db: kontor_adapter_diesel::testing::TestDatabase) -> (TestServer, Project) {
    let server = TestServer::start_with(db, |config| config.trusted_proxies = vec!["127.0.0.1".to_owned()]).await;
    let project = server.project().await;
    server.admin(&project, PASSWORD).await;
    (server, project)
}

async fn log_in_from(server: &TestServer, address: &str, login: &str, password: &str) -> Answer {
    let body = json!({ "login": login, "password": password });
    send(server.request(Method::POST, "/api/login").header("X-Forwarded-For", address).json(&body)).await
}

async fn log_in(server: &TestServer, login: &str, password: &str) -> Answer {
    let body = json!({ "login": login, "password": password });
    send(server.request(Method::POST, "/api/login").json(&body)).await
}

database_tests! {
    async fn an_employee_signs_in(db: TestDatabase) {
        let (server, project) = start(db).await;
        let mut user = log_in(&server, " BOSS ", PASSWORD).await.expect(200)["user"].clone();
        let token = bearer(&user);
        let (id, secret) = token.split_once('|').unwrap();
        assert!(id.bytes().all(|byte| byte.is_ascii_digit()) && !secret.is_empty());
        let expires_at: DateTime<Utc> = user["access_token"]["expires_at"].as_str().unwrap().parse().unwrap();
        let lifetime = expires_at - server.clock.now();
        assert!((TimeDelta::days(29)..=TimeDelta::days(30)).contains(&lifetime), "{lifetime}");

        let current = send(server.as_staff(&token, Method::GET, "/api/user")).await.expect(200);
        user.as_object_mut().unwrap().remove("access_token");
        assert_eq!(current, json!({ "user": user }));

        let permissions = user.as_object_mut().unwrap().remove("permissions").unwrap();
        let last_activity = user.as_object_mut().unwrap().remove("last_activity_at").unwrap();
        assert!(last_activity.as_str().unwrap().parse::<DateTime<Utc>>().is_ok());
        assert_eq!(user, json!({
            "id": user["id"], "login": "boss", "first_name": "Project", "last_name": "Owner", "middle_name": null,
            "email": "boss@example.com", "phone": null, "avatar": null,
            "role": { "id": user["role"]["id"], "name": "Owner", "description": "May do everything in the project" },
            "branch": { "id": project.branch_id, "name": "Branch" },
            "department": null, "creator": null, "is_banned": false, "is_sick": false, "active_time": 0,
        }));
        let permissions = permissions.as_array().unwrap();
        assert_eq!(permissions[3], json!({
            "id": 4, "screen": { "id": 2, "name": "applications" }, "name": "view-applications",
            "description": "See applications",
        }));
        for permission in permissions {
            let name = permission["name"].as_str().unwrap();
            assert!(["view-", "create-", "edit-", "approve-"].iter().any(|prefix| name.starts_with(prefix)), "{name}");
        }
        send(server.as_staff(&token, Method::GET, "/api/branches")).await.expect(200);
    }

    async fn refusals_look_the_same(db: TestDatabase) {
        let (server, _) = start(db).await;
        let wrong = log_in(&server, "boss", "wrong").await;
        let unknown = log_in(&server, "nobody", PASSWORD).await;
        let token = bearer(&log_in(&server, "boss", PASSWORD).await.expect(200)["user"]);
        server.execute("UPDATE users SET is_banned = true").await;
        let banned = log_in(&server, "boss", PASSWORD).await;
        for refused in [&wrong, &unknown, &banned] {
            assert_eq!(refused.expect(401), json!({ "message": "The login or the password is invalid." }));
        }
        send(server.as_staff(&token, Method::GET, "/api/user")).await.expect(401);
        let post = async |body: Value| send(server.request(Method::POST, "/api/login").json(&body)).await;
        post(json!({})).await.expect_invalid(&["login", "password"]);
        post(json!({ "login": ["boss"], "password": "" })).await.expect_invalid(&["login", "password"]);
    }

    async fn sign_ins_are_limited(db: TestDatabase) {
        let (server, _) = start(db).await;
        for _ in 0..5 {
            log_in(&server, "boss", "wrong").await.expect(401);
        }
        let refused = log_in(&server, "Boss", PASSWORD).await;
        assert_eq!(refused.expect(429), json!({ "message": "Too Many Attempts." }));
        let wait: u64 = refused.headers["retry-after"].to_str().unwrap().parse().unwrap();
        assert!((1..=60).contains(&wait));
        assert_eq!((&refused.headers["x-ratelimit-limit"], &refused.headers["x-ratelimit-remaining"]),
            (&"5".parse().unwrap(), &"0".parse().unwrap()));
        log_in(&server, "other", PASSWORD).await.expect(401);
        server.clock.advance(60);
        log_in(&server, "boss", PASSWORD).await.expect(200);
    }

    async fn an_address_counts_for_any_login(db: TestDatabase) {
        let (server, _) = start(db).await;
        for number in 0..30 {
            log_in_from(&server, "203.0.113.7", &format!("user-{number}"), "wrong").await.expect(401);
        }
        let refused = log_in_from(&server, "203.0.113.7", "boss", PASSWORD).await;
        assert_eq!(refused.expect(429), json!({ "message": "Too Many Attempts." }));
        assert_eq!(refused.headers["x-ratelimit-limit"], "30");
        log_in_from(&server, "203.0.113.8", "boss", PASSWORD).await.expect(200);
        server.clock.advance(60);
        log_in_from(&server, "203.0.113.7", "boss", PASSWORD).await.expect(200);
    }

    async fn wrong_passwords_from_a_few_addresses_do_not_lock_other_addresses(db: TestDatabase) {
        let (server, _) = start(db).await;
        for number in 0..4 {
            let address = format!("203.0.113.{number}");
            for _ in 0..5 {
                log_in_from(&server, &address, "boss", "wrong").await.expect(401);
            }
            log_in_from(&server, &address, "boss", PASSWORD).await.expect(429);
        }
        log_in_from(&server, "203.0.113.9", "Boss ", PASSWORD).await.expect(200);
    }

    async fn an_address_is_blocked_for_longer_the_more_often_it_is_wrong(db: TestDatabase) {
        let (server, _) = start(db).await;
        for _ in 0..12 {
            for _ in 0..5 {
                log_in_from(&server, "203.0.113.1", "boss", "wrong").await.expect(401);
            }
            server.clock.advance(60);
        }
        let refused = log_in_from(&server, "203.0.113.1", "boss", PASSWORD).await;
        refused.expect(429);
        let wait: u64 = refused.headers["retry-after"].to_str().unwrap().parse().unwrap();
        assert!(refused.headers["x-ratelimit-limit"] == "60" && wait > 60, "{wait}");
        log_in_from(&server, "203.0.113.2", "boss", PASSWORD).await.expect(200);
    }

    async fn many_addresses_leave_a_way_in_where_the_employee_signed_in_before(db: TestDatabase) {
        let (server, _) = start(db).await;
        let office = "198.51.100.1";
        log_in_from(&server, office, "boss", PASSWORD).await.expect(200);
        // The login from the new address counted as one of the 100 attempts of a minute.
        for number in 0..99 {
            let address = format!("203.0.113.{}", number % 20);
            log_in_from(&server, &address, "boss", "wrong").await.expect(401);
        }
        let refused = log_in_from(&server, "203.0.113.99", "Boss ", PASSWORD).await;
        refused.expect(429);
        assert_eq!(refused.headers["x-ratelimit-limit"], "100");
        log_in_from(&server, "203.0.113.99", "other", PASSWORD).await.expect(401);
        log_in_from(&server, office, "boss", PASSWORD).await.expect(200);
        // The address is still unknown for another employee.
        assert_eq!(server.insert("SELECT COUNT(*) AS id FROM sign_in_addresses".to_owned()).await, 1);
        server.clock.advance(60);
        log_in_from(&server, "203.0.113.99", "boss", PASSWORD).await.expect(200);
        assert_eq!(server.insert("SELECT COUNT(*) AS id FROM sign_in_addresses".to_owned()).await, 2);
    }

    async fn an_address_that_floods_blocks_no_other(db: TestDatabase) {
        let (server, _) = start(db).await;
        let server = Arc::new(server);
        let flood: Vec<_> = (0..200)
            .map(|number| {
                let server = Arc::clone(&server);
                let login = if number % 2 == 0 { "boss".to_owned() } else { format!("user-{number}") };
                tokio::spawn(async move { log_in_from(&server, "203.0.113.7", &login, "wrong").await })
            })
            .collect();
        for _ in 0..3 {
            log_in_from(&server, "203.0.113.8", "boss", PASSWORD).await.expect(200);
        }
        let (mut compared, mut refused) = (0, 0);
        for try_ in flood {
            let answer = try_.await.unwrap();
            match answer.status.as_u16() {
                401 => compared += 1,
                429 => {
                    let wait: u64 = answer.headers["retry-after"].to_str().unwrap().parse().unwrap();
                    assert!((1..=60).contains(&wait));
                    assert!(answer.headers.contains_key("x-ratelimit-limit"));
                    refused += 1;
                }
                other => panic!("{other}: {}", answer.text),
            }
        }
        assert!(compared <= 30 && refused >= 170, "{compared} compared, {refused} refused");
    }

    async fn signing_out_ends_one_token_or_all(db: TestDatabase) {
        let (server, _) = start(db).await;
        let token = async || bearer(&log_in(&server, "boss", PASSWORD).await.expect(200)["user"]);
        let (first, second, third) = (token().await, token().await, token().await);
        let user = async |token: &str| send(server.as_staff(token, Method::GET, "/api/user")).await.status.as_u16();
        let out = async |token: &str, body: Value| {
            send(server.as_staff(token, Method::POST, "/api/user/logout").json(&body)).await
        };
        out(&first, json!({ "from_all_devices": [] })).await.expect_invalid(&["from_all_devices"]);
        assert!(out(&first, json!({ "from_all_devices": false })).await.expect(200)["message"].is_string());
        assert_eq!((user(&first).await, user(&second).await), (401, 200));
        send(server.as_staff(&second, Method::POST, "/api/user/logout")).await.expect(200);
        assert_eq!((user(&second).await, user(&third).await), (401, 200));
        let fourth = token().await;
        out(&fourth, json!({ "from_all_devices": true })).await.expect(200);
        assert_eq!((user(&third).await, user(&fourth).await), (401, 401));
        send(server.request(Method::POST, "/api/user/logout").json(&json!({}))).await.expect(401);
    }

    async fn a_token_expires_and_activity_is_noted(db: TestDatabase) {
        let (server, _) = start(db).await;
        let token = bearer(&log_in(&server, "boss", PASSWORD).await.expect(200)["user"]);
        let user = async || send(server.as_staff(&token, Method::GET, "/api/user")).await;
        user().await.expect(200);
        server.clock.advance(120);
        user().await.expect(200);
        server.clock.advance(30 * 24 * 3600);
        user().await.expect(401);

        // Activity is stored in the background, at the latest when the service stops.
        let db = server.stop().await;
        let server = TestServer::start(db).await;
        let later = send(server.as_staff(&token, Method::GET, "/api/user")).await.expect(200);
        assert!((120..=125).contains(&later["user"]["active_time"].as_i64().unwrap()), "{later}");
    }
}
