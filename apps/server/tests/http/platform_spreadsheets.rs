//! Spreadsheets of items and stock.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use reqwest::multipart::{Form, Part};
use serde_json::json;

use crate::project_fixture::ProjectFixture;
use crate::support::{Answer, send};

impl ProjectFixture {
    /// Uploads a file with other form fields.
    pub async fn upload(&self, path: &str, file: Vec<u8>, texts: &[(&'static str, &'static str)]) -> Answer {
        let form = Form::new().part("file", Part::bytes(file).file_name("sheet"));
        let form = texts.iter().fold(form, |form, (name, text)| form.text(*name, *text));
        send(self.server.as_staff(&self.owner, Method::POST, path).multipart(form)).await
    }

    pub async fn export(&self, query: &str) -> (String, Vec<u8>) {
        let path = format!("/api/nomenclatures/export{query}");
        let response = self.server.as_staff(&self.owner, Method::POST, &path).send().await.unwrap();
        assert_eq!(response.status(), 200);
        let media = response.headers()["content-type"].to_str().unwrap().to_owned();
        (media, response.bytes().await.unwrap().to_vec())
    }
}

const IMPORT: &str = "/api/nomenclatures/import";
const SHEET: &str = "article;name;price;category;photos;colour\nA-1;Кружка;1 265,50;Kitchen / Mugs;https://a/1|https://a/2;red\n\
    A-2;=1+1;;;;\n";

database_tests! {
    async fn an_export_is_imported_again_without_a_change(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let report = fixture.upload(IMPORT, SHEET.as_bytes().to_vec(), &[]).await.expect(200);
        assert_eq!((&report["created"], &report["ignored_columns"]), (&json!(2), &json!(["colour"])));
        let media = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
        for (query, expected) in [("", media), ("?format=csv", "text/csv; charset=utf-8")] {
            let (media, file) = fixture.export(query).await;
            assert_eq!(media, expected);
            let report = fixture.upload(IMPORT, file, &[]).await.expect(200);
            assert_eq!((&report["unchanged"], &report["updated"]), (&json!(2), &json!(0)), "{report}");
        }
        assert_eq!(fixture.export("?format=csv").await, fixture.export("?format=csv").await);
        let listed = fixture.get("/api/nomenclatures").await.expect(200);
        assert_eq!(listed["nomenclaturesCount"], 2);
    }

    async fn a_text_that_no_cell_takes_is_named_and_csv_takes_it(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let post = |path: &str| fixture.server.as_staff(&fixture.owner, Method::POST, path);
        let item = async |body: serde_json::Value| fixture.create("/api/nomenclatures", body).await;
        let (longest, faces) = ("я".repeat(65_535), "🪑".repeat(16_384));
        item(json!({ "name": "Fits", "kind_id": 2, "description": "я".repeat(32_767), "article": "F" })).await;
        fixture.export("").await;
        let both = item(json!({ "name": "Long", "kind_id": 2, "description": longest, "characteristics": faces, "article": "A-1" })).await;
        let bare = item(json!({ "name": "Longer", "kind_id": 2, "description": "x".repeat(32_768) })).await;
        let answer = send(post("/api/nomenclatures/export")).await.expect(422);
        assert_eq!(answer["errors"], json!({ "format": [
            format!("the description of item {both} (A-1) has 65535 characters but a cell holds 32767; use csv"),
            format!("the characteristics of item {both} (A-1) has 32768 characters but a cell holds 32767; use csv"),
            format!("the description of item {bare} has 32768 characters but a cell holds 32767; use csv"),
        ] }));
        let (_, file) = fixture.export("?format=csv").await;
        let report = fixture.upload(IMPORT, file, &[]).await.expect(200);
        assert_eq!((&report["unchanged"], &report["updated"]), (&json!(3), &json!(0)), "{report}");
        for number in 0..25 {
            item(json!({ "name": "More", "kind_id": 2, "description": format!("{number}{}", "x".repeat(32_767)) })).await;
        }
        let answer = send(post("/api/nomenclatures/export?format=xlsx")).await.expect(422);
        assert_eq!(answer["errors"]["format"].as_array().unwrap().len(), 20);
    }

    async fn bad_rows_are_named_and_nothing_is_written(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let sheet = "article,name,price,country\nA-1,Mug,1.00,\nA-2,,x,\nA-3,Cup,1,Nowhere\n".as_bytes().to_vec();
        let answer = fixture.upload(IMPORT, sheet.clone(), &[]).await.expect(422);
        assert_eq!(answer["errors"]["file"], json!(["row 3, price: must be a decimal number", "row 4, country: there is no such record"]));
        assert_eq!(answer["rows"][0], json!({ "row": 3, "column": "price", "reason": "must be a decimal number" }));
        assert_eq!(answer["rows_total"], 2);
        assert_eq!(fixture.get("/api/nomenclatures").await.expect(200)["nomenclaturesCount"], 0);
        let report = fixture.upload(IMPORT, sheet, &[("partial", "1")]).await.expect(200);
        assert_eq!((&report["created"], &report["skipped"]), (&json!(1), &json!(2)));
    }

    async fn other_files_than_spreadsheets_are_refused(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        for file in [b"{}".to_vec(), b"%PDF-1.7".to_vec(), vec![0, 1, 2], b"PK\x03\x04junk".to_vec(), Vec::new(), b"name\nMug\n".to_vec()] {
            for path in [IMPORT, "/api/inventories/upload"] {
                fixture.upload(path, file.clone(), &[]).await.expect_invalid(&["file"]);
            }
        }
        fixture.upload(IMPORT, SHEET.as_bytes().to_vec(), &[("partial", "perhaps")]).await.expect_invalid(&["partial"]);
        let post = |path| fixture.server.as_staff(&fixture.owner, Method::POST, path);
        let wrong_name = Form::new().part("sheet", Part::bytes(b"article\n".to_vec()));
        assert!(send(post(IMPORT).multipart(wrong_name)).await.status.is_client_error());
        send(post(IMPORT).multipart(Form::new().text("partial", "1"))).await.expect_invalid(&["file"]);
        send(post(IMPORT).json(&json!({ "file": "x" }))).await.expect(415);
        send(post(IMPORT)).await.expect(415);
        send(post(IMPORT).header("content-type", "multipart/form-data; boundary=x").body("junk")).await.expect(400);
        send(post("/api/nomenclatures/export?format=pdf")).await.expect_invalid(&["format"]);
    }

    async fn the_size_of_a_file_is_bounded(db: TestDatabase) {
        let server = crate::support::TestServer::start_with(db, |config| config.import_limit = 1000).await;
        let project = server.project().await;
        let owner = server.owner(&project).await;
        let fixture = ProjectFixture { server, project, owner };
        fixture.upload(IMPORT, vec![b'x'; 1001], &[]).await.expect(413);
        fixture.upload(IMPORT, SHEET.as_bytes().to_vec(), &[]).await.expect(200);
    }

    async fn permissions_are_enforced(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let cases = [
            (IMPORT, vec!["create-nomenclatures"]),
            (IMPORT, vec!["view-nomenclatures", "edit-inventories"]),
            ("/api/inventories/upload", vec!["create-inventories"]),
            ("/api/nomenclatures/export", vec!["edit-nomenclatures"]),
        ];
        for (path, permissions) in cases {
            let bearer = fixture.server.staff_with(&fixture.project, &permissions).await;
            let form = Form::new().part("file", Part::bytes(SHEET.as_bytes().to_vec()));
            send(fixture.server.as_staff(&bearer, Method::POST, path).multipart(form)).await.expect(403);
        }
    }
}
