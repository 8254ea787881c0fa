//! Imports in the background over HTTP.

use std::time::{Duration, Instant};

use kontor::config::Config;
use kontor::instance::Roles;
use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::TestDatabase;
use reqwest::Method;
use serde_json::{Value, json};

use crate::office::Office;
use crate::process::PATIENCE;
use crate::support::{TestServer, send};

const IMPORT: &str = "/api/nomenclatures/import";
const UPLOAD: &str = "/api/inventories/upload";
const JOB: (&str, &str) = ("async", "1");

fn cards(count: usize) -> Vec<u8> {
    let rows: Vec<String> = (0..count).map(|n| format!("A-{n};Item {n};{n}")).collect();
    format!("article;name;price\n{}\n", rows.join("\n")).into_bytes()
}

/// An office with a worker.
async fn busy(db: TestDatabase, change: impl FnOnce(&mut Config)) -> Office {
    let server = TestServer::start_as(db, Roles::Both, change).await;
    let project = server.project().await;
    let owner = server.owner(&project).await;
    Office { server, project, owner }
}

impl Office {
    async fn queue(&self, path: &str, file: Vec<u8>, texts: &[(&'static str, &'static str)]) -> i64 {
        let queued = self.upload(path, file, texts).await.expect(202);
        assert!(["queued", "running"].contains(&queued["job"]["status"].as_str().unwrap()), "{queued}");
        queued["job"]["id"].as_i64().unwrap()
    }

    async fn job(&self, id: i64) -> Value {
        self.get(&format!("/api/jobs/{id}")).await.expect(200)["job"].clone()
    }

    /// The job when it is over.
    async fn over(&self, id: i64) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let job = self.job(id).await;
            if !job["finished_at"].is_null() {
                return job;
            }
            assert!(Instant::now() < until, "{job}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn errors(&self, id: i64) -> String {
        self.get(&format!("/api/jobs/{id}/errors?format=csv")).await.text.trim_start_matches('\u{feff}').to_owned()
    }

    async fn items(&self) -> i64 {
        self.get("/api/nomenclatures").await.expect(200)["nomenclaturesCount"].as_i64().unwrap()
    }
}

database_tests! {
    async fn an_import_becomes_a_job_when_it_is_asked_for(db: TestDatabase) {
        let office = busy(db, |_| {}).await;
        let id = office.queue(IMPORT, cards(1_200), &[JOB]).await;
        let job = office.over(id).await;
        assert_eq!((&job["status"], &job["kind"], &job["phase"]), (&json!("succeeded"), &json!("nomenclatures_import"), &json!("writing")));
        assert_eq!((&job["total_rows"], &job["done_rows"], &job["created"]), (&json!(1_200), &json!(1_200), &json!(1_200)));
        assert_eq!((&job["file_name"], &job["errors_total"], &job["message"]), (&json!("sheet"), &json!(0), &Value::Null));
        assert!(job["user_id"].is_i64() && !job["started_at"].is_null(), "{job}");
        assert_eq!(office.items().await, 1_200);
        assert_eq!(office.errors(id).await, "row,column,reason\n");
        let again = office.over(office.queue(IMPORT, cards(1_200), &[JOB]).await).await;
        assert_eq!((&again["unchanged"], &again["created"]), (&json!(1_200), &json!(0)));
        let ended = office.post(&format!("/api/jobs/{id}/cancel"), json!({})).await.expect(409);
        assert!(ended["message"].as_str().unwrap().contains("ended"));
        let listed = office.get("/api/jobs").await.expect(200);
        assert_eq!((&listed["jobsCount"], &listed["jobs"][1]["id"]), (&json!(2), &json!(id)));
        assert_eq!(office.get("/api/jobs?kind[]=inventories_upload").await.expect(200)["jobsCount"], 0);
        assert_eq!(office.get("/api/jobs?status=succeeded&per_page=1").await.expect(200)["jobs"].as_array().unwrap().len(), 1);
    }

    async fn what_is_large_becomes_a_job_by_itself(db: TestDatabase) {
        let office = busy(db, |config| {
            config.import_inline_rows = 10;
            config.import_inline_bytes = 1_000;
        })
        .await;
        assert_eq!(office.upload(IMPORT, cards(10), &[]).await.expect(200)["created"], 10);
        assert_eq!(office.over(office.queue(IMPORT, cards(11), &[]).await).await["created"], 1);
        let mut padded = b"article;name;price;description\nB-1;Mug;1;".to_vec();
        padded.extend(vec![b'x'; 1_000]);
        assert_eq!(office.over(office.queue(IMPORT, padded, &[]).await).await["created"], 1);
    }

    async fn a_dry_run_changes_nothing(db: TestDatabase) {
        let office = busy(db, |_| {}).await;
        let dry = ("dry_run", "1");
        let report = office.upload(IMPORT, cards(3), &[dry]).await.expect(200);
        assert_eq!((&report["created"], &report["message"]), (&json!(3), &json!("Nothing was imported: this was a dry run.")));
        let job = office.over(office.queue(IMPORT, cards(3), &[dry, JOB]).await).await;
        assert_eq!((&job["status"], &job["phase"], &job["created"]), (&json!("succeeded"), &json!("checking"), &json!(3)));
        let wrong = b"article;name;price\nA-1;;1\nA-2;Mug;1\n".to_vec();
        assert_eq!(office.upload(IMPORT, wrong.clone(), &[dry]).await.expect(422)["rows_total"], 1);
        let report = office.upload(IMPORT, wrong, &[dry, ("partial", "1")]).await.expect(200);
        assert_eq!((&report["created"], &report["skipped"]), (&json!(1), &json!(1)));
        assert_eq!(office.items().await, 0);
        let stock = b"article;warehouse;quantity\nA-1;Main;1\n".to_vec();
        office.upload(UPLOAD, stock.clone(), &[dry]).await.expect(422);
        let job = office.over(office.queue(UPLOAD, stock, &[dry, JOB]).await).await;
        assert_eq!((&job["status"], &job["skipped"]), (&json!("succeeded"), &json!(1)));
    }

    async fn the_error_sheet_names_rows_and_columns(db: TestDatabase) {
        let office = busy(db, |_| {}).await;
        let sheet = "article,name,price,country\nA-1,Mug,1.00,\nA-2,,x,\nA-3,\"Cup\",1,Nowhere\n".as_bytes().to_vec();
        let failed = office.over(office.queue(IMPORT, sheet.clone(), &[JOB]).await).await;
        assert_eq!((&failed["status"], &failed["message"]), (&json!("failed"), &json!("rows are wrong; nothing was imported")));
        assert_eq!(office.items().await, 0);
        let expected = "row,column,reason\n3,price,must be a decimal number\n4,country,there is no such record\n";
        assert_eq!(office.errors(failed["id"].as_i64().unwrap()).await, expected);
        let partial = office.over(office.queue(IMPORT, sheet, &[JOB, ("partial", "1")]).await).await;
        assert_eq!((&partial["status"], &partial["created"], &partial["skipped"]), (&json!("succeeded"), &json!(1), &json!(2)));
        assert_eq!(office.errors(partial["id"].as_i64().unwrap()).await, expected);
        let path = format!("/api/jobs/{}/errors", partial["id"]);
        let workbook = send(office.server.as_staff(&office.owner, Method::GET, &path)).await;
        assert_eq!(workbook.headers["content-type"], "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet");
        send(office.server.as_staff(&office.owner, Method::GET, &format!("{path}?format=pdf"))).await.expect_invalid(&["format"]);
        let broken = office.over(office.queue(IMPORT, b"%PDF-1.7".to_vec(), &[JOB]).await).await;
        assert_eq!((&broken["status"], &broken["message"]), (&json!("failed"), &json!("the file must be a spreadsheet: an xlsx or csv file")));
    }

    async fn wrong_wishes_are_named_together(db: TestDatabase) {
        let office = busy(db, |_| {}).await;
        let wrong = [("partial", "perhaps"), ("dry_run", "2"), ("async", "yes")];
        for path in [IMPORT, UPLOAD] {
            office.upload(path, cards(1), &wrong).await.expect_invalid(&["partial", "dry_run", "async"]);
        }
        let query = "/api/jobs?kind[]=x&status=y&page=0&per_page=101&colour=red";
        office.get(query).await.expect_invalid(&["kind.0", "status", "page", "per_page", "colour"]);
        for path in ["/api/jobs/999999999", "/api/jobs/999999999/errors", "/api/jobs/abc"] {
            office.get(path).await.expect(404);
        }
        office.post("/api/jobs/999999999/cancel", json!({})).await.expect(404);
    }

    async fn a_job_shows_itself_to_whom_its_kind_is_open(db: TestDatabase) {
        let office = busy(db, |_| {}).await;
        let id = office.queue(IMPORT, cards(2), &[JOB]).await;
        office.over(id).await;
        let (job, errors, cancel) = (format!("/api/jobs/{id}"), format!("/api/jobs/{id}/errors"), format!("/api/jobs/{id}/cancel"));
        for (permissions, reads, cancels) in [
            (vec!["view-nomenclatures"], 200, 403),
            (vec!["create-nomenclatures", "edit-nomenclatures"], 200, 409),
            (vec!["view-inventories", "edit-inventories"], 403, 403),
            (vec![], 403, 403),
        ] {
            let get = |path| office.as_one_who_may(&permissions, Method::GET, path, json!({}));
            get(&job).await.expect(reads);
            assert_eq!(get(&errors).await.status.as_u16(), reads, "{permissions:?}");
            let listed = get("/api/jobs").await.expect(200);
            assert_eq!(listed["jobsCount"], i32::from(reads == 200), "{permissions:?}");
            office.as_one_who_may(&permissions, Method::POST, &cancel, json!({})).await.expect(cancels);
        }
        for (method, path) in [(Method::GET, &job), (Method::GET, &errors), (Method::POST, &cancel)] {
            office.as_stranger(method, path, json!({})).await.expect(403);
        }
        assert_eq!(office.as_stranger(Method::GET, "/api/jobs", json!({})).await.expect(200)["jobsCount"], 0);
    }

    async fn a_waiting_job_is_canceled_and_two_of_a_project_take_turns(db: TestDatabase) {
        let office = busy(db, |_| {}).await;
        let first = office.queue(IMPORT, cards(6_000), &[JOB]).await;
        let second = office.queue(IMPORT, cards(6_000), &[JOB]).await;
        let third = office.queue(IMPORT, cards(10), &[JOB]).await;
        let canceled = office.post(&format!("/api/jobs/{third}/cancel"), json!({})).await.expect(200);
        assert_eq!((&canceled["job"]["status"], &canceled["job"]["done_rows"]), (&json!("canceled"), &json!(0)));
        let (first, second) = (office.over(first).await, office.over(second).await);
        assert_eq!((&first["created"], &second["unchanged"]), (&json!(6_000), &json!(6_000)));
        assert!(first["finished_at"].as_str() <= second["started_at"].as_str(), "{first} {second}");
        assert_eq!(office.job(third).await["status"], "canceled");
    }

    async fn nobody_makes_a_csv_export_that_nobody_takes(db: TestDatabase) {
        let office = Office::open(db).await;
        // 40 MB: more than what lies in sockets on the way.
        let insert = format!(
            "INSERT INTO nomenclatures (project_id, article, article_key, name, name_key, kind_id, price, description, \
             is_subscription, wholesale, pieces_per_pack, quantity_pack, views_count, version, created_at, updated_at) \
             WITH RECURSIVE counted(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < 20000) \
             SELECT {}, 'A-' || n, 'a-' || n, 'Item', 'item', 2, 0, '{}', FALSE, FALSE, 1, 1, 0, 1, \
             '2026-01-01 00:00:00', '2026-01-01 00:00:00' FROM counted",
            office.project.id,
            "x".repeat(2_000)
        );
        office.server.execute(&insert).await;
        let export = || office.server.as_staff(&office.owner, Method::POST, "/api/nomenclatures/export?format=csv").send();
        let before = office.server.db.database.statements();
        let whole = export().await.unwrap();
        assert!(whole.content_length().is_none(), "sent as it is made");
        let text = whole.text().await.unwrap();
        assert_eq!(text.lines().count(), 20_001);
        let spent = office.server.db.database.statements() - before;

        let before = office.server.db.database.statements();
        let mut left = export().await.unwrap();
        left.chunk().await.unwrap().unwrap();
        drop(left);
        let mut last = 0;
        // Over when nothing more happens for a second; the worker's own statements are few.
        loop {
            let now = office.server.db.database.statements() - before;
            if now - last < 40 {
                break;
            }
            last = now;
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        assert!(last < spent / 2, "{last} statements of {spent}");
    }
}
