//! Concurrent charges charge once.

use std::sync::Arc;

use kontor_adapter_diesel::database_tests;
use kontor_payments::model::GatewayStatus;
use kontor_subscriptions::model::PlanChoice;
use kontor_subscriptions::{Agreement, StaffCommand, SubscriptionStatus, TermsEdit};
use tokio::task::JoinSet;

use super::fixture::SubscriptionFixture;
use crate::orders::shop::AcquirerMode;

/// `DELETE_ROUNDS` increases the rounds.
#[expect(clippy::disallowed_methods, reason = "a test that is told how long to run")]
fn rounds() -> u64 {
    std::env::var("DELETE_ROUNDS").ok().map_or(60, |text| text.parse().unwrap())
}

database_tests! {
    async fn of_checkouts_that_race_one_is_made(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let anna = fixture.shop.customer;
        let silver = fixture.plan("Silver", 50_000, 1).await;
        let mut running = JoinSet::new();
        for number in 0..20 {
            let service = Arc::clone(&fixture.service);
            let plan = if number % 2 == 0 { fixture.gold } else { silver };
            running.spawn(async move {
                service.check_out(anna, &SubscriptionFixture::purchase(&[plan], None), &Agreement::default()).await.is_ok()
            });
        }
        let answered = running.join_all().await.into_iter().filter(|is_ok| *is_ok).count();
        assert!((1..=10).contains(&answered), "{answered}");
        assert_eq!((fixture.shop.acquirer.count(), fixture.shop.count("subscriptions").await), (1, 1));
    }

    async fn a_period_is_charged_once_by_any_source(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let anna = fixture.shop.customer;
        let id = fixture.subscribed(anna, fixture.gold).await;
        let (silver, method) = (fixture.plan("Silver", 50_000, 1).await, fixture.method(anna).await);
        fixture.shop.acquirer.set_mode(AcquirerMode::Declines("insufficient_funds"));
        fixture.go_to("2026-04-01T12:00:00Z");
        fixture.tick().await;
        let failed = fixture.see(id).await.latest.unwrap().id;
        let made = fixture.shop.acquirer.count();
        fixture.shop.acquirer.set_mode(AcquirerMode::Paid);
        fixture.go_to("2026-04-02T12:00:00Z");
        let mut running = JoinSet::new();
        let (staff_subscriptions, staff) = (Arc::new(fixture.staff_subscriptions()), fixture.staff());
        for number in 0..200 {
            let (service, scheduler) = (Arc::clone(&fixture.service), Arc::clone(&fixture.scheduler));
            let (staff_subscriptions, staff) = (Arc::clone(&staff_subscriptions), staff.clone());
            running.spawn(async move {
                let agreement = Agreement::default();
                match number % 6 {
                    5 => drop(staff_subscriptions.command(&staff, id, StaffCommand::ChargeNow).await),
                    0 | 1 => drop(scheduler.run(10).await.unwrap()),
                    2 => drop(service.retry(anna, id, failed).await),
                    3 => drop(service.resume(anna, id, &agreement).await),
                    _ => {
                        let plan = PlanChoice::Item(kontor_kernel::NomenclatureId::new(silver).unwrap());
                        let edit = TermsEdit { plan: Some(plan), saved_method: Some(method) };
                        drop(service.change(anna, id, &edit, Some(&agreement)).await);
                    }
                }
            });
        }
        running.join_all().await;
        fixture.tick().await;
        assert_eq!(fixture.shop.acquirer.count(), made + 1, "one payment more");
        let paid = "subscription_payments WHERE state = 'succeeded'";
        assert_eq!(fixture.shop.count(paid).await, 2);
        assert_eq!(fixture.see(id).await.subscription.status, SubscriptionStatus::Active);
    }

    async fn after_a_card_is_deleted_no_request_names_it(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let (mut charged, mut refused) = (0, 0);
        // The delay before the deletion: longer after a charge that was never sent, so that both orders occur on slow
        // and on fast machines.
        let mut thinking = 0_u64;
        for round in 0..rounds() {
            let customer = fixture.shop.another_customer().await;
            fixture.subscribed(customer, fixture.gold).await;
            let method = fixture.method(customer).await;
            let acquirer_mode = if round % 3 == 0 { AcquirerMode::LosesTheAnswer } else { AcquirerMode::Paid };
            fixture.shop.acquirer.set_mode(acquirer_mode);
            fixture.shop.wait(31 * 86_400);
            let (service, scheduler) = (Arc::clone(&fixture.service), Arc::clone(&fixture.scheduler));
            let acquirer = Arc::clone(&fixture.shop.acquirer);
            let named = move || acquirer.named.lock().unwrap().iter().filter(|named| **named == method).count();
            let counted = named.clone();
            let delete = tokio::spawn(async move {
                tokio::time::sleep(std::time::Duration::from_millis(thinking)).await;
                service.delete_method(customer, method).await.unwrap();
                counted()
            });
            scheduler.run(10).await.unwrap();
            let until_the_answer = delete.await.unwrap();
            for seconds in [0, 3, 60, 3_600, 86_400] {
                fixture.shop.wait(seconds);
                fixture.tick().await;
            }
            assert_eq!(named(), until_the_answer, "round {round}");
            if until_the_answer == 0 {
                refused += 1;
                thinking = 100.min(2 * thinking + 1);
            } else {
                charged += 1;
                thinking /= 2;
            }
            // In the next round only its own customer has due charges, and the open charges of this one are settled:
            // otherwise every round would check the open charges of all previous ones.
            for provider in fixture.shop.acquirer.end() {
                fixture.shop.payments.handle_notification(&provider, None).await.unwrap();
            }
            fixture.shop.acquirer.forget();
            fixture.shop.stock_fixture.run("UPDATE subscriptions SET wake_at = NULL WHERE wake_at IS NOT NULL".to_owned()).await;
        }
        println!("{charged} charges were on their way, {refused} were never sent");
        assert!(rounds() < 20 || charged > 0 && refused > 0, "both orders were seen: {charged}, {refused}");
    }

    async fn notifications_of_a_charge_count_once(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let id = fixture.subscribed(fixture.shop.customer, fixture.gold).await;
        fixture.shop.acquirer.set_mode(AcquirerMode::LosesTheAnswer);
        fixture.go_to("2026-04-01T12:00:00Z");
        fixture.scheduler.run(10).await.unwrap();
        assert_eq!(fixture.see(id).await.subscription.status, SubscriptionStatus::Charging);
        let provider = fixture.shop.acquirer.settle(GatewayStatus::Succeeded);
        let mut running = JoinSet::new();
        for number in 0..20 {
            let (payments, provider) = (Arc::clone(&fixture.shop.payments), provider.clone());
            running.spawn(async move {
                if number % 2 == 0 {
                    payments.handle_notification(&provider, None).await.unwrap();
                } else {
                    payments.reconcile("w", 5).await.unwrap();
                }
            });
        }
        running.join_all().await;
        assert_eq!(fixture.standing(id).await.1.unwrap(), "2026-05-01");
        assert_eq!(fixture.shop.count("subscription_payments").await, 2);
        assert_eq!(fixture.shop.count("orders WHERE status_id = 22").await, 2);
        let reported = ["subscription_activated", "subscription_charge_ahead", "subscription_renewed"];
        assert_eq!(fixture.notices().await, reported);
    }
}
