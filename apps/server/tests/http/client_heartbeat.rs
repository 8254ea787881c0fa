//! Heartbeats of customers, and what is stored of them.

use std::time::Instant;

use chrono::{DateTime, TimeDelta, Utc};
use diesel::RunQueryDsl;
use kontor::instance::Roles;
use kontor_adapter_diesel::{Abort, Database, database_tests, retry_until};
use kontor_kernel::{Clock as _, StoreError};
use reqwest::Method;
use serde_json::{Value, json};

use crate::outside::{Outside, bearer};
use crate::process::{PATIENCE, ProcessEnvironment};
use crate::support::{Answer, Project, TestServer, send};

const PATH: &str = "/api/counterparty/session/heartbeat";

async fn beat(server: &TestServer, project: &Project, bearer: &str) -> Answer {
    send(server.as_customer(project, bearer, Method::POST, PATH)).await
}

fn moment(value: &Value) -> DateTime<Utc> {
    value.as_str().unwrap().parse().unwrap()
}

#[derive(diesel::QueryableByName)]
struct Number {
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    id: i64,
}

async fn number(database: &Database, statement: &'static str) -> i64 {
    let row = database.read(move |connection| {
        let row: Number = diesel::sql_query(statement).get_result(connection)?;
        Ok::<_, Abort<StoreError>>(row.id)
    });
    row.await.unwrap()
}

database_tests! {
    async fn a_session_starts_with_the_login_and_grows(db: TestDatabase) {
        let outside = Outside::start(db).await;
        let (server, project) = (&outside.server, outside.server.project().await);
        let before = server.clock.now();
        let token = bearer(&outside.signed_in(&project, "79001234567").await);
        let signed_in = server.clock.now();
        let first = beat(server, &project, &token).await.expect(200);
        let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&first), ["next_heartbeat_in_seconds", "server_time", "session"]);
        assert_eq!(keys(&first["session"]), ["duration_seconds", "id", "last_seen_at", "started_at", "status"]);
        assert_eq!((&first["session"]["status"], &first["next_heartbeat_in_seconds"]), (&json!("active"), &json!(60)));
        assert!((before..=signed_in).contains(&moment(&first["session"]["started_at"])), "{first}");
        assert_eq!(first["server_time"], first["session"]["last_seen_at"]);

        let counted = |answer: &Value| answer["session"]["duration_seconds"].as_i64().unwrap();
        for (seconds, least, most) in [(60, 60, 65), (180, 180, 180), (290, 180, 180)] {
            let so_far = beat(server, &project, &token).await.expect(200);
            server.clock.advance(seconds);
            let next = beat(server, &project, &token).await.expect(200);
            assert_eq!(next["session"]["id"], first["session"]["id"]);
            assert_eq!(next["session"]["started_at"], first["session"]["started_at"]);
            let grown = counted(&next) - counted(&so_far);
            assert!((least..=most).contains(&grown), "{grown} of {seconds}");
            assert!(moment(&next["session"]["last_seen_at"]) - moment(&so_far["session"]["last_seen_at"])
                >= TimeDelta::seconds(seconds));
        }
        server.clock.advance(301);
        let renewed = beat(server, &project, &token).await.expect(200);
        assert_ne!(renewed["session"]["id"], first["session"]["id"]);
        assert_eq!((renewed["session"]["started_at"].clone(), counted(&renewed)), (renewed["server_time"].clone(), 0));
    }

    async fn a_token_without_a_session_starts_one_and_logging_out_ends_it(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let project = server.project().await;
        let (_, token) = server.customer(&project).await;
        // A body is neither required nor read.
        let odd = server.as_customer(&project, &token, Method::POST, PATH).header("Content-Type", "text/plain");
        let first = send(odd.body("{")).await.expect(200);
        assert_eq!(first["session"]["duration_seconds"], 0);
        let out = server.as_customer(&project, &token, Method::POST, "/api/counterparty/logout");
        send(out.json(&json!({}))).await.expect(200);
        beat(&server, &project, &token).await.expect(401);
        let closed = "SELECT COUNT(*) AS id FROM client_sessions WHERE status = 'closed'";
        assert_eq!(number(&server.db.database, closed).await, 1);
    }

    async fn callers_without_permission_record_no_activity(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let (project, other) = (server.project().await, server.project().await);
        let (_, token) = server.customer(&project).await;
        let (_, foreign) = server.customer(&other).await;
        beat(&server, &project, &foreign).await.expect(404);
        beat(&server, &project, "1|x").await.expect(401);
        let owner = server.owner(&project).await;
        beat(&server, &project, &owner).await.expect(401);
        send(server.as_app(&project, Method::POST, PATH)).await.expect(401);
        let alone = send(server.request(Method::POST, PATH).bearer_auth(&token)).await.expect(401);
        assert_eq!(alone["message"], "Application token is missing");
        assert_eq!(number(&server.db.database, "SELECT COUNT(*) AS id FROM client_sessions").await, 0);
    }

    async fn six_signs_a_minute_are_taken(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let project = server.project().await;
        let (customer, token) = server.customer(&project).await;
        let second = server.token(&project, "counterparty", customer, Some(project.application_id)).await;
        let beats = tokio::join!(
            beat(&server, &project, &token), beat(&server, &project, &token), beat(&server, &project, &token),
            beat(&server, &project, &token), beat(&server, &project, &token), beat(&server, &project, &token),
        );
        let beats: [Answer; 6] = beats.into();
        let ids: Vec<Value> = beats.iter().map(|answer| answer.expect(200)["session"]["id"].clone()).collect();
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
        let refused = beat(&server, &project, &token).await;
        assert_eq!(refused.expect(429), json!({ "message": "Too Many Attempts." }));
        assert!(refused.headers.contains_key("retry-after"));
        beat(&server, &project, &second).await.expect(200);
        server.clock.advance(60);
        beat(&server, &project, &token).await.expect(200);
    }

    async fn without_the_storage_of_sessions_the_refusal_is_named(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let project = server.project().await;
        let (_, token) = server.customer(&project).await;
        server.execute("ALTER TABLE client_sessions RENAME TO elsewhere").await;
        let answer = beat(&server, &project, &token).await;
        let refused = answer.expect(503);
        assert_eq!(refused["message"], "counterparty_session_unavailable");
        assert_eq!((&refused["error"]["code"], &refused["error"]["next_action"]),
            (&refused["message"], &json!("wait")));
        assert_eq!(refused["error"]["retry_after_seconds"], 60);
        assert_eq!(answer.headers["retry-after"], "60");
        assert_eq!(refused["error"]["request_id"], answer.headers["x-request-id"].to_str().unwrap());
        server.execute("ALTER TABLE elsewhere RENAME TO client_sessions").await;
        beat(&server, &project, &token).await.expect(200);
    }

    async fn uses_of_tokens_are_stored_beside_the_requests(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let project = server.project().await;
        let (_, token) = server.customer(&project).await;
        let owner = server.owner(&project).await;
        let unused = "SELECT COUNT(*) AS id FROM access_tokens WHERE last_used_at IS NULL";
        for _ in 0..3 {
            let before = server.db.database.statements();
            send(server.as_customer(&project, &token, Method::GET, "/api/counterparty/orders")).await.expect(200);
            send(server.as_staff(&owner, Method::GET, "/api/branches")).await.expect(200);
            assert!(server.db.database.statements() - before < 12, "begin and commit of a write would show");
        }
        let db = server.stop().await;
        assert_eq!(number(&db.database, unused).await, 0);
    }

    async fn expired_rows_are_deleted(db: TestDatabase) {
        let server = TestServer::start_as(db, Roles::Both, |_| {}).await;
        let project = server.project().await;
        let (customer, token) = server.customer(&project).await;
        server.token(&project, "counterparty", customer, Some(project.application_id)).await;
        server.execute("UPDATE access_tokens SET expires_at = '2026-01-02 00:00:00' WHERE id > 1").await;
        let db = server.stop().await;
        // A worker runs its duties when it starts.
        let server = TestServer::start_as(db, Roles::Both, |_| {}).await;
        let until = Instant::now() + PATIENCE;
        while number(&server.db.database, "SELECT COUNT(*) AS id FROM access_tokens").await > 1 {
            retry_until!(until, "old tokens are kept");
        }
        beat(&server, &project, &token).await.expect(200);
    }

    async fn a_session_outlives_the_process_that_is_killed(db: TestDatabase) {
        let environment = ProcessEnvironment::open(db, 1.0).await;
        let process = environment.serve().await;
        let project = environment.create_project("owner");
        let front = environment.front(&project["app_token"]);
        let customer = front.sign_in("79005550008").await;
        process.kill();
        let _process = environment.serve().await;
        let beat = async || send(front.request(Method::POST, PATH).bearer_auth(&customer.bearer)).await.expect(200);
        let (first, second) = (beat().await, beat().await);
        assert_eq!(first["session"]["id"], second["session"]["id"]);
        assert_eq!(environment.number("SELECT COUNT(*) AS id FROM client_sessions").await, 1);
        assert_eq!(environment.number("SELECT COUNT(*) AS id FROM client_sessions WHERE started_at < last_seen_at").await, 1);
    }
}
