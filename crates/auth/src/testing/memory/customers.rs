use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::testing::memory::Guards;
use kontor_kernel::{AppScope, Contact, CounterpartyId, Phone, ProjectId, StoreError, TokenId};

use super::{Guard, InMemoryLogins, State};
use crate::model::{
    CodeRedemption, ContactOwner, NewCode, NewPhoneCode, NewToken, PhoneChangeAttempt, PhoneChangeOutcome,
    PhoneOwnership, RedeemOutcome, TokenOwner,
};
use crate::ports::{CodeRepository, CustomerAccounts, PhoneRepository};

/// Customer, with the contact in the record.
pub(super) struct Customer {
    project: ProjectId,
    contact: Contact,
}

/// Code with its remaining attempts.
pub(super) struct Code {
    new: NewCode,
    is_used: bool,
}

/// Result of entering a code.
enum Entered {
    Right,
    Wrong,
    Invalid,
}

impl Code {
    fn enter(&mut self, fingerprint: &str, at: DateTime<Utc>, guards: Guards<Guard>) -> Entered {
        let is_live = (!self.is_used || !guards.has(Guard::Code))
            && (self.new.attempts > 0 || !guards.has(Guard::Attempts))
            && (self.new.expires_at > at || !guards.has(Guard::Expiry));
        if !is_live {
            Entered::Invalid
        } else if self.new.fingerprint == fingerprint {
            self.is_used = true;
            Entered::Right
        } else {
            self.new.attempts = self.new.attempts.saturating_sub(1);
            Entered::Wrong
        }
    }
}

impl State {
    /// Customer who signs in with a contact.
    pub(super) fn signs_in(&self, project: ProjectId, contact: &Contact) -> Option<CounterpartyId> {
        let mut bound = self.logins.iter();
        let bound = bound.find(|(owner, known, _)| *owner == project && known == contact);
        bound.filter(|_| self.guards.has(Guard::Contact)).map(|(_, _, customer)| *customer)
    }

    /// Customers with a contact in their records, oldest first.
    pub(super) fn recorded(&self, project: ProjectId, contact: &Contact) -> Vec<CounterpartyId> {
        let own = self.customers.iter().filter(|(_, known)| known.project == project && known.contact == *contact);
        own.filter(|_| self.guards.has(Guard::Contact)).map(|(id, _)| *id).collect()
    }

    /// Returns the customer of a contact, who signs in with it from now on.
    pub(super) fn customer_of(&mut self, project: ProjectId, contact: &Contact) -> CounterpartyId {
        let customer = match self.owner_of(project, contact) {
            ContactOwner::One(customer) | ContactOwner::Several { oldest: customer } => customer,
            ContactOwner::NoCustomer => {
                let id = self.ids.id();
                self.customers.insert(id, Customer { project, contact: contact.clone() });
                id
            }
        };
        self.bind(project, contact, customer);
        customer
    }

    fn bind(&mut self, project: ProjectId, contact: &Contact, customer: CounterpartyId) {
        if self.signs_in(project, contact).is_none() {
            self.logins.push((project, contact.clone(), customer));
        }
    }

    /// Stores the token of the customer of a contact.
    pub(super) fn sign_in(&mut self, app: AppScope, contact: &Contact, token: &NewToken) -> (CounterpartyId, TokenId) {
        let customer = self.customer_of(app.project_id, contact);
        (customer, self.issue(TokenOwner::Customer(customer), Some(app), token))
    }

    fn redeem(&mut self, redemption: &CodeRedemption) -> RedeemOutcome {
        let (project_id, contact) = (redemption.project_id, &redemption.contact);
        let known = self.logins.iter().find(|(owner, known, _)| *owner == project_id && known == contact);
        let Some(counterparty_id) = known.map(|(_, _, customer)| *customer) else {
            return RedeemOutcome::UnknownContact;
        };
        let key = (project_id, contact.clone());
        let guards = self.guards;
        let code = self.codes.iter_mut().find(|(owner, _)| *owner == key);
        let entered = code.map_or(Entered::Invalid, |(_, code)| {
            code.enter(&redemption.fingerprint, redemption.token.created_at, guards)
        });
        match entered {
            Entered::Invalid => RedeemOutcome::NoValidCode,
            Entered::Wrong => RedeemOutcome::WrongCode,
            Entered::Right => {
                let app = self.apps.get(&redemption.application_id).copied();
                let token_id = self.issue(TokenOwner::Customer(counterparty_id), app, &redemption.token);
                RedeemOutcome::SignedIn { counterparty_id, token_id }
            }
        }
    }

    fn is_taken(&self, project: ProjectId, customer: CounterpartyId, phone: &Phone) -> bool {
        self.owner_of(project, &Contact::Phone(phone.clone())).belongs_to_other(customer)
    }

    fn change_phone(&mut self, attempt: &PhoneChangeAttempt) -> PhoneChangeOutcome {
        let (project, customer) = (attempt.project_id, attempt.customer);
        if !self.customers.contains_key(&customer) {
            return PhoneChangeOutcome::CustomerDeleted;
        }
        let guards = self.guards;
        let code = self.phone_codes.get_mut(&customer).filter(|(phone, _)| *phone == attempt.phone);
        match code.map_or(Entered::Invalid, |(_, code)| code.enter(&attempt.fingerprint, attempt.at, guards)) {
            Entered::Invalid => return PhoneChangeOutcome::NoValidCode,
            Entered::Wrong => return PhoneChangeOutcome::WrongCode,
            Entered::Right => {}
        }
        if self.is_taken(project, customer, &attempt.phone) {
            return PhoneChangeOutcome::Taken;
        }
        let contact = Contact::Phone(attempt.phone.clone());
        self.logins.retain(|(_, known, owner)| *owner != customer || matches!(known, Contact::Email(_)));
        self.bind(project, &contact, customer);
        self.customers.insert(customer, Customer { project, contact });
        PhoneChangeOutcome::Changed
    }
}

#[async_trait]
impl CustomerAccounts for InMemoryLogins {
    async fn find_or_create(
        &self,
        project: ProjectId,
        contact: &Contact,
        _: DateTime<Utc>,
    ) -> Result<CounterpartyId, StoreError> {
        Ok(self.state.with(|state| state.customer_of(project, contact)))
    }

    async fn sign_in_customer(
        &self,
        app: AppScope,
        contact: &Contact,
        token: NewToken,
    ) -> Result<(CounterpartyId, TokenId), StoreError> {
        Ok(self.state.with(|state| state.sign_in(app, contact, &token)))
    }
}

#[async_trait]
impl CodeRepository for InMemoryLogins {
    async fn replace(&self, project: ProjectId, contact: &Contact, code: NewCode) -> Result<(), StoreError> {
        let key = (project, contact.clone());
        self.state.with(|state| {
            state.codes.retain(|(owner, _)| *owner != key);
            state.codes.push((key, Code { new: code, is_used: false }));
        });
        Ok(())
    }

    async fn redeem(&self, redemption: CodeRedemption) -> Result<RedeemOutcome, StoreError> {
        Ok(self.state.with(|state| state.redeem(&redemption)))
    }
}

#[async_trait]
impl PhoneRepository for InMemoryLogins {
    async fn phone_ownership(
        &self,
        project: ProjectId,
        customer: CounterpartyId,
        phone: &Phone,
    ) -> Result<PhoneOwnership, StoreError> {
        Ok(self.state.with(|state| {
            let contact = Contact::Phone(phone.clone());
            if state.customers.get(&customer).is_some_and(|own| own.contact == contact) {
                PhoneOwnership::Own
            } else if state.is_taken(project, customer, phone) {
                PhoneOwnership::Taken
            } else {
                PhoneOwnership::Free
            }
        }))
    }

    async fn store_code(&self, code: NewPhoneCode) -> Result<bool, StoreError> {
        Ok(self.state.with(|state| {
            let exists = state.customers.contains_key(&code.customer);
            if exists {
                let entry = (code.phone, Code { new: code.code, is_used: false });
                state.phone_codes.insert(code.customer, entry);
            }
            exists
        }))
    }

    async fn change_phone(&self, attempt: PhoneChangeAttempt) -> Result<PhoneChangeOutcome, StoreError> {
        Ok(self.state.with(|state| state.change_phone(&attempt)))
    }
}
