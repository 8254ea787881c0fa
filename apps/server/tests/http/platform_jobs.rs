//! Imports in the background over HTTP.

use std::time::{Duration, Instant};

use kontor::config::Config;
use kontor::instance::Roles;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_adapter_diesel::{database_tests, retry_until};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::process::PATIENCE;
use crate::project_fixture::ProjectFixture;
use crate::support::{TestServer, send};

const IMPORT: &str = "/api/nomenclatures/import";
const UPLOAD: &str = "/api/inventories/upload";
const JOB: (&str, &str) = ("async", "1");

fn cards(count: usize) -> Vec<u8> {
    let rows: Vec<String> = (0..count).map(|n| format!("A-{n};Item {n};{n}")).collect();
    format!("article;name;price\n{}\n", rows.join("\n")).into_bytes()
}

/// Starts a service with a worker.
pub async fn busy(db: TestDatabase, change: impl FnOnce(&mut Config)) -> ProjectFixture {
    let server = TestServer::start_as(db, Roles::Both, change).await;
    let project = server.project().await;
    let owner = server.owner(&project).await;
    ProjectFixture { server, project, owner }
}

impl ProjectFixture {
    async fn queue(&self, path: &str, file: Vec<u8>, texts: &[(&'static str, &'static str)]) -> i64 {
        let queued = self.upload(path, file, texts).await.expect(202);
        assert!(["queued", "running"].contains(&queued["job"]["status"].as_str().unwrap()), "{queued}");
        queued["job"]["id"].as_i64().unwrap()
    }

    pub async fn job(&self, id: i64) -> Value {
        self.get(&format!("/api/jobs/{id}")).await.expect(200)["job"].clone()
    }

    /// Waits until the job has ended and returns it.
    pub async fn over(&self, id: i64) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let job = self.job(id).await;
            if !job["finished_at"].is_null() {
                return job;
            }
            retry_until!(until, "{job}");
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
        let fixture = busy(db, |_| {}).await;
        let id = fixture.queue(IMPORT, cards(1_200), &[JOB]).await;
        let job = fixture.over(id).await;
        assert_eq!((&job["status"], &job["kind"], &job["phase"]), (&json!("succeeded"), &json!("nomenclatures_import"), &json!("writing")));
        assert_eq!((&job["total_rows"], &job["done_rows"], &job["created"]), (&json!(1_200), &json!(1_200), &json!(1_200)));
        assert_eq!((&job["file_name"], &job["errors_total"], &job["message"]), (&json!("sheet"), &json!(0), &Value::Null));
        assert!(job["user_id"].is_i64() && !job["started_at"].is_null(), "{job}");
        assert_eq!(fixture.items().await, 1_200);
        assert_eq!(fixture.errors(id).await, "row,column,reason\n");
        let again = fixture.over(fixture.queue(IMPORT, cards(1_200), &[JOB]).await).await;
        assert_eq!((&again["unchanged"], &again["created"]), (&json!(1_200), &json!(0)));
        let ended = fixture.post(&format!("/api/jobs/{id}/cancel"), json!({})).await.expect(409);
        assert!(ended["message"].as_str().unwrap().contains("ended"));
        let listed = fixture.get("/api/jobs").await.expect(200);
        assert_eq!((&listed["jobsCount"], &listed["jobs"][1]["id"]), (&json!(2), &json!(id)));
        assert_eq!(fixture.get("/api/jobs?kind[]=inventories_upload").await.expect(200)["jobsCount"], 0);
        assert_eq!(fixture.get("/api/jobs?status=succeeded&per_page=1").await.expect(200)["jobs"].as_array().unwrap().len(), 1);
    }

    async fn large_imports_become_jobs(db: TestDatabase) {
        let fixture = busy(db, |config| {
            config.import_inline_rows = 10;
            config.import_inline_bytes = 1_000;
        })
        .await;
        assert_eq!(fixture.upload(IMPORT, cards(10), &[]).await.expect(200)["created"], 10);
        assert_eq!(fixture.over(fixture.queue(IMPORT, cards(11), &[]).await).await["created"], 1);
        let mut padded = b"article;name;price;description\nB-1;Mug;1;".to_vec();
        padded.extend(vec![b'x'; 1_000]);
        assert_eq!(fixture.over(fixture.queue(IMPORT, padded, &[]).await).await["created"], 1);
    }

    async fn a_dry_run_changes_nothing(db: TestDatabase) {
        let fixture = busy(db, |_| {}).await;
        let dry = ("dry_run", "1");
        let report = fixture.upload(IMPORT, cards(3), &[dry]).await.expect(200);
        assert_eq!((&report["created"], &report["message"]), (&json!(3), &json!("Nothing was imported: this was a dry run.")));
        let job = fixture.over(fixture.queue(IMPORT, cards(3), &[dry, JOB]).await).await;
        assert_eq!((&job["status"], &job["phase"], &job["created"]), (&json!("succeeded"), &json!("checking"), &json!(3)));
        let shown = fixture.get(&format!("/api/jobs/{}/rows", job["id"])).await.expect(200);
        assert_eq!(shown, json!({ "rows": report["rows"], "rowsCount": 3 }), "as at once");
        assert_eq!((&shown["rows"][0]["action"], &shown["rows"][0]["fields"]["name"]), (&json!("create"), &json!("Item 0")));
        let wrong = b"article;name;price\nA-1;;1\nA-2;Mug;1\n".to_vec();
        assert_eq!(fixture.upload(IMPORT, wrong.clone(), &[dry]).await.expect(422)["rows_total"], 1);
        let report = fixture.upload(IMPORT, wrong, &[dry, ("partial", "1")]).await.expect(200);
        assert_eq!((&report["created"], &report["skipped"]), (&json!(1), &json!(1)));
        assert_eq!(fixture.items().await, 0);
        let stock = b"article;warehouse;quantity\nA-1;Main;1\n".to_vec();
        fixture.upload(UPLOAD, stock.clone(), &[dry]).await.expect(422);
        let job = fixture.over(fixture.queue(UPLOAD, stock, &[dry, JOB]).await).await;
        assert_eq!((&job["status"], &job["skipped"]), (&json!("succeeded"), &json!(1)));
        let shown = fixture.get(&format!("/api/jobs/{}/rows", job["id"])).await.expect(200);
        assert_eq!((&shown["rows"][0]["action"], &shown["rows"][0]["warehouse"]), (&json!("skip"), &json!("Main")));
    }

    async fn stock_that_a_job_brings_names_the_job_in_its_history(db: TestDatabase) {
        let fixture = busy(db, |_| {}).await;
        fixture.warehouse("Main").await;
        fixture.upload(IMPORT, cards(1), &[]).await.expect(200);
        let stock = |pieces: u32| format!("article;warehouse;quantity;price\nA-0;Main;{pieces};2\n").into_bytes();
        let first = fixture.over(fixture.queue(UPLOAD, stock(3), &[JOB]).await).await;
        let second = fixture.over(fixture.queue(UPLOAD, stock(4), &[JOB]).await).await;
        fixture.upload(UPLOAD, stock(5), &[]).await.expect(200);
        let record = fixture.get("/api/inventories").await.expect(200)["inventories"][0]["id"].clone();
        let reported = fixture.get(&format!("/api/inventories/{record}/history")).await.expect(200);
        let lines = reported["histories"].as_array().unwrap();
        let jobs: Vec<&Value> = lines.iter().map(|line| &line["job_id"]).collect();
        assert_eq!(jobs, [&Value::Null, &second["id"], &first["id"]]);
        for line in lines {
            assert_eq!((&line["reason"], &line["order_id"]), (&json!("upload"), &Value::Null), "{line}");
            assert_eq!(line["user"]["id"], first["user_id"], "{line}");
        }
    }

    async fn the_error_sheet_names_rows_and_columns(db: TestDatabase) {
        let fixture = busy(db, |_| {}).await;
        let sheet = "article,name,price,country\nA-1,Mug,1.00,\nA-2,,x,\nA-3,\"Cup\",1,Nowhere\n".as_bytes().to_vec();
        let failed = fixture.over(fixture.queue(IMPORT, sheet.clone(), &[JOB]).await).await;
        assert_eq!((&failed["status"], &failed["message"]), (&json!("failed"), &json!("rows are wrong; nothing was imported")));
        assert_eq!(fixture.items().await, 0);
        let expected = "row,column,reason\n3,price,must be a decimal number\n4,country,there is no such record\n";
        assert_eq!(fixture.errors(failed["id"].as_i64().unwrap()).await, expected);
        let listed = fixture.get(&format!("/api/jobs/{}/row_errors?per_page=1&page=2", failed["id"])).await.expect(200);
        assert_eq!(listed["rowErrors"], json!([{ "row": 4, "column": "country", "reason": "there is no such record" }]));
        assert_eq!((&listed["rowErrorsCount"], &listed["pagination"]["last_page"]), (&json!(2), &json!(2)));
        fixture.get(&format!("/api/jobs/{}/row_errors?page=0&x=1", failed["id"])).await.expect_invalid(&["page", "x"]);
        let partial = fixture.over(fixture.queue(IMPORT, sheet, &[JOB, ("partial", "1")]).await).await;
        assert_eq!((&partial["status"], &partial["created"], &partial["skipped"]), (&json!("succeeded"), &json!(1), &json!(2)));
        assert_eq!(fixture.errors(partial["id"].as_i64().unwrap()).await, expected);
        let path = format!("/api/jobs/{}/errors", partial["id"]);
        let workbook = send(fixture.server.as_staff(&fixture.owner, Method::GET, &path)).await;
        assert_eq!(workbook.headers["content-type"], "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet");
        send(fixture.server.as_staff(&fixture.owner, Method::GET, &format!("{path}?format=pdf"))).await.expect_invalid(&["format"]);
        let broken = fixture.over(fixture.queue(IMPORT, b"%PDF-1.7".to_vec(), &[JOB]).await).await;
        assert_eq!((&broken["status"], &broken["message"]), (&json!("failed"), &json!("the file must be a spreadsheet: an xlsx or csv file")));
    }

    async fn wrong_edits_are_named_together(db: TestDatabase) {
        let fixture = busy(db, |_| {}).await;
        let wrong = [("partial", "perhaps"), ("dry_run", "2"), ("async", "yes")];
        for path in [IMPORT, UPLOAD] {
            fixture.upload(path, cards(1), &wrong).await.expect_invalid(&["partial", "dry_run", "async"]);
        }
        let query = "/api/jobs?kind[]=x&status=y&page=0&per_page=101&colour=red";
        fixture.get(query).await.expect_invalid(&["kind.0", "status", "page", "per_page", "colour"]);
        let absent = "/api/jobs/999999999";
        for path in [absent, "/api/jobs/abc"].into_iter().flat_map(|job| ["", "/errors", "/row_errors", "/rows"].map(|part| format!("{job}{part}"))) {
            let path = path.as_str();
            fixture.get(path).await.expect(404);
        }
        fixture.post("/api/jobs/999999999/cancel", json!({})).await.expect(404);
    }

    async fn unknown_and_repeated_parts_are_named(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        for path in [IMPORT, UPLOAD] {
            fixture.upload(path, cards(1), &[("dryrun", "1")]).await.expect_invalid(&["dryrun"]);
            fixture.upload(path, cards(1), &[("dry_run", "1"), ("dry_run", "0")]).await.expect_invalid(&["dry_run"]);
            let several = [("Partial", "1"), ("async", "perhaps")];
            fixture.upload(path, cards(1), &several).await.expect_invalid(&["Partial", "async"]);
        }
        assert_eq!((fixture.items().await, fixture.get("/api/jobs").await.expect(200)["jobsCount"].as_i64()), (0, Some(0)));
    }

    async fn jobs_are_refused_before_the_upload_while_too_many_wait(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        for _ in 0..20 {
            fixture.queue(IMPORT, cards(1), &[JOB]).await;
        }
        let refused = fixture.upload(IMPORT, cards(1), &[JOB]).await.expect(409);
        assert!(refused["message"].as_str().unwrap().contains("20 jobs"), "{refused}");
        assert_eq!(fixture.upload(IMPORT, cards(1), &[]).await.expect(200)["created"], 1, "small ones need no turn");
        let address = fixture.server.url.strip_prefix("http://").unwrap();
        let head = format!(
            "POST {IMPORT} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {}\r\n\
             Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 900000000\r\n\r\n",
            fixture.owner
        );
        let mut connection = TcpStream::connect(address).await.unwrap();
        connection.write_all(head.as_bytes()).await.unwrap();
        let mut answer = [0; 12];
        tokio::time::timeout(PATIENCE, connection.read_exact(&mut answer)).await.unwrap().unwrap();
        assert_eq!(answer, *b"HTTP/1.1 409");
    }

    async fn the_list_has_the_position_of_its_page(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        for _ in 0..3 {
            fixture.queue(IMPORT, cards(1), &[JOB]).await;
        }
        let listed = fixture.get("/api/jobs?per_page=2&page=2").await.expect(200);
        let expected = json!({ "total": 3, "per_page": 2, "current_page": 2, "last_page": 2, "from": 3, "to": 3 });
        assert_eq!(listed["pagination"], expected);
    }

    async fn control_characters_are_problems_of_their_rows(db: TestDatabase) {
        let fixture = busy(db, |_| {}).await;
        let mut sheet = cards(1_500);
        sheet.extend(b"B-1;Mu\0g;1\nB-2;\x1b[31mRed;1\n");
        let failed = fixture.over(fixture.queue(IMPORT, sheet.clone(), &[JOB]).await).await;
        assert_eq!((&failed["status"], &failed["message"]), (&json!("failed"), &json!("rows are wrong; nothing was imported")));
        let expected = "row,column,reason\n1502,name,must not contain control characters; there is a U+0000\n\
            1503,name,must not contain control characters; there is a U+001B\n";
        assert_eq!(fixture.errors(failed["id"].as_i64().unwrap()).await, expected);
        assert_eq!(fixture.upload(IMPORT, sheet, &[("partial", "1")]).await.expect(200)["skipped"], 2);
    }

    async fn texts_that_are_many_times_in_a_small_file_become_a_job(db: TestDatabase) {
        let fixture = busy(db, |_| {}).await;
        let mut book = rust_xlsxwriter::Workbook::new();
        let sheet = book.add_worksheet();
        let long = "x".repeat(30_000);
        for (column, title) in (0..).zip(["article", "name", "country", "description"]) {
            sheet.write_string(0, column, title).unwrap();
        }
        for row in 1..=1_200 {
            sheet.write_string(row, 0, format!("A-{row}")).unwrap();
            sheet.write_string(row, 1, "Mug").unwrap();
            sheet.write_string(row, 3, &long).unwrap();
        }
        let file = book.save_to_buffer().unwrap();
        assert!(file.len() < 100_000, "{}", file.len());
        let job = fixture.over(fixture.queue(IMPORT, file, &[]).await).await;
        assert_eq!((&job["status"], &job["created"]), (&json!("succeeded"), &json!(1_200)));
    }

    async fn a_job_is_shown_to_callers_with_access_to_its_kind(db: TestDatabase) {
        let fixture = busy(db, |_| {}).await;
        let id = fixture.queue(IMPORT, cards(2), &[JOB]).await;
        fixture.over(id).await;
        let [job, errors, listed, rows, cancel] = ["", "/errors", "/row_errors", "/rows", "/cancel"].map(|part| format!("/api/jobs/{id}{part}"));
        for (permissions, reads, cancels) in [
            (vec!["view-nomenclatures"], 200, 403),
            (vec!["create-nomenclatures", "edit-nomenclatures"], 200, 409),
            (vec!["view-inventories", "edit-inventories"], 403, 403),
            (vec![], 403, 403),
        ] {
            let get = |path| fixture.as_one_who_may(&permissions, Method::GET, path, json!({}));
            for path in [&job, &listed, &rows] {
                get(path).await.expect(reads);
            }
            assert_eq!(get(&errors).await.status.as_u16(), reads, "{permissions:?}");
            let all = get("/api/jobs").await.expect(200);
            assert_eq!(all["jobsCount"], i32::from(reads == 200), "{permissions:?}");
            fixture.as_one_who_may(&permissions, Method::POST, &cancel, json!({})).await.expect(cancels);
        }
        let reads = [&job, &errors, &listed, &rows].map(|path| (Method::GET, path));
        for (method, path) in reads.into_iter().chain([(Method::POST, &cancel)]) {
            fixture.as_outsider(method, path, json!({})).await.expect(403);
        }
        assert_eq!(fixture.as_outsider(Method::GET, "/api/jobs", json!({})).await.expect(200)["jobsCount"], 0);
    }

    async fn a_waiting_job_is_canceled_and_two_of_a_project_take_turns(db: TestDatabase) {
        let fixture = busy(db, |_| {}).await;
        let first = fixture.queue(IMPORT, cards(6_000), &[JOB]).await;
        let second = fixture.queue(IMPORT, cards(6_000), &[JOB]).await;
        let third = fixture.queue(IMPORT, cards(10), &[JOB]).await;
        let canceled = fixture.post(&format!("/api/jobs/{third}/cancel"), json!({})).await.expect(200);
        assert_eq!((&canceled["job"]["status"], &canceled["job"]["done_rows"]), (&json!("canceled"), &json!(0)));
        let (first, second) = (fixture.over(first).await, fixture.over(second).await);
        assert_eq!((&first["created"], &second["unchanged"]), (&json!(6_000), &json!(6_000)));
        assert!(first["finished_at"].as_str() <= second["started_at"].as_str(), "{first} {second}");
        assert_eq!(fixture.job(third).await["status"], "canceled");
    }

    async fn an_abandoned_csv_export_stops(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        // 40 MB: more than socket buffers hold.
        let insert = format!(
            "INSERT INTO nomenclatures (project_id, article, article_key, name, name_key, kind_id, price, description, \
             is_subscription, wholesale, pieces_per_pack, quantity_pack, views_count, version, created_at, updated_at) \
             WITH RECURSIVE counted(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < 20000) \
             SELECT {}, 'A-' || n, 'a-' || n, 'Item', 'item', 2, 0, '{}', FALSE, FALSE, 1, 1, 0, 1, \
             '2026-01-01 00:00:00', '2026-01-01 00:00:00' FROM counted",
            fixture.project.id,
            "x".repeat(2_000)
        );
        fixture.server.execute(&insert).await;
        let export = || fixture.server.as_staff(&fixture.owner, Method::POST, "/api/nomenclatures/export?format=csv").send();
        let before = fixture.server.db.database.statements();
        let whole = export().await.unwrap();
        assert!(whole.content_length().is_none(), "sent as it is made");
        let text = whole.text().await.unwrap();
        assert_eq!(text.lines().count(), 20_001);
        let spent = fixture.server.db.database.statements() - before;

        let before = fixture.server.db.database.statements();
        let mut left = export().await.unwrap();
        left.chunk().await.unwrap().unwrap();
        drop(left);
        let mut last = 0;
        // Ended when nothing happens for a second; the worker runs few statements of its own.
        loop {
            let now = fixture.server.db.database.statements() - before;
            if now - last < 40 {
                break;
            }
            last = now;
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        assert!(last < spent / 2, "{last} statements of {spent}");
    }
}
