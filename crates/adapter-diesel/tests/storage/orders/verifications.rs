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

use super::counter::{AcquirerMode, Counter};

fn service(counter: &Counter<'_>) -> VerificationService {
    VerificationService {
        store: Arc::new(counter.house.db.database.clone()),
        charges: counter.payments.clone(),
        clock: counter.clock.clone(),
        random: counter.random.clone(),
        terms: VerificationTerms {
            amount: Money::from_minor(100).unwrap(),
            return_url: "https://shop.example".to_owned(),
        },
    }
}

async fn opened(counter: &Counter<'_>) -> Verification {
    match service(counter).start(counter.customer).await.unwrap() {
        StartedVerification::PaymentRequested(verification) | StartedVerification::OutcomeUnknown(verification) => {
            verification
        }
        other @ StartedVerification::Existing(_) => panic!("{other:?}"),
    }
}

async fn read(counter: &Counter<'_>, verification: &Verification) -> Verification {
    VerificationStore::find(&counter.house.db.database, verification.id).await.unwrap().unwrap()
}

/// The only refund.
async fn refund(counter: &Counter<'_>, verification: &Verification) -> Refund {
    let mut refunds = counter.house.db.database.of_charge(verification.charge.id).await.unwrap();
    assert_eq!(refunds.len(), 1);
    refunds.remove(0)
}

async fn refund_state(counter: &Counter<'_>, verification: &Verification) -> RefundState {
    refund(counter, verification).await.state
}

fn refunds(counter: &Counter<'_>) -> usize {
    counter.acquirer.refunds.lock().unwrap().len()
}

async fn verified(counter: &Counter<'_>) -> i64 {
    counter.house.number("SELECT count(*) AS number FROM counterparties WHERE verified_at IS NOT NULL".to_owned()).await
}

database_tests! {
    async fn a_payment_verifies_and_comes_back_once(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let started = opened(&counter).await;
        assert_eq!((started.charge.state, started.charge.confirmation_url.is_some()), (ChargeState::Pending, true));
        assert_eq!(service(&counter).start(counter.customer).await.unwrap(), StartedVerification::Existing(started.clone()));
        let id = counter.acquirer.settle(GatewayStatus::Succeeded);
        let (charges, back) = (&counter.payments, &counter.refunds);
        let (one, two) = tokio::join!(charges.handle_notification(&id, None), charges.handle_notification(&id, None));
        let purpose = ChargePurpose::Verification(started.id);
        let heard = [one.unwrap(), two.unwrap()];
        assert!(heard.contains(&NotificationResult::Settled(purpose)), "{heard:?}");
        let known = [NotificationResult::Settled(purpose), NotificationResult::AlreadySettled(purpose)];
        assert!(heard.iter().all(|heard| known.contains(heard)), "{heard:?}");
        assert_eq!((verified(&counter).await, refund_state(&counter, &started).await), (1, RefundState::Due));
        // The refund is made, its response is lost; two workers read at the same time.
        counter.acquirer.mood(AcquirerMode::LosesTheAnswer);
        let (one, two) = tokio::join!(back.reconcile("one", 5), back.reconcile("two", 5));
        assert_eq!(one.unwrap().checked + two.unwrap().checked, 1, "one of them has the lease");
        assert_eq!((refunds(&counter), refund_state(&counter, &started).await), (1, RefundState::Due));
        counter.acquirer.mood(AcquirerMode::Paid);
        assert_eq!(back.reconcile("one", 5).await.unwrap().checked, 0, "not due yet");
        counter.wait(2);
        back.reconcile("one", 5).await.unwrap();
        assert_eq!((refunds(&counter), refund_state(&counter, &started).await), (1, RefundState::Succeeded));
        counter.wait(86_400);
        charges.handle_notification(&id, None).await.unwrap();
        assert_eq!((back.reconcile("one", 5).await.unwrap().checked, refunds(&counter)), (0, 1));
    }

    async fn one_that_succeeded_counts_for_a_day(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let started = opened(&counter).await;
        let id = counter.acquirer.settle(GatewayStatus::Succeeded);
        counter.payments.handle_notification(&id, None).await.unwrap();
        counter.wait(86_400);
        let present = service(&counter).start(counter.customer).await.unwrap();
        assert!(matches!(&present, StartedVerification::Existing(same) if same.id == started.id), "{present:?}");
        counter.wait(1);
        assert_ne!(opened(&counter).await.id, started.id);
    }

    async fn many_requests_start_one(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let verifications = Arc::new(service(&counter));
        let starts = (0..8).map(|_| {
            let (verifications, customer) = (Arc::clone(&verifications), counter.customer);
            tokio::spawn(async move { verifications.start(customer).await.unwrap() })
        });
        let mut new = 0;
        for start in starts.collect::<Vec<_>>() {
            new += usize::from(!matches!(start.await.unwrap(), StartedVerification::Existing(_)));
        }
        assert_eq!((new, counter.count("verifications").await, counter.acquirer.count()), (1, 1, 1));
    }

    async fn a_lost_answer_is_found_out_under_the_same_key(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        counter.acquirer.mood(AcquirerMode::LosesTheAnswer);
        let unclear = opened(&counter).await;
        assert_eq!((unclear.charge.state, unclear.charge.confirmation_url), (ChargeState::Prepared, None));
        counter.acquirer.mood(AcquirerMode::Pending);
        counter.wait(2);
        assert_eq!(counter.payments.reconcile("w", 5).await.unwrap().checked, 1);
        let known = service(&counter).start(counter.customer).await.unwrap();
        assert!(matches!(known, StartedVerification::Existing(known) if known.charge.confirmation_url.is_some()));
        assert_eq!(counter.acquirer.count(), 1);
    }

    async fn a_refusal_closes_it_and_another_may_follow(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        counter.acquirer.mood(AcquirerMode::Refuses);
        let refused = service(&counter).start(counter.customer).await;
        assert!(matches!(refused, Err(VerificationError::PaymentRefused { .. })), "{refused:?}");
        counter.acquirer.mood(AcquirerMode::Pending);
        let second = opened(&counter).await;
        counter.acquirer.settle(GatewayStatus::Canceled);
        counter.wait(3_600);
        let third = opened(&counter).await;
        assert_eq!(read(&counter, &second).await.charge.state, ChargeState::Canceled);
        assert_ne!(third.id, second.id);
        assert_eq!(verified(&counter).await, 0);
    }

    async fn a_refused_refund_is_tried_again_under_another_key(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let started = opened(&counter).await;
        let id = counter.acquirer.settle(GatewayStatus::Succeeded);
        counter.payments.handle_notification(&id, None).await.unwrap();
        counter.acquirer.mood(AcquirerMode::Refuses);
        let before = refund(&counter, &started).await;
        // A lost refund would not be visible yet.
        let round = counter.refunds.reconcile("w", 5).await.unwrap();
        assert_eq!((round.checked, round.suspicious.len()), (1, 0));
        let after = refund(&counter, &started).await;
        assert_eq!((after.tries, after.request.key), (0, before.request.key));
        counter.wait(120);
        let round = counter.refunds.reconcile("w", 5).await.unwrap();
        assert_eq!((round.checked, round.suspicious.len()), (1, 1));
        let after = refund(&counter, &started).await;
        assert_eq!((after.state, after.tries), (RefundState::Due, 1));
        assert_ne!(after.request.key, before.request.key);
        // The refund is pending for a while.
        counter.acquirer.mood(AcquirerMode::Pending);
        counter.wait(3_600);
        counter.refunds.reconcile("w", 5).await.unwrap();
        assert_eq!(refund_state(&counter, &started).await, RefundState::Pending);
        counter.acquirer.refunds.lock().unwrap()[0].1.status = GatewayStatus::Succeeded;
        counter.wait(60);
        counter.refunds.reconcile("w", 5).await.unwrap();
        assert_eq!((refund_state(&counter, &started).await, refunds(&counter)), (RefundState::Succeeded, 1));
    }

    async fn an_open_one_keeps_a_customer_and_a_refund_does_not(db: TestDatabase) {
        let counter = Counter::open(&db).await;
        let (project, customer) = (counter.customer.app.project_id, counter.customer.counterparty_id);
        let started = opened(&counter).await;
        let now = counter.clock.now();
        let refused = db.database.delete_account(project, customer, now).await;
        assert!(matches!(refused, Err(CustomerError::PaymentOpen)), "{refused:?}");
        let id = counter.acquirer.settle(GatewayStatus::Succeeded);
        counter.payments.handle_notification(&id, None).await.unwrap();
        db.database.delete_account(project, customer, now).await.unwrap();
        let gone = service(&counter).start(counter.customer).await;
        assert!(matches!(gone, Err(VerificationError::CustomerDeleted)), "{gone:?}");
        counter.acquirer.mood(AcquirerMode::Paid);
        counter.refunds.reconcile("w", 5).await.unwrap();
        assert_eq!((refund_state(&counter, &started).await, refunds(&counter)), (RefundState::Succeeded, 1));
    }
}
