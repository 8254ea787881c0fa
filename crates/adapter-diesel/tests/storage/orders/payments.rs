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

use super::shop::{AcquirerMode, ShopFixture};

database_tests! {
    async fn a_payment_is_asked_for_after_the_commit_and_confirmed_by_the_acquirer(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let vase = shop.goods("Vase", 5, 26_550).await;
        let order = shop.placed(&shop.online(&[(vase, 2)])).await;
        assert_eq!(order.status, OrderStatus::WaitingForPayment);
        assert!(order.payment_link.is_some() && order.payment_open);
        let id = shop.acquirer.settle(GatewayStatus::Succeeded);
        assert_eq!(shop.payments.handle_notification(&id, None).await.unwrap(), NotificationResult::Settled(ChargePurpose::Order(order.id)));
        let paid = shop.order(order.id).await;
        assert_eq!((paid.status, paid.paid_at.is_some(), paid.payment_link), (OrderStatus::Paid, true, None));
        let payload = shop.stock_fixture.number(
            "SELECT count(*) AS number FROM outbox_events WHERE topic = 'order.paid' AND payload LIKE '%\"amount\":\"531.00\"%'"
                .to_owned(),
        ).await;
        assert_eq!(payload, 1);
    }

    async fn duplicate_and_late_notifications_change_nothing(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let vase = shop.goods("Vase", 5, 100).await;
        let order = shop.placed(&shop.online(&[(vase, 1)])).await;
        let id = shop.acquirer.settle(GatewayStatus::Succeeded);
        let (one, two) = tokio::join!(shop.payments.handle_notification(&id, None), shop.payments.handle_notification(&id, None));
        one.unwrap();
        two.unwrap();
        shop.acquirer.settle(GatewayStatus::Canceled);
        assert_eq!(shop.payments.handle_notification(&id, None).await.unwrap(), NotificationResult::AlreadySettled(ChargePurpose::Order(order.id)));
        shop.wait(3_600);
        assert_eq!(shop.payments.reconcile("w", 10).await.unwrap().checked, 0);
        assert_eq!(shop.order(order.id).await.status, OrderStatus::Paid);
        assert_eq!((shop.count("outbox_events").await, shop.stock(vase).await), (1, (5, 1)));
        let outsider = ProviderId::parse("pay-unknown").unwrap();
        assert_eq!(shop.payments.handle_notification(&outsider, None).await.unwrap(), NotificationResult::Ignored);
    }

    async fn a_refusal_cancels_the_order_and_returns_everything(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let vase = shop.goods("Vase", 1, 100).await;
        shop.promo("SPRING", "1", "1").await;
        shop.acquirer.set_mode(AcquirerMode::Refuses);
        let command = kontor_orders::OrderCommand {
            promo_code: kontor_orders::model::PromoCode::parse("SPRING").ok(),
            ..shop.online(&[(vase, 1)])
        };
        let refused = shop.place(&command).await;
        assert!(matches!(refused, Err(PlacementError::PaymentRefused { .. })), "{refused:?}");
        assert_eq!(shop.only_order().await.status, OrderStatus::Canceled);
        assert_eq!((shop.stock(vase).await, shop.count("discount_usages").await), ((1, 0), 0));
        assert_eq!(shop.stock_fixture.offers().await.len(), 1, "the offer is back");
        shop.acquirer.set_mode(AcquirerMode::Pending);
        shop.placed(&command).await;
    }

    async fn a_lost_answer_is_found_out_under_the_same_key(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let vase = shop.goods("Vase", 5, 100).await;
        shop.acquirer.set_mode(AcquirerMode::LosesTheAnswer);
        let outcome = shop.place(&shop.online(&[(vase, 1)])).await.unwrap();
        let PlacedOutcome::PaymentOutcomeUnknown(order) = outcome else { panic!("{outcome:?}") };
        assert_eq!((order.status, order.payment_link), (OrderStatus::WaitingForPayment, None));
        shop.acquirer.set_mode(AcquirerMode::Pending);
        assert_eq!(shop.payments.reconcile("w", 10).await.unwrap().checked, 0, "not due yet");
        shop.wait(2);
        assert_eq!(shop.payments.reconcile("w", 10).await.unwrap().checked, 1);
        assert!(shop.order(order.id).await.payment_link.is_some());
        assert_eq!(shop.acquirer.count(), 1, "one payment at the acquirer");
    }

    async fn a_process_that_dies_before_the_call_leaves_its_key_behind(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let vase = shop.goods("Vase", 5, 100).await;
        shop.acquirer.set_mode(AcquirerMode::Silent);
        let order = shop.placed(&shop.online(&[(vase, 1)])).await;
        // As if the charge had never been changed after its commit.
        shop.stock_fixture.run("UPDATE charges SET checks = 0".to_owned()).await;
        shop.acquirer.set_mode(AcquirerMode::Paid);
        shop.wait(60);
        assert_eq!(shop.payments.reconcile("w", 10).await.unwrap().settled, 1);
        assert_eq!(shop.order(order.id).await.status, OrderStatus::Paid);
    }

    async fn a_payment_whose_answer_is_not_stored_is_taken_over_after_a_minute(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let vase = shop.goods("Vase", 5, 100).await;
        // The acquirer's response reaches a process that no longer stores anything.
        let elsewhere = TestDatabase::fresh(db.kind);
        let charges = ChargeService {
            charges: Arc::new(elsewhere.database.clone()),
            gateway: shop.acquirer.clone(),
            clock: shop.clock.clone(),
            random: shop.random.clone(),
        };
        let dying = PlacementService { charges: Arc::new(charges), ..PlacementService::clone(&shop.placement) };
        dying.place(shop.customer, &shop.online(&[(vase, 1)])).await.unwrap();
        let order = shop.only_order().await;
        assert_eq!((order.status, order.payment_link, order.payment_open), (OrderStatus::WaitingForPayment, None, true));
        shop.wait(59);
        assert_eq!(shop.payments.reconcile("w", 10).await.unwrap().checked, 0);
        shop.wait(1);
        assert_eq!(shop.payments.reconcile("w", 10).await.unwrap().checked, 1);
        assert!(shop.order(order.id).await.payment_link.is_some());
        assert_eq!(shop.acquirer.count(), 1, "one payment at the acquirer");
    }

    async fn a_payment_that_was_never_made_is_given_up_in_the_end(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let vase = shop.goods("Vase", 5, 100).await;
        shop.acquirer.set_mode(AcquirerMode::Silent);
        let order = shop.placed(&shop.online(&[(vase, 1)])).await;
        for _ in 0..4 {
            shop.wait(300);
            shop.payments.reconcile("w", 10).await.unwrap();
        }
        assert_eq!(shop.order(order.id).await.status, OrderStatus::WaitingForPayment);
        shop.wait(24 * 3_600);
        assert_eq!(shop.payments.reconcile("w", 10).await.unwrap().settled, 1);
        let order = shop.order(order.id).await;
        assert_eq!((order.status, shop.stock(vase).await), (OrderStatus::Canceled, (5, 0)));
    }

    async fn another_amount_settles_nothing(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let vase = shop.goods("Vase", 5, 100).await;
        let order = shop.placed(&shop.online(&[(vase, 1)])).await;
        let id = shop.acquirer.settle(GatewayStatus::Succeeded);
        shop.acquirer.payments.lock().unwrap()[0].1.amount = kontor_kernel::Money::from_minor(1).unwrap();
        for _ in 0..2 {
            let notified = shop.payments.handle_notification(&id, None).await.unwrap();
            assert!(matches!(notified, NotificationResult::Suspicious { .. }), "{notified:?}");
        }
        assert_eq!(shop.order(order.id).await.status, OrderStatus::WaitingForPayment);
        let noted = "SELECT count(*) AS number FROM order_events WHERE event = 'payment_suspicious'";
        assert_eq!(shop.stock_fixture.number(noted.to_owned()).await, 1, "noted once");
    }

    async fn an_outcome_is_recorded_once_from_any_source(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let vase = shop.goods("Vase", 5, 100).await;
        let order = shop.placed(&shop.online(&[(vase, 1)])).await;
        let provider_id = shop.acquirer.settle(GatewayStatus::Succeeded);
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
        let at = shop.clock.now();
        let (one, two) = tokio::join!(
            ChargeStore::record(&db.database, charge.id, paid(1), at),
            ChargeStore::record(&db.database, charge.id, paid(2), at),
        );
        let done = [one.unwrap(), two.unwrap()].into_iter().filter(|change| *change == Change::Done).count();
        assert_eq!(done, 1);
        assert_eq!(ChargeStore::record(&db.database, charge.id, failed, at).await.unwrap(), Change::Stale);
        assert_eq!((shop.order(order.id).await.status, shop.stock(vase).await), (OrderStatus::Paid, (5, 1)));
        assert_eq!((shop.count("outbox_events").await, shop.count("order_events").await), (1, 2));
    }

    async fn workers_never_share_a_charge(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let vase = shop.goods("Vase", 50, 100).await;
        shop.acquirer.set_mode(AcquirerMode::Silent);
        for _ in 0..10 {
            shop.placed(&shop.online(&[(vase, 1)])).await;
        }
        shop.wait(60);
        let (at, until) = (shop.clock.now(), shop.clock.now() + TimeDelta::seconds(90));
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
        let shop = ShopFixture::open(&db).await;
        let vase = shop.goods("Vase", 50, 100).await;
        shop.acquirer.set_mode(AcquirerMode::LosesTheAnswer);
        for _ in 0..8 {
            shop.placed(&shop.online(&[(vase, 1)])).await;
        }
        shop.acquirer.set_mode(AcquirerMode::Pending);
        shop.wait(60);
        let before = shop.acquirer.requests.load(Ordering::SeqCst);
        let (a, b) = tokio::join!(shop.payments.reconcile("a", 50), shop.payments.reconcile("b", 50));
        assert_eq!(a.unwrap().checked + b.unwrap().checked, 8);
        assert_eq!(shop.acquirer.requests.load(Ordering::SeqCst) - before, 8);
        assert_eq!(shop.acquirer.count(), 8);
    }
}
