//! Contract of the storage ports of customers, for every implementation.
//!
//! Each function checks one promise of the ports and panics if it is broken. An adapter implements [`Fixture`]
//! on a fresh storage and runs every function with a storage of its own.
#![expect(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a broken promise fails the test that runs it")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::join_all;
use kontor_kernel::listing::Sort;
use kontor_kernel::{
    AppScope, Contact, CounterpartyId, CustomerScope, Edit, Email, FileId, Listing, Name, PageRequest, Phone,
    ProjectId, RecordError, Stamp, TokenId,
};

use crate::model::{
    ContactChange, ContactDraft, ContactKind, CustomerChange, CustomerContact, CustomerDraft, CustomerRecordPart,
    DecidedChange, PersonalData, StaffCustomer,
};
use crate::ports::{CustomerPartRepository, CustomerRepository, NotificationReader, StaffCustomerRepository};
use crate::{CustomerError, CustomerPartRefusal, CustomerReference, StaffCustomerError, StaffCustomerRefusal};

/// Storage under test.
#[async_trait]
pub trait Fixture: Send + Sync {
    /// Type of the storage.
    type Store: CustomerRepository
        + StaffCustomerRepository
        + CustomerPartRepository<CustomerContact>
        + NotificationReader
        + 'static;

    /// Returns the storage under test.
    fn store(&self) -> Arc<Self::Store>;

    /// Returns a new project without customers.
    async fn project(&self) -> ProjectId;

    /// Returns the customer that logs in with the contact, a new one if none does.
    async fn logged_in(&self, project: ProjectId, contact: &Contact) -> CounterpartyId;

    /// Stores a payment of the customer whose outcome is open.
    async fn begin_payment(&self, project: ProjectId, customer: CounterpartyId);

    /// Returns a picture that customers of the project may have as avatar.
    async fn avatar(&self, project: ProjectId) -> FileId;

    /// Returns a new application of the project.
    async fn app(&self, project: ProjectId) -> AppScope;

    /// Adds a notification to the customer in the application.
    async fn notify(&self, customer: CustomerScope, title: &str);
}

fn noon() -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::days(20_000) + TimeDelta::hours(12)
}

fn stamp(project: ProjectId) -> Stamp {
    Stamp::of_system(project, noon())
}

/// Phone that never repeats in a process.
fn phone() -> Phone {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    Phone::parse(&format!("7901{:07}", NEXT.fetch_add(1, Ordering::Relaxed))).unwrap()
}

fn name(text: &str) -> Option<Name> {
    Name::parse(text).ok()
}

fn anna() -> CustomerDraft {
    CustomerDraft { first_name: name("Anna"), ..CustomerDraft::default() }
}

fn pigeon() -> ContactDraft {
    ContactDraft { kind: ContactKind::Other, value: name("Pigeon").unwrap(), name: None, comment: None }
}

async fn inserted<F: Fixture>(
    fixture: &F,
    project: ProjectId,
    draft: CustomerDraft,
) -> Result<StaffCustomer, StaffCustomerError> {
    StaffCustomerRepository::insert(&*fixture.store(), stamp(project), draft).await
}

async fn updated<F: Fixture>(
    fixture: &F,
    project: ProjectId,
    id: CounterpartyId,
    change: CustomerChange,
) -> Result<StaffCustomer, StaffCustomerError> {
    StaffCustomerRepository::update(&*fixture.store(), stamp(project), id, change).await
}

async fn found<F: Fixture>(fixture: &F, project: ProjectId, id: CounterpartyId) -> Option<StaffCustomer> {
    let found = StaffCustomerRepository::find(&*fixture.store(), id).await.unwrap();
    found.and_then(|customer| customer.within(project))
}

fn is_unavailable(outcome: &Result<StaffCustomer, StaffCustomerError>, reference: CustomerReference) -> bool {
    let expected = StaffCustomerRefusal::Unavailable(vec![reference]);
    matches!(outcome, Err(RecordError::Refused(why)) if *why == expected)
}

/// A contact that logs a customer in is stored for no other customer of the project.
pub async fn a_login_belongs_to_one_customer<F: Fixture>(fixture: &F) {
    let (store, project) = (fixture.store(), fixture.project().await);
    let (phone, email) = (phone(), Email::parse("anna@shop.example").unwrap());
    fixture.logged_in(project, &Contact::Phone(phone.clone())).await;
    fixture.logged_in(project, &Contact::Email(email.clone())).await;
    let other = inserted(fixture, project, anna()).await.unwrap().record.id;
    let drafts = [
        (CustomerDraft { phone_1: Some(phone.clone()), ..anna() }, CustomerReference::Phone),
        (CustomerDraft { email: Some(email.clone()), ..anna() }, CustomerReference::Email),
    ];
    for (draft, reference) in drafts {
        let refused = inserted(fixture, project, draft.clone()).await;
        assert!(is_unavailable(&refused, reference), "{refused:?}");
        inserted(fixture, fixture.project().await, draft).await.unwrap();
    }
    let changes = [
        (CustomerChange { phone_1: Edit::Set(Some(phone)), ..CustomerChange::default() }, CustomerReference::Phone),
        (
            CustomerChange { email: Edit::Set(Some(email.clone())), ..CustomerChange::default() },
            CustomerReference::Email,
        ),
    ];
    for (change, reference) in changes {
        let refused = updated(fixture, project, other, change).await;
        assert!(is_unavailable(&refused, reference), "{refused:?}");
    }
    let data = PersonalData { email: Edit::Set(Some(email)), ..PersonalData::default() };
    let change = DecidedChange { customer: other, project_id: project, data, at: noon() };
    let refused = store.change_profile(change).await;
    assert!(matches!(refused, Err(CustomerError::EmailTaken)), "{refused:?}");
}

/// Under concurrent calls, a customer is deleted once. Afterwards the record is not found, nothing changes it, and its
/// login is free.
pub async fn a_deleted_customer_is_gone<F: Fixture>(fixture: &F) {
    let (store, project) = (fixture.store(), fixture.project().await);
    let login = Contact::Phone(phone());
    let id = fixture.logged_in(project, &login).await;
    let outcomes = join_all((0..4).map(|_| store.delete_account(project, id, noon()))).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
    let gone = outcomes.iter().filter(|outcome| matches!(outcome, Err(CustomerError::NotFound)));
    assert_eq!(gone.count(), 3, "{outcomes:?}");
    assert!(CustomerRepository::find(&*store, id).await.unwrap().is_none());
    assert_eq!(found(fixture, project, id).await, None);
    let refused = updated(fixture, project, id, CustomerChange::default()).await;
    assert!(matches!(refused, Err(RecordError::NotFound)), "{refused:?}");
    let data = PersonalData { last_name: Edit::Set(name("Karenina")), ..PersonalData::default() };
    let refused = store.change_profile(DecidedChange { customer: id, project_id: project, data, at: noon() }).await;
    assert!(matches!(refused, Err(CustomerError::NotFound)), "{refused:?}");
    let refused = StaffCustomerRepository::delete(&*store, stamp(project), id).await;
    assert!(matches!(refused, Err(RecordError::NotFound)), "{refused:?}");
    assert_ne!(fixture.logged_in(project, &login).await, id);
}

/// A customer whose payment is open is not deleted.
pub async fn a_customer_who_pays_stays<F: Fixture>(fixture: &F) {
    let (store, project) = (fixture.store(), fixture.project().await);
    let id = inserted(fixture, project, anna()).await.unwrap().record.id;
    fixture.begin_payment(project, id).await;
    let refused = store.delete_account(project, id, noon()).await;
    assert!(matches!(refused, Err(CustomerError::PaymentOpen)), "{refused:?}");
    let refused = StaffCustomerRepository::delete(&*store, stamp(project), id).await;
    assert!(matches!(refused, Err(RecordError::Refused(StaffCustomerRefusal::PaymentOpen))), "{refused:?}");
    assert!(found(fixture, project, id).await.is_some());
}

/// Other projects neither find, change nor delete a customer.
pub async fn a_customer_stays_in_their_project<F: Fixture>(fixture: &F) {
    let (store, ours, theirs) = (fixture.store(), fixture.project().await, fixture.project().await);
    let stored = inserted(fixture, ours, anna()).await.unwrap();
    let id = stored.record.id;
    assert_eq!(found(fixture, theirs, id).await, None);
    let refused = updated(fixture, theirs, id, CustomerChange::default()).await;
    assert!(matches!(refused, Err(RecordError::NotFound)), "{refused:?}");
    let refused = store.delete_account(theirs, id, noon()).await;
    assert!(matches!(refused, Err(CustomerError::NotFound)), "{refused:?}");
    let refused = StaffCustomerRepository::delete(&*store, stamp(theirs), id).await;
    assert!(matches!(refused, Err(RecordError::NotFound)), "{refused:?}");
    assert_eq!(found(fixture, ours, id).await, Some(stored));
}

/// Concurrent changes of different fields are all kept, and each has a version.
pub async fn concurrent_changes_are_kept<F: Fixture>(fixture: &F) {
    let project = fixture.project().await;
    let before = inserted(fixture, project, anna()).await.unwrap();
    let id = before.record.id;
    let changes = [
        CustomerChange { last_name: Edit::Set(name("Karenina")), ..CustomerChange::default() },
        CustomerChange { middle_name: Edit::Set(name("Arkadyevna")), ..CustomerChange::default() },
        CustomerChange { phone_2: Edit::Set(Some(phone())), ..CustomerChange::default() },
    ];
    let outcomes = join_all(changes.map(|change| updated(fixture, project, id, change))).await;
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    let after = found(fixture, project, id).await.unwrap();
    assert_eq!((after.record.last_name, after.record.middle_name), (name("Karenina"), name("Arkadyevna")));
    assert!(after.record.phone_2.is_some());
    assert!(after.version >= before.version + 3, "{} after {}", after.version, before.version);
}

/// Under concurrent calls, a customer has at most the maximum of contacts.
pub async fn a_customer_has_limited_contacts<F: Fixture>(fixture: &F) {
    let (store, project) = (fixture.store(), fixture.project().await);
    let id = inserted(fixture, project, anna()).await.unwrap().record.id;
    let draft = pigeon();
    let insert = || CustomerPartRepository::<CustomerContact>::insert(&*store, stamp(project), id, draft.clone());
    let most = usize::try_from(CustomerContact::MAX_PER_OWNER).unwrap();
    let outcomes = join_all((0..most + 3).map(|_| insert())).await;
    let refused =
        outcomes.iter().filter(|outcome| matches!(outcome, Err(RecordError::Refused(CustomerPartRefusal::TooMany))));
    assert_eq!(refused.count(), 3);
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), most);
    assert_eq!(store.of_customer(project, id).await.unwrap().len(), most);
    let elsewhere = fixture.project().await;
    assert!(store.of_customer(elsewhere, id).await.unwrap().is_empty());
}

/// A contact that staff removed from the record no longer logs in, and is free for other customers.
pub async fn a_removed_contact_no_longer_logs_in<F: Fixture>(fixture: &F) {
    let (project, removed) = (fixture.project().await, phone());
    let login = Contact::Phone(removed.clone());
    let id = fixture.logged_in(project, &login).await;
    let change = CustomerChange { phone_1: Edit::Set(Some(phone())), ..CustomerChange::default() };
    updated(fixture, project, id, change).await.unwrap();
    inserted(fixture, project, CustomerDraft { phone_1: Some(removed), ..anna() }).await.unwrap();
    assert_ne!(fixture.logged_in(project, &login).await, id);
}

/// A list shows the customers of one project that are not deleted.
pub async fn a_list_shows_the_customers_of_a_project<F: Fixture>(fixture: &F) {
    let (store, ours, theirs) = (fixture.store(), fixture.project().await, fixture.project().await);
    let kept = inserted(fixture, ours, anna()).await.unwrap();
    let deleted = inserted(fixture, ours, anna()).await.unwrap().record.id;
    inserted(fixture, theirs, anna()).await.unwrap();
    StaffCustomerRepository::delete(&*store, stamp(ours), deleted).await.unwrap();
    let listing = Listing::unfiltered(Sort::descending("id"), PageRequest::new(1, 100, 100).unwrap());
    let page = StaffCustomerRepository::list(&*store, ours, listing).await.unwrap();
    assert_eq!((page.items, page.total), (vec![kept], 1));
}

/// An avatar is a picture of the customer's project.
pub async fn an_avatar_is_a_picture_of_the_project<F: Fixture>(fixture: &F) {
    let (store, ours, theirs) = (fixture.store(), fixture.project().await, fixture.project().await);
    let id = inserted(fixture, ours, anna()).await.unwrap().record.id;
    let (own, foreign) = (fixture.avatar(ours).await, fixture.avatar(theirs).await);
    let refused = store.set_avatar(id, Some(foreign), noon()).await;
    assert!(matches!(refused, Err(CustomerError::UnknownAvatar)), "{refused:?}");
    assert_eq!(found(fixture, ours, id).await.unwrap().record.avatar, None);
    store.set_avatar(id, Some(own), noon()).await.unwrap();
    assert!(found(fixture, ours, id).await.unwrap().record.avatar.is_some());
    store.set_avatar(id, None, noon()).await.unwrap();
    assert_eq!(found(fixture, ours, id).await.unwrap().record.avatar, None);
}

/// A contact is changed only with its customer, in checked form, and is deleted with the customer.
pub async fn a_contact_stays_with_its_customer<F: Fixture>(fixture: &F) {
    let (store, project, elsewhere) = (fixture.store(), fixture.project().await, fixture.project().await);
    let owner = inserted(fixture, project, anna()).await.unwrap().record.id;
    let other = inserted(fixture, project, anna()).await.unwrap().record.id;
    let parts: &dyn CustomerPartRepository<CustomerContact> = &*store;
    let contact = parts.insert(stamp(project), owner, pigeon()).await.unwrap();
    for (project, customer) in [(project, other), (elsewhere, owner)] {
        let refused = parts.update(stamp(project), customer, contact.id, ContactChange::default()).await;
        assert!(matches!(refused, Err(RecordError::NotFound)), "{refused:?}");
    }
    let refused = parts.insert(stamp(elsewhere), owner, pigeon()).await;
    assert!(matches!(refused, Err(RecordError::NotFound)), "{refused:?}");
    let invalid = ContactChange { kind: Edit::Set(ContactKind::Email), ..ContactChange::default() };
    let refused = parts.update(stamp(project), owner, contact.id, invalid).await;
    assert!(matches!(refused, Err(RecordError::Refused(CustomerPartRefusal::Invalid(_)))), "{refused:?}");
    let value = Edit::Set(name("Anna@Shop.example").unwrap());
    let change = ContactChange { kind: Edit::Set(ContactKind::Email), value, ..ContactChange::default() };
    let changed = parts.update(stamp(project), owner, contact.id, change).await.unwrap();
    assert_eq!(changed.content.value.as_str(), "anna@shop.example");
    let found = parts.find(contact.id).await.unwrap().unwrap();
    assert_eq!(found.within(project).map(|owned| (owned.customer, owned.part)), Some((owner, changed)));
    store.delete_account(project, owner, noon()).await.unwrap();
    assert!(parts.of_customer(project, owner).await.unwrap().is_empty());
    assert!(parts.find(contact.id).await.unwrap().is_none());
    let refused = parts.insert(stamp(project), owner, pigeon()).await;
    assert!(matches!(refused, Err(RecordError::NotFound)), "{refused:?}");
}

async fn titles<F: Fixture>(fixture: &F, customer: CustomerScope, page: i64) -> (Vec<String>, u64) {
    let page = NotificationReader::page(&*fixture.store(), customer, PageRequest::new(page, 2, 100).unwrap()).await;
    let page = page.unwrap();
    (page.items.into_iter().map(|notification| notification.title).collect(), page.total)
}

/// A customer sees their own notifications of one application, newest first, until they are deleted.
pub async fn notifications_belong_to_a_customer_and_an_application<F: Fixture>(fixture: &F) {
    let (store, project) = (fixture.store(), fixture.project().await);
    let (app, second) = (fixture.app(project).await, fixture.app(project).await);
    let id = inserted(fixture, project, anna()).await.unwrap().record.id;
    let other = inserted(fixture, project, anna()).await.unwrap().record.id;
    let scope = |app, counterparty_id| CustomerScope { app, counterparty_id, token_id: TokenId::new(1).unwrap() };
    for title in ["first", "second", "third"] {
        fixture.notify(scope(app, id), title).await;
    }
    fixture.notify(scope(second, id), "elsewhere").await;
    assert_eq!(titles(fixture, scope(app, id), 1).await, (vec!["third".to_owned(), "second".to_owned()], 3));
    assert_eq!(titles(fixture, scope(app, id), 2).await, (vec!["first".to_owned()], 3));
    assert_eq!(titles(fixture, scope(second, id), 1).await, (vec!["elsewhere".to_owned()], 1));
    assert_eq!(titles(fixture, scope(app, other), 1).await, (Vec::new(), 0));
    store.delete_account(project, id, noon()).await.unwrap();
    assert_eq!(titles(fixture, scope(app, id), 1).await, (Vec::new(), 0));
}
