//! Price lists as suppliers send them: letterheads, several sheets, their own columns.

use std::time::Instant;

use kontor::instance::Roles;
use kontor_adapter_diesel::{database_tests, retry_until};
use reqwest::Method;
use rust_xlsxwriter::Workbook;
use serde_json::{Value, json};

use crate::process::PATIENCE;
use crate::project_fixture::ProjectFixture;
use crate::support::TestServer;

const IMPORT: &str = "/api/nomenclatures/import";
const UPLOAD: &str = "/api/inventories/upload";
const COLUMNS: &str = "/api/nomenclatures/import/columns";
const MAPPING: &str = r#"{"Код":"article","Товар":"name","Цена розн.":"price","Комментарий":null}"#;

/// A letterhead of four rows above the table, on the second sheet.
fn price_list(price: f64) -> Vec<u8> {
    let mut book = Workbook::new();
    book.add_worksheet().set_name("Условия").unwrap().write_string(0, 0, "Самовывоз со склада").unwrap();
    let sheet = book.add_worksheet().set_name("Прайс").unwrap();
    for (row, text) in (0..).zip(["ООО «Ромашка»", "г. Москва, ул. Ленина, 5", "тел. 8 495 000-00-00", "Прайс-лист"])
    {
        sheet.write_string(row, 0, text).unwrap();
    }
    for (column, header) in (0..).zip(["Код", "Товар", "Цена\nрозн.", "Комментарий", "Бренд"])
    {
        sheet.write_string(4, column, header).unwrap();
    }
    for (row, (code, name, brand)) in (5..).zip([("R-1", "Кружка", "Nord"), ("R-2", "Блюдце", "")]) {
        for (column, text) in [(0, code), (1, name), (3, "хит"), (4, brand)] {
            sheet.write_string(row, column, text).unwrap();
        }
        sheet.write_number(row, 2, price).unwrap();
    }
    book.save_to_buffer().unwrap()
}

async fn over(fixture: &ProjectFixture, id: &Value) -> Value {
    let until = Instant::now() + PATIENCE;
    loop {
        let job = fixture.get(&format!("/api/jobs/{id}")).await.expect(200)["job"].clone();
        if !job["finished_at"].is_null() {
            return job;
        }
        retry_until!(until, "{job}");
    }
}

database_tests! {
    async fn a_price_list_is_tried_imported_and_imported_again(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let parts = [("columns", MAPPING)];
        let tried = fixture.upload(IMPORT, price_list(100.0), &[("columns", MAPPING), ("dry_run", "1")]).await.expect(200);
        assert_eq!((&tried["sheet"], &tried["header_row"], &tried["created"]), (&json!("Прайс"), &json!(5), &json!(2)));
        assert_eq!(tried["columns"], json!([
            { "header": "Код", "column": "article" },
            { "header": "Товар", "column": "name" },
            { "header": "Цена розн.", "column": "price" },
            { "header": "Комментарий", "column": null },
            { "header": "Бренд", "column": "brand" },
        ]));
        let first = &tried["rows"][0];
        assert_eq!((&first["row"], &first["action"], &first["article"]), (&json!(6), &json!("create"), &json!("R-1")));
        assert_eq!((&first["fields"]["price"], &first["fields"]["brand"]), (&json!("100.00"), &json!("Nord")));
        assert_eq!((&first["id"], &first["before"]), (&Value::Null, &json!({})));
        assert_eq!(fixture.get("/api/nomenclatures").await.expect(200)["nomenclaturesCount"], 0);

        let imported = fixture.upload(IMPORT, price_list(100.0), &parts).await.expect(200);
        assert_eq!((&imported["created"], &imported["sheet"], imported.get("rows")), (&json!(2), &json!("Прайс"), None));
        let again = fixture.upload(IMPORT, price_list(100.0), &parts).await.expect(200);
        assert_eq!((&again["unchanged"], &again["updated"]), (&json!(2), &json!(0)), "{again}");

        let pricier = [("columns", MAPPING), ("dry_run", "1")];
        let tried = fixture.upload(IMPORT, price_list(120.0), &pricier).await.expect(200);
        let row = &tried["rows"][0];
        assert_eq!((&row["action"], &row["fields"], &row["before"]),
            (&json!("update"), &json!({ "price": "120.00" }), &json!({ "price": "100.00" })));
        assert!(row["id"].is_i64());
    }

    async fn wrong_rows_come_with_the_columns(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        for texts in [vec![("columns", MAPPING)], vec![("columns", MAPPING), ("dry_run", "1")]] {
            let refused = fixture.upload(IMPORT, price_list(-1.0), &texts).await.expect(422);
            assert_eq!((&refused["header_row"], &refused["sheet"]), (&json!(5), &json!("Прайс")));
            assert_eq!(refused["columns"][2]["column"], "price");
            assert_eq!(refused["rows"][0]["column"], "price");
        }
    }

    async fn every_wrong_part_is_named(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let file = || b"article;name\nA;Mug\n".to_vec();
        let errors = async |texts: &[(&'static str, &'static str)]| {
            fixture.upload(IMPORT, file(), texts).await.expect(422)["errors"].clone()
        };
        let long = Box::leak("x".repeat(101).into_boxed_str());
        let all = errors(&[("sheet", long), ("header_row", "0"), ("columns", "[1]"), ("keep_empty", "2")]).await;
        let named: Vec<&String> = all.as_object().unwrap().keys().collect();
        assert_eq!(named, ["columns", "header_row", "keep_empty", "sheet"]);
        let wrong = errors(&[("columns", r#"{"a":"prise","b":"price","c":"price","d":1}"#)]).await;
        assert_eq!(wrong["columns"].as_array().unwrap().len(), 2, "{wrong}");
        let twice = errors(&[("columns", r#"{"b":"price","c":"price"}"#)]).await;
        assert_eq!(twice["columns"], json!(["`b`, `c` are all `price`; each column must have one header"]));
        let absent = errors(&[("columns", r#"{"Цена":"price"}"#)]).await;
        assert_eq!(absent["columns"], json!(["there is no header `Цена` in the file"]));
        assert_eq!(errors(&[("sheet", "1")]).await["sheet"], json!(["must be left out: a csv file has no sheets"]));
        let row = errors(&[("header_row", "2")]).await;
        assert_eq!(row["header_row"], json!(["must be the header row: row 2 must have a column `article`"]));
        let sheet = fixture.upload(IMPORT, price_list(1.0), &[("sheet", "Цены")]).await.expect(422);
        assert_eq!(sheet["errors"]["sheet"], json!(["must be the name or number of a visible sheet: `Условия`, `Прайс`"]));
    }

    async fn columns_are_saved_for_the_project_alone(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        assert_eq!(fixture.get(COLUMNS).await.expect(200)["columns"], json!({}));
        // For two suppliers. The header `Артикул поставщика` is in none of the files here.
        let columns = json!({
            "Код": "article", "Артикул поставщика": "article", "Товар": "name", "Цена розн.": "price", "Комментарий": null,
        });
        let body = json!({ "columns": columns });
        assert_eq!(fixture.put(COLUMNS, body.clone()).await.expect(200)["columns"], columns);
        assert_eq!(fixture.get(COLUMNS).await.expect(200)["columns"], columns);
        assert_eq!(fixture.get("/api/inventories/upload/columns").await.expect(200)["columns"], json!({}));
        assert_eq!(fixture.as_outsider(Method::GET, COLUMNS, json!({})).await.expect(200)["columns"], json!({}));
        fixture.upload(IMPORT, price_list(5.0), &[]).await.expect(200);
        let other = fixture.upload(IMPORT, price_list(5.0), &[("columns", r#"{"Товар":"name"}"#)]).await.expect(422);
        assert_eq!(other["errors"]["file"], json!(["must have a column `article`"]), "sent columns replace the saved ones");

        let wrong = fixture.put(COLUMNS, json!({ "columns": { "a": "prise", " ": null } })).await.expect(422);
        assert_eq!(wrong["errors"]["columns"].as_array().unwrap().len(), 2);
        fixture.put(COLUMNS, json!({})).await.expect(422);
        assert_eq!(fixture.put(COLUMNS, json!({ "columns": {} })).await.expect(200)["columns"], json!({}));
        fixture.upload(IMPORT, price_list(5.0), &[]).await.expect(422);

        let may = ["create-nomenclatures", "edit-nomenclatures"];
        fixture.as_one_who_may(&may, Method::PUT, COLUMNS, body.clone()).await.expect(200);
        fixture.as_one_who_may(&may[..1], Method::PUT, COLUMNS, body.clone()).await.expect(403);
        fixture.as_one_who_may(&["view-nomenclatures"], Method::GET, COLUMNS, body.clone()).await.expect(403);
        let stock = json!({ "columns": { "Код": "article", "Остаток на складе": "quantity" } });
        fixture.as_one_who_may(&may, Method::PUT, "/api/inventories/upload/columns", stock.clone()).await.expect(403);
        fixture.as_one_who_may(&["edit-inventories"], Method::PUT, "/api/inventories/upload/columns", stock).await.expect(200);
    }

    async fn a_job_is_read_as_its_sender_chose(db: TestDatabase) {
        let server = TestServer::start_as(db, Roles::Both, |_| {}).await;
        let project = server.project().await;
        let owner = server.owner(&project).await;
        let fixture = ProjectFixture { server, project, owner };
        fixture.upload(IMPORT, price_list(9.0), &[("columns", MAPPING)]).await.expect(200);
        let file = "Прайс-лист\nКод;Товар;Бренд\nR-1;Чашка;\nR-3;Ваза;Nord\n";
        let parts = [("async", "1"), ("keep_empty", "1"), ("header_row", "2"), ("columns", r#"{"код":"article","ТОВАР":"name"}"#)];
        let queued = fixture.upload(IMPORT, file.as_bytes().to_vec(), &parts).await.expect(202);
        assert_eq!((&queued["job"]["keep_empty"], &queued["job"]["header_row"]), (&json!(true), &Value::Null));
        let job = over(&fixture, &queued["job"]["id"]).await;
        assert_eq!((&job["status"], &job["created"], &job["updated"]), (&json!("succeeded"), &json!(1), &json!(1)), "{job}");
        assert_eq!((&job["header_row"], &job["sheet"], &job["ignored_columns"]), (&json!(2), &Value::Null, &json!([])));
        assert_eq!(job["columns"][1], json!({ "header": "Товар", "column": "name" }));
        let (_, export) = fixture.export("?format=csv").await;
        let export = String::from_utf8(export).unwrap();
        let line = export.lines().find(|line| line.starts_with("R-1")).unwrap();
        assert!(line.contains("Чашка") && line.contains("Nord"), "{line}");

        let warehouse = fixture.warehouse("Главный").await;
        let stock = format!("Отчёт\nКод;Склад;Факт\nR-3;{warehouse};4\n");
        let parts = [("columns", r#"{"Код":"article","Факт":"quantity"}"#), ("dry_run", "1"), ("keep_empty", "1")];
        fixture.put(COLUMNS, json!({ "columns": {} })).await.expect(200);
        let tried = fixture.upload(UPLOAD, stock.into_bytes(), &parts).await.expect(422);
        assert_eq!(tried["rows"][0]["column"], "price", "new stock of a card without a price");
        assert_eq!(tried["columns"][2], json!({ "header": "Факт", "column": "quantity" }));
    }
}
