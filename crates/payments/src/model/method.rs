//! Online payment methods, and those that are saved.

use chrono::{DateTime, Utc};
use kontor_kernel::{ApplicationId, CounterpartyId, SavedMethodId, Word};
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use super::ProviderId;

/// Error for a text that names no online payment method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be one of bank_card, sbp, sberbank, tinkoff_bank, yoo_money")]
pub struct UnknownPaymentMethod;

/// Online payment method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, VariantArray, IntoStaticStr, EnumString)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum PaymentMethod {
    /// Bank card.
    BankCard,
    /// Fast payment system.
    Sbp,
    /// `SberPay`.
    Sberbank,
    /// `T-Pay`.
    TinkoffBank,
    /// `YooMoney` wallet.
    YooMoney,
}

impl PaymentMethod {
    /// Parses the wire name of a method, which is the acquirer's own.
    pub fn parse(name: &str) -> Result<Self, UnknownPaymentMethod> {
        Self::from_word(name).ok_or(UnknownPaymentMethod)
    }
}

/// Saved payment method with the fields that may be shown. It contains no card number and no identifier of the
/// acquirer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedMethod {
    /// Identifier.
    pub id: SavedMethodId,
    /// Customer.
    pub counterparty_id: CounterpartyId,
    /// Application in which it was saved.
    pub application_id: ApplicationId,
    /// Kind of method.
    pub method: PaymentMethod,
    /// Payment system of a card.
    pub card_type: Option<String>,
    /// Last four digits of a card.
    pub card_last_4: Option<String>,
    /// Display name from the acquirer.
    pub title: Option<String>,
    /// `true` if it may be charged.
    pub is_active: bool,
    /// Creation time.
    pub created_at: DateTime<Utc>,
}

/// Reference to a saved method in a request to the acquirer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MethodReference {
    /// Identifier of the saved method.
    pub id: SavedMethodId,
    /// Identifier of the method at the acquirer.
    pub provider_id: ProviderId,
}
