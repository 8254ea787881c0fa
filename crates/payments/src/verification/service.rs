use std::sync::Arc;

use chrono::TimeDelta;
use kontor_kernel::{Clock, CustomerScope, Random};

use super::{NewVerification, Verification, VerificationTerms};
use crate::charging::{ChargeService, PaymentRequested};
use crate::error::VerificationError;
use crate::model::ChargeState;
use crate::ports::{VerificationStore, VerificationStored};
use crate::timing::TAKEOVER_DELAY;

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
