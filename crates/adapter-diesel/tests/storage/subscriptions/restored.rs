//! A database that was restored from a backup charges no period twice.

use kontor_adapter_diesel::database_tests;
use kontor_kernel::{Clock, StoreError};
use kontor_payments::ports::{PaymentGateway, Reading};
use kontor_subscriptions::{StaffCommand, SubscriptionError};

use super::club::Club;
use crate::orders::counter::AcquirerMode;

/// Tables written by charging a period, in the order of deletion.
const WRITTEN: [&str; 7] = [
    "notifications",
    "subscription_payments",
    "order_events",
    "reservations",
    "charges",
    "subscription_events",
    "orders",
];
const COLUMNS: [&str; 14] = [
    "status",
    "schedule",
    "period_number",
    "period_start",
    "period_end",
    "unpaid_period",
    "next_charge_at",
    "wake_at",
    "missed",
    "parked",
    "told_period",
    "told_of",
    "version",
    "updated_at",
];

/// The current subscriptions, and the rows written since.
struct Backup {
    written: Vec<(&'static str, i64)>,
    generation: i64,
}

impl Backup {
    async fn of(club: &Club<'_>) -> Self {
        let house = &club.counter.house;
        house.run("CREATE TABLE kept_subscriptions AS SELECT * FROM subscriptions".to_owned()).await;
        let mut written = Vec::new();
        for table in WRITTEN {
            let last = house.number(format!("SELECT coalesce(max(id), 0) AS number FROM {table}")).await;
            written.push((table, last));
        }
        let generation = house.number("SELECT generation AS number FROM installation".to_owned()).await;
        Self { written, generation }
    }

    async fn restore(&self, club: &Club<'_>) {
        let house = &club.counter.house;
        for (table, last) in &self.written {
            house.run(format!("DELETE FROM {table} WHERE id > {last}")).await;
        }
        let columns = COLUMNS.map(|column| {
            format!("{column} = (SELECT k.{column} FROM kept_subscriptions k WHERE k.id = subscriptions.id)")
        });
        house.run(format!("UPDATE subscriptions SET {}", columns.join(", "))).await;
        house.run(format!("UPDATE installation SET generation = {}", self.generation)).await;
    }
}

database_tests! {
    async fn what_was_charged_after_the_backup_is_taken_over_and_not_charged_again(db: TestDatabase) {
        let club = Club::open(&db).await;
        let folder = tempfile::tempdir().unwrap();
        let is_restored = || db.database.check_generation(folder.path().to_owned(), club.counter.clock.now());
        assert!(!is_restored().await.unwrap());
        let id = club.subscribed(club.counter.customer, club.gold).await;
        let backup = Backup::of(&club).await;

        // Activity after the backup: the period is declined, and paid on a later day.
        club.counter.acquirer.mood(AcquirerMode::Declines("insufficient_funds"));
        club.go_to("2026-04-01T12:00:00Z");
        assert_eq!(club.tick().await, 1);
        club.counter.acquirer.mood(AcquirerMode::Paid);
        for _ in 0..14 {
            if club.standing(id).await.0 != "active" {
                club.counter.wait(86_400);
                club.tick().await;
            }
        }
        let (paid, made) = (club.standing(id).await, club.counter.acquirer.count());
        assert_eq!((paid.1.as_deref(), made), (Some("2026-05-01"), 3));
        assert!(!is_restored().await.unwrap());

        backup.restore(&club).await;
        assert_eq!(club.standing(id).await.1.as_deref(), Some("2026-04-01"));
        assert!(is_restored().await.unwrap() && is_restored().await.unwrap(), "it stays so until it was compared");
        assert_eq!((club.tick().await, club.counter.acquirer.count()), (0, made));
        let asked = club.desk().command(&club.staff(), id, StaffCommand::ChargeNow).await;
        assert!(matches!(asked, Err(SubscriptionError::Store(StoreError::Unavailable(_)))), "{asked:?}");

        let listed = club.counter.acquirer.list_payments(club.counter.clock.now(), None).await;
        let Reading::Known(listed) = listed else { panic!("{listed:?}") };
        for _ in 0..2 {
            let compared = db.database.compare_payments(listed.items.clone(), club.counter.clock.now()).await.unwrap();
            assert_eq!((compared.known, compared.renewals, compared.strange.len()), (1, 2, 0));
        }
        assert!(db.database.allow_charges().await.unwrap());
        assert!(!db.database.allow_charges().await.unwrap() && !is_restored().await.unwrap());

        // No charge is requested: the acquirer would refuse it.
        club.counter.acquirer.mood(AcquirerMode::Refuses);
        assert_eq!(club.tick().await, 1);
        assert_eq!((club.standing(id).await, club.counter.acquirer.count()), (paid, made));
        assert_eq!(club.counter.count("subscription_payments WHERE period = 2 AND state = 'succeeded'").await, 1);
        club.counter.acquirer.mood(AcquirerMode::Paid);
        club.go_to("2026-05-01T12:00:00Z");
        assert_eq!((club.tick().await, club.counter.acquirer.count()), (1, made + 1));
        assert_eq!(club.standing(id).await.1.as_deref(), Some("2026-06-01"));
    }
}
