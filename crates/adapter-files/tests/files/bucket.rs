//! Against the sandbox, over HTTP.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kontor_adapter_files::{Bucket, FileStorage};
use kontor_content::ports::FileStore;
use kontor_kernel::FixedClock;
use kontor_sandbox::{Sandbox, SandboxConfig, SandboxHandle};

use crate::backups::keeps_backups;
use crate::support::{file, get, keeps_contents, keeps_smaller_copies, key, noise, project, put, remove};

struct Outside {
    sandbox: SandboxHandle,
    bucket: Bucket,
}

impl Outside {
    async fn start() -> Self {
        let clock = Arc::new(FixedClock::at(chrono::DateTime::UNIX_EPOCH));
        let config = SandboxConfig::new(clock);
        let secret_key = config.bucket_secret_key.clone().into();
        let (name, region) = (config.bucket.clone(), config.bucket_region.clone());
        let access_key = config.bucket_access_key.clone();
        let sandbox = Sandbox::start(config).await.unwrap();
        let endpoint = format!("{}/s3", sandbox.url());
        Self { sandbox, bucket: Bucket { endpoint, name, region, access_key, secret_key } }
    }

    fn storage(&self) -> FileStorage {
        FileStorage::bucket(&self.bucket).unwrap()
    }

    async fn control(&self, method: reqwest::Method, path: &str, body: &str) -> String {
        let url = format!("{}/control{path}", self.sandbox.url());
        let call = reqwest::Client::new().request(method, url).body(body.to_owned());
        call.send().await.unwrap().error_for_status().unwrap().text().await.unwrap()
    }

    async fn fault(&self, fault: &str, times: u32, delay_ms: u32) {
        let plan = format!(r#"{{"service":"storage","fault":"{fault}","times":{times},"delay_ms":{delay_ms}}}"#);
        self.control(reqwest::Method::POST, "/faults", &plan).await;
    }

    async fn objects(&self) -> String {
        self.control(reqwest::Method::GET, "/objects", "").await
    }
}

const NOTHING: &str = r#"{"objects":[],"uploads":0}"#;

#[tokio::test]
async fn a_bucket_keeps_contents() {
    let outside = Outside::start().await;
    keeps_contents(&outside.storage()).await;
}

#[tokio::test]
async fn a_bucket_keeps_smaller_copies() {
    let outside = Outside::start().await;
    keeps_smaller_copies(&outside.storage()).await;
    assert_eq!(outside.objects().await, NOTHING);
}

#[tokio::test]
async fn a_bucket_keeps_backups() {
    let outside = Outside::start().await;
    put(&outside.storage(), 1, b"no backup").await.unwrap();
    keeps_backups(&outside.storage()).await;
}

#[tokio::test]
async fn passing_faults_are_survived() {
    let outside = Outside::start().await;
    let storage = outside.storage();
    let content = noise(11_000_000);
    for fault in ["http_500", "http_500_after_commit", "drop"] {
        outside.fault(fault, 1, 0).await;
        put(&storage, 1, &content).await.unwrap();
        if fault != "http_500_after_commit" {
            outside.fault(fault, 1, 0).await;
        }
        assert!(get(&storage, 1, 0..content.len()).await.unwrap() == content, "{fault}");
        outside.fault(fault, 1, 0).await;
        remove(&storage, 1).await;
        assert_eq!(get(&storage, 1, 0..1).await, None, "{fault}");
    }
    for fault in ["http_500", "drop"] {
        outside.fault(fault, 1, 0).await;
        assert!(storage.backups().await.unwrap().is_empty(), "{fault}");
    }
    outside.fault("delay", 1, 300).await;
    let started = Instant::now();
    put(&storage, 2, b"slow").await.unwrap();
    assert!(started.elapsed() >= Duration::from_millis(300));
}

#[tokio::test]
async fn a_bucket_that_refuses_keeps_nothing() {
    let outside = Outside::start().await;
    let storage = outside.storage();
    outside.fault("refuse", 1, 0).await;
    assert!(put(&storage, 1, b"small").await.is_err());
    outside.fault("http_500", 100, 0).await;
    assert!(put(&storage, 2, b"small").await.is_err());
    assert!(storage.remove(project(), key(2)).await.is_err());
    outside.control(reqwest::Method::DELETE, "/faults", "").await;
    assert_eq!(outside.objects().await, NOTHING);
}

#[tokio::test]
async fn an_upload_in_parts_that_fails_is_aborted() {
    let outside = Outside::start().await;
    let storage = outside.storage();
    // The upload starts, and then every part is refused.
    outside.fault("delay", 1, 1).await;
    outside.fault("refuse", 1, 0).await;
    assert!(put(&storage, 1, &noise(12_000_000)).await.is_err());
    for _ in 0..1_200 {
        if outside.objects().await == NOTHING {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(outside.objects().await, NOTHING);
}

#[tokio::test]
async fn requests_are_signed() {
    let outside = Outside::start().await;
    for wrong in [
        Bucket { secret_key: "another".to_owned().into(), ..outside.bucket.clone() },
        Bucket { access_key: "another".to_owned(), ..outside.bucket.clone() },
        Bucket { region: "another".to_owned(), ..outside.bucket.clone() },
        Bucket { name: "another".to_owned(), ..outside.bucket.clone() },
    ] {
        let storage = FileStorage::bucket(&wrong).unwrap();
        let failed = storage.put(project(), key(1), file(b"x")).await.unwrap_err().to_string();
        assert!(!failed.contains("sandbox-secret-key"), "{failed}");
    }
    let plain = reqwest::Client::new().put(format!("{}/kontor/x", outside.bucket.endpoint)).body("x");
    assert_eq!(plain.send().await.unwrap().status(), 403);
    assert_eq!(outside.objects().await, NOTHING);
    assert!(!format!("{:?}", outside.bucket).contains("sandbox-secret-key"));
    assert!(FileStorage::bucket(&Bucket { endpoint: "no address".to_owned(), ..outside.bucket.clone() }).is_err());
}
