//! Fiscal receipts and their registration.

use chrono::{DateTime, Utc};
use kontor_kernel::{Money, ProjectId, ReceiptId};
use strum::{EnumString, IntoStaticStr, VariantArray};
use uuid::Uuid;

use super::{ChargePurpose, PaymentMismatch, ProviderId, Receipt, Registration, TaxSystem, VatCode};

/// Receipt settings of a project. A project without them has no fiscal receipts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReceiptTerms {
    /// Tax system of the seller; required if they have several.
    pub tax_system: Option<TaxSystem>,
    /// VAT of items without their own.
    pub default_vat: VatCode,
}

/// Occasion of a receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum ReceiptKind {
    /// Payment. The receipt is sent with the payment.
    Payment,
    /// Refund. The receipt is sent with the refund.
    Refund,
    /// Handover of prepaid items. The receipt is requested separately.
    HandOver,
}

/// State of a receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum ReceiptState {
    /// To be requested; the acquirer may or may not have it.
    Due,
    /// The register is processing it.
    Pending,
    /// It is registered.
    Succeeded,
    /// There is no receipt; staff must check it.
    Canceled,
}

impl ReceiptState {
    /// States with an open outcome. Updates of a receipt count only in these.
    pub const OPEN: [Self; 2] = [Self::Due, Self::Pending];
}

/// Task of a worker for a receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReceiptTask {
    /// Check the receipt of this payment.
    Payment(ProviderId),
    /// Check the receipt of this refund.
    Refund(ProviderId),
    /// Request this receipt.
    HandOver(HandOverRequest),
}

impl ReceiptTask {
    /// Returns the occasion of the receipt.
    pub fn kind(&self) -> ReceiptKind {
        match self {
            Self::Payment(_) => ReceiptKind::Payment,
            Self::Refund(_) => ReceiptKind::Refund,
            Self::HandOver(_) => ReceiptKind::HandOver,
        }
    }
}

/// Request for the receipt of a handover of prepaid items. Every retry under one key is the same request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandOverRequest {
    /// Payment of the items.
    pub payment: ProviderId,
    /// Idempotency key, at most 64 letters, digits and hyphens.
    pub key: String,
    /// Currency, three letters, such as `RUB`.
    pub currency: String,
    /// Receipt of the handed-over items.
    pub receipt: Receipt,
}

impl HandOverRequest {
    /// Returns the key of an attempt. It depends only on the charge and the number of the attempt.
    pub fn key(charge: Uuid, tries: u32) -> String {
        format!("hand-over-{charge}-{tries}")
    }

    /// Refuses a receipt of another payment or another amount.
    pub fn ensure_matches(&self, receipt: &GatewayReceipt) -> Result<(), PaymentMismatch> {
        PaymentMismatch::among(
            &receipt.id,
            [
                ("the payment", receipt.payment.as_ref() == Some(&self.payment)),
                ("the prepayment", receipt.prepaid == self.receipt.total()),
            ],
        )
    }

    /// Returns `true` if this receipt belongs to the same handover. A payment has one such receipt, whatever
    /// created it.
    pub fn is_fulfilled_by(&self, receipt: &GatewayReceipt) -> bool {
        receipt.status != Registration::Canceled && self.ensure_matches(receipt).is_ok()
    }
}

/// Receipt as returned by the acquirer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayReceipt {
    /// Identifier at the acquirer.
    pub id: ProviderId,
    /// Payment of the receipt.
    pub payment: Option<ProviderId>,
    /// State of the registration.
    pub status: Registration,
    /// Amount that was settled by a prepayment.
    pub prepaid: Money,
}

/// Receipt with its registration state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FiscalReceipt {
    /// Identifier.
    pub id: ReceiptId,
    /// Project of the customer.
    pub project_id: ProjectId,
    /// Purpose of the payment.
    pub purpose: ChargePurpose,
    /// State.
    pub state: ReceiptState,
    /// Task for the worker.
    pub task: ReceiptTask,
    /// Key of the charge, from which the keys of attempts are derived.
    pub charge_key: Uuid,
    /// Number of refused attempts before the current one.
    pub tries: u32,
    /// Time at which the key of the current attempt was created.
    pub key_made_at: DateTime<Utc>,
    /// Time of the last unanswered request of this attempt, or of the creation of its key.
    pub asked_at: DateTime<Utc>,
    /// Identifier at the acquirer of a receipt that was requested separately, once known.
    pub provider_id: Option<ProviderId>,
    /// Number of checks of the outcome.
    pub checks: u32,
    /// Time at which it was reported as overdue.
    pub overdue_at: Option<DateTime<Utc>>,
    /// Creation time.
    pub created_at: DateTime<Utc>,
}

/// Receipt that staff must check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptProblemReport {
    /// Identifier.
    pub id: ReceiptId,
    /// Project.
    pub project_id: ProjectId,
    /// Purpose of the payment.
    pub purpose: ChargePurpose,
    /// Occasion of the receipt.
    pub kind: ReceiptKind,
    /// [`ReceiptState::Canceled`], or an open state that is overdue.
    pub state: ReceiptState,
    /// Start of the wait.
    pub since: DateTime<Utc>,
    /// Reason, if known.
    pub reason: Option<String>,
}
