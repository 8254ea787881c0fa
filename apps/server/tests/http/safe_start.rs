//! Messages and refusals of a process when it starts, and the permissions of the files it creates.

use std::os::unix::fs::PermissionsExt as _;

use kontor::config::DEFAULT_SECRET_KEY;
use kontor_adapter_diesel::testing::{Kind, TestDatabase};

use crate::process::ProcessEnvironment;

async fn environment() -> ProcessEnvironment {
    ProcessEnvironment::open(TestDatabase::fresh(Kind::Sqlite), 1.0).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_files_of_a_database_are_their_owners_alone() {
    let environment = environment().await;
    let process = environment.serve().await;
    environment.create_project("owner");
    let copy = environment.folder().join("kontor.db-copy");
    environment.run(&["backup", "--to", copy.to_str().unwrap()]);
    let mut seen = Vec::new();
    for file in environment.folder().read_dir().unwrap() {
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
async fn the_development_key_is_warned_of_and_refused_on_the_network() {
    let environment = environment().await;
    let key = ("KONTOR_SECRET_KEY", DEFAULT_SECRET_KEY.to_owned());
    let open = environment.command(&["serve"]).env(key.0, &key.1).env("KONTOR_BIND", "0.0.0.0:0").output().unwrap();
    let reported = String::from_utf8_lossy(&open.stderr).into_owned();
    assert!(
        !open.status.success() && reported.contains("bind") && reported.contains("KONTOR_SECRET_KEY"),
        "{reported}"
    );
    let mut process = environment.spawn_with(&["serve"], &[key]);
    environment.ready(&mut process).await;
    assert!(environment.log().contains("development key"), "{}", environment.log());
    process.terminate();
    process.ended().await;
    let before = environment.log().matches("development key").count();
    let process = environment.serve().await;
    assert_eq!(environment.log().matches("development key").count(), before, "a key of one's own needs no warning");
    process.terminate();
    process.ended().await;
}
