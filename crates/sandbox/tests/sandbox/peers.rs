//! Third-party clients. Install them by `pip install -r .ci/peers.txt`.

use std::path::Path;
use std::process::Command;

use crate::support::{KEY, SHOP, outside};

/// Runs a script that drives the sandbox through a third-party client.
async fn works_unchanged(script: &str, arguments: &[&str]) {
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

mod python_peers {
    use super::{KEY, SHOP, works_unchanged};

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn the_official_python_sdk_works_unchanged() {
        works_unchanged("yookassa_sdk.py", &[SHOP, KEY]).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn the_official_client_of_suggestions_works_unchanged() {
        works_unchanged("dadata_client.py", &["sandbox-suggest-key"]).await;
    }
}
