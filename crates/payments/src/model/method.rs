//! Online payment methods.

use kontor_kernel::Word;
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

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
