//! Third-party clients.

use std::io::{Write as _, stderr};
use std::path::Path;
use std::process::Command;

use crate::support::{KEY, SHOP, outside};

/// Runs a script that drives the sandbox through a third-party client, if that is installed.
async fn works_unchanged(module: &str, script: &str, arguments: &[&str]) {
    let there = Command::new("python3").args(["-c", &format!("import {module}")]).output();
    if !there.is_ok_and(|output| output.status.success()) {
        assert!(!required(), "REQUIRE_PYTHON_PEERS=1, but python3 cannot import {module}");
        // Not `eprintln!`: the test harness would swallow it.
        let told = format!("SKIPPED: {module} is not installed (pip install -r .ci/peers.txt)\n");
        stderr().write_all(told.as_bytes()).unwrap();
        return;
    }
    let outside = outside().await;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python").join(script);
    let url = outside.handle.url().to_owned();
    let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
    let output = tokio::task::spawn_blocking(move || {
        Command::new("python3").arg(script).arg(url).args(arguments).output().unwrap()
    })
    .await
    .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    assert!(text(&output.stdout).contains("all steps passed"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_official_python_sdk_works_unchanged() {
    works_unchanged("yookassa", "yookassa_sdk.py", &[SHOP, KEY]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_official_client_of_suggestions_works_unchanged() {
    works_unchanged("dadata", "dadata_client.py", &["sandbox-suggest-key"]).await;
}

/// Returns `true` if a missing peer is a failure.
#[expect(clippy::disallowed_methods, reason = "a switch of the test run, not of the program")]
fn required() -> bool {
    std::env::var("REQUIRE_PYTHON_PEERS").is_ok_and(|value| value == "1")
}
