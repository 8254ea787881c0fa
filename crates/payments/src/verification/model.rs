use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{ApplicationId, CounterpartyId, Money, ProjectId, VerificationId};
use uuid::Uuid;

use crate::model::{Charge, ChargePurpose, ChargeRequest, NewCharge, PaymentMethod};

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
