use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{ApplicationId, CounterpartyId, Money, ProjectId, VerificationId};
use uuid::Uuid;

use crate::model::{Charge, ChargePurpose, ChargeRequest, NewCharge, PaymentMethod};

/// How long the acquirer lets a payer take.
pub const VERIFICATION_WINDOW: TimeDelta = TimeDelta::hours(1);

/// A verification of a customer. It stands where its charge stands: once the money has arrived, they are verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// Its number.
    pub id: VerificationId,
    /// The payment that proves it.
    pub charge: Charge,
    /// Until when the customer can pay.
    pub expires_at: DateTime<Utc>,
}

/// What a verification costs until the money is back, and where the payer comes back to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerificationTerms {
    /// How much is paid and refunded.
    pub amount: Money,
    /// An address of the shop.
    pub return_url: String,
}

/// A verification to be stored, which lacks only its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewVerification {
    /// The project of the customer.
    pub project_id: ProjectId,
    /// Where they are.
    pub application_id: ApplicationId,
    /// Who proves who they are.
    pub counterparty_id: CounterpartyId,
    /// The idempotence key.
    pub key: Uuid,
    /// What is paid.
    pub terms: VerificationTerms,
    /// A verification that succeeded at this moment or later counts as the present one.
    pub still_counts_since: DateTime<Utc>,
    /// When a worker takes over if the call that follows the commit is never finished.
    pub next_check_at: DateTime<Utc>,
    /// Now.
    pub at: DateTime<Utc>,
}

impl NewVerification {
    /// The charge of this verification. The fast payment system knows roubles only.
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

    /// The end of the time to pay.
    pub fn expires_at(&self) -> DateTime<Utc> {
        self.at + VERIFICATION_WINDOW
    }
}
