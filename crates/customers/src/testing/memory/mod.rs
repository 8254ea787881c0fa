//! Customers in memory, for examples and for tests of use cases.

mod ports;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use kontor_kernel::testing::memory::{Guards, Sequence, Shared};
use kontor_kernel::{
    Contact, CounterpartyId, CustomerContactId, CustomerScope, FileId, FileKey, Name, NotificationId, ProjectId, Stamp,
};

use crate::model::{
    ContactChange, ContactDraft, Customer, CustomerChange, CustomerContact, CustomerDraft, CustomerKind,
    CustomerRecordPart as _, DecidedChange, Notification, Owned, StaffCustomer,
};
use crate::{
    CustomerError, CustomerPartError, CustomerPartRefusal, CustomerReference, StaffCustomerError, StaffCustomerRefusal,
};

/// Storage of the customers of any number of projects, in memory.
///
/// It implements [`CustomerRepository`](crate::ports::CustomerRepository),
/// [`StaffCustomerRepository`](crate::ports::StaffCustomerRepository),
/// [`CustomerPartRepository`](crate::ports::CustomerPartRepository) of contacts and
/// [`NotificationReader`](crate::ports::NotificationReader), and fulfills their
/// [contract](crate::testing::contract). Clones share their data.
///
/// Limits: it keeps no histories, bank accounts and orders, and knows no employees, so it refuses customers with a
/// manager. A deleted customer leaves no record. Lists have no filters and are ordered by identifier.
#[derive(Clone, Default)]
pub struct InMemoryCustomers {
    state: Shared<State>,
}

/// Guard of the storage. A test removes one, to prove that the contract notices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Guard {
    /// A contact that logs one customer in is stored for no other.
    Login,
    /// A removed contact no longer logs in.
    FormerLogin,
    /// A deleted customer is gone.
    Deletion,
    /// Customers with an open payment stay.
    Payment,
    /// Customers belong to one project.
    Project,
    /// An avatar is a file of the project.
    Avatar,
    /// A customer has limited contacts.
    Limit,
    /// A contact belongs to one customer.
    Owner,
    /// A contact is stored in checked form.
    Checked,
    /// A notification is shown to its customer, in its application.
    Recipient,
}

#[derive(Default)]
struct State {
    ids: Sequence,
    customers: BTreeMap<CounterpartyId, Entry>,
    /// Customers by the contacts they log in with.
    logins: BTreeMap<(ProjectId, String), CounterpartyId>,
    avatars: BTreeMap<FileId, (ProjectId, FileKey)>,
    /// Customers with an open payment.
    paying: BTreeSet<CounterpartyId>,
    contacts: BTreeMap<CustomerContactId, Owned<CustomerContact>>,
    notifications: Vec<(CustomerScope, Notification)>,
    guards: Guards<Guard>,
}

struct Entry {
    project_id: ProjectId,
    customer: StaffCustomer,
}

impl InMemoryCustomers {
    /// Returns the customer that logs in with the contact, a new one if none does. A project needs no other record. A
    /// customer added by staff logs in with the phone.
    pub fn log_in(&self, project: ProjectId, contact: &Contact, at: DateTime<Utc>) -> CounterpartyId {
        self.state.with(|state| {
            let login = (project, contact.as_str().to_owned());
            if let Some(known) = state.logged_in(&login) {
                return known;
            }
            let draft = match contact.clone() {
                Contact::Phone(phone) => CustomerDraft { phone_1: Some(phone), ..CustomerDraft::default() },
                Contact::Email(email) => CustomerDraft { email: Some(email), ..CustomerDraft::default() },
            };
            let id = state.add(Stamp::of_system(project, at), draft).record.id;
            state.logins.insert(login, id);
            id
        })
    }

    /// Adds a picture that customers of the project may have as avatar.
    pub fn add_avatar(&self, project: ProjectId, key: FileKey) -> FileId {
        self.state.with(|state| {
            let id = state.ids.id();
            state.avatars.insert(id, (project, key));
            id
        })
    }

    /// Marks a customer as one whose payment may still take place.
    pub fn begin_payment(&self, customer: CounterpartyId) {
        self.state.with(|state| state.paying.insert(customer));
    }

    /// Adds a notification to a customer in an application.
    pub fn notify(
        &self,
        customer: CustomerScope,
        title: &str,
        code: &str,
        created_at: DateTime<Utc>,
    ) -> NotificationId {
        self.state.with(|state| {
            let (id, title, code) = (state.ids.id(), title.to_owned(), code.to_owned());
            let new = Notification { id, title, code, body: None, action_url: None, created_at };
            state.notifications.push((customer, new));
            id
        })
    }

    /// Returns an empty storage without one guard.
    #[cfg(test)]
    fn without(guard: Guard) -> Self {
        let store = Self::default();
        store.state.with(|state| state.guards = Guards::without(guard));
        store
    }
}

/// Returns the entry of the dictionary of customer types.
#[expect(clippy::expect_used, reason = "the names are valid")]
fn kind_of(is_company: bool) -> CustomerKind {
    let (id, name) = if is_company { (2, "Company") } else { (1, "Person") };
    CustomerKind { id, name: Name::parse(name).expect("a valid name"), created_at: DateTime::UNIX_EPOCH }
}

/// Record with the fields of a draft.
fn record_of(id: CounterpartyId, draft: CustomerDraft, avatar: Option<FileKey>, stamp: Stamp) -> StaffCustomer {
    let record = Customer {
        id,
        kind: kind_of(draft.is_company),
        manager: None,
        avatar,
        first_name: draft.first_name,
        last_name: draft.last_name,
        middle_name: draft.middle_name,
        birthday: draft.birthday,
        address: draft.address.map(|address| address.to_string()),
        phone_1: draft.phone_1,
        phone_2: draft.phone_2,
        email: draft.email,
        created_at: stamp.at,
        updated_at: stamp.at,
    };
    let CustomerDraft { is_company, name, inn, kpp, .. } = draft;
    StaffCustomer { record, is_company, name, inn, kpp, orders: 0, version: 1 }
}

impl State {
    /// Returns a customer of the project.
    fn own(&mut self, project: ProjectId, id: CounterpartyId) -> Option<&mut StaffCustomer> {
        let any = !self.guards.has(Guard::Project);
        let found = self.customers.get_mut(&id).filter(|entry| entry.project_id == project || any);
        found.map(|entry| &mut entry.customer)
    }

    /// Returns the customer of the project that logs in with the contact.
    fn logged_in(&self, login: &(ProjectId, String)) -> Option<CounterpartyId> {
        let by_phone = || {
            let is_own = |entry: &&Entry| {
                entry.project_id == login.0 && entry.customer.record.phone_1.as_deref() == Some(login.1.as_str())
            };
            self.customers.values().find(is_own).map(|entry| entry.customer.record.id)
        };
        self.logins.get(login).copied().or_else(by_phone)
    }

    /// Returns `true` if another customer of the project logs in with the contact.
    fn is_login_of_another(&self, project: ProjectId, customer: Option<CounterpartyId>, contact: &str) -> bool {
        let owner = self.logins.get(&(project, contact.to_owned()));
        self.guards.has(Guard::Login) && owner.is_some_and(|owner| Some(*owner) != customer)
    }

    fn add(&mut self, stamp: Stamp, draft: CustomerDraft) -> StaffCustomer {
        let customer = record_of(self.ids.id(), draft, None, stamp);
        let entry = Entry { project_id: stamp.project_id, customer: customer.clone() };
        self.customers.insert(customer.record.id, entry);
        customer
    }

    /// Refuses references that may not be used.
    fn require_available(
        &self,
        project: ProjectId,
        before: Option<&Customer>,
        draft: &CustomerDraft,
    ) -> Result<(), StaffCustomerRefusal> {
        let id = before.map(|before| before.id);
        let (old_phone, old_email) = (before.map(|before| &before.phone_1), before.map(|before| &before.email));
        let phone = draft.phone_1.as_deref().filter(|_| old_phone != Some(&draft.phone_1));
        let email = draft.email.as_deref().filter(|_| old_email != Some(&draft.email));
        let is_taken = |contact: Option<&str>| contact.is_some_and(|text| self.is_login_of_another(project, id, text));
        let unavailable: Vec<_> = [
            (draft.manager_id.is_some(), CustomerReference::Manager),
            (is_taken(phone), CustomerReference::Phone),
            (is_taken(email), CustomerReference::Email),
        ]
        .into_iter()
        .filter_map(|(is_unavailable, reference)| is_unavailable.then_some(reference))
        .collect();
        if unavailable.is_empty() { Ok(()) } else { Err(StaffCustomerRefusal::Unavailable(unavailable)) }
    }

    fn insert(&mut self, stamp: Stamp, draft: CustomerDraft) -> Result<StaffCustomer, StaffCustomerError> {
        self.require_available(stamp.project_id, None, &draft)?;
        Ok(self.add(stamp, draft))
    }

    fn update(
        &mut self,
        stamp: Stamp,
        id: CounterpartyId,
        change: CustomerChange,
    ) -> Result<StaffCustomer, StaffCustomerError> {
        let before = self.own(stamp.project_id, id).ok_or(StaffCustomerError::NotFound)?.clone();
        let draft = change.decide(&before, stamp.at).map_err(StaffCustomerRefusal::Invalid)?;
        self.require_available(stamp.project_id, Some(&before.record), &draft)?;
        if self.guards.has(Guard::FormerLogin) {
            let changed = [
                (draft.phone_1 != before.record.phone_1).then_some((false, draft.phone_1.as_deref())),
                (draft.email != before.record.email).then_some((true, draft.email.as_deref())),
            ];
            let is_former = |contact: &str| {
                let mut changed = changed.into_iter().flatten();
                changed.any(|(is_email, now)| is_email == contact.contains('@') && now != Some(contact))
            };
            self.logins.retain(|(_, contact), owner| *owner != id || !is_former(contact));
        }
        let mut after = record_of(id, draft, before.record.avatar, stamp);
        after.record.created_at = before.record.created_at;
        after.version = before.version + 1;
        if let Some(customer) = self.own(stamp.project_id, id) {
            customer.clone_from(&after);
        }
        Ok(after)
    }

    fn change_profile(&mut self, change: DecidedChange) -> Result<(), CustomerError> {
        let email = change.data.email.set_value();
        if email.is_some_and(|email| self.is_login_of_another(change.project_id, Some(change.customer), email)) {
            return Err(CustomerError::EmailTaken);
        }
        let customer = self.own(change.project_id, change.customer).ok_or(CustomerError::NotFound)?;
        customer.version += 1;
        let (record, data) = (&mut customer.record, change.data);
        record.first_name = data.first_name.or(record.first_name.take());
        record.last_name = data.last_name.or(record.last_name.take());
        record.middle_name = data.middle_name.or(record.middle_name.take());
        record.birthday = data.birthday.or(record.birthday);
        let address = data.address.map(|address| address.map(|address| address.to_string()));
        record.address = address.or(record.address.take());
        record.email = data.email.or(record.email.take());
        record.phone_2 = data.phone_2.or(record.phone_2.take());
        record.updated_at = change.at;
        Ok(())
    }

    fn set_avatar(
        &mut self,
        id: CounterpartyId,
        avatar: Option<FileId>,
        at: DateTime<Utc>,
    ) -> Result<(), CustomerError> {
        let any = !self.guards.has(Guard::Avatar);
        let entry = self.customers.get_mut(&id).ok_or(CustomerError::NotFound)?;
        let picture = match avatar {
            None => None,
            Some(file) => {
                let found = self.avatars.get(&file).filter(|(project, _)| *project == entry.project_id || any);
                Some(found.ok_or(CustomerError::UnknownAvatar)?.1.clone())
            }
        };
        entry.customer.record.avatar = picture;
        entry.customer.record.updated_at = at;
        entry.customer.version += 1;
        Ok(())
    }

    fn delete(&mut self, project: ProjectId, id: CounterpartyId) -> Result<(), CustomerError> {
        self.own(project, id).ok_or(CustomerError::NotFound)?;
        if self.guards.has(Guard::Payment) && self.paying.contains(&id) {
            return Err(CustomerError::PaymentOpen);
        }
        if self.guards.has(Guard::Deletion) {
            self.customers.remove(&id);
            self.contacts.retain(|_, contact| contact.customer != id);
            self.notifications.retain(|(customer, _)| customer.counterparty_id != id);
        }
        if self.guards.has(Guard::FormerLogin) {
            self.logins.retain(|_, owner| *owner != id);
        }
        Ok(())
    }

    fn add_contact(
        &mut self,
        stamp: Stamp,
        customer: CounterpartyId,
        content: ContactDraft,
    ) -> Result<CustomerContact, CustomerPartError> {
        self.own(stamp.project_id, customer).ok_or(CustomerPartError::NotFound)?;
        let count = self.contacts.values().filter(|owned| owned.customer == customer).count();
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        if self.guards.has(Guard::Limit) && count >= CustomerContact::MAX_PER_OWNER {
            return Err(CustomerPartRefusal::TooMany.into());
        }
        let part = CustomerContact { id: self.ids.id(), content, created_at: stamp.at, updated_at: stamp.at };
        self.contacts.insert(part.id, Owned { customer, part: part.clone() });
        Ok(part)
    }

    fn change_contact(
        &mut self,
        stamp: Stamp,
        customer: CounterpartyId,
        id: CustomerContactId,
        change: ContactChange,
    ) -> Result<CustomerContact, CustomerPartError> {
        self.own(stamp.project_id, customer).ok_or(CustomerPartError::NotFound)?;
        let (any, unchecked) = (!self.guards.has(Guard::Owner), !self.guards.has(Guard::Checked));
        let found = self.contacts.get_mut(&id).filter(|owned| owned.customer == customer || any);
        let part = &mut found.ok_or(CustomerPartError::NotFound)?.part;
        let content = part.changed(change);
        part.content = if unchecked {
            content
        } else {
            CustomerContact::checked(content).map_err(CustomerPartRefusal::Invalid)?
        };
        part.updated_at = stamp.at;
        Ok(part.clone())
    }
}
