//! For any behaviour of the acquirer, one order is charged once.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use chrono::TimeDelta;
use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_kernel::Clock;
use kontor_orders::model::OrderStatus;
use kontor_orders::{PlacedOutcome, PlacementError, PlacementService};
use kontor_payments::change::{Change, ChargeChange};
use kontor_payments::model::{ChargeFailure, ChargePurpose, GatewayStatus, ProviderId};
use kontor_payments::ports::ChargeStore;
use kontor_payments::{ChargeService, NotificationResult};

use super::counter::{AcquirerMode, Counter};

database_tests! {
    async fn a_payment_is_asked_for_after_the_commit_and_confirmed_by_the_acquirer(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let vase = counter.goods("Vase", 5, 26_550).await;
        let order = counter.placed(&counter.online(&[(vase, 2)])).await;
        assert_eq!(order.status, OrderStatus::WaitingForPayment);
        assert!(order.payment_link.is_some() && order.payment_open);
        let id = counter.acquirer.settle(GatewayStatus::Succeeded);
        assert_eq!(counter.payments.handle_notification(&id, None).await.unwrap(), NotificationResult::Settled(ChargePurpose::Order(order.id)));
        let paid = counter.order(order.id).await;
        assert_eq!((paid.status, paid.paid_at.is_some(), paid.payment_link), (OrderStatus::Paid, true, None));
        let payload = counter.house.number(
            "SELECT count(*) AS number FROM outbox_events WHERE topic = 'order.paid' AND payload LIKE '%\"amount\":\"531.00\"%'"
                .to_owned(),
        ).await;
        assert_eq!(payload, 1);
    }

    async fn duplicates_and_late_news_change_nothing(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let vase = counter.goods("Vase", 5, 100).await;
        let order = counter.placed(&counter.online(&[(vase, 1)])).await;
        let id = counter.acquirer.settle(GatewayStatus::Succeeded);
        let (one, two) = tokio::join!(counter.payments.handle_notification(&id, None), counter.payments.handle_notification(&id, None));
        one.unwrap();
        two.unwrap();
        counter.acquirer.settle(GatewayStatus::Canceled);
        assert_eq!(counter.payments.handle_notification(&id, None).await.unwrap(), NotificationResult::AlreadySettled(ChargePurpose::Order(order.id)));
        counter.wait(3_600);
        assert_eq!(counter.payments.reconcile("w", 10).await.unwrap().checked, 0);
        assert_eq!(counter.order(order.id).await.status, OrderStatus::Paid);
        assert_eq!((counter.count("outbox_events").await, counter.stock(vase).await), (1, (5, 1)));
        let stranger = ProviderId::parse("pay-unknown").unwrap();
        assert_eq!(counter.payments.handle_notification(&stranger, None).await.unwrap(), NotificationResult::Ignored);
    }

    async fn a_refusal_cancels_the_order_and_returns_everything(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let vase = counter.goods("Vase", 1, 100).await;
        counter.promo("SPRING", "1", "1").await;
        counter.acquirer.mood(AcquirerMode::Refuses);
        let command = kontor_orders::OrderCommand {
            promo_code: kontor_orders::model::PromoCode::parse("SPRING").ok(),
            ..counter.online(&[(vase, 1)])
        };
        let refused = counter.place(&command).await;
        assert!(matches!(refused, Err(PlacementError::PaymentRefused { .. })), "{refused:?}");
        assert_eq!(counter.only_order().await.status, OrderStatus::Canceled);
        assert_eq!((counter.stock(vase).await, counter.count("discount_usages").await), ((1, 0), 0));
        assert_eq!(counter.house.offers().await.len(), 1, "the offer is back");
        counter.acquirer.mood(AcquirerMode::Pending);
        counter.placed(&command).await;
    }

    async fn a_lost_answer_is_found_out_under_the_same_key(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let vase = counter.goods("Vase", 5, 100).await;
        counter.acquirer.mood(AcquirerMode::LosesTheAnswer);
        let outcome = counter.place(&counter.online(&[(vase, 1)])).await.unwrap();
        let PlacedOutcome::PaymentOutcomeUnknown(order) = outcome else { panic!("{outcome:?}") };
        assert_eq!((order.status, order.payment_link), (OrderStatus::WaitingForPayment, None));
        counter.acquirer.mood(AcquirerMode::Pending);
        assert_eq!(counter.payments.reconcile("w", 10).await.unwrap().checked, 0, "not due yet");
        counter.wait(2);
        assert_eq!(counter.payments.reconcile("w", 10).await.unwrap().checked, 1);
        assert!(counter.order(order.id).await.payment_link.is_some());
        assert_eq!(counter.acquirer.count(), 1, "one payment at the acquirer");
    }

    async fn a_process_that_dies_before_the_call_leaves_its_key_behind(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let vase = counter.goods("Vase", 5, 100).await;
        counter.acquirer.mood(AcquirerMode::Silent);
        let order = counter.placed(&counter.online(&[(vase, 1)])).await;
        // As if the charge had never been changed after its commit.
        counter.house.run("UPDATE charges SET checks = 0".to_owned()).await;
        counter.acquirer.mood(AcquirerMode::Paid);
        counter.wait(60);
        assert_eq!(counter.payments.reconcile("w", 10).await.unwrap().settled, 1);
        assert_eq!(counter.order(order.id).await.status, OrderStatus::Paid);
    }

    async fn a_payment_whose_answer_is_not_stored_is_taken_over_after_a_minute(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let vase = counter.goods("Vase", 5, 100).await;
        // The acquirer's response reaches a process that no longer stores anything.
        let elsewhere = TestDatabase::fresh(db.kind);
        let charges = ChargeService {
            charges: Arc::new(elsewhere.database.clone()),
            gateway: counter.acquirer.clone(),
            clock: counter.clock.clone(),
            random: counter.random.clone(),
        };
        let dying = PlacementService { charges: Arc::new(charges), ..PlacementService::clone(&counter.placement) };
        dying.place(counter.customer, &counter.online(&[(vase, 1)])).await.unwrap();
        let order = counter.only_order().await;
        assert_eq!((order.status, order.payment_link, order.payment_open), (OrderStatus::WaitingForPayment, None, true));
        counter.wait(59);
        assert_eq!(counter.payments.reconcile("w", 10).await.unwrap().checked, 0);
        counter.wait(1);
        assert_eq!(counter.payments.reconcile("w", 10).await.unwrap().checked, 1);
        assert!(counter.order(order.id).await.payment_link.is_some());
        assert_eq!(counter.acquirer.count(), 1, "one payment at the acquirer");
    }

    async fn a_payment_that_was_never_made_is_given_up_in_the_end(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let vase = counter.goods("Vase", 5, 100).await;
        counter.acquirer.mood(AcquirerMode::Silent);
        let order = counter.placed(&counter.online(&[(vase, 1)])).await;
        for _ in 0..4 {
            counter.wait(300);
            counter.payments.reconcile("w", 10).await.unwrap();
        }
        assert_eq!(counter.order(order.id).await.status, OrderStatus::WaitingForPayment);
        counter.wait(24 * 3_600);
        assert_eq!(counter.payments.reconcile("w", 10).await.unwrap().settled, 1);
        let order = counter.order(order.id).await;
        assert_eq!((order.status, counter.stock(vase).await), (OrderStatus::Canceled, (5, 0)));
    }

    async fn another_amount_settles_nothing(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let vase = counter.goods("Vase", 5, 100).await;
        let order = counter.placed(&counter.online(&[(vase, 1)])).await;
        let id = counter.acquirer.settle(GatewayStatus::Succeeded);
        counter.acquirer.payments.lock().unwrap()[0].1.amount = kontor_kernel::Money::from_minor(1).unwrap();
        for _ in 0..2 {
            let notified = counter.payments.handle_notification(&id, None).await.unwrap();
            assert!(matches!(notified, NotificationResult::Suspicious { .. }), "{notified:?}");
        }
        assert_eq!(counter.order(order.id).await.status, OrderStatus::WaitingForPayment);
        let noted = "SELECT count(*) AS number FROM order_events WHERE event = 'payment_suspicious'";
        assert_eq!(counter.house.number(noted.to_owned()).await, 1, "noted once");
    }

    async fn an_outcome_is_recorded_once_whoever_brings_it(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let vase = counter.goods("Vase", 5, 100).await;
        let order = counter.placed(&counter.online(&[(vase, 1)])).await;
        let provider_id = counter.acquirer.settle(GatewayStatus::Succeeded);
        let charge = db.database.by_provider(&provider_id).await.unwrap().unwrap();
        let paid = |n: u128| ChargeChange::Succeeded {
            provider_id: provider_id.clone(),
            event_id: uuid::Uuid::from_u128(n),
            refund: None,
            method: None,
            receipt: None,
        };
        let failed = ChargeChange::Failed {
            provider_id: None,
            failure: ChargeFailure::Canceled,
            reason: "late".to_owned(),
        };
        let at = counter.clock.now();
        let (one, two) = tokio::join!(
            ChargeStore::record(&db.database, charge.id, paid(1), at),
            ChargeStore::record(&db.database, charge.id, paid(2), at),
        );
        let done = [one.unwrap(), two.unwrap()].into_iter().filter(|change| *change == Change::Done).count();
        assert_eq!(done, 1);
        assert_eq!(ChargeStore::record(&db.database, charge.id, failed, at).await.unwrap(), Change::Stale);
        assert_eq!((counter.order(order.id).await.status, counter.stock(vase).await), (OrderStatus::Paid, (5, 1)));
        assert_eq!((counter.count("outbox_events").await, counter.count("order_events").await), (1, 2));
    }

    async fn workers_never_share_a_charge(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let vase = counter.goods("Vase", 50, 100).await;
        counter.acquirer.mood(AcquirerMode::Silent);
        for _ in 0..10 {
            counter.placed(&counter.online(&[(vase, 1)])).await;
        }
        counter.wait(60);
        let (at, until) = (counter.clock.now(), counter.clock.now() + TimeDelta::seconds(90));
        let (a, b) = tokio::join!(
            async { let mut taken = vec![]; while let Some(x) = ChargeStore::lease(&db.database, "a", at, until).await.unwrap() { taken.push(x.id) } taken },
            async { let mut taken = vec![]; while let Some(x) = ChargeStore::lease(&db.database, "b", at, until).await.unwrap() { taken.push(x.id) } taken },
        );
        let mut all: Vec<_> = a.into_iter().chain(b).collect();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 10);
        assert_eq!(ChargeStore::lease(&db.database, "c", at, until).await.unwrap(), None);
        assert!(ChargeStore::lease(&db.database, "c", until, until + TimeDelta::seconds(90)).await.unwrap().is_some(), "a lease ends");
    }

    async fn reconciling_twice_at_once_asks_once(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let vase = counter.goods("Vase", 50, 100).await;
        counter.acquirer.mood(AcquirerMode::LosesTheAnswer);
        for _ in 0..8 {
            counter.placed(&counter.online(&[(vase, 1)])).await;
        }
        counter.acquirer.mood(AcquirerMode::Pending);
        counter.wait(60);
        let before = counter.acquirer.requests.load(Ordering::SeqCst);
        let (a, b) = tokio::join!(counter.payments.reconcile("a", 50), counter.payments.reconcile("b", 50));
        assert_eq!(a.unwrap().checked + b.unwrap().checked, 8);
        assert_eq!(counter.acquirer.requests.load(Ordering::SeqCst) - before, 8);
        assert_eq!(counter.acquirer.count(), 8);
    }
}
