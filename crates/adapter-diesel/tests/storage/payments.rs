//! Contracts of the payment ports, and additions of this storage.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::TimeDelta;
use kontor_adapter_diesel::{Database, database_tests};
use kontor_customers::ports::CustomerRepository;
use kontor_kernel::{Clock, CustomerScope, ProjectId, SavedMethodId};
use kontor_payments::model::{ChargePurpose, ChargeRequest, ChargeState, GatewayStatus, NewCharge, PaymentMethod};
use kontor_payments::ports::{ChargeStore, RefundStore, SavedMethodStore};
use kontor_payments::testing::contract::{self, Fixture, ReceiptFixture};
use kontor_payments::verification::{StartedVerification, VerificationService, VerificationTerms};
use kontor_payments::{ChargeResult, NotificationResult, TAKEOVER_DELAY};

use crate::fixtures;
use crate::orders::shop::{AcquirerMode, ShopFixture};

#[async_trait]
impl Fixture for ShopFixture<'_> {
    type Store = Database;

    fn store(&self) -> Arc<Database> {
        Arc::new(self.stock_fixture.db.database.clone())
    }

    async fn customer(&self) -> CustomerScope {
        self.another_customer().await
    }

    async fn delete_customer(&self, customer: CustomerScope) {
        let (project, id, at) = (customer.app.project_id, customer.counterparty_id, self.clock.now());
        CustomerRepository::delete_account(&self.stock_fixture.db.database, project, id, at).await.unwrap();
    }
}

#[async_trait]
impl ReceiptFixture for ShopFixture<'_> {
    async fn project(&self) -> ProjectId {
        fixtures::project(self.stock_fixture.db).await
    }
}

promises! {
    ShopFixture:
    a_charge_is_found_again
    one_purpose_has_one_open_charge
    an_outcome_is_recorded_once
    an_unanswered_request_is_remembered
    what_is_due_is_leased
    refunds_never_exceed_what_has_arrived
    a_refund_is_named_by_its_first_key
    a_refund_is_recorded_under_its_key
    money_that_is_due_back_is_set_aside
    a_method_is_saved_with_its_charge
    a_deactivated_method_is_charged_no_more
    a_customer_has_one_open_verification
    a_deleted_customer_pays_nothing
    a_contradiction_changes_no_outcome
    a_refund_made_outside_is_recorded_once
    refunds_are_compared_in_turn
    a_receipt_is_stored_with_its_money
    a_due_receipt_has_one_lease
    a_receipt_is_registered_once
    an_overdue_receipt_stays_reported
    receipt_settings_belong_to_a_project
}

/// A charge for a subscription.
fn subscription(shop: &ShopFixture<'_>, number: i64) -> NewCharge {
    let customer = shop.customer;
    NewCharge {
        project_id: customer.app.project_id,
        application_id: Some(customer.app.application_id),
        counterparty_id: customer.counterparty_id,
        request: ChargeRequest {
            renewal: None,
            purpose: ChargePurpose::from_parts("subscription", number).unwrap().unwrap(),
            key: shop.random.uuid(),
            amount: "499.00".parse().unwrap(),
            currency: "RUB".to_owned(),
            method: PaymentMethod::BankCard,
            description: "Subscription".to_owned(),
            return_url: "https://shop.example".to_owned(),
            save_method: true,
            saved_method: None,
            receipt: None,
        },
        next_check_at: shop.clock.now() + TAKEOVER_DELAY,
        at: shop.clock.now(),
    }
}

database_tests! {
    async fn a_card_is_saved_charged_again_and_deleted_with_its_customer(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let charged = shop.payments.charge(subscription(&shop, 1)).await.unwrap();
        let ChargeResult::Requested(charge, _) = charged else { panic!("{charged:?}") };
        let id = shop.acquirer.settle(GatewayStatus::Succeeded);
        assert_eq!(shop.payments.handle_notification(&id, None).await.unwrap(), NotificationResult::Settled(charge.purpose()));
        let saved = db.database.list(shop.customer).await.unwrap();
        assert_eq!(saved.len(), 1);
        let mut again = subscription(&shop, 1);
        again.request.save_method = false;
        again.request.saved_method = db.database.reference(shop.customer, saved[0].id).await.unwrap();
        shop.acquirer.set_mode(AcquirerMode::Paid);
        let charged = shop.payments.charge(again).await.unwrap();
        let ChargeResult::Requested(second, _) = charged else { panic!("{charged:?}") };
        let second = ChargeStore::find(&db.database, second.id).await.unwrap().unwrap();
        assert_eq!((second.state, second.captured), (ChargeState::Succeeded, second.request.amount));
        let method = format!("charges WHERE saved_method_id = {}", saved[0].id);
        assert_eq!(shop.count(&method).await, 1);
        let (project, anna) = (shop.customer.app.project_id, shop.customer.counterparty_id);
        CustomerRepository::delete_account(&db.database, project, anna, shop.clock.now()).await.unwrap();
        assert_eq!(shop.count("saved_payment_methods").await, 0);
        assert_eq!(shop.payments.charge(subscription(&shop, 2)).await.unwrap(), ChargeResult::CustomerDeleted);
        assert!(!db.database.deactivate(shop.customer, SavedMethodId::new(1).unwrap(), shop.clock.now()).await.unwrap());
    }

    async fn a_charge_that_cannot_be_read_holds_up_no_other(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        shop.acquirer.set_mode(AcquirerMode::Silent);
        for number in 1..=4 {
            shop.payments.charge(subscription(&shop, number)).await.unwrap();
        }
        shop.stock_fixture.run("UPDATE charges SET request = '{' WHERE purpose_id = 1".to_owned()).await;
        let purpose = "UPDATE charges SET purpose_id = 20 WHERE purpose_id = 2";
        shop.stock_fixture.run(purpose.to_owned()).await;
        shop.acquirer.set_mode(AcquirerMode::Paid);
        shop.wait(60);
        assert_eq!(shop.payments.reconcile("w", 9).await.unwrap().settled, 2);
        let parked = db.database.parked().await.unwrap();
        assert_eq!(parked.iter().map(|row| row.table).collect::<Vec<_>>(), ["charges", "charges"]);
        assert!(parked.iter().all(|row| row.reason.contains(&format!("charges {}", row.id))), "{parked:?}");
        shop.wait(86_400);
        assert_eq!(shop.payments.reconcile("w", 9).await.unwrap().checked, 0, "they wait for people");
    }

    async fn a_charge_that_its_worker_dies_of_waits_for_longer_and_is_parked(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        shop.acquirer.set_mode(AcquirerMode::Silent);
        shop.payments.charge(subscription(&shop, 1)).await.unwrap();
        shop.wait(86_400);
        let lease = async || {
            let now = shop.clock.now();
            ChargeStore::lease(&db.database, "w", now, now + TimeDelta::seconds(150)).await.unwrap()
        };
        let mut hours = Vec::new();
        for minutes in 0..6 * 24 * 4 {
            if lease().await.is_some() {
                hours.push(minutes / 6);
            }
            shop.wait(600);
        }
        assert_eq!((hours.len(), hours[5]), (17, 0), "{hours:?}");
        assert!(hours[16] >= 24, "{hours:?}");
        let parked = db.database.parked().await.unwrap();
        assert!(parked.len() == 1 && parked[0].reason.contains("17 times"), "{parked:?}");
        assert_eq!(db.database.release_parked().await.unwrap(), 1);
        assert!(lease().await.is_some());
    }

    async fn a_refund_that_cannot_be_read_holds_up_no_other(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let mut charges = Vec::new();
        for _ in 0..3 {
            let service = VerificationService {
                store: Arc::new(db.database.clone()),
                charges: shop.payments.clone(),
                clock: shop.clock.clone(),
                random: shop.random.clone(),
                terms: VerificationTerms { amount: "1.00".parse().unwrap(), return_url: String::new() },
            };
            let started = service.start(shop.another_customer().await).await.unwrap();
            let StartedVerification::PaymentRequested(verification) = started else { panic!("{started:?}") };
            let id = shop.acquirer.settle(GatewayStatus::Succeeded);
            shop.payments.handle_notification(&id, None).await.unwrap();
            charges.push(verification.charge.id);
        }
        shop.stock_fixture.run(format!("UPDATE refunds SET idempotence_key = 'odd' WHERE charge_id = {}", charges[0])).await;
        shop.acquirer.set_mode(AcquirerMode::Paid);
        assert_eq!(shop.refunds.reconcile("w", 9).await.unwrap().checked, 2);
        let parked = db.database.parked().await.unwrap();
        assert_eq!(parked.iter().map(|row| row.table).collect::<Vec<_>>(), ["refunds"]);
        assert_eq!(shop.acquirer.refunds.lock().unwrap().len(), 2);
        assert_eq!(RefundStore::lease(&db.database, "w", shop.clock.now(), shop.clock.now() + TimeDelta::hours(1)).await.unwrap(), None);
    }
}
