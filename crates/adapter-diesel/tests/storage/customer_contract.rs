//! Contract of the ports of customers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use chrono::DateTime;
use kontor_adapter_diesel::Database;
use kontor_auth::ports::CustomerAccounts;
use kontor_content::model::{FileKey, FileType, MediaType, NewFile, Sha256, StoredContent};
use kontor_content::ports::FileRepository;
use kontor_content::testing::contract as content;
use kontor_customers::testing::contract::{self, Fixture};
use kontor_kernel::{
    AppScope, Contact, CounterpartyId, CustomerScope, FileId, Money, Name, ProjectId, Stamp, SubscriptionId,
};
use kontor_payments::model::{ChargePurpose, ChargeRequest, NewCharge, PaymentMethod};
use kontor_payments::ports::{ChargeStore, ChargeStored};
use uuid::Uuid;

use crate::catalog::records;
use crate::fixtures::{self, EmptyDatabase};

const AT: &str = "'2026-01-01 00:00:00'";

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

    async fn avatar(&self, project: ProjectId) -> FileId {
        let new = NewFile {
            project_id: project,
            file_type: FileType::Avatar,
            key: FileKey::parse(&format!("{project:0>40}")).unwrap(),
            name: Name::parse("anna.png").unwrap(),
            media: MediaType::Png,
            dimensions: None,
            order_id: None,
            creator_id: content::Fixture::employee(self, project).await,
            created_at: DateTime::UNIX_EPOCH,
            expires_at: DateTime::UNIX_EPOCH,
        };
        let files: &dyn FileRepository = &self.0.database;
        let id = files.insert_pending(new).await.unwrap();
        let content = StoredContent { size: 1, sha256: Sha256::parse(&"ab".repeat(32)).unwrap() };
        let stamp = Stamp::of_system(project, DateTime::UNIX_EPOCH);
        files.complete(stamp, id, content).await.unwrap().unwrap().id
    }

    async fn app(&self, project_id: ProjectId) -> AppScope {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let name = format!("Shop {}", NEXT.fetch_add(1, Ordering::Relaxed));
        let branch = records::branch(self.0, project_id).await;
        let application_id = records::application(self.0, project_id, branch, &name).await;
        AppScope { project_id, application_id, wholesale: false }
    }

    async fn notify(&self, customer: CustomerScope, title: &str) {
        let (project, customer, application) =
            (customer.app.project_id, customer.counterparty_id, customer.app.application_id);
        records::execute(
            self.0,
            format!(
                "INSERT INTO orders (project_id, application_id, counterparty_id, status_id, original_price, \
                 product_discount, promo_discount, final_price, delivery_type_id, version, created_at, updated_at) \
                 VALUES ({project}, {application}, {customer}, 1, 0, 0, 0, 0, 1, 1, {AT}, {AT})"
            ),
        )
        .await;
        records::execute(
            self.0,
            format!(
                "INSERT INTO notifications (project_id, application_id, counterparty_id, order_id, code, amount, \
                 language, title, created_at) SELECT {project}, {application}, {customer}, max(id), 'order_paid', 0, \
                 'en', '{title}', {AT} FROM orders WHERE project_id = {project}"
            ),
        )
        .await;
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
    a_removed_contact_no_longer_logs_in
    a_list_shows_the_customers_of_a_project
    an_avatar_is_a_picture_of_the_project
    a_contact_stays_with_its_customer
    notifications_belong_to_a_customer_and_an_application
}
