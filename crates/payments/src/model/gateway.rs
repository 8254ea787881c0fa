//! Data returned by the acquirer.

use std::fmt;

use kontor_kernel::Money;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{ChargePurpose, PaymentMethod, Registration, Renewal};

/// Error for a text that is no identifier of the acquirer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an identifier of the acquirer must have 1 to 64 letters, digits, hyphens and underscores")]
pub struct InvalidProviderId;

/// Identifier of a payment, a refund or a saved method at the acquirer. Safe to use in a URL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ProviderId(String);

impl ProviderId {
    /// Accepts 1 to 64 letters, digits, hyphens and underscores.
    pub fn parse(text: &str) -> Result<Self, InvalidProviderId> {
        let letters = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        if letters && (1..=64).contains(&text.len()) { Ok(Self(text.to_owned())) } else { Err(InvalidProviderId) }
    }

    /// Text of the identifier.
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

/// State of a payment or a refund at the acquirer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GatewayStatus {
    /// The payer has not paid yet, the money is held, or the refund is in progress.
    Pending,
    /// The money has arrived at its destination.
    Succeeded,
    /// It failed finally.
    Canceled,
}

/// Payment as returned by the acquirer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayPayment {
    /// Identifier at the acquirer.
    pub id: ProviderId,
    /// State.
    pub status: GatewayStatus,
    /// Amount.
    pub amount: Money,
    /// Currency, three letters.
    pub currency: String,
    /// URL of the payment page, while it is pending.
    pub confirmation_url: Option<String>,
    /// Reason of the cancellation.
    pub reason: Option<String>,
    /// Purpose, from its metadata.
    pub purpose: Option<ChargePurpose>,
    /// Key of the request, from its metadata.
    pub key: Option<Uuid>,
    /// Subscription attempt, from its metadata.
    pub renewal: Option<Renewal>,
    /// Payment method, if the acquirer saved it.
    pub saved_method: Option<GatewayMethod>,
    /// State of its receipt; `None` if it has none.
    pub receipt: Option<Registration>,
}

/// Page of a list of the acquirer, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayPage<T> {
    /// Items of the page.
    pub items: Vec<T>,
    /// Cursor of the next page; `None` on the last one.
    pub next: Option<String>,
}

/// Payment method that the acquirer saved for further charges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayMethod {
    /// Identifier of the method at the acquirer. Together with the shop's key it is enough to charge the method.
    pub provider_id: ProviderId,
    /// Kind of method.
    pub method: PaymentMethod,
    /// Payment system of a card.
    pub card_type: Option<String>,
    /// Last four digits of a card.
    pub card_last_4: Option<String>,
    /// Display name from the acquirer.
    pub title: Option<String>,
}

/// Refund as returned by the acquirer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayRefund {
    /// Identifier of the refund at the acquirer.
    pub id: ProviderId,
    /// Refunded payment.
    pub payment: ProviderId,
    /// State.
    pub status: GatewayStatus,
    /// Amount.
    pub amount: Money,
    /// Currency, three letters.
    pub currency: String,
    /// Reason of the cancellation.
    pub reason: Option<String>,
    /// Key of the request, from its metadata.
    pub key: Option<Uuid>,
    /// State of its receipt; `None` if it has none.
    pub receipt: Option<Registration>,
}

/// Error for a payment or refund that differs from the request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the payment {payment} does not match the request: {part} differs")]
pub struct PaymentMismatch {
    /// Identifier at the acquirer.
    pub payment: String,
    /// Part that differs.
    pub part: &'static str,
}

impl PaymentMismatch {
    /// Returns an error for the first part that differs.
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
