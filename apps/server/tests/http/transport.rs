//! Properties of every request.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use kontor::adapters::SystemClock;
use kontor::config::Config;
use kontor::instance::{Instance, Roles};
use kontor_adapter_diesel::testing::{Kind, TestDatabase, stays};
use kontor_adapter_diesel::{database_tests, retry_until};
use kontor_kernel::Clock;
use reqwest::Method;
use reqwest::header::HeaderValue;
use serde_json::{Value, json};

use crate::support::{TestServer, send};

/// A clock that panics when the worker reads it, on threads of the test's runtime. The API reads it on threads of
/// actix.
#[derive(Default)]
struct BrokenClock {
    is_broken: AtomicBool,
}

impl Clock for BrokenClock {
    fn now(&self) -> DateTime<Utc> {
        let thread = std::thread::current();
        let is_of_actix = thread.name().is_some_and(|name| name.starts_with("actix"));
        assert!(is_of_actix || !self.is_broken.load(Ordering::SeqCst), "the clock is broken");
        SystemClock.now()
    }
}

async fn server() -> TestServer {
    TestServer::start(TestDatabase::fresh(Kind::Sqlite)).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unknown_paths_and_methods_are_distinguished() {
    let server = server().await;
    for path in ["/api/unknown", "/api/units", "/api/v1/counterparty/settings", "/v1/x", "/counterparty/settings"] {
        let answer = send(server.request(Method::GET, path)).await;
        assert_eq!(answer.expect(404)["message"], "Not found.", "{path}");
    }
    let answer = send(server.request(Method::DELETE, "/api/branches")).await;
    answer.expect(405);
    assert_eq!(answer.headers["allow"], "GET, HEAD, POST");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_server_makes_the_request_id() {
    let server = server().await;
    let mut seen = std::collections::BTreeSet::new();
    for path in ["/healthz", "/api/branches", "/nowhere"] {
        let answer = send(server.request(Method::GET, path).header("X-Request-ID", "abc")).await;
        let id = answer.headers["x-request-id"].to_str().unwrap().to_owned();
        assert_eq!(id.len(), 36);
        assert!(seen.insert(id));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_are_checked_before_anything_else() {
    let server = server().await;
    let owner = server.owner(&server.project().await).await;
    let post = || server.as_staff(&owner, Method::POST, "/api/branches").header("Content-Type", "application/json");
    for body in [&b"{"[..], b"{\"name\": \"\xff\"}", b"[1e400]", b"nul"] {
        send(post().body(body.to_vec())).await.expect(400);
    }
    send(post().body("[]")).await.expect(422);
    let plain = server.as_staff(&owner, Method::POST, "/api/branches").header("Content-Type", "text/plain");
    send(plain.body("name=x")).await.expect(415);
    let large = format!("{{\"name\": \"{}\"}}", "x".repeat(2 * 1024 * 1024));
    send(post().body(large)).await.expect(413);
    let wide = server.request(Method::GET, "/healthz").header("X-Wide", "x".repeat(20_000));
    send(wide).await.expect(431);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn browsers_may_call_the_client_surface_only() {
    let server = server().await;
    let preflight = |path: &str| {
        server
            .request(Method::OPTIONS, path)
            .header("Origin", "https://shop.example")
            .header("Access-Control-Request-Method", "GET")
            .header("Access-Control-Request-Headers", "token")
    };
    let allowed = send(preflight("/api/counterparty/settings")).await;
    assert_eq!(allowed.headers["access-control-allow-origin"], "https://shop.example");
    for staff in ["/api/branches", "/api/counterparty_types", "/api/counterparty_types/1"] {
        let refused = send(preflight(staff)).await;
        assert!(!refused.headers.contains_key("access-control-allow-origin"), "{staff}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_token_is_missing_or_invalid() {
    let server = server().await;
    let missing = send(server.request(Method::GET, "/api/counterparty/settings")).await;
    assert_eq!(missing.expect(401), json!({ "message": "Application token is missing" }));
    let with = async |bytes: &[u8]| {
        let token = HeaderValue::from_bytes(bytes).unwrap();
        send(server.request(Method::GET, "/api/counterparty/settings").header("Token", token)).await.expect(401)
    };
    for blank in [&b""[..], b" ", b"\t "] {
        assert_eq!(with(blank).await, json!({ "message": "Application token is missing" }), "{blank:?}");
    }
    for invalid in [&b"nonsense"[..], b"\xff\xfe", "жук".as_bytes(), b"a\tb"] {
        assert_eq!(with(invalid).await, json!({ "message": "Application token is invalid" }), "{invalid:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn browsers_guess_no_types() {
    let server = server().await;
    for path in ["/", "/healthz", "/openapi.json", "/docs/", "/api/branches", "/api/counterparty/settings", "/nowhere"]
    {
        let answer = send(server.request(Method::GET, path)).await;
        assert_eq!(answer.headers["x-content-type-options"], "nosniff", "{path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn metrics_and_the_viewer_may_have_an_address_of_their_own() {
    let db = TestDatabase::fresh(Kind::Sqlite);
    let server = TestServer::start_with(db, |config| config.monitoring_bind = "127.0.0.1:0".to_owned()).await;
    let apart = server.monitoring_url().unwrap();
    let read = async |url: &str, path: &str| send(server.http.get(format!("{url}{path}"))).await;
    for path in ["/metrics", "/docs/"] {
        read(&server.url, path).await.expect(404);
        assert_eq!(read(&apart, path).await.status, 200, "{path}");
    }
    assert!(read(&apart, "/metrics").await.text.contains("kontor_pool_connections"));
    for path in ["/healthz", "/readyz", "/openapi.json"] {
        assert_eq!(read(&server.url, path).await.status, 200, "{path}");
        assert_eq!(read(&apart, path).await.status, 200, "{path}");
    }
    assert!(!read(&server.url, "/").await.text.contains("/docs/"), "the first page leads nowhere");
    for path in ["/", "/api/branches", "/api/counterparty/settings", "/callbacks/acquirer"] {
        assert_eq!(read(&apart, path).await.status, 404, "{path}: no surface is served there");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_description_and_its_viewer_are_served() {
    let server = server().await;
    let api = send(server.request(Method::GET, "/openapi.json")).await.expect(200);
    assert!(api["openapi"].as_str().unwrap().starts_with("3.1"));
    assert_eq!(api["servers"][0]["url"], "/");
    let viewer = send(server.request(Method::GET, "/docs/")).await;
    assert_eq!(viewer.status, 200);
    assert!(viewer.text.contains("swagger-ui"));
    assert!(!viewer.text.contains("https://"), "the viewer loads nothing from elsewhere");
}

database_tests! {
    async fn metrics_name_the_route_template(db: TestDatabase) {
        let server = TestServer::start(db).await;
        send(server.request(Method::GET, "/api/applications/17")).await.expect(401);
        let text = send(server.request(Method::GET, "/metrics")).await.text;
        assert!(text.contains("route=\"/api/applications/{id}\""), "{text}");
        assert!(!text.contains("/api/applications/17"));
    }

    async fn a_method_that_a_client_makes_up_is_no_label(db: TestDatabase) {
        let server = TestServer::start(db).await;
        for path in ["/healthz", "/api/applications/17", "/api/branches", "/nowhere"] {
            let brew = Method::from_bytes(b"BREW-17").unwrap();
            assert!(send(server.request(brew, path)).await.status.is_client_error(), "{path}");
        }
        let text = send(server.request(Method::GET, "/metrics")).await.text;
        assert!(text.contains("kontor_http_requests_total{method=\"other\",route=\"unmatched\",status=\"404\"}"), "{text}");
        assert!(!text.contains("BREW"));
    }

    async fn readiness_names_what_is_missing(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let reported = send(server.request(Method::GET, "/readyz")).await.expect(200);
        let checks = json!({ "database": "ok", "migrations": "ok", "worker": "missing" });
        assert_eq!((&reported["checks"], &reported["status"]), (&checks, &json!("ready")), "an API alone needs no worker");
        server.db.database.revert(1).unwrap();
        let reported = send(server.request(Method::GET, "/readyz")).await.expect(503);
        assert_eq!(reported["checks"]["migrations"], "pending");
    }

    async fn a_process_that_is_to_work_is_ready_with_its_worker(db: TestDatabase) {
        let server = TestServer::start_as(db, Roles::Both, |_| {}).await;
        let ready = async || send(server.request(Method::GET, "/readyz")).await;
        let until = Instant::now() + Duration::from_secs(6);
        let mut reported = ready().await;
        while reported.status != 200 {
            retry_until!(until, "{}", reported.text);
            reported = ready().await;
        }
        assert_eq!(reported.json()["checks"]["worker"], "ok");
        server.execute("UPDATE workers SET seen_at = '2026-01-01 00:00:00'").await;
        assert_eq!(ready().await.expect(503)["checks"]["worker"], "missing");
    }

    async fn a_duty_that_panics_is_reported_and_works_again(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let clock = Arc::new(BrokenClock::default());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let files = tempfile::tempdir().unwrap();
        let folder = files.path().display().to_string();
        let config =
            Config { http_workers: 1, files_folder: folder.clone(), import_folder: folder, ..Config::default() };
        let database = &server.db.database;
        let instance = Instance::start(&config, database, clock.clone(), Some(listener), Roles::Both).unwrap();
        let url = format!("http://{}", instance.address().unwrap());
        let ready = async || send(server.http.get(format!("{url}/readyz"))).await;
        let until = async |state: &str| {
            let until = Instant::now() + Duration::from_secs(21);
            loop {
                let reported = ready().await;
                if reported.json()["status"] == state {
                    return reported;
                }
                retry_until!(until, "not {state}: {}", reported.text);
            }
        };
        assert_eq!(until("ready").await.expect(200)["down"], json!([]));

        clock.is_broken.store(true, Ordering::SeqCst);
        let reported = until("degraded").await.expect(200);
        assert!(reported["down"].as_array().unwrap().iter().all(Value::is_string), "{reported}");
        let text = send(server.http.get(format!("{url}/metrics"))).await.text;
        let panics = |line: &&str| line.starts_with("kontor_task_panics_total{task=");
        assert!(text.lines().any(|line| panics(&line)), "{text}");

        clock.is_broken.store(false, Ordering::SeqCst);
        assert_eq!(until("ready").await.expect(200)["down"], json!([]), "each duty was started again");
        instance.stop().await;
    }

    async fn an_idle_worker_takes_no_write_lock(db: TestDatabase) {
        let server = TestServer::start_as(db, Roles::Both, |_| {}).await;
        // The first round of duties, and the first sign of life.
        tokio::time::sleep(Duration::from_secs(2)).await;
        let database = &server.db.database;
        let (writes, statements) = (database.writes(), database.statements());
        stays(Duration::from_secs(4), "a sign of life is the only write", async || database.writes() - writes <= 1).await;
        assert!(database.statements() - statements > 50, "it looks for work");
    }

    async fn parked_rows_are_counted(db: TestDatabase) {
        let server = TestServer::start(db).await;
        server.execute("INSERT INTO password_requests (login, requested_at, attempts, next_attempt_at, parked_at, \
            parked_reason) VALUES ('a', '2026-01-01 00:00:00', 0, '2026-01-01 00:00:00', '2026-01-01 00:00:00', 'x')").await;
        let text = send(server.request(Method::GET, "/metrics")).await.text;
        assert!(text.contains("kontor_queue_parked{queue=\"webhook_deliveries\"} 0"), "{text}");
        assert!(text.contains("kontor_queue_parked{queue=\"password_requests\"}"), "{text}");
    }
}
