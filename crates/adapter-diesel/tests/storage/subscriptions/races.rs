//! Concurrent charges charge once.

use std::sync::Arc;

use kontor_adapter_diesel::database_tests;
use kontor_payments::model::GatewayStatus;
use kontor_subscriptions::model::PlanChoice;
use kontor_subscriptions::{Agreement, StaffCommand, SubscriptionStatus, TermsEdit};
use tokio::task::JoinSet;

use super::club::Club;
use crate::orders::counter::AcquirerMode;

/// `DELETE_ROUNDS` increases the rounds.
#[expect(clippy::disallowed_methods, reason = "a test that is told how long to run")]
fn rounds() -> u64 {
    std::env::var("DELETE_ROUNDS").ok().map_or(60, |text| text.parse().unwrap())
}

database_tests! {
    async fn of_checkouts_that_race_one_is_made(db: TestDatabase) {
        let club = Club::open(&db).await;
        let anna = club.counter.customer;
        let silver = club.plan("Silver", 50_000, 1).await;
        let mut running = JoinSet::new();
        for number in 0..20 {
            let service = Arc::clone(&club.service);
            let plan = if number % 2 == 0 { club.gold } else { silver };
            running.spawn(async move {
                service.check_out(anna, &Club::purchase(&[plan], None), &Agreement::default()).await.is_ok()
            });
        }
        let answered = running.join_all().await.into_iter().filter(|is_ok| *is_ok).count();
        assert!((1..=10).contains(&answered), "{answered}");
        assert_eq!((club.counter.acquirer.count(), club.counter.count("subscriptions").await), (1, 1));
    }

    async fn whoever_charges_a_period_it_is_charged_once(db: TestDatabase) {
        let club = Club::open(&db).await;
        let anna = club.counter.customer;
        let id = club.subscribed(anna, club.gold).await;
        let (silver, method) = (club.plan("Silver", 50_000, 1).await, club.method(anna).await);
        club.counter.acquirer.mood(AcquirerMode::Declines("insufficient_funds"));
        club.go_to("2026-04-01T12:00:00Z");
        club.tick().await;
        let failed = club.see(id).await.latest.unwrap().id;
        let made = club.counter.acquirer.count();
        club.counter.acquirer.mood(AcquirerMode::Paid);
        club.go_to("2026-04-02T12:00:00Z");
        let mut running = JoinSet::new();
        let (desk, staff) = (Arc::new(club.desk()), club.staff());
        for number in 0..200 {
            let (service, scheduler) = (Arc::clone(&club.service), Arc::clone(&club.scheduler));
            let (desk, staff) = (Arc::clone(&desk), staff.clone());
            running.spawn(async move {
                let agreement = Agreement::default();
                match number % 6 {
                    5 => drop(desk.command(&staff, id, StaffCommand::ChargeNow).await),
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
        club.tick().await;
        assert_eq!(club.counter.acquirer.count(), made + 1, "one payment more");
        let paid = "subscription_payments WHERE state = 'succeeded'";
        assert_eq!(club.counter.count(paid).await, 2);
        assert_eq!(club.see(id).await.subscription.status, SubscriptionStatus::Active);
    }

    async fn after_a_card_is_deleted_no_request_names_it(db: TestDatabase) {
        let club = Club::open(&db).await;
        let (mut charged, mut refused) = (0, 0);
        // The delay before the deletion: longer after a charge that was never sent, so that both orders occur on slow
        // and on fast machines.
        let mut thinking = 0_u64;
        for round in 0..rounds() {
            let customer = club.counter.another_customer().await;
            club.subscribed(customer, club.gold).await;
            let method = club.method(customer).await;
            let mood = if round % 3 == 0 { AcquirerMode::LosesTheAnswer } else { AcquirerMode::Paid };
            club.counter.acquirer.mood(mood);
            club.counter.wait(31 * 86_400);
            let (service, scheduler) = (Arc::clone(&club.service), Arc::clone(&club.scheduler));
            let acquirer = Arc::clone(&club.counter.acquirer);
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
                club.counter.wait(seconds);
                club.tick().await;
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
            for provider in club.counter.acquirer.end() {
                club.counter.payments.handle_notification(&provider, None).await.unwrap();
            }
            club.counter.acquirer.forget();
            club.counter.house.run("UPDATE subscriptions SET wake_at = NULL WHERE wake_at IS NOT NULL".to_owned()).await;
        }
        println!("{charged} charges were on their way, {refused} were never sent");
        assert!(rounds() < 20 || charged > 0 && refused > 0, "both orders were seen: {charged}, {refused}");
    }

    async fn news_of_a_charge_count_once(db: TestDatabase) {
        let club = Club::open(&db).await;
        let id = club.subscribed(club.counter.customer, club.gold).await;
        club.counter.acquirer.mood(AcquirerMode::LosesTheAnswer);
        club.go_to("2026-04-01T12:00:00Z");
        club.scheduler.run(10).await.unwrap();
        assert_eq!(club.see(id).await.subscription.status, SubscriptionStatus::Charging);
        let provider = club.counter.acquirer.settle(GatewayStatus::Succeeded);
        let mut running = JoinSet::new();
        for number in 0..20 {
            let (payments, provider) = (Arc::clone(&club.counter.payments), provider.clone());
            running.spawn(async move {
                if number % 2 == 0 {
                    payments.handle_notification(&provider, None).await.unwrap();
                } else {
                    payments.reconcile("w", 5).await.unwrap();
                }
            });
        }
        running.join_all().await;
        assert_eq!(club.standing(id).await.1.unwrap(), "2026-05-01");
        assert_eq!(club.counter.count("subscription_payments").await, 2);
        assert_eq!(club.counter.count("orders WHERE status_id = 22").await, 2);
        let told = ["subscription_activated", "subscription_charge_ahead", "subscription_renewed"];
        assert_eq!(club.notices().await, told);
    }
}
