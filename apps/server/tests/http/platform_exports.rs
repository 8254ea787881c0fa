//! Exports of stock, orders and customers over HTTP.

use std::io::Write as _;
use std::time::Instant;

use kontor::instance::Roles;
use kontor_adapter_diesel::{database_tests, retry_until};
use kontor_adapter_spreadsheet::Spreadsheets;
use kontor_catalog::spreadsheet::Cell;
use kontor_catalog::spreadsheet::ports::SheetReader;
use reqwest::Method;
use serde_json::{Value, json};

use crate::platform_jobs::busy;
use crate::process::PATIENCE;
use crate::project_fixture::ProjectFixture;
use crate::shop_fixture::ShopFixture;
use crate::support::{Answer, TestServer, send};

const STOCK: &str = "/api/inventories/export";
const ORDERS: &str = "/api/orders/export";
const CUSTOMERS: &str = "/api/counterparties/export";
const WORKBOOK: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

impl ProjectFixture {
    async fn start_export(&self, path: &str) -> i64 {
        self.post(path, json!({})).await.expect(202)["job"]["id"].as_i64().unwrap()
    }

    /// Runs an export and returns its job and the bytes of its file.
    async fn exported(&self, path: &str) -> (Value, Vec<u8>) {
        let job = self.over(self.start_export(path).await).await;
        assert_eq!(job["status"], "succeeded", "{job}");
        let file = format!("/api/jobs/{}/file", job["id"]);
        let response = self.server.as_staff(&self.owner, Method::GET, &file).send().await.unwrap();
        assert_eq!(response.status(), 200);
        let is_csv = path.contains("format=csv");
        let (media, ending) = if is_csv { ("text/csv; charset=utf-8", "csv") } else { (WORKBOOK, "xlsx") };
        assert_eq!(response.headers()["content-type"], media);
        let kind = path.split('/').nth(2).unwrap();
        let name = format!("attachment; filename=\"{kind}-{}.{ending}\"", job["id"]);
        assert_eq!(response.headers()["content-disposition"], name);
        let bytes = response.bytes().await.unwrap().to_vec();
        assert_eq!(job["file_size"], bytes.len());
        (job, bytes)
    }
}

/// Returns the texts of a file.
fn rows(bytes: &[u8]) -> Vec<Vec<String>> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let mut rows = Vec::new();
    let shown = |cell: Cell| match cell {
        Cell::Text(text) | Cell::Number { shown: text, .. } => text,
        Cell::Fault(reason) => panic!("{reason}"),
    };
    Spreadsheets::default()
        .read(file.path(), &mut |row| {
            if !row.is_none_yet() {
                rows.push(row.cells.into_iter().map(shown).collect());
            }
            Ok(())
        })
        .unwrap();
    rows
}

/// Returns the cell of the first row in a column.
fn first(rows: &[Vec<String>], column: &str) -> String {
    let place = rows[0].iter().position(|title| title == column).unwrap();
    rows[1].get(place).cloned().unwrap_or_default()
}

database_tests! {
    async fn stock_that_is_exported_and_uploaded_again_changes_nothing(db: TestDatabase) {
        let fixture = busy(db, |_| {}).await;
        let (main, far) = (fixture.warehouse("Main").await, fixture.warehouse("Far").await);
        let cards = b"article;name;price\nA-1;Mug;1\nA-2;Cup;2\n".to_vec();
        fixture.upload("/api/nomenclatures/import", cards, &[]).await.expect(200);
        let stock = b"article;warehouse;quantity;price\nA-1;Main;3;10.50\nA-2;Far;4;\n".to_vec();
        fixture.upload("/api/inventories/upload", stock, &[]).await.expect(200);
        let bare = fixture.goods("Without an article").await;
        let record = json!({ "nomenclature_id": bare, "warehouse_id": far, "quantity": 7, "price": "1.00" });
        fixture.post("/api/inventories", record).await.expect(201);
        let other_application = fixture.warehouse("main").await;
        assert_ne!(main, other_application);
        for query in ["?format=csv", "?format=xlsx", ""] {
            let (job, file) = fixture.exported(&format!("{STOCK}{query}")).await;
            assert_eq!((&job["kind"], &job["phase"], &job["done_rows"]), (&json!("inventories_export"), &json!("writing"), &json!(3)));
            assert!(job["file_expires_at"].is_string() && job["user_id"].is_i64(), "{job}");
            let found = rows(&file);
            assert_eq!(found[0], ["article", "warehouse", "quantity", "price", "name", "reserved", "available", "kontor_id"]);
            assert_eq!(found[1][..7], ["A-1".to_owned(), main.to_string(), "3".into(), found[1][3].clone(), "Mug".into(), "0".into(), "3".into()]);
            assert_eq!((found[3][0].as_str(), &found[3][7]), ("", &bare.to_string()));
            let report = fixture.upload("/api/inventories/upload", file, &[]).await.expect(200);
            assert_eq!((&report["unchanged"], &report["updated"], &report["created"]), (&json!(3), &json!(0), &json!(0)), "{report}");
            assert_eq!(report["ignored_columns"], json!(["name", "reserved", "available"]));
        }
        let listed = fixture.get("/api/jobs?kind=inventories_export").await.expect(200);
        assert_eq!(listed["jobsCount"], 3);
    }

    async fn orders_and_customers_are_exported(db: TestDatabase) {
        let shop = ShopFixture::open_as(db, Roles::Both).await;
        let name = format!("UPDATE counterparties SET first_name = '=1+1', last_name = NULL WHERE id = {}", shop.customer);
        shop.server.execute(&name).await;
        let item = shop.goods(5, 10_000).await;
        let order = shop.order(&shop.pickup(item, 2)).await.expect(201)["order"]["id"].clone();
        let owner = shop.server.owner(&shop.project).await;
        let customer = shop.customer.to_string();
        let fixture = ProjectFixture { project: shop.project.clone(), owner, server: shop.server };
        for query in ["?format=csv", "?format=xlsx"] {
            let (job, file) = fixture.exported(&format!("{ORDERS}{query}")).await;
            assert_eq!((&job["kind"], &job["total_rows"]), (&json!("orders_export"), &json!(1)));
            let found = rows(&file);
            assert_eq!(first(&found, "order_id"), order.to_string());
            assert_eq!(first(&found, "counterparty_name"), "=1+1", "it is read back as the same text");
            assert_eq!((first(&found, "quantity").as_str(), first(&found, "payment_state").as_str()), ("2", "unpaid"));
            let (job, file) = fixture.exported(&format!("{CUSTOMERS}{query}")).await;
            assert_eq!((&job["kind"], &job["total_rows"]), (&json!("counterparties_export"), &json!(1)));
            let found = rows(&file);
            assert_eq!((first(&found, "id"), first(&found, "first_name").as_str()), (customer.clone(), "=1+1"));
            assert_eq!(first(&found, "orders_count"), "1");
            let text = String::from_utf8_lossy(&file);
            assert_eq!(text.contains("'=1+1"), query == "?format=csv", "no program takes it for a formula");
        }
        let (job, _) = fixture.exported(&format!("{ORDERS}?created_to=2020-01-01")).await;
        assert_eq!((&job["total_rows"], &job["done_rows"]), (&json!(0), &json!(0)));
    }

    async fn wrong_parameters_are_named(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        for path in [STOCK, CUSTOMERS] {
            fixture.post(&format!("{path}?format=pdf"), json!({})).await.expect_invalid(&["format"]);
            fixture.post(&format!("{path}?created_from=2026-01-01"), json!({})).await.expect_invalid(&["created_from"]);
        }
        let wrong = format!("{ORDERS}?format=pdf&created_from=2026-02-02&created_to=2026-02-01");
        fixture.post(&wrong, json!({})).await.expect_invalid(&["format", "created_to"]);
        fixture.post(&format!("{ORDERS}?created_from=yesterday"), json!({})).await.expect_invalid(&["created_from"]);
        for id in ["999999999", "abc"] {
            fixture.get(&format!("/api/jobs/{id}/file")).await.expect(404);
        }
    }

    async fn an_export_is_open_to_those_who_may_view_its_records(db: TestDatabase) {
        let fixture = busy(db, |_| {}).await;
        for (path, may, other) in [
            (STOCK, "view-inventories", "view-orders"),
            (ORDERS, "view-orders", "view-counterparties"),
            (CUSTOMERS, "view-counterparties", "view-inventories"),
        ] {
            fixture.as_one_who_may(&[other], Method::POST, path, json!({})).await.expect(403);
            let queued = fixture.as_one_who_may(&[may], Method::POST, path, json!({})).await.expect(202);
            let id = fixture.over(queued["job"]["id"].as_i64().unwrap()).await["id"].clone();
            let (job, file) = (format!("/api/jobs/{id}"), format!("/api/jobs/{id}/file"));
            for (permission, status) in [(may, 200), (other, 403)] {
                for path in [&job, &file] {
                    let answer: Answer = fixture.as_one_who_may(&[permission], Method::GET, path, json!({})).await;
                    assert_eq!(answer.status.as_u16(), status, "{permission} {path}");
                }
            }
            for path in [&job, &file] {
                fixture.as_outsider(Method::GET, path, json!({})).await.expect(403);
            }
            fixture.as_outsider(Method::POST, &format!("{job}/cancel"), json!({})).await.expect(403);
            fixture.as_one_who_may(&[may], Method::POST, &format!("{job}/cancel"), json!({})).await.expect(409);
        }
    }

    async fn there_is_no_file_before_the_end_nor_of_imports_and_canceled_exports(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let id = fixture.start_export(STOCK).await;
        let answer = fixture.get(&format!("/api/jobs/{id}/file")).await.expect(409);
        assert!(answer["message"].as_str().unwrap().contains("not finished"), "{answer}");
        let canceled = fixture.post(&format!("/api/jobs/{id}/cancel"), json!({})).await.expect(200);
        assert_eq!((&canceled["job"]["status"], &canceled["job"]["file_expires_at"]), (&json!("canceled"), &Value::Null));
        fixture.get(&format!("/api/jobs/{id}/file")).await.expect(404);
        let import = fixture.upload("/api/nomenclatures/import", b"article;name\nA-1;Mug\n".to_vec(), &[("async", "1")]).await;
        fixture.get(&format!("/api/jobs/{}/file", import.expect(202)["job"]["id"])).await.expect(404);
        // Waiting imports and exports share one limit.
        for _ in 0..19 {
            fixture.start_export(CUSTOMERS).await;
        }
        fixture.post(ORDERS, json!({})).await.expect(409);
        fixture.upload("/api/inventories/upload", b"article;warehouse\n".to_vec(), &[("async", "1")]).await.expect(409);
    }

    async fn an_expired_file_is_missing_and_deleted(db: TestDatabase) {
        let fixture = busy(db, |_| {}).await;
        let (job, _) = fixture.exported(CUSTOMERS).await;
        let file = format!("/api/jobs/{}/file", job["id"]);
        let kept = || fixture.server.insert("SELECT count(*) AS id FROM exports WHERE file_place IS NOT NULL".to_owned());
        assert_eq!(kept().await, 1);
        fixture.server.execute("UPDATE exports SET file_expires_at = '2026-01-01 00:00:00'").await;
        fixture.get(&file).await.expect(404);
        let until = Instant::now() + PATIENCE;
        while kept().await > 0 {
            retry_until!(until, "the file is kept");
        }
        send(fixture.server.as_staff(&fixture.owner, Method::GET, &file)).await.expect(404);
        assert_eq!(fixture.job(job["id"].as_i64().unwrap()).await["status"], "succeeded");
    }

    async fn an_export_of_a_process_that_died_is_restarted(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let id = fixture.start_export(CUSTOMERS).await;
        fixture
            .server
            .execute(
                "UPDATE exports SET state = 'running', lease_owner = 'dead', leased_until = '2026-01-01 00:00:00', tries = 1, \
                 done_rows = 500, total_rows = 1000",
            )
            .await;
        fixture.get(&format!("/api/jobs/{id}/file")).await.expect(409);
        let ProjectFixture { server, project, owner } = fixture;
        let server = TestServer::start_as(server.stop().await, Roles::Both, |_| {}).await;
        let fixture = ProjectFixture { server, project, owner };
        let job = fixture.over(id).await;
        assert_eq!((&job["status"], &job["done_rows"], &job["total_rows"]), (&json!("succeeded"), &json!(0), &json!(0)));
        let file = fixture.get(&format!("/api/jobs/{id}/file")).await;
        assert_eq!(file.status, 200);
    }
}
