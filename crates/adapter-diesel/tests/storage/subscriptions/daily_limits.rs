//! Charges beyond a daily limit are made on the next day.

use kontor_adapter_diesel::database_tests;
use kontor_kernel::Clock as _;
use kontor_subscriptions::model::SubscriptionPolicy;
use kontor_subscriptions::{Bounds, MAX_PLANS, RetryReason, StaffCommand, SubscriptionError, SubscriptionStatus};

use super::club::Club;
use crate::orders::counter::AcquirerMode;

impl Club<'_> {
    async fn allows_a_day(&self, payments: u16) {
        let bounds = Bounds { customer_per_day: payments };
        let policy = SubscriptionPolicy { bounds, ..SubscriptionPolicy::default() };
        self.desk().set_policy(&self.staff(), policy).await.unwrap();
    }
}

database_tests! {
    async fn all_plans_of_a_checkout_renew_on_one_day(db: TestDatabase) {
        let club = Club::open(&db).await;
        let anna = club.counter.customer;
        let mut plans = vec![club.gold];
        while plans.len() < MAX_PLANS {
            plans.push(club.plan("Plan", 10_000, 1).await);
        }
        club.counter.acquirer.mood(AcquirerMode::Pending);
        club.check_out(anna, &plans).await.unwrap();
        club.settle(kontor_payments::model::GatewayStatus::Succeeded).await;
        club.counter.acquirer.mood(AcquirerMode::Paid);
        club.go_to("2026-04-01T12:00:00Z");
        assert_eq!(usize::try_from(club.tick().await).unwrap(), MAX_PLANS);

        // A project that allows fewer charges makes the others on the next days, at their start, and reports it.
        club.allows_a_day(8).await;
        club.go_to("2026-04-29T12:00:00Z");
        assert_eq!(club.tick().await, 0);
        let mut told = Vec::new();
        for (moment, charged) in [
            ("2026-05-01T12:00:00Z", 8), ("2026-05-01T20:59:59Z", 0), ("2026-05-01T21:00:00Z", 8),
            ("2026-05-02T21:00:00Z", 4), ("2026-05-03T21:00:00Z", 0),
        ] {
            club.go_to(moment);
            assert_eq!(club.tick().await, charged, "{moment}");
            told.push(club.counter.count("notifications WHERE code = 'subscription_rescheduled'").await);
            let waiting = club.service.list(anna).await.unwrap().into_iter().filter(|view| {
                !view.subscription.is_paid(club.counter.clock.now())
            });
            for view in waiting {
                assert_eq!(view.retry, (false, RetryReason::DailyLimit), "{moment}");
                assert_eq!((view.subscription.status, view.subscription.parked), (SubscriptionStatus::Active, None));
                assert!(view.subscription.next_charge_at > Some(club.counter.clock.now()));
            }
        }
        assert_eq!(told, [12, 12, 16, 16, 16]);
        assert_eq!(club.desk().register.parked().await.unwrap(), 0);
        assert_eq!(club.counter.count("subscriptions WHERE period_number = 3").await, 20);
    }

    async fn an_overdue_period_that_is_paid_on_its_last_day_parks_no_renewal(db: TestDatabase) {
        let club = Club::open(&db).await;
        let anna = club.counter.customer;
        let id = club.subscribed(anna, club.gold).await;
        club.counter.acquirer.mood(AcquirerMode::Declines("3d_secure_failed"));
        club.go_to("2026-04-01T12:00:00Z");
        club.tick().await;
        let failed = club.see(id).await.latest.unwrap().id;
        club.counter.acquirer.mood(AcquirerMode::Paid);
        club.go_to("2026-05-01T09:00:00Z");
        let paid = club.service.retry(anna, id, failed).await.unwrap().subscription;
        assert_eq!((paid.status, paid.next_charge_at), (SubscriptionStatus::Active, "2026-05-01T21:00:00Z".parse().ok()));
        club.go_to("2026-05-01T12:00:00Z");
        assert_eq!(club.tick().await, 0);
        let waiting = club.see(id).await;
        assert_eq!((waiting.retry, waiting.subscription.parked), ((false, RetryReason::DailyLimit), None));
        let staff = club.desk().command(&club.staff(), id, StaffCommand::ChargeNow).await;
        assert!(matches!(&staff, Err(SubscriptionError::Move(refused)) if refused.to_string().starts_with("the daily payment limit")), "{staff:?}");
        club.go_to("2026-05-01T21:00:00Z");
        assert_eq!(club.tick().await, 1);
        assert_eq!(club.standing(id).await.1.unwrap(), "2026-06-01");
    }
}
