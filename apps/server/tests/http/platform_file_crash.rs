//! A process that dies between storing a content and its record.

use std::time::{Duration, Instant};

use kontor_adapter_diesel::{database_tests, look_again};
use kontor_sandbox::SandboxConfig;
use reqwest::Method;
use serde_json::json;

use crate::desk::Desk;
use crate::platform_files::{PDF, form};
use crate::process::{PATIENCE, Site};
use crate::support::send;

/// Returns the settings for the sandbox's bucket.
fn bucket(site: &Site) -> Vec<(&'static str, String)> {
    let config = SandboxConfig::new(std::sync::Arc::new(kontor::adapters::SystemClock));
    vec![
        ("KONTOR_FILES_S3_ENDPOINT", format!("{}/s3", site.sandbox.url())),
        ("KONTOR_FILES_S3_BUCKET", config.bucket),
        ("KONTOR_FILES_S3_REGION", config.bucket_region),
        ("KONTOR_FILES_S3_ACCESS_KEY", config.bucket_access_key),
        ("KONTOR_FILES_S3_SECRET_KEY", config.bucket_secret_key),
    ]
}

database_tests! {
    async fn what_a_killed_upload_left_is_swept(db: TestDatabase) {
        let site = Site::open(db, 1.0).await;
        let settings = bucket(&site);
        let mut process = site.spawn_with(&["serve"], &settings);
        site.ready(&mut process).await;
        let desk = Desk::sign_in(&site, site.create_project("owner")).await;
        let kept = send(desk.request(Method::POST, "/api/files").multipart(form("3", "kept.pdf", PDF))).await.expect(201);

        // The bucket stores the content, and its response is lost.
        site.fault("storage", "timeout", 1, Duration::from_secs(40)).await;
        let upload = desk.request(Method::POST, "/api/files").multipart(form("3", "lost.pdf", PDF));
        let upload = tokio::spawn(upload.send());
        let until = Instant::now() + PATIENCE;
        while site.control("/objects").await["objects"].as_array().unwrap().len() < 2 {
            look_again!(until, "the content never came");
        }
        process.kill();
        assert!(upload.await.unwrap().is_err());
        assert_eq!(site.number("SELECT COUNT(*) AS id FROM files WHERE state = 'waiting'").await, 1);

        let mut process = site.spawn_with(&["serve"], &settings);
        site.ready(&mut process).await;
        let lost = site.number("SELECT id FROM files WHERE state = 'waiting'").await;
        send(desk.request(Method::GET, &format!("/api/files/{lost}"))).await.expect(404);
        // The waiting time of an hour is over.
        site.execute(&["UPDATE files SET sweep_at = '2026-01-01 00:00:00' WHERE state = 'waiting'"]).await;
        let until = Instant::now() + PATIENCE;
        while site.number("SELECT COUNT(*) AS id FROM files").await > 1 {
            look_again!(until, "what was left is never swept");
        }
        assert_eq!(site.control("/objects").await["objects"].as_array().unwrap().len(), 1);
        let path = format!("/api/files/{}", kept["file"]["id"]);
        assert_eq!(send(desk.request(Method::GET, &path)).await.expect(200), json!({ "file": kept["file"] }));

        // At the most verbose log level.
        let log = site.log();
        for secret in ["sandbox-secret-key", kept["file"]["url"].as_str().unwrap().rsplit('/').next().unwrap()] {
            let shown = log.lines().find(|line| line.contains(secret));
            assert!(shown.is_none(), "{shown:?}");
        }
    }
}
