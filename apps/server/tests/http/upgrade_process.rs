//! One binary is replaced by the next while customers order.
//!
//! `UPGRADE_FROM` names the older binary, and `UPGRADE_MIGRATIONS` is the number of migrations it does not know:
//! `just upgrade-drill`. Without them the binary of this test is used for both, before and after a migration that
//! only adds.

use std::path::PathBuf;

use kontor_adapter_diesel::database_tests;

use crate::process::{ProcessEnvironment, lasting_address};
use crate::trade::Market;

/// An additive migration, and the record that it was applied.
const ADDED: [&str; 5] = [
    "CREATE TABLE of_later (id BIGINT NOT NULL PRIMARY KEY)",
    "ALTER TABLE orders ADD COLUMN note_of_later TEXT",
    "ALTER TABLE nomenclatures ADD COLUMN rank_of_later BIGINT NOT NULL DEFAULT 0",
    "CREATE INDEX orders_by_note_of_later ON orders (note_of_later)",
    "INSERT INTO __diesel_schema_migrations (version) VALUES ('9001')",
];

const NEWER: &str = "the database has migrations that this binary does not know";

#[expect(clippy::disallowed_methods, reason = "tests are configured by their environment alone")]
fn previous() -> Option<(PathBuf, String)> {
    let binary = std::env::var("UPGRADE_FROM").ok()?;
    Some((binary.into(), std::env::var("UPGRADE_MIGRATIONS").unwrap()))
}

fn newest_migration() -> String {
    let folder = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../migrations/sqlite"));
    let names = folder.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.max().unwrap()
}

database_tests! {
    async fn orders_go_on_while_one_binary_follows_another(db: TestDatabase) {
        let environment = ProcessEnvironment::open(db, 1.0).await;
        // Commands of this binary refuse a database that lacks a migration.
        let project = environment.create_project("owner");
        // An older binary may not know all settings of this one.
        let (older, migrations) = match previous() {
            Some((binary, migrations)) => (environment.command_of(&binary, &["serve"]), migrations),
            None => (environment.command(&["serve"]), "0".to_owned()),
        };
        if migrations != "0" {
            environment.run(&["migrate", "--revert", &migrations]);
        }
        let mut older = environment.start(older);
        environment.ready(&mut older).await;
        let market = Market::of(&environment, project).await;
        let trade = market.trade(std::slice::from_ref(&market.owner_client.front), 1).await;
        trade.goes_on(10).await;
        environment.run(&["migrate"]);
        if migrations == "0" {
            environment.execute(&ADDED).await;
        }
        trade.goes_on(10).await;
        let address = lasting_address();
        let mut newer = environment.spawn_with(&["serve"], &[("KONTOR_BIND", address.to_string())]);
        environment.ready_at(address, &mut newer).await;
        let mut beside = market.owner_client.front.clone();
        beside.url = format!("http://{address}");
        let both = market.trade(&[market.owner_client.front.clone(), beside.clone()], 2).await;
        both.goes_on(20).await;
        trade.goes_on(5).await;
        let mut answered = trade.end().await;
        answered.extend(both.end().await);
        let (status, reported) = environment.readiness().await.unwrap();
        assert_eq!((status, &reported["checks"]["migrations"]), (200, &"ok".into()), "{reported}");
        older.terminate();
        assert!(older.ended().await.success());
        let last = market.trade(&[beside], 3).await;
        last.goes_on(10).await;
        answered.extend(last.end().await);
        let stored = environment.number("SELECT count(*) AS id FROM orders").await;
        assert_eq!(usize::try_from(stored).unwrap(), answered.len(), "each answer is an order, each order was answered");
        environment.run(&["doctor"]);
        if migrations == "0" {
            // The first process detected it while it served, the second at its start; each logs it once.
            assert_eq!(environment.log().lines().filter(|line| line.contains(NEWER)).count(), 2);
        }
        newer.terminate();
        assert!(newer.ended().await.success());
    }

    async fn a_binary_says_which_migration_it_misses(db: TestDatabase) {
        let environment = ProcessEnvironment::open(db, 1.0).await;
        environment.run(&["migrate", "--revert", "1"]);
        for command in ["serve", "worker", "doctor"] {
            let refused = environment.command(&[command]).output().unwrap();
            let reported = String::from_utf8_lossy(&refused.stderr).into_owned();
            assert!(!refused.status.success() && reported.contains(&newest_migration()), "{command}: {reported}");
        }
        environment.run(&["migrate"]);
        environment.serve().await.kill();
    }

    async fn a_database_of_an_older_release_is_refused(db: TestDatabase) {
        let environment = ProcessEnvironment::open(db, 1.0).await;
        environment.execute(&["UPDATE __diesel_schema_migrations SET version = '0114' WHERE version = '2001'"]).await;
        for command in ["serve", "worker", "doctor", "migrate"] {
            let refused = environment.command(&[command]).output().unwrap();
            let printed = String::from_utf8_lossy(&refused.stderr).into_owned();
            assert_eq!(refused.status.code(), Some(1), "{command}: {printed}");
            assert!(printed.contains("older release") && printed.contains("start with an empty database"), "{command}: {printed}");
        }
    }
}
