//! A backup, trade, a restore: no period is charged twice.

use std::process::Command;
use std::time::Duration;

use chrono::{SecondsFormat, TimeDelta};
use kontor::adapters::SystemClock;
use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::{Kind, stays};
use kontor_kernel::Clock as _;

use crate::backup::{must_run, tools};
use crate::process::Site;
use crate::subscription_crash::members::{Members, subscriptions};
use crate::support::send;

/// Returns the number of payments at the acquirer with this status.
async fn payments(site: &Site, status: &str) -> usize {
    let all = send(site.http.get(format!("{}/control/payments", site.sandbox.url()))).await.expect(200).clone();
    all["payments"].as_array().unwrap().iter().filter(|payment| payment["status"] == status).count()
}

async fn paid_periods(site: &Site) -> i64 {
    site.number("SELECT count(*) AS id FROM subscription_payments WHERE state = 'succeeded'").await
}

/// Makes the same periods due as before the restore.
async fn falls_due_again(members: &mut Members) {
    members.rounds -= 1;
    members.fall_due(0).await;
}

database_tests! {
    async fn a_restored_database_charges_no_period_twice(db: TestDatabase) {
        let is_sqlite = db.kind == Kind::Sqlite;
        let (dump, restore) = if is_sqlite { Default::default() } else { tools() };
        let site = Site::open(db, 1.0).await;
        let process = site.serve().await;
        let mut members = Members::join(site).await;
        let copy = members.site.folder().join("copy");
        let copy = copy.to_str().unwrap().to_owned();
        let since = (SystemClock.now() - TimeDelta::minutes(1)).to_rfc3339_opts(SecondsFormat::Secs, true);
        if is_sqlite {
            members.site.run(&["backup", "--to", &copy]);
        } else {
            must_run(Command::new(&dump).args(["-Fc", "--file", &copy, "--dbname", &members.site.database()]));
        }
        let before = paid_periods(&members.site).await;

        // Trade: the next period of every subscription is charged.
        members.fall_due(0).await;
        members.settle().await;
        let charged = payments(&members.site, "succeeded").await;
        assert_eq!(paid_periods(&members.site).await, before + subscriptions());
        process.kill();

        if is_sqlite {
            let file = members.site.folder().join("kontor.db");
            for end in ["-wal", "-shm"] {
                let _ = std::fs::remove_file(format!("{}{end}", file.display()));
            }
            std::fs::copy(&copy, &file).unwrap();
        } else {
            must_run(Command::new(&restore).args(["--clean", "--if-exists", "--no-owner", "--dbname", &members.site.database(), &copy]));
        }
        assert_eq!(paid_periods(&members.site).await, before);
        falls_due_again(&mut members).await;

        // The worker pauses: the generation outside the database is ahead.
        let process = members.site.serve().await;
        let charges = async || (members.open().await, payments(&members.site, "succeeded").await);
        stays(Duration::from_secs(3), "nothing is charged", async || charges().await == (0, charged)).await;
        assert_eq!(members.site.number("SELECT count(*) AS id FROM installation WHERE held_since IS NOT NULL").await, 1);
        assert!(members.site.log().contains("was restored from a backup"));

        members.site.run(&["reconcile", "--since", &since]);
        assert_eq!(members.site.number("SELECT count(*) AS id FROM known_renewals").await, subscriptions());
        members.settle().await;
        assert_eq!(payments(&members.site, "succeeded").await, charged, "nobody was charged twice");
        assert_eq!(paid_periods(&members.site).await, before + subscriptions());

        // After `kontor reconcile` the next period is charged, once.
        members.fall_due(0).await;
        members.settle().await;
        let next = usize::try_from(subscriptions()).unwrap();
        assert_eq!(payments(&members.site, "succeeded").await, charged + next);
        process.kill();
    }
}
