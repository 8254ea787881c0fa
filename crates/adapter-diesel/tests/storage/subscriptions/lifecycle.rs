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

use super::club::Club;
use crate::orders::counter::AcquirerMode;

fn told(status: &str, until: &str, next: &str) -> (String, Option<String>, Option<String>) {
    let day = |day: &str| (!day.is_empty()).then(|| day.to_owned());
    (status.to_owned(), day(until), day(next))
}

database_tests! {
    async fn a_checkout_becomes_a_subscription_that_renews(db: TestDatabase) {
        let club = Club::open(&db).await;
        let anna = club.counter.customer;
        let checkout = club.check_out(anna, &[club.gold]).await.unwrap();
        assert_eq!(checkout.result, CheckoutResult::New);
        assert!(checkout.payment.charge.confirmation_url.is_some());
        let id = checkout.payment.subscriptions[0].subscription.id;
        assert_eq!(club.standing(id).await, told("charging", "", ""));
        let again = club.check_out(anna, &[club.gold]).await.unwrap();
        assert_eq!((again.result, again.payment.order), (CheckoutResult::Present, checkout.payment.order));
        let silver = club.plan("Silver", 50_000, 1).await;
        let other = club.check_out(anna, &[silver]).await;
        assert!(matches!(other, Err(SubscriptionError::AnotherUnfinished)), "{other:?}");
        club.settle(GatewayStatus::Succeeded).await;
        assert_eq!(club.standing(id).await, told("active", "2026-04-01", "2026-04-01"));
        assert_eq!(club.counter.order(checkout.payment.order).await.status, OrderStatus::Paid);
        let view = club.see(id).await;
        assert_eq!(view.retry, (false, RetryReason::AlreadyPaid));
        assert_eq!(view.latest.unwrap().state, AttemptState::Succeeded);
        let twice = club.check_out(anna, &[club.gold]).await;
        assert!(matches!(twice, Err(SubscriptionError::Refused(SubscriptionRefusal::AlreadySubscribed))), "{twice:?}");
        club.counter.acquirer.mood(AcquirerMode::Paid);
        club.go_to("2026-04-01T11:59:59Z");
        assert_eq!(club.tick().await, 0, "not before its time");
        for (moment, until) in [("2026-04-01T12:00:00Z", "2026-05-01"), ("2026-05-02T00:00:00Z", "2026-06-01")] {
            club.go_to(moment);
            assert_eq!(club.tick().await, 1);
            assert_eq!(club.tick().await, 0);
            assert_eq!(club.standing(id).await, told("active", until, until));
        }
        assert_eq!(club.counter.count("orders WHERE status_id = 22 AND subscription_id IS NOT NULL").await, 3);
        assert_eq!(club.counter.count("outbox_events").await, 3);
        let (ahead, renewed) = ("subscription_charge_ahead", "subscription_renewed");
        assert_eq!(club.notices().await, ["subscription_activated", ahead, renewed, ahead, renewed]);
    }

    async fn plans_that_are_paid_together_become_subscriptions_of_their_own(db: TestDatabase) {
        let club = Club::open(&db).await;
        let (anna, silver) = (club.counter.customer, club.plan("Silver", 50_000, 1).await);
        let checkout = club.check_out(anna, &[club.gold, silver]).await.unwrap();
        assert_eq!(checkout.payment.charge.request.amount.to_string(), "1490.00");
        club.settle(GatewayStatus::Succeeded).await;
        let all = club.service.list(anna).await.unwrap();
        assert!(all.iter().all(|view| view.subscription.status == SubscriptionStatus::Active) && all.len() == 2);
        assert_eq!(all[0].subscription.terms.amount.to_string(), "500.00");
        let yearly = club.plan("Yearly", 50_000, 12).await;
        let differ = club.check_out(anna, &[yearly, silver]).await;
        assert!(matches!(differ, Err(SubscriptionError::Refused(SubscriptionRefusal::PlansDiffer))), "{differ:?}");
        club.counter.acquirer.mood(AcquirerMode::Paid);
        club.go_to("2026-04-01T12:00:00Z");
        assert_eq!(club.tick().await, 2);
    }

    async fn a_checkout_nobody_pays_ends_and_leaves_nothing(db: TestDatabase) {
        let club = Club::open(&db).await;
        let anna = club.counter.customer;
        let checkout = club.check_out(anna, &[club.gold]).await.unwrap();
        club.settle(GatewayStatus::Canceled).await;
        let id = checkout.payment.subscriptions[0].subscription.id;
        assert_eq!(club.standing(id).await, told("canceled", "", ""));
        assert_eq!(club.counter.order(checkout.payment.order).await.status, OrderStatus::Canceled);
        let agreement = Agreement::default();
        let resumed = club.service.resume(anna, id, &agreement).await;
        assert!(matches!(resumed, Err(SubscriptionError::Move(_))), "{resumed:?}");
        assert_eq!(club.check_out(anna, &[club.gold]).await.unwrap().result, CheckoutResult::New);
    }

    async fn a_saved_card_is_charged_at_once(db: TestDatabase) {
        let club = Club::open(&db).await;
        let anna = club.counter.customer;
        club.subscribed(anna, club.gold).await;
        let (method, silver) = (club.method(anna).await, club.plan("Silver", 50_000, 1).await);
        club.counter.acquirer.mood(AcquirerMode::Declines("insufficient_funds"));
        let declined = club.at_once(anna, silver, method).await;
        let reason = "insufficient_funds".to_owned();
        assert!(matches!(declined, Err(SubscriptionError::Refused(SubscriptionRefusal::PaymentFailed { reason: told })) if told == reason));
        club.counter.acquirer.mood(AcquirerMode::Silent);
        let unclear = club.at_once(anna, silver, method).await.unwrap();
        assert_eq!(unclear.latest.unwrap().state, AttemptState::NeedsReconciliation);
        assert_eq!(unclear.retry.1, RetryReason::NeedsReconciliation);
        club.counter.wait(30 * 3_600);
        club.counter.payments.reconcile("w", 9).await.unwrap();
        club.counter.acquirer.mood(AcquirerMode::Paid);
        let paid = club.at_once(anna, silver, method).await.unwrap();
        assert_eq!(paid.subscription.status, SubscriptionStatus::Active);
        let bert = club.counter.another_customer().await;
        let foreign = club.at_once(bert, silver, method).await;
        assert!(matches!(foreign, Err(SubscriptionError::Refused(SubscriptionRefusal::MethodUnavailable))), "{foreign:?}");
    }

    async fn what_is_declined_is_tried_again_and_ends(db: TestDatabase) {
        let club = Club::open(&db).await;
        let id = club.subscribed(club.counter.customer, club.gold).await;
        club.counter.acquirer.mood(AcquirerMode::Declines("insufficient_funds"));
        club.go_to("2026-04-01T12:00:00Z");
        let mut tried = Vec::new();
        for _ in 0..60 * 4 {
            if club.tick().await > 0 {
                tried.push(club.today());
            }
            club.counter.wait(6 * 3_600);
        }
        assert_eq!(tried, ["04-01", "04-02", "04-04", "04-06", "04-10", "04-25"]);
        assert_eq!(club.standing(id).await, told("canceled", "2026-04-01", ""));
        assert_eq!(club.counter.count("orders WHERE status_id = 22").await, 1);
        let told = club.notices().await;
        assert_eq!(told.iter().filter(|code| *code == "subscription_payment_failed").count(), 6, "{told:?}");
        assert_eq!(told.last().unwrap(), "subscription_ended");
    }

    async fn an_acquirer_who_contradicts_itself_parks_the_subscription_once(db: TestDatabase) {
        let club = Club::open(&db).await;
        let id = club.subscribed(club.counter.customer, club.gold).await;
        let payments = &club.counter.payments;
        let parked = async || club.see(id).await.subscription.parked;
        // A notification that agrees with the outcome, or has no information, causes no read.
        let told_otherwise = club.counter.acquirer.settle(GatewayStatus::Canceled);
        for told in [None, Some(GatewayStatus::Succeeded), Some(GatewayStatus::Pending)] {
            let heard = payments.handle_notification(&told_otherwise, told).await.unwrap();
            assert!(matches!(heard, NotificationResult::AlreadySettled(_)), "{heard:?}");
        }
        // Any client can send a notification: the state that is read agrees.
        club.counter.acquirer.settle(GatewayStatus::Succeeded);
        let heard = payments.handle_notification(&told_otherwise, Some(GatewayStatus::Canceled)).await.unwrap();
        assert!(matches!(heard, NotificationResult::AlreadySettled(_)), "{heard:?}");
        assert_eq!(parked().await, None);
        club.counter.acquirer.settle(GatewayStatus::Canceled);
        let mut running = JoinSet::new();
        for _ in 0..8 {
            let (payments, payment) = (Arc::clone(payments), told_otherwise.clone());
            running.spawn(async move {
                let heard = payments.handle_notification(&payment, Some(GatewayStatus::Canceled)).await.unwrap();
                assert!(matches!(heard, NotificationResult::Suspicious { .. }), "{heard:?}");
            });
        }
        running.join_all().await;
        assert_eq!(parked().await, Some(Park::ContradictingAnswers));
        assert_eq!(club.standing(id).await, told("active", "2026-04-01", ""), "what was paid stays");
        let noted = async |table: &str| club.counter.count(table).await;
        assert_eq!(noted("subscription_events WHERE event = 'charge_contradicted'").await, 1);
        assert_eq!(noted("order_events WHERE event = 'payment_suspicious'").await, 1);
        club.go_to("2026-04-02T12:00:00Z");
        assert_eq!(club.tick().await, 0, "people look first");
        club.desk().command(&club.staff(), id, StaffCommand::Release).await.unwrap();
        payments.handle_notification(&told_otherwise, Some(GatewayStatus::Canceled)).await.unwrap();
        assert_eq!(parked().await, None, "people have looked at it");
        assert_eq!(club.tick().await, 1);
    }

    async fn money_of_a_charge_that_failed_is_looked_at(db: TestDatabase) {
        let club = Club::open(&db).await;
        let id = club.subscribed(club.counter.customer, club.gold).await;
        club.counter.acquirer.mood(AcquirerMode::Declines("insufficient_funds"));
        club.go_to("2026-04-01T12:00:00Z");
        club.tick().await;
        assert_eq!(club.see(id).await.subscription.status, SubscriptionStatus::PastDue);
        let payment = club.counter.acquirer.settle(GatewayStatus::Succeeded);
        club.counter.payments.handle_notification(&payment, Some(GatewayStatus::Succeeded)).await.unwrap();
        let found = club.see(id).await.subscription;
        assert_eq!((found.status, found.parked), (SubscriptionStatus::PastDue, Some(Park::ContradictingAnswers)));
        club.counter.wait(40 * 86_400);
        assert_eq!(club.tick().await, 0);
    }

    async fn a_recovered_period_keeps_its_day(db: TestDatabase) {
        let club = Club::open(&db).await;
        let id = club.subscribed(club.counter.customer, club.gold).await;
        club.counter.acquirer.mood(AcquirerMode::Declines("insufficient_funds"));
        club.go_to("2026-04-01T12:00:00Z");
        club.tick().await;
        let failed = club.see(id).await;
        assert_eq!((failed.subscription.status, failed.retry), (SubscriptionStatus::PastDue, (true, RetryReason::Available)));
        let payment = failed.latest.unwrap().id;
        club.counter.acquirer.mood(AcquirerMode::Paid);
        club.counter.wait(600);
        let anna = club.counter.customer;
        let paid = club.service.retry(anna, id, payment).await.unwrap();
        assert_eq!(paid.subscription.status, SubscriptionStatus::Active);
        assert_eq!(club.standing(id).await, told("active", "2026-05-01", "2026-05-01"));
        let again = club.service.retry(anna, id, payment).await;
        let expected = SubscriptionRefusal::NotRetryable(RetryReason::AlreadyPaid);
        assert!(matches!(again, Err(SubscriptionError::Refused(refused)) if refused == expected));
    }

    async fn canceling_keeps_what_is_paid_and_resuming_goes_on(db: TestDatabase) {
        let club = Club::open(&db).await;
        let anna = club.counter.customer;
        let id = club.subscribed(anna, club.gold).await;
        club.counter.acquirer.mood(AcquirerMode::Paid);
        let canceled = club.service.cancel(anna, id).await.unwrap();
        assert!(canceled.subscription.canceled_at.is_some());
        assert!(matches!(club.service.cancel(anna, id).await, Err(SubscriptionError::Move(_))));
        let agreement = Agreement::default();
        let resumed = club.service.resume(anna, id, &agreement).await.unwrap();
        assert_eq!(resumed.subscription.canceled_at, None);
        assert_eq!(club.standing(id).await, told("active", "2026-04-01", "2026-04-01"));
        club.service.cancel(anna, id).await.unwrap();
        club.go_to("2026-07-15T08:00:00Z");
        assert_eq!(club.tick().await, 0);
        club.service.resume(anna, id, &agreement).await.unwrap();
        assert_eq!(club.see(id).await.subscription.status, SubscriptionStatus::PastDue);
        assert_eq!(club.tick().await, 1);
        assert_eq!(club.standing(id).await, told("active", "2026-08-15", "2026-08-15"));
        assert_eq!(club.counter.count("subscription_consents").await, 3);
    }

    async fn what_ended_by_declines_is_charged_when_it_is_resumed(db: TestDatabase) {
        let club = Club::open(&db).await;
        let anna = club.counter.customer;
        let id = club.subscribed(anna, club.gold).await;
        club.counter.acquirer.mood(AcquirerMode::Declines("insufficient_funds"));
        club.go_to("2026-04-01T12:00:00Z");
        for _ in 0..25 * 4 {
            club.tick().await;
            club.counter.wait(6 * 3_600);
        }
        assert_eq!(club.standing(id).await, told("canceled", "2026-04-01", ""));
        let agreement = Agreement::default();
        club.go_to("2026-04-27T08:00:00Z");
        club.service.resume(anna, id, &agreement).await.unwrap();
        assert_eq!(club.standing(id).await, told("past_due", "2026-04-01", "2026-04-27"));
        assert_eq!(club.notices().await.last().unwrap(), "subscription_resumed");
        // The charge is declined once more, and the customer subscribes again.
        assert_eq!(club.tick().await, 1);
        assert_eq!(club.standing(id).await, told("past_due", "2026-04-01", "2026-04-28"));
        club.counter.wait(60);
        club.service.cancel(anna, id).await.unwrap();
        club.service.resume(anna, id, &agreement).await.unwrap();
        club.counter.acquirer.mood(AcquirerMode::Paid);
        assert_eq!(club.tick().await, 1);
        assert_eq!(club.standing(id).await, told("active", "2026-05-27", "2026-05-27"));
        assert_eq!(club.see(id).await.retry, (false, RetryReason::AlreadyPaid));
    }

    /// A card that must not be charged again: the customer agrees on another one, before or after the end.
    async fn another_card_revives_what_ended_by_a_hard_decline(db: TestDatabase) {
        let club = Club::open(&db).await;
        let anna = club.counter.customer;
        let id = club.subscribed(anna, club.gold).await;
        club.counter.acquirer.mood(AcquirerMode::Declines("card_expired"));
        club.go_to("2026-04-01T12:00:00Z");
        club.tick().await;
        assert_eq!(club.standing(id).await, told("past_due", "2026-04-01", ""));
        club.go_to("2026-05-01T12:00:00Z");
        club.tick().await;
        assert_eq!(club.standing(id).await, told("canceled", "2026-04-01", ""));
        let agreement = Agreement::default();
        let refused = club.service.resume(anna, id, &agreement).await;
        assert!(matches!(&refused, Err(SubscriptionError::Move(refused)) if refused.reason == RefusalReason::MethodInactive), "{refused:?}");
        // Another plan is bought with another card, which the ended subscription takes over.
        let silver = club.plan("Silver", 50_000, 1).await;
        club.subscribed(anna, silver).await;
        let edit = TermsEdit { plan: None, saved_method: Some(club.method(anna).await) };
        club.service.change(anna, id, &edit, Some(&agreement)).await.unwrap();
        assert_eq!(club.standing(id).await, told("canceled", "2026-04-01", ""));
        club.service.resume(anna, id, &agreement).await.unwrap();
        club.counter.acquirer.mood(AcquirerMode::Paid);
        assert_eq!(club.tick().await, 1);
        assert_eq!(club.standing(id).await, told("active", "2026-06-01", "2026-06-01"));
    }

    async fn a_deleted_card_is_never_charged_again(db: TestDatabase) {
        let club = Club::open(&db).await;
        let anna = club.counter.customer;
        let id = club.subscribed(anna, club.gold).await;
        let method = club.method(anna).await;
        club.counter.acquirer.mood(AcquirerMode::Paid);
        club.service.delete_method(anna, method).await.unwrap();
        assert_eq!(club.standing(id).await, told("active", "2026-04-01", ""));
        let asked = club.counter.acquirer.requests.load(std::sync::atomic::Ordering::SeqCst);
        for _ in 0..90 {
            club.counter.wait(86_400);
            club.tick().await;
        }
        assert_eq!(club.counter.acquirer.requests.load(std::sync::atomic::Ordering::SeqCst), asked);
        assert_eq!(club.standing(id).await, told("canceled", "2026-04-01", ""));
        let codes = club.notices().await;
        assert_eq!(codes, ["subscription_activated", "subscription_method_needed", "subscription_method_needed", "subscription_ended"]);
    }

    async fn a_pause_of_the_service_costs_one_charge(db: TestDatabase) {
        let club = Club::open(&db).await;
        let id = club.subscribed(club.counter.customer, club.gold).await;
        club.counter.acquirer.mood(AcquirerMode::Paid);
        club.go_to("2026-09-20T00:00:00Z");
        assert_eq!(club.tick().await, 1);
        assert_eq!(club.tick().await, 0);
        assert_eq!(club.standing(id).await, told("active", "2026-10-01", "2026-10-01"));
        assert_eq!(club.counter.count("subscription_payments").await, 2);
    }

    async fn a_stranger_sees_nothing(db: TestDatabase) {
        let club = Club::open(&db).await;
        let id = club.subscribed(club.counter.customer, club.gold).await;
        let bert = club.counter.another_customer().await;
        let elsewhere = club.elsewhere(club.counter.house.second.application_id);
        for stranger in [bert, elsewhere] {
            assert!(club.see_as(stranger, id).await.is_none());
            assert!(matches!(club.service.cancel(stranger, id).await, Err(SubscriptionError::NotFound)));
            assert!(club.service.list(stranger).await.unwrap().is_empty());
        }
        club.counter.house.run("UPDATE subscriptions SET application_id = NULL".to_owned()).await;
        assert!(club.see_as(elsewhere, id).await.is_some(), "one of the project as a whole is nobody's alone");
        assert!(club.see_as(bert, id).await.is_none());
    }
}
