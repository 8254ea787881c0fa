//! Payments through the acquirer.

use std::fmt;

use chrono::{DateTime, SecondsFormat, Utc};
use kontor_kernel::{ApplicationId, Money, OrderId, PaymentAttemptId, ProjectId, VerificationId};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::OrderStatus;

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

/// A text that cannot be the acquirer's identifier of a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a payment is named by 1 to 64 letters, digits, hyphens and underscores")]
pub struct InvalidProviderPaymentId;

/// The acquirer's identifier of a payment: safe to stand in an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderPaymentId(String);

impl ProviderPaymentId {
    /// Accepts 1 to 64 letters, digits, hyphens and underscores.
    pub fn parse(text: &str) -> Result<Self, InvalidProviderPaymentId> {
        let letters = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        if letters && (1..=64).contains(&text.len()) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidProviderPaymentId)
        }
    }

    /// The identifier.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ProviderPaymentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a payment is for; the acquirer hands it back in the metadata of the payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Purpose {
    /// An order is paid.
    #[serde(rename = "order_id")]
    Order(OrderId),
    /// A customer proves who he is.
    #[serde(rename = "verification_id")]
    Verification(VerificationId),
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Order(id) => write!(f, "order {id}"),
            Self::Verification(id) => write!(f, "verification {id}"),
        }
    }
}

/// What the acquirer is asked for. It is stored word for word before the first call, so that every repetition is the
/// same request under the same key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaymentRequest {
    /// What is to be paid.
    #[serde(flatten)]
    pub purpose: Purpose,
    /// The idempotence key; the acquirer hands it back in the metadata of the payment.
    pub attempt: Uuid,
    /// How much.
    #[serde(with = "minor_units")]
    pub amount: Money,
    /// Three letters, such as `RUB`.
    pub currency: String,
    /// How.
    pub method: PaymentMethod,
    /// What the payer reads, at most 128 characters.
    pub description: String,
    /// Where the payer comes back to.
    pub return_url: String,
}

mod minor_units {
    use kontor_kernel::Money;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
    pub(super) fn serialize<S: Serializer>(amount: &Money, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(amount.minor())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Money, D::Error> {
        Money::from_minor(i64::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// A payment request that lacks only the number of its order, which the storage gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedPayment {
    /// The idempotence key.
    pub key: Uuid,
    /// How much.
    pub amount: Money,
    /// Three letters.
    pub currency: String,
    /// How.
    pub method: PaymentMethod,
    /// Where the payer comes back to; `{order_id}` is replaced.
    pub return_url: String,
    /// When a worker takes over if the call that follows the commit is never finished.
    pub next_check_at: DateTime<Utc>,
}

impl PreparedPayment {
    /// The request for this order.
    pub fn request(&self, order_id: OrderId) -> PaymentRequest {
        PaymentRequest {
            purpose: Purpose::Order(order_id),
            attempt: self.key,
            amount: self.amount,
            currency: self.currency.clone(),
            method: self.method,
            description: format!("Order {order_id}"),
            return_url: self.return_url.replace("{order_id}", &order_id.to_string()),
        }
    }
}

/// Where an attempt stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptState {
    /// Stored; whether the acquirer knows of it is not known.
    Prepared,
    /// The acquirer has the payment, the customer has still to pay.
    Pending,
    /// The money has arrived.
    Succeeded,
    /// The payment failed or ran out of time.
    Canceled,
    /// The acquirer refused to create it.
    Refused,
}

impl AttemptState {
    /// Whether the outcome is still to come.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Prepared | Self::Pending)
    }
}

/// One attempt to take the money of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentAttempt {
    /// The number of the attempt.
    pub id: PaymentAttemptId,
    /// The project of the order.
    pub project_id: ProjectId,
    /// The application of the order.
    pub application_id: ApplicationId,
    /// The order.
    pub order_id: OrderId,
    /// Where it stands.
    pub state: AttemptState,
    /// The acquirer's identifier, once known.
    pub provider_id: Option<ProviderPaymentId>,
    /// What the acquirer was asked for.
    pub request: PaymentRequest,
    /// How often the outcome has been asked for.
    pub checks: u32,
    /// When the attempt was stored.
    pub created_at: DateTime<Utc>,
}

/// Where a payment stands at the acquirer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GatewayStatus {
    /// The payer has still to pay, or the money is held.
    Pending,
    /// The money is taken.
    Succeeded,
    /// It failed for good.
    Canceled,
}

/// A payment as the acquirer shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayPayment {
    /// The acquirer's identifier.
    pub id: ProviderPaymentId,
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
    pub purpose: Option<Purpose>,
    /// The attempt's key in its metadata.
    pub attempt: Option<Uuid>,
}

/// A payment that is not the one an attempt asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the payment {payment} is not the one that was asked for: {part} differs")]
pub struct PaymentMismatch {
    /// The acquirer's identifier.
    pub payment: String,
    /// What differs.
    pub part: &'static str,
}

impl PaymentAttempt {
    /// Refuses a payment with another amount, currency, order or key.
    pub fn verify(&self, payment: &GatewayPayment) -> Result<(), PaymentMismatch> {
        self.request.verify(self.provider_id.as_ref(), payment)
    }
}

impl PaymentRequest {
    /// Refuses a payment with another amount, currency, purpose or key, and one with another identifier than is known.
    pub fn verify(&self, known: Option<&ProviderPaymentId>, payment: &GatewayPayment) -> Result<(), PaymentMismatch> {
        let parts = [
            ("the amount", payment.amount == self.amount),
            ("the currency", payment.currency == self.currency),
            ("the purpose", payment.purpose == Some(self.purpose)),
            ("the attempt", payment.attempt == Some(self.attempt)),
            ("the identifier", known.is_none_or(|known| *known == payment.id)),
        ];
        match parts.into_iter().find(|(_, equal)| !equal) {
            Some((part, _)) => Err(PaymentMismatch { payment: payment.id.to_string(), part }),
            None => Ok(()),
        }
    }
}

/// The event `order.paid`, written to the outbox in the commit that makes an order paid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaidEvent {
    /// The event.
    pub event_id: Uuid,
    /// The order.
    pub order_id: OrderId,
    /// Whose webhooks hear of it.
    pub application_id: ApplicationId,
    /// The project of both.
    pub project_id: ProjectId,
    /// What was paid.
    pub amount: Money,
    /// Three letters.
    pub currency: String,
    /// When.
    pub paid_at: DateTime<Utc>,
}

impl PaidEvent {
    /// The topic in the outbox and the name of the public event.
    pub const TOPIC: &str = "order.paid";

    /// The body that webhooks receive.
    pub fn payload(&self) -> serde_json::Value {
        let moment = self.paid_at.to_rfc3339_opts(SecondsFormat::Secs, true);
        serde_json::json!({
            "id": self.event_id,
            "event": Self::TOPIC,
            "created_at": moment,
            "data": {
                "order_id": self.order_id,
                "application_id": self.application_id,
                "project_id": self.project_id,
                "status_id": OrderStatus::Paid.id(),
                "amount": self.amount.to_string(),
                "currency": self.currency,
                "paid_at": moment,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_request_reads_back_unchanged() {
        let prepared = PreparedPayment {
            key: Uuid::nil(),
            amount: Money::from_minor(26_550).unwrap(),
            currency: "RUB".to_owned(),
            method: PaymentMethod::Sbp,
            return_url: "https://shop.example/thanks?order={order_id}".to_owned(),
            next_check_at: DateTime::UNIX_EPOCH,
        };
        let request = prepared.request(OrderId::new(7).unwrap());
        assert_eq!(request.return_url, "https://shop.example/thanks?order=7");
        let stored = serde_json::to_string(&request).unwrap();
        assert!(stored.starts_with(r#"{"order_id":7,"attempt":"#), "{stored}");
        assert_eq!(serde_json::from_str::<PaymentRequest>(&stored).unwrap(), request);
        let verification =
            PaymentRequest { purpose: Purpose::Verification(VerificationId::new(3).unwrap()), ..request };
        let stored = serde_json::to_string(&verification).unwrap();
        assert_eq!(serde_json::from_str::<PaymentRequest>(&stored).unwrap(), verification);
    }

    #[test]
    fn identifiers_cannot_leave_their_place_in_an_address() {
        for text in ["", "../refunds", "a/b", "a?b", "ф", &"a".repeat(65)] {
            assert_eq!(ProviderPaymentId::parse(text), Err(InvalidProviderPaymentId), "{text}");
        }
        assert!(ProviderPaymentId::parse("22e12f66-000f-5000-8000-18db351245c7").is_ok());
    }
}
