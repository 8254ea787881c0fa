use std::sync::Arc;

use chrono::TimeDelta;
use kontor_kernel::{Clock, CustomerScope, Random};

use super::{NewVerification, Verification, VerificationTerms};
use crate::charging::{ChargeService, Opened};
use crate::error::VerificationError;
use crate::model::ChargeState;
use crate::ports::{Started, VerificationStore};
use crate::timing::TAKEOVER;

/// How long a verification that succeeded is given to who asks for one.
const STILL_COUNTS: TimeDelta = TimeDelta::hours(24);

/// Use cases of verifications. What becomes of their payments and refunds is the business of charges and refunds.
pub struct VerificationService {
    /// Where verifications are kept.
    pub store: Arc<dyn VerificationStore>,
    /// Their charges.
    pub charges: Arc<ChargeService>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Keys.
    pub random: Arc<dyn Random>,
    /// What a verification costs.
    pub terms: VerificationTerms,
}

/// What a customer who wants to prove who they are is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartedVerification {
    /// A new verification, which the acquirer knows of.
    Opened(Verification),
    /// A new verification; whether its payment exists is still being found out, and there is no link yet.
    Unclear(Verification),
    /// The one they have: open, or succeeded not long ago.
    Present(Verification),
}

impl VerificationService {
    /// Starts a verification, or gives the one the customer has. One that ran out of time is cleared up first.
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
                still_counts_since: at - STILL_COUNTS,
                next_check_at: at + TAKEOVER,
                at,
            };
            match self.store.start(new).await? {
                Started::Gone => return Err(VerificationError::CustomerGone),
                Started::New(verification) => return self.open(verification).await,
                Started::Present(present)
                    if !cleared_up && present.charge.state.is_open() && present.expires_at <= at =>
                {
                    self.charges.check_now(&present.charge).await?;
                    cleared_up = true;
                }
                Started::Present(present) => return Ok(StartedVerification::Present(present)),
            }
        }
    }

    /// Asks the acquirer for the payment of a verification that has just been stored.
    async fn open(&self, verification: Verification) -> Result<StartedVerification, VerificationError> {
        let id = verification.id;
        let known = match self.charges.open(&verification.charge).await {
            Ok(Opened::Refused { reason }) => return Err(VerificationError::PaymentRefused { id, reason }),
            Ok(opened) => opened == Opened::Known,
            // It is committed: a storage that fails now must not look like a verification that failed.
            Err(_) => false,
        };
        let Ok(Some(read)) = self.store.find(id).await else { return Ok(StartedVerification::Unclear(verification)) };
        let unclear = !known || read.charge.state == ChargeState::Prepared;
        Ok(if unclear { StartedVerification::Unclear(read) } else { StartedVerification::Opened(read) })
    }
}
