//! Imports by real processes: killed and resumed, and on the command line.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use kontor_adapter_diesel::testing::stays;
use kontor_adapter_diesel::{database_tests, retry_until};
use reqwest::Method;
use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};

use crate::owner_client::OwnerClient;
use crate::process::{PATIENCE, ProcessEnvironment};
use crate::support::send;

const ROWS: usize = 12_000;
/// Ends the lease of the dead process.
const TIME_PASSES: [&str; 1] = ["UPDATE jobs SET leased_until = '2000-01-01 00:00:00' WHERE leased_until IS NOT NULL"];

fn cards(rows: usize) -> String {
    let mut text = "article;name;category;price\n".to_owned();
    for row in 0..rows {
        writeln!(text, "A-{row};Item {row};Root / Branch {};{row}", row % 9).unwrap();
    }
    text
}

async fn job(owner_client: &OwnerClient, id: &Value) -> Value {
    send(owner_client.request(Method::GET, &format!("/api/jobs/{id}"))).await.expect(200)["job"].clone()
}

/// Waits until a job has made this progress.
async fn until(owner_client: &OwnerClient, id: &Value, far: impl Fn(&Value) -> bool) -> Value {
    let patience = Instant::now() + PATIENCE;
    loop {
        let job = job(owner_client, id).await;
        if far(&job) {
            return job;
        }
        retry_until!(patience, "{job}");
    }
}

database_tests! {
    async fn a_killed_import_goes_on_where_it_was(db: TestDatabase) {
        let environment = ProcessEnvironment::open(db, 1.0).await;
        let mut process = environment.serve().await;
        let owner_client = OwnerClient::sign_in(&environment, environment.create_project("owner")).await;
        let form = Form::new().part("file", Part::text(cards(ROWS)).file_name("cards.csv"));
        let queued = send(owner_client.request(Method::POST, "/api/nomenclatures/import").multipart(form)).await.expect(202);
        let id = &queued["job"]["id"];
        let mut kills = 0;
        for (phase, rows) in [("checking", 1_000), ("writing", 2_000), ("writing", 6_000)] {
            let seen = until(&owner_client, id, |job| {
                job["finished_at"].is_string() || job["phase"] == "writing" && phase == "checking"
                    || job["phase"] == phase && job["done_rows"].as_u64().unwrap() >= rows
            })
            .await;
            process.kill();
            kills += u32::from(seen["finished_at"].is_null());
            let left = environment.number("SELECT done_rows AS id FROM jobs").await;
            if environment.number("SELECT count(*) AS id FROM jobs WHERE phase = 'writing'").await == 1 {
                assert_eq!(environment.number("SELECT count(*) AS id FROM nomenclatures").await, left, "rows and checkpoint are one commit");
            }
            environment.execute(&TIME_PASSES).await;
            process = environment.serve().await;
        }
        assert!(kills >= 2, "the import was over too soon");
        let job = until(&owner_client, id, |job| job["finished_at"].is_string()).await;
        assert_eq!((&job["status"], &job["created"], &job["updated"]), (&json!("succeeded"), &json!(ROWS), &json!(0)), "{job}");
        assert_eq!(environment.number("SELECT count(*) AS id FROM nomenclatures").await, i64::try_from(ROWS).unwrap());
        assert_eq!(environment.number("SELECT max(version) AS id FROM nomenclatures").await, 1, "nothing was written twice");
        process.terminate();
        assert!(process.ended().await.success());
    }

    async fn an_interrupted_import_of_the_command_line_is_canceled(db: TestDatabase) {
        let environment = ProcessEnvironment::open(db, 1.0).await;
        let project = environment.create_project("owner")["project_id"].to_string();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("cards.csv").to_str().unwrap().to_owned();
        std::fs::write(&file, cards(60_000)).unwrap();
        let import = || environment.spawn(&["import", "nomenclatures", &file, "--project", &project]);
        let so_far = async |statement: &str| {
            let patience = Instant::now() + PATIENCE;
            while environment.number(statement).await == 0 {
                retry_until!(patience, "{statement}");
            }
        };
        let process = import();
        so_far("SELECT count(*) AS id FROM nomenclatures").await;
        process.interrupt();
        assert_eq!(process.ended().await.code(), Some(1));
        assert_eq!(environment.number("SELECT count(*) AS id FROM jobs WHERE state = 'canceled' AND file_place IS NULL").await, 1);
        assert!(environment.number("SELECT count(*) AS id FROM nomenclatures").await < 60_000);

        // Another import is queued first and cannot be read. The worker ends it, not this command.
        environment.execute(&["INSERT INTO jobs (project_id, kind, state, phase, dry_run, partial, file_place, file_bytes, done_rows, \
            checkpoint, created_count, updated_count, unchanged_count, skipped_count, problems_count, ignored_columns, tries, created_at) \
            SELECT id, 'nomenclatures_import', 'queued', 'checking', FALSE, FALSE, 'gone', 1, 0, 0, 0, 0, 0, 0, 0, '[]', 0, \
            '2026-01-01 00:00:00' FROM projects"]).await;
        std::fs::write(&file, cards(10)).unwrap();
        let mut process = import();
        so_far("SELECT count(*) - 2 AS id FROM jobs").await;
        let waiting = "SELECT count(*) AS id FROM jobs WHERE file_place = 'gone' AND state = 'queued'";
        stays(Duration::from_secs(2), "this command leaves it", async || environment.number(waiting).await == 1).await;
        process.must_run();
        environment.execute(&["UPDATE jobs SET state = 'canceled', file_place = NULL WHERE file_place = 'gone'"]).await;
        assert!(process.ended().await.success(), "{}", environment.log());

        // A waiting job is canceled, too.
        environment.execute(&["UPDATE jobs SET state = 'queued', file_place = 'gone' WHERE id = (SELECT max(id) FROM jobs)"]).await;
        let process = import();
        so_far("SELECT count(*) - 3 AS id FROM jobs").await;
        process.interrupt();
        assert_eq!(process.ended().await.code(), Some(1));
        assert_eq!(environment.number("SELECT count(*) AS id FROM jobs WHERE state = 'queued' AND file_place <> 'gone'").await, 0);
    }

    async fn the_command_line_imports_and_exports(db: TestDatabase) {
        let environment = ProcessEnvironment::open(db, 1.0).await;
        let project = environment.create_project("owner")["project_id"].to_string();
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let import = |kind: &str, file: &str, more: &[&str]| {
            let arguments = [&["import", kind, file, "--project", &project, "--json"], more].concat();
            let output = environment.command(&arguments).output().unwrap();
            let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
            (output.status.code().unwrap(), report, String::from_utf8(output.stderr).unwrap())
        };
        let good = path("cards.csv");
        std::fs::write(&good, cards(1_500)).unwrap();
        let (code, report, printed) = import("nomenclatures", &good, &["--dry-run"]);
        assert_eq!((code, &report["created"]), (0, &json!(1_500)), "{printed}");
        assert_eq!(environment.number("SELECT count(*) AS id FROM nomenclatures").await, 0);
        let (code, report, printed) = import("nomenclatures", &good, &[]);
        assert_eq!((code, &report["created"], &report["status"]), (0, &json!(1_500), &json!("succeeded")), "{printed}");

        let bad = path("bad.csv");
        std::fs::write(&bad, "article;name;price\nB-1;Mug;1\nB-2;;1\n").unwrap();
        let (code, report, _) = import("nomenclatures", &bad, &[]);
        assert_eq!((code, &report["status"], &report["created"]), (2, &json!("failed"), &json!(0)));
        let sheet = std::fs::read_to_string(format!("{bad}.errors.csv")).unwrap();
        assert_eq!(sheet.trim_start_matches('\u{feff}'), "row,column,reason\n3,name,is required for a new item\n");
        let (code, report, _) = import("nomenclatures", &bad, &["--skip-errors"]);
        assert_eq!((code, &report["status"], &report["created"]), (2, &json!("succeeded"), &json!(1)));
        let (code, _, printed) = import("nomenclatures", &path("none.csv"), &[]);
        assert!(code == 1 && printed.contains("none.csv"), "{code} {printed}");
        let stock = path("stock.csv");
        std::fs::write(&stock, "article;warehouse;quantity\nA-1;Nowhere;1\n").unwrap();
        assert_eq!(import("stock", &stock, &[]).0, 2);
        let missing = environment.command(&["import", "stock", &stock, "--project", "999"]).output().unwrap();
        assert!(missing.status.code() == Some(1), "{missing:?}");

        for name in ["all.csv", "all.xlsx"] {
            let all = path(name);
            let output = environment.run(&["export", "nomenclatures", &all, "--project", &project]);
            assert!(String::from_utf8(output.stdout).unwrap().starts_with("1501 rows"));
            let (code, report, printed) = import("nomenclatures", &all, &[]);
            assert_eq!((code, &report["unchanged"]), (0, &json!(1_501)), "{printed}");
        }
        assert_eq!(environment.number("SELECT count(*) AS id FROM jobs WHERE file_place IS NOT NULL").await, 0, "no file stays");
    }
}
