//! A process that serves the shop of a scene.

use std::collections::BTreeMap;

use kontor_adapter_diesel::Database;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_kernel::{CustomerScope, StoreError};
use kontor_payments::NotificationResult;
use kontor_payments::model::GatewayStatus;

use crate::orders::shop::ShopFixture;
use crate::orders::staff_fixture::StaffFixture;
use crate::subscriptions::fixture::SubscriptionFixture;

/// Ids of the records of a scene.
pub type Facts = BTreeMap<&'static str, i64>;

/// A shop as one process serves it: with a connection pool of its own, and its view of the acquirer.
pub struct Actor<'a> {
    pub fixture: SubscriptionFixture<'a>,
    pub staff_fixture: StaffFixture,
    pub facts: Facts,
}

impl<'a> Actor<'a> {
    /// A shop with a plan.
    pub async fn open(db: &'a TestDatabase) -> Self {
        let fixture = SubscriptionFixture::open(db).await;
        let staff_fixture = StaffFixture::open(&fixture.shop).await;
        Self { fixture, staff_fixture, facts: Facts::new() }
    }

    /// The same shop as another process serves it.
    pub fn served<'b>(&self, db: &'b TestDatabase, seed: u64) -> Actor<'b> {
        let fixture = SubscriptionFixture::serving(self.fixture.shop.served(db, seed), self.fixture.gold);
        let staff_fixture = StaffFixture::serving(&fixture.shop, self.staff_fixture.staff.clone());
        Actor { fixture, staff_fixture, facts: self.facts.clone() }
    }

    pub fn shop(&self) -> &ShopFixture<'a> {
        &self.fixture.shop
    }

    pub fn store(&self) -> &Database {
        &self.shop().stock_fixture.db.database
    }

    pub fn customer(&self) -> CustomerScope {
        self.shop().customer
    }

    /// Id of the record with this name in the scene.
    pub fn id<T: TryFrom<i64>>(&self, name: &str) -> T {
        T::try_from(self.facts[name]).unwrap_or_else(|_| panic!("{name} is no number of a record"))
    }

    /// Receives the acquirer's notification about its last payment of this kind.
    pub async fn handles_notification(
        &self,
        kind: &str,
        status: GatewayStatus,
    ) -> Result<NotificationResult, StoreError> {
        let provider = {
            let mut payments = self.shop().acquirer.payments.lock().unwrap();
            let of_kind =
                |purpose: Option<kontor_payments::model::ChargePurpose>| purpose.is_some_and(|one| one.kind() == kind);
            let (_, payment) = payments.iter_mut().rev().find(|(_, payment)| of_kind(payment.purpose)).unwrap();
            payment.status = status;
            if status == GatewayStatus::Canceled {
                payment.reason = Some("insufficient_funds".to_owned());
            }
            payment.id.clone()
        };
        self.shop().payments.handle_notification(&provider, Some(status)).await
    }
}
