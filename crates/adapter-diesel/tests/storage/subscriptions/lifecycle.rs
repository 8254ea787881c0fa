//! Lifecycle of a subscription.

use std::sync::Arc;

use kontor_adapter_diesel::database_tests;
use kontor_orders::model::OrderStatus;
use kontor_payments::NotificationResult;
use kontor_payments::model::GatewayStatus;
use kontor_subscriptions::model::AttemptState;
use kontor_subscriptions::{
    Agreement, CheckoutResult, Park, RefusalReason, RetryReason, StaffCommand, SubscriptionError, SubscriptionRefusal,
    SubscriptionStatus, TermsEdit,
};
use tokio::task::JoinSet;

use super::fixture::SubscriptionFixture;
use crate::orders::shop::AcquirerMode;

fn reported(status: &str, until: &str, next: &str) -> (String, Option<String>, Option<String>) {
    let day = |day: &str| (!day.is_empty()).then(|| day.to_owned());
    (status.to_owned(), day(until), day(next))
}

database_tests! {
    async fn a_checkout_becomes_a_subscription_that_renews(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let anna = fixture.shop.customer;
        let checkout = fixture.check_out(anna, &[fixture.gold]).await.unwrap();
        assert_eq!(checkout.result, CheckoutResult::New);
        assert!(checkout.payment.charge.confirmation_url.is_some());
        let id = checkout.payment.subscriptions[0].subscription.id;
        assert_eq!(fixture.standing(id).await, reported("charging", "", ""));
        let again = fixture.check_out(anna, &[fixture.gold]).await.unwrap();
        assert_eq!((again.result, again.payment.order), (CheckoutResult::Present, checkout.payment.order));
        let silver = fixture.plan("Silver", 50_000, 1).await;
        let other = fixture.check_out(anna, &[silver]).await;
        assert!(matches!(other, Err(SubscriptionError::AnotherUnfinished)), "{other:?}");
        fixture.settle(GatewayStatus::Succeeded).await;
        assert_eq!(fixture.standing(id).await, reported("active", "2026-04-01", "2026-04-01"));
        assert_eq!(fixture.shop.order(checkout.payment.order).await.status, OrderStatus::Paid);
        let view = fixture.see(id).await;
        assert_eq!(view.retry, (false, RetryReason::AlreadyPaid));
        assert_eq!(view.latest.unwrap().state, AttemptState::Succeeded);
        let twice = fixture.check_out(anna, &[fixture.gold]).await;
        assert!(matches!(twice, Err(SubscriptionError::Refused(SubscriptionRefusal::AlreadySubscribed))), "{twice:?}");
        fixture.shop.acquirer.set_mode(AcquirerMode::Paid);
        fixture.go_to("2026-04-01T11:59:59Z");
        assert_eq!(fixture.tick().await, 0, "not before its time");
        for (moment, until) in [("2026-04-01T12:00:00Z", "2026-05-01"), ("2026-05-02T00:00:00Z", "2026-06-01")] {
            fixture.go_to(moment);
            assert_eq!(fixture.tick().await, 1);
            assert_eq!(fixture.tick().await, 0);
            assert_eq!(fixture.standing(id).await, reported("active", until, until));
        }
        assert_eq!(fixture.shop.count("orders WHERE status_id = 22 AND subscription_id IS NOT NULL").await, 3);
        assert_eq!(fixture.shop.count("outbox_events").await, 3);
        let (ahead, renewed) = ("subscription_charge_ahead", "subscription_renewed");
        assert_eq!(fixture.notices().await, ["subscription_activated", ahead, renewed, ahead, renewed]);
    }

    async fn plans_that_are_paid_together_become_subscriptions_of_their_own(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let (anna, silver) = (fixture.shop.customer, fixture.plan("Silver", 50_000, 1).await);
        let checkout = fixture.check_out(anna, &[fixture.gold, silver]).await.unwrap();
        assert_eq!(checkout.payment.charge.request.amount.to_string(), "1490.00");
        fixture.settle(GatewayStatus::Succeeded).await;
        let all = fixture.of_customer(anna).await;
        assert!(all.iter().all(|view| view.subscription.status == SubscriptionStatus::Active) && all.len() == 2);
        assert_eq!(all[0].subscription.terms.amount.to_string(), "500.00");
        let yearly = fixture.plan("Yearly", 50_000, 12).await;
        let differ = fixture.check_out(anna, &[yearly, silver]).await;
        assert!(matches!(differ, Err(SubscriptionError::Refused(SubscriptionRefusal::PlansDiffer))), "{differ:?}");
        fixture.shop.acquirer.set_mode(AcquirerMode::Paid);
        fixture.go_to("2026-04-01T12:00:00Z");
        assert_eq!(fixture.tick().await, 2);
    }

    async fn an_unpaid_checkout_ends_and_leaves_nothing(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let anna = fixture.shop.customer;
        let checkout = fixture.check_out(anna, &[fixture.gold]).await.unwrap();
        fixture.settle(GatewayStatus::Canceled).await;
        let id = checkout.payment.subscriptions[0].subscription.id;
        assert_eq!(fixture.standing(id).await, reported("canceled", "", ""));
        assert_eq!(fixture.shop.order(checkout.payment.order).await.status, OrderStatus::Canceled);
        let agreement = Agreement::default();
        let resumed = fixture.service.resume(anna, id, &agreement).await;
        assert!(matches!(resumed, Err(SubscriptionError::Move(_))), "{resumed:?}");
        assert_eq!(fixture.check_out(anna, &[fixture.gold]).await.unwrap().result, CheckoutResult::New);
    }

    async fn a_saved_card_is_charged_at_once(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let anna = fixture.shop.customer;
        fixture.subscribed(anna, fixture.gold).await;
        let (method, silver) = (fixture.method(anna).await, fixture.plan("Silver", 50_000, 1).await);
        fixture.shop.acquirer.set_mode(AcquirerMode::Declines("insufficient_funds"));
        let declined = fixture.at_once(anna, silver, method).await;
        let reason = "insufficient_funds".to_owned();
        assert!(matches!(declined, Err(SubscriptionError::Refused(SubscriptionRefusal::PaymentFailed { reason: reported })) if reported == reason));
        fixture.shop.acquirer.set_mode(AcquirerMode::Silent);
        let unclear = fixture.at_once(anna, silver, method).await.unwrap();
        assert_eq!(unclear.latest.unwrap().state, AttemptState::NeedsReconciliation);
        assert_eq!(unclear.retry.1, RetryReason::NeedsReconciliation);
        fixture.shop.wait(30 * 3_600);
        fixture.shop.payments.reconcile("w", 9).await.unwrap();
        fixture.shop.acquirer.set_mode(AcquirerMode::Paid);
        let paid = fixture.at_once(anna, silver, method).await.unwrap();
        assert_eq!(paid.subscription.status, SubscriptionStatus::Active);
        let bert = fixture.shop.another_customer().await;
        let foreign = fixture.at_once(bert, silver, method).await;
        assert!(matches!(foreign, Err(SubscriptionError::Refused(SubscriptionRefusal::MethodUnavailable))), "{foreign:?}");
    }

    async fn declined_charges_are_retried_and_end(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let id = fixture.subscribed(fixture.shop.customer, fixture.gold).await;
        fixture.shop.acquirer.set_mode(AcquirerMode::Declines("insufficient_funds"));
        fixture.go_to("2026-04-01T12:00:00Z");
        let mut tried = Vec::new();
        for _ in 0..60 * 4 {
            if fixture.tick().await > 0 {
                tried.push(fixture.today());
            }
            fixture.shop.wait(6 * 3_600);
        }
        assert_eq!(tried, ["04-01", "04-02", "04-04", "04-06", "04-10", "04-25"]);
        assert_eq!(fixture.standing(id).await, reported("canceled", "2026-04-01", ""));
        assert_eq!(fixture.shop.count("orders WHERE status_id = 22").await, 1);
        let reported = fixture.notices().await;
        assert_eq!(reported.iter().filter(|code| *code == "subscription_payment_failed").count(), 6, "{reported:?}");
        assert_eq!(reported.last().unwrap(), "subscription_ended");
    }

    async fn an_acquirer_who_contradicts_itself_parks_the_subscription_once(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let id = fixture.subscribed(fixture.shop.customer, fixture.gold).await;
        let payments = &fixture.shop.payments;
        let parked = async || fixture.see(id).await.subscription.parked;
        // A notification that agrees with the outcome, or has no information, causes no read.
        let contradicted = fixture.shop.acquirer.settle(GatewayStatus::Canceled);
        for reported in [None, Some(GatewayStatus::Succeeded), Some(GatewayStatus::Pending)] {
            let notified = payments.handle_notification(&contradicted, reported).await.unwrap();
            assert!(matches!(notified, NotificationResult::AlreadySettled(_)), "{notified:?}");
        }
        // Any client can send a notification: the state that is read agrees.
        fixture.shop.acquirer.settle(GatewayStatus::Succeeded);
        let notified = payments.handle_notification(&contradicted, Some(GatewayStatus::Canceled)).await.unwrap();
        assert!(matches!(notified, NotificationResult::AlreadySettled(_)), "{notified:?}");
        assert_eq!(parked().await, None);
        fixture.shop.acquirer.settle(GatewayStatus::Canceled);
        let mut running = JoinSet::new();
        for _ in 0..8 {
            let (payments, payment) = (Arc::clone(payments), contradicted.clone());
            running.spawn(async move {
                let notified = payments.handle_notification(&payment, Some(GatewayStatus::Canceled)).await.unwrap();
                assert!(matches!(notified, NotificationResult::Suspicious { .. }), "{notified:?}");
            });
        }
        running.join_all().await;
        assert_eq!(parked().await, Some(Park::ContradictingAnswers));
        assert_eq!(fixture.standing(id).await, reported("active", "2026-04-01", ""), "what was paid stays");
        let noted = async |table: &str| fixture.shop.count(table).await;
        assert_eq!(noted("subscription_events WHERE event = 'charge_contradicted'").await, 1);
        assert_eq!(noted("order_events WHERE event = 'payment_suspicious'").await, 1);
        fixture.go_to("2026-04-02T12:00:00Z");
        assert_eq!(fixture.tick().await, 0, "people look first");
        fixture.staff_subscriptions().command(&fixture.staff(), id, StaffCommand::Release).await.unwrap();
        payments.handle_notification(&contradicted, Some(GatewayStatus::Canceled)).await.unwrap();
        assert_eq!(parked().await, None, "people have looked at it");
        assert_eq!(fixture.tick().await, 1);
    }

    async fn money_of_a_charge_that_failed_is_looked_at(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let id = fixture.subscribed(fixture.shop.customer, fixture.gold).await;
        fixture.shop.acquirer.set_mode(AcquirerMode::Declines("insufficient_funds"));
        fixture.go_to("2026-04-01T12:00:00Z");
        fixture.tick().await;
        assert_eq!(fixture.see(id).await.subscription.status, SubscriptionStatus::PastDue);
        let payment = fixture.shop.acquirer.settle(GatewayStatus::Succeeded);
        fixture.shop.payments.handle_notification(&payment, Some(GatewayStatus::Succeeded)).await.unwrap();
        let found = fixture.see(id).await.subscription;
        assert_eq!((found.status, found.parked), (SubscriptionStatus::PastDue, Some(Park::ContradictingAnswers)));
        fixture.shop.wait(40 * 86_400);
        assert_eq!(fixture.tick().await, 0);
    }

    async fn a_recovered_period_keeps_its_day(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let id = fixture.subscribed(fixture.shop.customer, fixture.gold).await;
        fixture.shop.acquirer.set_mode(AcquirerMode::Declines("insufficient_funds"));
        fixture.go_to("2026-04-01T12:00:00Z");
        fixture.tick().await;
        let failed = fixture.see(id).await;
        assert_eq!((failed.subscription.status, failed.retry), (SubscriptionStatus::PastDue, (true, RetryReason::Available)));
        let payment = failed.latest.unwrap().id;
        fixture.shop.acquirer.set_mode(AcquirerMode::Paid);
        fixture.shop.wait(600);
        let anna = fixture.shop.customer;
        let paid = fixture.service.retry(anna, id, payment).await.unwrap();
        assert_eq!(paid.subscription.status, SubscriptionStatus::Active);
        assert_eq!(fixture.standing(id).await, reported("active", "2026-05-01", "2026-05-01"));
        let again = fixture.service.retry(anna, id, payment).await;
        let expected = SubscriptionRefusal::NotRetryable(RetryReason::AlreadyPaid);
        assert!(matches!(again, Err(SubscriptionError::Refused(refused)) if refused == expected));
    }

    async fn canceling_keeps_what_is_paid_and_resuming_goes_on(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let anna = fixture.shop.customer;
        let id = fixture.subscribed(anna, fixture.gold).await;
        fixture.shop.acquirer.set_mode(AcquirerMode::Paid);
        let canceled = fixture.service.cancel(anna, id).await.unwrap();
        assert!(canceled.subscription.canceled_at.is_some());
        assert!(matches!(fixture.service.cancel(anna, id).await, Err(SubscriptionError::Move(_))));
        let agreement = Agreement::default();
        let resumed = fixture.service.resume(anna, id, &agreement).await.unwrap();
        assert_eq!(resumed.subscription.canceled_at, None);
        assert_eq!(fixture.standing(id).await, reported("active", "2026-04-01", "2026-04-01"));
        fixture.service.cancel(anna, id).await.unwrap();
        fixture.go_to("2026-07-15T08:00:00Z");
        assert_eq!(fixture.tick().await, 0);
        fixture.service.resume(anna, id, &agreement).await.unwrap();
        assert_eq!(fixture.see(id).await.subscription.status, SubscriptionStatus::PastDue);
        assert_eq!(fixture.tick().await, 1);
        assert_eq!(fixture.standing(id).await, reported("active", "2026-08-15", "2026-08-15"));
        assert_eq!(fixture.shop.count("subscription_consents").await, 3);
    }

    async fn a_subscription_ended_by_declines_is_charged_on_resume(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let anna = fixture.shop.customer;
        let id = fixture.subscribed(anna, fixture.gold).await;
        fixture.shop.acquirer.set_mode(AcquirerMode::Declines("insufficient_funds"));
        fixture.go_to("2026-04-01T12:00:00Z");
        for _ in 0..25 * 4 {
            fixture.tick().await;
            fixture.shop.wait(6 * 3_600);
        }
        assert_eq!(fixture.standing(id).await, reported("canceled", "2026-04-01", ""));
        let agreement = Agreement::default();
        fixture.go_to("2026-04-27T08:00:00Z");
        fixture.service.resume(anna, id, &agreement).await.unwrap();
        assert_eq!(fixture.standing(id).await, reported("past_due", "2026-04-01", "2026-04-27"));
        assert_eq!(fixture.notices().await.last().unwrap(), "subscription_resumed");
        // The charge is declined once more, and the customer subscribes again.
        assert_eq!(fixture.tick().await, 1);
        assert_eq!(fixture.standing(id).await, reported("past_due", "2026-04-01", "2026-04-28"));
        fixture.shop.wait(60);
        fixture.service.cancel(anna, id).await.unwrap();
        fixture.service.resume(anna, id, &agreement).await.unwrap();
        fixture.shop.acquirer.set_mode(AcquirerMode::Paid);
        assert_eq!(fixture.tick().await, 1);
        assert_eq!(fixture.standing(id).await, reported("active", "2026-05-27", "2026-05-27"));
        assert_eq!(fixture.see(id).await.retry, (false, RetryReason::AlreadyPaid));
    }

    /// A card that must not be charged again: the customer agrees on another one, before or after the end.
    async fn another_card_revives_what_ended_by_a_hard_decline(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let anna = fixture.shop.customer;
        let id = fixture.subscribed(anna, fixture.gold).await;
        fixture.shop.acquirer.set_mode(AcquirerMode::Declines("card_expired"));
        fixture.go_to("2026-04-01T12:00:00Z");
        fixture.tick().await;
        assert_eq!(fixture.standing(id).await, reported("past_due", "2026-04-01", ""));
        fixture.go_to("2026-05-01T12:00:00Z");
        fixture.tick().await;
        assert_eq!(fixture.standing(id).await, reported("canceled", "2026-04-01", ""));
        let agreement = Agreement::default();
        let refused = fixture.service.resume(anna, id, &agreement).await;
        assert!(matches!(&refused, Err(SubscriptionError::Move(refused)) if refused.reason == RefusalReason::MethodInactive), "{refused:?}");
        // Another plan is bought with another card, which the ended subscription takes over.
        let silver = fixture.plan("Silver", 50_000, 1).await;
        fixture.subscribed(anna, silver).await;
        let edit = TermsEdit { plan: None, saved_method: Some(fixture.method(anna).await) };
        fixture.service.change(anna, id, &edit, Some(&agreement)).await.unwrap();
        assert_eq!(fixture.standing(id).await, reported("canceled", "2026-04-01", ""));
        fixture.service.resume(anna, id, &agreement).await.unwrap();
        fixture.shop.acquirer.set_mode(AcquirerMode::Paid);
        assert_eq!(fixture.tick().await, 1);
        assert_eq!(fixture.standing(id).await, reported("active", "2026-06-01", "2026-06-01"));
    }

    async fn a_deleted_card_is_never_charged_again(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let anna = fixture.shop.customer;
        let id = fixture.subscribed(anna, fixture.gold).await;
        let method = fixture.method(anna).await;
        fixture.shop.acquirer.set_mode(AcquirerMode::Paid);
        fixture.service.delete_method(anna, method).await.unwrap();
        assert_eq!(fixture.standing(id).await, reported("active", "2026-04-01", ""));
        let asked = fixture.shop.acquirer.requests.load(std::sync::atomic::Ordering::SeqCst);
        for _ in 0..90 {
            fixture.shop.wait(86_400);
            fixture.tick().await;
        }
        assert_eq!(fixture.shop.acquirer.requests.load(std::sync::atomic::Ordering::SeqCst), asked);
        assert_eq!(fixture.standing(id).await, reported("canceled", "2026-04-01", ""));
        let codes = fixture.notices().await;
        assert_eq!(codes, ["subscription_activated", "subscription_method_needed", "subscription_method_needed", "subscription_ended"]);
    }

    async fn a_pause_of_the_service_costs_one_charge(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let id = fixture.subscribed(fixture.shop.customer, fixture.gold).await;
        fixture.shop.acquirer.set_mode(AcquirerMode::Paid);
        fixture.go_to("2026-09-20T00:00:00Z");
        assert_eq!(fixture.tick().await, 1);
        assert_eq!(fixture.tick().await, 0);
        assert_eq!(fixture.standing(id).await, reported("active", "2026-10-01", "2026-10-01"));
        assert_eq!(fixture.shop.count("subscription_payments").await, 2);
    }

    async fn an_outsider_sees_nothing(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let id = fixture.subscribed(fixture.shop.customer, fixture.gold).await;
        let bert = fixture.shop.another_customer().await;
        let elsewhere = fixture.elsewhere(fixture.shop.stock_fixture.second.application_id);
        for outsider in [bert, elsewhere] {
            assert!(fixture.see_as(outsider, id).await.is_none());
            assert!(matches!(fixture.service.cancel(outsider, id).await, Err(SubscriptionError::NotFound)));
            assert!(fixture.of_customer(outsider).await.is_empty());
        }
        fixture.shop.stock_fixture.run("UPDATE subscriptions SET application_id = NULL".to_owned()).await;
        assert!(fixture.see_as(elsewhere, id).await.is_some(), "one of the project as a whole is nobody's alone");
        assert!(fixture.see_as(bert, id).await.is_none());
    }
}
