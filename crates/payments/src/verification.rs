//! Verification of customers by a small payment.
//!
//! A verification is a charge that is refunded. The commit that records the arrival of the money verifies the
//! customer and makes the refund due.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{
    ApplicationId, Clock, CounterpartyId, CustomerScope, Money, ProjectId, Random, StoreError, VerificationId,
};
use uuid::Uuid;

use crate::charging::{ChargeService, PaymentRequested};
use crate::model::{Charge, ChargePurpose, ChargeRequest, ChargeState, NewCharge, PaymentMethod};
use crate::ports::{VerificationStore, VerificationStored};
use crate::timing::TAKEOVER_DELAY;

/// Errors of starting a verification.
#[derive(Debug, thiserror::Error)]
pub enum VerificationError {
    /// The acquirer refused the payment.
    #[error("the payment of verification {id} was refused")]
    PaymentRefused {
        /// The verification, which is closed.
        id: VerificationId,
        /// Reason given by the acquirer, for the log.
        reason: String,
    },
    /// The customer was deleted.
    #[error("the customer account is deleted")]
    CustomerDeleted,
    /// Storage error.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Time that the acquirer gives a payer.
pub const VERIFICATION_WINDOW: TimeDelta = TimeDelta::hours(1);

/// Verification of a customer. Its state is that of its charge: once the money has arrived, they are verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// Identifier.
    pub id: VerificationId,
    /// Payment of the verification.
    pub charge: Charge,
    /// End of the time to pay.
    pub expires_at: DateTime<Utc>,
}

/// Amount of a verification and return address of the payer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerificationTerms {
    /// Amount that is paid and refunded.
    pub amount: Money,
    /// Return address, a page of the shop.
    pub return_url: String,
}

/// Verification to store, without its identifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewVerification {
    /// Project of the customer.
    pub project_id: ProjectId,
    /// Application.
    pub application_id: ApplicationId,
    /// Customer to verify.
    pub counterparty_id: CounterpartyId,
    /// Idempotency key.
    pub key: Uuid,
    /// Amount and return address.
    pub terms: VerificationTerms,
    /// A verification that succeeded at this time or later is still valid.
    pub still_counts_since: DateTime<Utc>,
    /// Time at which a worker takes over if the call after the commit does not finish.
    pub next_check_at: DateTime<Utc>,
    /// Current time.
    pub at: DateTime<Utc>,
}

impl NewVerification {
    /// Returns the charge of this verification. The fast payment system supports only roubles.
    pub fn charge(&self, id: VerificationId) -> NewCharge {
        NewCharge {
            project_id: self.project_id,
            application_id: Some(self.application_id),
            counterparty_id: self.counterparty_id,
            request: ChargeRequest {
                renewal: None,
                purpose: ChargePurpose::Verification(id),
                key: self.key,
                amount: self.terms.amount,
                currency: "RUB".to_owned(),
                method: PaymentMethod::Sbp,
                description: format!("Verification {id}"),
                return_url: self.terms.return_url.clone(),
                save_method: false,
                saved_method: None,
                receipt: None,
            },
            next_check_at: self.next_check_at,
            at: self.at,
        }
    }

    /// End of the time to pay.
    pub fn expires_at(&self) -> DateTime<Utc> {
        self.at + VERIFICATION_WINDOW
    }
}

/// Validity of a successful verification.
const VERIFICATION_VALIDITY: TimeDelta = TimeDelta::hours(24);

/// Use cases of verifications. Their payments and refunds are handled by charges and refunds.
pub struct VerificationService {
    /// Storage of verifications.
    pub store: Arc<dyn VerificationStore>,
    /// Use cases of charges.
    pub charges: Arc<ChargeService>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Source of idempotency keys.
    pub random: Arc<dyn Random>,
    /// Amount and return address.
    pub terms: VerificationTerms,
}

/// Outcome of starting a verification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartedVerification {
    /// A new verification; the acquirer has its payment.
    PaymentRequested(Verification),
    /// A new verification; the outcome of its payment request is unknown, and there is no link yet.
    OutcomeUnknown(Verification),
    /// The existing one: open, or succeeded recently.
    Existing(Verification),
}

impl VerificationService {
    /// Starts a verification, or returns the existing one. An expired open verification is checked at the
    /// acquirer first.
    pub async fn start(&self, customer: CustomerScope) -> Result<StartedVerification, VerificationError> {
        let mut cleared_up = false;
        loop {
            let at = self.clock.now();
            let new = NewVerification {
                project_id: customer.app.project_id,
                application_id: customer.app.application_id,
                counterparty_id: customer.counterparty_id,
                key: self.random.uuid(),
                terms: self.terms.clone(),
                still_counts_since: at - VERIFICATION_VALIDITY,
                next_check_at: at + TAKEOVER_DELAY,
                at,
            };
            match self.store.start(new).await? {
                VerificationStored::CustomerDeleted => return Err(VerificationError::CustomerDeleted),
                VerificationStored::New(verification) => return self.open(verification).await,
                VerificationStored::Existing(present)
                    if !cleared_up && present.charge.state.is_open() && present.expires_at <= at =>
                {
                    self.charges.check_now(&present.charge).await?;
                    cleared_up = true;
                }
                VerificationStored::Existing(present) => return Ok(StartedVerification::Existing(present)),
            }
        }
    }

    /// Requests the payment of a verification that was just stored.
    async fn open(&self, verification: Verification) -> Result<StartedVerification, VerificationError> {
        let id = verification.id;
        let known = match self.charges.open(&verification.charge).await {
            Ok(PaymentRequested::Refused { reason }) => return Err(VerificationError::PaymentRefused { id, reason }),
            Ok(opened) => opened == PaymentRequested::Known,
            // The verification is committed: a storage error now must not look like a failed verification.
            Err(_) => false,
        };
        let Ok(Some(read)) = self.store.find(id).await else {
            return Ok(StartedVerification::OutcomeUnknown(verification));
        };
        let unclear = !known || read.charge.state == ChargeState::Prepared;
        Ok(if unclear {
            StartedVerification::OutcomeUnknown(read)
        } else {
            StartedVerification::PaymentRequested(read)
        })
    }
}
