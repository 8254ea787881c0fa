//! Work that fails in the worker: it neither charges nor repeats forever.

use chrono::{DateTime, TimeDelta};
use kontor_adapter_diesel::database_tests;
use kontor_kernel::{ChangeLog, ChangePosition, ChangedList, Clock as _, Stamp};
use kontor_orders::model::OrderStatus;
use kontor_organization::ports::ApplicationRepository;
use kontor_payments::model::{ReceiptTerms, VatCode};
use kontor_payments::ports::ReceiptSettings;
use kontor_subscriptions::model::{AttemptState, SubscriptionPolicy};
use kontor_subscriptions::ports::SubscriptionStore;
use kontor_subscriptions::{MissedPeriods, StaffCommand, SubscriptionError, SubscriptionRefusal, SubscriptionStatus};

use super::club::Club;
use crate::orders::counter::AcquirerMode;

impl Club<'_> {
    async fn run(&self, statement: &str) {
        self.counter.house.run(statement.to_owned()).await;
    }

    /// Activates or deactivates the application of the customers.
    async fn switch(&self, is_active: bool) {
        let app = self.counter.customer.app;
        let stamp = Stamp::of_system(app.project_id, self.counter.clock.now());
        let applications: &dyn ApplicationRepository = &self.counter.house.db.database;
        applications.switch(stamp, app.application_id, is_active).await.unwrap();
    }
}

database_tests! {
    async fn a_switched_application_changes_its_subscriptions(db: TestDatabase) {
        let club = Club::open(&db).await;
        let customer = club.counter.customer;
        let id = club.subscribed(customer, club.gold).await;
        club.counter.wait(600);
        let after = ChangePosition { at: club.counter.clock.now() - TimeDelta::seconds(1), id: 0 };
        let changed = async || {
            let (project, list) = (customer.app.project_id, ChangedList::Subscriptions);
            db.database.changes(project, list, after, DateTime::UNIX_EPOCH, 10).await.unwrap()
        };
        assert_eq!(changed().await, []);
        club.switch(false).await;
        assert_eq!(changed().await.iter().map(|change| change.position.id).collect::<Vec<_>>(), [id.get()]);
    }

    async fn without_a_contact_for_its_receipt_a_renewal_is_a_failed_try(db: TestDatabase) {
        let club = Club::open(&db).await;
        let anna = club.counter.customer;
        let id = club.subscribed(anna, club.gold).await;
        let terms = ReceiptTerms { tax_system: None, default_vat: VatCode::new(4).unwrap() };
        assert!(db.database.set_receipt_terms(anna.app.project_id, Some(terms)).await.unwrap());
        club.run("UPDATE counterparties SET phone_1 = NULL, email = NULL").await;
        club.counter.acquirer.mood(AcquirerMode::Paid);
        let made = club.counter.acquirer.count();
        club.go_to("2026-04-01T12:00:00Z");
        assert_eq!(club.tick().await, 0);
        let failed = club.see(id).await;
        let last = failed.latest.unwrap();
        assert_eq!((failed.subscription.status, last.state), (SubscriptionStatus::PastDue, AttemptState::Failed));
        assert_eq!(last.reason.as_deref(), Some("receipt_contact_missing"));
        assert_eq!(club.counter.order(last.order).await.status, OrderStatus::Canceled);
        assert_eq!(club.notices().await.last().unwrap(), "subscription_payment_failed");
        let refused = club.service.retry(anna, id, last.id).await;
        assert!(matches!(refused, Err(SubscriptionError::Refused(SubscriptionRefusal::NoContact))), "{refused:?}");
        assert_eq!(club.counter.count("subscription_payments").await, 2, "a refused retry is no try");

        club.run("UPDATE counterparties SET email = 'anna@shop.example'").await;
        let paid = club.service.retry(anna, id, last.id).await.unwrap();
        assert_eq!((paid.subscription.status, club.counter.acquirer.count()), (SubscriptionStatus::Active, made + 1));

        // Permanent: the subscription ends, and the acquirer receives no request.
        club.run("UPDATE counterparties SET email = NULL").await;
        for _ in 0..90 {
            club.counter.wait(86_400);
            assert_eq!(club.tick().await, 0);
        }
        assert_eq!(club.see(id).await.subscription.status, SubscriptionStatus::Canceled);
        assert_eq!(club.notices().await.last().unwrap(), "subscription_ended");
        assert_eq!(club.counter.acquirer.count(), made + 1);
        assert!(club.counter.count("subscription_payments WHERE period = 3").await <= 8);
    }

    async fn what_fails_again_and_again_is_put_off_and_parked(db: TestDatabase) {
        let club = Club::open(&db).await;
        let id = club.subscribed(club.counter.customer, club.gold).await;
        club.counter.acquirer.mood(AcquirerMode::Paid);
        // A row that cannot be decoded.
        club.run("UPDATE subscriptions SET schedule = '[' || schedule").await;
        club.go_to("2026-04-01T12:00:00Z");
        let mut failures = Vec::new();
        for minute in 0..40 * 60 {
            let ran = club.scheduler.run(10).await.unwrap();
            failures.extend(ran.failed.iter().map(|_| minute));
            club.counter.wait(60);
        }
        assert_eq!(failures, [0, 2, 6, 14, 30, 62, 126, 254, 510, 870], "pauses grow, and end");
        let parked = "subscriptions WHERE parked = 'work_failed' AND parked_at IS NOT NULL AND wake_at IS NULL \
                      AND next_charge_at IS NULL";
        assert_eq!(club.counter.count(parked).await, 1);
        // There is no notification about a row that cannot be decoded.
        assert_eq!(club.counter.count("notifications WHERE code = 'subscription_on_hold'").await, 0);

        club.run("UPDATE subscriptions SET schedule = substr(schedule, 2)").await;
        club.desk().command(&club.staff(), id, StaffCommand::Release).await.unwrap();
        assert_eq!(club.tick().await, 1);
        assert_eq!(club.standing(id).await.0, "active");
        assert_eq!(club.counter.count("subscriptions WHERE work_attempts = 0").await, 1);
    }

    async fn one_that_its_worker_dies_of_is_parked(db: TestDatabase) {
        let club = Club::open(&db).await;
        club.subscribed(club.counter.customer, club.gold).await;
        club.counter.acquirer.mood(AcquirerMode::Paid);
        club.go_to("2026-04-01T12:00:00Z");
        for _ in 0..10 {
            let now = club.counter.clock.now();
            let leased = db.database.lease_due(now, now + TimeDelta::minutes(2), 3).await.unwrap();
            assert_eq!(leased.len(), 1);
            club.counter.wait(120);
        }
        let ran = club.scheduler.run(10).await.unwrap();
        assert_eq!((ran.failed.len(), ran.charged), (1, 0));
        assert_eq!(club.counter.count("subscriptions WHERE parked = 'work_failed'").await, 1);
        assert_eq!(club.notices().await.last().unwrap(), "subscription_on_hold");
    }

    async fn a_change_in_between_begins_anew(db: TestDatabase) {
        let club = Club::open(&db).await;
        let anna = club.counter.customer;
        let id = club.subscribed(anna, club.gold).await;
        club.go_to("2026-04-01T12:00:00Z");
        let now = club.counter.clock.now();
        let leased = db.database.lease_due(now, now + TimeDelta::minutes(2), 3).await.unwrap();
        club.service.cancel(anna, id).await.unwrap();
        db.database.postpone(leased[0], None, now).await.unwrap();
        let canceled = club.see(id).await.subscription;
        assert_eq!((canceled.status, canceled.parked), (SubscriptionStatus::Canceled, None));
    }

    async fn a_deactivated_application_charges_nothing_and_catches_nothing_up(db: TestDatabase) {
        let club = Club::open(&db).await;
        let policy = SubscriptionPolicy { missed: MissedPeriods::Collect, ..SubscriptionPolicy::default() };
        club.desk().set_policy(&club.staff(), policy).await.unwrap();
        let id = club.subscribed(club.counter.customer, club.gold).await;
        club.counter.acquirer.mood(AcquirerMode::Paid);
        club.switch(false).await;
        assert_eq!(club.tick().await, 0);
        let (active, paid_until) = ("active".to_owned(), Some("2026-04-01".to_owned()));
        assert_eq!(club.standing(id).await, (active.clone(), paid_until, None), "no charge is planned");
        let record = async || club.desk().read(&club.staff(), id).await.unwrap();
        assert!(!record().await.application_active);
        for _ in 0..100 {
            club.counter.wait(86_400);
            assert_eq!(club.tick().await, 0);
        }
        let refused = club.desk().command(&club.staff(), id, StaffCommand::ChargeNow).await;
        let reason = SubscriptionRefusal::ApplicationInactive;
        assert!(matches!(&refused, Err(SubscriptionError::Refused(refused)) if *refused == reason), "{refused:?}");
        assert_eq!(club.notices().await, ["subscription_activated"]);

        for _ in 0..2 {
            club.switch(true).await;
        }
        assert!(record().await.application_active);
        assert_eq!(club.tick().await, 1, "the current period");
        for _ in 0..10 {
            club.counter.wait(86_400);
            assert_eq!(club.tick().await, 0, "what was not served is not collected");
        }
        let until = Some("2026-07-01".to_owned());
        assert_eq!(club.standing(id).await, (active, until.clone(), until));
        assert_eq!(club.counter.count("subscription_payments").await, 2);
    }

    async fn tries_rest_while_the_application_is_deactivated(db: TestDatabase) {
        let club = Club::open(&db).await;
        let id = club.subscribed(club.counter.customer, club.gold).await;
        club.counter.acquirer.mood(AcquirerMode::Declines("insufficient_funds"));
        club.go_to("2026-04-01T12:00:00Z");
        assert_eq!(club.tick().await, 1);
        club.switch(false).await;
        for _ in 0..40 {
            club.counter.wait(86_400);
            assert_eq!(club.tick().await, 0);
        }
        club.switch(true).await;
        club.counter.acquirer.mood(AcquirerMode::Paid);
        assert_eq!(club.tick().await, 1);
        assert_eq!(club.tick().await, 0);
        assert_eq!(club.standing(id).await.1.unwrap(), "2026-06-01");
    }
}
