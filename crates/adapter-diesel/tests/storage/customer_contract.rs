//! Contract of the ports of customers.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::DateTime;
use kontor_adapter_diesel::Database;
use kontor_auth::ports::CustomerAccounts;
use kontor_customers::testing::contract::{self, Fixture};
use kontor_kernel::{Contact, CounterpartyId, Money, ProjectId, SubscriptionId};
use kontor_payments::model::{ChargePurpose, ChargeRequest, NewCharge, PaymentMethod};
use kontor_payments::ports::{ChargeStore, ChargeStored};
use uuid::Uuid;

use crate::fixtures::{self, EmptyDatabase};

#[async_trait]
impl Fixture for EmptyDatabase<'_> {
    type Store = Database;

    fn store(&self) -> Arc<Database> {
        Arc::new(self.0.database.clone())
    }

    async fn project(&self) -> ProjectId {
        fixtures::project(self.0).await
    }

    async fn logged_in(&self, project: ProjectId, contact: &Contact) -> CounterpartyId {
        self.0.database.find_or_create(project, contact, DateTime::UNIX_EPOCH).await.unwrap()
    }

    async fn begin_payment(&self, project: ProjectId, customer: CounterpartyId) {
        let request = ChargeRequest {
            renewal: None,
            purpose: ChargePurpose::Subscription(SubscriptionId::new(1).unwrap()),
            key: Uuid::from_u128(1),
            amount: Money::from_minor(100).unwrap(),
            currency: "RUB".to_owned(),
            method: PaymentMethod::BankCard,
            description: "Subscription".to_owned(),
            return_url: "https://shop.example".to_owned(),
            save_method: false,
            saved_method: None,
            receipt: None,
        };
        let new = NewCharge {
            project_id: project,
            application_id: None,
            counterparty_id: customer,
            request,
            next_check_at: DateTime::UNIX_EPOCH,
            at: DateTime::UNIX_EPOCH,
        };
        let stored = ChargeStore::store(&self.0.database, new).await.unwrap();
        assert!(matches!(stored, ChargeStored::New(_)), "{stored:?}");
    }
}

promises! {
    EmptyDatabase:
    a_login_belongs_to_one_customer
    a_deleted_customer_is_gone
    a_customer_who_pays_stays
    a_customer_stays_in_their_project
    concurrent_changes_are_kept
    a_customer_has_limited_contacts
}
