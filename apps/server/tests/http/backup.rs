//! A backup is taken while customers order, and restored elsewhere.

use std::path::{Path, PathBuf};
use std::process::Command;

use kontor_adapter_diesel::testing::{Kind, TestDatabase};
use kontor_adapter_diesel::{Database, DatabaseUrl, PoolOptions, database_tests};

use crate::process::{Site, number};
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

database_tests! {
    async fn every_order_answered_before_a_backup_began_is_in_it(db: TestDatabase) {
        let is_sqlite = db.kind == Kind::Sqlite;
        let (dump, restore) = if is_sqlite { Default::default() } else { tools() };
        let site = Site::open(db, 1.0).await;
        let process = site.serve().await;
        let market = Market::open(&site).await;
        let trade = market.trade(std::slice::from_ref(&market.desk.front), 1).await;
        trade.goes_on(20).await;
        let before = trade.answered();
        let file = site.folder().join("copy");
        let copy = file.to_str().unwrap();
        if is_sqlite {
            site.run(&["backup", "--to", copy]);
            let again = site.command(&["backup", "--to", copy]).output().unwrap();
            let told = String::from_utf8_lossy(&again.stderr).into_owned();
            assert!(!again.status.success() && told.contains("already exists"), "{told}");
        } else {
            must_run(Command::new(&dump).args(["-Fc", "--file", copy, "--dbname", &site.database()]));
            let refused = site.command(&["backup", "--to", "elsewhere"]).output().unwrap();
            let told = String::from_utf8_lossy(&refused.stderr).into_owned();
            assert!(!refused.status.success() && told.contains("pg_dump"), "{told}");
        }
        trade.goes_on(20).await;
        let answered = trade.end().await;
        process.kill();
        assert_eq!(usize::try_from(site.number("SELECT count(*) AS id FROM orders").await).unwrap(), answered.len());

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
        site.run(&["migrate", "--database", &address]);
        site.run(&["doctor", "--database", &address]);
        let restored = Database::open(url, PoolOptions { connections: 1, ..PoolOptions::default() }).unwrap();
        let ids = before.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let kept = number(&restored, &format!("SELECT count(*) AS id FROM orders WHERE id IN ({ids})")).await;
        assert_eq!(usize::try_from(kept).unwrap(), before.len());
        let all = number(&restored, "SELECT count(*) AS id FROM orders").await;
        assert!(usize::try_from(all).unwrap() < answered.len(), "the load went on after the copy");
    }
}
