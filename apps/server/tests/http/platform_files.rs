//! Uploaded files: accepted, refused, and cleaned up.

use std::path::Path;
use std::time::{Duration, Instant};

use image::GrayImage;
use image::codecs::png::PngEncoder;
use kontor::instance::Roles;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_adapter_diesel::{database_tests, retry_until};
use reqwest::Method;
use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::project_fixture::ProjectFixture;
use crate::support::{Answer, TestServer, send};

pub const PATH: &str = "/api/files";
/// A document without pages.
pub const PDF: &[u8] =
    b"%PDF-1.7\nxref\n0 1\n0000000000 65535 f \ntrailer\n<</Size 1/Root 1 0 R>>\nstartxref\n9\n%%EOF\n";

/// Returns a document of this size, padded with spaces before its table.
pub fn pdf(size: usize) -> Vec<u8> {
    let (head, rest) = PDF.split_at(b"%PDF-1.7\n".len());
    let table = &rest[..rest.len() - b"9\n%%EOF\n".len()];
    let end = |place: usize| format!("{place}\n%%EOF\n").into_bytes();
    // The digits of the offset are part of the size.
    let without = size.checked_sub(head.len() + table.len() + b"\n%%EOF\n".len()).unwrap();
    let digits = (1..20).find(|digits| (head.len() + without - digits).to_string().len() == *digits).unwrap();
    let filling = vec![b' '; without - digits];
    let place = head.len() + filling.len();
    [head, &filling, table, &end(place)].concat()
}

/// Returns a black picture of this size.
pub fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    GrayImage::new(width, height).write_with_encoder(PngEncoder::new(&mut bytes)).unwrap();
    bytes
}

/// Returns the beginning of a picture of this size.
fn png_header(width: u32, height: u32) -> Vec<u8> {
    let size = [width.to_be_bytes(), height.to_be_bytes()].concat();
    [b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".as_slice(), &size, b"\x08\x02\0\0\0\0\0\0\0"].concat()
}

/// Returns a multipart body with a file.
pub fn form(kind: &str, name: &str, content: &[u8]) -> Form {
    let part = Part::bytes(content.to_vec()).file_name(name.to_owned());
    Form::new().text("file_type_id", kind.to_owned()).part("file", part)
}

impl ProjectFixture {
    /// Starts a service whose files are in a separate folder.
    pub async fn with_files(db: TestDatabase, roles: Roles) -> (Self, TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("files").display().to_string();
        let server = TestServer::start_as(db, roles, |config| {
            config.files_folder = place;
            config.files_limit = 100_000;
            config.public_url = "https://kontor.example/".into();
        })
        .await;
        let project = server.project().await;
        let owner = server.owner(&project).await;
        (Self { server, project, owner }, folder)
    }

    pub async fn send_form(&self, form: Form) -> Answer {
        send(self.server.as_staff(&self.owner, Method::POST, PATH).multipart(form)).await
    }

    /// Uploads a file and returns its record.
    pub async fn file(&self, kind: &str, name: &str, content: &[u8]) -> Value {
        self.send_form(form(kind, name, content)).await.expect(201)["file"].clone()
    }

    pub async fn records(&self) -> i64 {
        self.server.insert("SELECT COUNT(*) AS id FROM files".to_owned()).await
    }
}

/// Returns the number of files below a folder.
fn contents(folder: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    entries.map(|entry| entry.unwrap().path()).map(|path| if path.is_dir() { contents(&path) } else { 1 }).sum()
}

database_tests! {
    async fn a_file_is_stored_read_and_deleted(db: TestDatabase) {
        let (fixture, folder) = ProjectFixture::with_files(db, Roles::Both).await;
        let picture = png(640, 480);
        let file = fixture.file("2", "C:\\me\\Я.PNG", &picture).await;
        let url = file["url"].as_str().unwrap();
        let key = url.strip_prefix("https://kontor.example/files/").unwrap();
        assert!(key.len() == 40 && key.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{key}");
        let expected = json!({
            "id": file["id"], "file_type_id": 2, "name": "Я.PNG", "url": url, "mime_type": "image/png", "size": picture.len(),
            "width": 640, "height": 480, "created_at": file["created_at"],
        });
        assert_eq!(file, expected);
        let path = format!("{PATH}/{}", file["id"]);
        assert_eq!(fixture.get(&path).await.expect(200), json!({ "file": file }));
        let contract = fixture.file("1", "contract", PDF).await;
        assert_eq!((&contract["name"], &contract["width"]), (&json!("contract.pdf"), &Value::Null));
        assert_eq!(contents(folder.path()), 2);

        let delete = || async { send(fixture.server.as_staff(&fixture.owner, Method::DELETE, &path)).await };
        assert!(delete().await.expect(200)["message"].is_string());
        fixture.get(&path).await.expect(404);
        delete().await.expect(404);
        let until = Instant::now() + Duration::from_secs(30);
        while (contents(folder.path()), fixture.records().await) != (1, 1) {
            retry_until!(until, "the worker removes what was deleted");
        }
        let operations = "SELECT COUNT(*) AS id FROM histories WHERE resource = 'files' AND user_id IS NOT NULL";
        assert_eq!(fixture.server.insert(operations.to_owned()).await, 3);
    }

    async fn files_are_listed_and_found(db: TestDatabase) {
        let (fixture, _folder) = ProjectFixture::with_files(db, Roles::Api).await;
        assert_eq!(fixture.get(PATH).await.expect(200)["filesCount"], 0);
        let picture = fixture.file("2", "Чайник.png", &png(64, 48)).await;
        let contract = fixture.file("1", "Договор.pdf", PDF).await;
        let list = fixture.get(PATH).await.expect(200);
        assert_eq!((&list["filesCount"], &list["pagination"]["per_page"]), (&json!(2), &json!(15)));
        let mut newest = list["files"][0].clone();
        let creator = newest.as_object_mut().unwrap().remove("creator").unwrap();
        assert!(creator["id"].is_i64() && creator["name"].is_string(), "{creator}");
        assert_eq!(newest.as_object_mut().unwrap().remove("order_id"), Some(Value::Null));
        assert_eq!(newest, contract, "as the file itself is shown");
        let found = async |query: &str| {
            let list = fixture.get(&format!("{PATH}?{query}")).await.expect(200);
            list["files"].as_array().unwrap().iter().map(|file| file["id"].clone()).collect::<Vec<_>>()
        };
        let (first, second) = (&picture["id"], &contract["id"]);
        assert_eq!(found("file_type_id[]=2").await, std::slice::from_ref(first));
        assert_eq!(found("file_type_id[]=2&file_type_id[]=1&order_by=id_asc").await, [first.clone(), second.clone()]);
        assert_eq!(found("query=ДОГОВ").await, std::slice::from_ref(second));
        assert_eq!(found("query=%25").await, Vec::<Value>::new());
        assert_eq!(found(&format!("creator_id={}", creator["id"])).await.len(), 2);
        assert_eq!(found("creator_id=999999").await.len(), 0);
        assert_eq!(found("order_id=1").await.len(), 0);
        assert_eq!(found("date_from=2999-01-01").await.len(), 0);
        assert_eq!(found("order_by=size_desc&per_page=1&page=2").await.len(), 1);
        let wrong = fixture.get(&format!("{PATH}?file_type_id=4&creator_id=x&order_by=name_asc&per_page=101&kind=1")).await;
        wrong.expect_invalid(&["file_type_id", "creator_id", "order_by", "per_page", "kind"]);
        let table = fixture.get("/api/tables/files").await.expect(200);
        assert_eq!(table["files"][0]["name"]["link"], format!("{PATH}/{second}"));
        let cost = async |path: &str| {
            let once = async || fixture.get(path).await.expect(200);
            fixture.server.fewest_statements(once).await
        };
        assert_eq!(cost(PATH).await, cost(&format!("{PATH}?per_page=1")).await, "whatever the number of files");

        let outsider = fixture.as_outsider(Method::GET, PATH, json!({})).await.expect(200);
        assert_eq!(outsider["filesCount"], 0);
        fixture.as_one_who_may(&["edit-files", "view-orders"], Method::GET, PATH, json!({})).await.expect(403);
        send(fixture.server.as_staff(&fixture.owner, Method::DELETE, &format!("{PATH}/{second}"))).await.expect(200);
        assert_eq!(found("query=договор").await.len(), 0);
        assert_eq!(fixture.get(PATH).await.expect(200)["filesCount"], 1);
    }

    async fn no_file_is_larger_than_an_upload_may_be(db: TestDatabase) {
        let server = TestServer::start_with(db, |config| config.upload_limit = 1_000).await;
        let project = server.project().await;
        let owner = server.owner(&project).await;
        let fixture = ProjectFixture { server, project, owner };
        fixture.send_form(form("1", "a.pdf", &pdf(1_001))).await.expect(413);
        fixture.send_form(form("1", "a.pdf", &pdf(1_000))).await.expect(201);
        // Imports have a limit of their own.
        let sheet = [b"article;name\nA-1;Mug\n".as_slice(), &[b'\n'; 2_000]].concat();
        fixture.upload("/api/nomenclatures/import", sheet, &[]).await.expect(200);
    }

    async fn a_refusal_leaves_nothing_in_storage(db: TestDatabase) {
        let (fixture, folder) = ProjectFixture::with_files(db, Roles::Api).await;
        fixture.send_form(Form::new().text("note", "x")).await.expect_invalid(&["file", "file_type_id", "note"]);
        let twice = Form::new().text("file_type_id", "2").text("file_type_id", "1").part("file", Part::bytes(PDF.to_vec()));
        fixture.send_form(twice).await.expect_invalid(&["file_type_id"]);
        fixture.send_form(form("", "a.pdf", PDF)).await.expect_invalid(&["file_type_id"]);
        for kind in ["0", "4", "-1", "avatar", "1.0", "99999999999999999999"] {
            fixture.send_form(form(kind, "a.pdf", PDF)).await.expect_invalid(&["file_type_id"]);
        }
        let two = form("1", "a.pdf", PDF).part("file", Part::bytes(PDF.to_vec()));
        fixture.send_form(two).await.expect_invalid(&["file"]);
        let svg = b"<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>".as_slice();
        let bomb = png_header(60_000, 60_000);
        let (picture, printed) = (png(64, 64), pdf(4_000));
        for (kind, name, content, why) in [
            ("2", "a.png", b"".as_slice(), "must not be empty"),
            ("2", "a.png", svg, "must be a JPEG, PNG, GIF or WebP file"),
            ("2", "a.png", PDF, "must be a JPEG, PNG, GIF or WebP file"),
            ("1", "a.pdf", b"MZ\x90", "must be a PDF, JPEG, PNG, WebP, DOCX or ODT file"),
            ("3", "a.zip", b"PK\x03\x04junk", "must be a PDF, JPEG, PNG, GIF, WebP, DOCX, XLSX, ODT or ODS file"),
            ("2", "a.png", b"\x89PNG\r\n\x1a\n", "is damaged: it starts as PNG but is not a valid one"),
            ("2", "a.png", &png_header(64, 64), "is damaged: it starts as PNG but is not a valid one"),
            ("2", "a.png", &picture[..picture.len() - 1], "is damaged: it starts as PNG but is not a valid one"),
            ("1", "a.pdf", b"%PDF-1.4", "is damaged: it starts as PDF but is not a valid one"),
            ("1", "a.pdf", &printed[..2_000], "is damaged: it starts as PDF but is not a valid one"),
            ("2", "a.png", &bomb, "must be a picture of at most 16384 pixels a side and 50000000 pixels in all"),
        ] {
            let answer = fixture.send_form(form(kind, name, content)).await;
            answer.expect_invalid(&["file"]);
            assert_eq!(answer.json()["errors"]["file"], json!([why]));
        }
        let large = pdf(100_001);
        fixture.send_form(form("1", "a.pdf", &large)).await.expect(413);
        let post = || fixture.server.as_staff(&fixture.owner, Method::POST, PATH);
        send(post().json(&json!({ "file_type_id": 1 }))).await.expect(415);
        send(post().header("content-type", "multipart/form-data; boundary=x").body("junk")).await.expect(400);
        assert_eq!((fixture.records().await, contents(folder.path())), (0, 0));
    }

    async fn any_boundary_and_any_order_of_parts_is_read(db: TestDatabase) {
        let (fixture, _folder) = ProjectFixture::with_files(db, Roles::Api).await;
        let body = format!(
            "--=_x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"../a.pdf\"\r\n\
            Content-Type: image/png\r\n\r\n{}\r\n--=_x\r\nContent-Disposition: form-data; \
            name=\"file_type_id\"\r\n\r\n3\r\n--=_x--\r\n",
            str::from_utf8(PDF).unwrap()
        );
        let post = fixture.server.as_staff(&fixture.owner, Method::POST, PATH);
        let sent = send(post.header("content-type", "multipart/form-data; boundary=\"=_x\"").body(body)).await;
        let file = &sent.expect(201)["file"];
        assert_eq!((&file["name"], &file["mime_type"]), (&json!("a.pdf"), &json!("application/pdf")));
    }

    async fn only_staff_of_the_project_with_the_permission_come_in(db: TestDatabase) {
        let (fixture, _folder) = ProjectFixture::with_files(db, Roles::Api).await;
        let path = format!("{PATH}/{}", fixture.file("3", "a.pdf", PDF).await["id"]);
        for absent in [format!("{PATH}/999999"), format!("{PATH}/x")] {
            fixture.get(&absent).await.expect(404);
            send(fixture.server.as_staff(&fixture.owner, Method::DELETE, &absent)).await.expect(404);
        }
        fixture.as_outsider(Method::GET, &path, json!({})).await.expect(403);
        fixture.as_outsider(Method::DELETE, &path, json!({})).await.expect(403);
        fixture.as_one_who_may(&["view-files"], Method::DELETE, &path, json!({})).await.expect(403);
        fixture.as_one_who_may(&["edit-files"], Method::GET, &path, json!({})).await.expect(403);
        let viewer = fixture.server.staff_with(&fixture.project, &["view-files"]).await;
        let upload = |bearer: String| fixture.server.as_staff(&bearer, Method::POST, PATH).multipart(form("3", "a", PDF));
        send(upload(viewer)).await.expect(403);
        let employee = fixture.server.staff_with(&fixture.project, &["create-files"]).await;
        send(upload(employee)).await.expect(201);
        assert_eq!(fixture.cost(&path).await, 2, "the token and the file");
        fixture.as_one_who_may(&["edit-files"], Method::DELETE, &path, json!({})).await.expect(200);
    }

    async fn a_place_that_fails_is_reported_and_leaves_nothing(db: TestDatabase) {
        let folder = tempfile::tempdir().unwrap();
        let blocked = folder.path().join("a file");
        std::fs::write(&blocked, b"x").unwrap();
        let server = TestServer::start_with(db, |config| {
            config.files_folder = blocked.join("below").display().to_string();
        }).await;
        let project = server.project().await;
        let owner = server.owner(&project).await;
        let fixture = ProjectFixture { server, project, owner };
        let refused = fixture.send_form(form("3", "a.pdf", PDF)).await;
        assert!(!refused.expect(503)["message"].as_str().unwrap().contains("a file"), "{}", refused.text);
        let given_up = "SELECT COUNT(*) AS id FROM files WHERE state = 'deleted'".to_owned();
        assert_eq!(fixture.server.insert(given_up).await, 1, "the worker sweeps it");
        fixture.get(&format!("{PATH}/1")).await.expect(404);
    }
}
