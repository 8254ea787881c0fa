//! A database that was restored from a backup charges no period twice.

use kontor_adapter_diesel::database_tests;
use kontor_kernel::{Clock, StoreError};
use kontor_payments::ports::{PaymentGateway, Reading};
use kontor_subscriptions::{StaffCommand, SubscriptionError};

use super::fixture::SubscriptionFixture;
use crate::orders::shop::AcquirerMode;

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
    async fn of(fixture: &SubscriptionFixture<'_>) -> Self {
        let stock_fixture = &fixture.shop.stock_fixture;
        stock_fixture.run("CREATE TABLE kept_subscriptions AS SELECT * FROM subscriptions".to_owned()).await;
        let mut written = Vec::new();
        for table in WRITTEN {
            let last = stock_fixture.number(format!("SELECT coalesce(max(id), 0) AS number FROM {table}")).await;
            written.push((table, last));
        }
        let generation = stock_fixture.number("SELECT generation AS number FROM installation".to_owned()).await;
        Self { written, generation }
    }

    async fn restore(&self, fixture: &SubscriptionFixture<'_>) {
        let stock_fixture = &fixture.shop.stock_fixture;
        for (table, last) in &self.written {
            stock_fixture.run(format!("DELETE FROM {table} WHERE id > {last}")).await;
        }
        let columns = COLUMNS.map(|column| {
            format!("{column} = (SELECT k.{column} FROM kept_subscriptions k WHERE k.id = subscriptions.id)")
        });
        stock_fixture.run(format!("UPDATE subscriptions SET {}", columns.join(", "))).await;
        stock_fixture.run(format!("UPDATE installation SET generation = {}", self.generation)).await;
    }
}

database_tests! {
    async fn charges_after_the_backup_are_adopted_and_not_repeated(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let folder = tempfile::tempdir().unwrap();
        let is_restored = || db.database.check_generation(folder.path().to_owned(), fixture.shop.clock.now());
        assert!(!is_restored().await.unwrap());
        let id = fixture.subscribed(fixture.shop.customer, fixture.gold).await;
        let backup = Backup::of(&fixture).await;

        // Activity after the backup: the period is declined, and paid on a later day.
        fixture.shop.acquirer.set_mode(AcquirerMode::Declines("insufficient_funds"));
        fixture.go_to("2026-04-01T12:00:00Z");
        assert_eq!(fixture.tick().await, 1);
        fixture.shop.acquirer.set_mode(AcquirerMode::Paid);
        for _ in 0..14 {
            if fixture.standing(id).await.0 != "active" {
                fixture.shop.wait(86_400);
                fixture.tick().await;
            }
        }
        let (paid, made) = (fixture.standing(id).await, fixture.shop.acquirer.count());
        assert_eq!((paid.1.as_deref(), made), (Some("2026-05-01"), 3));
        assert!(!is_restored().await.unwrap());

        backup.restore(&fixture).await;
        assert_eq!(fixture.standing(id).await.1.as_deref(), Some("2026-04-01"));
        assert!(is_restored().await.unwrap() && is_restored().await.unwrap(), "it stays so until it was compared");
        assert_eq!((fixture.tick().await, fixture.shop.acquirer.count()), (0, made));
        let asked = fixture.staff_subscriptions().command(&fixture.staff(), id, StaffCommand::ChargeNow).await;
        assert!(matches!(asked, Err(SubscriptionError::Store(StoreError::Unavailable(_)))), "{asked:?}");

        let listed = fixture.shop.acquirer.list_payments(fixture.shop.clock.now(), None).await;
        let Reading::Known(listed) = listed else { panic!("{listed:?}") };
        for _ in 0..2 {
            let compared = db.database.compare_payments(listed.items.clone(), fixture.shop.clock.now()).await.unwrap();
            assert_eq!((compared.known, compared.renewals, compared.unexpected.len()), (1, 2, 0));
        }
        assert!(db.database.allow_charges().await.unwrap());
        assert!(!db.database.allow_charges().await.unwrap() && !is_restored().await.unwrap());

        // No charge is requested: the acquirer would refuse it.
        fixture.shop.acquirer.set_mode(AcquirerMode::Refuses);
        assert_eq!(fixture.tick().await, 1);
        assert_eq!((fixture.standing(id).await, fixture.shop.acquirer.count()), (paid, made));
        assert_eq!(fixture.shop.count("subscription_payments WHERE period = 2 AND state = 'succeeded'").await, 1);
        fixture.shop.acquirer.set_mode(AcquirerMode::Paid);
        fixture.go_to("2026-05-01T12:00:00Z");
        assert_eq!((fixture.tick().await, fixture.shop.acquirer.count()), (1, made + 1));
        assert_eq!(fixture.standing(id).await.1.as_deref(), Some("2026-06-01"));
    }
}
