//! Charge requests to the acquirer.

use kontor_kernel::{Money, SubscriptionId};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{ChargePurpose, GatewayPayment, MethodReference, PaymentMethod, PaymentMismatch, ProviderId, Receipt};

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

#[cfg(test)]
mod tests {
    use kontor_kernel::{OrderId, SavedMethodId, VerificationId};

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
}
