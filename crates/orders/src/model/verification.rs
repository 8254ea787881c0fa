//! Customers who prove by a small payment from their bank who they are. The money goes back at once.

use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{CounterpartyId, Money, ProjectId, VerificationId};
use uuid::Uuid;

use super::{PaymentMethod, PaymentRequest, ProviderPaymentId, Purpose, RefundRequest};

/// How long the acquirer lets a payer take.
pub const VERIFICATION_WINDOW: TimeDelta = TimeDelta::hours(1);

/// Where a verification stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerificationState {
    /// Stored; whether the acquirer knows of it is not known.
    Prepared,
    /// The acquirer has the payment, the customer has still to pay.
    Pending,
    /// The customer has paid: he is verified.
    Succeeded,
    /// The payment failed.
    Canceled,
    /// The payment ran out of time.
    Expired,
    /// The acquirer refused to create it.
    Refused,
}

impl VerificationState {
    /// Whether the outcome is still to come.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Prepared | Self::Pending)
    }

    /// The state that a payment canceled for this reason leads to.
    pub fn of_canceled(reason: Option<&str>) -> Self {
        if reason == Some("expired_on_confirmation") { Self::Expired } else { Self::Canceled }
    }
}

/// Where the way back of the money stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefundState {
    /// To be asked for; whether the acquirer knows of it is not known.
    Due,
    /// The acquirer has the refund, the money is on its way.
    Pending,
    /// The customer has his money.
    Done,
    /// Refused so often that people must look at it.
    Failed,
}

impl RefundState {
    /// Whether the outcome is still to come.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Due | Self::Pending)
    }
}

/// The way back of the money of a verification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerificationRefund {
    /// Where it stands.
    pub state: RefundState,
    /// The idempotence key of the present try.
    pub key: Uuid,
    /// When this key was made.
    pub key_at: DateTime<Utc>,
    /// How many tries were refused before it.
    pub tries: u32,
    /// The acquirer's identifier of the refund, once known.
    pub id: Option<ProviderPaymentId>,
}

/// A verification of a customer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// Its number.
    pub id: VerificationId,
    /// The project of the customer.
    pub project_id: ProjectId,
    /// Who proves himself.
    pub counterparty_id: CounterpartyId,
    /// Where it stands.
    pub state: VerificationState,
    /// The acquirer's identifier of the payment, once known.
    pub provider_id: Option<ProviderPaymentId>,
    /// What the acquirer was asked for.
    pub request: PaymentRequest,
    /// Where the customer pays.
    pub confirmation_url: Option<String>,
    /// The way back of the money, once it has arrived.
    pub refund: Option<VerificationRefund>,
    /// How often the acquirer has been asked since the last change of state.
    pub checks: u32,
    /// Until when the customer can pay.
    pub expires_at: DateTime<Utc>,
    /// When the outcome became known.
    pub settled_at: Option<DateTime<Utc>>,
    /// When it was stored.
    pub created_at: DateTime<Utc>,
}

impl Verification {
    /// The request that brings the money back, once it has arrived.
    pub fn refund_request(&self, key: Uuid) -> Option<RefundRequest> {
        Some(RefundRequest {
            payment: self.provider_id.clone()?,
            key,
            amount: self.request.amount,
            currency: self.request.currency.clone(),
            description: format!("Verification {}", self.id),
        })
    }
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
    /// Who proves himself.
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
    /// The request for this verification. The fast payment system knows roubles only.
    pub fn request(&self, id: VerificationId) -> PaymentRequest {
        PaymentRequest {
            purpose: Purpose::Verification(id),
            attempt: self.key,
            amount: self.terms.amount,
            currency: "RUB".to_owned(),
            method: PaymentMethod::Sbp,
            description: format!("Verification {id}"),
            return_url: self.terms.return_url.clone(),
        }
    }

    /// The end of the time to pay.
    pub fn expires_at(&self) -> DateTime<Utc> {
        self.at + VERIFICATION_WINDOW
    }
}

/// What became known of a verification. Changes of the payment count while it is open, changes of the refund while that
/// is open under the same key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VerificationChange {
    /// The acquirer has the payment, the customer has still to pay.
    Pending {
        /// The acquirer's identifier.
        provider_id: ProviderPaymentId,
        /// Where the customer pays.
        confirmation_url: Option<String>,
        /// When to ask again.
        next_check_at: DateTime<Utc>,
    },
    /// The money has arrived: the customer is verified, and the refund is due.
    Verified {
        /// The acquirer's identifier.
        provider_id: ProviderPaymentId,
        /// The key under which the money will be asked back.
        refund_key: Uuid,
    },
    /// There will be no money.
    Failed {
        /// The acquirer's identifier, when there is a payment.
        provider_id: Option<ProviderPaymentId>,
        /// [`VerificationState::Canceled`], [`VerificationState::Expired`] or [`VerificationState::Refused`].
        state: VerificationState,
        /// The acquirer's reason.
        reason: String,
    },
    /// The payment is still unknown, or not the one asked for.
    Postponed {
        /// What happened.
        why: String,
        /// When to ask again.
        next_check_at: DateTime<Utc>,
    },
    /// Something about the refund.
    Refund {
        /// The key of the try it is about.
        key: Uuid,
        /// What became known.
        step: RefundStep,
    },
}

/// What became known of a refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefundStep {
    /// The acquirer has it, the money is on its way.
    Pending {
        /// The acquirer's identifier of the refund.
        id: ProviderPaymentId,
        /// When to ask again.
        next_check_at: DateTime<Utc>,
    },
    /// The customer has his money.
    Done {
        /// The acquirer's identifier of the refund.
        id: ProviderPaymentId,
    },
    /// The outcome is still unknown.
    Postponed {
        /// What happened.
        why: String,
        /// When to ask again.
        next_check_at: DateTime<Utc>,
    },
    /// The acquirer shows a refund that is not the one asked for, or contradicts itself.
    Odd {
        /// What differs.
        why: String,
        /// When to ask again.
        next_check_at: DateTime<Utc>,
    },
    /// This try surely brought nothing back; another one is due under another key.
    Again {
        /// The new key.
        key: Uuid,
        /// Why the last try brought nothing.
        why: String,
        /// When to try.
        next_check_at: DateTime<Utc>,
    },
    /// The acquirer will not give the money back.
    GivenUp {
        /// Its reason.
        why: String,
    },
}
