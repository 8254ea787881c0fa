//! Another payment method for a subscription, which the customer enters on the acquirer's page.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use kontor_kernel::{Clock, CustomerScope, MethodBindingId, Random, SavedMethodId, SubscriptionId};
use kontor_payments::model::{Charge, ChargePurpose, ChargeRequest, ChargeState, NewCharge, PaymentMethod};
use kontor_payments::verification::{VERIFICATION_WINDOW, VerificationTerms};
use kontor_payments::{ChargeService, Opened, TAKEOVER};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};
use uuid::Uuid;

use crate::error::{SubscriptionError, SubscriptionRefusal};
use crate::ports::MethodChangeStore;
use crate::service::Agreement;

/// Where a change of the method stands. The contract shows `pending` and `completed` and leaves the other words to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray, Display, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum MethodChangeStatus {
    /// The customer has yet to enter the method, or the acquirer to say how it went.
    Pending,
    /// The subscription is charged by the new method from now on.
    Completed,
    /// The method was refused, or cannot be saved.
    Failed,
    /// The time to enter it ran out.
    Expired,
}

/// A change of the method. The payment that saves it goes back by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodChange {
    /// Its number.
    pub id: MethodBindingId,
    /// The subscription.
    pub subscription: SubscriptionId,
    /// The payment that saves the method.
    pub charge: Charge,
    /// The new method, once it is saved.
    pub saved_method: Option<SavedMethodId>,
    /// Until when it can be entered.
    pub expires_at: DateTime<Utc>,
}

impl MethodChange {
    /// Where it stands.
    pub fn status(&self) -> MethodChangeStatus {
        match self.charge.state {
            ChargeState::Prepared | ChargeState::Pending => MethodChangeStatus::Pending,
            ChargeState::Succeeded if self.saved_method.is_some() => MethodChangeStatus::Completed,
            ChargeState::Expired => MethodChangeStatus::Expired,
            ChargeState::Succeeded | ChargeState::Canceled | ChargeState::Refused => MethodChangeStatus::Failed,
        }
    }
}

/// A change to be stored, which lacks only its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMethodChange {
    /// Whose subscription it is.
    pub customer: CustomerScope,
    /// The subscription.
    pub subscription: SubscriptionId,
    /// Which text of the consent was shown.
    pub consent_text: String,
    /// Where the consent came from.
    pub address: Option<String>,
    /// The idempotence key.
    pub key: Uuid,
    /// What is paid and goes back.
    pub terms: VerificationTerms,
    /// Now.
    pub at: DateTime<Utc>,
}

impl NewMethodChange {
    /// The charge of this change, in the currency of the subscription.
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
            next_check_at: self.at + TAKEOVER,
            at: self.at,
        }
    }

    /// The end of the time to enter the method.
    pub fn expires_at(&self) -> DateTime<Utc> {
        self.at + VERIFICATION_WINDOW
    }
}

/// What came of storing a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MethodChangeBegun {
    /// It is stored.
    New(MethodChange),
    /// There is one that can still be used. Nothing was stored.
    Present(MethodChange),
    /// The application may not see such a subscription.
    NotFound,
    /// Its first charge never succeeded: there is nothing to change.
    NeverActivated,
}

/// Use cases of changes of the method.
pub struct MethodChangeService {
    /// Where they are kept.
    pub store: Arc<dyn MethodChangeStore>,
    /// Their charges.
    pub charges: Arc<ChargeService>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Keys.
    pub random: Arc<dyn Random>,
    /// What is paid and goes back.
    pub terms: VerificationTerms,
    /// Which text of the consent customers are shown.
    pub consent_text: String,
}

impl MethodChangeService {
    /// Begins a change, or gives the one that can still be used.
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
        // It is committed: what is not known now is found out by a worker.
        if let Ok(Opened::Refused { reason }) = self.charges.open(&change.charge).await {
            return Err(SubscriptionRefusal::PaymentFailed { reason }.into());
        }
        let read = self.store.find(customer, subscription, change.id).await;
        Ok(read.ok().flatten().unwrap_or(change))
    }

    /// How a change stands; the acquirer is asked while that is not known.
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
