//! Clients that others wrote.

use std::path::Path;
use std::process::Command;

use crate::support::{KEY, SHOP, outside};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_official_python_sdk_works_unchanged() {
    let there = Command::new("python3").args(["-c", "import yookassa"]).output();
    if !there.is_ok_and(|output| output.status.success()) {
        let required = std::env::vars().any(|(name, value)| name == "REQUIRE_PYTHON_PEERS" && value == "1");
        assert!(!required, "REQUIRE_PYTHON_PEERS=1, but python3 cannot import yookassa");
        eprintln!("SKIPPED: the official Python SDK is not installed (pip install yookassa==3.13.0)");
        return;
    }
    let outside = outside().await;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/yookassa_sdk.py");
    let url = outside.handle.url().to_owned();
    let output = tokio::task::spawn_blocking(move || {
        Command::new("python3").arg(script).args([url.as_str(), SHOP, KEY]).output().unwrap()
    })
    .await
    .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    assert!(text(&output.stdout).contains("all steps passed"));
}
