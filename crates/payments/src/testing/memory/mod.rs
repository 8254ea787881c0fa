//! Payments in memory, for examples and for tests of use cases.

mod book;
mod receipts;
mod refunds;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::testing::memory::{Guards, Sequence, Shared};
use kontor_kernel::{
    AppScope, ChargeId, CounterpartyId, CustomerScope, InvalidId, ProjectId, SavedMethodId, StoreError, TokenId,
    VerificationId,
};
use uuid::Uuid;

use crate::change::{Change, ChargeChange};
use crate::model::{
    Charge, ChargePurpose, ChargeState, GatewayMethod, MethodReference, NewCharge, ProviderId, ReceiptTask,
    ReceiptTerms, SavedMethod,
};
use crate::ports::{ChargeStore, ChargeStored, SavedMethodStore, VerificationStore, VerificationStored};
use crate::verification::{NewVerification, Verification};
use receipts::StoredReceipt;
use refunds::StoredRefund;

pub use book::{ChargeBook, ChargeGuard};

/// Storage of payments in memory, without purposes: it takes and refunds money, and the effects on orders and
/// subscriptions are left out.
///
/// It implements all storage ports of the crate and fulfills their [contract](crate::testing::contract). Clones share
/// their data. A storage with orders or subscriptions is made of its [`ChargeBook`].
#[derive(Clone)]
pub struct InMemoryPayments {
    app: AppScope,
    state: Shared<State>,
}

/// Guard of the storage. A test removes one, to prove that the contract notices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Guard {
    /// One of charges.
    #[cfg(test)]
    Charge(ChargeGuard),
    /// A refund is found by its first key.
    FirstKey,
    /// An update of a refund counts for its attempt.
    Attempt,
    /// A refund has one lease at a time.
    RefundLease,
    /// A receipt has one lease at a time.
    ReceiptLease,
    /// An update of a receipt counts for its attempt, while it is open.
    ReceiptAttempt,
    /// A refund of the acquirer is recorded once.
    Outside,
    /// A comparison with the acquirer has one worker.
    Comparison,
    /// Deleted customers pay nothing.
    Customer,
    /// Only active methods of the customer are charged.
    Method,
    /// A customer has one open verification.
    Verification,
}

struct State {
    ids: Sequence,
    customers: BTreeSet<CounterpartyId>,
    charges: ChargeBook,
    refunds: Vec<StoredRefund>,
    receipts: Vec<StoredReceipt>,
    projects: BTreeMap<ProjectId, Option<ReceiptTerms>>,
    methods: Vec<(SavedMethod, ProviderId)>,
    verifications: Vec<(VerificationId, ChargeId, DateTime<Utc>)>,
    compared_until: DateTime<Utc>,
    claimed_until: Option<DateTime<Utc>>,
    guards: Guards<Guard>,
}

impl InMemoryPayments {
    /// Creates the storage of an application, without customers.
    pub fn new(app: AppScope) -> Self {
        let state = State {
            ids: Sequence::default(),
            customers: BTreeSet::new(),
            charges: ChargeBook::default(),
            refunds: Vec::new(),
            receipts: Vec::new(),
            projects: BTreeMap::from([(app.project_id, None)]),
            methods: Vec::new(),
            verifications: Vec::new(),
            compared_until: DateTime::UNIX_EPOCH,
            claimed_until: None,
            guards: Guards::default(),
        };
        Self { app, state: Shared::new(state) }
    }

    /// Adds a customer, signed in to the application.
    pub fn add_customer(&self) -> CustomerScope {
        self.state.with(|state| {
            let (counterparty_id, token_id): (_, TokenId) = (state.ids.id(), state.ids.id());
            state.customers.insert(counterparty_id);
            CustomerScope { app: self.app, counterparty_id, token_id }
        })
    }

    /// Adds a project without receipts. Its settings are stored; customers belong to the first project.
    pub fn add_project(&self) -> ProjectId {
        self.state.with(|state| {
            let last = state.projects.last_key_value().map_or(0, |(project, _)| project.get());
            let project = numbered(last.saturating_add(1));
            state.projects.insert(project, None);
            project
        })
    }

    /// Deletes a customer. Their charges stay.
    pub fn delete_customer(&self, id: CounterpartyId) {
        self.state.with(|state| state.customers.remove(&id));
    }

    /// Returns a storage without one guard.
    #[cfg(test)]
    fn without(app: AppScope, guard: Guard) -> Self {
        let store = Self::new(app);
        store.state.with(|state| {
            state.guards = Guards::without(guard);
            if let Guard::Charge(guard) = guard {
                state.charges.remove_guard(guard);
            }
        });
        store
    }
}

/// Returns the identifier with a number from 1.
#[expect(clippy::expect_used, reason = "the numbers count from 1")]
fn numbered<Id: TryFrom<i64, Error = InvalidId>>(number: i64) -> Id {
    Id::try_from(number).expect("a number from 1")
}

impl State {
    fn is_customer(&self, id: CounterpartyId) -> bool {
        self.customers.contains(&id) || !self.guards.has(Guard::Customer)
    }

    fn store_charge(&mut self, new: &NewCharge) -> ChargeStored {
        if !self.is_customer(new.counterparty_id) {
            return ChargeStored::CustomerDeleted;
        }
        if let Some(known) = self.charges.conflicting(new) {
            return ChargeStored::Existing(known);
        }
        let chargeable = |method: &MethodReference| {
            self.methods.iter().any(|(saved, _)| {
                saved.id == method.id && saved.is_active && saved.counterparty_id == new.counterparty_id
            })
        };
        if self.guards.has(Guard::Method) && !new.request.saved_method.as_ref().is_none_or(chargeable) {
            return ChargeStored::MethodUnavailable;
        }
        self.charges.store(new).map_or(ChargeStored::MethodUnavailable, ChargeStored::New)
    }

    fn record_charge(&mut self, id: ChargeId, change: &ChargeChange, at: DateTime<Utc>) -> Change {
        let Some(recorded) = self.charges.record(id, change, at) else { return Change::Stale };
        if let ChargeChange::Succeeded { provider_id, refund, method, receipt, .. } = change {
            if let Some(registration) = receipt {
                let task = ReceiptTask::Payment(provider_id.clone());
                self.add_receipt(&recorded.charge, task, *registration, at);
            }
            if let Some(refund) = refund {
                self.add_refund(&recorded.charge, refund, at, at);
            }
            if let (Some(method), Some(application_id)) = (method, recorded.charge.application_id) {
                let saved = SavedMethod {
                    id: self.ids.id(),
                    counterparty_id: recorded.charge.counterparty_id,
                    application_id,
                    ..saved_method(method, at)
                };
                self.methods.push((saved, method.provider_id.clone()));
            }
        }
        Change::Done
    }

    /// Active methods of the customer in the application, newest first.
    fn methods(&self, customer: CustomerScope) -> impl Iterator<Item = &(SavedMethod, ProviderId)> {
        self.methods.iter().rev().filter(move |(saved, _)| saved.is_active && is_of(saved, customer))
    }

    fn verification(
        &self,
        (id, charge, expires_at): (VerificationId, ChargeId, DateTime<Utc>),
    ) -> Option<Verification> {
        let charge = self.charges.find(|known| known.id == charge)?;
        Some(Verification { id, charge, expires_at })
    }

    fn start(&mut self, new: &NewVerification) -> VerificationStored {
        if !self.is_customer(new.counterparty_id) {
            return VerificationStored::CustomerDeleted;
        }
        let counts = |known: &Verification| {
            let since = new.still_counts_since;
            let valid = known.charge.state == ChargeState::Succeeded;
            let valid = valid && known.charge.settled_at.is_some_and(|settled| settled >= since);
            known.charge.counterparty_id == new.counterparty_id && (valid || known.charge.state.is_open())
        };
        let known = self.verifications.iter().rev().filter_map(|known| self.verification(*known)).find(counts);
        if let Some(known) = known.filter(|_| self.guards.has(Guard::Verification)) {
            return VerificationStored::Existing(known);
        }
        let id: VerificationId = self.ids.id();
        match self.store_charge(&new.charge(id)) {
            ChargeStored::New(charge) => {
                self.verifications.push((id, charge.id, new.expires_at()));
                VerificationStored::New(Verification { id, charge, expires_at: new.expires_at() })
            }
            ChargeStored::Existing(charge) => {
                VerificationStored::Existing(Verification { id, charge, expires_at: new.expires_at() })
            }
            ChargeStored::MethodUnavailable | ChargeStored::CustomerDeleted => VerificationStored::CustomerDeleted,
        }
    }
}

fn is_of(saved: &SavedMethod, customer: CustomerScope) -> bool {
    saved.counterparty_id == customer.counterparty_id && saved.application_id == customer.app.application_id
}

/// Method as it is saved, of customer 1 in application 1.
fn saved_method(method: &GatewayMethod, at: DateTime<Utc>) -> SavedMethod {
    SavedMethod {
        id: numbered(1),
        counterparty_id: numbered(1),
        application_id: numbered(1),
        method: method.method,
        card_type: method.card_type.clone(),
        card_last_4: method.card_last_4.clone(),
        title: method.title.clone(),
        is_active: true,
        created_at: at,
    }
}

#[async_trait]
impl ChargeStore for InMemoryPayments {
    async fn store(&self, new: NewCharge) -> Result<ChargeStored, StoreError> {
        Ok(self.state.with(|state| state.store_charge(&new)))
    }

    async fn find(&self, id: ChargeId) -> Result<Option<Charge>, StoreError> {
        Ok(self.state.with(|state| state.charges.find(|charge| charge.id == id)))
    }

    async fn by_provider(&self, id: &ProviderId) -> Result<Option<Charge>, StoreError> {
        Ok(self.state.with(|state| state.charges.find(|charge| charge.provider_id.as_ref() == Some(id))))
    }

    async fn by_key(&self, key: Uuid) -> Result<Option<Charge>, StoreError> {
        Ok(self.state.with(|state| state.charges.find(|charge| charge.request.key == key)))
    }

    async fn open_for(&self, purpose: ChargePurpose) -> Result<Option<Charge>, StoreError> {
        Ok(self.state.with(|state| state.charges.open_for(purpose)))
    }

    async fn lease(&self, _: &str, at: DateTime<Utc>, until: DateTime<Utc>) -> Result<Option<Charge>, StoreError> {
        Ok(self.state.with(|state| state.charges.lease(at, until)))
    }

    async fn mark_sending(&self, id: ChargeId, _: DateTime<Utc>) -> Result<bool, StoreError> {
        Ok(self.state.with(|state| {
            let open = state.charges.find(|charge| charge.id == id && charge.state.is_open());
            let method = open.and_then(|charge| charge.request.saved_method);
            method.is_some_and(|method| state.methods.iter().any(|(saved, _)| saved.id == method.id && saved.is_active))
        }))
    }

    async fn record(&self, id: ChargeId, change: ChargeChange, at: DateTime<Utc>) -> Result<Change, StoreError> {
        Ok(self.state.with(|state| state.record_charge(id, &change, at)))
    }

    async fn record_contradiction(&self, id: ChargeId, why: &str, _: DateTime<Utc>) -> Result<(), StoreError> {
        self.state.with(|state| state.charges.contradict(id, why));
        Ok(())
    }
}

#[async_trait]
impl SavedMethodStore for InMemoryPayments {
    async fn list(&self, customer: CustomerScope) -> Result<Vec<SavedMethod>, StoreError> {
        Ok(self.state.with(|state| state.methods(customer).map(|(saved, _)| saved.clone()).collect()))
    }

    async fn reference(
        &self,
        customer: CustomerScope,
        id: SavedMethodId,
    ) -> Result<Option<MethodReference>, StoreError> {
        Ok(self.state.with(|state| {
            let found = state.methods(customer).find(|(saved, _)| saved.id == id);
            found.map(|(_, provider_id)| MethodReference { id, provider_id: provider_id.clone() })
        }))
    }

    async fn deactivate(
        &self,
        customer: CustomerScope,
        id: SavedMethodId,
        _: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        Ok(self.state.with(|state| {
            let found = state.methods.iter_mut().find(|(saved, _)| saved.id == id && is_of(saved, customer));
            found.map(|(saved, _)| saved.is_active = false).is_some()
        }))
    }
}

#[async_trait]
impl VerificationStore for InMemoryPayments {
    async fn start(&self, new: NewVerification) -> Result<VerificationStored, StoreError> {
        Ok(self.state.with(|state| state.start(&new)))
    }

    async fn find(&self, id: VerificationId) -> Result<Option<Verification>, StoreError> {
        Ok(self.state.with(|state| {
            let known = state.verifications.iter().find(|known| known.0 == id);
            known.and_then(|known| state.verification(*known))
        }))
    }
}
