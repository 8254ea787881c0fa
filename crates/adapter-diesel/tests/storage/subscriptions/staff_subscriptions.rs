//! Subscriptions for staff, and their actions.

use kontor_adapter_diesel::database_tests;
use kontor_kernel::history::Author;
use kontor_kernel::listing::{Comparison, Condition, FilterValue, Sort};
use kontor_kernel::{Listing, PageRequest, Permission, ProjectId, Resource, Staff};
use kontor_orders::refund::{RefundCommand, RefundRefused};
use kontor_orders::{OrderError, OrderRefusal};
use kontor_subscriptions::model::{NoticeDays, SubscriptionPolicy};
use kontor_subscriptions::{
    MissedPeriods, Park, RetryReason, ScheduleCommand, StaffCommand, SubscriptionError, SubscriptionStatus,
};

use super::fixture::SubscriptionFixture;
use crate::orders::shop::AcquirerMode;
use crate::orders::staff_fixture::{give_back, take_back};

fn page() -> PageRequest {
    PageRequest::new(1, 20, 100).unwrap()
}

fn with(field: &'static str, value: FilterValue) -> Listing {
    let mut listing = Listing::unfiltered(Sort::descending("id"), page());
    listing.conditions.push(Condition { field, comparison: Comparison::AnyOf(vec![value]) });
    listing
}

async fn listed(fixture: &SubscriptionFixture<'_>, field: &'static str, value: FilterValue) -> Vec<i64> {
    let found = fixture.staff_subscriptions().list(&fixture.staff(), with(field, value)).await.unwrap();
    assert_eq!(usize::try_from(found.total).unwrap(), found.items.len());
    found.items.into_iter().map(|record| record.view.subscription.id.get()).collect()
}

database_tests! {
    async fn staff_find_subscriptions_by_how_they_stand(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let (anna, boris) = (fixture.shop.customer, fixture.shop.another_customer().await);
        let annas = fixture.subscribed(anna, fixture.gold).await;
        let boriss = fixture.subscribed(boris, fixture.gold).await;
        fixture.service.cancel(boris, boriss).await.unwrap();
        let text = |word: &str| FilterValue::Text(word.to_owned());
        assert_eq!(listed(&fixture, "status", text("active")).await, [annas.get()]);
        assert_eq!(listed(&fixture, "status", text("canceled")).await, [boriss.get()]);
        assert_eq!(listed(&fixture, "counterparty_id", FilterValue::Number(boris.counterparty_id.get())).await, [boriss.get()]);
        assert_eq!(listed(&fixture, "nomenclature_id", FilterValue::Number(fixture.gold)).await, [boriss.get(), annas.get()]);
        let upcoming = |until: &'static str| {
            let until = until.parse().unwrap();
            let (staff_subscriptions, staff) = (fixture.staff_subscriptions(), fixture.staff());
            async move { staff_subscriptions.upcoming(&staff, until, page()).await.unwrap().total }
        };
        assert_eq!((upcoming("2026-04-01T12:00:00Z").await, upcoming("2026-04-01T12:00:01Z").await), (0, 1));

        let record = fixture.staff_subscriptions().read(&fixture.staff(), annas).await.unwrap();
        assert_eq!((record.plan.name.as_str(), record.plan.id.get()), ("Gold", fixture.gold));
        assert_eq!(record.customer.id, anna.counterparty_id);
        let payments = fixture.staff_subscriptions().payments(&fixture.staff(), annas, page()).await.unwrap();
        assert_eq!((payments.total, payments.items[0].period), (1, 1));
        let consents = fixture.staff_subscriptions().consents(&fixture.staff(), annas, page()).await.unwrap();
        assert_eq!((consents.total, consents.items[0].address.as_deref()), (1, Some("10.0.0.7")));
        let history = fixture.staff_subscriptions().history(&fixture.staff(), boriss, page()).await.unwrap();
        let events: Vec<_> = history.items.iter().map(|entry| entry.event.to_string()).collect();
        assert_eq!(events, ["cancel", "charge_succeeded"]);
        assert_eq!(history.items[0].line.author, Author::Customer(boris.counterparty_id));
    }

    async fn foreign_staff_and_staff_without_the_right_get_nothing(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let id = fixture.subscribed(fixture.shop.customer, fixture.gold).await;
        let foreign = Staff { project_id: ProjectId::new(99_999).unwrap(), ..fixture.staff() };
        let seeing = [Permission::view(Resource::Subscriptions)].into_iter().collect();
        let reader = Staff { permissions: seeing, ..fixture.staff() };
        let staff_subscriptions = fixture.staff_subscriptions();
        assert!(matches!(staff_subscriptions.read(&foreign, id).await, Err(SubscriptionError::Denied(_))));
        assert_eq!(staff_subscriptions.list(&foreign, Listing::unfiltered(Sort::descending("id"), page())).await.unwrap().total, 0);
        for command in [StaffCommand::Cancel, StaffCommand::ChargeNow, StaffCommand::Release] {
            assert!(matches!(staff_subscriptions.command(&foreign, id, command).await, Err(SubscriptionError::Denied(_))));
            assert!(matches!(staff_subscriptions.command(&reader, id, command).await, Err(SubscriptionError::Denied(_))));
        }
        assert!(staff_subscriptions.set_policy(&reader, SubscriptionPolicy::default()).await.is_err());
        assert_eq!(fixture.see(id).await.subscription.status, SubscriptionStatus::Active);
    }

    async fn a_postponed_charge_is_made_at_its_new_time(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let id = fixture.subscribed(fixture.shop.customer, fixture.gold).await;
        fixture.shop.acquirer.set_mode(AcquirerMode::Paid);
        let skipped = fixture.staff_subscriptions().command(&fixture.staff(), id, StaffCommand::Retime(ScheduleCommand::SkipNext)).await.unwrap();
        assert_eq!(skipped.view.subscription.next_charge_at, Some("2026-05-01T12:00:00Z".parse().unwrap()));
        fixture.go_to("2026-04-15T00:00:00Z");
        assert_eq!(fixture.tick().await, 0);
        assert_eq!(fixture.standing(id).await.1.unwrap(), "2026-04-01", "nothing is paid in between");
        let until = ScheduleCommand::PauseUntil("2026-05-10T12:00:00Z".parse().unwrap());
        fixture.staff_subscriptions().command(&fixture.staff(), id, StaffCommand::Retime(until)).await.unwrap();
        fixture.go_to("2026-05-09T00:00:00Z");
        assert_eq!(fixture.tick().await, 0);
        fixture.go_to("2026-05-10T12:00:00Z");
        assert_eq!(fixture.tick().await, 1);
        assert_eq!(fixture.standing(id).await.1.unwrap(), "2026-06-10");
        fixture.staff_subscriptions().command(&fixture.staff(), id, StaffCommand::Retime(ScheduleCommand::BillingDay(20))).await.unwrap();
        assert_eq!(fixture.standing(id).await.1.unwrap(), "2026-06-20");
        let history = fixture.staff_subscriptions().history(&fixture.staff(), id, page()).await.unwrap();
        assert_eq!((history.items[0].event.to_string(), history.items[0].line.author), (
            "move_day".to_owned(),
            Author::User(fixture.staff().user_id),
        ));
    }

    async fn a_charge_by_staff_is_one_more_try(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let id = fixture.subscribed(fixture.shop.customer, fixture.gold).await;
        let early = fixture.staff_subscriptions().command(&fixture.staff(), id, StaffCommand::ChargeNow).await.unwrap_err();
        assert_eq!(early.to_string(), "the period is already paid");
        fixture.shop.acquirer.set_mode(AcquirerMode::Declines("insufficient_funds"));
        fixture.go_to("2026-04-01T12:00:00Z");
        fixture.tick().await;
        let planned = fixture.see(id).await.subscription.next_charge_at;
        for _ in 0..8 {
            let tried = fixture.staff_subscriptions().command(&fixture.staff(), id, StaffCommand::ChargeNow).await.unwrap().view.subscription;
            assert_eq!((tried.status, tried.next_charge_at), (SubscriptionStatus::PastDue, planned));
        }
        let ninth = fixture.staff_subscriptions().command(&fixture.staff(), id, StaffCommand::ChargeNow).await.unwrap_err();
        assert_eq!(ninth.to_string(), "this payment cannot be retried: too_many_tries");
        assert_eq!(fixture.see(id).await.retry, (false, RetryReason::TooManyTries));
        assert_eq!(fixture.shop.count("subscription_payments WHERE period = 2 AND NOT planned").await, 8);
        // The dunning plan continues as if these attempts had not been made.
        let mut tried = Vec::new();
        for _ in 0..30 * 4 {
            fixture.shop.wait(6 * 3_600);
            if fixture.tick().await > 0 {
                tried.push(fixture.today());
            }
        }
        assert_eq!(tried, ["04-02", "04-04", "04-06", "04-10", "04-25"]);
        assert_eq!(fixture.see(id).await.subscription.status, SubscriptionStatus::Canceled);
    }

    /// Only earlier versions parked subscriptions because of daily limits.
    async fn parked_rows_wait_for_an_employee(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let id = fixture.subscribed(fixture.shop.customer, fixture.gold).await;
        let parked = "parked = 'paid_today', parked_at = '2026-04-01 12:00:00', wake_at = NULL, next_charge_at = NULL";
        fixture.shop.stock_fixture.run(format!("UPDATE subscriptions SET {parked}")).await;
        fixture.go_to("2026-04-01T12:00:00Z");
        fixture.shop.acquirer.set_mode(AcquirerMode::Paid);
        let made = fixture.shop.acquirer.count();
        assert_eq!(fixture.tick().await, 0);
        let record = fixture.staff_subscriptions().read(&fixture.staff(), id).await.unwrap();
        assert_eq!((record.view.subscription.parked, record.parked_at.is_some()), (Some(Park::PaidToday), true));
        assert_eq!(record.view.retry, (false, RetryReason::Parked));
        assert_eq!(listed(&fixture, "parked", FilterValue::Text("paid_today".to_owned())).await, [id.get()]);
        assert_eq!(fixture.staff_subscriptions().register.parked().await.unwrap(), 1);
        fixture.go_to("2026-04-02T12:00:00Z");
        assert_eq!((fixture.tick().await, fixture.shop.acquirer.count()), (0, made));
        let released = fixture.staff_subscriptions().command(&fixture.staff(), id, StaffCommand::Release).await.unwrap();
        assert_eq!((released.view.subscription.parked, released.parked_at), (None, None));
        assert_eq!(fixture.tick().await, 1);
        let again = fixture.staff_subscriptions().command(&fixture.staff(), id, StaffCommand::Release).await.unwrap_err();
        assert_eq!(again.to_string(), "the subscription is not parked");
    }

    async fn a_project_charges_by_its_own_policy(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let policy = SubscriptionPolicy {
            missed: MissedPeriods::Collect,
            notice: NoticeDays::try_from(7).unwrap(),
            withdrawn_plans_renew: true,
            ..SubscriptionPolicy::default()
        };
        assert_eq!(fixture.staff_subscriptions().policy(&fixture.staff()).await.unwrap(), SubscriptionPolicy::default());
        for _ in 0..2 {
            fixture.staff_subscriptions().set_policy(&fixture.staff(), policy.clone()).await.unwrap();
        }
        assert_eq!(fixture.staff_subscriptions().policy(&fixture.staff()).await.unwrap(), policy);
        let id = fixture.subscribed(fixture.shop.customer, fixture.gold).await;
        fixture.shop.stock_fixture.run("UPDATE subscription_nomenclatures SET is_active = FALSE".to_owned()).await;
        fixture.shop.acquirer.set_mode(AcquirerMode::Paid);
        fixture.go_to("2026-03-25T12:00:00Z");
        assert_eq!(fixture.tick().await, 0);
        assert_eq!(fixture.notices().await, ["subscription_activated", "subscription_charge_ahead"]);
        // After three months of downtime: the current period at once, the others on days of their own.
        fixture.go_to("2026-06-10T12:00:00Z");
        assert_eq!(fixture.tick().await, 1);
        assert_eq!(fixture.see(id).await.subscription.missed, [2, 3]);
        for day in ["2026-06-11", "2026-06-12", "2026-06-13"] {
            fixture.go_to(&format!("{day}T20:00:00Z"));
            fixture.tick().await;
        }
        let paid = "subscription_payments WHERE state = 'succeeded' AND origin = 'missed'";
        assert_eq!((fixture.shop.count(paid).await, fixture.see(id).await.subscription.missed.len()), (2, 0));
        assert_eq!(fixture.standing(id).await.1.unwrap(), "2026-07-01");
    }

    async fn a_withdrawn_plan_ends_with_a_word_before(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let id = fixture.subscribed(fixture.shop.customer, fixture.gold).await;
        fixture.shop.stock_fixture.run("UPDATE subscription_nomenclatures SET is_active = FALSE".to_owned()).await;
        for moment in ["2026-03-29T12:00:00Z", "2026-03-30T12:00:00Z", "2026-04-01T12:00:00Z"] {
            fixture.go_to(moment);
            assert_eq!(fixture.tick().await, 0);
        }
        assert_eq!(fixture.see(id).await.subscription.status, SubscriptionStatus::Canceled);
        assert_eq!(fixture.notices().await, ["subscription_activated", "subscription_ending", "subscription_ended"]);
    }

    async fn a_refund_says_what_becomes_of_the_period(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let anna = fixture.shop.customer;
        let id = fixture.subscribed(anna, fixture.gold).await;
        fixture.shop.acquirer.set_mode(AcquirerMode::Paid);
        let first = fixture.see(id).await.latest.unwrap().order;
        fixture.go_to("2026-04-01T12:00:00Z");
        fixture.tick().await;
        let second = fixture.see(id).await.latest.unwrap().order;
        let orders = fixture.orders();
        let give = |order, amount: Option<&str>, ends_period| {
            let command = amount.map_or_else(|| take_back(&[]), |sum| give_back(sum.parse().unwrap()));
            let command = RefundCommand { ends_period, ..command };
            let (orders, staff) = (&orders, fixture.staff());
            async move { orders.refund(&staff, order, command).await }
        };
        let refused = |problem: Result<_, OrderError>| match problem {
            Err(OrderError::Refused(OrderRefusal::Refund(refused))) => refused,
            other => panic!("{other:?}"),
        };
        assert_eq!(refused(give(second, Some("100.00"), true).await), RefundRefused::PeriodKept);
        assert_eq!(refused(give(first, None, true).await), RefundRefused::NoPeriod, "that period is over");
        give(second, Some("100.00"), false).await.unwrap();
        assert_eq!(fixture.standing(id).await, ("active".to_owned(), Some("2026-05-01".to_owned()), Some("2026-05-01".to_owned())));
        // Two concurrent refunds of everything that is left.
        let (one, other) = tokio::join!(give(second, None, true), give(second, None, true));
        assert!(one.is_ok() != other.is_ok(), "{one:?} {other:?}");
        assert_eq!(fixture.standing(id).await, ("canceled".to_owned(), Some("2026-04-01".to_owned()), None));
        assert_eq!(fixture.notices().await[3..], ["subscription_refunded", "subscription_refunded"]);
        fixture.go_to("2026-06-01T12:00:00Z");
        assert_eq!(fixture.tick().await, 0);
    }
}
