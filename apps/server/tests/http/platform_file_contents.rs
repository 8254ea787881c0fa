//! Contents of files: access, ranges, and headers for browsers.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kontor::adapters::SystemClock;
use kontor::instance::Roles;
use kontor_adapter_diesel::{database_tests, retry_until};
use kontor_sandbox::{Sandbox, SandboxConfig};
use reqwest::header::HeaderMap;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::owner_client::OwnerClient;
use crate::platform_files::{PDF, form, pdf, png};
use crate::process::{PATIENCE, ProcessEnvironment};
use crate::project_fixture::ProjectFixture;
use crate::support::{TestServer, send};

/// Returns the path of a content.
pub fn place(file: &Value) -> String {
    let url = file["url"].as_str().unwrap();
    url[url.find("/files/").unwrap()..].to_owned()
}

pub async fn bytes(request: RequestBuilder) -> (u16, HeaderMap, Vec<u8>) {
    let response = request.send().await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    (status, headers, response.bytes().await.unwrap().to_vec())
}

pub fn header<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).map_or("", |value| value.to_str().unwrap())
}

/// Returns the settings for the sandbox's bucket.
pub fn bucket(environment: &ProcessEnvironment) -> Vec<(&'static str, String)> {
    let config = SandboxConfig::new(Arc::new(SystemClock));
    vec![
        ("KONTOR_FILES_S3_ENDPOINT", format!("{}/s3", environment.sandbox.url())),
        ("KONTOR_FILES_S3_BUCKET", config.bucket),
        ("KONTOR_FILES_S3_REGION", config.bucket_region),
        ("KONTOR_FILES_S3_ACCESS_KEY", config.bucket_access_key),
        ("KONTOR_FILES_S3_SECRET_KEY", config.bucket_secret_key),
    ]
}

database_tests! {
    async fn avatars_are_public(db: TestDatabase) {
        let (fixture, _folder) = ProjectFixture::with_files(db, Roles::Api).await;
        let picture = png(640, 480);
        let size = picture.len();
        let (text, last) = (size.to_string(), size - 1);
        let path = place(&fixture.file("2", "Я \"I\".png", &picture).await);
        let get = || fixture.server.request(Method::GET, &path);
        let (status, headers, body) = bytes(get()).await;
        assert_eq!((status, &body), (200, &picture));
        let etag = header(&headers, "etag").to_owned();
        assert_eq!(etag.len(), 66);
        for (name, value) in [
            ("content-type", "image/png"),
            ("content-length", &text),
            ("accept-ranges", "bytes"),
            ("cache-control", "public, max-age=31536000, immutable"),
            ("x-content-type-options", "nosniff"),
            ("content-security-policy", "default-src 'none'; sandbox"),
            ("content-disposition", "inline; filename=\"_ _I_.png\"; filename*=UTF-8''%D0%AF%20%22I%22.png"),
            ("vary", ""),
        ] {
            let got = header(&headers, name);
            // The CORS middleware varies by origin.
            assert!(got == value || name == "vary" && !got.to_lowercase().contains("authorization"), "{name}: {got}");
        }
        let (status, headers, body) = bytes(fixture.server.request(Method::HEAD, &path)).await;
        assert_eq!((status, header(&headers, "content-length"), body.len()), (200, text.as_str(), 0));
        assert_eq!(header(&headers, "etag"), etag);

        for known in [etag.clone(), format!("\"other\", W/{etag}"), "*".to_owned()] {
            let (status, headers, body) = bytes(get().header("if-none-match", &known)).await;
            assert_eq!((status, header(&headers, "etag"), body.len()), (304, etag.as_str(), 0), "{known}");
        }
        assert_eq!(bytes(get().header("if-none-match", "\"other\"")).await.0, 200);

        for (range, content_range, part) in [
            ("bytes=0-7".to_owned(), format!("bytes 0-7/{size}"), 0..8),
            (format!("bytes={}-", size - 3), format!("bytes {}-{last}/{size}", size - 3), size - 3..size),
            ("bytes=-4".to_owned(), format!("bytes {}-{last}/{size}", size - 4), size - 4..size),
        ] {
            let (status, headers, body) = bytes(get().header("range", range)).await;
            assert_eq!((status, header(&headers, "content-range")), (206, content_range.as_str()));
            assert_eq!(body, picture[part]);
        }
        let (status, headers, body) = bytes(get().header("range", format!("bytes={size}-"))).await;
        assert_eq!((status, header(&headers, "content-range"), body.len()), (416, format!("bytes */{size}").as_str(), 0));
        for whole in ["bytes=0-1,3-4", "bytes=b-a", "words=1-2"] {
            assert_eq!(bytes(get().header("range", whole)).await.2, picture, "{whole}");
        }
        assert_eq!(bytes(get().header("range", "bytes=0-7").header("if-range", "\"other\"")).await.0, 200);
        assert_eq!(bytes(get().header("range", "bytes=0-7").header("if-range", &etag)).await.0, 206);
        let head = fixture.server.request(Method::HEAD, &path).header("range", "bytes=0-7");
        assert_eq!(bytes(head).await.0, 200, "parts are of GET alone");
    }

    async fn the_rest_is_for_staff_of_the_project(db: TestDatabase) {
        let (fixture, _folder) = ProjectFixture::with_files(db, Roles::Api).await;
        let path = place(&fixture.file("1", "Договор.docx", PDF).await);
        let (status, headers, body) = bytes(fixture.server.as_staff(&fixture.owner, Method::GET, &path)).await;
        assert_eq!((status, body.as_slice()), (200, PDF));
        assert_eq!(header(&headers, "cache-control"), "private, no-cache");
        assert!(header(&headers, "vary").starts_with("Authorization"), "{headers:?}");
        let name = "attachment; filename=\"_______.docx.pdf\"; \
            filename*=UTF-8''%D0%94%D0%BE%D0%B3%D0%BE%D0%B2%D0%BE%D1%80.docx.pdf";
        assert_eq!(header(&headers, "content-disposition"), name);

        let etag = header(&headers, "etag").to_owned();
        for request in [
            fixture.server.request(Method::GET, &path),
            fixture.server.request(Method::HEAD, &path),
            fixture.server.as_app(&fixture.project, Method::GET, &path),
            fixture.server.request(Method::GET, &path).header("if-none-match", &etag),
            fixture.server.request(Method::GET, &path).query(&[("token", &fixture.owner)]),
        ] {
            assert_eq!(bytes(request).await.0, 401);
        }
        let customer = fixture.server.customer(&fixture.project).await.1;
        send(fixture.server.as_customer(&fixture.project, &customer, Method::GET, &path)).await.expect(401);
        fixture.as_outsider(Method::GET, &path, json!({})).await.expect(403);
        fixture.as_one_who_may(&["edit-files", "create-files"], Method::GET, &path, json!({})).await.expect(403);
        let viewer = fixture.server.staff_with(&fixture.project, &["view-files"]).await;
        assert_eq!(bytes(fixture.server.as_staff(&viewer, Method::GET, &path)).await.2, PDF);
    }

    async fn missing_records_are_not_found(db: TestDatabase) {
        let (fixture, folder) = ProjectFixture::with_files(db, Roles::Api).await;
        let file = fixture.file("2", "a.png", &png(1, 1)).await;
        let path = place(&file);
        let posted = send(fixture.server.request(Method::POST, &path)).await;
        posted.expect(405);
        assert_eq!(posted.headers["allow"], "GET, HEAD");
        let absent = format!("/files/{}", "a".repeat(40));
        for path in [absent.as_str(), "/files/1", "/files/..%2F..%2Fetc%2Fpasswd", "/files/", "/api/files/1/content"] {
            let answer = send(fixture.server.request(Method::GET, path)).await;
            assert_eq!(answer.status, 404, "{path}: {}", answer.text);
        }
        send(fixture.server.as_staff(&fixture.owner, Method::DELETE, &format!("/api/files/{}", file["id"]))).await.expect(200);
        send(fixture.server.request(Method::GET, &path)).await.expect(404);
        // A content that is missing in the storage.
        let lost = place(&fixture.file("2", "a.png", &png(1, 1)).await);
        std::fs::remove_dir_all(folder.path().join("files")).unwrap();
        send(fixture.server.request(Method::GET, &lost)).await.expect(404);
    }

    async fn contents_are_kept_in_a_bucket(db: TestDatabase) {
        let config = SandboxConfig::new(Arc::new(SystemClock));
        let (name, access_key) = (config.bucket.clone(), config.bucket_access_key.clone());
        let secret_key = config.bucket_secret_key.clone();
        let sandbox = Sandbox::start(config).await.unwrap();
        let endpoint = format!("{}/s3", sandbox.url());
        let server = TestServer::start_as(db, Roles::Both, |config| {
            config.files_s3_endpoint = endpoint;
            config.files_s3_bucket = name;
            config.files_s3_access_key = access_key;
            config.files_s3_secret_key = secret_key.into();
        }).await;
        let project = server.project().await;
        let owner = server.owner(&project).await;
        let fixture = ProjectFixture { server, project, owner };
        let objects = async || {
            let answer = send(fixture.server.http.get(format!("{}/control/objects", sandbox.url()))).await;
            answer.expect(200)["objects"].as_array().unwrap().len()
        };
        let fault = async |fault: &str, times: u32| {
            let plan = json!({ "service": "storage", "fault": fault, "times": times });
            send(fixture.server.http.post(format!("{}/control/faults", sandbox.url())).json(&plan)).await.expect(200);
        };

        // More than one part.
        let large = pdf(11_000_000);
        let file = fixture.file("3", "large.pdf", &large).await;
        let get = || fixture.server.as_staff(&fixture.owner, Method::GET, &place(&file));
        assert!(bytes(get()).await.2 == large);
        let (status, _, part) = bytes(get().header("range", "bytes=5999998-6000001")).await;
        assert_eq!((status, part), (206, b"    ".to_vec()));
        assert_eq!(objects().await, 1);

        fault("refuse", 1).await;
        send(get()).await.expect(503);
        fault("refuse", 1).await;
        fixture.send_form(form("2", "a.png", &png(1, 1))).await.expect(503);
        send(fixture.server.as_staff(&fixture.owner, Method::DELETE, &format!("/api/files/{}", file["id"]))).await.expect(200);
        let until = Instant::now() + Duration::from_secs(30);
        while (objects().await, fixture.records().await) != (0, 0) {
            retry_until!(until, "what failed and what was deleted is swept");
        }
    }

    async fn leftovers_of_a_killed_upload_are_deleted(db: TestDatabase) {
        let environment = ProcessEnvironment::open(db, 1.0).await;
        let settings = bucket(&environment);
        let mut process = environment.spawn_with(&["serve"], &settings);
        environment.ready(&mut process).await;
        let owner_client = OwnerClient::sign_in(&environment, environment.create_project("owner")).await;
        let kept = send(owner_client.request(Method::POST, "/api/files").multipart(form("3", "kept.pdf", PDF))).await.expect(201);

        // The bucket stores the content, and its response is lost.
        environment.fault("storage", "timeout", 1, Duration::from_secs(40)).await;
        let upload = owner_client.request(Method::POST, "/api/files").multipart(form("3", "lost.pdf", PDF));
        let upload = tokio::spawn(upload.send());
        let until = Instant::now() + PATIENCE;
        while environment.control("/objects").await["objects"].as_array().unwrap().len() < 2 {
            retry_until!(until, "the content never came");
        }
        process.kill();
        assert!(upload.await.unwrap().is_err());
        assert_eq!(environment.number("SELECT COUNT(*) AS id FROM files WHERE state = 'waiting'").await, 1);

        let mut process = environment.spawn_with(&["serve"], &settings);
        environment.ready(&mut process).await;
        let lost = environment.number("SELECT id FROM files WHERE state = 'waiting'").await;
        send(owner_client.request(Method::GET, &format!("/api/files/{lost}"))).await.expect(404);
        // The waiting time of an hour is over.
        environment.execute(&["UPDATE files SET sweep_at = '2026-01-01 00:00:00' WHERE state = 'waiting'"]).await;
        let until = Instant::now() + PATIENCE;
        while environment.number("SELECT COUNT(*) AS id FROM files").await > 1 {
            retry_until!(until, "what was left is never swept");
        }
        assert_eq!(environment.control("/objects").await["objects"].as_array().unwrap().len(), 1);
        let path = format!("/api/files/{}", kept["file"]["id"]);
        assert_eq!(send(owner_client.request(Method::GET, &path)).await.expect(200), json!({ "file": kept["file"] }));

        // At the most verbose log level.
        let log = environment.log();
        for secret in ["sandbox-secret-key", kept["file"]["url"].as_str().unwrap().rsplit('/').next().unwrap()] {
            let shown = log.lines().find(|line| line.contains(secret));
            assert!(shown.is_none(), "{shown:?}");
        }
    }
}
