//! For any behaviour of the acquirer, a customer is verified by their own payment and refunded once.

use std::sync::Arc;

use kontor_adapter_diesel::database_tests;
use kontor_customers::CustomerError;
use kontor_customers::ports::CustomerRepository;
use kontor_kernel::{Clock, Money};
use kontor_payments::model::{ChargePurpose, ChargeState, GatewayStatus, Refund, RefundState};
use kontor_payments::ports::{RefundStore, VerificationStore};
use kontor_payments::verification::{StartedVerification, Verification, VerificationService, VerificationTerms};
use kontor_payments::{NotificationResult, VerificationError};

use super::shop::{AcquirerMode, ShopFixture};

fn service(shop: &ShopFixture<'_>) -> VerificationService {
    VerificationService {
        store: Arc::new(shop.stock_fixture.db.database.clone()),
        charges: shop.payments.clone(),
        clock: shop.clock.clone(),
        random: shop.random.clone(),
        terms: VerificationTerms {
            amount: Money::from_minor(100).unwrap(),
            return_url: "https://shop.example".to_owned(),
        },
    }
}

async fn opened(shop: &ShopFixture<'_>) -> Verification {
    match service(shop).start(shop.customer).await.unwrap() {
        StartedVerification::PaymentRequested(verification) | StartedVerification::OutcomeUnknown(verification) => {
            verification
        }
        other @ StartedVerification::Existing(_) => panic!("{other:?}"),
    }
}

async fn read(shop: &ShopFixture<'_>, verification: &Verification) -> Verification {
    VerificationStore::find(&shop.stock_fixture.db.database, verification.id).await.unwrap().unwrap()
}

/// The only refund.
async fn refund(shop: &ShopFixture<'_>, verification: &Verification) -> Refund {
    let mut refunds = shop.stock_fixture.db.database.of_charge(verification.charge.id).await.unwrap();
    assert_eq!(refunds.len(), 1);
    refunds.remove(0)
}

async fn refund_state(shop: &ShopFixture<'_>, verification: &Verification) -> RefundState {
    refund(shop, verification).await.state
}

fn refunds(shop: &ShopFixture<'_>) -> usize {
    shop.acquirer.refunds.lock().unwrap().len()
}

async fn verified(shop: &ShopFixture<'_>) -> i64 {
    shop.stock_fixture
        .number("SELECT count(*) AS number FROM counterparties WHERE verified_at IS NOT NULL".to_owned())
        .await
}

database_tests! {
    async fn a_payment_verifies_and_comes_back_once(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let started = opened(&shop).await;
        assert_eq!((started.charge.state, started.charge.confirmation_url.is_some()), (ChargeState::Pending, true));
        assert_eq!(service(&shop).start(shop.customer).await.unwrap(), StartedVerification::Existing(started.clone()));
        let id = shop.acquirer.settle(GatewayStatus::Succeeded);
        let (charges, back) = (&shop.payments, &shop.refunds);
        let (one, two) = tokio::join!(charges.handle_notification(&id, None), charges.handle_notification(&id, None));
        let purpose = ChargePurpose::Verification(started.id);
        let notified = [one.unwrap(), two.unwrap()];
        assert!(notified.contains(&NotificationResult::Settled(purpose)), "{notified:?}");
        let known = [NotificationResult::Settled(purpose), NotificationResult::AlreadySettled(purpose)];
        assert!(notified.iter().all(|notified| known.contains(notified)), "{notified:?}");
        assert_eq!((verified(&shop).await, refund_state(&shop, &started).await), (1, RefundState::Due));
        // The refund is made, its response is lost; two workers read at the same time.
        shop.acquirer.set_mode(AcquirerMode::LosesTheAnswer);
        let (one, two) = tokio::join!(back.reconcile("one", 5), back.reconcile("two", 5));
        assert_eq!(one.unwrap().checked + two.unwrap().checked, 1, "one of them has the lease");
        assert_eq!((refunds(&shop), refund_state(&shop, &started).await), (1, RefundState::Due));
        shop.acquirer.set_mode(AcquirerMode::Paid);
        assert_eq!(back.reconcile("one", 5).await.unwrap().checked, 0, "not due yet");
        shop.wait(2);
        back.reconcile("one", 5).await.unwrap();
        assert_eq!((refunds(&shop), refund_state(&shop, &started).await), (1, RefundState::Succeeded));
        shop.wait(86_400);
        charges.handle_notification(&id, None).await.unwrap();
        assert_eq!((back.reconcile("one", 5).await.unwrap().checked, refunds(&shop)), (0, 1));
    }

    async fn one_that_succeeded_counts_for_a_day(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let started = opened(&shop).await;
        let id = shop.acquirer.settle(GatewayStatus::Succeeded);
        shop.payments.handle_notification(&id, None).await.unwrap();
        shop.wait(86_400);
        let present = service(&shop).start(shop.customer).await.unwrap();
        assert!(matches!(&present, StartedVerification::Existing(same) if same.id == started.id), "{present:?}");
        shop.wait(1);
        assert_ne!(opened(&shop).await.id, started.id);
    }

    async fn many_requests_start_one(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let verifications = Arc::new(service(&shop));
        let starts = (0..8).map(|_| {
            let (verifications, customer) = (Arc::clone(&verifications), shop.customer);
            tokio::spawn(async move { verifications.start(customer).await.unwrap() })
        });
        let mut new = 0;
        for start in starts.collect::<Vec<_>>() {
            new += usize::from(!matches!(start.await.unwrap(), StartedVerification::Existing(_)));
        }
        assert_eq!((new, shop.count("verifications").await, shop.acquirer.count()), (1, 1, 1));
    }

    async fn a_lost_answer_is_found_out_under_the_same_key(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        shop.acquirer.set_mode(AcquirerMode::LosesTheAnswer);
        let unclear = opened(&shop).await;
        assert_eq!((unclear.charge.state, unclear.charge.confirmation_url), (ChargeState::Prepared, None));
        shop.acquirer.set_mode(AcquirerMode::Pending);
        shop.wait(2);
        assert_eq!(shop.payments.reconcile("w", 5).await.unwrap().checked, 1);
        let known = service(&shop).start(shop.customer).await.unwrap();
        assert!(matches!(known, StartedVerification::Existing(known) if known.charge.confirmation_url.is_some()));
        assert_eq!(shop.acquirer.count(), 1);
    }

    async fn a_refusal_closes_it_and_another_may_follow(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        shop.acquirer.set_mode(AcquirerMode::Refuses);
        let refused = service(&shop).start(shop.customer).await;
        assert!(matches!(refused, Err(VerificationError::PaymentRefused { .. })), "{refused:?}");
        shop.acquirer.set_mode(AcquirerMode::Pending);
        let second = opened(&shop).await;
        shop.acquirer.settle(GatewayStatus::Canceled);
        shop.wait(3_600);
        let third = opened(&shop).await;
        assert_eq!(read(&shop, &second).await.charge.state, ChargeState::Canceled);
        assert_ne!(third.id, second.id);
        assert_eq!(verified(&shop).await, 0);
    }

    async fn a_refused_refund_is_tried_again_under_another_key(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let started = opened(&shop).await;
        let id = shop.acquirer.settle(GatewayStatus::Succeeded);
        shop.payments.handle_notification(&id, None).await.unwrap();
        shop.acquirer.set_mode(AcquirerMode::Refuses);
        let before = refund(&shop, &started).await;
        // A lost refund would not be visible yet.
        let round = shop.refunds.reconcile("w", 5).await.unwrap();
        assert_eq!((round.checked, round.suspicious.len()), (1, 0));
        let after = refund(&shop, &started).await;
        assert_eq!((after.tries, after.request.key), (0, before.request.key));
        shop.wait(120);
        let round = shop.refunds.reconcile("w", 5).await.unwrap();
        assert_eq!((round.checked, round.suspicious.len()), (1, 1));
        let after = refund(&shop, &started).await;
        assert_eq!((after.state, after.tries), (RefundState::Due, 1));
        assert_ne!(after.request.key, before.request.key);
        // The refund is pending for a while.
        shop.acquirer.set_mode(AcquirerMode::Pending);
        shop.wait(3_600);
        shop.refunds.reconcile("w", 5).await.unwrap();
        assert_eq!(refund_state(&shop, &started).await, RefundState::Pending);
        shop.acquirer.refunds.lock().unwrap()[0].1.status = GatewayStatus::Succeeded;
        shop.wait(60);
        shop.refunds.reconcile("w", 5).await.unwrap();
        assert_eq!((refund_state(&shop, &started).await, refunds(&shop)), (RefundState::Succeeded, 1));
    }

    async fn an_open_one_keeps_a_customer_and_a_refund_does_not(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let (project, customer) = (shop.customer.app.project_id, shop.customer.counterparty_id);
        let started = opened(&shop).await;
        let now = shop.clock.now();
        let refused = db.database.delete_account(project, customer, now).await;
        assert!(matches!(refused, Err(CustomerError::PaymentOpen)), "{refused:?}");
        let id = shop.acquirer.settle(GatewayStatus::Succeeded);
        shop.payments.handle_notification(&id, None).await.unwrap();
        db.database.delete_account(project, customer, now).await.unwrap();
        let gone = service(&shop).start(shop.customer).await;
        assert!(matches!(gone, Err(VerificationError::CustomerDeleted)), "{gone:?}");
        shop.acquirer.set_mode(AcquirerMode::Paid);
        shop.refunds.reconcile("w", 5).await.unwrap();
        assert_eq!((refund_state(&shop, &started).await, refunds(&shop)), (RefundState::Succeeded, 1));
    }
}
