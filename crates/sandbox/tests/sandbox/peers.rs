//! Clients that others wrote.

use std::io::{Write as _, stderr};
use std::path::Path;
use std::process::Command;

use crate::support::{KEY, SHOP, outside};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_official_python_sdk_works_unchanged() {
    let there = Command::new("python3").args(["-c", "import yookassa"]).output();
    if !there.is_ok_and(|output| output.status.success()) {
        assert!(!required(), "REQUIRE_PYTHON_PEERS=1, but python3 cannot import yookassa");
        // Not `eprintln!`: the test harness would swallow it.
        writeln!(stderr(), "SKIPPED: the official Python SDK is not installed (pip install yookassa==3.13.0)").unwrap();
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

/// Whether a missing peer is a failure.
#[expect(clippy::disallowed_methods, reason = "a switch of the test run, not of the program")]
fn required() -> bool {
    std::env::var("REQUIRE_PYTHON_PEERS").is_ok_and(|value| value == "1")
}
