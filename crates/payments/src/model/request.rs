//! Charge requests to the acquirer: purposes, payment methods, and those that are saved.

use std::fmt;

use chrono::{DateTime, Utc};
use kontor_kernel::{
    ApplicationId, CounterpartyId, InvalidId, MethodBindingId, Money, OrderId, SavedMethodId, SubscriptionId,
    VerificationId, Word,
};
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};
use uuid::Uuid;

use super::{GatewayPayment, PaymentMismatch, ProviderId, Receipt};

/// Charge request to the acquirer. It is stored unchanged before the first call, so that every retry is the same
/// request under the same key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChargeRequest {
    /// Purpose.
    #[serde(flatten)]
    pub purpose: ChargePurpose,
    /// Idempotency key; the acquirer returns it in the metadata of the payment.
    #[serde(rename = "attempt")]
    pub key: Uuid,
    /// Amount.
    #[serde(with = "minor_units")]
    pub amount: Money,
    /// Currency, three letters, such as `RUB`.
    pub currency: String,
    /// Payment method.
    pub method: PaymentMethod,
    /// Description for the payer, at most 128 characters.
    pub description: String,
    /// Return address of the payer. Not used when a saved method is charged.
    pub return_url: String,
    /// `true` to save the method once the money has arrived.
    #[serde(default, skip_serializing_if = "is_false")]
    pub save_method: bool,
    /// Saved method to charge, without the customer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_method: Option<MethodReference>,
    /// Subscription attempt; `None` if no period is renewed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renewal: Option<Renewal>,
    /// Fiscal receipt for exactly the amount; `None` without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<Receipt>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_false(value: &bool) -> bool {
    !*value
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

impl ChargeRequest {
    /// Refuses a payment with another amount, currency, purpose or key, or with another identifier than the
    /// known one. A payment of the same subscription attempt may have another purpose: an order that a restored
    /// database lacks.
    pub fn ensure_matches(&self, known: Option<&ProviderId>, payment: &GatewayPayment) -> Result<(), PaymentMismatch> {
        let same_attempt = self.renewal.is_some() && payment.renewal == self.renewal;
        let parts = [
            ("the amount", payment.amount == self.amount),
            ("the currency", payment.currency == self.currency),
            ("the purpose", payment.purpose == Some(self.purpose) || same_attempt),
            ("the key", payment.key == Some(self.key)),
            ("the identifier", known.is_none_or(|known| *known == payment.id)),
        ];
        PaymentMismatch::among(&payment.id, parts)
    }
}

/// Attempt to charge a period of a subscription. The acquirer returns it in the metadata of the payment, so that
/// a restored database finds its earlier charges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Renewal {
    /// Installation. Other installations use the same subscription numbers.
    pub installation: Uuid,
    /// Subscription.
    pub subscription: SubscriptionId,
    /// Number of the period.
    pub period: u32,
    /// Number of the attempt in the period, from 1.
    pub number: u32,
}

/// Purpose of a charge. The acquirer returns it in the metadata of the payment. The effect of the outcome on it
/// is committed with the outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ChargePurpose {
    /// Payment of an order.
    #[serde(rename = "order_id")]
    Order(OrderId),
    /// Verification of a customer.
    #[serde(rename = "verification_id")]
    Verification(VerificationId),
    /// Payment of a subscription period.
    #[serde(rename = "subscription_id")]
    Subscription(SubscriptionId),
    /// Binding of a payment method without a purchase.
    #[serde(rename = "method_binding_id")]
    MethodBinding(MethodBindingId),
}

impl ChargePurpose {
    /// Names of all purposes.
    pub const KINDS: [&str; 4] = ["order", "verification", "subscription", "method_binding"];

    /// Name of the purpose.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Order(_) => "order",
            Self::Verification(_) => "verification",
            Self::Subscription(_) => "subscription",
            Self::MethodBinding(_) => "method_binding",
        }
    }

    /// Number of the record that is paid for.
    pub fn number(self) -> i64 {
        match self {
            Self::Order(id) => id.get(),
            Self::Verification(id) => id.get(),
            Self::Subscription(id) => id.get(),
            Self::MethodBinding(id) => id.get(),
        }
    }

    /// Returns the purpose with this name and number; `None` for an unknown name.
    pub fn from_parts(kind: &str, number: i64) -> Result<Option<Self>, InvalidId> {
        Ok(Some(match kind {
            "order" => Self::Order(OrderId::new(number)?),
            "verification" => Self::Verification(VerificationId::new(number)?),
            "subscription" => Self::Subscription(SubscriptionId::new(number)?),
            "method_binding" => Self::MethodBinding(MethodBindingId::new(number)?),
            _ => return Ok(None),
        }))
    }

    /// Returns `true` if the money is refunded as soon as it arrives, since only the payment itself was needed.
    pub fn is_refunded_at_once(self) -> bool {
        matches!(self, Self::Verification(_) | Self::MethodBinding(_))
    }

    /// Returns `true` if money may be taken for it more than once, one charge after the other.
    pub fn is_recurring(self) -> bool {
        matches!(self, Self::Subscription(_))
    }
}

impl fmt::Display for ChargePurpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind().replace('_', " "), self.number())
    }
}

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

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn a_stored_request_reads_back_unchanged() {
        let request = ChargeRequest {
            renewal: None,
            purpose: ChargePurpose::Order(OrderId::new(7).unwrap()),
            key: Uuid::nil(),
            amount: Money::from_minor(26_550).unwrap(),
            currency: "RUB".to_owned(),
            method: PaymentMethod::Sbp,
            description: "Order 7".to_owned(),
            return_url: "https://shop.example/7".to_owned(),
            save_method: false,
            saved_method: None,
            receipt: None,
        };
        let stored = serde_json::to_string(&request).unwrap();
        // Older rows contain exactly this.
        assert_eq!(
            stored,
            r#"{"order_id":7,"attempt":"00000000-0000-0000-0000-000000000000","amount":26550,"currency":"RUB","method":"sbp","description":"Order 7","return_url":"https://shop.example/7"}"#
        );
        assert_eq!(serde_json::from_str::<ChargeRequest>(&stored).unwrap(), request);
        let renewal =
            Renewal { installation: Uuid::nil(), subscription: SubscriptionId::new(5).unwrap(), period: 3, number: 2 };
        let renewing = ChargeRequest { renewal: Some(renewal), ..request.clone() };
        let stored = serde_json::to_string(&renewing).unwrap();
        assert_eq!(serde_json::from_str::<ChargeRequest>(&stored).unwrap(), renewing);
        let purpose = ChargePurpose::Verification(VerificationId::new(3).unwrap());
        let provider_id = ProviderId::parse("pm-1").unwrap();
        let saved_method = Some(MethodReference { id: SavedMethodId::new(4).unwrap(), provider_id });
        let other = ChargeRequest { purpose, save_method: true, saved_method, ..request };
        let stored = serde_json::to_string(&other).unwrap();
        assert_eq!(serde_json::from_str::<ChargeRequest>(&stored).unwrap(), other);
    }

    #[test]
    fn a_purpose_is_its_name_and_its_number() {
        for kind in ChargePurpose::KINDS {
            let purpose = ChargePurpose::from_parts(kind, 7).unwrap().unwrap();
            assert_eq!((purpose.kind(), purpose.number()), (kind, 7));
            assert!(ChargePurpose::from_parts(kind, 0).is_err());
        }
        assert_eq!(ChargePurpose::from_parts("gift", 7), Ok(None));
    }

    #[test]
    fn verification_payments_are_refunded_at_once_and_subscriptions_recur() {
        let reported = ChargePurpose::KINDS.map(|kind| {
            let purpose = ChargePurpose::from_parts(kind, 7).unwrap().unwrap();
            (purpose.to_string(), purpose.is_refunded_at_once(), purpose.is_recurring())
        });
        assert_eq!(
            reported,
            [
                ("order 7".to_owned(), false, false),
                ("verification 7".to_owned(), true, false),
                ("subscription 7".to_owned(), false, true),
                ("method binding 7".to_owned(), true, false),
            ]
        );
    }
}
