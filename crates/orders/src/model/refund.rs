//! Money that goes back through the acquirer.

use kontor_kernel::Money;
use uuid::Uuid;

use super::{PaymentMismatch, ProviderPaymentId};

/// What the acquirer is asked for when money goes back. Every repetition under one key is the same request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefundRequest {
    /// The payment the money came with.
    pub payment: ProviderPaymentId,
    /// The idempotence key.
    pub key: Uuid,
    /// How much goes back.
    pub amount: Money,
    /// Three letters, such as `RUB`.
    pub currency: String,
    /// What the payer reads, at most 250 characters.
    pub description: String,
}

/// A refund as the acquirer shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayRefund {
    /// The acquirer's identifier of the refund.
    pub id: ProviderPaymentId,
    /// The payment the money came with.
    pub payment: ProviderPaymentId,
    /// Where it stands.
    pub status: RefundStatus,
    /// How much goes back.
    pub amount: Money,
    /// Three letters.
    pub currency: String,
    /// Why it was canceled.
    pub reason: Option<String>,
}

/// Where a refund stands at the acquirer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefundStatus {
    /// The money is on its way.
    Pending,
    /// The payer has it.
    Succeeded,
    /// It did not go back, for good.
    Canceled,
}

impl RefundRequest {
    /// Refuses a refund of another payment or another amount.
    pub fn verify(&self, refund: &GatewayRefund) -> Result<(), PaymentMismatch> {
        let parts = [
            ("the refunded payment", refund.payment == self.payment),
            ("the amount", refund.amount == self.amount),
            ("the currency", refund.currency == self.currency),
        ];
        match parts.into_iter().find(|(_, equal)| !equal) {
            Some((part, _)) => Err(PaymentMismatch { payment: refund.id.to_string(), part }),
            None => Ok(()),
        }
    }
}
