//! Receipts on their way to the register.

use chrono::{DateTime, Utc};
use kontor_kernel::{Money, ProjectId, ReceiptId};
use strum::{EnumString, IntoStaticStr, VariantArray};
use uuid::Uuid;

use super::{ChargePurpose, PaymentMismatch, ProviderId, Receipt, Registration, TaxSystem, VatCode};

/// How a project has receipts made. A project without these terms has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReceiptTerms {
    /// The seller's system of taxation; needed when they have several.
    pub tax_system: Option<TaxSystem>,
    /// The VAT of what has none of its own.
    pub default_vat: VatCode,
}

/// What a receipt is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum ReceiptKind {
    /// Money that was taken. It went with the payment.
    Payment,
    /// Money that was given back. It went with the refund.
    Refund,
    /// What was prepaid is handed over. It is asked for by itself.
    HandOver,
}

/// Where a receipt stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum ReceiptState {
    /// To be asked for; whether the acquirer knows of it is not known.
    Due,
    /// The register is at work.
    Pending,
    /// It is registered.
    Succeeded,
    /// There is none, and people must look at it.
    Canceled,
}

impl ReceiptState {
    /// The states whose outcome is still to come. What becomes known of a receipt counts only in these.
    pub const OPEN: [Self; 2] = [Self::Due, Self::Pending];
}

/// What is to be found out, or asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReceiptTask {
    /// How the receipt of this payment stands.
    Payment(ProviderId),
    /// How the receipt of this refund stands.
    Refund(ProviderId),
    /// This receipt is to be made.
    HandOver(HandOverRequest),
}

impl ReceiptTask {
    /// What the receipt is about.
    pub fn kind(&self) -> ReceiptKind {
        match self {
            Self::Payment(_) => ReceiptKind::Payment,
            Self::Refund(_) => ReceiptKind::Refund,
            Self::HandOver(_) => ReceiptKind::HandOver,
        }
    }
}

/// What the acquirer is asked for when something prepaid is handed over. Every repetition under one key is the same
/// request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandOverRequest {
    /// The payment the money came with.
    pub payment: ProviderId,
    /// The idempotence key, of at most 64 letters, digits and hyphens.
    pub key: String,
    /// Three letters, such as `RUB`.
    pub currency: String,
    /// What is handed over.
    pub receipt: Receipt,
}

impl HandOverRequest {
    /// The key of a try: the same charge and try, the same key, whoever makes it.
    pub fn key(charge: Uuid, tries: u32) -> String {
        format!("hand-over-{charge}-{tries}")
    }

    /// Refuses a receipt of another payment or about other money.
    pub fn ensure_matches(&self, receipt: &GatewayReceipt) -> Result<(), PaymentMismatch> {
        PaymentMismatch::among(
            &receipt.id,
            [
                ("the payment", receipt.payment.as_ref() == Some(&self.payment)),
                ("the prepayment", receipt.prepaid == self.receipt.total()),
            ],
        )
    }

    /// Whether this receipt is about the same hand-over. A payment has one such receipt, by whatever hand it was made.
    pub fn is_met_by(&self, receipt: &GatewayReceipt) -> bool {
        receipt.status != Registration::Canceled && self.ensure_matches(receipt).is_ok()
    }
}

/// A receipt as the acquirer shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayReceipt {
    /// The acquirer's identifier.
    pub id: ProviderId,
    /// The payment it is about.
    pub payment: Option<ProviderId>,
    /// Where it stands.
    pub status: Registration,
    /// What of it was settled by a prepayment.
    pub prepaid: Money,
}

/// A receipt on its way to the register.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FiscalReceipt {
    /// Its number.
    pub id: ReceiptId,
    /// The project of the customer.
    pub project_id: ProjectId,
    /// What the money was for.
    pub purpose: ChargePurpose,
    /// Where it stands.
    pub state: ReceiptState,
    /// What is to be found out, or asked for.
    pub task: ReceiptTask,
    /// The key of the charge, of which the keys of tries are made.
    pub charge_key: Uuid,
    /// How many tries were refused before the present one.
    pub tries: u32,
    /// When the key of the present try was made.
    pub key_made_at: DateTime<Utc>,
    /// When the acquirer was last asked for this try and did not answer; else when its key was made.
    pub asked_at: DateTime<Utc>,
    /// The acquirer's identifier of a receipt that was asked for by itself, once known.
    pub provider_id: Option<ProviderId>,
    /// How often its outcome has been asked for.
    pub checks: u32,
    /// When people were told that it takes too long.
    pub overdue_at: Option<DateTime<Utc>>,
    /// When it was stored.
    pub created_at: DateTime<Utc>,
}

/// A receipt that people must look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptConcern {
    /// Its number.
    pub id: ReceiptId,
    /// The project.
    pub project_id: ProjectId,
    /// What the money was for.
    pub purpose: ChargePurpose,
    /// What it is about.
    pub kind: ReceiptKind,
    /// [`ReceiptState::Canceled`], or an open one that takes too long.
    pub state: ReceiptState,
    /// Since when it has been waited for.
    pub since: DateTime<Utc>,
    /// Why, as far as known.
    pub reason: Option<String>,
}
