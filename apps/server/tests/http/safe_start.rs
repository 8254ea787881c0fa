//! Messages and refusals of a process when it starts, and the permissions of the files it creates.

use std::os::unix::fs::PermissionsExt as _;

use kontor::config::DEFAULT_SECRET_KEY;
use kontor_adapter_diesel::testing::{Kind, TestDatabase};

use crate::process::Site;

async fn site() -> Site {
    Site::open(TestDatabase::fresh(Kind::Sqlite), 1.0).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_files_of_a_database_are_their_owners_alone() {
    let site = site().await;
    let process = site.serve().await;
    site.create_project("owner");
    let copy = site.folder().join("kontor.db-copy");
    site.run(&["backup", "--to", copy.to_str().unwrap()]);
    let mut seen = Vec::new();
    for file in site.folder().read_dir().unwrap() {
        let file = file.unwrap();
        let name = file.file_name().into_string().unwrap();
        if name.starts_with("kontor.db") && file.file_type().unwrap().is_file() {
            let mode = file.metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, 0o600, "{name} has {mode:o}");
            seen.push(name);
        }
    }
    seen.sort();
    assert_eq!(seen, ["kontor.db", "kontor.db-copy", "kontor.db-shm", "kontor.db-wal"]);
    process.terminate();
    process.ended().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_development_key_is_told_of_and_kept_from_the_network() {
    let site = site().await;
    let key = ("KONTOR_SECRET_KEY", DEFAULT_SECRET_KEY.to_owned());
    let open = site.command(&["serve"]).env(key.0, &key.1).env("KONTOR_BIND", "0.0.0.0:0").output().unwrap();
    let told = String::from_utf8_lossy(&open.stderr).into_owned();
    assert!(!open.status.success() && told.contains("bind") && told.contains("KONTOR_SECRET_KEY"), "{told}");
    let mut process = site.spawn_with(&["serve"], &[key]);
    site.ready(&mut process).await;
    assert!(site.log().contains("development key"), "{}", site.log());
    process.terminate();
    process.ended().await;
    let before = site.log().matches("development key").count();
    let process = site.serve().await;
    assert_eq!(site.log().matches("development key").count(), before, "a key of one's own needs no warning");
    process.terminate();
    process.ended().await;
}
