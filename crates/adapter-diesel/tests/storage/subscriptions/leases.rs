//! Leases are long enough for the work, even with a slow acquirer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use kontor_adapter_diesel::{Database, database_tests};
use kontor_kernel::{Clock as _, FixedClock};
use kontor_payments::ChargeService;
use kontor_payments::model::{
    ChargeRequest, GatewayPage, GatewayPayment, GatewayReceipt, GatewayRefund, HandOverRequest, ProviderId,
    RefundRequest,
};
use kontor_payments::ports::{Answer, PaymentGateway, Reading};
use kontor_payments::testing::acquirer::Acquirer;
use kontor_subscriptions::ports::SubscriptionStore;
use kontor_subscriptions::{ChargeLimiter, SubscriptionScheduler};
use uuid::Uuid;

use super::fixture::SubscriptionFixture;
use crate::orders::shop::AcquirerMode;

/// Takes 35 seconds for every payment, while another worker looks for due work.
struct Slow {
    acquirer: Arc<Acquirer>,
    clock: Arc<FixedClock>,
    database: Database,
    found_by_others: AtomicUsize,
}

#[async_trait]
impl PaymentGateway for Slow {
    async fn create(&self, request: &ChargeRequest) -> Answer<GatewayPayment> {
        self.clock.advance(TimeDelta::seconds(35));
        let now = self.clock.now();
        let found = self.database.lease_due(now, now + TimeDelta::minutes(2), 50).await.unwrap();
        self.found_by_others.fetch_add(found.len(), Ordering::SeqCst);
        self.acquirer.create(request).await
    }

    async fn cancel(&self, id: &ProviderId, key: Uuid) -> Answer<GatewayPayment> {
        self.acquirer.cancel(id, key).await
    }

    async fn read(&self, id: &ProviderId) -> Reading<GatewayPayment> {
        self.acquirer.read(id).await
    }

    async fn find(&self, request: &ChargeRequest, since: DateTime<Utc>) -> Reading<GatewayPayment> {
        self.acquirer.find(request, since).await
    }

    async fn list_payments(&self, since: DateTime<Utc>, page: Option<String>) -> Reading<GatewayPage<GatewayPayment>> {
        self.acquirer.list_payments(since, page).await
    }

    async fn refund(&self, request: &RefundRequest) -> Answer<GatewayRefund> {
        self.acquirer.refund(request).await
    }

    async fn read_refund(&self, id: &ProviderId) -> Reading<GatewayRefund> {
        self.acquirer.read_refund(id).await
    }

    async fn find_refund(&self, request: &RefundRequest) -> Reading<GatewayRefund> {
        self.acquirer.find_refund(request).await
    }

    async fn list_refunds(&self, since: DateTime<Utc>, page: Option<String>) -> Reading<GatewayPage<GatewayRefund>> {
        self.acquirer.list_refunds(since, page).await
    }

    async fn register(&self, request: &HandOverRequest) -> Answer<GatewayReceipt> {
        self.acquirer.register(request).await
    }

    async fn read_receipt(&self, id: &ProviderId) -> Reading<GatewayReceipt> {
        self.acquirer.read_receipt(id).await
    }

    async fn find_receipt(&self, request: &HandOverRequest) -> Reading<GatewayReceipt> {
        self.acquirer.find_receipt(request).await
    }
}

database_tests! {
    async fn a_batch_stays_leased_while_the_acquirer_is_slow(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        let shop = &fixture.shop;
        shop.acquirer.set_mode(AcquirerMode::Paid);
        for _ in 0..10 {
            let customer = shop.another_customer().await;
            fixture.subscribed(customer, fixture.gold).await;
        }
        fixture.go_to("2026-04-01T12:00:00Z");
        let slow = Arc::new(Slow {
            acquirer: shop.acquirer.clone(),
            clock: shop.clock.clone(),
            database: db.database.clone(),
            found_by_others: AtomicUsize::new(0),
        });
        let charges = ChargeService {
            charges: Arc::new(db.database.clone()),
            gateway: slow.clone(),
            clock: shop.clock.clone(),
            random: shop.random.clone(),
        };
        let scheduler = SubscriptionScheduler {
            store: Arc::new(db.database.clone()),
            charges: Arc::new(charges),
            clock: shop.clock.clone(),
            random: shop.random.clone(),
            limiter: Arc::new(ChargeLimiter::per_second(10_000)),
        };
        let ran = scheduler.run(50).await.unwrap();
        assert_eq!((ran.found, ran.charged, ran.failed), (10, 10, vec![]));
        assert_eq!(slow.found_by_others.load(Ordering::SeqCst), 0, "nothing is given to another worker");
    }

    async fn a_lease_that_was_lost_is_not_renewed(db: TestDatabase) {
        let fixture = SubscriptionFixture::open(&db).await;
        fixture.subscribed(fixture.shop.customer, fixture.gold).await;
        fixture.go_to("2026-04-01T12:00:00Z");
        let minutes = |count| fixture.shop.clock.now() + TimeDelta::minutes(count);
        let mine = db.database.lease_due(minutes(0), minutes(2), 50).await.unwrap();
        assert_eq!(mine.len(), 1);
        assert_eq!(db.database.extend_leases(mine.clone(), minutes(2), minutes(4)).await.unwrap(), mine);
        assert!(db.database.lease_due(minutes(3), minutes(5), 50).await.unwrap().is_empty());
        assert_eq!(db.database.lease_due(minutes(4), minutes(6), 50).await.unwrap().len(), 1, "another worker has it");
        let lost = db.database.extend_leases(mine, minutes(4), minutes(8)).await.unwrap();
        assert_eq!(lost, []);
    }
}
