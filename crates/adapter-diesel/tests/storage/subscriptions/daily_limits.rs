//! Charges beyond a daily limit are made on the next day.

use kontor_adapter_diesel::database_tests;
use kontor_kernel::Clock as _;
use kontor_subscriptions::model::SubscriptionPolicy;
use kontor_subscriptions::{Bounds, MAX_PLANS, RetryReason, StaffCommand, SubscriptionError, SubscriptionStatus};

use super::fixture::SubscriptionFixture;
use crate::orders::shop::AcquirerMode;

impl SubscriptionFixture<'_> {
    async fn allows_a_day(&self, payments: u16) {
        let bounds = Bounds { customer_per_day: payments };
        let policy = SubscriptionPolicy { bounds, ..SubscriptionPolicy::default() };
        self.staff_subscriptions().set_policy(&self.staff(), policy).await.unwrap();
    }
}

database_tests! {
    async fn all_plans_of_a_checkout_renew_on_one_day(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let anna = fixture.shop.customer;
        let mut plans = vec![fixture.gold];
        while plans.len() < MAX_PLANS {
            plans.push(fixture.plan("Plan", 10_000, 1).await);
        }
        fixture.shop.acquirer.set_mode(AcquirerMode::Pending);
        fixture.check_out(anna, &plans).await.unwrap();
        fixture.settle(kontor_payments::model::GatewayStatus::Succeeded).await;
        fixture.shop.acquirer.set_mode(AcquirerMode::Paid);
        fixture.go_to("2026-04-01T12:00:00Z");
        assert_eq!(usize::try_from(fixture.tick().await).unwrap(), MAX_PLANS);

        // A project that allows fewer charges makes the others on the next days, at their start, and reports it.
        fixture.allows_a_day(8).await;
        fixture.go_to("2026-04-29T12:00:00Z");
        assert_eq!(fixture.tick().await, 0);
        let mut reported = Vec::new();
        for (moment, charged) in [
            ("2026-05-01T12:00:00Z", 8), ("2026-05-01T20:59:59Z", 0), ("2026-05-01T21:00:00Z", 8),
            ("2026-05-02T21:00:00Z", 4), ("2026-05-03T21:00:00Z", 0),
        ] {
            fixture.go_to(moment);
            assert_eq!(fixture.tick().await, charged, "{moment}");
            reported.push(fixture.shop.count("notifications WHERE code = 'subscription_rescheduled'").await);
            let waiting = fixture.of_customer(anna).await.into_iter().filter(|view| {
                !view.subscription.is_paid(fixture.shop.clock.now())
            });
            for view in waiting {
                assert_eq!(view.retry, (false, RetryReason::DailyLimit), "{moment}");
                assert_eq!((view.subscription.status, view.subscription.parked), (SubscriptionStatus::Active, None));
                assert!(view.subscription.next_charge_at > Some(fixture.shop.clock.now()));
            }
        }
        assert_eq!(reported, [12, 12, 16, 16, 16]);
        assert_eq!(fixture.staff_subscriptions().register.parked().await.unwrap(), 0);
        assert_eq!(fixture.shop.count("subscriptions WHERE period_number = 3").await, 20);
    }

    async fn an_overdue_period_that_is_paid_on_its_last_day_parks_no_renewal(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let anna = fixture.shop.customer;
        let id = fixture.subscribed(anna, fixture.gold).await;
        fixture.shop.acquirer.set_mode(AcquirerMode::Declines("3d_secure_failed"));
        fixture.go_to("2026-04-01T12:00:00Z");
        fixture.tick().await;
        let failed = fixture.see(id).await.latest.unwrap().id;
        fixture.shop.acquirer.set_mode(AcquirerMode::Paid);
        fixture.go_to("2026-05-01T09:00:00Z");
        let paid = fixture.service.retry(anna, id, failed).await.unwrap().subscription;
        assert_eq!((paid.status, paid.next_charge_at), (SubscriptionStatus::Active, "2026-05-01T21:00:00Z".parse().ok()));
        fixture.go_to("2026-05-01T12:00:00Z");
        assert_eq!(fixture.tick().await, 0);
        let waiting = fixture.see(id).await;
        assert_eq!((waiting.retry, waiting.subscription.parked), ((false, RetryReason::DailyLimit), None));
        let staff = fixture.staff_subscriptions().command(&fixture.staff(), id, StaffCommand::ChargeNow).await;
        assert!(matches!(&staff, Err(SubscriptionError::Move(refused)) if refused.to_string().starts_with("the daily payment limit")), "{staff:?}");
        fixture.go_to("2026-05-01T21:00:00Z");
        assert_eq!(fixture.tick().await, 1);
        assert_eq!(fixture.standing(id).await.1.unwrap(), "2026-06-01");
    }
}
