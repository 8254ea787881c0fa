//! Ways to pay online.

use kontor_kernel::Word;
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// A text that names no online payment method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be one of bank_card, sbp, sberbank, tinkoff_bank, yoo_money")]
pub struct UnknownPaymentMethod;

/// How a customer pays online.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, VariantArray, IntoStaticStr, EnumString)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum PaymentMethod {
    /// A bank card.
    BankCard,
    /// The fast payment system.
    Sbp,
    /// `SberPay`.
    Sberbank,
    /// `T-Pay`.
    TinkoffBank,
    /// A `YooMoney` wallet.
    YooMoney,
}

impl PaymentMethod {
    /// The method by its name on the wire, the acquirer's own.
    pub fn parse(name: &str) -> Result<Self, UnknownPaymentMethod> {
        Self::from_word(name).ok_or(UnknownPaymentMethod)
    }
}
