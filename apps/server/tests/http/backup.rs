//! A backup is taken while customers order, and restored elsewhere. After a restore no period is charged twice.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use chrono::{SecondsFormat, TimeDelta};
use kontor::adapters::SystemClock;
use kontor_adapter_diesel::testing::{Kind, TestDatabase, stays};
use kontor_adapter_diesel::{Database, DatabaseUrl, PoolOptions, database_tests};
use kontor_adapter_files::{Bucket, FileStorage};
use kontor_kernel::Clock as _;
use kontor_sandbox::SandboxConfig;
use serde_json::{Value, json};

use crate::platform_file_contents::bucket;
use crate::process::{ProcessEnvironment, number};
use crate::subscription_crash::members::{Members, subscriptions};
use crate::support::send;
use crate::trade::Market;

/// Returns the path of a PostgreSQL tool, of the newest version installed.
fn tool(name: &str) -> Option<PathBuf> {
    let versions = Path::new("/usr/lib/postgresql").read_dir().into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = versions.map(|version| version.path().join("bin").join(name)).collect();
    found.sort();
    let on_path = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .map(|folder| folder.join(name))
        .collect::<Vec<_>>();
    found.into_iter().rev().chain(on_path).find(|path| path.exists())
}

pub fn must_run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Returns the tools that dump and restore a PostgreSQL database.
pub fn tools() -> (PathBuf, PathBuf) {
    tool("pg_dump").zip(tool("pg_restore")).unwrap_or_else(|| panic!("pg_dump and pg_restore are missing"))
}

/// Returns the same bucket as the settings of `bucket`.
fn storage(environment: &ProcessEnvironment) -> FileStorage {
    let config = SandboxConfig::new(Arc::new(SystemClock));
    let (name, region) = (config.bucket, config.bucket_region);
    let (access_key, secret_key) = (config.bucket_access_key, config.bucket_secret_key.into());
    let endpoint = format!("{}/s3", environment.sandbox.url());
    FileStorage::bucket(&Bucket { endpoint, name, region, access_key, secret_key }).unwrap()
}

/// Runs a command with these settings. Returns its standard output, or its error.
fn reported(
    environment: &ProcessEnvironment,
    settings: &[(&str, String)],
    arguments: &[&str],
) -> Result<String, String> {
    let output =
        environment.command(arguments).envs(settings.iter().map(|(key, value)| (*key, value))).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

/// Returns the number of payments at the acquirer with this status.
async fn payments(environment: &ProcessEnvironment, status: &str) -> usize {
    let all =
        send(environment.http.get(format!("{}/control/payments", environment.sandbox.url()))).await.expect(200).clone();
    all["payments"].as_array().unwrap().iter().filter(|payment| payment["status"] == status).count()
}

async fn paid_periods(environment: &ProcessEnvironment) -> i64 {
    environment.number("SELECT count(*) AS id FROM subscription_payments WHERE state = 'succeeded'").await
}

/// Makes the same periods due as before the restore.
async fn falls_due_again(members: &mut Members) {
    members.rounds -= 1;
    members.fall_due(0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upload_deletes_only_earlier_backups_of_a_similar_size() {
    let environment = ProcessEnvironment::open(TestDatabase::fresh(Kind::Sqlite), 1.0).await;
    let (settings, storage) = (bucket(&environment), storage(&environment));
    let run = |arguments: &[&str]| reported(&environment, &settings, arguments);
    let upload = |arguments: &[&str]| -> Value {
        serde_json::from_str(&run(&[&["backup", "upload", "--json"][..], arguments].concat()).unwrap()).unwrap()
    };
    let names =
        async || -> Vec<String> { storage.backups().await.unwrap().into_iter().map(|backup| backup.name).collect() };
    let empty = |bytes: u64| {
        let file = tempfile::tempfile().unwrap();
        file.set_len(bytes).unwrap();
        file
    };
    let first = upload(&[]);
    let bytes = first["bytes"].as_u64().unwrap();

    // A backup from a clock that was ahead.
    let ahead = storage.put_backup(SystemClock.now() + TimeDelta::days(1), empty(3 * bytes)).await.unwrap();
    for command in [&["backup", "check"][..], &["backup", "download", "--to", "elsewhere"]] {
        let refused = run(command).unwrap_err();
        assert!(refused.contains("is dated in the future"), "{refused}");
    }
    let second = upload(&["--keep", "1"]);
    assert_eq!(second["deleted"], json!([first["name"]]));
    assert_eq!(json!(names().await), json!([ahead.name, second["name"]]));

    // A much larger backup, as if this were another database.
    let large = storage.put_backup(SystemClock.now(), empty(3 * bytes)).await.unwrap();
    let refused = run(&["backup", "upload", "--keep", "1"]).unwrap_err();
    assert!(refused.contains("smaller than half") && refused.contains(&large.name), "{refused}");
    assert_eq!(json!(names().await), json!([ahead.name, large.name, second["name"]]));
    let third = upload(&["--keep", "1", "--smaller"]);
    assert_eq!(third["deleted"], json!([large.name, second["name"]]));

    // The listing and the upload succeed, then the deletion is refused.
    environment.fault("storage", "delay", 2, Duration::from_millis(1)).await;
    environment.fault("storage", "refuse", 1, Duration::ZERO).await;
    let mut command = environment.command(&["backup", "upload", "--keep", "1", "--json"]);
    let output = command.envs(settings.iter().map(|(key, value)| (*key, value))).output().unwrap();
    let stored: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(stored["deleted"], json!([]));
    assert_eq!(json!(names().await), json!([ahead.name, stored["name"], third["name"]]));
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && error.contains("was not deleted"), "{error}");
}

database_tests! {
    async fn every_order_answered_before_a_backup_began_is_in_it(db: TestDatabase) {
        let is_sqlite = db.kind == Kind::Sqlite;
        let (dump, restore) = if is_sqlite { Default::default() } else { tools() };
        let environment = ProcessEnvironment::open(db, 1.0).await;
        let process = environment.serve().await;
        let market = Market::open(&environment).await;
        let trade = market.trade(std::slice::from_ref(&market.owner_client.front), 1).await;
        trade.goes_on(20).await;
        let before = trade.answered();
        let file = environment.folder().join("copy");
        let copy = file.to_str().unwrap();
        if is_sqlite {
            environment.run(&["backup", "--to", copy]);
            let again = environment.command(&["backup", "--to", copy]).output().unwrap();
            let reported = String::from_utf8_lossy(&again.stderr).into_owned();
            assert!(!again.status.success() && reported.contains("already exists"), "{reported}");
        } else {
            must_run(Command::new(&dump).args(["-Fc", "--file", copy, "--dbname", &environment.database()]));
            let refused = environment.command(&["backup", "--to", "elsewhere"]).output().unwrap();
            let reported = String::from_utf8_lossy(&refused.stderr).into_owned();
            assert!(!refused.status.success() && reported.contains("pg_dump"), "{reported}");
        }
        trade.goes_on(20).await;
        let answered = trade.end().await;
        process.kill();
        assert_eq!(usize::try_from(environment.number("SELECT count(*) AS id FROM orders").await).unwrap(), answered.len());

        // Restore into another database.
        let server = (!is_sqlite).then(|| TestDatabase::fresh(Kind::Postgres));
        let url = server.as_ref().map_or_else(|| DatabaseUrl::Sqlite(file.clone()), TestDatabase::url);
        let address = match &url {
            DatabaseUrl::Postgres(url) => url.clone(),
            file @ DatabaseUrl::Sqlite(_) => file.to_string(),
        };
        if !is_sqlite {
            must_run(Command::new(&restore).args(["--clean", "--if-exists", "--no-owner", "--dbname", &address, copy]));
        }
        environment.run(&["migrate", "--database", &address]);
        environment.run(&["doctor", "--database", &address]);
        let restored = Database::open(url, PoolOptions { connections: 1, ..PoolOptions::default() }).unwrap();
        let ids = before.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let kept = number(&restored, &format!("SELECT count(*) AS id FROM orders WHERE id IN ({ids})")).await;
        assert_eq!(usize::try_from(kept).unwrap(), before.len());
        let all = number(&restored, "SELECT count(*) AS id FROM orders").await;
        assert!(usize::try_from(all).unwrap() < answered.len(), "the load went on after the copy");
    }

    async fn backups_are_stored_in_the_bucket_and_restored_from_it(db: TestDatabase) {
        let is_sqlite = db.kind == Kind::Sqlite;
        let environment = ProcessEnvironment::open(db, 1.0).await;
        let settings = bucket(&environment);
        let run = |arguments: &[&str]| reported(&environment, &settings, arguments);
        if !is_sqlite {
            for command in ["upload", "list", "check"] {
                let refused = run(&["backup", command]).unwrap_err();
                assert!(refused.contains("pg_dump"), "{refused}");
            }
            return;
        }
        let refused = reported(&environment, &[], &["backup", "upload"]).unwrap_err();
        assert!(refused.contains("files_s3_bucket is not set"), "{refused}");
        let refused = run(&["backup", "check"]).unwrap_err();
        assert!(refused.contains("the bucket has no backup"), "{refused}");

        let upload = |arguments: &[&str]| -> Value {
            serde_json::from_str(&run(&[&["backup", "upload", "--json"][..], arguments].concat()).unwrap()).unwrap()
        };
        environment.create_project("owner");
        let first = upload(&[]);
        assert_eq!(first["deleted"], json!([]));
        environment.create_project("other");
        let second = upload(&["--keep", "1"]);
        assert_eq!(second["deleted"], json!([first["name"]]));
        let listed: Value = serde_json::from_str(&run(&["backup", "list", "--json"]).unwrap()).unwrap();
        assert_eq!((&listed["name"], &listed["bytes"]), (&second["name"], &second["bytes"]));
        assert_eq!(environment.control("/objects").await["objects"].as_array().unwrap().len(), 1);
        run(&["backup", "check", "--max-age-hours", "1"]).unwrap();

        let file = environment.folder().join("restored.db");
        let to = file.to_str().unwrap();
        let log = environment.folder().join("restored.db-wal");
        std::fs::write(&log, "of the old database").unwrap();
        for command in [&["backup", "download", "--to", to][..], &["backup", "--to", to]] {
            let refused = run(command).unwrap_err();
            assert!(refused.contains("restored.db-wal already exists"), "{refused}");
        }
        std::fs::remove_file(log).unwrap();
        run(&["backup", "download", "--to", to]).unwrap();
        let refused = run(&["backup", "download", "--to", to]).unwrap_err();
        assert!(refused.contains("already exists"), "{refused}");
        let refused = run(&["backup", "download", "--to", "elsewhere", "--name", "unknown"]).unwrap_err();
        assert!(refused.contains("no backup unknown"), "{refused}");
        let storage = storage(&environment);
        let old = storage.put_backup(SystemClock.now() - TimeDelta::minutes(190), File::open(&file).unwrap()).await.unwrap();
        let restored = DatabaseUrl::Sqlite(file);
        run(&["doctor", "--database", &restored.to_string()]).unwrap();
        let restored = Database::open(restored, PoolOptions { connections: 1, ..PoolOptions::default() }).unwrap();
        assert_eq!(number(&restored, "SELECT count(*) AS id FROM projects").await, 2);

        // A newer backup that is no database.
        let garbage = environment.folder().join("garbage");
        std::fs::write(&garbage, [7_u8; 10_000]).unwrap();
        let broken = storage.put_backup(SystemClock.now(), File::open(garbage).unwrap()).await.unwrap();
        run(&["backup", "check"]).unwrap_err();
        storage.remove_backup(&broken).await.unwrap();
        for backup in storage.backups().await.unwrap().iter().filter(|backup| **backup != old) {
            storage.remove_backup(backup).await.unwrap();
        }
        run(&["backup", "check"]).unwrap();
        let refused = run(&["backup", "check", "--max-age-hours", "2"]).unwrap_err();
        assert!(refused.contains("is 3 hours old"), "{refused}");
        let mut names = environment.folder().read_dir().unwrap().map(|entry| entry.unwrap().file_name());
        assert!(!names.any(|name| name.to_string_lossy().starts_with(".kontor-backup-")));
    }

    async fn a_restored_database_charges_no_period_twice(db: TestDatabase) {
        let is_sqlite = db.kind == Kind::Sqlite;
        let (dump, restore) = if is_sqlite { Default::default() } else { tools() };
        let environment = ProcessEnvironment::open(db, 1.0).await;
        let process = environment.serve().await;
        let mut members = Members::join(environment).await;
        let copy = members.environment.folder().join("copy");
        let copy = copy.to_str().unwrap().to_owned();
        let since = (SystemClock.now() - TimeDelta::minutes(1)).to_rfc3339_opts(SecondsFormat::Secs, true);
        if is_sqlite {
            members.environment.run(&["backup", "--to", &copy]);
        } else {
            must_run(Command::new(&dump).args(["-Fc", "--file", &copy, "--dbname", &members.environment.database()]));
        }
        let before = paid_periods(&members.environment).await;

        // Trade: the next period of every subscription is charged.
        members.fall_due(0).await;
        members.settle().await;
        let charged = payments(&members.environment, "succeeded").await;
        assert_eq!(paid_periods(&members.environment).await, before + subscriptions());
        process.kill();

        if is_sqlite {
            let file = members.environment.folder().join("kontor.db");
            for end in ["-wal", "-shm"] {
                let _ = std::fs::remove_file(format!("{}{end}", file.display()));
            }
            std::fs::copy(&copy, &file).unwrap();
        } else {
            must_run(Command::new(&restore).args(["--clean", "--if-exists", "--no-owner", "--dbname", &members.environment.database(), &copy]));
        }
        assert_eq!(paid_periods(&members.environment).await, before);
        falls_due_again(&mut members).await;

        // The worker pauses: the generation outside the database is ahead.
        let process = members.environment.serve().await;
        let charges = async || (members.open().await, payments(&members.environment, "succeeded").await);
        stays(Duration::from_secs(3), "nothing is charged", async || charges().await == (0, charged)).await;
        assert_eq!(members.environment.number("SELECT count(*) AS id FROM installation WHERE held_since IS NOT NULL").await, 1);
        assert!(members.environment.log().contains("was restored from a backup"));

        members.environment.run(&["reconcile", "--since", &since]);
        assert_eq!(members.environment.number("SELECT count(*) AS id FROM known_renewals").await, subscriptions());
        members.settle().await;
        assert_eq!(payments(&members.environment, "succeeded").await, charged, "nobody was charged twice");
        assert_eq!(paid_periods(&members.environment).await, before + subscriptions());

        // After `kontor reconcile` the next period is charged, once.
        members.fall_due(0).await;
        members.settle().await;
        let next = usize::try_from(subscriptions()).unwrap();
        assert_eq!(payments(&members.environment, "succeeded").await, charged + next);
        process.kill();
    }
}
