//! Change of the payment method of a subscription. The customer enters the new method on the acquirer's page.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use kontor_kernel::{Clock, CustomerScope, MethodBindingId, Random, SavedMethodId, SubscriptionId};
use kontor_payments::model::{Charge, ChargePurpose, ChargeRequest, ChargeState, NewCharge, PaymentMethod};
use kontor_payments::verification::{VERIFICATION_WINDOW, VerificationTerms};
use kontor_payments::{ChargeService, PaymentRequested, TAKEOVER_DELAY};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};
use uuid::Uuid;

use crate::error::{SubscriptionError, SubscriptionRefusal};
use crate::ports::MethodChangeStore;
use crate::service::Agreement;

/// Status of a method change. The contract shows `pending` and `completed`; the other values are defined here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray, Display, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum MethodChangeStatus {
    /// The customer has not entered the method yet, or its outcome is open.
    Pending,
    /// The subscription is charged by the new method from now on.
    Completed,
    /// The method was refused, or cannot be saved.
    Failed,
    /// The time to enter it has passed.
    Expired,
}

/// Method change. The payment that saves the method is refunded automatically.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodChange {
    /// Identifier.
    pub id: MethodBindingId,
    /// Subscription.
    pub subscription: SubscriptionId,
    /// Payment that saves the method.
    pub charge: Charge,
    /// New method, once it is saved.
    pub saved_method: Option<SavedMethodId>,
    /// End of the time to enter the method.
    pub expires_at: DateTime<Utc>,
}

impl MethodChange {
    /// Status of the change.
    pub fn status(&self) -> MethodChangeStatus {
        match self.charge.state {
            ChargeState::Prepared | ChargeState::Pending => MethodChangeStatus::Pending,
            ChargeState::Succeeded if self.saved_method.is_some() => MethodChangeStatus::Completed,
            ChargeState::Expired => MethodChangeStatus::Expired,
            ChargeState::Succeeded | ChargeState::Canceled | ChargeState::Refused => MethodChangeStatus::Failed,
        }
    }
}

/// Method change to store, without its identifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMethodChange {
    /// Customer of the subscription.
    pub customer: CustomerScope,
    /// Subscription.
    pub subscription: SubscriptionId,
    /// Version of the consent text that was shown.
    pub consent_text: String,
    /// Network address of the consent.
    pub address: Option<String>,
    /// Idempotency key.
    pub key: Uuid,
    /// Amount that is paid and refunded, and return address.
    pub terms: VerificationTerms,
    /// Current time.
    pub at: DateTime<Utc>,
}

impl NewMethodChange {
    /// Returns the charge of this change, in the currency of the subscription.
    pub fn charge(&self, id: MethodBindingId, currency: &str) -> NewCharge {
        NewCharge {
            project_id: self.customer.app.project_id,
            application_id: Some(self.customer.app.application_id),
            counterparty_id: self.customer.counterparty_id,
            request: ChargeRequest {
                renewal: None,
                purpose: ChargePurpose::MethodBinding(id),
                key: self.key,
                amount: self.terms.amount,
                currency: currency.to_owned(),
                method: PaymentMethod::BankCard,
                description: format!("Payment method {id}"),
                return_url: self.terms.return_url.clone(),
                save_method: true,
                saved_method: None,
                receipt: None,
            },
            next_check_at: self.at + TAKEOVER_DELAY,
            at: self.at,
        }
    }

    /// End of the time to enter the method.
    pub fn expires_at(&self) -> DateTime<Utc> {
        self.at + VERIFICATION_WINDOW
    }
}

/// Outcome of storing a method change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MethodChangeBegun {
    /// The change is stored.
    New(MethodChange),
    /// An unexpired change exists. Nothing was stored.
    Present(MethodChange),
    /// The application may not see such a subscription.
    NotFound,
    /// The first charge never succeeded: there is nothing to change.
    NeverActivated,
}

/// Use cases of method changes.
pub struct MethodChangeService {
    /// Storage of method changes.
    pub store: Arc<dyn MethodChangeStore>,
    /// Use cases of charges.
    pub charges: Arc<ChargeService>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Source of idempotency keys.
    pub random: Arc<dyn Random>,
    /// Amount that is paid and refunded, and return address.
    pub terms: VerificationTerms,
    /// Version of the consent text shown to customers.
    pub consent_text: String,
}

impl MethodChangeService {
    /// Starts a method change, or returns the unexpired one.
    pub async fn begin(
        &self,
        customer: CustomerScope,
        subscription: SubscriptionId,
        agreement: &Agreement,
    ) -> Result<MethodChange, SubscriptionError> {
        let new = NewMethodChange {
            customer,
            subscription,
            consent_text: self.consent_text.clone(),
            address: agreement.address.clone(),
            key: self.random.uuid(),
            terms: self.terms.clone(),
            at: self.clock.now(),
        };
        let change = match self.store.begin(new).await? {
            MethodChangeBegun::New(change) => change,
            MethodChangeBegun::Present(change) => return Ok(change),
            MethodChangeBegun::NotFound => return Err(SubscriptionError::NotFound),
            MethodChangeBegun::NeverActivated => return Err(SubscriptionRefusal::NeverActivated.into()),
        };
        // The change is committed: a worker resolves an unknown outcome.
        if let Ok(PaymentRequested::Refused { reason }) = self.charges.open(&change.charge).await {
            return Err(SubscriptionRefusal::PaymentFailed { reason }.into());
        }
        let read = self.store.find(customer, subscription, change.id).await;
        Ok(read.ok().flatten().unwrap_or(change))
    }

    /// Returns a method change. While its outcome is open, it is checked at the acquirer first.
    pub async fn sync(
        &self,
        customer: CustomerScope,
        subscription: SubscriptionId,
        id: MethodBindingId,
    ) -> Result<MethodChange, SubscriptionError> {
        let find = || self.store.find(customer, subscription, id);
        let change = find().await?.ok_or(SubscriptionError::NotFound)?;
        if !change.charge.state.is_open() {
            return Ok(change);
        }
        self.charges.check_now(&change.charge).await?;
        find().await?.ok_or(SubscriptionError::NotFound)
    }
}
