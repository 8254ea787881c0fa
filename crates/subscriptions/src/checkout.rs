//! Checkout of subscriptions.

use std::sync::Arc;

use chrono::TimeDelta;
use kontor_kernel::{AppScope, CustomerScope, SavedMethodId};
use kontor_payments::PaymentRequested;
use kontor_payments::model::{ChargeState, PaymentMethod};

use crate::error::{SubscriptionError, SubscriptionRefusal};
use crate::model::{PlanChoice, PlanOffer, SubscriptionView};
use crate::period::Anchor;
use crate::ports::{CheckoutStored, NewSubscriptions, SubscriptionStore, UnfinishedPayment};
use crate::service::{Agreement, SubscriptionService};
use crate::state::SubscriptionStatus;
use crate::terms::{ConsentedTerms, Terms};

/// Maximum plans in one payment. The contract: 1 to 20.
pub const MAX_PLANS: usize = 20;

/// Time in which the acquirer's page can be paid; afterwards the payment is checked.
const PAGE_LIFETIME: TimeDelta = TimeDelta::hours(1);

/// Plans to buy and the way to pay them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Purchase {
    /// Plans, 1 to [`MAX_PLANS`], without repetition.
    pub plans: Vec<PlanChoice>,
    /// Method for a payment by the customer; a saved method has its own.
    pub pays_by: PaymentMethod,
    /// Saved method to charge at once; `None` if the customer pays on the acquirer's page.
    pub saved_method: Option<SavedMethodId>,
}

/// First payment and its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    /// Payment.
    pub payment: UnfinishedPayment,
    /// Kind of response.
    pub result: CheckoutResult,
}

/// Kind of response to a first payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckoutResult {
    /// The payment is new. The contract's `201`.
    New,
    /// The customer already has this unfinished payment. The contract's `200`.
    Present,
    /// The outcome of the request to the acquirer is unknown. The contract's `202`.
    OutcomeUnknown,
}

impl SubscriptionService {
    /// Starts subscriptions whose first period the customer pays on the acquirer's page; the method is saved
    /// with the payment. The same purchase again returns the unfinished payment.
    pub async fn check_out(
        &self,
        customer: CustomerScope,
        purchase: &Purchase,
        agreement: &Agreement,
    ) -> Result<Checkout, SubscriptionError> {
        let offers = self.offers(customer.app, &purchase.plans).await?;
        let mut asked_again = false;
        loop {
            match self.store.begin(self.prepared(customer, purchase, &offers, agreement)).await? {
                CheckoutStored::New(payment) => return self.opened(customer, payment).await,
                CheckoutStored::UnfinishedPayment(payment) if !asked_again && self.may_have_ended(&payment) => {
                    self.charges.check_now(&payment.charge).await?;
                    asked_again = true;
                }
                CheckoutStored::UnfinishedPayment(payment) => return present(payment, &offers, purchase.saved_method),
                refused => return Err(refusal_of(&refused)),
            }
        }
    }

    /// Starts a subscription whose first period is charged at once, by a saved method.
    pub async fn charge_at_once(
        &self,
        customer: CustomerScope,
        purchase: &Purchase,
        agreement: &Agreement,
    ) -> Result<SubscriptionView, SubscriptionError> {
        let checkout = self.check_out(customer, purchase, agreement).await?;
        let view = checkout.payment.subscriptions.into_iter().next().ok_or(SubscriptionError::NotFound)?;
        let id = view.subscription.id;
        // The purchase is committed: a failed read now only returns an older state.
        let read = self.store.find(customer, id, self.clock.now()).await.ok().flatten().unwrap_or(view);
        if read.subscription.status == SubscriptionStatus::Canceled && !read.subscription.is_activated() {
            let reason = read.latest.and_then(|attempt| attempt.reason).unwrap_or_default();
            return Err(SubscriptionRefusal::PaymentFailed { reason }.into());
        }
        Ok(read)
    }

    /// Returns the current offers of the plans.
    pub(crate) async fn offers(
        &self,
        app: AppScope,
        plans: &[PlanChoice],
    ) -> Result<Vec<PlanOffer>, SubscriptionError> {
        let mut offers = Vec::with_capacity(plans.len());
        for plan in plans {
            offers.push(offer(&self.store, app, plan).await?);
        }
        let first = offers.first().ok_or(SubscriptionRefusal::PlanUnavailable)?;
        let alike =
            |offer: &PlanOffer| (&offer.currency, offer.billing_months) == (&first.currency, first.billing_months);
        if !offers.iter().all(alike) {
            return Err(SubscriptionRefusal::PlansDiffer.into());
        }
        Ok(offers)
    }

    fn prepared(
        &self,
        customer: CustomerScope,
        purchase: &Purchase,
        offers: &[PlanOffer],
        agreement: &Agreement,
    ) -> NewSubscriptions {
        let at = self.clock.now();
        let consent = |offer: &PlanOffer| ConsentedTerms {
            terms: terms(offer, purchase.saved_method),
            text_version: self.consent_text.clone(),
            at,
            address: agreement.address.clone(),
            application: Some(customer.app.application_id),
        };
        NewSubscriptions {
            customer,
            consents: offers.iter().map(consent).collect(),
            names: offers.iter().map(|offer| offer.name.clone()).collect(),
            charge: self.charge_terms(purchase.pays_by, at),
            at,
        }
    }

    fn may_have_ended(&self, payment: &UnfinishedPayment) -> bool {
        payment.charge.created_at + PAGE_LIFETIME <= self.clock.now()
    }

    /// Requests a payment at the acquirer that was just stored.
    async fn opened(&self, customer: CustomerScope, payment: UnfinishedPayment) -> Result<Checkout, SubscriptionError> {
        let known = match self.charges.open(&payment.charge).await {
            Ok(PaymentRequested::Refused { reason }) => {
                return Err(SubscriptionRefusal::PaymentFailed { reason }.into());
            }
            Ok(opened) => opened == PaymentRequested::Known,
            // The payment is committed: a storage error now must not look like a failed payment.
            Err(_) => false,
        };
        let charge = self.charges.charges.find(payment.charge.id).await.ok().flatten();
        let mut payment = payment;
        let read = charge.is_some();
        if let Some(charge) = charge {
            payment.charge = charge;
        }
        for view in &mut payment.subscriptions {
            let id = view.subscription.id;
            if let Ok(Some(now)) = self.store.find(customer, id, self.clock.now()).await {
                *view = now;
            }
        }
        let clear = known && read && payment.charge.state != ChargeState::Prepared;
        let result = if clear { CheckoutResult::New } else { CheckoutResult::OutcomeUnknown };
        Ok(Checkout { payment, result })
    }
}

/// Returns the unfinished payment if it has the same plans and the same way to pay: the acquirer's page, or this
/// method.
fn present(
    payment: UnfinishedPayment,
    offers: &[PlanOffer],
    saved_method: Option<SavedMethodId>,
) -> Result<Checkout, SubscriptionError> {
    let mut has: Vec<_> = payment.subscriptions.iter().map(|view| view.subscription.terms.plan).collect();
    let mut wants: Vec<_> = offers.iter().map(|offer| offer.plan).collect();
    has.sort_unstable();
    wants.sort_unstable();
    let charged = payment.charge.request.saved_method.as_ref().map(|method| method.id);
    if has != wants || charged != saved_method {
        return Err(SubscriptionError::AnotherUnfinished);
    }
    let unclear = payment.charge.state == ChargeState::Prepared;
    let result = if unclear { CheckoutResult::OutcomeUnknown } else { CheckoutResult::Present };
    Ok(Checkout { payment, result })
}

fn refusal_of(begun: &CheckoutStored) -> SubscriptionError {
    match begun {
        CheckoutStored::Subscribed => SubscriptionRefusal::AlreadySubscribed.into(),
        CheckoutStored::MethodUnavailable => SubscriptionRefusal::MethodUnavailable.into(),
        CheckoutStored::NoWarehouse => SubscriptionRefusal::NoWarehouse.into(),
        CheckoutStored::NoContact => SubscriptionRefusal::NoContact.into(),
        CheckoutStored::CustomerDeleted => SubscriptionError::CustomerDeleted,
        CheckoutStored::PlanUnavailable | CheckoutStored::New(_) | CheckoutStored::UnfinishedPayment(_) => {
            SubscriptionRefusal::PlanUnavailable.into()
        }
    }
}

/// Returns the current offer of a plan, if its periods can be charged.
pub(crate) async fn offer(
    store: &Arc<dyn SubscriptionStore>,
    app: AppScope,
    plan: &PlanChoice,
) -> Result<PlanOffer, SubscriptionError> {
    let offer = store.plan(app, plan.clone()).await?.ok_or(SubscriptionRefusal::PlanUnavailable)?;
    if offer.amount.is_zero() {
        return Err(SubscriptionRefusal::NothingToPay.into());
    }
    if offer.billing_months > Anchor::MAX_MONTHS {
        return Err(SubscriptionRefusal::PeriodTooLong.into());
    }
    Ok(offer)
}

/// Converts an offer to terms.
pub(crate) fn terms(offer: &PlanOffer, method: Option<SavedMethodId>) -> Terms {
    Terms {
        plan: offer.plan,
        plan_slug: offer.slug.clone(),
        amount: offer.amount,
        currency: offer.currency.clone(),
        billing_months: offer.billing_months,
        method,
    }
}
