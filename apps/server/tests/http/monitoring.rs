//! Metrics of a process, and the files in `monitoring/` that use them.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kontor::adapters::SystemClock;
use kontor::config::Config;
use kontor::instance::{Instance, Roles};
use kontor_adapter_diesel::testing::{Kind, TestDatabase};
use kontor_adapter_diesel::{database_tests, retry_until};
use reqwest::Method;
use serde_json::{Value, json};

use crate::process::{ProcessEnvironment, lasting_address};
use crate::support::{TestServer, send};

fn file(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)).unwrap()
}

/// Returns the names of metrics in a text.
fn metrics(text: &str) -> BTreeSet<String> {
    let words = text.split(|sign: char| !sign.is_ascii_lowercase() && sign != '_');
    words.filter(|word| word.starts_with("kontor_")).map(str::to_owned).collect()
}

/// Returns the names of the alerts in the rules.
fn alerts() -> Vec<String> {
    let rules = file("monitoring/alerts.yml");
    rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: ").map(str::to_owned)).collect()
}

#[test]
fn every_alert_is_tested_and_has_an_action() {
    let (tests, page) = (file("monitoring/alerts_test.yml"), file("docs/operations/monitoring.md"));
    assert!(alerts().len() >= 10);
    for alert in alerts() {
        let cases = tests.split("alertname: ").skip(1).filter(|case| case.lines().next() == Some(alert.as_str()));
        let fires: Vec<bool> =
            cases.map(|case| case.lines().nth(1).is_some_and(|line| line.trim() == "exp_alerts:")).collect();
        assert!(fires.contains(&true), "{alert} never fires in a test");
        assert!(fires.contains(&false), "{alert} is never silent in a test");
        assert!(page.contains(&format!("| `{alert}` |")), "{alert} has no action in docs/operations/monitoring.md");
    }
}

database_tests! {
    async fn every_metric_of_alerts_dashboard_and_page_is_answered(db: TestDatabase) {
        let server = TestServer::start_as(db, Roles::Both, |_| {}).await;
        let project = server.project().await;
        let owner = server.owner(&project).await;
        // A row that a list leaves out, and an answer that is cached.
        server.execute(&format!("INSERT INTO brands (project_id, name, name_key, created_at, updated_at) \
            VALUES ({}, ' ', 'nord', '2026-01-01 00:00:00', '2026-01-01 00:00:00')", project.id)).await;
        send(server.as_staff(&owner, Method::GET, "/api/brands")).await.expect(200);
        send(server.as_app(&project, Method::GET, "/api/counterparty/countries")).await.expect(200);
        let named = metrics(&(file("monitoring/alerts.yml") + &file("monitoring/dashboard.json")));
        assert!(named.len() > 10, "{named:?}");
        let named: BTreeSet<_> = named.union(&metrics(&file("docs/operations/monitoring.md"))).cloned().collect();
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            let text = send(server.request(Method::GET, "/metrics")).await.text;
            let samples: BTreeSet<_> = text.lines().filter_map(|line| line.split(['{', ' ']).next()).collect();
            // The page names a histogram without its parts.
            let is_answered = |name: &&String| {
                samples.contains(name.as_str()) || samples.contains(format!("{name}_bucket").as_str())
            };
            let missing: Vec<_> = named.iter().filter(|name| !is_answered(name)).collect();
            if missing.is_empty() {
                break;
            }
            retry_until!(until, "not answered: {missing:?}");
        }
    }

    async fn a_worker_alone_has_health_checks_and_metrics(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let files = tempfile::tempdir().unwrap();
        let folder = files.path().display().to_string();
        let config = Config { files_folder: folder.clone(), import_folder: folder, ..Config::default() };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let database = &server.db.database;
        let worker = Instance::start(&config, database, Arc::new(SystemClock), Some(listener), Roles::Worker).unwrap();
        let url = format!("http://{}", worker.monitoring_address().unwrap());
        let get = async |path: &str| send(server.http.get(format!("{url}{path}"))).await;
        let until = Instant::now() + Duration::from_secs(20);
        let mut reported = get("/readyz").await;
        while reported.status != 200 {
            retry_until!(until, "{}", reported.text);
            reported = get("/readyz").await;
        }
        assert_eq!((&reported.json()["rate_limits"], &reported.json()["checks"]["worker"]), (&json!("memory"), &json!("ok")));
        assert_eq!(get("/healthz").await.expect(200), json!({ "status": "ok" }));
        let text = get("/metrics").await.text;
        assert!(text.contains("kontor_worker_alive 1") && text.contains("kontor_worker_steps_total{"), "{text}");
        for path in ["/", "/api/branches", "/api/counterparty/settings", "/docs/"] {
            assert_eq!(get(path).await.status, 404, "{path}: no surface is served there");
        }
        worker.stop().await;
    }
}

#[test]
fn panels_of_the_dashboard_have_titles_and_queries() {
    let dashboard: Value = serde_json::from_str(&file("monitoring/dashboard.json")).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    assert!(panels.len() >= 10);
    for panel in panels {
        assert!(panel["title"].is_string(), "{panel}");
        let targets = panel["targets"].as_array().unwrap();
        let asks = |target: &Value| target["expr"].as_str().is_some_and(|expr| expr.contains("kontor_"));
        assert!(!targets.is_empty() && targets.iter().all(asks), "{panel}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_running_process_is_asked_for_its_health() {
    let environment = ProcessEnvironment::open(TestDatabase::fresh(Kind::Sqlite), 1.0).await;
    let service = environment.serve().await;
    let reported = String::from_utf8(environment.run(&["health", "--ready"]).stdout).unwrap();
    assert!(reported.contains("\"worker\":\"ok\""), "{reported}");
    let address = lasting_address();
    let shown = address.to_string();
    let mut worker = environment.spawn(&["worker", "--monitoring", &shown]);
    environment.ready_at(address, &mut worker).await;
    environment.run(&["health", "--address", &shown]);
    for process in [service, worker] {
        process.terminate();
        process.ended().await;
    }
    for arguments in [&["health"][..], &["health", "--address", &shown]] {
        let gone = environment.command(arguments).output().unwrap();
        assert_eq!(gone.status.code(), Some(1), "{gone:?}");
    }
}
