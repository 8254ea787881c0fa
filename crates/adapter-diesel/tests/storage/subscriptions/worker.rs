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

use super::fixture::SubscriptionFixture;
use crate::orders::shop::AcquirerMode;

impl SubscriptionFixture<'_> {
    async fn run(&self, statement: &str) {
        self.shop.stock_fixture.run(statement.to_owned()).await;
    }

    /// Activates or deactivates the application of the customers.
    async fn switch(&self, is_active: bool) {
        let app = self.shop.customer.app;
        let stamp = Stamp::of_system(app.project_id, self.shop.clock.now());
        let applications: &dyn ApplicationRepository = &self.shop.stock_fixture.db.database;
        applications.switch(stamp, app.application_id, is_active).await.unwrap();
    }
}

database_tests! {
    async fn a_switched_application_changes_its_subscriptions(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let customer = fixture.shop.customer;
        let id = fixture.subscribed(customer, fixture.gold).await;
        fixture.shop.wait(600);
        let after = ChangePosition { at: fixture.shop.clock.now() - TimeDelta::seconds(1), id: 0 };
        let changed = async || {
            let (project, list) = (customer.app.project_id, ChangedList::Subscriptions);
            db.database.changes(project, list, after, DateTime::UNIX_EPOCH, 10).await.unwrap()
        };
        assert_eq!(changed().await, []);
        fixture.switch(false).await;
        assert_eq!(changed().await.iter().map(|change| change.position.id).collect::<Vec<_>>(), [id.get()]);
    }

    async fn without_a_contact_for_its_receipt_a_renewal_is_a_failed_try(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let anna = fixture.shop.customer;
        let id = fixture.subscribed(anna, fixture.gold).await;
        let terms = ReceiptTerms { tax_system: None, default_vat: VatCode::new(4).unwrap() };
        assert!(db.database.set_receipt_terms(anna.app.project_id, Some(terms)).await.unwrap());
        fixture.run("UPDATE counterparties SET phone_1 = NULL, email = NULL").await;
        fixture.shop.acquirer.set_mode(AcquirerMode::Paid);
        let made = fixture.shop.acquirer.count();
        fixture.go_to("2026-04-01T12:00:00Z");
        assert_eq!(fixture.tick().await, 0);
        let failed = fixture.see(id).await;
        let last = failed.latest.unwrap();
        assert_eq!((failed.subscription.status, last.state), (SubscriptionStatus::PastDue, AttemptState::Failed));
        assert_eq!(last.reason.as_deref(), Some("receipt_contact_missing"));
        assert_eq!(fixture.shop.order(last.order).await.status, OrderStatus::Canceled);
        assert_eq!(fixture.notices().await.last().unwrap(), "subscription_payment_failed");
        let refused = fixture.service.retry(anna, id, last.id).await;
        assert!(matches!(refused, Err(SubscriptionError::Refused(SubscriptionRefusal::NoContact))), "{refused:?}");
        assert_eq!(fixture.shop.count("subscription_payments").await, 2, "a refused retry is no try");

        fixture.run("UPDATE counterparties SET email = 'anna@shop.example'").await;
        let paid = fixture.service.retry(anna, id, last.id).await.unwrap();
        assert_eq!((paid.subscription.status, fixture.shop.acquirer.count()), (SubscriptionStatus::Active, made + 1));

        // Permanent: the subscription ends, and the acquirer receives no request.
        fixture.run("UPDATE counterparties SET email = NULL").await;
        for _ in 0..90 {
            fixture.shop.wait(86_400);
            assert_eq!(fixture.tick().await, 0);
        }
        assert_eq!(fixture.see(id).await.subscription.status, SubscriptionStatus::Canceled);
        assert_eq!(fixture.notices().await.last().unwrap(), "subscription_ended");
        assert_eq!(fixture.shop.acquirer.count(), made + 1);
        assert!(fixture.shop.count("subscription_payments WHERE period = 3").await <= 8);
    }

    async fn repeated_failures_are_postponed_and_parked(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let id = fixture.subscribed(fixture.shop.customer, fixture.gold).await;
        fixture.shop.acquirer.set_mode(AcquirerMode::Paid);
        // A row that cannot be decoded.
        fixture.run("UPDATE subscriptions SET schedule = '[' || schedule").await;
        fixture.go_to("2026-04-01T12:00:00Z");
        let mut failures = Vec::new();
        for minute in 0..40 * 60 {
            let ran = fixture.scheduler.run(10).await.unwrap();
            failures.extend(ran.failed.iter().map(|_| minute));
            fixture.shop.wait(60);
        }
        assert_eq!(failures, [0, 2, 6, 14, 30, 62, 126, 254, 510, 870], "pauses grow, and end");
        let parked = "subscriptions WHERE parked = 'work_failed' AND parked_at IS NOT NULL AND wake_at IS NULL \
                      AND next_charge_at IS NULL";
        assert_eq!(fixture.shop.count(parked).await, 1);
        // There is no notification about a row that cannot be decoded.
        assert_eq!(fixture.shop.count("notifications WHERE code = 'subscription_on_hold'").await, 0);

        fixture.run("UPDATE subscriptions SET schedule = substr(schedule, 2)").await;
        fixture.staff_subscriptions().command(&fixture.staff(), id, StaffCommand::Release).await.unwrap();
        assert_eq!(fixture.tick().await, 1);
        assert_eq!(fixture.standing(id).await.0, "active");
        assert_eq!(fixture.shop.count("subscriptions WHERE work_attempts = 0").await, 1);
    }

    async fn one_that_its_worker_dies_of_is_parked(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        fixture.subscribed(fixture.shop.customer, fixture.gold).await;
        fixture.shop.acquirer.set_mode(AcquirerMode::Paid);
        fixture.go_to("2026-04-01T12:00:00Z");
        for _ in 0..10 {
            let now = fixture.shop.clock.now();
            let leased = db.database.lease_due(now, now + TimeDelta::minutes(2), 3).await.unwrap();
            assert_eq!(leased.len(), 1);
            fixture.shop.wait(120);
        }
        let ran = fixture.scheduler.run(10).await.unwrap();
        assert_eq!((ran.failed.len(), ran.charged), (1, 0));
        assert_eq!(fixture.shop.count("subscriptions WHERE parked = 'work_failed'").await, 1);
        assert_eq!(fixture.notices().await.last().unwrap(), "subscription_on_hold");
    }

    async fn a_change_in_between_restarts_the_calculation(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let anna = fixture.shop.customer;
        let id = fixture.subscribed(anna, fixture.gold).await;
        fixture.go_to("2026-04-01T12:00:00Z");
        let now = fixture.shop.clock.now();
        let leased = db.database.lease_due(now, now + TimeDelta::minutes(2), 3).await.unwrap();
        fixture.service.cancel(anna, id).await.unwrap();
        db.database.postpone(leased[0], None, now).await.unwrap();
        let canceled = fixture.see(id).await.subscription;
        assert_eq!((canceled.status, canceled.parked), (SubscriptionStatus::Canceled, None));
    }

    async fn a_deactivated_application_charges_nothing_and_catches_nothing_up(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let policy = SubscriptionPolicy { missed: MissedPeriods::Collect, ..SubscriptionPolicy::default() };
        fixture.staff_subscriptions().set_policy(&fixture.staff(), policy).await.unwrap();
        let id = fixture.subscribed(fixture.shop.customer, fixture.gold).await;
        fixture.shop.acquirer.set_mode(AcquirerMode::Paid);
        fixture.switch(false).await;
        assert_eq!(fixture.tick().await, 0);
        let (active, paid_until) = ("active".to_owned(), Some("2026-04-01".to_owned()));
        assert_eq!(fixture.standing(id).await, (active.clone(), paid_until, None), "no charge is planned");
        let record = async || fixture.staff_subscriptions().read(&fixture.staff(), id).await.unwrap();
        assert!(!record().await.application_active);
        for _ in 0..100 {
            fixture.shop.wait(86_400);
            assert_eq!(fixture.tick().await, 0);
        }
        let refused = fixture.staff_subscriptions().command(&fixture.staff(), id, StaffCommand::ChargeNow).await;
        let reason = SubscriptionRefusal::ApplicationInactive;
        assert!(matches!(&refused, Err(SubscriptionError::Refused(refused)) if *refused == reason), "{refused:?}");
        assert_eq!(fixture.notices().await, ["subscription_activated"]);

        for _ in 0..2 {
            fixture.switch(true).await;
        }
        assert!(record().await.application_active);
        assert_eq!(fixture.tick().await, 1, "the current period");
        for _ in 0..10 {
            fixture.shop.wait(86_400);
            assert_eq!(fixture.tick().await, 0, "what was not served is not collected");
        }
        let until = Some("2026-07-01".to_owned());
        assert_eq!(fixture.standing(id).await, (active, until.clone(), until));
        assert_eq!(fixture.shop.count("subscription_payments").await, 2);
    }

    async fn tries_rest_while_the_application_is_deactivated(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let id = fixture.subscribed(fixture.shop.customer, fixture.gold).await;
        fixture.shop.acquirer.set_mode(AcquirerMode::Declines("insufficient_funds"));
        fixture.go_to("2026-04-01T12:00:00Z");
        assert_eq!(fixture.tick().await, 1);
        fixture.switch(false).await;
        for _ in 0..40 {
            fixture.shop.wait(86_400);
            assert_eq!(fixture.tick().await, 0);
        }
        fixture.switch(true).await;
        fixture.shop.acquirer.set_mode(AcquirerMode::Paid);
        assert_eq!(fixture.tick().await, 1);
        assert_eq!(fixture.tick().await, 0);
        assert_eq!(fixture.standing(id).await.1.unwrap(), "2026-06-01");
    }
}
