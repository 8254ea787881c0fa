//! Use cases of subscriptions for customers.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use kontor_kernel::history::Author;
use kontor_kernel::{
    Clock, CustomerScope, Page, PageRequest, Random, SavedMethodId, StoreError, SubscriptionId, SubscriptionPaymentId,
};
use kontor_payments::model::PaymentMethod;
use kontor_payments::{ChargeService, TAKEOVER_DELAY};

use crate::case::{EventContext, SubscriptionCase};
use crate::checkout::{offer, terms};
use crate::effect::SubscriptionChange;
use crate::error::{SubscriptionError, SubscriptionRefusal};
use crate::model::{Attempt, PlanChoice, PlanOffer, SubscriptionView};
use crate::ports::{ChargeTerms, CommitContext, CommitResult, Decision, SubscriptionSelector, SubscriptionStore};
use crate::retry::RetryReason;
use crate::state::SubscriptionEvent;
use crate::terms::{ConsentedTerms, TermsDifference, needs_consent};

/// Use cases of subscriptions.
pub struct SubscriptionService {
    /// Storage of subscriptions.
    pub store: Arc<dyn SubscriptionStore>,
    /// Use cases of charges.
    pub charges: Arc<ChargeService>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Source of idempotency keys.
    pub random: Arc<dyn Random>,
    /// Return address of the payer; `{order_id}` is replaced.
    pub return_url: String,
    /// Version of the consent text shown to customers.
    pub consent_text: String,
}

/// Circumstances of a consent. A value exists only if the consent was given: `autopay_consent` was `true`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Agreement {
    /// Network address of the consent, if known.
    pub address: Option<String>,
}

/// Change of terms by a customer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TermsEdit {
    /// New plan.
    pub plan: Option<PlanChoice>,
    /// New saved method.
    pub saved_method: Option<SavedMethodId>,
}

impl SubscriptionService {
    /// Returns one page of the customer's subscriptions, newest first.
    pub async fn list(&self, customer: CustomerScope, page: PageRequest) -> Result<Vec<SubscriptionView>, StoreError> {
        self.store.of_customer(customer, page, self.clock.now()).await
    }

    /// Returns one of the customer's subscriptions.
    pub async fn read(
        &self,
        customer: CustomerScope,
        id: SubscriptionId,
    ) -> Result<SubscriptionView, SubscriptionError> {
        self.store.find(customer, id, self.clock.now()).await?.ok_or(SubscriptionError::NotFound)
    }

    /// Returns the consents of a subscription, latest first.
    pub async fn consents(
        &self,
        customer: CustomerScope,
        id: SubscriptionId,
        page: PageRequest,
    ) -> Result<Page<ConsentedTerms>, SubscriptionError> {
        self.store.consents(customer, id, page).await?.ok_or(SubscriptionError::NotFound)
    }

    /// Returns the payments of a subscription, newest first.
    pub async fn payments(
        &self,
        customer: CustomerScope,
        id: SubscriptionId,
        page: PageRequest,
    ) -> Result<Page<Attempt>, SubscriptionError> {
        self.store.payments(customer, id, page).await?.ok_or(SubscriptionError::NotFound)
    }

    /// Cancels a subscription: nothing is charged any more, the paid period stays paid.
    pub async fn cancel(
        &self,
        customer: CustomerScope,
        id: SubscriptionId,
    ) -> Result<SubscriptionView, SubscriptionError> {
        let at = self.clock.now();
        let decide: Decision =
            Box::new(move |case| Ok(vec![case.after(SubscriptionEvent::Cancel, &EventContext::default(), at)?]));
        Ok(self.commit(customer, id, at, decide).await?.view)
    }

    /// Resumes a canceled subscription. The next run of the scheduler charges an unpaid period.
    pub async fn resume(
        &self,
        customer: CustomerScope,
        id: SubscriptionId,
        agreement: &Agreement,
    ) -> Result<SubscriptionView, SubscriptionError> {
        let at = self.clock.now();
        let consent = self.consenting(customer, agreement, at);
        let decide: Decision = Box::new(move |case| {
            let terms = case.subscription.next_terms.as_ref().unwrap_or(&case.subscription.terms).clone();
            let event_context = EventContext { consent: Some(consent(terms)), ..EventContext::default() };
            Ok(vec![case.after(SubscriptionEvent::Resume, &event_context, at)?])
        });
        Ok(self.commit(customer, id, at, decide).await?.view)
    }

    /// Agrees to another plan or method, from the next charge on.
    pub async fn change(
        &self,
        customer: CustomerScope,
        id: SubscriptionId,
        edit: &TermsEdit,
        agreement: Option<&Agreement>,
    ) -> Result<SubscriptionView, SubscriptionError> {
        // Ownership is checked first, so that a foreign subscription gives the same response whatever the plan.
        let Some(view) = self.store.find(customer, id, self.clock.now()).await? else {
            return Err(SubscriptionError::NotFound);
        };
        let plan = match &edit.plan {
            Some(choice) => Some(offer(&self.store, customer.app, choice).await?),
            None => None,
        };
        if let Some(method) = edit.saved_method
            && !self.store.has_method(customer, method).await?
        {
            return Err(SubscriptionRefusal::MethodUnavailable.into());
        }
        if plan.is_none() && edit.saved_method.is_none() {
            return Ok(view);
        }
        let at = self.clock.now();
        let agreed = agreement.is_some();
        let consent = self.consenting(customer, agreement.unwrap_or(&Agreement::default()), at);
        let method = edit.saved_method;
        let decide: Decision = Box::new(move |case| changes(case, plan.as_ref(), method, agreed, &consent, at));
        Ok(self.commit(customer, id, at, decide).await?.view)
    }

    /// Retries a failed payment.
    pub async fn retry(
        &self,
        customer: CustomerScope,
        id: SubscriptionId,
        payment: SubscriptionPaymentId,
    ) -> Result<SubscriptionView, SubscriptionError> {
        let asked = self.store.payment(customer, id, payment).await?.ok_or(SubscriptionError::NotFound)?;
        let at = self.clock.now();
        let decide: Decision = Box::new(move |case| {
            let (may, reason) = case.view(Some(&asked), at).retry;
            if !may {
                return Err(SubscriptionRefusal::NotRetryable(reason).into());
            }
            Ok(vec![case.after(SubscriptionEvent::Retry, &EventContext::default(), at)?])
        });
        let committed = self.commit(customer, id, at, decide).await?;
        if committed.view.subscription.parked.is_some() && committed.charge.is_none() {
            return Err(SubscriptionRefusal::NotRetryable(RetryReason::Parked).into());
        }
        Ok(committed.view)
    }

    /// Deletes a saved method, also if subscriptions need it: customers have the right to. Planned attempts with
    /// it end in the same commit.
    pub async fn delete_method(&self, customer: CustomerScope, method: SavedMethodId) -> Result<(), SubscriptionError> {
        let known = self.store.delete_method(customer, method, self.clock.now()).await?;
        if known { Ok(()) } else { Err(SubscriptionError::NotFound) }
    }

    fn consenting(
        &self,
        customer: CustomerScope,
        agreement: &Agreement,
        at: DateTime<Utc>,
    ) -> impl Fn(crate::terms::Terms) -> ConsentedTerms + Send + Sync + 'static {
        let (text_version, address) = (self.consent_text.clone(), agreement.address.clone());
        move |terms| ConsentedTerms {
            terms,
            text_version: text_version.clone(),
            at,
            address: address.clone(),
            application: Some(customer.app.application_id),
        }
    }

    pub(crate) fn charge_terms(&self, pays_by: PaymentMethod, at: DateTime<Utc>) -> ChargeTerms {
        ChargeTerms {
            key: self.random.uuid(),
            pays_by,
            return_url: self.return_url.clone(),
            next_check_at: at + TAKEOVER_DELAY,
        }
    }

    /// Commits a decision, and requests its charge at the acquirer.
    async fn commit(
        &self,
        customer: CustomerScope,
        id: SubscriptionId,
        at: DateTime<Utc>,
        decide: Decision,
    ) -> Result<CommitResult, SubscriptionError> {
        let with = CommitContext {
            author: Author::Customer(customer.counterparty_id),
            charge: self.charge_terms(PaymentMethod::BankCard, at),
            at,
        };
        let mut committed = self.store.change(SubscriptionSelector::OfCustomer(customer, id), with, decide).await?;
        if let Some(charge) = &committed.charge {
            // The change is committed: a worker resolves an unknown outcome.
            let _unclear = self.charges.open(charge).await;
            if let Ok(Some(view)) = self.store.find(customer, id, self.clock.now()).await {
                committed.view = view;
            }
        }
        Ok(committed)
    }
}

/// Returns the changes for new terms. Empty if the terms stay the same.
fn changes(
    case: &SubscriptionCase,
    plan: Option<&PlanOffer>,
    method: Option<SavedMethodId>,
    agreed: bool,
    consent: &dyn Fn(crate::terms::Terms) -> ConsentedTerms,
    at: DateTime<Utc>,
) -> Result<Vec<SubscriptionChange>, SubscriptionError> {
    let subscription = &case.subscription;
    let present = subscription.next_terms.as_ref().unwrap_or(&subscription.terms);
    let method = method.or(present.method);
    let wanted = match plan {
        Some(offer) => terms(offer, method),
        None => crate::terms::Terms { method, ..present.clone() },
    };
    let mut differences = needs_consent(present, &wanted);
    if present.method.is_none() && wanted.method.is_some() {
        differences.push(TermsDifference::Method);
    }
    if differences.is_empty() {
        return Ok(Vec::new());
    }
    if !agreed {
        return Err(SubscriptionRefusal::ConsentNeeded(differences).into());
    }
    let event_context = EventContext { consent: Some(consent(wanted)), ..EventContext::default() };
    let mut case = case.clone();
    let mut changes = Vec::new();
    let other_method = differences.contains(&TermsDifference::Method);
    if differences.iter().any(|difference| *difference != TermsDifference::Method) {
        let change = case.after(SubscriptionEvent::ChangePlan, &event_context, at)?;
        case = case.with_change(&change);
        changes.push(change);
    }
    if other_method {
        changes.push(case.after(SubscriptionEvent::ChangeMethod, &event_context, at)?);
    }
    Ok(changes)
}
