//! Ways to pay online.

use serde::{Deserialize, Serialize};

/// A text that names no online payment method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be one of bank_card, sbp, sberbank, tinkoff_bank, yoo_money")]
pub struct UnknownPaymentMethod;

/// How a customer pays online.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
    /// Every method.
    pub const ALL: [Self; 5] = [Self::BankCard, Self::Sbp, Self::Sberbank, Self::TinkoffBank, Self::YooMoney];

    /// The method by its name on the wire.
    pub fn parse(name: &str) -> Result<Self, UnknownPaymentMethod> {
        Self::ALL.into_iter().find(|method| method.as_str() == name).ok_or(UnknownPaymentMethod)
    }

    /// The name on the wire, the acquirer's own.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BankCard => "bank_card",
            Self::Sbp => "sbp",
            Self::Sberbank => "sberbank",
            Self::TinkoffBank => "tinkoff_bank",
            Self::YooMoney => "yoo_money",
        }
    }
}
