//! What customers do with their subscriptions.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use kontor_kernel::history::Author;
use kontor_kernel::{
    Clock, CustomerScope, Page, PageRequest, Random, SavedMethodId, StoreError, SubscriptionId, SubscriptionPaymentId,
};
use kontor_payments::ChargeService;
use kontor_payments::TAKEOVER;
use kontor_payments::model::PaymentMethod;

use crate::case::{Occasion, SubscriptionCase};
use crate::change::SubscriptionChange;
use crate::checkout::{offer, terms};
use crate::error::{SubscriptionError, SubscriptionRefusal};
use crate::model::{Attempt, PlanChoice, PlanOffer, SubscriptionView};
use crate::ports::{Addressed, ChargeTerms, Committed, Committing, Decision, SubscriptionStore};
use crate::retry::RetryReason;
use crate::state::SubscriptionEvent;
use crate::terms::{ConsentedTerms, TermsDifference, needs_consent};

/// Use cases of subscriptions.
pub struct SubscriptionService {
    /// Where they are kept.
    pub store: Arc<dyn SubscriptionStore>,
    /// Their charges.
    pub charges: Arc<ChargeService>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Keys.
    pub random: Arc<dyn Random>,
    /// Where a payer comes back to; `{order_id}` is replaced.
    pub return_url: String,
    /// Which text of the consent customers are shown.
    pub consent_text: String,
}

/// The circumstances of a consent. Whoever has one gave it: `autopay_consent` was `true`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Agreement {
    /// The network address it came from, where it is known.
    pub address: Option<String>,
}

/// Other terms that a customer asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TermsEdit {
    /// Another plan.
    pub plan: Option<PlanChoice>,
    /// Another saved method.
    pub saved_method: Option<SavedMethodId>,
}

impl SubscriptionService {
    /// The customer's subscriptions, newest first.
    pub async fn list(&self, customer: CustomerScope) -> Result<Vec<SubscriptionView>, StoreError> {
        self.store.of_customer(customer, self.clock.now()).await
    }

    /// One of them.
    pub async fn read(
        &self,
        customer: CustomerScope,
        id: SubscriptionId,
    ) -> Result<SubscriptionView, SubscriptionError> {
        self.store.find(customer, id, self.clock.now()).await?.ok_or(SubscriptionError::NotFound)
    }

    /// What the customer consented to, the latest first.
    pub async fn consents(
        &self,
        customer: CustomerScope,
        id: SubscriptionId,
        page: PageRequest,
    ) -> Result<Page<ConsentedTerms>, SubscriptionError> {
        self.store.consents(customer, id, page).await?.ok_or(SubscriptionError::NotFound)
    }

    /// The payments of one, newest first.
    pub async fn payments(
        &self,
        customer: CustomerScope,
        id: SubscriptionId,
        page: PageRequest,
    ) -> Result<Page<Attempt>, SubscriptionError> {
        self.store.payments(customer, id, page).await?.ok_or(SubscriptionError::NotFound)
    }

    /// Ends it: nothing is charged any more, what is paid stays paid.
    pub async fn cancel(
        &self,
        customer: CustomerScope,
        id: SubscriptionId,
    ) -> Result<SubscriptionView, SubscriptionError> {
        let at = self.clock.now();
        let decide: Decision =
            Box::new(move |case| Ok(vec![case.after(SubscriptionEvent::Cancel, &Occasion::default(), at)?]));
        Ok(self.commit(customer, id, at, decide).await?.view)
    }

    /// Takes a cancellation back. What is not paid is charged by the next run of the scheduler.
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
            let occasion = Occasion { consent: Some(consent(terms)), ..Occasion::default() };
            Ok(vec![case.after(SubscriptionEvent::Resume, &occasion, at)?])
        });
        Ok(self.commit(customer, id, at, decide).await?.view)
    }

    /// Agrees on another plan or method, from the next charge on.
    pub async fn change(
        &self,
        customer: CustomerScope,
        id: SubscriptionId,
        edit: &TermsEdit,
        agreement: Option<&Agreement>,
    ) -> Result<SubscriptionView, SubscriptionError> {
        // Whose it is comes first: what is offered is nobody's secret, and yet no answer about a foreign record.
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

    /// Tries a payment again that failed.
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
            Ok(vec![case.after(SubscriptionEvent::Retry, &Occasion::default(), at)?])
        });
        let committed = self.commit(customer, id, at, decide).await?;
        if committed.view.subscription.parked.is_some() && committed.charge.is_none() {
            return Err(SubscriptionRefusal::NotRetryable(RetryReason::Parked).into());
        }
        Ok(committed.view)
    }

    /// Lets a method be charged no more, whatever needs it: that is the customer's right. What is planned with it ends in the
    /// same commit.
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
            next_check_at: at + TAKEOVER,
        }
    }

    /// Commits what is decided, and asks the acquirer for what is to be charged.
    async fn commit(
        &self,
        customer: CustomerScope,
        id: SubscriptionId,
        at: DateTime<Utc>,
        decide: Decision,
    ) -> Result<Committed, SubscriptionError> {
        let with = Committing {
            author: Author::Customer(customer.counterparty_id),
            charge: self.charge_terms(PaymentMethod::BankCard, at),
            at,
        };
        let mut committed = self.store.change(Addressed::OfCustomer(customer, id), with, decide).await?;
        if let Some(charge) = &committed.charge {
            // It is committed: what is not known now is found out by a worker.
            let _unclear = self.charges.open(charge).await;
            if let Ok(Some(view)) = self.store.find(customer, id, self.clock.now()).await {
                committed.view = view;
            }
        }
        Ok(committed)
    }
}

/// What becomes of a subscription whose customer asks for other terms. Nothing when they are the ones it has.
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
    let occasion = Occasion { consent: Some(consent(wanted)), ..Occasion::default() };
    let mut case = case.clone();
    let mut changes = Vec::new();
    let other_method = differences.contains(&TermsDifference::Method);
    if differences.iter().any(|difference| *difference != TermsDifference::Method) {
        let change = case.after(SubscriptionEvent::ChangePlan, &occasion, at)?;
        case = case.followed_by(&change);
        changes.push(change);
    }
    if other_method {
        changes.push(case.after(SubscriptionEvent::ChangeMethod, &occasion, at)?);
    }
    Ok(changes)
}
