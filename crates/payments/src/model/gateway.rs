//! What the acquirer shows.

use std::fmt;

use kontor_kernel::Money;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{ChargePurpose, PaymentMethod, Registration, Renewal};

/// A text that cannot be an identifier of the acquirer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the acquirer names things by 1 to 64 letters, digits, hyphens and underscores")]
pub struct InvalidProviderId;

/// The acquirer's identifier of a payment, a refund or a saved method: safe to stand in an address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ProviderId(String);

impl ProviderId {
    /// Accepts 1 to 64 letters, digits, hyphens and underscores.
    pub fn parse(text: &str) -> Result<Self, InvalidProviderId> {
        let letters = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        if letters && (1..=64).contains(&text.len()) { Ok(Self(text.to_owned())) } else { Err(InvalidProviderId) }
    }

    /// The identifier.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for ProviderId {
    type Error = InvalidProviderId;

    fn try_from(text: String) -> Result<Self, InvalidProviderId> {
        Self::parse(&text)
    }
}

impl From<ProviderId> for String {
    fn from(id: ProviderId) -> Self {
        id.0
    }
}

impl fmt::Display for ProviderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where a payment or a refund stands at the acquirer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GatewayStatus {
    /// The payer has still to pay, the money is held, or it is on its way back.
    Pending,
    /// The money has arrived where it was to go.
    Succeeded,
    /// It failed for good.
    Canceled,
}

/// A payment as the acquirer shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayPayment {
    /// The acquirer's identifier.
    pub id: ProviderId,
    /// Where it stands.
    pub status: GatewayStatus,
    /// How much.
    pub amount: Money,
    /// Three letters.
    pub currency: String,
    /// Where the payer goes to pay, while it is pending.
    pub confirmation_url: Option<String>,
    /// Why it was canceled.
    pub reason: Option<String>,
    /// What it is for, by its metadata.
    pub purpose: Option<ChargePurpose>,
    /// The key of the request, by its metadata.
    pub key: Option<Uuid>,
    /// The attempt of a subscription, by its metadata.
    pub renewal: Option<Renewal>,
    /// The method, when the acquirer has saved it.
    pub saved_method: Option<GatewayMethod>,
    /// How its receipt stands; `None` when it has none.
    pub receipt: Option<Registration>,
}

/// A page of what the acquirer lists, the newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayPage<T> {
    /// What is on it.
    pub items: Vec<T>,
    /// What asks for the next page; `None` on the last one.
    pub next: Option<String>,
}

/// A method that the acquirer has saved and will charge again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayMethod {
    /// The acquirer's identifier of the method. Who knows it and the shop's key can charge it.
    pub provider_id: ProviderId,
    /// What kind of method.
    pub method: PaymentMethod,
    /// The payment system of a card.
    pub card_type: Option<String>,
    /// The last four digits of a card.
    pub card_last_4: Option<String>,
    /// How the acquirer names it to people.
    pub title: Option<String>,
}

/// A refund as the acquirer shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayRefund {
    /// The acquirer's identifier of the refund.
    pub id: ProviderId,
    /// The payment the money came with.
    pub payment: ProviderId,
    /// Where it stands.
    pub status: GatewayStatus,
    /// How much goes back.
    pub amount: Money,
    /// Three letters.
    pub currency: String,
    /// Why it was canceled.
    pub reason: Option<String>,
    /// The key of the request, by its metadata.
    pub key: Option<Uuid>,
    /// How its receipt stands; `None` when it has none.
    pub receipt: Option<Registration>,
}

/// A payment or refund that is not the one that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the payment {payment} is not the one that was asked for: {part} differs")]
pub struct PaymentMismatch {
    /// The acquirer's identifier.
    pub payment: String,
    /// What differs.
    pub part: &'static str,
}

impl PaymentMismatch {
    /// The first part that differs.
    pub(super) fn among<const N: usize>(id: &ProviderId, parts: [(&'static str, bool); N]) -> Result<(), Self> {
        match parts.into_iter().find(|(_, equal)| !equal) {
            Some((part, _)) => Err(Self { payment: id.to_string(), part }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_cannot_leave_their_place_in_an_address() {
        for text in ["", "../refunds", "a/b", "a?b", "ф", &"a".repeat(65)] {
            assert_eq!(ProviderId::parse(text), Err(InvalidProviderId), "{text}");
        }
        assert!(ProviderId::parse("22e12f66-000f-5000-8000-18db351245c7").is_ok());
    }

    #[test]
    fn an_identifier_is_kept_as_the_acquirer_wrote_it() {
        let longest = "a".repeat(64);
        for text in ["a", "pay_1-X", &longest] {
            let id = ProviderId::parse(text).unwrap();
            assert_eq!((id.as_str(), id.to_string().as_str()), (text, text));
            assert_eq!(ProviderId::try_from(text.to_owned()), Ok(id.clone()));
            assert_eq!(String::from(id), text);
        }
        assert_eq!(ProviderId::try_from("a/b".to_owned()), Err(InvalidProviderId));
    }
}
