//! Subscriptions in memory, for examples and for tests of use cases.

mod forecast;
mod ports;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use kontor_kernel::testing::memory::{Guards, Sequence, Shared};
use kontor_kernel::{
    AppScope, ApplicationId, CounterpartyId, CustomerScope, Money, NomenclatureId, OrderId, SavedMethodId,
    SubscriptionPaymentId, TokenId,
};
use kontor_payments::model::{Charge, ChargePurpose, ChargeRequest, MethodReference, NewCharge, ProviderId};
use kontor_payments::testing::memory::ChargeBook;
#[cfg(test)]
use kontor_payments::testing::memory::ChargeGuard;

use super::samples::{begun, open_attempt, subscription};
use crate::case::SubscriptionCase;
use crate::effect::SubscriptionChange;
use crate::model::{Attempt, NewAttempt, PlanOffer, Subscription, SubscriptionView};
use crate::ports::{ChargeTerms, CheckoutStored, NewSubscriptions, UnfinishedPayment};
use crate::state::SubscriptionStatus;
use crate::terms::{ConsentedTerms, Terms};

/// Storage of the subscriptions of one application in memory: begins, charges and cancels them.
///
/// It implements [`SubscriptionStore`](crate::ports::SubscriptionStore),
/// [`SubscriptionForecastReader`](crate::ports::SubscriptionForecastReader) and
/// [`ChargeStore`](kontor_payments::ports::ChargeStore), and fulfills their [contract](crate::testing::contract).
/// Clones share their data. Money that belongs to no period is not refunded.
#[derive(Clone)]
pub struct InMemorySubscriptions {
    app: AppScope,
    state: Shared<State>,
}

/// Guard of the storage. A test removes one, to prove that the contract notices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Guard {
    /// One of charges.
    #[cfg(test)]
    Charge(ChargeGuard),
    /// A customer has one unfinished first payment.
    Unfinished,
    /// A plan has one subscription of a customer.
    Claim,
    /// A decision gets the current state.
    Current,
    /// A subscription has one lease at a time.
    Lease,
    /// Only the last lease counts.
    LastLease,
    /// A subscription belongs to its customer.
    Owner,
    /// A deleted method is not charged.
    Method,
    /// A walk over due subscriptions continues after its position.
    Position,
}

/// Subscription with its attempts, consents and lease.
struct Entry {
    case: SubscriptionCase,
    charge: Option<Charge>,
    attempts: Vec<Attempt>,
    consents: Vec<ConsentedTerms>,
    leased_until: Option<DateTime<Utc>>,
    leases: u32,
    is_parked: bool,
}

/// Saved payment method.
struct Method {
    id: SavedMethodId,
    customer: CounterpartyId,
    application: Option<ApplicationId>,
    provider_id: ProviderId,
    is_active: bool,
}

struct State {
    ids: Sequence,
    customers: BTreeSet<CounterpartyId>,
    plans: Vec<PlanOffer>,
    charges: ChargeBook,
    methods: Vec<Method>,
    entries: Vec<Entry>,
    guards: Guards<Guard>,
}

impl InMemorySubscriptions {
    /// Creates the storage of an application, without plans and customers.
    pub fn new(app: AppScope) -> Self {
        let state = State {
            ids: Sequence::default(),
            customers: BTreeSet::new(),
            plans: Vec::new(),
            charges: ChargeBook::default(),
            methods: Vec::new(),
            entries: Vec::new(),
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

    /// Adds a plan at this price a month.
    pub fn add_plan(&self, name: &str, amount: Money) -> NomenclatureId {
        self.state.with(|state| {
            let plan = state.ids.id();
            let slug = format!("plan-{plan}");
            let currency = "RUB".to_owned();
            state.plans.push(PlanOffer { plan, slug, name: name.to_owned(), amount, currency, billing_months: 1 });
            plan
        })
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

impl State {
    /// Returns the subscription with all data that decides about it.
    fn load(&self, entry: &Entry) -> SubscriptionCase {
        let of_customer =
            |other: &&Entry| other.case.subscription.counterparty_id == entry.case.subscription.counterparty_id;
        let customer_paid_at = self.entries.iter().filter(of_customer).flat_map(|other| other.case.paid_at.clone());
        let method = entry.case.subscription.terms.method;
        SubscriptionCase {
            method_active: method.is_none_or(|method| self.reference(method).is_some()),
            customer_paid_at: customer_paid_at.collect(),
            ..entry.case.clone()
        }
    }

    /// Acquirer reference of an active method.
    fn reference(&self, id: SavedMethodId) -> Option<MethodReference> {
        let known = self.methods.iter().find(|method| method.id == id && method.is_active)?;
        Some(MethodReference { id, provider_id: known.provider_id.clone() })
    }

    fn stop_method(&mut self, id: SavedMethodId) {
        if self.guards.has(Guard::Method) {
            self.methods.iter_mut().filter(|method| method.id == id).for_each(|method| method.is_active = false);
        }
    }

    fn view(&self, entry: &Entry, now: DateTime<Utc>) -> SubscriptionView {
        self.load(entry).view(None, now)
    }

    fn begin(&mut self, new: &NewSubscriptions) -> CheckoutStored {
        let customer = new.customer.counterparty_id;
        if !self.customers.contains(&customer) {
            return CheckoutStored::CustomerDeleted;
        }
        let own = |entry: &&Entry| entry.case.subscription.counterparty_id == customer;
        let is_first = |entry: &&Entry| !entry.case.subscription.is_activated() && entry.case.open().is_some();
        let unfinished: Vec<&Entry> = self.entries.iter().filter(own).filter(is_first).collect();
        let first = unfinished.first().and_then(|entry| entry.case.open().zip(entry.charge.clone()));
        if let Some((open, charge)) = first.filter(|_| self.guards.has(Guard::Unfinished)) {
            let subscriptions = unfinished.iter().map(|entry| self.view(entry, new.at)).collect();
            let order = open.order;
            return CheckoutStored::UnfinishedPayment(UnfinishedPayment { order, charge, subscriptions });
        }
        let claimed: BTreeSet<NomenclatureId> =
            self.entries.iter().filter(own).flat_map(|entry| entry.case.subscription.claims()).collect();
        if self.guards.has(Guard::Claim) && new.consents.iter().any(|consent| claimed.contains(&consent.terms.plan)) {
            return CheckoutStored::Subscribed;
        }
        let is_offered =
            |terms: &Terms| self.plans.iter().any(|offer| offer.plan == terms.plan && terms.are_offered(offer));
        if !new.consents.iter().all(|consent| is_offered(&consent.terms)) {
            return CheckoutStored::PlanUnavailable;
        }
        self.add(new).map_or(CheckoutStored::MethodUnavailable, CheckoutStored::New)
    }

    /// Stores new subscriptions with one charge for all of them.
    fn add(&mut self, new: &NewSubscriptions) -> Option<UnfinishedPayment> {
        let first = &new.consents.first()?.terms;
        let amount = new
            .consents
            .iter()
            .fold(Money::ZERO, |sum, consent| sum.checked_add(consent.terms.amount).unwrap_or(Money::MAX));
        let whole = NewAttempt::first(&Terms { amount, ..first.clone() });
        let order = self.ids.id();
        let start = self.entries.len();
        for consent in &new.consents {
            let subscription = Subscription {
                id: self.ids.id(),
                project_id: new.customer.app.project_id,
                application_id: Some(new.customer.app.application_id),
                counterparty_id: new.customer.counterparty_id,
                terms: consent.terms.clone(),
                ..subscription(SubscriptionStatus::Charging, new.at)
            };
            let (attempts, method_tries) = (Vec::new(), Vec::new());
            self.entries.push(Entry {
                case: SubscriptionCase { subscription, attempts, method_tries, ..begun(new.at) },
                charge: None,
                attempts: Vec::new(),
                consents: vec![consent.clone()],
                leased_until: None,
                leases: 0,
                is_parked: false,
            });
            self.open(self.entries.len() - 1, &NewAttempt::first(&consent.terms), order, new.at);
        }
        let charge = self.charge(start, &whole, order, &new.charge, new.at)?;
        for entry in self.entries.iter_mut().skip(start) {
            entry.charge = Some(charge.clone());
        }
        let subscriptions = self.entries.iter().skip(start).map(|entry| self.view(entry, new.at)).collect();
        Some(UnfinishedPayment { order, charge, subscriptions })
    }

    /// Adds an attempt.
    fn open(&mut self, index: usize, new: &NewAttempt, order: OrderId, at: DateTime<Utc>) {
        let id: SubscriptionPaymentId = self.ids.id();
        let Some(entry) = self.entries.get_mut(index) else { return };
        open_attempt(&mut entry.case, new, at);
        if let Some(open) = entry.case.attempts.last_mut() {
            (open.id, open.order) = (id, order);
            entry.attempts.push(open.clone());
        }
    }

    /// Stores the charge of an attempt.
    fn charge(
        &mut self,
        index: usize,
        new: &NewAttempt,
        order: OrderId,
        with: &ChargeTerms,
        at: DateTime<Utc>,
    ) -> Option<Charge> {
        let saved_method = new.terms.method.and_then(|method| self.reference(method));
        let subscription = &self.entries.get(index)?.case.subscription;
        let new = NewCharge {
            project_id: subscription.project_id,
            application_id: subscription.application_id,
            counterparty_id: subscription.counterparty_id,
            request: ChargeRequest {
                purpose: ChargePurpose::Order(order),
                key: with.key,
                renewal: None,
                amount: new.terms.amount,
                currency: new.terms.currency.clone(),
                method: with.pays_by,
                description: format!("Order {order}"),
                return_url: with.return_url.clone(),
                save_method: saved_method.is_none(),
                saved_method,
                receipt: None,
            },
            next_check_at: with.next_check_at,
            at,
        };
        self.charges.store(&new)
    }

    /// Writes a change. Returns the charge of its attempt.
    fn write(&mut self, index: usize, change: &SubscriptionChange, with: Option<&ChargeTerms>) -> Option<Charge> {
        if let Some(method) = change.stopped_method {
            self.stop_method(method);
        }
        let entry = self.entries.get_mut(index)?;
        entry.case = entry.case.with_change(change);
        entry.consents.extend(change.consent.clone());
        (entry.leased_until, entry.leases, entry.is_parked) = (None, 0, false);
        if let Some(last) = entry.case.attempts.last_mut() {
            last.state = change.open_attempt().unwrap_or(last.state);
            entry.attempts.iter_mut().filter(|known| known.id == last.id).for_each(|known| known.clone_from(last));
        }
        let (new, with) = (change.attempt.as_ref()?, with?);
        let order = self.ids.id();
        self.open(index, new, order, change.at);
        let opened = self.charge(index, new, order, with, change.at);
        if let Some(entry) = self.entries.get_mut(index) {
            entry.charge.clone_from(&opened);
        }
        opened
    }
}
